// RUN: llmir-reference-tests --gtest_filter='ReferenceCache.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Cache.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace llmir::reference;
using mlir::llm::runtime::KVElementType;
using mlir::llm::runtime::PagedKVCache;

namespace {

Tensor ids(std::vector<double> list) {
  const auto count = static_cast<int64_t>(list.size());
  return Tensor(ElementKind::I32, {count}, std::move(list));
}

Tensor numbered(Shape shape, double first) {
  Tensor result(ElementKind::F32, std::move(shape));
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = first + double(i);
  return result;
}

/// All layers, 2 heads of 3 (keys) and 2 (values), blocks of 4 tokens.
const CacheGeometry small = {ElementKind::F32, 2, 2, 3, 2, 4, 12};

} // namespace

TEST(ReferenceCache, AppendThenLookup) {
  PagedCache cache(small);
  const Tensor keys = numbered({1, 6, 2, 3}, 1);
  const Tensor values = numbered({1, 6, 2, 2}, 1000);
  auto blocks = cache.appendSequences(1, keys, values, ids({7}), 6);
  ASSERT_TRUE(blocks) << blocks.status().message();
  EXPECT_EQ(blocks->toDoubles(), std::vector<double>({0, 1, -1, -1, -1, -1}));
  EXPECT_EQ(cache.sequenceLength(7), 6);

  // What the append gave, the block table, and the last block alone.
  for (const Tensor &indices :
       {*blocks, Tensor(ElementKind::I32, {1, 3}, {0, 1, -1}),
        Tensor(ElementKind::I32, {1, 1}, {1}), ids({1})}) {
    auto found = cache.lookup(1, indices, ids({6}), 6);
    ASSERT_TRUE(found) << found.status().message();
    EXPECT_EQ(found->first.toDoubles(), keys.toDoubles());
    EXPECT_EQ(found->second.toDoubles(), values.toDoubles());
    auto tables = cache.findBlockTables(1, indices, ids({6}));
    ASSERT_TRUE(tables);
    EXPECT_EQ(tables->toDoubles(), std::vector<double>({0, 1, -1}));
  }
  // Past the length there are zeros; layer 0 was not written.
  auto shorter = cache.lookup(1, *blocks, ids({2}), 6);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->first.at({0, 1, 1, 2}), 12);
  EXPECT_EQ(shorter->first.at({0, 2, 0, 0}), 0);
  EXPECT_EQ(
      cache.lookup(0, *blocks, ids({6}), 6).status().cause(),
      "KV cache: row 0 has length 6, but sequence 7 has 0 tokens in layer "
      "0");
  EXPECT_EQ(cache.lookup(1, *blocks, ids({6}), 5).status().cause(),
            "KV cache: row 0 has length 6, but the result has room for 5 "
            "tokens");
}

TEST(ReferenceCache, NumbersAreRoundedToTheCachesType) {
  CacheGeometry geometry = small;
  geometry.kind = ElementKind::BF16;
  PagedCache cache(geometry);
  const Tensor keys = numbered({1, 2, 3}, 256.6),
               values = numbered({1, 2, 2}, 1);
  ASSERT_TRUE(cache.appendSlots(0, keys, values, ids({5})));
  EXPECT_EQ(cache.key(0, 1, 1, 0)[0], 256);
  EXPECT_EQ(cache.key(0, 1, 1, 0)[1], 258);
}

// Where one number of a head's row is none, none is; a scale with few digits
// keeps to 127 steps; less than a step is zero.
TEST(ReferenceCache, BytesBesideStrangeScales) {
  CacheGeometry geometry = small;
  geometry.kind = ElementKind::I8;
  PagedCache cache(geometry);
  const double least = std::ldexp(1.0, -149);
  Tensor keys = numbered({1, 2, 3}, 1), values = numbered({1, 2, 2}, 1);
  keys[1] = NAN;
  keys[3] = 190 * least;
  keys[4] = -190 * least;
  keys[5] = 100 * least;
  values[0] = INFINITY;
  values[2] = 63 * least;
  ASSERT_TRUE(cache.appendSlots(0, keys, values, ids({5})));
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::isnan(cache.key(0, 1, 1, 0)[i])) << i;
  EXPECT_EQ(cache.key(0, 1, 1, 1)[0], 127 * least);
  EXPECT_EQ(cache.key(0, 1, 1, 1)[1], -127 * least);
  EXPECT_EQ(cache.key(0, 1, 1, 1)[2], 100 * least);
  EXPECT_TRUE(std::isnan(cache.value(0, 1, 1, 0)[1]));
  EXPECT_EQ(cache.value(0, 1, 1, 1)[0], 0); // Beside 4.
  EXPECT_EQ(cache.value(0, 1, 1, 1)[1], 4);
}

