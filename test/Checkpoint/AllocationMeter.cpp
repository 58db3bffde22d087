//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<size_t> largestRequest{0}, sumOfRequests{0};
static std::atomic<size_t> requestsUntilFailure{0};

static void *request(size_t size) {
  sumOfRequests += size;
  size_t largest = largestRequest;
  while (size > largest && !largestRequest.compare_exchange_weak(largest, size))
    ;
  if (requestsUntilFailure > 0 && --requestsUntilFailure == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}

void *operator new(size_t size) { return request(size); }
void *operator new[](size_t size) { return request(size); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace llmir::test {

void AllocationMeter::failAt(size_t n) { requestsUntilFailure = n; }
void AllocationMeter::reset() { largestRequest = sumOfRequests = 0; }
size_t AllocationMeter::largest() { return largestRequest; }
size_t AllocationMeter::total() { return sumOfRequests; }

} // namespace llmir::test
