//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/AllocationCount.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};

int64_t llmir::test::allocationCount() { return allocations.load(); }

void *operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void *memory = std::malloc(size ? size : 1);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
