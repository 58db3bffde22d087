//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SUPPORT_ERRNO_H
#define LLMIR_LIB_SUPPORT_ERRNO_H

#include "llmir/Support/Status.h"

#include <string>

namespace llmir {

/// The Status of a failed system call: "<what> '<path>': <error text>", with
/// the code and advice for `error` (an errno value).
Status systemError(int error, const std::string &what, const std::string &path);

} // namespace llmir

#endif // LLMIR_LIB_SUPPORT_ERRNO_H
