// RUN: llmir-runtime-tests --gtest_filter='WorkerTeam.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/WorkerTeam.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace llmir;

namespace {
std::unique_ptr<WorkerTeam> team(int64_t workers, bool pin = false) {
  Expected<std::unique_ptr<WorkerTeam>> result =
      WorkerTeam::create(workers, pin);
  EXPECT_TRUE(result) << result.status().message();
  return result ? std::move(*result) : nullptr;
}
} // namespace

TEST(WorkerTeam, EveryWorkerRunsOnce) {
  for (int64_t workers : {1, 2, 3, 8, 33}) {
    std::unique_ptr<WorkerTeam> t = team(workers);
    ASSERT_TRUE(t);
    EXPECT_EQ(t->size(), workers);
    std::vector<int> calls(static_cast<size_t>(workers), 0); // Not atomic.
    for (int round = 0; round < 50; ++round)
      t->run([&](int64_t worker) { ++calls[static_cast<size_t>(worker)]; });
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(workers), 50));
  }
}

// Phases as a step has them: each worker writes its part, all read all parts.
// Plain memory: a barrier that does not order it fails under TSan, and a worker
// that is let through early finds an old number.
TEST(WorkerTeam, BarriersOrderMemory) {
  for (int64_t workers : {2, 5, 16}) {
    std::unique_ptr<WorkerTeam> t = team(workers);
    ASSERT_TRUE(t);
    std::vector<int64_t> numbers(static_cast<size_t>(workers) * 16, 0);
    std::atomic<int64_t> wrong{0};
    const int runs = 20, phases = workers <= 5 ? 400 : 60;
    for (int run = 0; run < runs; ++run)
      t->run([&](int64_t worker) {
        for (int64_t phase = 1; phase <= phases; ++phase) {
          numbers[static_cast<size_t>(worker) * 16] = run * phases + phase;
          t->barrier(worker);
          for (int64_t other = 0; other < workers; ++other)
            if (numbers[static_cast<size_t>(other) * 16] !=
                run * phases + phase)
              wrong.fetch_add(1);
          t->barrier(worker);
        }
      });
    EXPECT_EQ(wrong.load(), 0) << workers << " workers";
  }
}

TEST(WorkerTeam, ManyShortRuns) {
  std::unique_ptr<WorkerTeam> t = team(4);
  ASSERT_TRUE(t);
  int64_t sum = 0;
  std::vector<int64_t> parts(4 * 8, 0);
  for (int64_t run = 0; run < 5000; ++run) {
    t->run([&](int64_t worker) {
      parts[static_cast<size_t>(worker) * 8] = run + worker;
      if (run % 3 == 0)
        t->barrier(worker);
    });
    for (int64_t worker = 0; worker < 4; ++worker)
      sum += parts[static_cast<size_t>(worker) * 8] - worker - run;
  }
  EXPECT_EQ(sum, 0);
}

// How many take part is the machine's affair; that each of them does once, and
// that they synchronize at barriers, is not. Competing threads cause
// contention.
TEST(WorkerTeam, FewerWorkersWhereItIsCrowded) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> competitors;
  for (int64_t i = 0; i < 2 * usableProcessors(); ++i)
    competitors.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  std::unique_ptr<WorkerTeam> t = team(3);
  ASSERT_TRUE(t);
  for (int run = 0; run < 300; ++run) {
    std::vector<int64_t> numbers(3 * 8, -1); // Plain memory.
    std::atomic<int64_t> calls{0}, wrong{0};
    int64_t present = 0;
    t->runWithContention([&](int64_t worker, int64_t workers) {
      calls.fetch_add(1);
      if (worker == 0)
        present = workers;
      for (int64_t phase = 0; phase < 4; ++phase) {
        numbers[static_cast<size_t>(worker) * 8] = phase;
        t->barrier(worker);
        for (int64_t other = 0; other < workers; ++other)
          wrong.fetch_add(numbers[static_cast<size_t>(other) * 8] != phase);
        t->barrier(worker);
      }
    });
    EXPECT_GE(present, 1);
    EXPECT_LE(present, 3);
    EXPECT_EQ(calls.load(), present);
    EXPECT_EQ(wrong.load(), 0);
  }
  stop.store(true);
  for (std::thread &competitor : competitors)
    competitor.join();
}

/// Between jobs that work with any number of workers, as between steps.
TEST(WorkerTeam, EveryIndexIsCalledOnce) {
  for (int64_t workers : {1, 2, 8}) {
    std::unique_ptr<WorkerTeam> t = team(workers);
    ASSERT_TRUE(t);
    for (int64_t count : {0, 1, 2, 7, 100}) {
      std::vector<int> calls(static_cast<size_t>(count), 0); // Not atomic.
      for (int round = 0; round < 30; ++round) {
        std::atomic<int64_t> steps{0};
        t->runWithContention([&](int64_t, int64_t) { ++steps; });
        t->forEach(count,
                   [&](int64_t index) { ++calls[static_cast<size_t>(index)]; });
        EXPECT_GE(steps, 1);
      }
      EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(count), 30));
    }
  }
}

TEST(WorkerTeam, TeamsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    std::unique_ptr<WorkerTeam> t = team(3);
    ASSERT_TRUE(t);
    if (i % 2)
      t->run([](int64_t) {});
  }
}

TEST(WorkerTeam, PinsAndLetsGo) {
  cpu_set_t before, during, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  {
    std::unique_ptr<WorkerTeam> t = team(2, /*pin=*/true);
    ASSERT_TRUE(t);
    ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    int counts[2] = {};
    t->run([&](int64_t worker) {
      cpu_set_t own;
      sched_getaffinity(0, sizeof own, &own);
      counts[worker] = CPU_COUNT(&own);
    });
    EXPECT_EQ(counts[0], 1);
    EXPECT_EQ(counts[1], 1);
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(WorkerTeam, SizesThatCannotBe) {
  EXPECT_EQ(team(0)->size(),
            std::min<int64_t>(usableProcessors(), WorkerTeam::maxWorkers));
  for (int64_t workers : {int64_t(-1), WorkerTeam::maxWorkers + 1, INT64_MAX}) {
    Expected<std::unique_ptr<WorkerTeam>> result = WorkerTeam::create(workers);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.status().code(), StatusCode::InvalidArgument);
  }
}
