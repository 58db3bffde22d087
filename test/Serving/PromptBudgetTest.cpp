// RUN: llmir-serving-tests --gtest_filter='PromptBudget.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/PromptBudget.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>

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

/// Steps of all kinds.
void observeAll(PromptBudget &budget) {
  for (int64_t decoding : {1, 4, 16})
    for (int64_t tokens : {0, 32, 128})
      observe(budget, decoding, tokens);
}

/// Within a hundredth, and the one that is lost when it is cut off. Every other
/// step has three quarters of the tokens.
void expectTokens(PromptBudget budget, int64_t decoding, int64_t waiting,
                  double expected) {
  int64_t first = budget.tokens(decoding, waiting);
  observe(budget, 1, 1);
  int64_t second = budget.tokens(decoding, waiting);
  if (first < second)
    std::swap(first, second);
  EXPECT_NEAR(static_cast<double>(first), expected, 1 + expected / 100);
  EXPECT_NEAR(static_cast<double>(second), 0.75 * expected, 1 + expected / 100);
}

} // namespace

TEST(PromptBudget, IsSmallWhileNothingIsKnown) {
  PromptBudget budget(2);
  EXPECT_EQ(budget.tokens(8, 1), 8);
  observe(budget, 8, 0);
  EXPECT_EQ(budget.tokens(8, 1), 8);
}

TEST(PromptBudget, HasNoLimitIfTheSlowdownHasNone) {
  PromptBudget budget(INFINITY);
  EXPECT_GT(budget.tokens(8, 1), 1 << 20);
  observeAll(budget);
  EXPECT_GT(budget.tokens(8, 1), 1 << 20);
}

TEST(PromptBudget, KeepsTheSlowdown) {
  PromptBudget budget(2), careful(1.5);
  observeAll(budget);
  observeAll(careful);
  expectTokens(budget, 8, 1, 52); // 26 ms without prompts.
  expectTokens(careful, 8, 1, 26);
  expectTokens(budget, 200, 1, 820); // Never seen.
}

TEST(PromptBudget, NeedsNoStepsWithoutPrompts) {
  PromptBudget budget(2);
  budget.add(0, 500, 260);
  for (int64_t decoding : {2, 4, 8})
    for (int64_t tokens : {8, 16, 40})
      observe(budget, decoding, tokens);
  expectTokens(budget, 4, 1, 36);
}

TEST(PromptBudget, DividesTheTimeIfMoreWaitThanDecode) {
  PromptBudget budget(1.75);
  observeAll(budget);
  expectTokens(budget, 4, 3, 27);   // 0.75 times 18 ms.
  expectTokens(budget, 4, 12, 108); // Three times as long as they decode.
  expectTokens(budget, 4, 400, 3600);
}

TEST(PromptBudget, FollowsChanges) {
  PromptBudget budget(2);
  for (int i = 0; i < 50; ++i)
    observeAll(budget);
  expectTokens(budget, 4, 1, 36);
  // Contexts have grown: a sequence takes 8 ms.
  for (int i = 0; i < 800; ++i)
    for (int64_t tokens : {0, 64})
      budget.add(4, tokens, timeOf(4, tokens) + 24);
  expectTokens(budget, 4, 1, 84);
  // A step of no time says nothing, and a wrong one little.
  budget.add(4, 100, 0);
  budget.add(4, 0, 80);
  EXPECT_GT(budget.tokens(4, 1), 70);
  EXPECT_LT(budget.tokens(4, 1), 100);
}

/// Only steps with prompts are seen while requests keep arriving.
TEST(PromptBudget, StaysRightUnderLoad) {
  PromptBudget budget(1.75);
  observe(budget, 1, 0);
  for (int64_t decoding = 1; decoding < 200; ++decoding)
    for (int i = 0; i < 20; ++i)
      observe(budget, decoding, budget.tokens(decoding, 10));
  expectTokens(budget, 200, 10, 615);
}
