// RUN: llmir-kvcache-tests --gtest_filter='PagedKVCacheBytes.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache of bytes with a scale for each head of each token.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir::llm::runtime;

static PagedKVCacheOptions blocks(int64_t count) {
  PagedKVCacheOptions options;
  options.numBlocks = count;
  return options;
}

/// A row of f32 elements after it was stored to and loaded from the cache.
static std::vector<float> asBytes(const float *row, int64_t count) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i)
    most = std::max(most, std::fabs(row[i]));
  const float scale = most / 127.0f;
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(scale == 0 ? 0 : scale * std::nearbyint(row[i] / scale));
  return result;
}

TEST(PagedKVCacheBytes, ComeBackAsTheirCodesMeanThem) {
  constexpr int64_t heads = 3, keyDim = 37, valueDim = 20, tokens = 11;
  PagedKVCacheOptions options = blocks(8);
  options.valueDim = valueDim;
  options.guardPages = true;
  PagedKVCache cache(1, heads, keyDim, 4, 32, KVElementType::Q8, options);
  ASSERT_TRUE(cache.status()) << cache.status().message();
  std::mt19937 random(3);
  auto numbers = [&](int64_t count) {
    std::vector<float> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(static_cast<float>(random() % 2001) / 100.0f - 10.0f);
    return result;
  };
  std::vector<float> keys = numbers(tokens * heads * keyDim);
  std::vector<float> values = numbers(tokens * heads * valueDim);
  std::fill_n(keys.begin(), keyDim, 0.0f); // A scale of zero.
  const int32_t ids[] = {1, 2};
  ASSERT_TRUE(
      cache.appendKV(keys.data(), values.data(), 1, tokens, ids, nullptr));
  // A fork shares blocks; the tail that it drops is zeroed before it is
  // written anew, the scales too.
  ASSERT_TRUE(cache.fork(1, 2, 6));
  ASSERT_TRUE(cache.appendKV(&keys[6 * heads * keyDim],
                             &values[6 * heads * valueDim], 1, 1, ids + 1,
                             nullptr));
  std::vector<int32_t> table(2 * cache.blocksPerSequence());
  int32_t lengths[2];
  ASSERT_TRUE(cache.fillBlockTable(ids, 2, table.data(), lengths));
  EXPECT_EQ(lengths[1], 7);
  std::vector<float> gotKeys(2 * tokens * heads * keyDim, -1.0f);
  std::vector<float> gotValues(2 * tokens * heads * valueDim, -1.0f);
  ASSERT_TRUE(cache.lookupKV(table.data(), lengths, 2, gotKeys.data(),
                             gotValues.data()));
  auto expectRows = [&](const std::vector<float> &got,
                        const std::vector<float> &given, int64_t dim) {
    for (int64_t s = 0; s < 2; ++s)
      for (int64_t row = 0; row < tokens * heads; ++row) {
        std::vector<float> want = asBytes(&given[row * dim], dim);
        if (row >= lengths[s] * heads)
          std::fill(want.begin(), want.end(), 0.0f);
        for (int64_t i = 0; i < dim; ++i)
          ASSERT_EQ(got[(s * tokens * heads + row) * dim + i], want[i])
              << "sequence " << s << ", row " << row << ", number " << i;
      }
  };
  expectRows(gotKeys, keys, keyDim);
  expectRows(gotValues, values, valueDim);
  EXPECT_TRUE(cache.checkInvariants());
}

// As generated code and the reference do (Execution/attention-bytes.mlir).
TEST(PagedKVCacheBytes, BesideStrangeScales) {
  PagedKVCache cache(1, 4, 2, 4, 8, KVElementType::Q8, blocks(2));
  const float least = std::ldexp(1.0f, -149);
  const float keys[] = {1,         NAN, 190 * least, -190 * least,
                        -INFINITY, 2,   63 * least,  -5 * least};
  const int32_t ids[] = {1};
  ASSERT_TRUE(cache.appendKV(keys, keys, 1, 1, ids, nullptr));
  std::vector<int32_t> table(cache.blocksPerSequence());
  int32_t length = 0;
  ASSERT_TRUE(cache.fillBlockTable(ids, 1, table.data(), &length));
  float got[8], values[8];
  ASSERT_TRUE(cache.lookupKV(table.data(), &length, 1, got, values));
  for (int i : {0, 1, 4, 5})
    EXPECT_TRUE(std::isnan(got[i]) && std::isnan(values[i])) << i;
  const float rest[] = {127 * least, -127 * least, 0, 0};
  for (int i : {0, 1, 2, 3}) {
    EXPECT_EQ(got[i < 2 ? 2 + i : 4 + i], rest[i]) << i;
    EXPECT_EQ(values[i < 2 ? 2 + i : 4 + i], rest[i]) << i;
  }
}

TEST(PagedKVCacheBytes, TakeHalfOfTheMemoryAndItsScales) {
  PagedKVCache bytes(2, 2, 64, 16, 64, KVElementType::Q8, blocks(4));
  PagedKVCache halves(2, 2, 64, 16, 64, KVElementType::BF16, blocks(4));
  // 8 bytes of scales in addition to 128 of elements.
  EXPECT_EQ(bytes.getTotalMemoryUsage() * 32,
            halves.getTotalMemoryUsage() * 17);
  PagedKVCache refused(1, 1, 64, 2, 64, KVElementType::Q8, blocks(4));
  EXPECT_NE(refused.status().message().find("power of two from 4"),
            std::string::npos)
      << refused.status().message();
}
