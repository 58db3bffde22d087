// RUN: llmir-kvcache-tests --gtest_filter='*/PagedKVCacheModel.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random operations on a small cache, compared with a trivial model: a sequence
// is a list of numbers, a block is a name.
// After every operation the invariants hold, the number of free blocks is the
// model's, and one sequence's contents are compared. An operation fails exactly
// where the model says so, and then changes nothing.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace mlir::llm::runtime;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace {
constexpr int64_t numLayers = 2, numHeads = 1, headDim = 2;

struct Parameters {
  int64_t blockSize, maxSeqLen, numBlocks;
  KVElementType type;
  uint32_t seed;
};

/// What the cache should be.
struct Model {
  struct Sequence {
    std::vector<uint16_t> tokens; ///< Each token's number.
    std::vector<int64_t> blocks;  ///< Names that are never used again.
  };
  Parameters size;
  std::map<int32_t, Sequence> sequences;
  int64_t nextBlock = 0;

  int64_t freeBlocks() const {
    std::set<int64_t> used;
    for (const auto &[id, sequence] : sequences)
      used.insert(sequence.blocks.begin(), sequence.blocks.end());
    return size.numBlocks - static_cast<int64_t>(used.size());
  }
  int64_t owners(int64_t block) const {
    int64_t count = 0;
    for (const auto &[id, sequence] : sequences)
      count +=
          std::count(sequence.blocks.begin(), sequence.blocks.end(), block);
    return count;
  }

  /// Gives `sequence` blocks for `count` more tokens; returns how many it took.
  int64_t grow(Sequence &sequence, int64_t count) {
    int64_t taken = 0;
    int64_t length = static_cast<int64_t>(sequence.tokens.size());
    if (length % size.blockSize != 0 && owners(sequence.blocks.back()) > 1) {
      sequence.blocks.back() = nextBlock++;
      ++taken;
    }
    while (static_cast<int64_t>(sequence.blocks.size()) * size.blockSize <
           length + count) {
      sequence.blocks.push_back(nextBlock++);
      ++taken;
    }
    return taken;
  }

  /// Appends `count` tokens to each; on a failure the model is spoilt.
  StatusCode append(const std::vector<int32_t> &ids, int64_t count,
                    const std::vector<uint16_t> &numbers) {
    for (int32_t id : ids)
      if (static_cast<int64_t>(sequences[id].tokens.size()) + count >
          size.maxSeqLen)
        return StatusCode::OutOfRange;
    int64_t room = freeBlocks(), taken = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      Sequence &sequence = sequences[ids[i]];
      taken += grow(sequence, count);
      auto first = numbers.begin() + static_cast<int64_t>(i) * count;
      sequence.tokens.insert(sequence.tokens.end(), first, first + count);
    }
    return taken > room ? StatusCode::ResourceExhausted : StatusCode::Ok;
  }
};

class PagedKVCacheModel : public testing::TestWithParam<Parameters> {
protected:
  PagedKVCacheModel()
      : size(GetParam()), model{size, {}, 0},
        cache(numLayers, numHeads, headDim, size.blockSize, size.maxSeqLen,
              size.type, options(size)),
        random(size.seed) {}

