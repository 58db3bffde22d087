// RUN: llmir-codegen-tests --gtest_filter='AccessCheckTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests that the check of accesses detects errors in handwritten kernels.
//
//===----------------------------------------------------------------------===//

#include "AccessCheck.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::test;
using llmir::mllm::kernel::RowSpace;
using llmir::mllm::kernel::WorkDivision;

namespace {
constexpr int64_t kRows = 8, kColumns = 32, kSize = kRows * kColumns;
/// Rows of a step; the buffers have more.
constexpr int64_t kTokens = 7;

/// A kernel from x, the first half of the arena, to y, the other half.
class AccessCheckTest : public testing::Test {
protected:
  AccessCheckTest() {
    for (int64_t i = 0; i < 2 * kSize; ++i)
      memory[i] = 1.0f + static_cast<float>(i);
    step.context.arena = reinterpret_cast<uint8_t *>(memory);
    step.limits = {kTokens, kTokens, kTokens};
    step.blocks = {{step.context.arena, sizeof(memory)}};
    CheckedOperand x{0, 0, kRows, kColumns, kColumns, 4, kTokens};
    CheckedOperand y = x;
    y.offset = kSize * 4;
    x.reads = y.writes = true;
    x.division = y.division = WorkDivision::rows(RowSpace::Tokens);
    step.phases = {{{x, y}, {}}};
  }

  std::string find(LLMIRStepFunction function, int64_t workers) {
    step.function = function;
    std::vector<float> before(memory, memory + 2 * kSize);
    std::string wrong = findWrongAccess(step, workers);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), memory))
        << "the memory was not restored";
    return wrong;
  }

  std::vector<CheckedOperand> &operands() {
    return step.phases.front().operands;
  }

  CheckedStep step;
  alignas(64) float memory[2 * kSize];
};

float *bufferX(const LLMIRStepContext *ctx) {
  return reinterpret_cast<float *>(ctx->arena);
}
float *bufferY(const LLMIRStepContext *ctx) { return bufferX(ctx) + kSize; }

/// y = 2 x in the rows [first, last).
void doubleRows(const LLMIRStepContext *ctx, int64_t first, int64_t last) {
  for (int64_t i = first * kColumns; i < last * kColumns; ++i)
    bufferY(ctx)[i] = 2 * bufferX(ctx)[i];
}
void rightRows(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  doubleRows(ctx, worker * kTokens / workers, (worker + 1) * kTokens / workers);
}
} // namespace

TEST_F(AccessCheckTest, AcceptsRows) {
  for (int64_t workers : {1, 2, 3, 7, 9})
    EXPECT_EQ(find(rightRows, workers), "");
}

TEST_F(AccessCheckTest, FindsAnotherDivision) {
  // Whole chunks of rows, as in loops without a remainder.
  std::string wrong = find(
      [](const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
        const int64_t chunk = (kTokens + workers - 1) / workers;
        doubleRows(ctx, std::min(worker * chunk, kTokens),
                   std::min((worker + 1) * chunk, kTokens));
      },
      2);
  EXPECT_EQ(
      wrong,
      "worker 0 of 2 writes an element that is not its own: operand 1 [3, 0]");
}

TEST_F(AccessCheckTest, FindsWhatNobodyWrites) {
  std::string wrong = find(
      [](const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
        if (worker + 1 < workers || workers == 1)
          rightRows(ctx, worker, workers);
      },
      2);
  EXPECT_EQ(wrong, "worker 1 of 2 does not write its own element correctly, or "
                   "depends on one that it "
                   "must not read: operand 1 [3, 0]");
}

TEST_F(AccessCheckTest, FindsReadsOfOthersElements) {
  // Each row reads the first element of the previous row.
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t workers) {
    const int64_t last = (worker + 1) * kTokens / workers;
    for (int64_t row = worker * kTokens / workers; row < last; ++row)
      for (int64_t column = 0; column < kColumns; ++column)
        bufferY(ctx)[row * kColumns + column] =
            bufferX(ctx)[std::max<int64_t>(row - 1, 0) * kColumns];
  };
  EXPECT_EQ(find(function, 2), "worker 1 of 2 does not write its own element "
                               "correctly, or depends on one that it "
                               "must not read: operand 1 [3, 0]");
  operands()[0].division.reset(); // Any worker may read any element.
  EXPECT_EQ(find(function, 2), "");
}

TEST_F(AccessCheckTest, FindsReadsOfUnusedRows) {
  // The row after those of the step is poisoned, so a single worker reads the
  // poison; a worker that also reads it cannot be distinguished.
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t workers) {
    rightRows(ctx, worker, workers);
    if (worker == 0 && workers > 1)
      bufferY(ctx)[0] += bufferX(ctx)[kTokens * kColumns];
  };
  EXPECT_EQ(find(function, 2), "worker 0 of 2 does not write its own element "
                               "correctly, or depends on one that it "
                               "must not read: operand 1 [0, 0]");
}

TEST_F(AccessCheckTest, FindsRowsBeyondTheStep) {
  std::string wrong = find(
      [](const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
        rightRows(ctx, worker, workers);
        if (worker + 1 == workers)
          doubleRows(ctx, kTokens, kRows);
      },
      2);
  EXPECT_EQ(
      wrong,
      "worker 1 of 2 writes an element that is not its own: operand 1 [7, 0]");
}

