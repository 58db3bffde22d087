//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places pieces of memory in one arena so that those that are needed at the
// same time do not overlap: for the buffers of a program and for the tensors of
// a graph.
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

/// A piece of memory that is needed from `first` to `last`, both included.
struct MemoryInterval {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

/// Which pieces are needed at the same time, by their numbers from 0.
class MemoryConflicts {
public:
  explicit MemoryConflicts(size_t numPieces) : lists(numPieces) {}
  /// Of pieces whose intervals have a time in common.
  static MemoryConflicts
  ofIntervals(const std::vector<MemoryInterval> &intervals);

  /// Says that two different pieces meet; each pair once.
  void add(size_t a, size_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
  }
  size_t size() const { return lists.size(); }
  const std::vector<size_t> &of(size_t piece) const { return lists[piece]; }

private:
  std::vector<std::vector<size_t>> lists;
};

/// Where each piece begins, and how many bytes all of them need.
struct MemoryPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The most bytes that are needed at one time: no plan has fewer.
int64_t mostLiveBytes(const std::vector<MemoryInterval> &intervals);

/// Places pieces of `bytes` each. A piece begins at 0 or where another ends, so
/// that offsets are multiples of what all sizes are multiples of. The sizes are
/// not negative and their sum fits into 63 bits.
///
/// The first try is the largest piece first, each at the lowest free offset.
/// Where that needs more than `lowerBound`, other orders and the smallest gap
/// that fits are tried, then pieces at the top are moved to the front, a fixed
/// number of times; the least of all is taken, the first of equal ones. The
/// result depends on the arguments alone.
MemoryPlan planMemory(const std::vector<int64_t> &bytes,
                      const MemoryConflicts &conflicts, int64_t lowerBound);
/// The same of intervals, with mostLiveBytes() as the bound.
MemoryPlan planMemory(const std::vector<MemoryInterval> &intervals);

/// Two pieces that meet and overlap, or nothing: the check of a plan.
std::optional<std::pair<size_t, size_t>>
findOverlap(const std::vector<int64_t> &bytes, const MemoryConflicts &conflicts,
            const MemoryPlan &plan);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTERVALPLANNER_H
