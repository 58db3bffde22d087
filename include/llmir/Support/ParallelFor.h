//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Independent tasks on all processors, used for compiling and packing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_PARALLELFOR_H
#define LLMIR_SUPPORT_PARALLELFOR_H

#include <cstdint>
#include <functional>

namespace llmir {

/// The maximum number of threads of parallelFor(): the processors that the
/// process may use, which can be fewer than those of the machine.
int64_t maxParallelism();

/// Calls body(i) for each i in [first, end) on as many threads as the process
/// may use processors, or fewer if threads cannot be created, including the
/// calling thread. A thread takes `chunk` consecutive indices at a time, in
/// ascending order. Returns false if a call ran out of memory (std::bad_alloc),
/// in which case some calls were skipped. No other exception may leave `body`.
bool parallelFor(int64_t first, int64_t end, int64_t chunk,
                 const std::function<void(int64_t)> &body);

/// Throws std::bad_alloc, for code that is compiled without exceptions.
[[noreturn]] void throwBadAlloc();

} // namespace llmir

#endif // LLMIR_SUPPORT_PARALLELFOR_H
