//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/IntervalPlanner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

using namespace llmir;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

/// The indices of the intervals in order of their start.
static std::vector<size_t>
inOrderOfTime(const std::vector<MemoryInterval> &intervals) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(intervals[a].first, a) < std::tie(intervals[b].first, b);
  });
  return order;
}

MemoryConflicts
MemoryConflicts::ofIntervals(const std::vector<MemoryInterval> &intervals) {
  MemoryConflicts conflicts(intervals.size());
  std::vector<size_t> live;
  for (size_t allocation : inOrderOfTime(intervals)) {
    live.erase(std::remove_if(live.begin(), live.end(),
                              [&](size_t other) {
                                return intervals[other].last <
                                       intervals[allocation].first;
                              }),
               live.end());
    for (size_t other : live)
      conflicts.add(other, allocation);
    live.push_back(allocation);
  }
  return conflicts;
}

int64_t llmir::maxLiveBytes(const std::vector<MemoryInterval> &intervals) {
  // (last, bytes) of each live allocation.
  std::multiset<std::pair<int64_t, int64_t>> live;
  int64_t now = 0, most = 0;
  for (size_t allocation : inOrderOfTime(intervals)) {
    const MemoryInterval &next = intervals[allocation];
    while (!live.empty() && live.begin()->first < next.first) {
      now -= live.begin()->second;
      live.erase(live.begin());
    }
    live.emplace(next.last, next.bytes);
    now += next.bytes;
    most = std::max(most, now);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

namespace {
enum class Fit { Lowest, SmallestGap };

/// Tries several placement orders and keeps the best plan.
class Planner {
public:
  Planner(const std::vector<int64_t> &bytes, const MemoryConflicts &conflicts,
          int64_t lowerBound)
      : bytes(bytes), conflicts(conflicts), lowerBound(lowerBound) {}

  MemoryPlan run();

private:
  using Order = std::vector<size_t>;

  Order bySize() const;
  Order byPressure() const;
  /// Assigns the allocations in that order; returns true if the plan is the
  /// best so far.
  bool attempt(const Order &order, Fit fit);
  int64_t place(size_t allocation, Fit fit);
  void improve(Order order, Fit fit);
  bool isOptimal() const { return best.bytes <= lowerBound; }

  const std::vector<int64_t> &bytes;
  const MemoryConflicts &conflicts;
  int64_t lowerBound;
  MemoryPlan best, current;
  std::vector<char> isPlaced;
  std::vector<std::pair<int64_t, int64_t>> taken; ///< Scratch of place().
};
} // namespace

/// Largest first.
Planner::Order Planner::bySize() const {
  Order order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(bytes[b], a) < std::tie(bytes[a], b);
  });
  return order;
}

/// In descending order of the bytes that an allocation conflicts with,
/// including its own; ties by size.
Planner::Order Planner::byPressure() const {
  std::vector<int64_t> pressure(bytes);
  for (size_t allocation = 0; allocation < bytes.size(); ++allocation)
    for (size_t other : conflicts.of(allocation))
      pressure[allocation] += bytes[other];
  Order order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(pressure[b], bytes[b], a) <
           std::tie(pressure[a], bytes[a], b);
  });
  return order;
}

int64_t Planner::place(size_t allocation, Fit fit) {
  taken.clear();
  for (size_t other : conflicts.of(allocation))
    if (isPlaced[other] && bytes[other] > 0)
      taken.emplace_back(current.offsets[other],
                         current.offsets[other] + bytes[other]);
  std::sort(taken.begin(), taken.end());
  int64_t free = 0, chosen = -1, smallest = std::numeric_limits<int64_t>::max();
  for (auto [begin, end] : taken) {
    const int64_t gap = begin - free;
    if (gap >= bytes[allocation] && gap < smallest) {
      chosen = free;
      smallest = gap;
      if (fit == Fit::Lowest)
        break;
    }
    free = std::max(free, end);
  }
  return chosen >= 0 ? chosen : free;
}

