// RUN: llmir-serving-tests --gtest_filter='Scheduler.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of the scheduler, and a simulation of many sequences that shows
// that all of them end and no block is promised twice.
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Scheduler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace llmir;

namespace {
SchedulerLimits someLimits() {
  SchedulerLimits limits;
  limits.tokensPerStep = 32;
  limits.runningSequences = 4;
  limits.logitRows = 8;
  limits.blockSize = 4;
  return limits;
}

SchedulableSequence running(int64_t arrival, int64_t tokens, int64_t computed) {
  SchedulableSequence sequence;
  sequence.arrival = arrival;
  sequence.isRunning = true;
  sequence.tokens = tokens;
  sequence.computed = computed;
  sequence.ownBlocks = (computed + 3) / 4;
  return sequence;
}

SchedulableSequence waiting(int64_t arrival, int64_t tokens) {
  SchedulableSequence sequence;
  sequence.arrival = arrival;
  sequence.tokens = tokens;
  return sequence;
}

using Indices = std::vector<int64_t>;
using Parts = std::vector<std::pair<int64_t, int64_t>>;

Parts partsOf(const StepPlan &plan) {
  Parts parts;
  for (const ScheduledPart &part : plan.parts)
    parts.push_back({part.sequence, part.tokens});
  return parts;
}
} // namespace

TEST(Scheduler, HasNothingToDo) {
  EXPECT_TRUE(planStep({}, someLimits(), 10).parts.empty());
}

TEST(Scheduler, DecodesFirstThenPromptsThenStarts) {
  const std::vector<SchedulableSequence> sequences = {
      waiting(3, 9), running(1, 40, 8), running(2, 6, 5), waiting(4, 90)};
  const StepPlan plan = planStep(sequences, someLimits(), 100);
  EXPECT_EQ(partsOf(plan), (Parts{{2, 1}, {1, 31}}));
  EXPECT_TRUE(plan.started.empty()); // No tokens are left.

  const std::vector<SchedulableSequence> shorter = {
      waiting(3, 9), running(1, 18, 8), running(2, 6, 5), waiting(4, 90)};
  const StepPlan other = planStep(shorter, someLimits(), 100);
  EXPECT_EQ(partsOf(other), (Parts{{2, 1}, {1, 10}, {0, 9}, {3, 12}}));
  EXPECT_EQ(other.started, (Indices{0, 3}));
}

TEST(Scheduler, LimitsPromptsBesideDecoding) {
  SchedulerLimits limits = someLimits();
  limits.promptTokensBesideDecoding = 8;
  const std::vector<SchedulableSequence> sequences = {
      running(1, 6, 5), running(2, 9, 4), waiting(3, 20)};
  EXPECT_EQ(partsOf(planStep(sequences, limits, 100)),
            (Parts{{0, 1}, {1, 5}, {2, 3}}));
  // Without decoding, nothing waits.
  const std::vector<SchedulableSequence> prompts = {waiting(3, 20)};
  EXPECT_EQ(partsOf(planStep(prompts, limits, 100)), (Parts{{0, 20}}));
}

TEST(Scheduler, ServesPrioritiesThenArrivals) {
  std::vector<SchedulableSequence> sequences = {waiting(1, 4), waiting(2, 4),
                                                waiting(3, 4)};
  sequences[2].priority = -1;
  EXPECT_EQ(planStep(sequences, someLimits(), 100).started, (Indices{2, 0, 1}));
}

TEST(Scheduler, LimitsRunningSequences) {
  std::vector<SchedulableSequence> sequences;
  for (int64_t i = 0; i < 6; ++i)
    sequences.push_back(waiting(i, 2));
  EXPECT_EQ(planStep(sequences, someLimits(), 100).started.size(), 4u);
}

TEST(Scheduler, StartsOnlyWhatFits) {
  // Three blocks, and one for the running sequence to grow into.
  const std::vector<SchedulableSequence> sequences = {
      running(1, 6, 5), waiting(2, 12), waiting(3, 1)};
  EXPECT_EQ(planStep(sequences, someLimits(), 4).started, (Indices{1}));
  // The third one fits, but does not overtake the second.
  EXPECT_TRUE(planStep(sequences, someLimits(), 3).started.empty());
  // A prefix needs no blocks, except those that are idle.
  std::vector<SchedulableSequence> cached = sequences;
  cached[1].computed = 8;
  EXPECT_EQ(planStep(cached, someLimits(), 2).started, (Indices{1}));
  cached[1].prefixBlocks = 2;
  EXPECT_TRUE(planStep(cached, someLimits(), 2).started.empty());
}

