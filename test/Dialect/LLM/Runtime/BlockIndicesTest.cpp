// RUN: llmir-kvcache-tests --gtest_filter='BlockIndices.*:*/BlockIndicesOfBatches.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lookupKV() accepts the `blockIndices` written by appendKV(), independent of
// was appended before, and rows that name no sequence are refused.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

using namespace mlir::llm::runtime;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace {

constexpr int64_t numLayers = 3, numHeads = 2, headDim = 3, maxSeqLen = 40;
constexpr int64_t rowSize = numHeads * headDim;

/// A cache with the expected keys of each sequence, [layer][token]: the number
/// of the token is in all elements of a row, negative in the values.
class Flow {
public:
  explicit Flow(int64_t blockSize)
      : cache(numLayers, numHeads, headDim, blockSize, maxSeqLen,
              KVElementType::F32) {}

  /// Appends to all layers at once, or to one after the other, and looks up
  /// what is there with the array that the append has written.
  void append(const std::vector<int32_t> &ids, int64_t seqLen, bool byLayer) {
    const auto batchSize = static_cast<int64_t>(ids.size());
    std::vector<int32_t> blockIndices(
        static_cast<size_t>(batchSize * cache.blocksPerSequence()), -7);
    std::vector<std::vector<float>> keys(numLayers), values(numLayers);
    for (size_t layer = 0; layer < numLayers; ++layer)
      for (int32_t id : ids)
        for (int64_t t = 0; t < seqLen; ++t) {
          const auto number = static_cast<float>(++nextNumber);
          tokens[id][layer].push_back(number);
          keys[layer].insert(keys[layer].end(), rowSize, number);
          values[layer].insert(values[layer].end(), rowSize, -number);
        }
    for (size_t layer = 0; byLayer && layer < numLayers; ++layer) {
      Status status = cache.appendKV(
          static_cast<int64_t>(layer), keys[layer].data(), values[layer].data(),
          batchSize, seqLen, ids.data(), blockIndices.data());
      ASSERT_TRUE(status) << status.message();
      lookup(ids, blockIndices, static_cast<int64_t>(layer));
    }
    if (!byLayer) {
      for (size_t layer = 1; layer < numLayers; ++layer) {
        keys[0].insert(keys[0].end(), keys[layer].begin(), keys[layer].end());
        values[0].insert(values[0].end(), values[layer].begin(),
                         values[layer].end());
      }
      Status status =
          cache.appendKV(keys[0].data(), values[0].data(), batchSize, seqLen,
                         ids.data(), blockIndices.data());
      ASSERT_TRUE(status) << status.message();
    }
    lookup(ids, blockIndices, -1);
    ASSERT_TRUE(cache.checkInvariants()) << cache.checkInvariants().message();
  }

  /// Of one layer, or of all (-1).
  void lookup(const std::vector<int32_t> &ids,
              const std::vector<int32_t> &blockIndices, int64_t layer) {
    const auto batchSize = static_cast<int64_t>(ids.size());
    std::vector<int32_t> seqLens;
    size_t longest = 0;
    for (int32_t id : ids) {
      const size_t length = tokens[id][0].size();
      seqLens.push_back(static_cast<int32_t>(length));
      longest = std::max(longest, length);
    }
    std::vector<float> wanted;
    for (size_t l = 0; l < numLayers; ++l)
      for (int32_t id : ids)
        for (size_t t = 0; t < longest && (layer == -1 || l == size_t(layer));
             ++t)
          wanted.insert(wanted.end(), rowSize,
                        t < tokens[id][l].size() ? tokens[id][l][t] : 0.0f);
    std::vector<float> outputKeys(wanted.size(), 99.0f);
    std::vector<float> outputValues(wanted.size(), 99.0f);
    Status status =
        layer == -1
            ? cache.lookupKV(blockIndices.data(), seqLens.data(), batchSize,
                             outputKeys.data(), outputValues.data())
            : cache.lookupKV(layer, blockIndices.data(), seqLens.data(),
                             batchSize, outputKeys.data(), outputValues.data());
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(outputKeys, wanted);
    for (float &number : wanted)
      number = number == 0 ? 0 : -number;
    EXPECT_EQ(outputValues, wanted);
  }

  void fork(int32_t source, int32_t target) {
    ASSERT_TRUE(cache.fork(source, target));
    tokens[target] = tokens[source];
  }

  PagedKVCache cache;
  std::map<int32_t, std::map<size_t, std::vector<float>>> tokens;
  int nextNumber = 0;
};

class BlockIndicesOfBatches
    : public testing::TestWithParam<std::tuple<int64_t, bool>> {};

} // namespace

