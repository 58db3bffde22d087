// RUN: llmir-support-tests --gtest_filter='ParallelFor.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <new>
#include <sched.h>
#include <set>
#include <thread>
#include <vector>

using namespace llmir;

TEST(ParallelFor, EveryIndexOnce) {
  for (int64_t count : {0, 1, 3, 64, 1001})
    for (int64_t chunk : {1, 4, 2000}) {
      std::vector<std::atomic<int>> calls(count);
      EXPECT_TRUE(parallelFor(5, 5 + count, chunk,
                              [&](int64_t i) { ++calls.at(i - 5); }));
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(),
                              [](const auto &n) { return n == 1; }))
          << count << " in chunks of " << chunk;
    }
}

TEST(ParallelFor, NoMemoryIsReported) {
  std::atomic<int64_t> calls{0};
  EXPECT_FALSE(parallelFor(0, 1000, 1, [&](int64_t) {
    ++calls;
    throw std::bad_alloc();
  }));
  EXPECT_GE(calls, 1);
  EXPECT_LT(calls, 1000);
}

// The caller's thread alone does all of it where the process has one processor.
TEST(ParallelFor, AsManyThreadsAsProcessors) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::set<std::thread::id> threads;
  EXPECT_TRUE(parallelFor(
      0, 100, 1, [&](int64_t) { threads.insert(std::this_thread::get_id()); }));
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}
