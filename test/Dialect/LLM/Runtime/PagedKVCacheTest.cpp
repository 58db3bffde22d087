// RUN: llmir-kvcache-tests --gtest_filter='PagedKVCache.*:*/PagedKVCacheRoundTrip.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir::llm::runtime;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace {
std::vector<uint8_t> randomBytes(size_t count, std::mt19937 &random) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  return bytes;
}

PagedKVCacheOptions blocks(int64_t count) {
  PagedKVCacheOptions options;
  options.numBlocks = count;
  return options;
}

/// Keys and values of some tokens, [layers, batch, seq, heads, dim].
struct Data {
  Data(const PagedKVCache &cache, int64_t layers, int64_t batch, int64_t seq,
       std::mt19937 &random) {
    size_t bytes = static_cast<size_t>(
        layers * batch * seq * cache.getNumHeads() * cache.getHeadDim() *
        kvElementBytes(cache.getElementType()));
    keys = randomBytes(bytes, random);
    values = randomBytes(bytes, random);
  }
  std::vector<uint8_t> keys, values;
};
} // namespace

//===----------------------------------------------------------------------===//
// What was appended comes back
//===----------------------------------------------------------------------===//

struct Geometry {
  KVElementType type;
  int64_t layers, heads, dim, blockSize;
};

class PagedKVCacheRoundTrip : public testing::TestWithParam<Geometry> {};

