// RUN: llmir-kvcache-tests --gtest_filter='Fragmentation*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What paging is for: a sequence takes the blocks that its tokens fill,
// wherever they are, so that free memory is never in the wrong place.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace mlir::llm::runtime;

namespace {

constexpr int64_t kBlockSize = 4, kNumBlocks = 96, kDim = 2;

PagedKVCacheOptions options() {
  PagedKVCacheOptions options;
  options.numBlocks = kNumBlocks;
  return options;
}

class Fragmentation : public testing::Test {
protected:
  /// Appends `count` tokens, numbered from `first`; returns whether they fit.
  bool append(int32_t id, int64_t count, float first) {
    std::vector<float> numbers(static_cast<size_t>(count * kDim));
    std::iota(numbers.begin(), numbers.end(), first);
    return cache
        .appendKV(numbers.data(), numbers.data(), 1, count, &id, nullptr)
        .isOk();
  }

  static int64_t blocksFor(int64_t tokens) {
    return (tokens + kBlockSize - 1) / kBlockSize;
  }

  /// The most blocks that are free in a row of the pool.
  int64_t longestFreeRun() const {
    int64_t longest = 0, run = 0;
    for (int32_t block = 0; block < kNumBlocks; ++block) {
      run = cache.blocks().refCount(block) == 0 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }

  PagedKVCache cache{1,        1, kDim, kBlockSize, 512, KVElementType::F32,
                     options()};
};

} // namespace

// SPEC: 15 87 122 145 146
TEST_F(Fragmentation, ASequenceWastesLessThanABlock) {
  ASSERT_TRUE(cache.status()) << cache.status().message();
  std::mt19937 random(3);
  std::vector<int64_t> lengths(7, 0);
  // Sequences are extended by a few tokens round-robin until the cache is full.
  for (bool fits = true; fits;) {
    size_t member = random() % lengths.size();
    int64_t count = 1 + static_cast<int64_t>(random() % 6);
    int64_t needed = 0;
    for (size_t i = 0; i < lengths.size(); ++i)
      needed += blocksFor(lengths[i] + (i == member ? count : 0));
    fits = append(static_cast<int32_t>(member), count,
                  static_cast<float>(lengths[member] * kDim));
    // It fits exactly where blocks for the tokens alone do.
    ASSERT_EQ(fits, needed <= kNumBlocks);
    if (fits)
      lengths[member] += count;
    int64_t taken = 0;
    for (int64_t length : lengths)
      taken += blocksFor(length);
    ASSERT_EQ(cache.blocks().numUsed(), taken);
  }
  int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  EXPECT_LT(cache.blocks().numUsed() * kBlockSize - tokens,
            static_cast<int64_t>(lengths.size()) * kBlockSize);
}

// SPEC: 15 87 123 145 146
TEST_F(Fragmentation, FreedBlocksAreOneSupplyWhereverTheyAre) {
  ASSERT_TRUE(cache.status()) << cache.status().message();
  // The pool is full of short sequences, a block each; every other one ends.
  for (int32_t id = 0; id < kNumBlocks; ++id)
    ASSERT_TRUE(append(id, kBlockSize, 0));
  EXPECT_EQ(cache.blocks().numFree(), 0);
  for (int32_t id = 0; id < kNumBlocks; id += 2)
    ASSERT_TRUE(cache.freeSequence(id));
  EXPECT_EQ(cache.blocks().numFree(), kNumBlocks / 2);
  EXPECT_EQ(longestFreeRun(), 1);
  // One long sequence takes all of the freed blocks, and reads back in order.
  const int32_t id = 1000;
  const int64_t tokens = kNumBlocks / 2 * kBlockSize;
  ASSERT_TRUE(append(id, tokens, 5));
  EXPECT_EQ(cache.blocks().numFree(), 0);
  std::vector<int32_t> table(static_cast<size_t>(cache.blocksPerSequence()));
  int32_t length;
  ASSERT_TRUE(cache.fillBlockTable(&id, 1, table.data(), &length));
  ASSERT_EQ(length, tokens);
  std::vector<float> keys(static_cast<size_t>(tokens * kDim)), values = keys,
                                                               wanted = keys;
  ASSERT_TRUE(
      cache.lookupKV(table.data(), &length, 1, keys.data(), values.data()));
  std::iota(wanted.begin(), wanted.end(), 5.0f);
  EXPECT_EQ(keys, wanted);
  EXPECT_EQ(values, wanted);
  EXPECT_FALSE(append(1, 1, 0)); // Not one token more.
  EXPECT_TRUE(cache.checkInvariants());
}
