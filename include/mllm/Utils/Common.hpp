//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of the `mllm` API: no function of it ends the process. A call that
// cannot be carried out changes nothing, gives null (or false, or nothing), and
// says why to the error handler.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_UTILS_COMMON_HPP
#define MLLM_UTILS_COMMON_HPP

#include <functional>
#include <string>

namespace mllm {

/// Is given one sentence per error, without a final newline.
using ErrorHandler = std::function<void(const std::string &)>;

/// Sets the calling thread's handler and gives the one before; a null handler
/// stands for the first one, which prints "mllm: error: …" to stderr.
ErrorHandler setErrorHandler(ErrorHandler handler);

/// Gives a sentence to the calling thread's handler.
void reportError(const std::string &sentence);

/// Reports a check of the macros below that does not hold.
void reportFailedCheck(const char *file, int line, const char *condition);

} // namespace mllm

/// Reports where `left == right` does not hold, with file and line, and goes
/// on.
#define MLLM_RT_ASSERT_EQ(left, right)                                         \
  do {                                                                         \
    if (!((left) == (right)))                                                  \
      ::mllm::reportFailedCheck(__FILE__, __LINE__, #left " == " #right);      \
  } while (false)

/// Reports where `condition` does not hold, with file and line, and goes on.
#define MLLM_RT_ASSERT(condition)                                              \
  do {                                                                         \
    if (!(condition))                                                          \
      ::mllm::reportFailedCheck(__FILE__, __LINE__, #condition);               \
  } while (false)

#endif // MLLM_UTILS_COMMON_HPP
