//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbedRequest.h"

#include "llmir/Server/RequestReader.h"
#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::cli;

Expected<EmbedRequest> cli::parseEmbedRequest(const std::string &line,
                                              const std::string &where) {
  Expected<Json> json = parseJson(line, where);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, where);
  if (!reader)
    return reader.takeStatus();
  LLMIR_RETURN_IF_ERROR(reader->checkKeys({"text", "ids"}));
  if (reader->has("text") == reader->has("ids"))
    return Status(StatusCode::InvalidArgument,
                  where + ": the object has " +
                      (reader->has("text") ? "both 'text' and 'ids'"
                                           : "neither 'text' nor 'ids'"),
                  "give one of them");
  EmbedRequest request;
  if (reader->has("ids"))
    LLMIR_ASSIGN_OR_RETURN(request.ids, readIds(*reader, "ids"));
  else
    LLMIR_ASSIGN_OR_RETURN(request.text, reader->string("text"));
  return request;
}