  static PagedKVCacheOptions options(const Parameters &size) {
    PagedKVCacheOptions options;
    options.numBlocks = size.numBlocks;
    options.guardPages = true;
    return options;
  }
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  }
  int32_t anyId() { return static_cast<int32_t>(upTo(7)); }

  /// A token's bytes: its number in every element, the layer and K or V mixed
  /// in.
  std::vector<uint8_t> bytesOf(uint16_t number, int64_t layer, bool value) {
    uint32_t element =
        number ^ static_cast<uint32_t>(layer << 13) ^ (value ? 0x8000u : 0u);
    size_t bytes = static_cast<size_t>(kvElementBytes(size.type));
    std::vector<uint8_t> result;
    for (int64_t i = 0; i < numHeads * headDim; ++i, element ^= 0x1000u) {
      const auto *raw = reinterpret_cast<const uint8_t *>(&element);
      result.insert(result.end(), raw, raw + bytes);
    }
    return result;
  }

  Status appendByValue(const std::vector<int32_t> &ids, int64_t count,
                       const std::vector<uint16_t> &numbers);
  Status appendByLayer(const std::vector<int32_t> &ids, int64_t count,
                       const std::vector<uint16_t> &numbers);
  Status appendBySlot(const std::vector<int32_t> &ids, int64_t count,
                      const std::vector<uint16_t> &numbers);
  void doAppend();
  void doFork();
  void doTruncate();
  void doFree();
  void compare(int32_t id);
  void check();

  Parameters size;
  Model model;
  PagedKVCache cache;
  std::mt19937_64 random;
  uint16_t nextNumber = 1;
  std::map<StatusCode, int> appends; ///< How they ended.
  int sharedWrites = 0;              ///< Successful appends that copied.
};
} // namespace

Status PagedKVCacheModel::appendByValue(const std::vector<int32_t> &ids,
                                        int64_t count,
                                        const std::vector<uint16_t> &numbers) {
  std::vector<uint8_t> keys, values;
  for (int64_t layer = 0; layer < numLayers; ++layer)
    for (uint16_t number : numbers) {
      std::vector<uint8_t> key = bytesOf(number, layer, false);
      std::vector<uint8_t> value = bytesOf(number, layer, true);
      keys.insert(keys.end(), key.begin(), key.end());
      values.insert(values.end(), value.begin(), value.end());
    }
  return cache.appendKV(keys.data(), values.data(),
                        static_cast<int64_t>(ids.size()), count, ids.data(),
                        nullptr);
}

/// One layer after the other. Where the first fails nothing may have changed;
/// the others then cannot fail, because the blocks are there.
Status PagedKVCacheModel::appendByLayer(const std::vector<int32_t> &ids,
                                        int64_t count,
                                        const std::vector<uint16_t> &numbers) {
  int64_t first = upTo(1);
  for (int64_t layer : {first, 1 - first}) {
    std::vector<uint8_t> keys, values;
    for (uint16_t number : numbers) {
      std::vector<uint8_t> key = bytesOf(number, layer, false);
      std::vector<uint8_t> value = bytesOf(number, layer, true);
      keys.insert(keys.end(), key.begin(), key.end());
      values.insert(values.end(), value.begin(), value.end());
    }
    Status status = cache.appendKV(layer, keys.data(), values.data(),
                                   static_cast<int64_t>(ids.size()), count,
                                   ids.data(), nullptr);
    if (!status && layer == first)
      return status;
    EXPECT_TRUE(status) << status.message();
    EXPECT_TRUE(cache.checkInvariants()) << cache.checkInvariants().message();
  }
  return Status::ok();
}

/// As the executor does it: reserve, then write the pool through the slots.
Status PagedKVCacheModel::appendBySlot(const std::vector<int32_t> &ids,
                                       int64_t count,
                                       const std::vector<uint16_t> &numbers) {
  std::vector<KVReservation> list;
  std::vector<int32_t> made;
  for (int32_t id : ids) {
    if (!cache.hasSequence(id)) {
      EXPECT_TRUE(cache.createSequence(id));
      made.push_back(id);
    }
    list.push_back({id, count});
  }
  std::vector<int32_t> slots(numbers.size());
  if (Status status = cache.reserve(list, slots); !status) {
    for (int32_t id : made)
      EXPECT_TRUE(cache.freeSequence(id));
    return status;
  }
  const llmir::KVBlockLayout &layout = cache.blockLayout();
  size_t elementBytes = static_cast<size_t>(layout.elementBytes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t block = slots[i] / size.blockSize,
            token = slots[i] % size.blockSize;
    EXPECT_EQ(cache.blocks().refCount(static_cast<int32_t>(block)), 1); // I4
    for (int64_t layer = 0; layer < numLayers; ++layer) {
      uint8_t *base = cache.pool() + layer * cache.layerStride() +
                      block * layout.blockBytes();
      std::vector<uint8_t> key = bytesOf(numbers[i], layer, false);
      std::vector<uint8_t> value = bytesOf(numbers[i], layer, true);
      for (int64_t d = 0; d < headDim; ++d) {
        size_t at = static_cast<size_t>(d) * elementBytes;
        std::memcpy(base + layout.keyOffset(token, 0, d), &key[at],
                    elementBytes);
        std::memcpy(base + layout.valueOffset(token, 0, d), &value[at],
                    elementBytes);
      }
    }
  }
  return Status::ok();
}