TEST(ReferenceCache, ACopyIsAnotherValue) {
  PagedCache before(small);
  ASSERT_TRUE(before.appendSlots(0, numbered({1, 2, 3}, 1),
                                 numbered({1, 2, 2}, 1), ids({0})));
  PagedCache after = before;
  ASSERT_TRUE(after.appendSlots(0, numbered({1, 2, 3}, 50),
                                numbered({1, 2, 2}, 60), ids({0})));
  EXPECT_EQ(before.key(0, 0, 0, 0)[0], 1);
  EXPECT_EQ(after.key(0, 0, 0, 0)[0], 50);
  EXPECT_EQ(before.value(0, 0, 0, 1)[1], 4);
  EXPECT_EQ(after.value(0, 0, 0, 1)[1], 63);
}

TEST(ReferenceCache, ReserveThenAppendSlotsIsAppendSequences) {
  PagedCache one(small), two(small);
  const Tensor sequences = ids({4, 2});
  for (int64_t count : {1, 4, 2}) {
    const Tensor keys = numbered({2, count, 2, 3}, double(count));
    const Tensor values = numbered({2, count, 2, 2}, double(100 * count));
    auto blocks = one.appendSequences(0, keys, values, sequences, 2);
    ASSERT_TRUE(blocks);
    auto room = two.reserve(0, sequences, count, 2);
    ASSERT_TRUE(room);
    ASSERT_TRUE(two.appendSlots(0, keys, values, room->slots));
    EXPECT_TRUE(sameBits(*blocks, room->blockIndices));
    EXPECT_EQ(room->seqLens[0], double(one.sequenceLength(4)));
    EXPECT_EQ(one.blockTable(2), two.blockTable(2));
    auto a = one.lookup(0, room->blockTables, room->seqLens, 7);
    auto b = two.lookup(0, room->blockTables, room->seqLens, 7);
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(sameBits(a->first, b->first));
    EXPECT_TRUE(sameBits(a->second, b->second));
  }
}

TEST(ReferenceCache, AForkCopiesWhenItWrites) {
  PagedCache cache(small);
  ASSERT_TRUE(cache.appendSequences(0, numbered({1, 6, 2, 3}, 1),
                                    numbered({1, 6, 2, 2}, 1), ids({1}), 1));
  ASSERT_TRUE(cache.fork(ids({1}), ids({2})));
  EXPECT_EQ(cache.blockTable(2), std::vector<int32_t>({0, 1}));
  auto blocks = cache.appendSequences(0, numbered({1, 1, 2, 3}, 900),
                                      numbered({1, 1, 2, 2}, 900), ids({2}), 1);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->toDoubles(), std::vector<double>({2}));
  EXPECT_EQ(cache.blockTable(1), std::vector<int32_t>({0, 1}));
  EXPECT_EQ(cache.blockTable(2), std::vector<int32_t>({0, 2}));
  EXPECT_EQ(cache.key(0, 2, 1, 1)[2], 36); // Token 5, copied.
  EXPECT_EQ(cache.key(0, 2, 2, 0)[0], 900);
  EXPECT_EQ(cache.key(0, 1, 2, 0)[0], 0); // The original has no token 6.
}