TEST(Scheduler, WaitsForPrefixes) {
  SchedulerLimits limits = someLimits();
  limits.tokensPerStep = 64;
  // The second one starts with the tokens that the first one computes.
  std::vector<SchedulableSequence> sequences = {running(1, 14, 4),
                                                waiting(2, 20), waiting(3, 9)};
  sequences[1].awaits = 0;
  StepPlan plan = planStep(sequences, limits, 100);
  EXPECT_EQ(plan.started, (Indices{2}));
  EXPECT_EQ(partsOf(plan), (Parts{{0, 10}, {2, 9}}));
  // What does not run is not awaited, unless it starts now.
  sequences[0] = waiting(1, 14);
  EXPECT_EQ(planStep(sequences, limits, 100).started, (Indices{0, 2}));
  sequences[0].priority = 1;
  EXPECT_EQ(planStep(sequences, limits, 100).started, (Indices{1, 2, 0}));
}

TEST(Scheduler, KeepsItsPromiseToStartedPrompts) {
  // The prompt of the first one still needs 8 blocks.
  const std::vector<SchedulableSequence> sequences = {running(1, 64, 32),
                                                      waiting(2, 4)};
  SchedulerLimits limits = someLimits();
  limits.tokensPerStep = 20;
  limits.promptTokensBesideDecoding = 0;
  EXPECT_TRUE(planStep(sequences, limits, 9).started.empty());
}

TEST(Scheduler, PreemptsTheLeastComputed) {
  // Both of the first need a block.
  std::vector<SchedulableSequence> sequences = {
      running(1, 9, 8), running(2, 13, 12), running(3, 7, 6), running(4, 3, 2)};
  StepPlan plan = planStep(sequences, someLimits(), 1);
  EXPECT_EQ(plan.preempted, (Indices{3}));
  EXPECT_EQ(partsOf(plan), (Parts{{0, 1}, {1, 1}, {2, 1}}));
  // The last in priority, however much it has.
  sequences[1].priority = 1;
  plan = planStep(sequences, someLimits(), 0);
  EXPECT_EQ(plan.preempted, (Indices{1}));
  // Earlier sequences are no victims: the last one waits.
  sequences = {running(1, 3, 2), running(2, 9, 8)};
  plan = planStep(sequences, someLimits(), 0);
  EXPECT_TRUE(plan.preempted.empty());
  EXPECT_EQ(partsOf(plan), (Parts{{0, 1}}));
}

/// Sequences that decode come first in a step, but do not take the place of a
/// prompt that is before them.
TEST(Scheduler, KeepsAPromptThatHasNoRoom) {
  std::vector<SchedulableSequence> sequences = {running(1, 40, 8),
                                                running(2, 7, 6)};
  StepPlan plan = planStep(sequences, someLimits(), 0);
  EXPECT_TRUE(plan.preempted.empty());
  EXPECT_EQ(partsOf(plan), (Parts{{1, 1}}));
  // The other one needs a block as well, and gives up its own.
  sequences[1] = running(2, 9, 8);
  sequences[0].tokens = 14;
  plan = planStep(sequences, someLimits(), 0);
  EXPECT_EQ(plan.preempted, (Indices{1}));
  EXPECT_EQ(partsOf(plan), (Parts{{0, 6}}));
}

TEST(Scheduler, ReportsWhatCanNeverFit) {
  EXPECT_EQ(planStep(std::vector<SchedulableSequence>{running(1, 9, 8)},
                     someLimits(), 0)
                .tooLarge,
            (Indices{0}));
  EXPECT_EQ(
      planStep(std::vector<SchedulableSequence>{waiting(1, 9)}, someLimits(), 2)
          .tooLarge,
      (Indices{0}));
}

TEST(Scheduler, CountsTheCopyOfASharedBlock) {
  std::vector<SchedulableSequence> sequences = {running(1, 7, 6),
                                                running(2, 7, 6)};
  for (SchedulableSequence &sequence : sequences)
    sequence.copiesLastBlock = true;
  EXPECT_TRUE(planStep(sequences, someLimits(), 2).preempted.empty());
  EXPECT_EQ(partsOf(planStep(sequences, someLimits(), 1)), (Parts{{0, 1}}));
  EXPECT_EQ(planStep(sequences, someLimits(), 0).preempted, (Indices{1}));
}