void PagedKVCacheModel::doAppend() {
  std::set<int32_t> chosen;
  for (int64_t i = upTo(2); i >= 0; --i)
    chosen.insert(anyId());
  std::vector<int32_t> ids(chosen.begin(), chosen.end());
  int64_t count = 1 + upTo(upTo(9) == 0 ? size.maxSeqLen : 2 * size.blockSize);
  std::vector<uint16_t> numbers;
  for (size_t i = 0; i < ids.size() * static_cast<size_t>(count); ++i)
    numbers.push_back(nextNumber++);
  Model attempt = model;
  StatusCode expected = attempt.append(ids, count, numbers);
  Status got;
  switch (upTo(2)) {
  case 0:
    got = appendByValue(ids, count, numbers);
    break;
  case 1:
    got = appendByLayer(ids, count, numbers);
    break;
  default:
    got = appendBySlot(ids, count, numbers);
    break;
  }
  ASSERT_EQ(got.code(), expected) << got.message();
  ++appends[expected];
  if (expected != StatusCode::Ok)
    return;
  for (int32_t id : ids) {
    auto before = model.sequences.find(id);
    if (before != model.sequences.end() && !before->second.blocks.empty())
      sharedWrites +=
          attempt.sequences[id].blocks[before->second.blocks.size() - 1] !=
          before->second.blocks.back();
  }
  model = std::move(attempt);
}

void PagedKVCacheModel::doFork() {
  int32_t source = anyId(), target = anyId();
  bool known = model.sequences.count(source) != 0;
  int64_t length =
      known ? static_cast<int64_t>(model.sequences[source].tokens.size()) : 0;
  int64_t count = upTo(1) ? length : upTo(length);
  Status got = cache.fork(source, target, count);
  ASSERT_EQ(got.isOk(), known && !model.sequences.count(target))
      << got.message();
  if (!got)
    return;
  Model::Sequence copy = model.sequences[source];
  copy.tokens.resize(static_cast<size_t>(count));
  copy.blocks.resize(
      static_cast<size_t>((count + size.blockSize - 1) / size.blockSize));
  model.sequences[target] = copy;
}

void PagedKVCacheModel::doTruncate() {
  int32_t id = anyId();
  auto found = model.sequences.find(id);
  int64_t length = found == model.sequences.end()
                       ? 0
                       : static_cast<int64_t>(found->second.tokens.size());
  int64_t cut = upTo(length + 1) - (upTo(19) == 0 ? 1 : 0);
  Status got = cache.truncate(id, cut);
  ASSERT_EQ(got.isOk(),
            found != model.sequences.end() && cut >= 0 && cut <= length)
      << got.message();
  if (!got)
    return;
  found->second.tokens.resize(static_cast<size_t>(cut));
  found->second.blocks.resize(
      static_cast<size_t>((cut + size.blockSize - 1) / size.blockSize));
}

void PagedKVCacheModel::doFree() {
  if (upTo(199) == 0) {
    cache.reset();
    model.sequences.clear();
    return;
  }
  int32_t id = anyId();
  Status got = cache.freeSequence(id);
  ASSERT_EQ(got.isOk(), model.sequences.erase(id) == 1) << got.message();
}

