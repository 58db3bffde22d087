//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns offsets in one arena to pieces of memory so that pieces that are live
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

/// A piece of memory that is live from `first` to `last`, both inclusive.
struct MemoryInterval {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

/// Which pieces, numbered from 0, are live at the same time.
class MemoryConflicts {
public:
  explicit MemoryConflicts(size_t numPieces) : lists(numPieces) {}
  /// The conflicts of pieces whose intervals intersect.
  static MemoryConflicts
  ofIntervals(const std::vector<MemoryInterval> &intervals);

  /// Records that two different pieces conflict; call once per pair.
  void add(size_t a, size_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
  }
  size_t size() const { return lists.size(); }
  const std::vector<size_t> &of(size_t piece) const { return lists[piece]; }

private:
  std::vector<std::vector<size_t>> lists;
};

/// The offset of each piece and the size of the arena, in bytes.
struct MemoryPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The maximum number of bytes live at one time: a lower bound for any plan.
int64_t maxLiveBytes(const std::vector<MemoryInterval> &intervals);

/// Assigns offsets to pieces of `bytes` each. A piece starts at 0 or where
/// another ends, so offsets are multiples of any common divisor of the sizes.
/// Sizes must be nonnegative and their sum must fit into 63 bits.
///
/// Places the largest piece first, each at the lowest free offset. If the
/// result exceeds `lowerBound`, also tries other orders and best fit, then a
/// fixed number of times moves the topmost pieces to the front of the order;
/// the smallest plan wins, the first among equals. Deterministic.
MemoryPlan planMemory(const std::vector<int64_t> &bytes,
                      const MemoryConflicts &conflicts, int64_t lowerBound);
/// The same for intervals, with maxLiveBytes() as the bound.
MemoryPlan planMemory(const std::vector<MemoryInterval> &intervals);

/// Two conflicting pieces that overlap, or nullopt: verifies a plan.
std::optional<std::pair<size_t, size_t>>
findOverlap(const std::vector<int64_t> &bytes, const MemoryConflicts &conflicts,
            const MemoryPlan &plan);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTERVALPLANNER_H
