//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns offsets in one arena to allocations so that allocations that are live
// at the same time do not overlap. Used for the buffers of a program and for
// the tensors of a graph.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_INTERVALPLANNER_H
#define LLMIR_SUPPORT_INTERVALPLANNER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llmir {

/// An allocation that is live from `first` to `last`, both inclusive.
struct MemoryInterval {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

/// The pairs of allocations that are live at the same time.
class MemoryConflicts {
public:
  explicit MemoryConflicts(size_t numPieces) : lists(numPieces) {}
  /// The conflicts of allocations whose intervals intersect.
  static MemoryConflicts
  ofIntervals(const std::vector<MemoryInterval> &intervals);

  /// Records that two different allocations conflict; call once per pair.
  void add(size_t a, size_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
  }
  size_t size() const { return lists.size(); }
  const std::vector<size_t> &of(size_t allocation) const {
    return lists[allocation];
  }

private:
  std::vector<std::vector<size_t>> lists;
};

/// The offset of each allocation and the size of the arena, in bytes.
struct MemoryPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The maximum number of bytes live at one time: a lower bound for any plan.
int64_t maxLiveBytes(const std::vector<MemoryInterval> &intervals);

/// Assigns offsets to allocations of the sizes `bytes`. An allocation starts at
/// 0 or at the end of another, so offsets are multiples of any common divisor
/// of the sizes. Sizes must be nonnegative and their sum must fit into 63 bits.
///
/// Assigns allocations in the order of descending size, each to the lowest free
/// offset. If the result exceeds `lowerBound`, also tries other orders and best
/// fit, then a fixed number of times moves the topmost allocations to the front
/// of the order; returns the smallest plan, the first one among equals.
/// Deterministic.
MemoryPlan planMemory(const std::vector<int64_t> &bytes,
                      const MemoryConflicts &conflicts, int64_t lowerBound);
/// The same for intervals, with maxLiveBytes() as the bound.
MemoryPlan planMemory(const std::vector<MemoryInterval> &intervals);

/// Verifies a plan: returns two conflicting allocations that overlap, or
/// nullopt.
std::optional<std::pair<size_t, size_t>>
findOverlap(const std::vector<int64_t> &bytes, const MemoryConflicts &conflicts,
            const MemoryPlan &plan);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTERVALPLANNER_H
