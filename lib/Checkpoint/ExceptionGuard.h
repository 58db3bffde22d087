//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_EXCEPTIONGUARD_H
#define LLMIR_LIB_CHECKPOINT_EXCEPTIONGUARD_H

#include "llmir/Support/Status.h"

#include <exception>
#include <new>
#include <string>

namespace llmir {

/// Calls `body`, which returns an Expected, and converts exceptions of the
/// standard library to failures, since no exception may leave the library.
/// `what` names the object that is read.
template <typename Body>
auto withoutExceptions(const std::string &what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted,
                  "not enough memory to read '" + what + "'",
                  "free some memory");
  } catch (const std::exception &error) {
    return Status(StatusCode::Internal,
                  "reading '" + what + "': " + error.what());
  }
}

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_EXCEPTIONGUARD_H
