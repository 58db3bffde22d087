// RUN: llmir-support-tests --gtest_filter='IntervalPlanner*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/IntervalPlanner.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>

#include <random>

using namespace llmir;

namespace {

std::vector<int64_t> bytesOf(const std::vector<MemoryInterval> &intervals) {
  std::vector<int64_t> bytes;
  for (const MemoryInterval &interval : intervals)
    bytes.push_back(interval.bytes);
  return bytes;
}

/// What was the whole planner before: the largest first, at the lowest place.
int64_t bytesOfLargestFirst(const std::vector<MemoryInterval> &intervals) {
  std::multimap<int64_t, MemoryInterval, std::greater<>> bySize;
  for (const MemoryInterval &interval : intervals)
    bySize.emplace(interval.bytes, interval);
  std::vector<MemoryInterval> order;
  for (const auto &[bytes, interval] : bySize)
    order.push_back(interval);
  std::vector<int64_t> offsets;
  int64_t total = 0;
  for (const MemoryInterval &next : order) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t i = 0; i < offsets.size(); ++i)
      if (order[i].first <= next.last && next.first <= order[i].last)
        taken.emplace_back(offsets[i], offsets[i] + order[i].bytes);
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (auto [begin, end] : taken) {
      if (offset + next.bytes <= begin)
        break;
      offset = std::max(offset, end);
    }
    offsets.push_back(offset);
    total = std::max(total, offset + next.bytes);
  }
  return total;
}

} // namespace

TEST(IntervalPlanner, NothingNeedsNothing) {
  MemoryPlan plan = planMemory(std::vector<MemoryInterval>());
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_TRUE(plan.offsets.empty());
  EXPECT_EQ(maxLiveBytes({}), 0);
}

TEST(IntervalPlanner, PiecesThatDoNotMeetShare) {
  MemoryPlan plan = planMemory({{64, 0, 1}, {128, 2, 3}, {64, 3, 4}});
  EXPECT_EQ(plan.bytes, 192);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 0, 128}));
}

TEST(IntervalPlanner, OnlyTheLastTimeInCommonIsAConflict) {
  EXPECT_EQ(planMemory({{64, 0, 1}, {64, 1, 2}}).bytes, 128);
  EXPECT_EQ(planMemory({{64, 0, 1}, {64, 2, 2}}).bytes, 64);
  EXPECT_EQ(maxLiveBytes({{64, 0, 1}, {64, 1, 2}}), 128);
  EXPECT_EQ(maxLiveBytes({{64, 0, 1}, {64, 2, 2}}), 64);
}

TEST(IntervalPlanner, PiecesOfNoBytesTakeNoPlace) {
  MemoryPlan plan = planMemory({{0, 0, 9}, {64, 0, 9}, {0, 3, 4}});
  EXPECT_EQ(plan.bytes, 64);
}

// The largest first leaves a hole that an allocation of the second size would
// have filled: 64 more bytes than are needed at any time.
TEST(IntervalPlanner, OtherOrdersAreTriedWhereTheFirstIsNotTheBest) {
  std::mt19937 random(1);
  int64_t better = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<MemoryInterval> intervals;
    for (int i = 0; i < 12; ++i) {
      int64_t first = static_cast<int64_t>(random() % 12);
      intervals.push_back({64 * static_cast<int64_t>(1 + random() % 9), first,
                           first + static_cast<int64_t>(random() % 5)});
    }
    better += planMemory(intervals).bytes < bytesOfLargestFirst(intervals);
  }
  EXPECT_GT(better, 10);
}

TEST(IntervalPlanner, RandomPlansNeverOverlapAndAreNoWorseThanLargestFirst) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    std::vector<MemoryInterval> intervals;
    const size_t pieces = random() % 40;
    for (size_t i = 0; i < pieces; ++i) {
      int64_t first = static_cast<int64_t>(random() % 30);
      intervals.push_back({64 * static_cast<int64_t>(random() % 20), first,
                           first + static_cast<int64_t>(random() % 8)});
    }
    MemoryPlan plan = planMemory(intervals);
    EXPECT_EQ(findOverlap(bytesOf(intervals),
                          MemoryConflicts::ofIntervals(intervals), plan),
              std::nullopt)
        << "round " << round;
    EXPECT_GE(plan.bytes, maxLiveBytes(intervals)) << "round " << round;
    EXPECT_LE(plan.bytes, bytesOfLargestFirst(intervals)) << "round " << round;
    for (size_t i = 0; i < pieces; ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_LE(plan.offsets[i] + intervals[i].bytes, plan.bytes);
    }
    EXPECT_EQ(planMemory(intervals).offsets, plan.offsets) << "twice the same";
  }
}

TEST(IntervalPlanner, ConflictsNeedNotComeFromIntervals) {
  MemoryConflicts ring(4); // Of four allocations, only opposite ones may share.
  for (size_t i = 0; i < 4; ++i)
    ring.add(i, (i + 1) % 4);
  MemoryPlan plan = planMemory({64, 64, 64, 64}, ring, 0);
  EXPECT_EQ(plan.bytes, 128);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.offsets[1], plan.offsets[3]);
}

TEST(IntervalPlanner, AnOverlapIsFound) {
  MemoryConflicts conflicts(3);
  conflicts.add(0, 2);
  MemoryPlan plan{{0, 0, 63}, 127};
  EXPECT_EQ(findOverlap({64, 64, 64}, conflicts, plan),
            std::make_pair(size_t(0), size_t(2)));
  plan.offsets[2] = 64;
  EXPECT_EQ(findOverlap({64, 64, 64}, conflicts, plan), std::nullopt);
}

TEST(IntervalPlanner, AThousandPiecesThatAllMeetArePlannedAtOnce) {
  std::vector<MemoryInterval> intervals(1000, {64, 0, 1});
  EXPECT_EQ(planMemory(intervals).bytes, 64000);
}
