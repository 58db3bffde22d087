//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an engine requires of a request.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVING_REQUESTCHECKS_H
#define LLMIR_LIB_SERVING_REQUESTCHECKS_H

#include "llmir/Serving/Engine.h"

#include <string>

namespace llmir {

struct RequestLimits {
  int64_t vocabulary = 0;
  int64_t contextLength = 0;
  int64_t continuations = 0;
};

/// InvalidArgument.
Status refuseRequest(const std::string &cause, const std::string &advice);

/// For `prompt` instead of that of the request. Fails with InvalidArgument, or
/// with ContextLengthExceeded if the prompt is too long.
Status checkRequest(const Request &request, Span<const int32_t> prompt,
                    const RequestLimits &limits);

} // namespace llmir

#endif // LLMIR_LIB_SERVING_REQUESTCHECKS_H
