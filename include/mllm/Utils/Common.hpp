//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of the `mllm` API. No function terminates the process: a failing call
// has no side effects, returns null (or false, or nothing), and reports the
// reason to the error handler.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_UTILS_COMMON_HPP
#define MLLM_UTILS_COMMON_HPP

#include <functional>
#include <string>

namespace mllm {

/// Called with one sentence per error, without a trailing newline.
using ErrorHandler = std::function<void(const std::string &)>;

/// Sets the calling thread's handler and returns the previous one; null
/// restores the default, which prints "mllm: error: …" to stderr.
ErrorHandler setErrorHandler(ErrorHandler handler);

/// Calls the calling thread's handler.
void reportError(const std::string &sentence);

/// Reports the failure of a check macro below.
void reportFailedCheck(const char *file, int line, const char *condition);

} // namespace mllm

/// Reports an error with file and line if `left == right` does not hold, and
/// continues.
#define MLLM_RT_ASSERT_EQ(left, right)                                         \
  do {                                                                         \
    if (!((left) == (right)))                                                  \
      ::mllm::reportFailedCheck(__FILE__, __LINE__, #left " == " #right);      \
  } while (false)

/// Reports an error with file and line if `condition` does not hold, and
/// continues.
#define MLLM_RT_ASSERT(condition)                                              \
  do {                                                                         \
    if (!(condition))                                                          \
      ::mllm::reportFailedCheck(__FILE__, __LINE__, #condition);               \
  } while (false)

#endif // MLLM_UTILS_COMMON_HPP
