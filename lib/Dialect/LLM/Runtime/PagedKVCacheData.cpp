//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Appending keys and values, and looking them up.
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/ByteCode.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

using llmir::Expected;
using llmir::KVBlockLayout;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

//===----------------------------------------------------------------------===//
// One token of one layer: callers use [heads, dim], blocks tiles of cells
//===----------------------------------------------------------------------===//

/// Calls move(byte offset in the block, index of the caller's element) for
/// every element of a token's K and V.
template <typename MoveKey, typename MoveValue>
static void forEachElement(const KVBlockLayout &layout, int64_t token,
                           MoveKey moveKey, MoveValue moveValue) {
  int64_t key = 0, value = 0;
  for (int64_t head = 0; head < layout.numKVHeads; ++head) {
    for (int64_t dim = 0; dim < layout.headDim; ++dim)
      moveKey(layout.keyOffset(token, head, dim), key++);
    for (int64_t dim = 0; dim < layout.valueDim(); ++dim)
      moveValue(layout.valueOffset(token, head, dim), value++);
  }
}

/// Bytes of one token's K, and of its V, as callers pass them.
static int64_t keyRowBytes(const KVBlockLayout &layout, KVElementType type) {
  return layout.numKVHeads * layout.headDim * kvElementBytes(type);
}
static int64_t valueRowBytes(const KVBlockLayout &layout, KVElementType type) {
  return layout.numKVHeads * layout.valueDim() * kvElementBytes(type);
}

template <typename Bits>
static void storeElements(const KVBlockLayout &layout, uint8_t *block,
                          int64_t token, const uint8_t *keys,
                          const uint8_t *values) {
  auto mover = [block](const uint8_t *source) {
    return [block, source](int64_t offset, int64_t element) {
      std::memcpy(block + offset, source + element * sizeof(Bits),
                  sizeof(Bits));
    };
  };
  if (layout.valuesInKeys)
    return forEachElement(layout, token, mover(keys), [](auto...) {});
  forEachElement(layout, token, mover(keys), mover(values));
}

template <typename Bits>
static void loadElements(const KVBlockLayout &layout, const uint8_t *block,
                         int64_t token, uint8_t *keys, uint8_t *values) {
  auto mover = [block](uint8_t *target) {
    return [block, target](int64_t offset, int64_t element) {
      std::memcpy(target + element * sizeof(Bits), block + offset,
                  sizeof(Bits));
    };
  };
  forEachElement(layout, token, mover(keys), mover(values));
}

//===----------------------------------------------------------------------===//
// The same for Q8: callers use f32, blocks bytes with a scale per head
//===----------------------------------------------------------------------===//

/// Stores a head's row of `dims` values; `offset(dim)` gives the place of each
/// byte. Codes and scale are computed as append_kv does (ByteCode.h).
template <typename Offset>
static void quantizeRow(uint8_t *block, int64_t scaleOffset, int64_t dims,
                        const uint8_t *numbers, Offset offset) {
  auto number = [numbers](int64_t dim) {
    float x;
    std::memcpy(&x, numbers + dim * 4, 4);
    return x;
  };
  llmir::MaxMagnitude most;
  for (int64_t dim = 0; dim < dims; ++dim)
    most.add(number(dim));
  const float scale = most.scale();
  std::memcpy(block + scaleOffset, &scale, 4);
  for (int64_t dim = 0; dim < dims; ++dim)
    block[offset(dim)] =
        static_cast<uint8_t>(llmir::byteCode(number(dim), scale));
}

template <typename Offset>
static void dequantizeRow(const uint8_t *block, int64_t scaleOffset,
                          int64_t dims, uint8_t *numbers, Offset offset) {
  float scale;
  std::memcpy(&scale, block + scaleOffset, 4);
  for (int64_t dim = 0; dim < dims; ++dim) {
    float x = scale * static_cast<int8_t>(block[offset(dim)]);
    std::memcpy(numbers + dim * 4, &x, 4);
  }
}

