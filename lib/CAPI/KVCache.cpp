//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface of the paged cache: maps descriptors to PagedKVCache.
//
//===----------------------------------------------------------------------===//

#include "llmir-c/KVCache.h"

#include "llmir/Support/SmallFloat.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

using llmir::Expected;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;
using mlir::llm::runtime::checkRaggedBatch;
using mlir::llm::runtime::checkRoom;
using mlir::llm::runtime::fillRow;
using mlir::llm::runtime::IndexRows;
using mlir::llm::runtime::kvElementBytes;
using mlir::llm::runtime::KVElementType;
using mlir::llm::runtime::PagedKVCache;

struct LLMIRKVCache {
  LLMIRKVCache(KVElementType type, int64_t numLayers, int64_t numHeads,
               int64_t headDim, int64_t valueDim, int64_t blockSize,
               int64_t maxSeqLen)
      : cache(numLayers, numHeads, headDim, blockSize, maxSeqLen, type,
              valueDim) {}

  /// Keeps the first error; returns whether there is none.
  bool keep(const Status &status) {
    if (error.empty() && !status.isOk()) {
      error = status.message();
      std::fprintf(stderr, "%s\n", error.c_str());
    }
    return error.empty();
  }

  PagedKVCache cache;
  std::string error;
};

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {

/// Elements of a memref in logical order, whatever its strides.
std::vector<int32_t> read(const LLMIRIndexVector &from) {
  std::vector<int32_t> result(static_cast<size_t>(from.sizes[0]));
  for (int64_t i = 0; i < from.sizes[0]; ++i)
    result[static_cast<size_t>(i)] =
        from.aligned[from.offset + i * from.strides[0]];
  return result;
}

std::vector<int64_t> readWide(const LLMIRIndexVector &from) {
  const std::vector<int32_t> narrow = read(from);
  return {narrow.begin(), narrow.end()};
}

IndexRows read(const LLMIRIndexTable &from) {
  IndexRows result;
  result.columns = from.sizes[1];
  for (int64_t row = 0; row < from.sizes[0]; ++row)
    for (int64_t i = 0; i < from.sizes[1]; ++i)
      result.entries.push_back(
          from.aligned[from.offset + row * from.strides[0] +
                       i * from.strides[1]]);
  return result;
}

/// Elements past the end of `values` become 0.
void write(const std::vector<int32_t> &values, LLMIRIndexVector &to) {
  for (int64_t i = 0; i < to.sizes[0]; ++i)
    to.aligned[to.offset + i * to.strides[0]] =
        static_cast<size_t>(i) < values.size() ? values[static_cast<size_t>(i)]
                                               : 0;
}

void writeRow(Span<const int32_t> table, int64_t row, LLMIRIndexTable &to) {
  std::vector<int32_t> entries(static_cast<size_t>(to.sizes[1]));
  fillRow(table, to.sizes[1], entries.data());
  for (int64_t i = 0; i < to.sizes[1]; ++i)
    to.aligned[to.offset + row * to.strides[0] + i * to.strides[1]] =
        entries[static_cast<size_t>(i)];
}

void clear(LLMIRIndexTable &to) {
  for (int64_t row = 0; row < to.sizes[0]; ++row)
    for (int64_t i = 0; i < to.sizes[1]; ++i)
      to.aligned[to.offset + row * to.strides[0] + i * to.strides[1]] = 0;
}

/// Calls `visit` with the address of each element, in order.
template <typename Element, typename Descriptor, typename Visit>
void forEach(const Descriptor &memref, int rank, Visit visit) {
  auto *first = static_cast<Element *>(memref.aligned) + memref.offset;
  int64_t count = 1;
  for (int d = 0; d < rank; ++d)
    count *= memref.sizes[d];
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, place = 0;
    for (int d = rank - 1; d >= 0; --d) {
      place += rest % memref.sizes[d] * memref.strides[d];
      rest /= memref.sizes[d];
    }
    visit(first[place], i);
  }
}

template <typename Element> std::vector<Element> read(const LLMIRTokens &from) {
  std::vector<Element> result;
  forEach<Element>(from, 3, [&](Element &x, int64_t) { result.push_back(x); });
  return result;
}