// An append and a lookup with its block indices, for any length, any number of
// appends, all layers, and after forks.
TEST_P(BlockIndicesOfBatches, NameWhatWasAppended) {
  auto [blockSize, byLayer] = GetParam();
  Flow flow(blockSize);
  flow.append({100, 101}, 6, byLayer);
  flow.append({101, 7, 100}, 1, byLayer);
  flow.append({100}, 9, byLayer);
  flow.append({101, 100}, 1, byLayer);
  // Both go on in the block that they share.
  flow.fork(100, 200);
  flow.append({200}, 1, byLayer);
  flow.append({100, 200}, 2, byLayer);
  flow.fork(200, 201);
  flow.append({100, 101, 200, 201}, 1, byLayer);
  for (int i = 0; i < 19; ++i)
    flow.append({201, 100}, 1, byLayer);
  ASSERT_TRUE(flow.cache.freeSequence(100));
  flow.tokens.erase(100);
  flow.append({7, 100}, 5, byLayer); // Blocks that are used again.
  flow.append({100, 101}, 3, byLayer);
}

INSTANTIATE_TEST_SUITE_P(, BlockIndicesOfBatches,
                         testing::Combine(testing::Values(1, 2, 4, 16, 64),
                                          testing::Bool()));

// A full table, any run of its blocks, and the block of a token alone.
TEST(BlockIndices, AnyPartOfATableNamesItsSequence) {
  Flow flow(2);
  flow.append({5}, 3, false);
  flow.append({6}, 2, false);
  flow.append({5}, 6, false);
  const llmir::Span<const int32_t> table = flow.cache.blockTable(5);
  ASSERT_EQ(table.size(), size_t(5));
  for (size_t first = 0; first < table.size(); ++first)
    for (size_t end = first + 1; end <= table.size(); ++end) {
      std::vector<int32_t> row(
          static_cast<size_t>(flow.cache.blocksPerSequence()), -1);
      std::copy(table.begin() + first, table.begin() + end, row.begin());
      flow.lookup({5}, row, -1);
    }
}

// The rows of a fork and of its source are equal until one of them is extended;
// the longer one can be read with them.
TEST(BlockIndices, OwnersOfASharedBlockAreToldApartByLength) {
  Flow flow(4);
  flow.append({1}, 10, false);
  ASSERT_TRUE(flow.cache.fork(1, 2, 7));
  std::vector<int32_t> row(static_cast<size_t>(flow.cache.blocksPerSequence()));
  const int32_t fork = 2;
  ASSERT_TRUE(flow.cache.fillBlockTable(&fork, 1, row.data(), nullptr));
  flow.lookup({1}, row, -1); // 10 tokens: only sequence 1 has as many.

  // Both go on: their tables differ after the block that the row ends with.
  flow.tokens[2] = flow.tokens[1];
  for (auto &[layer, tokens] : flow.tokens[2])
    tokens.resize(7);
  std::fill(row.begin(), row.end(), -1);
  row[0] = flow.cache.blockTable(1)[0];
  flow.append({2}, 3, false);
  std::vector<float> out(numLayers * 10 * rowSize);
  int32_t length = 10;
  Status status =
      flow.cache.lookupKV(row.data(), &length, 1, out.data(), out.data());
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(),
            "KV cache: row 0 has length 10, but its last block 0 belongs to "
            "sequences 1 and 2, which differ from token 4 on; use a row that "
            "ends with a block of only one of them");
  length = 4; // Up to there they are equal.
  EXPECT_TRUE(
      flow.cache.lookupKV(row.data(), &length, 1, out.data(), out.data()));
}