/// Calls move(offset of the scale, size of the row, byte offset of the caller's
/// first element, offset of each element) for every head's row, keys then
/// values.
template <typename MoveKey, typename MoveValue>
static void forEachRow(const KVBlockLayout &layout, int64_t token,
                       MoveKey moveKey, MoveValue moveValue) {
  for (int64_t head = 0; head < layout.numKVHeads; ++head) {
    moveKey(layout.keyScaleOffset(token, head), layout.headDim,
            head * layout.headDim * 4, [&layout, token, head](int64_t dim) {
              return layout.keyOffset(token, head, dim);
            });
    moveValue(layout.valueScaleOffset(token, head), layout.valueDim(),
              head * layout.valueDim() * 4,
              [&layout, token, head](int64_t dim) {
                return layout.valueOffset(token, head, dim);
              });
  }
}

static void quantizeToken(const KVBlockLayout &layout, uint8_t *block,
                          int64_t token, const uint8_t *keys,
                          const uint8_t *values) {
  auto mover = [block](const uint8_t *source) {
    return [block, source](int64_t scale, int64_t dims, int64_t first,
                           auto offset) {
      quantizeRow(block, scale, dims, source + first, offset);
    };
  };
  if (layout.valuesInKeys)
    return forEachRow(layout, token, mover(keys), [](auto...) {});
  forEachRow(layout, token, mover(keys), mover(values));
}

static void dequantizeToken(const KVBlockLayout &layout, const uint8_t *block,
                            int64_t token, uint8_t *keys, uint8_t *values) {
  auto mover = [block](uint8_t *target) {
    return [block, target](int64_t scale, int64_t dims, int64_t first,
                           auto offset) {
      dequantizeRow(block, scale, dims, target + first, offset);
    };
  };
  forEachRow(layout, token, mover(keys), mover(values));
}

void PagedKVCache::storeToken(int64_t layer, int32_t block, int64_t offset,
                              const uint8_t *keys, const uint8_t *values) {
  uint8_t *address = blockAddress(layer, block);
  if (layout.elementBytes == 4)
    storeElements<uint32_t>(layout, address, offset, keys, values);
  else if (layout.hasScales())
    quantizeToken(layout, address, offset, keys, values);
  else
    storeElements<uint16_t>(layout, address, offset, keys, values);
}

void PagedKVCache::loadToken(int64_t layer, int32_t block, int64_t offset,
                             uint8_t *keys, uint8_t *values) const {
  const uint8_t *address = blockAddress(layer, block);
  if (layout.elementBytes == 4)
    loadElements<uint32_t>(layout, address, offset, keys, values);
  else if (layout.hasScales())
    dequantizeToken(layout, address, offset, keys, values);
  else
    loadElements<uint16_t>(layout, address, offset, keys, values);
}

/// Zeroes the tokens from `firstToken` on in all layers.
void PagedKVCache::zeroTail(int32_t block, int64_t firstToken) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    uint8_t *address = blockAddress(layer, blockIn(layer, block));
    auto zero = [&](int64_t offset, int64_t) {
      std::memset(address + offset, 0,
                  static_cast<size_t>(layout.elementBytes));
    };
    for (int64_t token = firstToken; token < layout.blockSize; ++token)
      forEachElement(layout, token, zero, zero);
    auto zeroScale = [&](int64_t offset, auto...) {
      std::memset(address + offset, 0, 4);
    };
    for (int64_t token = firstToken;
         layout.hasScales() && token < layout.blockSize; ++token)
      forEachRow(layout, token, zeroScale, zeroScale);
  }
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

static Status checkBatch(int64_t batchSize, int64_t seqLen) {
  if (batchSize < 0 || seqLen < 0)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: batch size " + std::to_string(batchSize) +
                      ", sequence length " + std::to_string(seqLen),
                  "give numbers that are not negative");
  return Status::ok();
}

static Status checkLayer(int64_t layer, int64_t layers) {
  if (layer < 0 || layer >= layers)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: layer " + std::to_string(layer) +
                      " does not exist",
                  "layers go from 0 to " + std::to_string(layers - 1));
  return Status::ok();
}

static Status nullPointer(const char *name) {
  return Status(StatusCode::InvalidArgument,
                std::string("KV cache: ") + name + " is null");
}

