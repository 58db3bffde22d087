//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Independent work on all processors, for what compiles and packs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_PARALLELFOR_H
#define LLMIR_SUPPORT_PARALLELFOR_H

#include <cstdint>
#include <functional>

namespace llmir {

/// How many threads parallelFor() has at most: the processors that the process
/// may use, which can be fewer than those of the machine.
int64_t maxParallelism();

/// Calls body(i) for each i in [first, end) on as many threads as the process
/// may use processors, and on fewer where the system gives no more; the
/// caller's is one of them. A thread takes `chunk` neighbors at a time, in
/// ascending order. Returns false when a call found no memory (std::bad_alloc):
/// then some were not made. No other exception may leave `body`.
bool parallelFor(int64_t first, int64_t end, int64_t chunk,
                 const std::function<void(int64_t)> &body);

/// Throws std::bad_alloc, on behalf of code that is compiled without
/// exceptions.
[[noreturn]] void throwBadAlloc();

} // namespace llmir

#endif // LLMIR_SUPPORT_PARALLELFOR_H