// A layer that is written before the others copies all that the fork shares
// from there on: an old block never follows a new one.
TEST(BlockIndices, ALayerOfAForkThatLagsBehind) {
  PagedKVCache cache(2, 1, 1, 2, 16, KVElementType::F32);
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const int32_t source = 1, fork = 2;
  int32_t row[8];
  ASSERT_TRUE(cache.appendKV(0, numbers, numbers, 1, 6, &source, row));
  ASSERT_TRUE(cache.fork(source, fork));
  ASSERT_TRUE(cache.appendKV(1, numbers + 2, numbers, 1, 2, &fork, row));
  EXPECT_TRUE(cache.checkInvariants()) << cache.checkInvariants().message();
  ASSERT_TRUE(cache.appendKV(1, numbers + 4, numbers, 1, 2, &source, nullptr));
  float keys[2], values[2];
  const int32_t length = 2;
  ASSERT_TRUE(cache.lookupKV(1, row, &length, 1, keys, values));
  EXPECT_EQ(keys[0], 3);
  EXPECT_EQ(keys[1], 4);
  int32_t last[8] = {row[2], -1, -1, -1, -1, -1, -1, -1};
  ASSERT_TRUE(cache.lookupKV(1, last, &length, 1, keys, values));
  EXPECT_EQ(keys[0], 3);
}

TEST(BlockIndices, RowsThatNameNoSequenceAreRefused) {
  PagedKVCache cache(2, 1, 2, 4, 16, KVElementType::F32);
  std::vector<float> data(2 * 2 * 16 * 2, 1.0f);
  const int32_t ids[] = {5, 6};
  int32_t blocks[8];
  ASSERT_TRUE(cache.appendKV(data.data(), data.data(), 2, 7, ids, blocks));
  EXPECT_EQ(std::vector<int32_t>(blocks, blocks + 8),
            std::vector<int32_t>({0, 1, -1, -1, 2, 3, -1, -1}));
  ASSERT_TRUE(cache.appendKV(1, data.data(), data.data(), 1, 2, ids, nullptr));
  struct Case {
    std::vector<int32_t> row;
    int32_t length;
    StatusCode code;
    const char *cause;
  };
  const auto range = StatusCode::OutOfRange;
  const auto invalid = StatusCode::InvalidArgument;
  const Case cases[] = {
      {{0, 1, -1, -1},
       -1,
       range,
       "row 1 has length -1, which is not from 0 to the cache's maximum of 16"},
      {{0, 1, -1, -1},
       17,
       range,
       "row 1 has length 17, which is not from 0 to the cache's maximum of 16"},
      {{0, 1, -1, -1},
       8,
       range,
       "row 1 has length 8, but sequence 5 has 7 tokens in all layers"},
      {{2, 3, -1, -1},
       8,
       range,
       "row 1 has length 8, but sequence 6 has 7 tokens in all layers"},
      {{-1, -1, -1, -1},
       1,
       invalid,
       "row 1 has length 1, but none of its entries is a block"},
      {{0, 32, -1, -1},
       1,
       invalid,
       "row 1 has block 32 in entry 1; the cache has blocks 0 to 31"},
      {{-2, 1, -1, -1},
       1,
       invalid,
       "row 1 has block -2 in entry 0; the cache has blocks 0 to 31"},
      {{0, -1, 1, -1},
       1,
       invalid,
       "row 1 has block 1 in entry 2, after -1 in entry 1; only entries after "
       "the last block are -1"},
      {{0, 9, -1, -1},
       1,
       invalid,
       "row 1 has block 9 in entry 1, which belongs to no sequence"},
      {{0, 3, -1, -1},
       1,
       invalid,
       "row 1 mixes sequences: block 3 in entry 1 belongs to sequence 6, which "
       "has block 2 where entry 0 has block 0"},
      {{0, 2, 3, -1},
       1,
       invalid,
       "row 1 mixes sequences: block 3 in entry 2 belongs to sequence 6, which "
       "has 1 block before it, not 2"},
      {{1, 0, -1, -1},
       1,
       invalid,
       "row 1 mixes sequences: block 0 in entry 1 belongs to sequence 5, which "
       "has 0 blocks before it, not 1"},
  };
  std::vector<float> out(data.size(), 99.0f);
  for (const Case &c : cases) {
    std::vector<int32_t> rows = {0, 1, -1, -1};
    rows.insert(rows.end(), c.row.begin(), c.row.end());
    const int32_t lengths[] = {7, c.length};
    Status status =
        cache.lookupKV(rows.data(), lengths, 2, out.data(), out.data());
    EXPECT_EQ(status.code(), c.code) << c.cause;
    EXPECT_EQ(status.cause(), std::string("KV cache: ") + c.cause);
  }
  EXPECT_EQ(out, std::vector<float>(out.size(), 99.0f)) << "nothing is written";

  // A layer alone may have more; the other one says how many it has.
  const int32_t row[] = {0, 1, 4, -1}, length = 9;
  ASSERT_EQ(cache.blockTable(5).size(), size_t(3));
  EXPECT_TRUE(cache.lookupKV(1, row, &length, 1, out.data(), out.data()));
  EXPECT_EQ(
      cache.lookupKV(0, row, &length, 1, out.data(), out.data()).cause(),
      "KV cache: row 0 has length 9, but sequence 5 has 7 tokens in layer "
      "0");
  // A row of length 0 is not read.
  const int32_t none = 0, anything[] = {77, -5, 3, 0};
  EXPECT_TRUE(cache.lookupKV(anything, &none, 1, out.data(), out.data()));
}