TEST(ReferenceCache, FailuresChangeNothing) {
  PagedCache cache(small, 3);
  auto append = [&](int64_t layer, int64_t tokens, std::vector<double> list) {
    const auto batch = static_cast<int64_t>(list.size());
    return cache
        .appendSequences(layer, Tensor(ElementKind::F32, {batch, tokens, 2, 3}),
                         Tensor(ElementKind::F32, {batch, tokens, 2, 2}),
                         ids(std::move(list)), 1)
        .status()
        .code();
  };
  using llmir::StatusCode;
  EXPECT_EQ(append(0, 5, {1}), StatusCode::Ok);
  EXPECT_EQ(append(0, 8, {1}), StatusCode::OutOfRange);
  EXPECT_EQ(append(0, 5, {2}), StatusCode::ResourceExhausted);
  EXPECT_EQ(append(0, 1, {3, 3}), StatusCode::InvalidArgument);
  EXPECT_EQ(append(2, 1, {1}), StatusCode::InvalidArgument);
  EXPECT_EQ(cache.sequenceLength(1), 5);
  EXPECT_EQ(cache.blockTable(2), std::vector<int32_t>());
  EXPECT_EQ(append(0, 4, {2}), StatusCode::Ok); // The third block is free.
  EXPECT_EQ(cache.fork(ids({9}), ids({3})).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(cache.fork(ids({1}), ids({2})).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(cache.free(ids({1, 9})).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(cache.sequenceLength(1), 5);
  EXPECT_EQ(cache
                .appendSlots(0, Tensor(ElementKind::F32, {1, 2, 3}),
                             Tensor(ElementKind::F32, {1, 2, 2}), ids({12}))
                .code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(cache.lookup(0, Tensor(ElementKind::I32, {1, 1}, {3}), ids({1}), 1)
                .status()
                .code(),
            StatusCode::InvalidArgument);
}

/// The same random life in this cache and in the runtime's.
TEST(ReferenceCache, BlockNumbersAreTheRuntimes) {
  const CacheGeometry geometry{ElementKind::F32, 2, 1, 2, 2, 4, 24};
  std::mt19937 random(3);
  PagedCache cache(geometry);
  PagedKVCache real(2, 1, 2, 4, 24, KVElementType::F32);
  ASSERT_TRUE(real.status());
  std::vector<double> live;
  int forks = 0, copies = 0;
  for (int step = 0; step < 600; ++step) {
    const bool known = !live.empty() && random() % 3 != 0;
    const double id = known ? live[random() % live.size()] : double(step);
    const auto whole = static_cast<int32_t>(id);
    const int kind = int(random() % 4);
    if (kind == 0 && known) {
      EXPECT_EQ(bool(cache.free(ids({id}))), bool(real.freeSequence(whole)));
      live.erase(std::find(live.begin(), live.end(), id));
    } else if (kind == 1 && known) {
      EXPECT_TRUE(cache.fork(ids({id}), ids({step + 0.0})));
      EXPECT_TRUE(real.fork(whole, step));
      live.push_back(step);
      ++forks;
    } else {
      const int64_t tokens = 1 + int64_t(random() % 6);
      const bool fits = cache.sequenceLength(whole) + tokens <= 24;
      const std::vector<int32_t> table = cache.blockTable(whole);
      for (int64_t layer : {0, 1}) {
        Tensor data(ElementKind::F32, {1, tokens, 1, 2});
        for (double &value : data.floats())
          value = double(random() % 1000);
        const std::vector<float> plain(data.floats().begin(),
                                       data.floats().end());
        std::vector<int32_t> indices(6);
        auto blocks = cache.appendSequences(layer, data, data, ids({id}), 6);
        auto status = real.appendKV(layer, plain.data(), plain.data(), 1,
                                    tokens, &whole, indices.data());
        ASSERT_EQ(bool(blocks), bool(status)) << status.message();
        if (blocks) {
          EXPECT_EQ(blocks->toDoubles(),
                    std::vector<double>(indices.begin(), indices.end()));
        }
      }
      const std::vector<int32_t> grown = cache.blockTable(whole);
      copies += !table.empty() && grown[table.size() - 1] != table.back();
      if (!known && fits && cache.sequenceLength(whole) > 0)
        live.push_back(id);
    }
    if (live.size() > 6) { // Few blocks: 48.
      EXPECT_TRUE(cache.free(ids({live.front()})));
      EXPECT_TRUE(real.freeSequence(int32_t(live.front())));
      live.erase(live.begin());
    }
  }
  EXPECT_GT(forks, 20);
  EXPECT_GT(copies, 5);
  EXPECT_TRUE(real.checkInvariants());
}
