//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Use of the paged KV cache: two sequences, ten steps, all layers at once. The
// values read are compared with those written.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <cstdio>
#include <vector>

using namespace mlir::llm::runtime;
using llmir::Status;

static constexpr int64_t numLayers = 2, numHeads = 12, headDim = 64;
static constexpr int64_t blockSize = 16, maxSeqLen = 128, batchSize = 2;
static constexpr int64_t steps = 10;
static constexpr int64_t rowSize = numHeads * headDim;

/// A value that identifies its position, exact in f32.
static float element(int64_t layer, int64_t sequence, int64_t token,
                     int64_t index) {
  return static_cast<float>(
      ((layer * batchSize + sequence) * maxSeqLen + token) * 1000 + index);
}

static bool fail(const char *what, const Status &status) {
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  return false;
}

/// Appends a prompt of 10 tokens, then one token per step. Every append writes
/// the block tables of its sequences, [batch, blocks per sequence], to
/// `blockIndices`.
static bool fill(PagedKVCache &cache, const int32_t *seqIds,
                 std::vector<int32_t> &blockIndices) {
  for (int64_t step = 0, length = 0; step < steps; ++step) {
    int64_t seqLen = step == 0 ? 10 : 1;
    // [layers, batch, seq, heads, dim]
    std::vector<float> keys, values;
    for (int64_t layer = 0; layer < numLayers; ++layer)
      for (int64_t sequence = 0; sequence < batchSize; ++sequence)
        for (int64_t token = 0; token < seqLen; ++token)
          for (int64_t i = 0; i < rowSize; ++i) {
            keys.push_back(element(layer, sequence, length + token, i));
            values.push_back(-keys.back());
          }
    Status status = cache.appendKV(keys.data(), values.data(), batchSize,
                                   seqLen, seqIds, blockIndices.data());
    if (!status)
      return fail("append", status);
    length += seqLen;
  }
  return true;
}

/// Looks up all tokens with the block tables of the last append, and counts
/// differences.
static bool check(const PagedKVCache &cache, const int32_t *seqIds,
                  const std::vector<int32_t> &blockIndices) {
  int32_t seqLens[batchSize];
  for (int64_t b = 0; b < batchSize; ++b)
    seqLens[b] = static_cast<int32_t>(cache.getSequenceLength(seqIds[b]));
  // [layers, batch, longest sequence, heads, dim]
  const int64_t tokens = seqLens[0];
  std::vector<float> keys(
      static_cast<size_t>(numLayers * batchSize * tokens * rowSize));
  std::vector<float> values(keys.size());
  Status status = cache.lookupKV(blockIndices.data(), seqLens, batchSize,
                                 keys.data(), values.data());
  if (!status)
    return fail("lookup", status);
  int64_t wrong = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    int64_t row = static_cast<int64_t>(i) / rowSize;
    float expected = element(row / tokens / batchSize, row / tokens % batchSize,
                             row % tokens, static_cast<int64_t>(i) % rowSize);
    wrong += keys[i] != expected || values[i] != -expected;
  }
  std::printf("looked up %lld tokens of %lld sequences in %lld layers: "
              "%lld of %zu values differ\n",
              static_cast<long long>(tokens), static_cast<long long>(batchSize),
              static_cast<long long>(numLayers), static_cast<long long>(wrong),
              2 * keys.size());
  return wrong == 0;
}

int main() {
  PagedKVCache cache(numLayers, numHeads, headDim, blockSize, maxSeqLen,
                     KVElementType::F32);
  if (!cache.status())
    return fail("create", cache.status()) ? 0 : 1;
  const int32_t seqIds[batchSize] = {100, 101};
  std::vector<int32_t> blockIndices(
      static_cast<size_t>(batchSize * cache.blocksPerSequence()));
  if (!fill(cache, seqIds, blockIndices))
    return 1;
  for (int32_t id : seqIds)
    std::printf("sequence %d: %lld tokens in %zu blocks of %lld\n", id,
                static_cast<long long>(cache.getSequenceLength(id)),
                cache.blockTable(id).size(),
                static_cast<long long>(cache.getBlockSize()));
  if (!check(cache, seqIds, blockIndices))
    return 1;

  // A fork shares its blocks until one of the two sequences is extended.
  if (Status status = cache.fork(100, 102); !status)
    return fail("fork", status) ? 0 : 1;
  std::printf("after a fork %lld blocks are used\n",
              static_cast<long long>(cache.blocks().numUsed()));
  std::vector<float> token(static_cast<size_t>(numLayers * rowSize), 1.0f);
  const int32_t branch = 102;
  if (Status status =
          cache.appendKV(token.data(), token.data(), 1, 1, &branch, nullptr);
      !status)
    return fail("append to the branch", status) ? 0 : 1;
  std::printf("after the branch went on, %lld\n",
              static_cast<long long>(cache.blocks().numUsed()));
  if (!check(cache, seqIds, blockIndices))
    return 1;
  cache.reset();
  std::printf("after a reset %lld of %lld blocks are free\n",
              static_cast<long long>(cache.blocks().numFree()),
              static_cast<long long>(cache.blocks().numBlocks()));
  return 0;
}
