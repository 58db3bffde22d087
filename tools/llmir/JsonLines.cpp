//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonLines.h"

#include <limits>

using namespace llmir;
using namespace llmir::cli;

std::string cli::jsonLine(const Json &answer) {
  return answer.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Json cli::jsonError(const Status &failure) {
  // JSON readers use the code for files; this is an invalid request.
  const StatusCode code = failure.code() == StatusCode::InvalidFile
                              ? StatusCode::InvalidArgument
                              : failure.code();
  return {{"code", statusCodeName(code)}, {"message", failure.message()}};
}

Expected<std::vector<int32_t>> cli::readIds(const JsonReader &request,
                                            const char *key) {
  Expected<const Json *> array = request.array(key);
  if (!array)
    return array.takeStatus();
  std::vector<int32_t> ids;
  for (const Json &element : **array) {
    if (!element.is_number_integer() || element < 0 ||
        element > std::numeric_limits<int32_t>::max())
      return request.failure(StatusCode::InvalidArgument, key,
                             "has " + describeJson(element) +
                                 ", which is not a token id",
                             "give whole numbers from 0");
    ids.push_back(element.get<int32_t>());
  }
  return ids;
}