/// Checks that all sequences have room for the tokens; changes nothing.
Status PagedKVCache::planAppend(int64_t firstLayer, int64_t numLayers,
                                int64_t batchSize, int64_t seqLen,
                                const int32_t *seqIds) {
  LLMIR_RETURN_IF_ERROR(checkByValue());
  LLMIR_RETURN_IF_ERROR(
      checkDistinct(std::vector<int64_t>(seqIds, seqIds + batchSize)));
  int64_t needed = 0;
  Status result;
  for (int64_t b = 0; b < batchSize && result; ++b) {
    const Sequence *sequence = find(seqIds[b]);
    if (sequence && numLayers > 1 && !sequence->evenLayers) {
      result = Status(StatusCode::InvalidArgument,
                      "sequence " + std::to_string(seqIds[b]) +
                          " has a different number of tokens in each layer",
                      "append the missing layers first");
      break;
    }
    int64_t first =
        sequence ? sequence->layerLengths[static_cast<size_t>(firstLayer)] : 0;
    result = planGrowth(seqIds[b], sequence, first, seqLen, needed);
  }
  Status room = finishPlan(needed);
  return result ? std::move(room) : std::move(result);
}

Status PagedKVCache::appendLayers(int64_t firstLayer, int64_t numLayers,
                                  const void *keys, const void *values,
                                  int64_t batchSize, int64_t seqLen,
                                  const int32_t *seqIds,
                                  int32_t *blockIndices) {
  LLMIR_RETURN_IF_ERROR(checkBatch(batchSize, seqLen));
  if (batchSize == 0)
    return Status::ok();
  if ((seqLen > 0 && (!keys || !values)) || !seqIds)
    return nullPointer(!seqIds ? "seqIds" : !keys ? "keyPtr" : "valuePtr");
  LLMIR_RETURN_IF_ERROR(
      planAppend(firstLayer, numLayers, batchSize, seqLen, seqIds));

  const int64_t keyRow = keyRowBytes(layout, type);
  const int64_t valueRow = valueRowBytes(layout, type);
  const uint8_t *keyBytes = static_cast<const uint8_t *>(keys);
  const uint8_t *valueBytes = static_cast<const uint8_t *>(values);
  for (int64_t b = 0; b < batchSize && seqLen > 0; ++b) {
    Sequence *known = find(seqIds[b]);
    Sequence &sequence = known ? *known : addSequence(seqIds[b]);
    int64_t first = sequence.layerLengths[static_cast<size_t>(firstLayer)];
    grow(sequence, first, seqLen);
    for (int64_t l = 0; l < numLayers; ++l) {
      for (int64_t t = 0; t < seqLen; ++t) {
        int64_t row = (l * batchSize + b) * seqLen + t;
        int64_t position = first + t;
        int32_t block =
            sequence.table[static_cast<size_t>(position / layout.blockSize)];
        storeToken(firstLayer + l, block, position % layout.blockSize,
                   keyBytes + row * keyRow, valueBytes + row * valueRow);
      }
      setLayerLength(sequence, firstLayer + l, first + seqLen);
    }
  }
  for (int64_t b = 0; blockIndices && b < batchSize; ++b)
    fillRow(blockTable(seqIds[b]), blocksPerSequence(),
            blockIndices + b * blocksPerSequence());
  return Status::ok();
}

/// Records the length of one layer after grow().
void PagedKVCache::setLayerLength(Sequence &sequence, int64_t layer,
                                  int64_t length) {
  sequence.layerLengths[static_cast<size_t>(layer)] =
      static_cast<int32_t>(length);
  sequence.evenLayers =
      std::all_of(sequence.layerLengths.begin(), sequence.layerLengths.end(),
                  [&](int32_t l) { return l == sequence.length; });
}

Status PagedKVCache::reserveLayer(int64_t layer, int64_t numTokens,
                                  Span<const int32_t> seqIds,
                                  Span<int32_t> slots) {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  const int64_t batchSize = static_cast<int64_t>(seqIds.size());
  LLMIR_RETURN_IF_ERROR(checkBatch(batchSize, numTokens));
  if (static_cast<int64_t>(slots.size()) != batchSize * numTokens)
    return Status(StatusCode::InvalidArgument,
                  std::to_string(slots.size()) + " slots were requested for " +
                      std::to_string(batchSize * numTokens) + " new tokens");
  LLMIR_RETURN_IF_ERROR(
      planAppend(layer, 1, batchSize, numTokens, seqIds.data()));
  int32_t *slot = slots.data();
  for (int32_t id : seqIds) {
    Sequence *known = find(id);
    Sequence &sequence = known ? *known : addSequence(id);
    int64_t first = sequence.layerLengths[static_cast<size_t>(layer)];
    grow(sequence, first, numTokens);
    for (int64_t p = first; p < first + numTokens; ++p) {
      int64_t block = sequence.table[static_cast<size_t>(p / layout.blockSize)];
      *slot++ =
          static_cast<int32_t>(block * layout.blockSize + p % layout.blockSize);
    }
    setLayerLength(sequence, layer, first + numTokens);
  }
  return Status::ok();
}