TEST_F(AccessCheckTest, KnowsColumns) {
  for (CheckedOperand &operand : operands())
    operand.division = WorkDivision::columns(RowSpace::Tokens, kColumns);
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t workers) {
    constexpr int64_t tiles = kColumns / 16;
    for (int64_t row = 0; row < kTokens; ++row)
      for (int64_t column = worker * tiles / workers * 16;
           column < (worker + 1) * tiles / workers * 16; ++column)
        bufferY(ctx)[row * kColumns + column] =
            -bufferX(ctx)[row * kColumns + column];
  };
  for (int64_t workers : {1, 2, 3})
    EXPECT_EQ(find(function, workers), "");
  // Both tiles belong to one worker.
  operands()[1].division->grain = 2;
  EXPECT_EQ(find(function, 2),
            "worker 0 of 2 writes an element that is not its own: operand 1 "
            "[0, 0]");
}

TEST_F(AccessCheckTest, KnowsHeads) {
  operands()[0].division.reset();
  operands()[1].division = WorkDivision::heads(4);
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t workers) {
    for (int64_t pair = worker; pair < kTokens * 4; pair += workers)
      for (int64_t i = pair * 8; i < (pair + 1) * 8; ++i)
        bufferY(ctx)[i] = bufferX(ctx)[i];
  };
  for (int64_t workers : {1, 2, 3, 5})
    EXPECT_EQ(find(function, workers), "");
  EXPECT_EQ(
      find(rightRows, 2),
      "worker 0 of 2 writes an element that is not its own: operand 1 [0, 8]");
}

TEST_F(AccessCheckTest, KnowsTheFirstWorker) {
  operands()[0].division.reset();
  operands()[1].division = WorkDivision::first();
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t) {
    if (worker == 0)
      doubleRows(ctx, 0, kTokens);
  };
  EXPECT_EQ(find(function, 3), "");
  EXPECT_EQ(find(rightRows, 2), "worker 0 of 2 does not write its own element "
                                "correctly, or depends on one that it "
                                "must not read: operand 1 [3, 0]");
}

TEST_F(AccessCheckTest, FindsTwoWritersOfOneElement) {
  for (CheckedOperand &operand : operands())
    operand.division.reset();
  EXPECT_EQ(find(rightRows, 3), "");
  LLMIRStepFunction all = [](const LLMIRStepContext *ctx, int64_t, int64_t) {
    doubleRows(ctx, 0, kTokens);
  };
  EXPECT_EQ(find(all, 2).substr(0, 57),
            "worker 1 of 2 writes an element that another worker write");
  LLMIRStepFunction none = [](const LLMIRStepContext *ctx, int64_t worker,
                              int64_t workers) {
    if (worker > 0 || workers == 1)
      rightRows(ctx, worker, workers);
  };
  EXPECT_EQ(find(none, 2).substr(0, 28), "no worker writes operand 1 [");
  LLMIRStepFunction other = [](const LLMIRStepContext *ctx, int64_t worker,
                               int64_t workers) {
    rightRows(ctx, worker, workers);
    bufferY(ctx)[0] += static_cast<float>(workers);
  };
  EXPECT_EQ(find(other, 2).substr(0, 59),
            "worker 0 of 2 writes another value than a single worker: op");
}

TEST_F(AccessCheckTest, FindsWritesOutsideOfOperands) {
  std::string wrong = find(
      [](const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
        rightRows(ctx, worker, workers);
        bufferX(ctx)[kSize - 1] = 0;
      },
      2);
  EXPECT_EQ(
      wrong.substr(0, 68),
      "worker 0 of 2 writes an element that is not its own: operand 0 [7, 3");
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

TEST_F(AccessCheckTest, GoesOnWithTheMemoryOfAllWorkers) {
  // y = 2 x, then x = the previous row of y.
  CheckedPhase second;
  second.operands = {operands()[1], operands()[0]};
  std::swap(second.operands[0].reads, second.operands[0].writes);
  std::swap(second.operands[1].reads, second.operands[1].writes);
  second.operands[0].division.reset();
  step.phases.push_back(second);
  LLMIRStepFunction function = [](const LLMIRStepContext *ctx, int64_t worker,
                                  int64_t workers) {
    rightRows(ctx, worker, workers);
    ctx->runtime->barrier(ctx, worker);
    for (int64_t row = worker * kTokens / workers;
         row < (worker + 1) * kTokens / workers; ++row)
      std::memcpy(bufferX(ctx) + row * kColumns,
                  bufferY(ctx) + (row + kTokens - 1) % kTokens * kColumns,
                  kColumns * 4);
  };
  for (int64_t workers : {1, 2, 3})
    EXPECT_EQ(find(function, workers), "");
  // The rows of y belong to their writers.
  step.phases[1].operands[0].division = WorkDivision::rows(RowSpace::Tokens);
  EXPECT_EQ(find(function, 2),
            "worker 0 of 2 does not write its own element correctly, or "
            "depends on one that it must not read: "
            "operand 1 [0, 0] in phase 1");
  // There is no barrier.
  EXPECT_EQ(find(rightRows, 2), "there are 1 phases");
}
