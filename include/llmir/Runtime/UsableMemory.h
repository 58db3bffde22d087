//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How much memory a process may have. Thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_USABLEMEMORY_H
#define LLMIR_RUNTIME_USABLEMEMORY_H

#include <cstdint>

namespace llmir {

/// Bytes of the machine's memory, or what this process may have of it (its
/// control group's, or its address space).
int64_t usableMemory();

} // namespace llmir

#endif // LLMIR_RUNTIME_USABLEMEMORY_H