TEST(Scheduler, KeepsToTheRowsOfLogits) {
  std::vector<SchedulableSequence> sequences = {
      running(1, 20, 5), running(2, 6, 5), waiting(3, 9), waiting(4, 30)};
  // The rows of all tokens from the seventh on; the one that decodes has one.
  sequences[0].rows = 14;
  StepPlan plan = planStep(sequences, someLimits(), 100);
  EXPECT_EQ(partsOf(plan), (Parts{{1, 1}, {0, 8}, {2, 8}, {3, 15}}));
  sequences[0].rows = 15;
  sequences[3].rows = 28; // Two tokens that need no row.
  plan = planStep(sequences, someLimits(), 100);
  EXPECT_EQ(partsOf(plan), (Parts{{1, 1}, {0, 7}, {2, 8}, {3, 2}}));
  sequences[3].rows = 30;
  EXPECT_EQ(partsOf(planStep(sequences, someLimits(), 100)),
            (Parts{{1, 1}, {0, 7}, {2, 8}}));
}

/// A pool of blocks and sequences with random lengths, without prefixes.
TEST(Scheduler, LetsAllSequencesEnd) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    SchedulerLimits limits = someLimits();
    limits.runningSequences = 1 + static_cast<int64_t>(random() % 8);
    limits.tokensPerStep = limits.runningSequences + 20;
    limits.promptTokensBesideDecoding = static_cast<int64_t>(random() % 3) * 4;
    const int64_t total = 12 + static_cast<int64_t>(random() % 20);
    std::vector<SchedulableSequence> sequences;
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < 60; ++i) {
      sequences.push_back(waiting(i, 1 + static_cast<int64_t>(random() % 20)));
      sequences.back().priority = static_cast<int64_t>(random() % 3);
      if (random() % 3 == 0)
        sequences.back().rows = sequences.back().tokens;
      lengths.push_back(sequences.back().tokens +
                        static_cast<int64_t>(random() % 20));
    }
    int64_t steps = 0;
    auto blocks = [](int64_t tokens) { return (tokens + 3) / 4; };
    while (!sequences.empty()) {
      ASSERT_LT(++steps, 5000) << "seed " << seed;
      int64_t used = 0;
      for (SchedulableSequence &sequence : sequences) {
        sequence.ownBlocks = sequence.isRunning ? blocks(sequence.computed) : 0;
        used += sequence.ownBlocks;
      }
      ASSERT_LE(used, total);
      const StepPlan plan = planStep(sequences, limits, total - used);
      ASSERT_TRUE(plan.tooLarge.empty());
      ASSERT_FALSE(plan.parts.empty() && plan.preempted.empty());
      for (int64_t index : plan.preempted) {
        sequences[static_cast<size_t>(index)].isRunning = false;
        sequences[static_cast<size_t>(index)].computed = 0;
      }
      for (int64_t index : plan.started)
        sequences[static_cast<size_t>(index)].isRunning = true;
      int64_t tokens = 0, runs = 0, rows = 0;
      for (const ScheduledPart &part : plan.parts) {
        SchedulableSequence &sequence =
            sequences[static_cast<size_t>(part.sequence)];
        ASSERT_TRUE(sequence.isRunning);
        ASSERT_GE(part.tokens, 1);
        rows += std::max<int64_t>(
            sequence.computed + part.tokens -
                std::max(sequence.tokens - sequence.rows, sequence.computed),
            0);
        sequence.computed += part.tokens;
        ASSERT_LE(sequence.computed, sequence.tokens);
        if (sequence.computed == sequence.tokens) {
          ++sequence.tokens;
          sequence.rows = 1;
        }
        tokens += part.tokens;
      }
      for (const SchedulableSequence &sequence : sequences)
        runs += sequence.isRunning;
      ASSERT_LE(tokens, limits.tokensPerStep);
      ASSERT_LE(runs, limits.runningSequences);
      ASSERT_LE(rows, limits.logitRows);
      for (size_t i = sequences.size(); i-- > 0;)
        if (sequences[i].tokens > lengths[i]) {
          sequences.erase(sequences.begin() + static_cast<ptrdiff_t>(i));
          lengths.erase(lengths.begin() + static_cast<ptrdiff_t>(i));
        }
    }
  }
}
