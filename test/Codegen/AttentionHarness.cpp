//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionHarness.h"

#include "llmir/Support/SmallFloat.h"

#include <algorithm>

namespace llmir::test {

/// Number of layers of a pool: tests use the second one.
static constexpr int64_t kMargin = 1024;

/// An invalid block index: reading it crashes.
static constexpr int32_t kNoBlock = 0x40000000;

KVPool::KVPool(TensorFormat format, const KVBlockLayout &layout,
               int64_t numBlocks)
    : format(format), layout(layout),
      bytes(static_cast<size_t>(numBlocks * layout.blockBytes() + kMargin)) {
  std::memset(bytes.data(), 0xff, bytes.size()); // NaN in every format.
}

static void encode(TensorFormat format, float value, uint8_t *to) {
  if (format == TensorFormat::F32) {
    std::memcpy(to, &value, 4);
    return;
  }
  uint16_t bits =
      format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
  std::memcpy(to, &bits, 2);
}

void KVPool::store(int64_t slot, const float *keys, const float *values) {
  uint8_t *block = bytes.data() + slot / layout.blockSize * layout.blockBytes();
  int64_t token = slot % layout.blockSize;
  for (int64_t h = 0; h < layout.numKVHeads; ++h) {
    for (int64_t d = 0; d < layout.headDim; ++d)
      encode(format, *keys++, block + layout.keyOffset(token, h, d));
    for (int64_t d = 0; d < layout.valueDim(); ++d)
      encode(format, *values++, block + layout.valueOffset(token, h, d));
  }
}

CachedBatch::CachedBatch(TensorFormat format, const KVBlockLayout &layout,
                         std::vector<SequenceShape> sequences, uint64_t seed)
    : format(format), layout(layout), shapes(std::move(sequences)) {
  Random random(seed);
  for (const SequenceShape &shape : shapes) {
    int64_t rows = shape.keys * layout.numKVHeads;
    keys.push_back(random.values(rows * layout.headDim, -2.0f, 2.0f));
    values.push_back(random.values(rows * layout.valueDim(), -2.0f, 2.0f));
  }
}

int64_t CachedBatch::numBlocks(size_t sequence) const {
  return (shapes[sequence].keys + layout.blockSize - 1) / layout.blockSize;
}

std::vector<double>
CachedBatch::cached(const std::vector<float> &numbers) const {
  std::vector<double> result;
  for (float number : numbers)
    result.push_back(static_cast<double>(roundTo(format, number)));
  return result;
}

std::vector<const CPULevel *> attentionLevels() {
  std::vector<const CPULevel *> levels;
  auto isLike = [](const CPULevel *a, const CPULevel *b) {
    return a->architecture == b->architecture &&
           a->vectorBits == b->vectorBits &&
           a->hasBf16Dots() == b->hasBf16Dots();
  };
  for (const CPULevel *level : allLevels()) {
    auto known =
        std::find_if(levels.begin(), levels.end(), [&](const CPULevel *other) {
          return isLike(level, other);
        });
    if (known == levels.end())
      levels.push_back(level);
    else if (isBestHere(level))
      *known = level;
  }
  return levels;
}

StepInputs CachedBatch::place(const std::vector<size_t> &order) {
  int64_t total = 0, most = 1;
  for (size_t s = 0; s < shapes.size(); ++s) {
    total += numBlocks(s);
    most = std::max(most, numBlocks(s));
  }
  pool = std::make_unique<KVPool>(format, layout, total);
  StepInputs inputs;
  inputs.pool = pool->bytes.data();
  inputs.poolBytes = pool->bytes.size();
  inputs.blockTableStride = most;
  inputs.queryOffsets = {0};
  int64_t block = total; // Blocks are allocated in descending order.
  for (size_t s : order) {
    std::vector<int32_t> table(most, kNoBlock);
    for (int64_t i = 0; i < numBlocks(s); ++i)
      table[i] = static_cast<int32_t>(--block);
    int64_t k = layout.numKVHeads * layout.headDim;
    int64_t v = layout.numKVHeads * layout.valueDim();
    for (int64_t p = 0; p < shapes[s].keys; ++p)
      pool->store(int64_t(table[p / layout.blockSize]) * layout.blockSize +
                      p % layout.blockSize,
                  &keys[s][p * k], &values[s][p * v]);
    inputs.blockTables.insert(inputs.blockTables.end(), table.begin(),
                              table.end());
    inputs.seqLens.push_back(static_cast<int32_t>(shapes[s].keys));
    inputs.numTokens += shapes[s].queries;
    inputs.queryOffsets.push_back(static_cast<int32_t>(inputs.numTokens));
  }
  return inputs;
}

} // namespace llmir::test