// Explicit arrays, as used by the interpreter and compiled functions.
TEST(BlockIndices, RaggedArraysAreChecked) {
  const CacheBounds bounds{8, 4, 16};
  const std::vector<int64_t> offsets = {0, 2, 3};
  const std::vector<int64_t> lengths = {6, 1};
  const IndexRows tables{{3, 4, 5, 0}, 2};
  auto check = [&](const IndexRows &tables, const std::vector<int64_t> &lengths,
                   const std::vector<int64_t> &offsets,
                   int64_t maskColumns = 0) {
    return checkRaggedBatch({tables, lengths, offsets, 3, maskColumns}, bounds)
        .cause();
  };
  EXPECT_EQ(check(tables, lengths, offsets), "");
  EXPECT_EQ(check(tables, lengths, offsets, 6), "");
  EXPECT_EQ(check(tables, lengths, offsets, 1), "");
  EXPECT_EQ(
      check(tables, {6, 1, 1}, offsets),
      "paged attention: 3 lengths, 3 offsets and 4 blocks in rows of 2 do "
      "not agree");
  EXPECT_EQ(check(tables, lengths, {0, 2, 4}),
            "paged attention: offsets go from 0 to 4 for 3 query rows");
  EXPECT_EQ(check(tables, {17, 1}, {0, 4, 3}),
            "paged attention: the offsets of row 1 descend from 4 to 3");
  EXPECT_EQ(check(tables, {17, 1}, offsets),
            "paged attention: row 0 has length 17, which is not from 0 to the "
            "cache's maximum of 16");
  EXPECT_EQ(check(tables, {6, 0}, offsets),
            "paged attention: row 1 has 1 query, but only 0 tokens");
  EXPECT_EQ(check(tables, {9, 1}, offsets),
            "paged attention: row 0 has length 9, but 2 blocks of 4 tokens");
  EXPECT_EQ(check({{3, 4, 8, 0}, 2}, lengths, offsets),
            "paged attention: row 1 has block 8 in entry 0; the cache has "
            "blocks 0 to 7");
  EXPECT_EQ(check({{3, 4, 7, 99}, 2}, lengths, offsets), "");
  EXPECT_EQ(check(tables, lengths, offsets, 5),
            "paged attention: row 0 has length 6, but the mask has 5 columns");

  EXPECT_TRUE(checkSlots(std::vector<int64_t>{0, 31}, bounds));
  EXPECT_EQ(checkSlots(std::vector<int64_t>{0, 32}, bounds).cause(),
            "KV cache: token 1 goes to slot 32; there are 32");
  EXPECT_EQ(checkSlots(std::vector<int64_t>{-1}, bounds).cause(),
            "KV cache: token 0 goes to slot -1; there are 32");
  EXPECT_TRUE(checkRoom(lengths, 6));
  EXPECT_EQ(checkRoom(lengths, 5).cause(),
            "KV cache: row 0 has length 6, but the result has room for 5 "
            "tokens");
  EXPECT_EQ(findBlockTables({{0}, 1}, lengths, {}, bounds, "").status().cause(),
            "KV cache: 2 lengths for 1 block indices in rows of 1");
}