// SPEC: 13 16 34: what sequences of different lengths append comes back.
TEST_P(PagedKVCacheRoundTrip, SequencesOfDifferentLengths) {
  const Geometry &g = GetParam();
  PagedKVCacheOptions options = blocks(200);
  options.guardPages = true;
  PagedKVCache cache(g.layers, g.heads, g.dim, g.blockSize, 100, g.type,
                     options);
  ASSERT_TRUE(cache.status()) << cache.status().message();
  std::mt19937 random(1);
  const int64_t tokenBytes = g.heads * g.dim * kvElementBytes(g.type);
  const int32_t ids[] = {100, 101, 7};
  // For each sequence and layer its tokens' bytes in order.
  std::vector<std::vector<std::vector<uint8_t>>> keys(
      3, std::vector<std::vector<uint8_t>>(static_cast<size_t>(g.layers)));
  auto values = keys;
  // Pieces that do not divide the block; not every sequence in each.
  const std::pair<int64_t, std::vector<int>> pieces[] = {
      {3, {0, 1, 2}}, {1, {0}}, {7, {2, 0}}, {16, {1}}, {1, {0, 1, 2}}};
  for (const auto &[seq, members] : pieces) {
    int64_t batch = static_cast<int64_t>(members.size());
    Data data(cache, g.layers, batch, seq, random);
    std::vector<int32_t> batchIds;
    for (int member : members)
      batchIds.push_back(ids[member]);
    std::vector<int32_t> indices(
        static_cast<size_t>(batch * cache.blocksPerSequence()), -7);
    Status status = cache.appendKV(data.keys.data(), data.values.data(), batch,
                                   seq, batchIds.data(), indices.data());
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(cache.checkInvariants()) << cache.checkInvariants().message();
    for (int64_t l = 0; l < g.layers; ++l)
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t t = 0; t < seq; ++t) {
          int64_t row = (l * batch + b) * seq + t;
          size_t member = static_cast<size_t>(members[static_cast<size_t>(b)]);
          auto &k = keys[member][static_cast<size_t>(l)];
          auto &v = values[member][static_cast<size_t>(l)];
          k.insert(k.end(), data.keys.begin() + row * tokenBytes,
                   data.keys.begin() + (row + 1) * tokenBytes);
          v.insert(v.end(), data.values.begin() + row * tokenBytes,
                   data.values.begin() + (row + 1) * tokenBytes);
        }
    // Each row is the whole block table of its sequence.
    std::vector<int32_t> table(indices.size());
    ASSERT_TRUE(
        cache.fillBlockTable(batchIds.data(), batch, table.data(), nullptr));
    EXPECT_EQ(indices, table);
  }

  std::vector<int32_t> table(
      static_cast<size_t>(3 * cache.blocksPerSequence()));
  int32_t lengths[3];
  ASSERT_TRUE(cache.fillBlockTable(ids, 3, table.data(), lengths));
  EXPECT_EQ(lengths[0], 12);
  EXPECT_EQ(lengths[1], 20);
  EXPECT_EQ(lengths[2], 11);
  const int64_t longest = 20;
  // The outputs begin poisoned: every byte must be written.
  std::vector<uint8_t> gotKeys(
      static_cast<size_t>(g.layers * 3 * longest * tokenBytes), 0xcd);
  auto gotValues = gotKeys;
  Status status = cache.lookupKV(table.data(), lengths, 3, gotKeys.data(),
                                 gotValues.data());
  ASSERT_TRUE(status) << status.message();
  for (int64_t l = 0; l < g.layers; ++l)
    for (size_t s = 0; s < 3; ++s) {
      std::vector<uint8_t> wantKeys = keys[s][static_cast<size_t>(l)];
      std::vector<uint8_t> wantValues = values[s][static_cast<size_t>(l)];
      wantKeys.resize(static_cast<size_t>(longest * tokenBytes), 0);
      wantValues.resize(static_cast<size_t>(longest * tokenBytes), 0);
      size_t at = static_cast<size_t>((l * 3 + static_cast<int64_t>(s)) *
                                      longest * tokenBytes);
      EXPECT_EQ(0, std::memcmp(&gotKeys[at], wantKeys.data(), wantKeys.size()));
      EXPECT_EQ(
          0, std::memcmp(&gotValues[at], wantValues.data(), wantValues.size()));
      // The same layer alone.
      std::vector<uint8_t> oneKeys(
          static_cast<size_t>(3 * longest * tokenBytes), 0xcd);
      auto oneValues = oneKeys;
      ASSERT_TRUE(cache.lookupKV(l, table.data(), lengths, 3, oneKeys.data(),
                                 oneValues.data()));
      size_t own = s * static_cast<size_t>(longest * tokenBytes);
      EXPECT_EQ(0,
                std::memcmp(&oneKeys[own], wantKeys.data(), wantKeys.size()));
      EXPECT_EQ(0, std::memcmp(&oneValues[own], wantValues.data(),
                               wantValues.size()));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Geometries, PagedKVCacheRoundTrip,
    testing::Values(Geometry{KVElementType::F32, 2, 12, 64, 16},
                    Geometry{KVElementType::F16, 2, 4, 64, 16},
                    Geometry{KVElementType::BF16, 3, 2, 128, 32},
                    Geometry{KVElementType::F32, 1, 1, 1, 1},
                    Geometry{KVElementType::F32, 2, 3, 5, 4},
                    Geometry{KVElementType::F16, 2, 3, 6, 2},
                    Geometry{KVElementType::BF16, 1, 2, 7, 8},
                    Geometry{KVElementType::BF16, 2, 1, 80, 64}));

// SPEC: 67 68 69 70
// Exactly the three lines of the README.
TEST(PagedKVCache, DocumentsExampleCompilesAsWritten) {
  int64_t numLayers = 2, numHeads = 12, headDim = 64, blockSize = 4;
  int64_t maxSeqLen = 4096, batchSize = 2, seqLen = 6;
  KVElementType elementType = KVElementType::F16;
  std::mt19937 random(11);
  const std::vector<uint8_t> keys =
      randomBytes(2 * 2 * 6 * 12 * 64 * sizeof(uint16_t), random);
  const std::vector<uint8_t> values = randomBytes(keys.size(), random);
  std::vector<uint8_t> gotKeys(keys.size()), gotValues(keys.size());
  const void *keyPtr = keys.data(), *valuePtr = values.data();
  void *outputKeys = gotKeys.data(), *outputValues = gotValues.data();
  const int32_t seqIds[] = {100, 101}, seqLens[] = {6, 6};
  std::vector<int32_t> room(2 * 4096 / 4);
  int32_t *blockIndices = room.data();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wunused-value"
  // clang-format off
  PagedKVCache cache(numLayers, numHeads, headDim, blockSize, maxSeqLen, elementType);

  cache.appendKV(keyPtr, valuePtr, batchSize, seqLen, seqIds, blockIndices);

  cache.lookupKV(blockIndices, seqLens, batchSize, outputKeys, outputValues);
  // clang-format on
#pragma GCC diagnostic pop
  EXPECT_EQ(gotKeys, keys);
  EXPECT_EQ(gotValues, values);
}

