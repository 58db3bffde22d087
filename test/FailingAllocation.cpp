//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FailingAllocation.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
/// Allocations until one fails; negative: it has failed, or none fails.
std::atomic<int64_t> remaining{-1};
std::atomic<size_t> least{0}; ///< Bytes of those that count.
thread_local bool isSpared = false;
} // namespace

namespace llmir::test {

SparedAllocations::SparedAllocations() : wereSpared(isSpared) {
  isSpared = true;
}
SparedAllocations::~SparedAllocations() { isSpared = wereSpared; }

FailingAllocation::FailingAllocation(int64_t number, size_t bytes) {
  least = bytes;
  remaining = number - 1;
}
FailingAllocation::~FailingAllocation() { remaining = -1; }

bool FailingAllocation::hasFailed() const { return remaining < 0; }

} // namespace llmir::test

static void *allocate(size_t size) {
  if (!isSpared && size >= least && remaining >= 0 && remaining-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}

// The other forms of the standard library call these.
void *operator new(size_t size) { return allocate(size); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