/// Elements past the end of `values` become 0.
template <typename Element, typename Descriptor>
void write(const std::vector<Element> &values, int rank, Descriptor &to) {
  forEach<Element>(to, rank, [&](Element &x, int64_t i) {
    x = static_cast<size_t>(i) < values.size() ? values[static_cast<size_t>(i)]
                                               : Element(0);
  });
}

/// The C++ type of the caller's elements.
template <KVElementType Type> struct ElementOf {
  using T = uint16_t;
};
template <> struct ElementOf<KVElementType::F32> {
  using T = float;
};

/// Runs a request unless the cache has an error; returns whether it succeeded.
template <typename Run> bool attempt(LLMIRKVCache *cache, Run run) {
  if (!cache || !cache->error.empty())
    return false;
  try {
    return cache->keep(run());
  } catch (const std::bad_alloc &) {
    return cache->keep(Status(StatusCode::ResourceExhausted,
                              "KV cache: out of memory during a call"));
  }
}

Status wrongShape(const char *what, const PagedKVCache &cache) {
  return Status(StatusCode::InvalidArgument,
                std::string("KV cache: ") + what +
                    " do not have the cache's shape: it has " +
                    std::to_string(cache.getNumHeads()) + " heads of " +
                    std::to_string(cache.getHeadDim()) + " and " +
                    std::to_string(cache.getValueDim()) + " elements");
}

/// Checks that the last sizes of keys and values are the cache's, and the
/// others equal.
template <typename Descriptor>
Status checkShapes(const Descriptor &keys, const Descriptor &values, int rank,
                   const PagedKVCache &cache) {
  bool agrees = std::equal(keys.sizes, keys.sizes + rank - 1, values.sizes) &&
                keys.sizes[rank - 2] == cache.getNumHeads() &&
                keys.sizes[rank - 1] == cache.getHeadDim() &&
                values.sizes[rank - 1] == cache.getValueDim();
  return agrees ? Status::ok() : wrongShape("keys or values", cache);
}

/// The element type that callers of this cache use.
KVElementType givenType(const PagedKVCache &cache) {
  const KVElementType type = cache.getElementType();
  return type == KVElementType::Q8 ? KVElementType::F32 : type;
}

Status checkType(KVElementType type, const PagedKVCache &cache) {
  if (type == givenType(cache))
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "KV cache: the element type of the cache does not match that "
                "of the function");
}

//===----------------------------------------------------------------------===//
// Index arrays
//===----------------------------------------------------------------------===//

Status checkRows(const LLMIRIndexTable &rows, const LLMIRIndexVector &seqLens) {
  if (rows.sizes[0] == seqLens.sizes[0])
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "KV cache: " + std::to_string(seqLens.sizes[0]) +
                    " lengths for " + std::to_string(rows.sizes[0]) +
                    " rows of block indices");
}

Status checkCounts(const LLMIRIndexTable &tables,
                   const LLMIRIndexVector &seqLens,
                   const LLMIRIndexVector &offsets) {
  LLMIR_RETURN_IF_ERROR(checkRows(tables, seqLens));
  if (offsets.sizes[0] == seqLens.sizes[0] + 1)
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "KV cache: " + std::to_string(offsets.sizes[0]) +
                    " offsets for " + std::to_string(seqLens.sizes[0]) +
                    " sequences");
}

