//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where exceptions of the standard library end: an exception that leaves a
// thread ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_EXCEPTIONS_H
#define LLMIR_SUPPORT_EXCEPTIONS_H

#include "llmir/Support/Status.h"

#include <exception>
#include <new>

namespace llmir {

/// ResourceExhausted. Allocates nothing: its words fit into a std::string.
inline Status outOfMemory() {
  return Status(StatusCode::ResourceExhausted, "out of memory");
}

/// The failure for the exception that is being handled: outOfMemory() or
/// Internal.
inline Status failureOfException() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::exception &error) {
    try {
      return Status(StatusCode::Internal, error.what());
    } catch (const std::bad_alloc &) {
      return outOfMemory();
    }
  } catch (...) {
    return Status(StatusCode::Internal, "an exception");
  }
}

/// Calls `body`, which returns nothing; fails if it throws.
template <typename Body> Status withoutExceptions(Body &&body) {
  try {
    body();
    return Status::ok();
  } catch (...) {
    return failureOfException();
  }
}

} // namespace llmir

#endif // LLMIR_SUPPORT_EXCEPTIONS_H