void PagedKVCacheModel::compare(int32_t id) {
  auto found = model.sequences.find(id);
  ASSERT_EQ(cache.hasSequence(id), found != model.sequences.end());
  if (found == model.sequences.end())
    return;
  const std::vector<uint16_t> &tokens = found->second.tokens;
  ASSERT_EQ(cache.getSequenceLength(id), static_cast<int64_t>(tokens.size()));
  std::vector<int32_t> table(static_cast<size_t>(cache.blocksPerSequence()));
  int32_t length;
  ASSERT_TRUE(cache.fillBlockTable(&id, 1, table.data(), &length));
  size_t rowBytes =
      static_cast<size_t>(numHeads * headDim * kvElementBytes(size.type));
  std::vector<uint8_t> keys(numLayers * tokens.size() * rowBytes + 1),
      values(keys.size());
  ASSERT_TRUE(
      cache.lookupKV(table.data(), &length, 1, keys.data(), values.data()));
  for (size_t row = 0; row < numLayers * tokens.size(); ++row) {
    int64_t layer = static_cast<int64_t>(row / tokens.size());
    uint16_t number = tokens[row % tokens.size()];
    ASSERT_EQ(0, std::memcmp(&keys[row * rowBytes],
                             bytesOf(number, layer, false).data(), rowBytes))
        << "sequence " << id << ", row " << row;
    ASSERT_EQ(0, std::memcmp(&values[row * rowBytes],
                             bytesOf(number, layer, true).data(), rowBytes))
        << "sequence " << id << ", row " << row;
  }
}

void PagedKVCacheModel::check() {
  Status status = cache.checkInvariants();
  ASSERT_TRUE(status) << status.message();
  // SPEC: 15 35 87 122 123: no block more than the tokens need, and none lost.
  ASSERT_EQ(cache.blocks().numFree(), model.freeBlocks());
  ASSERT_EQ(cache.getNumSequences(),
            static_cast<int64_t>(model.sequences.size()));
  compare(anyId());
}

// SPEC: 85 119 195: forks, copies on write and blocks against a plain model.
TEST_P(PagedKVCacheModel, AgreesAfterEveryOperation) {
  const int operations = std::getenv("LLMIR_LONG_TESTS") ? 2000000 : 60000;
  for (int i = 0; i < operations; ++i) {
    int64_t kind = upTo(9);
    if (kind < 5)
      doAppend();
    else if (kind < 7)
      doFork();
    else if (kind < 8)
      doTruncate();
    else
      doFree();
    if (!HasFatalFailure())
      check();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      ADD_FAILURE() << "operation " << i << " of seed " << size.seed;
      return;
    }
  }
  cache.reset();
  EXPECT_EQ(cache.blocks().numFree(), size.numBlocks); // I6
  // The random operations covered all cases.
  EXPECT_GT(appends[StatusCode::Ok], operations / 20);
  EXPECT_GT(appends[StatusCode::ResourceExhausted], operations / 100);
  EXPECT_GT(appends[StatusCode::OutOfRange], operations / 500);
  EXPECT_TRUE(size.blockSize == 1 || sharedWrites > operations / 300)
      << sharedWrites;
  RecordProperty("appends", appends[StatusCode::Ok]);
  RecordProperty("exhausted", appends[StatusCode::ResourceExhausted]);
  RecordProperty("outOfRange", appends[StatusCode::OutOfRange]);
  RecordProperty("copied", sharedWrites);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PagedKVCacheModel,
    testing::Values(Parameters{4, 24, 20, KVElementType::F16, 1},
                    Parameters{1, 9, 30, KVElementType::F32, 2},
                    Parameters{16, 100, 12, KVElementType::BF16, 3},
                    Parameters{2, 30, 8, KVElementType::F16, 4}));
