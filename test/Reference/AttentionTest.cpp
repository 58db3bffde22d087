// RUN: llmir-reference-tests --gtest_filter='ReferenceAttention.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Attention.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace llmir::reference;

namespace {

Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

Tensor randomTensor(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor result(ElementKind::F32, std::move(shape));
  for (double &value : result.floats())
    value = double(float(int(random() % 2001) - 1000) / 1000);
  return result;
}

/// Keys of zeros make all scores 0 before position and mask; values are
/// 1, 10, 100, 1000: the result shows which tokens were visible.
struct FourKeys {
  Tensor query = f32({1, 4, 1, 1}, {1, 1, 1, 1});
  Tensor keys = f32({1, 4, 1, 1}, {0, 0, 0, 0});
  Tensor values = f32({1, 4, 1, 1}, {1, 10, 100, 1000});
  std::vector<double> run(const AttentionParams &params) const {
    return attention(query, keys, values, params).toDoubles();
  }
};

void expectNear(const std::vector<double> &actual,
                const std::vector<double> &expected, double bound = 1e-12) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], bound) << "at " << i;
}

} // namespace

TEST(ReferenceAttention, EqualScoresGiveTheMean) {
  expectNear(FourKeys().run({}), {277.75, 277.75, 277.75, 277.75});
}

TEST(ReferenceAttention, CausalAndWindow) {
  AttentionParams params;
  params.causal = true;
  expectNear(FourKeys().run(params), {1, 5.5, 37, 277.75});
  params.window = 2;
  expectNear(FourKeys().run(params), {1, 5.5, 55, 550});
  params.causal = false; // On both sides.
  expectNear(FourKeys().run(params), {5.5, 37, 370, 550});
  FourKeys four;
  four.query = f32({1, 5, 1, 1}, {1, 1, 1, 1, 1});
  expectNear(four.run(params), {1, 5.5, 37, 370, 550});
}

TEST(ReferenceAttention, Chunks) {
  AttentionParams params;
  params.window = 2;
  params.chunked = true;
  expectNear(FourKeys().run(params), {5.5, 5.5, 550, 550});
  FourKeys four;
  four.query = f32({1, 5, 1, 1}, {1, 1, 1, 1, 1});
  expectNear(four.run(params), {0, 5.5, 5.5, 550, 550}); // The first sees none.
  params.causal = true;
  expectNear(FourKeys().run(params), {1, 5.5, 100, 550});
}

TEST(ReferenceAttention, QueriesAreTheLastTokens) {
  FourKeys four;
  four.query = f32({1, 1, 1, 1}, {1});
  AttentionParams params;
  params.causal = true;
  expectNear(four.run(params), {277.75});
  four.query = f32({1, 5, 1, 1}, {1, 1, 1, 1, 1});
  expectNear(four.run(params), {0, 1, 5.5, 37, 277.75}); // The first sees none.
}

TEST(ReferenceAttention, ScaleAndSoftCap) {
  // Scores 0 and 2·log 3; half of it is log 3, so weights are 1 : 3.
  const Tensor q = f32({1, 1, 1, 1}, {2});
  const Tensor k = f32({1, 2, 1, 1}, {0, std::log(3.0)});
  const Tensor v = f32({1, 2, 1, 2}, {0, 4, 8, 0});
  AttentionParams params;
  params.scale = 0.5;
  expectNear(attention(q, k, v, params).toDoubles(), {6, 1});
  params.softCap = 0.25;
  const double capped = std::exp(0.25 * std::tanh(std::log(3.0) / 0.25));
  expectNear(attention(q, k, v, params).toDoubles(),
             {8 * capped / (1 + capped), 4 / (1 + capped)});
}

TEST(ReferenceAttention, SinkJoinsTheDenominatorOnly) {
  AttentionParams params;
  const Tensor sinks = f32({1}, {std::log(4.0)}); // As heavy as the four keys.
  params.sinks = &sinks;
  expectNear(FourKeys().run(params), std::vector<double>(4, 277.75 / 2));
}

TEST(ReferenceAttention, MasksAddOrHide) {
  AttentionParams params;
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor added = f32({1, 1, 1, 4}, {0, std::log(3.0), -inf, -inf});
  params.mask = &added;
  expectNear(FourKeys().run(params), std::vector<double>(4, 31.0 / 4));
  Tensor hidden(ElementKind::I1, {1, 1, 4, 4});
  hidden.integers() = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
  params.mask = &hidden;
  expectNear(FourKeys().run(params), {1, 10, 550, 0});
}