/// The block tables of the sequences that rows identify, for one layer and for
/// results of the same number of sequences.
Expected<std::vector<Span<const int32_t>>>
findTables(const PagedKVCache &cache, int64_t layer,
           const LLMIRIndexTable &blockIndices, const LLMIRIndexVector &seqLens,
           int64_t numResults) {
  LLMIR_RETURN_IF_ERROR(checkRows(blockIndices, seqLens));
  if (numResults != seqLens.sizes[0])
    return Status(StatusCode::InvalidArgument,
                  "KV cache: the results have room for " +
                      std::to_string(numResults) + " sequences, not for " +
                      std::to_string(seqLens.sizes[0]));
  if (layer < 0 || layer >= cache.getNumLayers())
    return Status(StatusCode::InvalidArgument,
                  "KV cache: layer " + std::to_string(layer) +
                      " does not exist; there are " +
                      std::to_string(cache.getNumLayers()));
  return cache.findBlockTables(layer, read(blockIndices), readWide(seqLens));
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

std::vector<uint16_t> narrowed(const std::vector<float> &from,
                               KVElementType type) {
  std::vector<uint16_t> result(from.size());
  std::transform(from.begin(), from.end(), result.begin(), [&](float x) {
    return type == KVElementType::F16 ? llmir::floatToF16(x)
                                      : llmir::floatToBf16(x);
  });
  return result;
}

template <KVElementType Type>
Status append(PagedKVCache &cache, int64_t layer, const LLMIRTokens &keys,
              const LLMIRTokens &values, const LLMIRIndexVector &slots) {
  using T = typename ElementOf<Type>::T;
  LLMIR_RETURN_IF_ERROR(checkShapes(keys, values, 3, cache));
  if (keys.sizes[0] != slots.sizes[0])
    return Status(StatusCode::InvalidArgument,
                  "KV cache: " + std::to_string(keys.sizes[0]) +
                      " tokens have " + std::to_string(slots.sizes[0]) +
                      " slots");
  const std::vector<int32_t> places = read(slots);
  const std::vector<T> k = read<T>(keys), v = read<T>(values);
  if (Type == givenType(cache))
    return cache.storeTokens(layer, places, k.data(), v.data());
  if constexpr (Type == KVElementType::F32) {
    const auto few = [&](const std::vector<T> &x) {
      return narrowed(x, cache.getElementType());
    };
    return cache.storeTokens(layer, places, few(k).data(), few(v).data());
  }
  return checkType(Type, cache);
}

template <KVElementType Type>
void appendTo(LLMIRKVCache *cache, int64_t layer, const LLMIRTokens *keys,
              const LLMIRTokens *values, const LLMIRIndexVector *slots) {
  attempt(cache, [&] {
    return append<Type>(cache->cache, layer, *keys, *values, *slots);
  });
}

/// Loads the first tokens of block tables, one after another; each has room for
/// `room` tokens.
template <KVElementType Type>
Status load(const PagedKVCache &cache, int64_t layer,
            const std::vector<Span<const int32_t>> &tables,
            const std::vector<int64_t> &lengths, int64_t room,
            std::vector<typename ElementOf<Type>::T> &keys,
            std::vector<typename ElementOf<Type>::T> &values) {
  LLMIR_RETURN_IF_ERROR(checkType(Type, cache));
  const auto keyRow =
      static_cast<size_t>(cache.getNumHeads() * cache.getHeadDim());
  const auto valueRow =
      static_cast<size_t>(cache.getNumHeads() * cache.getValueDim());
  const size_t rows = tables.size() * static_cast<size_t>(room);
  keys.assign(rows * keyRow, 0);
  values.assign(rows * valueRow, 0);
  for (size_t b = 0; b < tables.size(); ++b) {
    const size_t first = b * static_cast<size_t>(room);
    LLMIR_RETURN_IF_ERROR(cache.loadTokens(layer, tables[b], lengths[b],
                                           keys.data() + first * keyRow,
                                           values.data() + first * valueRow));
  }
  return Status::ok();
}

template <KVElementType Type>
void lookup(LLMIRKVCache *cache, int64_t layer,
            const LLMIRIndexTable *blockIndices,
            const LLMIRIndexVector *seqLens, LLMIRBatch *keys,
            LLMIRBatch *values) {
  std::vector<typename ElementOf<Type>::T> k, v;
  auto find = [&]() -> Status {
    LLMIR_RETURN_IF_ERROR(checkShapes(*keys, *values, 4, cache->cache));
    const std::vector<int64_t> lengths = readWide(*seqLens);
    LLMIR_RETURN_IF_ERROR(checkRoom(lengths, keys->sizes[1]));
    auto tables = findTables(cache->cache, layer, *blockIndices, *seqLens,
                             keys->sizes[0]);
    if (!tables)
      return tables.takeStatus();
    return load<Type>(cache->cache, layer, *tables, lengths, keys->sizes[1], k,
                      v);
  };
  if (!attempt(cache, find)) {
    k.clear();
    v.clear();
  }
  write(k, 4, *keys);
  write(v, 4, *values);
}

template <KVElementType Type>
void gather(LLMIRKVCache *cache, int64_t layer,
            const LLMIRIndexTable *blockTables, int64_t sequence,
            LLMIRTokens *keys, LLMIRTokens *values) {
  std::vector<typename ElementOf<Type>::T> k, v;
  auto find = [&]() -> Status {
    LLMIR_RETURN_IF_ERROR(checkShapes(*keys, *values, 3, cache->cache));
    if (sequence < 0 || sequence >= blockTables->sizes[0])
      return Status(StatusCode::InvalidArgument,
                    "KV cache: row " + std::to_string(sequence) +
                        " does not exist; there are " +
                        std::to_string(blockTables->sizes[0]));
    const IndexRows rows = read(*blockTables);
    std::vector<int32_t> table;
    for (int64_t i = 0; i < rows.columns; ++i)
      table.push_back(static_cast<int32_t>(rows.at(sequence, i)));
    return load<Type>(cache->cache, layer, {Span<const int32_t>(table)},
                      {keys->sizes[0]}, keys->sizes[0], k, v);
  };
  if (!attempt(cache, find)) {
    k.clear();
    v.clear();
  }
  write(k, 3, *keys);
  write(v, 3, *values);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Status reserve(PagedKVCache &cache, int64_t layer, int64_t tokens,
               const std::vector<int32_t> &ids, std::vector<int32_t> &slots,
               LLMIRIndexTable &blockIndices, LLMIRIndexTable &blockTables,
               std::vector<int32_t> &lengths) {
  const auto count = static_cast<int64_t>(ids.size());
  if (tokens < 0 || tokens > cache.getMaxSeqLen())
    return Status(StatusCode::OutOfRange,
                  "KV cache: " + std::to_string(tokens) +
                      " tokens to append; a sequence has at most " +
                      std::to_string(cache.getMaxSeqLen()));
  if (blockIndices.sizes[0] != count || blockTables.sizes[0] != count)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: " + std::to_string(count) +
                      " sequences have rows for others");
  slots.resize(static_cast<size_t>(count * tokens));
  LLMIR_RETURN_IF_ERROR(cache.reserveLayer(layer, tokens, ids, slots));
  for (int64_t b = 0; b < count; ++b) {
    const int64_t id = ids[static_cast<size_t>(b)];
    writeRow(cache.blockTable(id), b, blockIndices);
    writeRow(cache.blockTable(id), b, blockTables);
    lengths.push_back(static_cast<int32_t>(cache.getSequenceLength(id, layer)));
  }
  return Status::ok();
}

} // namespace

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

