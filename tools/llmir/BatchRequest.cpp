//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchRequest.h"

#include "llmir/Server/ConstraintReader.h"

using namespace llmir;
using namespace llmir::cli;

static Expected<std::vector<int32_t>>
readPrompt(const JsonReader &reader, OrderedJson object, PromptModel &model) {
  const Json *prompt = reader.find("prompt");
  if ((prompt != nullptr) == reader.has("messages"))
    return Status(StatusCode::InvalidArgument,
                  reader.file() + ": the object has " +
                      (prompt ? "both 'prompt' and 'messages'"
                              : "neither 'prompt' nor 'messages'"),
                  "give one of them");
  if (prompt && prompt->is_array())
    return readIds(reader, "prompt");
  if (prompt) {
    Expected<std::string> text = reader.string("prompt");
    if (!text)
      return text.takeStatus();
    return encodePrompt(*text, /*addsSpecialTokens=*/true, reader.file(),
                        model);
  }
  Expected<std::string> text =
      renderMessages(std::move(object), reader.file(), model);
  if (!text)
    return text.takeStatus();
  return encodePrompt(*text, /*addsSpecialTokens=*/false, reader.file(), model);
}

Expected<BatchRequest> cli::parseBatchRequest(const std::string &line,
                                              const std::string &where,
                                              const Request &defaults,
                                              PromptModel &model) {
  Expected<OrderedJson> ordered = parseOrderedJson(line, where);
  if (!ordered)
    return ordered.takeStatus();
  const Json json = *ordered;
  Expected<JsonReader> reader = JsonReader::of(json, where);
  if (!reader)
    return reader.takeStatus();
  LLMIR_RETURN_IF_ERROR(checkFields(
      json, where,
      {"prompt", "messages", "tools", "documents", "chat_template_kwargs"}));
  BatchRequest result;
  if (const Json *id = reader->find("custom_id"))
    result.id = *id;
  LLMIR_ASSIGN_OR_RETURN(result.fields,
                         readGenerationFields(*reader, defaults, model));
  LLMIR_ASSIGN_OR_RETURN(result.fields.request.constraint,
                         readConstraint(*ordered, where, model));
  LLMIR_ASSIGN_OR_RETURN(result.fields.request.prompt,
                         readPrompt(*reader, std::move(*ordered), model));
  return result;
}
