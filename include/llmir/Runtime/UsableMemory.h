//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The amount of memory available to a process. Thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_USABLEMEMORY_H
#define LLMIR_RUNTIME_USABLEMEMORY_H

#include <cstdint>

namespace llmir {

/// Bytes of the machine's memory, or the limit of this process if that is lower
/// (control group, address space).
int64_t usableMemory();

} // namespace llmir

#endif // LLMIR_RUNTIME_USABLEMEMORY_H
