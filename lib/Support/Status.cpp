//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Status.h"

#include "llmir/Support/MessageLine.h"

namespace llmir {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid_argument";
  case StatusCode::NotFound:
    return "not_found";
  case StatusCode::InvalidFile:
    return "invalid_file";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::OutOfRange:
    return "out_of_range";
  case StatusCode::ContextLengthExceeded:
    return "context_length_exceeded";
  case StatusCode::ResourceExhausted:
    return "resource_exhausted";
  case StatusCode::IncompatibleTarget:
    return "incompatible_target";
  case StatusCode::IoError:
    return "io_error";
  case StatusCode::Internal:
    return "internal";
  }
  return "unknown";
}

std::string Status::message() const {
  return messageLine(adviceText.empty() ? causeText
                                        : causeText + "; " + adviceText);
}

Status Status::withContext(const std::string &context) && {
  if (!isOk())
    causeText = context + ": " + causeText;
  return std::move(*this);
}

} // namespace llmir
