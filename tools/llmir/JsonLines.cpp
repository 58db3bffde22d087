//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonLines.h"

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