TEST(ReferenceAttention, AlibiPenalisesDistance) {
  AttentionParams params;
  params.causal = true;
  params.alibiSlopes = {std::log(2.0)}; // Each step back halves the weight.
  expectNear(FourKeys().run(params),
             {1, (0.5 * 1 + 10) / 1.5, (0.25 * 1 + 0.5 * 10 + 100) / 1.75,
              (0.125 + 0.25 * 10 + 0.5 * 100 + 1000) / 1.875});
}

TEST(ReferenceAttention, GroupedHeadsAreRepeatedHeads) {
  const int64_t heads = 6, kvHeads = 2;
  const Tensor q = randomTensor({2, 3, heads, 4}, 1);
  const Tensor k = randomTensor({2, 5, kvHeads, 4}, 2);
  const Tensor v = randomTensor({2, 5, kvHeads, 7}, 3);
  auto repeated = [&](const Tensor &x) {
    std::vector<Tensor> parts;
    for (int64_t h = 0; h < heads; ++h)
      parts.push_back(x.slice(2, h / (heads / kvHeads), 1));
    return concatenate(parts, 2);
  };
  AttentionParams params;
  params.causal = true;
  params.scale = 0.5;
  const Tensor grouped = attention(q, k, v, params);
  EXPECT_EQ(grouped.shape, Shape({2, 3, heads, 7}));
  EXPECT_TRUE(
      sameBits(grouped, attention(q, repeated(k), repeated(v), params)));
}

TEST(ReferenceAttention, PagedIsAttentionOnWhatTheCacheHolds) {
  const CacheGeometry geometry{ElementKind::F32, 2, 2, 4, 3, 4, 32};
  const int64_t lengths[] = {5, 9}, queries[] = {2, 3};
  PagedCache cache(geometry);
  std::vector<Tensor> keys, values;
  for (int64_t s = 0; s < 2; ++s) {
    keys.push_back(randomTensor({1, lengths[s], 2, 4}, 10 + unsigned(s)));
    values.push_back(randomTensor({1, lengths[s], 2, 3}, 20 + unsigned(s)));
    Tensor id(ElementKind::I32, {1}, {double(s)});
    ASSERT_TRUE(cache.appendSequences(1, keys.back(), values.back(), id, 1));
  }
  const Tensor query = randomTensor({5, 4, 4}, 30);
  Tensor tables(ElementKind::I32, {2, geometry.blocksPerSequence()});
  for (int64_t s = 0; s < 2; ++s) {
    const std::vector<int32_t> table = cache.blockTable(s);
    std::copy(table.begin(), table.end(),
              tables.integers().begin() + s * tables.columns());
  }
  const Tensor seqLens(ElementKind::I32, {2}, {5, 9});
  AttentionParams params;
  params.causal = true;
  params.window = 4;
  params.softCap = 2;
  params.alibiSlopes = {0.1, 0.2, 0.3, 0.4};
  auto paged = pagedAttention({query, tables, seqLens, {0, 2, 5}, false}, cache,
                              1, params);
  ASSERT_TRUE(paged) << paged.status().message();
  int64_t row = 0;
  for (size_t s = 0; s < 2; ++s) {
    const Tensor q =
        query.slice(0, row, queries[s]).reshaped({1, queries[s], 4, 4});
    const Tensor plain = attention(q, keys[s], values[s], params);
    EXPECT_TRUE(sameBits(plain.reshaped({queries[s], 4, 3}),
                         paged->slice(0, row, queries[s])));
    row += queries[s];
  }
}

TEST(ReferenceAttention, PagedRefusesWhatIsNotThere) {
  const CacheGeometry geometry{ElementKind::F32, 1, 1, 1, 1, 2, 4};
  PagedCache cache(geometry);
  const Tensor query = f32({1, 1, 1}, {1});
  auto run = [&](std::vector<double> table, double length,
                 std::vector<int64_t> offsets, int64_t layer) {
    const Tensor tables(ElementKind::I32, {1, int64_t(table.size())}, table);
    const Tensor seqLens(ElementKind::I32, {1}, {length});
    return bool(pagedAttention({query, tables, seqLens, offsets, false}, cache,
                               layer, {}));
  };
  EXPECT_TRUE(run({0, 15}, 4, {0, 1}, 0));
  EXPECT_FALSE(run({0, 16}, 4, {0, 1}, 0)); // No such block.
  EXPECT_FALSE(run({0, -1}, 3, {0, 1}, 0));
  EXPECT_TRUE(run({0, -1}, 2, {0, 1}, 0)); // Not read.
  EXPECT_FALSE(run({0, 1}, 5, {0, 1}, 0)); // Table too short.
  EXPECT_FALSE(run({0, 1}, 0, {0, 1}, 0)); // A query without its token.
  EXPECT_FALSE(run({0, 1}, 4, {0, 2}, 0)); // More rows than there are.
  EXPECT_FALSE(run({0, 1}, 4, {0, 1}, 1)); // No such layer.
}