Status PagedKVCache::appendKV(const void *keyPtr, const void *valuePtr,
                              int64_t batchSize, int64_t seqLen,
                              const int32_t *seqIds, int32_t *blockIndices) {
  LLMIR_RETURN_IF_ERROR(constructed);
  return appendLayers(0, layers, keyPtr, valuePtr, batchSize, seqLen, seqIds,
                      blockIndices);
}

Status PagedKVCache::appendKV(int64_t layer, const void *keyPtr,
                              const void *valuePtr, int64_t batchSize,
                              int64_t seqLen, const int32_t *seqIds,
                              int32_t *blockIndices) {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  return appendLayers(layer, 1, keyPtr, valuePtr, batchSize, seqLen, seqIds,
                      blockIndices);
}

//===----------------------------------------------------------------------===//
// Look up
//===----------------------------------------------------------------------===//

Expected<std::vector<Span<const int32_t>>>
PagedKVCache::findBlockTables(int64_t layer, const IndexRows &blockIndices,
                              Span<const int64_t> seqLens) const {
  LLMIR_RETURN_IF_ERROR(constructed);
  if (!windowGroups.empty())
    return checkByValue();
  if (layer != -1)
    LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  std::vector<SequenceView> views;
  views.reserve(sequences.size());
  for (const auto &[id, sequence] : sequences) {
    const std::vector<int32_t> &lengths = sequence.layerLengths;
    int64_t length = layer == -1
                         ? *std::min_element(lengths.begin(), lengths.end())
                         : lengths[static_cast<size_t>(layer)];
    views.push_back({id, Span<const int32_t>(sequence.table), length});
  }
  // Makes errors independent of the order of the hash table.
  std::sort(
      views.begin(), views.end(),
      [](const SequenceView &a, const SequenceView &b) { return a.id < b.id; });
  std::string where;
  if (layers > 1)
    where =
        layer == -1 ? " in all layers" : " in layer " + std::to_string(layer);
  return runtime::findBlockTables(blockIndices, seqLens, views, bounds(),
                                  where);
}

Status PagedKVCache::lookupLayers(int64_t firstLayer, int64_t numLayers,
                                  const int32_t *blockIndices,
                                  const int32_t *seqLens, int64_t batchSize,
                                  void *outputKeys, void *outputValues) const {
  LLMIR_RETURN_IF_ERROR(checkBatch(batchSize, 0));
  if (batchSize == 0)
    return Status::ok();
  if (!blockIndices || !seqLens)
    return nullPointer(!blockIndices ? "blockIndices" : "seqLens");
  const std::vector<int64_t> lengths(seqLens, seqLens + batchSize);
  auto tables =
      findBlockTables(numLayers == 1 ? firstLayer : -1,
                      IndexRows::copy(blockIndices, batchSize,
                                      blocksPerSequence(), blocksPerSequence()),
                      lengths);
  if (!tables)
    return tables.takeStatus();
  const int64_t rowTokens = *std::max_element(lengths.begin(), lengths.end());
  if (rowTokens == 0)
    return Status::ok();
  if (!outputKeys || !outputValues)
    return nullPointer(!outputKeys ? "outputKeys" : "outputValues");

  const int64_t keyRow = keyRowBytes(layout, type);
  const int64_t valueRow = valueRowBytes(layout, type);
  uint8_t *keys = static_cast<uint8_t *>(outputKeys);
  uint8_t *values = static_cast<uint8_t *>(outputValues);
  for (int64_t l = 0; l < numLayers; ++l)
    for (size_t b = 0; b < lengths.size(); ++b) {
      for (int64_t t = 0; t < lengths[b]; ++t) {
        int32_t block = (*tables)[b][static_cast<size_t>(t / layout.blockSize)];
        loadToken(firstLayer + l, block, t % layout.blockSize,
                  keys + t * keyRow, values + t * valueRow);
      }
      int64_t rest = rowTokens - lengths[b];
      std::memset(keys + lengths[b] * keyRow, 0,
                  static_cast<size_t>(rest * keyRow));
      std::memset(values + lengths[b] * valueRow, 0,
                  static_cast<size_t>(rest * valueRow));
      keys += rowTokens * keyRow;
      values += rowTokens * valueRow;
    }
  return Status::ok();
}

