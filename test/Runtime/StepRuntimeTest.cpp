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
  std::vector<int32_t> blocks = std::vector<int32_t>(2 * 3, -7);
  std::vector<int32_t> tables = std::vector<int32_t>(2 * 6, -1);
  std::vector<int32_t> lengths = std::vector<int32_t>(2, -1);
  std::vector<float> logits;
  std::vector<int32_t> ids = std::vector<int32_t>(2, -1);
  double temperature = 0;

  void reserve(const LLMIRStepContext *ctx, int64_t layer) {
    ctx->runtime->reserve_kv(ctx, layer, sequences.data(), 2, tokens,
                             slots.data(), blocks.data(), 3, tables.data(), 6,
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
  // The second layer's tokens are in the blocks allocated by the first.
  EXPECT_EQ(data.slots,
            (std::vector<int32_t>{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}));
  EXPECT_EQ(data.blocks, (std::vector<int32_t>{0, -1, -1, 1, -1, -1}));
  EXPECT_EQ(data.tables, (std::vector<int32_t>{0, -1, -1, -1, -1, -1, 1, -1, -1,
                                               -1, -1, -1}));
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

/// Finds the sequences of rows of 2 entries, 16 apart.
struct Search {
  std::vector<int32_t> rows = std::vector<int32_t>(32, 55);
  std::vector<int32_t> lengths{5, 3};
  int64_t layer = 0, room = -1;
  std::vector<int32_t> tables = std::vector<int32_t>(2 * 6, -7);
  std::vector<int32_t> found = std::vector<int32_t>(2, -7);
};
Search *search = nullptr;

void reserveAndFind(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0) {
    calls->reserve(ctx, 0);
    ctx->runtime->find_kv(ctx, search->layer, search->rows.data(), 2, 2, 16,
                          search->lengths.data(), search->room,
                          search->tables.data(), 6, search->found.data());
  }
  ctx->runtime->barrier(ctx, worker);
}

TEST_F(StepRuntimeTest, RowsFindTheirSequences) {
  Search rows;
  search = &rows;
  rows.rows[0] = 1, rows.rows[1] = -1;   // Sequence 3.
  rows.rows[16] = 0, rows.rows[17] = -1; // Sequence 7.
  ASSERT_TRUE(run(reserveAndFind));
  EXPECT_EQ(rows.tables, (std::vector<int32_t>{1, -1, -1, -1, -1, -1, 0, -1, -1,
                                               -1, -1, -1}));
  EXPECT_EQ(rows.found, rows.lengths);

  rows.room = 4;
  EXPECT_EQ(run(reserveAndFind).cause(),
            "KV cache: row 0 has length 5, but the result has room for 4 "
            "tokens");
  EXPECT_EQ(rows.tables, std::vector<int32_t>(12, 0));
  EXPECT_EQ(rows.found, std::vector<int32_t>(2, 0));
  rows.room = -1;
  rows.layer = 1;
  EXPECT_EQ(
      run(reserveAndFind).cause(),
      "KV cache: row 0 has length 5, but sequence 3 has 0 tokens in layer "
      "1");
}

/// A ragged batch of two sequences, tables of 2 entries 16 apart.
struct Batch {
  std::vector<int32_t> tables = std::vector<int32_t>(32, 55);
  std::vector<int32_t> lengths{9, 3}, offsets{0, 2, 3}, slots{31, 0};
  std::vector<int32_t> checkedTables = std::vector<int32_t>(4, -7);
  std::vector<int32_t> checkedLengths{-7, -7}, checkedOffsets{-7, -7, -7};
  std::vector<int32_t> checkedSlots{-7, -7};
  int64_t maskColumns = 0;
};
Batch *batch = nullptr;

void checkBatch(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  if (worker == 0) {
    ctx->runtime->check_kv(ctx, batch->tables.data(), 2, 2, 16,
                           batch->lengths.data(), batch->offsets.data(), 3,
                           batch->maskColumns, batch->checkedTables.data(), 2,
                           batch->checkedLengths.data(),
                           batch->checkedOffsets.data());
    ctx->runtime->check_slots(ctx, batch->slots.data(), 2,
                              batch->checkedSlots.data());
  }
  ctx->runtime->barrier(ctx, worker);
}

TEST_F(StepRuntimeTest, ARaggedBatchIsCopiedWhereItCanBeTrusted) {
  Batch arrays;
  batch = &arrays;
  arrays.tables[0] = 3, arrays.tables[1] = 2, arrays.tables[16] = 1;
  ASSERT_TRUE(run(checkBatch));
  // What no token of a sequence is in is not copied.
  EXPECT_EQ(arrays.checkedTables, (std::vector<int32_t>{3, 2, 1, 0}));
  EXPECT_EQ(arrays.checkedLengths, arrays.lengths);
  EXPECT_EQ(arrays.checkedOffsets, arrays.offsets);
  EXPECT_EQ(arrays.checkedSlots, arrays.slots);

  arrays.tables[1] = 4;
  EXPECT_EQ(run(checkBatch).cause(),
            "paged attention: row 0 has block 4 in entry 1; the cache has "
            "blocks 0 to 3");
  EXPECT_EQ(arrays.checkedTables, std::vector<int32_t>(4, 0));
  EXPECT_EQ(arrays.checkedLengths, std::vector<int32_t>(2, 0));
  EXPECT_EQ(arrays.checkedOffsets, std::vector<int32_t>(3, 0));
  EXPECT_EQ(arrays.checkedSlots, std::vector<int32_t>(2, 0));
  arrays.tables[1] = 2;
  arrays.maskColumns = 8;
  EXPECT_FALSE(run(checkBatch));
  arrays.maskColumns = 0;
  arrays.slots[0] = 32;
  EXPECT_EQ(run(checkBatch).cause(),
            "KV cache: token 0 goes to slot 32; there are 32");
  EXPECT_EQ(arrays.checkedSlots, std::vector<int32_t>(2, 0));
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