LLMIRKVCache *llmirKVCacheCreate(int32_t elementType, int64_t numLayers,
                                 int64_t numHeads, int64_t headDim,
                                 int64_t valueDim, int64_t blockSize,
                                 int64_t maxSeqLen) {
  static constexpr KVElementType types[] = {
      KVElementType::F32, KVElementType::F16, KVElementType::BF16,
      KVElementType::Q8};
  const bool isKnown = elementType >= 0 && elementType < 4;
  try {
    auto *cache = new LLMIRKVCache(types[isKnown ? elementType : 0],
                                   isKnown ? numLayers : 0, numHeads, headDim,
                                   valueDim, blockSize, maxSeqLen);
    if (!isKnown)
      cache->keep(Status(StatusCode::InvalidArgument,
                         "KV cache: there is no element type " +
                             std::to_string(elementType)));
    cache->keep(cache->cache.status());
    return cache;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void llmirKVCacheDestroy(LLMIRKVCache *cache) { delete cache; }

const char *llmirKVCacheGetError(const LLMIRKVCache *cache) {
  if (!cache)
    return "KV cache: out of memory while creating it";
  return cache->error.empty() ? nullptr : cache->error.c_str();
}

int64_t llmirKVCacheGetSequenceLength(const LLMIRKVCache *cache,
                                      int64_t sequence) {
  return cache ? cache->cache.getSequenceLength(sequence) : 0;
}

void _mlir_ciface_llmirKVCacheReserve(LLMIRKVCache *cache, int64_t layer,
                                      int64_t tokens,
                                      const LLMIRIndexVector *seqIds,
                                      LLMIRIndexVector *slots,
                                      LLMIRIndexTable *blockIndices,
                                      LLMIRIndexTable *blockTables,
                                      LLMIRIndexVector *seqLens) {
  std::vector<int32_t> found, lengths;
  clear(*blockIndices);
  clear(*blockTables);
  if (!attempt(cache, [&] {
        return reserve(cache->cache, layer, tokens, read(*seqIds), found,
                       *blockIndices, *blockTables, lengths);
      }))
    found.clear();
  write(found, *slots);
  write(lengths, *seqLens);
}

void _mlir_ciface_llmirKVCacheFork(LLMIRKVCache *cache,
                                   const LLMIRIndexVector *srcIds,
                                   const LLMIRIndexVector *dstIds) {
  attempt(cache, [&]() -> Status {
    return cache->cache.forkSequences(read(*srcIds), read(*dstIds));
  });
}

void _mlir_ciface_llmirKVCacheFree(LLMIRKVCache *cache,
                                   const LLMIRIndexVector *seqIds) {
  attempt(cache, [&]() -> Status {
    return cache->cache.freeSequences(read(*seqIds));
  });
}

void _mlir_ciface_llmirKVCacheFindTables(LLMIRKVCache *cache, int64_t layer,
                                         const LLMIRIndexTable *blockIndices,
                                         const LLMIRIndexVector *seqLens,
                                         LLMIRIndexTable *blockTables) {
  clear(*blockTables);
  attempt(cache, [&]() -> Status {
    auto tables = findTables(cache->cache, layer, *blockIndices, *seqLens,
                             blockTables->sizes[0]);
    if (!tables)
      return tables.takeStatus();
    for (size_t b = 0; b < tables->size(); ++b)
      writeRow((*tables)[b], static_cast<int64_t>(b), *blockTables);
    return Status::ok();
  });
}

void _mlir_ciface_llmirKVCacheCheckBatch(
    LLMIRKVCache *cache, const LLMIRIndexTable *blockTables,
    const LLMIRIndexVector *seqLens, const LLMIRIndexVector *queryOffsets,
    int64_t numQueries, int64_t maskColumns, LLMIRIndexVector *checkedLens,
    LLMIRIndexVector *checkedOffsets) {
  std::vector<int32_t> lengths, offsets;
  if (attempt(cache, [&]() -> Status {
        LLMIR_RETURN_IF_ERROR(
            checkCounts(*blockTables, *seqLens, *queryOffsets));
        const std::vector<int64_t> lens = readWide(*seqLens);
        const std::vector<int64_t> rows = readWide(*queryOffsets);
        return checkRaggedBatch(
            {read(*blockTables), lens, rows, numQueries, maskColumns},
            cache->cache.bounds());
      })) {
    lengths = read(*seqLens);
    offsets = read(*queryOffsets);
  }
  write(lengths, *checkedLens);
  write(offsets, *checkedOffsets);
}

#define LLMIR_KV_FUNCTIONS(Type)                                               \
  void _mlir_ciface_llmirKVCacheAppend##Type(                                  \
      LLMIRKVCache *cache, int64_t layer, const LLMIRTokens *keys,             \
      const LLMIRTokens *values, const LLMIRIndexVector *slots) {              \
    appendTo<KVElementType::Type>(cache, layer, keys, values, slots);          \
  }                                                                            \
  void _mlir_ciface_llmirKVCacheLookup##Type(                                  \
      LLMIRKVCache *cache, int64_t layer, const LLMIRIndexTable *blockIndices, \
      const LLMIRIndexVector *seqLens, LLMIRBatch *keys, LLMIRBatch *values) { \
    lookup<KVElementType::Type>(cache, layer, blockIndices, seqLens, keys,     \
                                values);                                       \
  }                                                                            \
  void _mlir_ciface_llmirKVCacheGather##Type(                                  \
      LLMIRKVCache *cache, int64_t layer, const LLMIRIndexTable *blockTables,  \
      int64_t sequence, LLMIRTokens *keys, LLMIRTokens *values) {              \
    gather<KVElementType::Type>(cache, layer, blockTables, sequence, keys,     \
                                values);                                       \
  }

LLMIR_KV_FUNCTIONS(F32)
LLMIR_KV_FUNCTIONS(F16)
LLMIR_KV_FUNCTIONS(BF16)