Status PagedKVCache::lookupKV(const int32_t *blockIndices,
                              const int32_t *seqLens, int64_t batchSize,
                              void *outputKeys, void *outputValues) const {
  LLMIR_RETURN_IF_ERROR(constructed);
  return lookupLayers(0, layers, blockIndices, seqLens, batchSize, outputKeys,
                      outputValues);
}

Status PagedKVCache::lookupKV(int64_t layer, const int32_t *blockIndices,
                              const int32_t *seqLens, int64_t batchSize,
                              void *outputKeys, void *outputValues) const {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  return lookupLayers(layer, 1, blockIndices, seqLens, batchSize, outputKeys,
                      outputValues);
}

Status PagedKVCache::fillBlockTable(const int32_t *seqIds, int64_t batchSize,
                                    int32_t *table, int32_t *seqLens) const {
  LLMIR_RETURN_IF_ERROR(constructed);
  if (!windowGroups.empty())
    return checkByValue();
  LLMIR_RETURN_IF_ERROR(checkBatch(batchSize, 0));
  if (batchSize > 0 && (!seqIds || !table))
    return nullPointer(!seqIds ? "seqIds" : "table");
  for (int64_t b = 0; b < batchSize; ++b)
    if (!find(seqIds[b]))
      return Status(StatusCode::InvalidArgument, "sequence " +
                                                     std::to_string(seqIds[b]) +
                                                     " does not exist");
  for (int64_t b = 0; b < batchSize; ++b) {
    const Sequence &sequence = *find(seqIds[b]);
    fillRow(Span<const int32_t>(sequence.table), blocksPerSequence(),
            table + b * blocksPerSequence());
    if (seqLens)
      seqLens[b] = static_cast<int32_t>(sequence.length);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Tokens by their slots
//===----------------------------------------------------------------------===//

Status PagedKVCache::storeTokens(int64_t layer, Span<const int32_t> slots,
                                 const void *keys, const void *values) {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  LLMIR_RETURN_IF_ERROR(
      checkSlots(std::vector<int64_t>(slots.begin(), slots.end()),
                 {blocksOfLayer(layer), layout.blockSize, longest}));
  const auto *key = static_cast<const uint8_t *>(keys);
  const auto *value = static_cast<const uint8_t *>(values);
  for (int32_t slot : slots) {
    storeToken(layer, static_cast<int32_t>(slot / layout.blockSize),
               slot % layout.blockSize, key, value);
    key += keyRowBytes(layout, type);
    value += valueRowBytes(layout, type);
  }
  return Status::ok();
}

Status PagedKVCache::loadTokens(int64_t layer, Span<const int32_t> table,
                                int64_t numTokens, void *keys,
                                void *values) const {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkLayer(layer, layers));
  auto *key = static_cast<uint8_t *>(keys);
  auto *value = static_cast<uint8_t *>(values);
  for (int64_t t = 0; t < numTokens; ++t) {
    const auto entry = static_cast<size_t>(t / layout.blockSize);
    const int32_t block = entry < table.size() ? table[entry] : -1;
    if (block < 0 || block >= blocksOfLayer(layer))
      return Status(StatusCode::InvalidArgument,
                    "KV cache: token " + std::to_string(t) +
                        " has no block in a table of " +
                        std::to_string(table.size()));
    loadToken(layer, block, t % layout.blockSize, key, value);
    key += keyRowBytes(layout, type);
    value += valueRowBytes(layout, type);
  }
  return Status::ok();
}

} // namespace mlir::llm::runtime