// SPEC: 17: each layer has its own keys and values.
TEST(PagedKVCache, LayersMayBeAppendedOneAfterAnother) {
  PagedKVCache cache(3, 2, 4, 4, 32, KVElementType::F32, blocks(8));
  std::mt19937 random(2);
  const int32_t id = 5;
  std::vector<std::vector<uint8_t>> keys(3);
  for (int round = 0; round < 3; ++round)
    for (int64_t layer = 0; layer < 3; ++layer) {
      Data data(cache, 1, 1, 3, random);
      ASSERT_TRUE(cache.appendKV(layer, data.keys.data(), data.values.data(), 1,
                                 3, &id, nullptr));
      ASSERT_TRUE(cache.checkInvariants()) << cache.checkInvariants().message();
      auto &all = keys[static_cast<size_t>(layer)];
      all.insert(all.end(), data.keys.begin(), data.keys.end());
      EXPECT_EQ(cache.getSequenceLength(id), 3 * (round + 1));
    }
  std::vector<int32_t> table(static_cast<size_t>(cache.blocksPerSequence()));
  int32_t length;
  ASSERT_TRUE(cache.fillBlockTable(&id, 1, table.data(), &length));
  for (int64_t layer = 0; layer < 3; ++layer) {
    std::vector<uint8_t> gotKeys(9 * 2 * 4 * 4), gotValues(gotKeys.size());
    ASSERT_TRUE(cache.lookupKV(layer, table.data(), &length, 1, gotKeys.data(),
                               gotValues.data()));
    EXPECT_EQ(gotKeys, keys[static_cast<size_t>(layer)]);
  }
  // A step needs all layers at the same length.
  Data data(cache, 3, 1, 1, random);
  ASSERT_TRUE(cache.appendKV(1, data.keys.data(), data.values.data(), 1, 1, &id,
                             nullptr));
  int32_t slot;
  EXPECT_EQ(cache.reserve(id, 1, Span<int32_t>(&slot, 1)).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(
      cache.appendKV(data.keys.data(), data.values.data(), 1, 1, &id, nullptr)
          .code(),
      StatusCode::InvalidArgument);
  EXPECT_EQ(cache.getSequenceLength(id), 10);
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

// SPEC: 13
TEST(PagedKVCache, ElementsLieWhereGeneratedCodeLooks) {
  // bf16, 2 heads of 6, 4 tokens: cells of 2; K [3][4][2], V [2][16][2].
  PagedKVCache cache(2, 2, 6, 4, 16, KVElementType::BF16, blocks(4));
  std::vector<uint16_t> keys(2 * 3 * 2 * 6), values(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<uint16_t>(i + 1);
    values[i] = static_cast<uint16_t>(1000 + i);
  }
  const int32_t id = 1;
  int32_t indices[16 / 4];
  ASSERT_TRUE(cache.appendKV(keys.data(), values.data(), 1, 3, &id, indices));
  const int64_t keyTile = 3 * 4 * 2, valueTile = 2 * 16 * 2; // Elements.
  const int64_t block = 2 * (keyTile + valueTile);
  EXPECT_EQ(cache.blockLayout().blockBytes(), 2 * block);
  EXPECT_EQ(cache.layerStride() % 64, 0);
  for (int64_t l = 0; l < 2; ++l)
    for (int64_t t = 0; t < 3; ++t)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t d = 0; d < 6; ++d) {
          const uint16_t *base = reinterpret_cast<const uint16_t *>(
                                     cache.pool() + l * cache.layerStride()) +
                                 indices[0] * block + h * (keyTile + valueTile);
          size_t element = static_cast<size_t>(((l * 3 + t) * 2 + h) * 6 + d);
          EXPECT_EQ(base[(d / 2 * 4 + t) * 2 + d % 2], keys[element]);
          EXPECT_EQ(base[keyTile + (t / 2 * 16 + d) * 2 + t % 2],
                    values[element]);
        }
}

// SPEC: 87 123: blocks come back to the pool and are used again.
TEST(PagedKVCache, RecycledBlocksAreZeroed) {
  PagedKVCache cache(2, 1, 8, 4, 8, KVElementType::F32, blocks(2));
  std::mt19937 random(3);
  Data data(cache, 2, 1, 8, random);
  const int32_t id = 1;
  ASSERT_TRUE(
      cache.appendKV(data.keys.data(), data.values.data(), 1, 8, &id, nullptr));
  ASSERT_TRUE(cache.clearSequence(id));
  EXPECT_EQ(cache.blocks().numFree(), 2); // I6
  ASSERT_TRUE(cache.createSequence(2));
  int32_t slots[5];
  ASSERT_TRUE(cache.reserve(2, 5, Span<int32_t>(slots, 5)));
  for (int64_t layer = 0; layer < 2; ++layer)
    for (int64_t i = 0; i < 2 * cache.blockLayout().blockBytes(); ++i)
      ASSERT_EQ(cache.pool()[layer * cache.layerStride() + i], 0);
}

TEST(PagedKVCache, DroppedTokensAreZeroWhenTheSequenceGrowsAgain) {
  PagedKVCache cache(1, 1, 4, 8, 16, KVElementType::F32, blocks(4));
  std::mt19937 random(4);
  Data data(cache, 1, 1, 8, random);
  const int32_t id = 1;
  ASSERT_TRUE(
      cache.appendKV(data.keys.data(), data.values.data(), 1, 8, &id, nullptr));
  ASSERT_TRUE(
      cache.fork(1, 2, 5)); // Shares a block with 3 tokens of another sequence.
  ASSERT_TRUE(cache.truncate(1, 3));
  int32_t slot;
  for (SequenceId sequence : {2, 1}) {
    int64_t length = cache.getSequenceLength(sequence);
    ASSERT_TRUE(cache.reserve(sequence, 1, Span<int32_t>(&slot, 1)));
    EXPECT_EQ(slot % 8, length);
    const llmir::KVBlockLayout &layout = cache.blockLayout();
    const uint8_t *block = cache.pool() + slot / 8 * layout.blockBytes();
    for (int64_t token = 0; token < 8; ++token)
      for (int64_t dim = 0; dim < 4; ++dim) {
        uint32_t key, value;
        std::memcpy(&key, block + layout.keyOffset(token, 0, dim), 4);
        std::memcpy(&value, block + layout.valueOffset(token, 0, dim), 4);
        EXPECT_EQ(key == 0 && value == 0, token >= length)
            << "token " << token << " of sequence " << sequence;
      }
  }
}

TEST(PagedKVCache, SlotsNameBlockAndOffset) {
  PagedKVCache cache(1, 1, 4, 4, 64, KVElementType::F16, blocks(16));
  ASSERT_TRUE(cache.createSequence(1));
  ASSERT_TRUE(cache.createSequence(2));
  int32_t slots[9];
  const KVReservation list[] = {{1, 6}, {2, 3}};
  ASSERT_TRUE(cache.reserve(Span<const KVReservation>(list, 2),
                            Span<int32_t>(slots, 9)));
  for (int32_t t = 0; t < 6; ++t)
    EXPECT_EQ(slots[t],
              cache.blockTable(1)[static_cast<size_t>(t / 4)] * 4 + t % 4);
  for (int32_t t = 0; t < 3; ++t)
    EXPECT_EQ(slots[6 + t], cache.blockTable(2)[0] * 4 + t);
}

TEST(PagedKVCache, GuardPagesStopAStrayWrite) {
  PagedKVCacheOptions options = blocks(3);
  options.guardPages = true;
  PagedKVCache cache(2, 1, 16, 16, 32, KVElementType::F32, options);
  ASSERT_TRUE(cache.status()) << cache.status().message();
  uint8_t *end = cache.pool() + 3 * cache.blockLayout().blockBytes();
  end[-1] = 1;
  EXPECT_DEATH(*static_cast<volatile uint8_t *>(end) = 1, "");
}

// K rows of 5 elements and V rows of 19, [tokens, heads, dim]: each keeps its
// own size outside, and the pool has room for both.
TEST(PagedKVCache, ValuesMayHaveAHeadSizeOfTheirOwn) {
  constexpr int64_t heads = 2, keyDim = 5, valueDim = 19, tokens = 7;
  PagedKVCache cache(1, heads, keyDim, 4, 16, KVElementType::F32, valueDim);
  ASSERT_TRUE(cache.status()) << cache.status().message();
  EXPECT_EQ(cache.getHeadDim(), keyDim);
  EXPECT_EQ(cache.getValueDim(), valueDim);
  // V is padded to 32.
  EXPECT_EQ(cache.blockLayout().blockBytes(), heads * 4 * (keyDim + 32) * 4);
  std::vector<float> keys(tokens * heads * keyDim);
  std::vector<float> values(tokens * heads * valueDim);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<float>(i + 1);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = -static_cast<float>(i + 1);
  const int32_t id = 1;
  ASSERT_TRUE(
      cache.appendKV(keys.data(), values.data(), 1, tokens, &id, nullptr));

  std::vector<int32_t> table(static_cast<size_t>(cache.blocksPerSequence()));
  int32_t length = 0;
  ASSERT_TRUE(cache.fillBlockTable(&id, 1, table.data(), &length));
  EXPECT_EQ(length, tokens);
  std::vector<float> gotKeys(keys.size()), gotValues(values.size());
  ASSERT_TRUE(cache.lookupKV(table.data(), &length, 1, gotKeys.data(),
                             gotValues.data()));
  EXPECT_EQ(gotKeys, keys);
  EXPECT_EQ(gotValues, values);
  // The last number of the last token, where generated code looks for it.
  float last;
  std::memcpy(&last,
              cache.pool() + table[1] * cache.blockLayout().blockBytes() +
                  cache.blockLayout().valueOffset(2, 1, valueDim - 1),
              4);
  EXPECT_EQ(last, values.back());

  for (int64_t wrong : {int64_t(-1), int64_t(65537)}) {
    PagedKVCache refused(1, heads, keyDim, 4, 16, KVElementType::F32, wrong);
    EXPECT_EQ(refused.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(
        refused.status().cause().find("valueDim is " + std::to_string(wrong)),
        std::string::npos);
  }
}

// Values are the first elements of keys: blocks have room for keys only.
TEST(PagedKVCache, ValuesMayBeInKeys) {
  constexpr int64_t keyDim = 6, valueDim = 4, tokens = 7;
  for (KVElementType type : {KVElementType::F32, KVElementType::Q8}) {
    PagedKVCacheOptions options;
    options.valueDim = valueDim;
    options.valuesInKeys = true;
    PagedKVCache cache(1, 1, keyDim, 4, 16, type, options);
    ASSERT_TRUE(cache.status()) << cache.status().message();
    const bool isBytes = type == KVElementType::Q8;
    EXPECT_EQ(cache.blockLayout().blockBytes(),
              isBytes ? 4 * 8 + 4 * 4 : 4 * keyDim * 4);
    std::vector<float> keys(tokens * keyDim), values(tokens * valueDim);
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = i % keyDim == keyDim - 1 ? 127.0F : static_cast<float>(i);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = keys[i / valueDim * keyDim + i % valueDim];
    const int32_t id = 1;
    ASSERT_TRUE(
        cache.appendKV(keys.data(), values.data(), 1, tokens, &id, nullptr));
    std::vector<int32_t> table(static_cast<size_t>(cache.blocksPerSequence()));
    int32_t length = 0;
    ASSERT_TRUE(cache.fillBlockTable(&id, 1, table.data(), &length));
    std::vector<float> gotKeys(keys.size()), gotValues(values.size());
    ASSERT_TRUE(cache.lookupKV(table.data(), &length, 1, gotKeys.data(),
                               gotValues.data()));
    EXPECT_EQ(gotKeys, keys); // As bytes, the scale of each key is 1.
    EXPECT_EQ(gotValues, values);
  }
  PagedKVCacheOptions longer;
  longer.valueDim = keyDim + 1;
  longer.valuesInKeys = true;
  const PagedKVCache none(1, 1, keyDim, 4, 16, KVElementType::F32, longer);
  EXPECT_EQ(none.status().code(), StatusCode::InvalidArgument);
}

//===----------------------------------------------------------------------===//
// Failures change nothing
//===----------------------------------------------------------------------===//

TEST(PagedKVCache, RefusesGeometriesThatCannotBe) {
  struct Case {
    const char *name;
    int64_t layers, heads, dim, blockSize, maxSeqLen, numBlocks;
    KVElementType type;
    StatusCode code;
  };
  const auto f32 = KVElementType::F32, f16 = KVElementType::F16;
  const auto invalid = StatusCode::InvalidArgument;
  const Case cases[] = {
      {"numLayers", 0, 1, 1, 16, 16, 1, f32, invalid},
      {"numLayers", -1, 1, 1, 16, 16, 1, f32, invalid},
      {"numHeads", 1, 0, 1, 16, 16, 1, f32, invalid},
      {"headDim", 1, 1, 1 << 20, 16, 16, 1, f32, invalid},
      {"blockSize", 1, 1, 1, 0, 16, 1, f32, invalid},
      {"blockSize", 1, 1, 1, 3, 16, 1, f16, invalid},
      {"blockSize", 1, 1, 1, 3, 16, 1, f32, invalid},
      {"blockSize", 1, 1, 1, 12, 16, 1, f32, invalid},
      {"blockSize", 1, 1, 1, 24, 16, 1, f16, invalid},
      {"blockSize", 1, 1, 1, 1, 16, 1, f16, invalid},
      {"maxSeqLen", 1, 1, 1, 16, int64_t(1) << 31, 1, f32, invalid},
      {"maxSeqLen", 1, 1, 1, 16, INT64_MIN, 1, f32, invalid},
      {"numBlocks", 1, 1, 1, 16, 16, -1, f32, invalid},
      {"numBlocks", 1, 1, 1, 16, 16, int64_t(1) << 40, f32, invalid},
      {"cannot allocate memory", 65536, 65536, 65536, 65536, 65536, 30000, f32,
       StatusCode::ResourceExhausted},
      {"cannot allocate memory", 65536, 65536, 65536, 65536, 65536, 1, f32,
       StatusCode::ResourceExhausted},
  };
  for (const Case &c : cases) {
    PagedKVCache cache(c.layers, c.heads, c.dim, c.blockSize, c.maxSeqLen,
                       c.type, blocks(c.numBlocks));
    EXPECT_EQ(cache.status().code(), c.code) << c.name;
    EXPECT_NE(cache.status().cause().find(c.name), std::string::npos)
        << cache.status().message();
    int32_t id = 1;
    float data = 0;
    EXPECT_EQ(cache.createSequence(1).code(), c.code);
    EXPECT_EQ(cache.appendKV(&data, &data, 1, 1, &id, &id).code(), c.code);
    EXPECT_EQ(cache.lookupKV(&id, &id, 1, &data, &data).code(), c.code);
    EXPECT_EQ(cache.fillBlockTable(&id, 1, &id, &id).code(), c.code);
    EXPECT_EQ(cache.getSequenceLength(1), 0);
  }
}

// SPEC: 15: no memory beyond the blocks.
TEST(PagedKVCache, ABatchThatDoesNotFitChangesNothing) {
  PagedKVCache cache(1, 1, 2, 4, 64, KVElementType::F32, blocks(3));
  std::vector<float> data(4 * 64, 1.0f);
  const int32_t ids[] = {1, 2};
  ASSERT_TRUE(cache.appendKV(data.data(), data.data(), 1, 5, ids, nullptr));
  // 3 + 1 blocks are needed, one is free; sequence 2 would be new.
  Status status = cache.appendKV(data.data(), data.data(), 2, 10, ids, nullptr);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.cause().find("1 free blocks of 3; 5 are needed"),
            std::string::npos)
      << status.cause();
  EXPECT_FALSE(cache.hasSequence(2));
  EXPECT_EQ(cache.getSequenceLength(1), 5);
  EXPECT_EQ(cache.blocks().numFree(), 1);

  ASSERT_TRUE(cache.createSequence(2));
  std::vector<int32_t> slots(12, -7);
  const KVReservation list[] = {{1, 3}, {2, 9}};
  EXPECT_EQ(cache.reserve(Span<const KVReservation>(list, 2), slots).code(),
            StatusCode::ResourceExhausted);
  EXPECT_EQ(slots, std::vector<int32_t>(12, -7));
  EXPECT_EQ(cache.getSequenceLength(1), 5);
  EXPECT_EQ(cache.getSequenceLength(2), 0);
  EXPECT_TRUE(cache.checkInvariants());
}

TEST(PagedKVCache, TheLastOwnerOfASharedBlockKeepsIt) {
  // Three owners of one half-full block and two free ones: two copies fit.
  PagedKVCache cache(1, 1, 2, 4, 64, KVElementType::F32, blocks(3));
  ASSERT_TRUE(cache.createSequence(1));
  int32_t slots[3];
  ASSERT_TRUE(cache.reserve(1, 2, Span<int32_t>(slots, 2)));
  ASSERT_TRUE(cache.fork(1, 2));
  ASSERT_TRUE(cache.fork(1, 3));
  const KVReservation list[] = {{1, 1}, {2, 1}, {3, 1}};
  Status status = cache.reserve(Span<const KVReservation>(list, 3),
                                Span<int32_t>(slots, 3));
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(cache.blocks().numFree(), 0);
  EXPECT_TRUE(cache.checkInvariants());
}

TEST(PagedKVCache, ListsAreForkedAndFreedAsAWhole) {
  PagedKVCache cache(1, 1, 2, 4, 64, KVElementType::F32, blocks(4));
  ASSERT_TRUE(cache.createSequence(1));
  auto fork = [&](std::vector<int32_t> from, std::vector<int32_t> to) {
    return cache.forkSequences(from, to).cause();
  };
  auto free = [&](std::vector<int32_t> list) {
    return cache.freeSequences(list).cause();
  };
  // A source is there before: one that the list makes is none.
  EXPECT_EQ(fork({1, 2}, {2, 3}), "sequence 2 does not exist");
  EXPECT_EQ(fork({1, 1}, {2, 2}), "KV cache: sequence 2 is listed twice");
  EXPECT_EQ(fork({1, 1}, {2, 1}), "sequence 1 exists");
  EXPECT_EQ(fork({1, 1}, {2}), "KV cache: cannot fork 2 sequences to 1");
  EXPECT_EQ(cache.getNumSequences(), 1);
  EXPECT_EQ(fork({1, 1}, {2, 3}), "");
  EXPECT_EQ(free({2, 3, 2}), "KV cache: sequence 2 is listed twice");
  EXPECT_EQ(free({2, 9}), "sequence 9 does not exist");
  EXPECT_EQ(cache.getNumSequences(), 3);
  EXPECT_EQ(free({2, 3}), "");
  EXPECT_EQ(cache.getNumSequences(), 1);
  EXPECT_TRUE(cache.checkInvariants());
}

TEST(PagedKVCache, BadCallsAreErrors) {
  PagedKVCache cache(2, 1, 2, 4, 8, KVElementType::F32, blocks(4));
  std::vector<float> data(256, 1.0f), out(256);
  const int32_t ids[] = {1, 1};
  int32_t table[4] = {0, 1, 2, 3}, length = 4;
  float *d = data.data();
  const auto invalid = StatusCode::InvalidArgument;
  const auto range = StatusCode::OutOfRange;
  EXPECT_EQ(cache.appendKV(d, d, 2, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(nullptr, d, 1, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(d, nullptr, 1, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(d, d, 1, 1, nullptr, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(d, d, -1, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(d, d, 1, -1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(d, d, 1, 9, ids, table).code(), range);
  EXPECT_EQ(cache.appendKV(d, d, 1, INT64_MAX, ids, table).code(), range);
  EXPECT_EQ(cache.appendKV(2, d, d, 1, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.appendKV(-1, d, d, 1, 1, ids, table).code(), invalid);
  EXPECT_EQ(cache.getNumSequences(), 0);
  EXPECT_TRUE(cache.appendKV(d, d, 0, 1, ids, table));
  // No tokens: nothing is read, and no sequence begins.
  EXPECT_TRUE(cache.appendKV(nullptr, nullptr, 1, 0, ids, table));
  EXPECT_EQ(cache.getNumSequences(), 0);
  EXPECT_EQ(table[0], -1);
  EXPECT_EQ(table[1], -1);
  EXPECT_EQ(table[2], 2);
  table[0] = 0;

  // Block 0 is not in use yet.
  EXPECT_EQ(cache.lookupKV(table, &length, 1, d, d).code(), invalid);
  ASSERT_TRUE(cache.appendKV(d, d, 1, 4, ids, nullptr));
  EXPECT_TRUE(cache.lookupKV(table, &length, 1, out.data(), out.data() + 64));
  table[0] = 4;
  EXPECT_EQ(cache.lookupKV(table, &length, 1, d, d).code(), invalid);
  table[0] = -1;
  EXPECT_EQ(cache.lookupKV(table, &length, 1, d, d).code(), invalid);
  length = 9;
  EXPECT_EQ(cache.lookupKV(table, &length, 1, d, d).code(), range);
  length = -1;
  EXPECT_EQ(cache.lookupKV(table, &length, 1, d, d).code(), range);
  length = 0; // Nothing to give: the table's row is not read.
  EXPECT_TRUE(cache.lookupKV(table, &length, 1, nullptr, nullptr));

  int32_t slot;
  Span<int32_t> one(&slot, 1);
  EXPECT_EQ(cache.reserve(9, 1, one).code(), invalid);
  EXPECT_EQ(cache.reserve(1, 0, one).code(), invalid);
  EXPECT_EQ(cache.reserve(1, 2, one).code(), invalid);
  EXPECT_EQ(cache.reserve(1, 5, one).code(), range);
  EXPECT_EQ(cache.reserve(1, INT64_MAX, one).code(), range);
  const KVReservation twice[] = {{1, 1}, {1, 1}};
  EXPECT_EQ(cache.checkReserve(Span<const KVReservation>(twice, 2)).code(),
            invalid);
  EXPECT_EQ(cache.fork(9, 2).code(), invalid);
  EXPECT_EQ(cache.fork(1, 1).code(), invalid);
  EXPECT_EQ(cache.fork(1, 2, 5).code(), range);
  EXPECT_EQ(cache.fork(1, 2, -1).code(), range);
  EXPECT_EQ(cache.truncate(1, 5).code(), range);
  EXPECT_EQ(cache.truncate(9, 0).code(), invalid);
  EXPECT_EQ(cache.freeSequence(9).code(), invalid);
  EXPECT_EQ(cache.createSequence(1).code(), invalid);
  EXPECT_EQ(cache.getSequenceLength(1), 4);
  EXPECT_TRUE(cache.checkInvariants());
  cache.reset();
  EXPECT_EQ(cache.blocks().numFree(), 4);
}
