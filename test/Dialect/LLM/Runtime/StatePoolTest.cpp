// RUN: llmir-kvcache-tests --gtest_filter='StatePool*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The states of layers, alone and as part of the cache.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir::llm::runtime;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace {

constexpr int64_t kLayers = 3, kRecord = 128;

PagedKVCacheOptions optionsFor(int64_t slots) {
  PagedKVCacheOptions options;
  options.numBlocks = 16;
  options.states = {kLayers, kRecord, slots};
  return options;
}

class StatePoolOfCache : public testing::Test {
protected:
  PagedKVCache cache{2, 2, 8, 4, 32, KVElementType::F32, optionsFor(3)};

  uint8_t *record(SequenceId sequence, int64_t layer) {
    const StatePool &states = cache.states();
    return states.data() + layer * states.layerStride() +
           cache.stateSlot(sequence) * states.slotStride();
  }
  void fill(SequenceId sequence, uint8_t value) {
    for (int64_t layer = 0; layer < kLayers; ++layer)
      std::fill_n(record(sequence, layer), kRecord,
                  static_cast<uint8_t>(value + layer));
  }
  bool holds(SequenceId sequence, uint8_t value, int step = 1) {
    for (int64_t layer = 0; layer < kLayers; ++layer)
      for (int64_t i = 0; i < kRecord; ++i)
        if (record(sequence, layer)[i] != value + step * layer)
          return false;
    return true;
  }
  bool isZero(SequenceId sequence) { return holds(sequence, 0, 0); }
  void reserve(SequenceId sequence, int64_t tokens) {
    std::vector<int32_t> slots(static_cast<size_t>(tokens));
    ASSERT_TRUE(cache.reserve(sequence, tokens, slots));
  }
  void TearDown() override { EXPECT_TRUE(cache.checkInvariants()); }
};

} // namespace

TEST(StatePool, RefusesImpossibleSizes) {
  for (StateGeometry sizes :
       {StateGeometry{1, 128, 0}, StateGeometry{1, 100, 4},
        StateGeometry{-1, 64, 4}, StateGeometry{1, -64, 4},
        StateGeometry{70000, 64, 4}, StateGeometry{1, 64, 70000}}) {
    StatePool pool;
    EXPECT_EQ(pool.allocate(sizes, false).code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(pool.isEmpty());
  }
  StatePool pool;
  EXPECT_EQ(pool.allocate({65536, int64_t(1) << 34, 65536}, false).code(),
            StatusCode::ResourceExhausted);
}

TEST(StatePool, IsEmptyWithoutLayers) {
  StatePool pool;
  EXPECT_TRUE(pool.allocate({}, true));
  EXPECT_TRUE(pool.isEmpty());
  EXPECT_EQ(pool.take(), -1);
  EXPECT_TRUE(pool.checkRoom(1000));
}

TEST_F(StatePoolOfCache, SequencesBeginWithZeros) {
  ASSERT_TRUE(cache.createSequence(1));
  EXPECT_TRUE(isZero(1));
  const int32_t slot = cache.stateSlot(1);
  fill(1, 5);
  ASSERT_TRUE(cache.freeSequence(1));
  EXPECT_EQ(cache.stateSlot(1), -1);
  ASSERT_TRUE(cache.createSequence(2));
  EXPECT_EQ(cache.stateSlot(2), slot);
  EXPECT_TRUE(isZero(2));
}

TEST_F(StatePoolOfCache, ForksCopyStates) {
  ASSERT_TRUE(cache.createSequence(1));
  reserve(1, 5);
  fill(1, 9);
  ASSERT_TRUE(cache.fork(1, 2));
  EXPECT_NE(cache.stateSlot(1), cache.stateSlot(2));
  EXPECT_TRUE(holds(2, 9));
  fill(2, 50);
  EXPECT_TRUE(holds(1, 9));
  ASSERT_TRUE(cache.fork(1, 3, 0));
  EXPECT_TRUE(isZero(3));
}

TEST_F(StatePoolOfCache, RefusesToGoBack) {
  ASSERT_TRUE(cache.createSequence(1));
  reserve(1, 5);
  fill(1, 9);
  Status fork = cache.fork(1, 2, 4), truncate = cache.truncate(1, 4);
  EXPECT_EQ(fork.code(), StatusCode::Unsupported);
  EXPECT_EQ(truncate.code(), StatusCode::Unsupported);
  EXPECT_NE(truncate.cause().find("cannot go back to 4"), std::string::npos);
  EXPECT_FALSE(cache.hasSequence(2));
  EXPECT_EQ(cache.getSequenceLength(1), 5);
  EXPECT_TRUE(holds(1, 9));
  EXPECT_TRUE(cache.truncate(1, 5));
  EXPECT_TRUE(holds(1, 9));
  EXPECT_TRUE(cache.truncate(1, 0));
  EXPECT_TRUE(isZero(1));
}

TEST_F(StatePoolOfCache, HasRoomForSomeSequences) {
  for (SequenceId id : {1, 2, 3})
    ASSERT_TRUE(cache.createSequence(id));
  Status full = cache.createSequence(4);
  EXPECT_EQ(full.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(cache.fork(1, 4).code(), StatusCode::ResourceExhausted);
  const int32_t from = 1, to = 4;
  EXPECT_EQ(cache.forkSequences({&from, 1}, {&to, 1}).code(),
            StatusCode::ResourceExhausted);
  EXPECT_EQ(cache.getNumSequences(), 3);
  ASSERT_TRUE(cache.freeSequence(2));
  EXPECT_TRUE(cache.createSequence(4));
  cache.reset();
  EXPECT_EQ(cache.states().numFree(), 3);
}

TEST_F(StatePoolOfCache, IsNotWrittenByValue) {
  ASSERT_TRUE(cache.createSequence(1));
  const std::vector<float> values(2 * 2 * 8);
  const int32_t id = 1;
  EXPECT_EQ(
      cache.appendKV(values.data(), values.data(), 1, 1, &id, nullptr).code(),
      StatusCode::Unsupported);
  int32_t slot = 0;
  EXPECT_EQ(cache.reserveLayer(0, 1, {&id, 1}, {&slot, 1}).code(),
            StatusCode::Unsupported);
  EXPECT_EQ(cache.getSequenceLength(1), 0);
}