bool Planner::attempt(const Order &order, Fit fit) {
  current.offsets.assign(bytes.size(), 0);
  current.bytes = 0;
  isPlaced.assign(bytes.size(), 0);
  for (size_t allocation : order) {
    current.offsets[allocation] = place(allocation, fit);
    current.bytes = std::max(current.bytes,
                             current.offsets[allocation] + bytes[allocation]);
    isPlaced[allocation] = 1;
  }
  if (!best.offsets.empty() && current.bytes >= best.bytes)
    return false;
  best = current;
  return true;
}

/// Repeatedly moves an allocation that reaches the top of the arena to the
/// front of the order, for a bounded number of tries.
void Planner::improve(Order order, Fit fit) {
  // Each try assigns all allocations, so large graphs get fewer tries.
  constexpr size_t mostWork = 200000, mostTries = 200;
  size_t work = bytes.size() + 1;
  for (size_t allocation = 0; allocation < bytes.size(); ++allocation)
    work += conflicts.of(allocation).size();
  const size_t tries = std::min(mostTries, 1 + mostWork * 50 / work);
  attempt(order, fit);
  for (size_t i = 0; i < tries && !isOptimal(); ++i) {
    auto isAtTop = [&](size_t allocation) {
      return bytes[allocation] > 0 &&
             current.offsets[allocation] + bytes[allocation] == current.bytes;
    };
    auto top = std::find_if(order.begin(), order.end(), isAtTop);
    if (top == order.end())
      return;
    // Usually to the front; an allocation that is already there moves back a
    // little.
    const auto place = static_cast<size_t>(top - order.begin());
    const size_t target = place == 0
                              ? std::min<size_t>(1 + i % 7, order.size() - 1)
                              : (i % 3 == 2 ? place / 2 : 0);
    const size_t allocation = *top;
    order.erase(top);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(target),
                 allocation);
    attempt(order, fit);
  }
}

MemoryPlan Planner::run() {
  const Order size = bySize();
  attempt(size, Fit::Lowest);
  if (isOptimal())
    return best;
  const Order pressure = byPressure();
  Order time(bytes.size());
  std::iota(time.begin(), time.end(), 0);
  for (const Order &order : {size, pressure, time})
    for (Fit fit : {Fit::SmallestGap, Fit::Lowest})
      if (!isOptimal())
        attempt(order, fit);
  for (const Order &order : {size, pressure})
    for (Fit fit : {Fit::SmallestGap, Fit::Lowest})
      if (!isOptimal())
        improve(order, fit);
  return best;
}

MemoryPlan llmir::planMemory(const std::vector<int64_t> &bytes,
                             const MemoryConflicts &conflicts,
                             int64_t lowerBound) {
  if (bytes.empty())
    return {};
  return Planner(bytes, conflicts, lowerBound).run();
}

MemoryPlan llmir::planMemory(const std::vector<MemoryInterval> &intervals) {
  std::vector<int64_t> bytes;
  for (const MemoryInterval &interval : intervals)
    bytes.push_back(interval.bytes);
  return planMemory(bytes, MemoryConflicts::ofIntervals(intervals),
                    maxLiveBytes(intervals));
}

std::optional<std::pair<size_t, size_t>>
llmir::findOverlap(const std::vector<int64_t> &bytes,
                   const MemoryConflicts &conflicts, const MemoryPlan &plan) {
  for (size_t a = 0; a < bytes.size(); ++a)
    for (size_t b : conflicts.of(a))
      if (bytes[a] > 0 && bytes[b] > 0 &&
          plan.offsets[a] < plan.offsets[b] + bytes[b] &&
          plan.offsets[b] < plan.offsets[a] + bytes[a])
        return std::make_pair(std::min(a, b), std::max(a, b));
  return std::nullopt;
}
