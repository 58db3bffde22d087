//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: llmir-runtime-tests --gtest_filter=StepRuntimeTest.*

#include "llmir/Runtime/StepRuntime.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace llmir;
using mlir::llm::runtime::KVElementType;
using mlir::llm::runtime::PagedKVCache;
using mlir::llm::runtime::PagedKVCacheOptions;

namespace {

/// What the handwritten functions below read and write.
struct Calls {
  std::vector<int32_t> sequences{7, 3};
  int64_t tokens = 5;
  std::vector<int32_t> slots = std::vector<int32_t>(10, -1);
  std::vector<int32_t> blocks = std::vector<int32_t>(10, -1);
  std::vector<int32_t> tables = std::vector<int32_t>(2 * 6, -1);
  std::vector<int32_t> lengths = std::vector<int32_t>(2, -1);
  std::vector<float> logits;
  std::vector<int32_t> ids = std::vector<int32_t>(2, -1);
  double temperature = 0;

  void reserve(const LLMIRStepContext *ctx, int64_t layer) {
    ctx->runtime->reserve_kv(ctx, layer, sequences.data(), 2, tokens,
                             slots.data(), blocks.data(), tables.data(), 6,
                             lengths.data());
  }
};

Calls *calls = nullptr; ///< Of the running test.

class StepRuntimeTest : public testing::Test {
protected:
  StepRuntimeTest() {
    calls = &data;
    PagedKVCacheOptions options;
    options.numBlocks = 4;
    cache = std::make_unique<PagedKVCache>(2, 1, 16, 8, 32, KVElementType::F32,
                                           options);
    auto created = WorkerTeam::create(3);
    EXPECT_TRUE(bool(created));
    team = std::move(*created);
  }

  Status run(LLMIRStepFunction function) {
    LLMIRStepContext context{};
    StepRuntime runtime(*team, cache.get());
    return runtime.run(function, context);
  }

  Calls data;
  std::unique_ptr<PagedKVCache> cache;
  std::unique_ptr<WorkerTeam> team;
};

void reserveBothLayers(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0) {
    calls->reserve(ctx, 0);
    calls->reserve(ctx, 1);
  }
  ctx->runtime->barrier(ctx, worker);
}

TEST_F(StepRuntimeTest, ALayerReservesBehindWhatItHas) {
  ASSERT_TRUE(run(reserveBothLayers));
  // The second layer's tokens stand in the blocks that the first has taken.
  EXPECT_EQ(data.slots,
            (std::vector<int32_t>{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}));
  EXPECT_EQ(data.blocks, (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(data.tables,
            (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(data.lengths, (std::vector<int32_t>{5, 5}));
  EXPECT_TRUE(cache->checkInvariants());
}

void reserveTooMuch(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0) {
    calls->tokens = 5;
    calls->reserve(ctx, 0);
    calls->sequences = {7, 7}; // Listed twice.
    calls->reserve(ctx, 0);
    calls->sequences = {1, 2}; // Would do, but something has failed.
    calls->reserve(ctx, 0);
  }
  ctx->runtime->barrier(ctx, worker);
}

TEST_F(StepRuntimeTest, TheFirstFailureIsKeptAndOutputsAreZero) {
  Status status = run(reserveTooMuch);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("7"), std::string::npos) << status.message();
  EXPECT_EQ(data.slots, std::vector<int32_t>(10, 0));
  EXPECT_EQ(data.tables, std::vector<int32_t>(12, 0));
  EXPECT_EQ(data.lengths, std::vector<int32_t>(2, 0));
  EXPECT_FALSE(cache->hasSequence(1));
  EXPECT_TRUE(cache->checkInvariants());
  // The next run begins without it.
  data.sequences = {1, 2};
  EXPECT_TRUE(run(reserveBothLayers));
}

void forkAndFree(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0) {
    calls->reserve(ctx, 0);
    const int32_t from = 7, to = 9;
    ctx->runtime->fork_kv(ctx, &from, &to, 1);
    ctx->runtime->free_kv(ctx, &from, 1);
  }
  ctx->runtime->barrier(ctx, worker);
}

TEST_F(StepRuntimeTest, ForkAndFree) {
  ASSERT_TRUE(run(forkAndFree));
  EXPECT_FALSE(cache->hasSequence(7));
  EXPECT_EQ(cache->getSequenceLength(9), 5);
  EXPECT_EQ(cache->getSequenceLength(9, 1), 0);
}

void forkNothing(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  const int32_t from = 70, to = 9;
  if (worker == 0)
    ctx->runtime->fork_kv(ctx, &from, &to, 1);
}

TEST_F(StepRuntimeTest, AForkOfNothingFails) {
  EXPECT_EQ(run(forkNothing).code(), StatusCode::InvalidArgument);
}

TEST_F(StepRuntimeTest, WithoutACacheNothingCanBeReserved) {
  cache.reset();
  Status status = run(reserveBothLayers);
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(data.slots, std::vector<int32_t>(10, 0));
}

void sampleTwice(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0)
    ctx->runtime->sample(ctx, calls->logits.data(), 2, 3, 4, calls->temperature,
                         0, 1.0, 0.0, 5, calls->ids.data());
}

TEST_F(StepRuntimeTest, RowsAreSampledWithoutTheirPadding) {
  data.logits = {1, 3, 2, 99, 5, 4, 3, 99};
  ASSERT_TRUE(run(sampleTwice));
  EXPECT_EQ(data.ids, (std::vector<int32_t>{1, 0}));
  data.temperature = -1;
  EXPECT_EQ(run(sampleTwice).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(data.ids, (std::vector<int32_t>{0, 0}));
}

} // namespace
