//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocations that fail, in programs that link FailingAllocation.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FAILINGALLOCATION_H
#define LLMIR_TEST_FAILINGALLOCATION_H

#include <cstddef>
#include <cstdint>

namespace llmir::test {

/// During its life, the allocations of its thread succeed.
class SparedAllocations {
public:
  SparedAllocations();
  ~SparedAllocations();
  SparedAllocations(const SparedAllocations &) = delete;
  SparedAllocations &operator=(const SparedAllocations &) = delete;

private:
  bool wereSpared;
};

/// During its life, allocation number `number` from 1 on of those with at least
/// `bytes`, of all threads but the one that creates it, throws std::bad_alloc.
/// One exists at a time.
class FailingAllocation {
public:
  explicit FailingAllocation(int64_t number, size_t bytes = 0);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation &) = delete;
  FailingAllocation &operator=(const FailingAllocation &) = delete;

  /// Whether there were as many allocations.
  bool hasFailed() const;

private:
  SparedAllocations spared;
};

} // namespace llmir::test

#endif // LLMIR_TEST_FAILINGALLOCATION_H
