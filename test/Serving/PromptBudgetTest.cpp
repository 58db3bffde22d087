// RUN: llmir-serving-tests --gtest_filter='PromptBudget.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/PromptBudget.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {
/// A machine on which a step takes 10 ms, 2 ms for each sequence that decodes,
/// and 0.5 ms for each token of a prompt.
double timeOf(int64_t decoding, int64_t promptTokens) {
  return 10 + 2 * static_cast<double>(decoding) +
         0.5 * static_cast<double>(promptTokens);
}

void observe(PromptBudget &budget, int64_t decoding, int64_t promptTokens) {
  budget.add(decoding, promptTokens, timeOf(decoding, promptTokens));
}
} // namespace

TEST(PromptBudget, IsSmallWhileNothingIsKnown) {
  PromptBudget budget(2);
  EXPECT_EQ(budget.tokens(8, 1), 8);
  observe(budget, 8, 0);
  EXPECT_EQ(budget.tokens(8, 1), 8);
}

TEST(PromptBudget, KeepsTheSlowdown) {
  PromptBudget budget(2);
  observe(budget, 8, 0);
  for (int64_t tokens : {16, 64, 128})
    observe(budget, 8, tokens);
  // 26 ms without prompts.
  EXPECT_EQ(budget.tokens(8, 1), 52);
  PromptBudget careful(1.5);
  observe(careful, 8, 0);
  observe(careful, 8, 64);
  EXPECT_EQ(careful.tokens(8, 1), 26);
}

TEST(PromptBudget, TakesTheTimeOfPromptsAloneAtFirst) {
  PromptBudget budget(2);
  budget.add(0, 500, 250);
  observe(budget, 4, 0);
  EXPECT_EQ(budget.tokens(4, 1), 36); // 18 ms of 0.5 ms each.
}

TEST(PromptBudget, KnowsStepsThatDecodeWithoutHavingSeenOneAlone) {
  PromptBudget budget(2);
  budget.add(0, 500, 250);
  observe(budget, 4, 16);
  EXPECT_EQ(budget.tokens(4, 1), 36);
}

TEST(PromptBudget, DividesTheTimeIfMoreWaitThanDecode) {
  PromptBudget budget(1.75);
  observe(budget, 4, 0);
  observe(budget, 4, 100);
  EXPECT_EQ(budget.tokens(4, 3), 27);   // 0.75 times 18 ms.
  EXPECT_EQ(budget.tokens(4, 12), 108); // Three times as long as they decode.
  EXPECT_EQ(budget.tokens(4, 400), 3600);
}

TEST(PromptBudget, TakesTheNearestNumberOfSequences) {
  PromptBudget budget(2);
  observe(budget, 2, 0);
  observe(budget, 16, 0);
  observe(budget, 2, 100);
  EXPECT_EQ(budget.tokens(1, 1), 28);
  EXPECT_EQ(budget.tokens(5, 1), 28);
  EXPECT_EQ(budget.tokens(12, 1), 84);
  EXPECT_EQ(budget.tokens(100, 1), 84);
}

TEST(PromptBudget, FollowsChanges) {
  PromptBudget budget(2);
  for (int i = 0; i < 50; ++i) {
    observe(budget, 4, 0);
    observe(budget, 4, 100);
  }
  EXPECT_EQ(budget.tokens(4, 1), 36);
  // Contexts have grown.
  for (int i = 0; i < 50; ++i)
    budget.add(4, 0, 36);
  EXPECT_GT(budget.tokens(4, 1), 70);
  // A step that was faster than expected, and one of no time, change little.
  budget.add(4, 100, 1);
  budget.add(4, 0, 0);
  EXPECT_GT(budget.tokens(4, 1), 50);
}
