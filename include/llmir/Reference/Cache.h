//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A paged KV cache with value semantics and cheap (copy-on-write) copies. It
// assigns the same block indices as the runtime's PagedKVCache, since both use
// BlockManager.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_CACHE_H
#define LLMIR_REFERENCE_CACHE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/BlockManager.h"
#include "mlir/Dialect/LLM/Runtime/BlockTables.h"

#include <array>
#include <map>
#include <memory>
#include <utility>

namespace llmir::reference {

struct CacheGeometry {
  ElementKind kind = ElementKind::F32;
  int64_t layers = 1;
  int64_t heads = 1;    ///< G
  int64_t headDim = 1;  ///< D, of keys.
  int64_t valueDim = 1; ///< V, of values.
  int64_t blockSize = 1;
  int64_t maxSeqLen = 1;
  /// Values are the first V elements of keys, as they are stored.
  bool valuesInKeys = false;

  /// Maximum number of blocks of a sequence.
  int64_t blocksPerSequence() const {
    return (maxSeqLen + blockSize - 1) / blockSize;
  }
};

class PagedCache {
public:
  /// Creates an empty cache; by default with blocks for 8 sequences of
  /// maxSeqLen, as in PagedKVCache.
  explicit PagedCache(const CacheGeometry &geometry, int64_t numBlocks = 0);

  const CacheGeometry &geometry() const { return facts; }
  int64_t numBlocks() const { return manager.numBlocks(); }
  mlir::llm::runtime::CacheBounds bounds() const {
    return {numBlocks(), facts.blockSize, facts.maxSeqLen};
  }

  /// Writes token t of keys [T, G, D] and values [T, G, V] to slot slots[t] =
  /// block · blockSize + offset, rounded to the cache's element type. Fails
  /// without side effects if a slot or the layer does not exist.
  Status appendSlots(int64_t layer, const Tensor &keys, const Tensor &values,
                     const Tensor &slots);

  struct Reservation {
    Tensor slots;        ///< [B · n] slot of each new token.
    Tensor blockIndices; ///< [B, rowBlocks] rows that identify sequences.
    Tensor blockTables;  ///< [B, blocksPerSequence()], padded with -1.
    Tensor seqLens;      ///< [B] lengths in this layer, including new tokens.
  };
  /// Reserves slots for n tokens in each sequence, after those of this layer. A
  /// new id starts a sequence; shared blocks are copied before they are
  /// written. See BlockTables.h for rows of block indices. Fails without side
  /// effects if a sequence is listed twice or would exceed maxSeqLen, if there
  /// are not enough blocks, or if the layer does not exist.
  Expected<Reservation> reserve(int64_t layer, const Tensor &seqIds,
                                int64_t numTokens, int64_t rowBlocks);

  /// Extends sequence seqIds[b] by row b of keys [B, n, G, D] and values [B, n,
  /// G, V]: reserve(), then appendSlots(). Returns rows of block indices [B,
  /// rowBlocks].
  Expected<Tensor> appendSequences(int64_t layer, const Tensor &keys,
                                   const Tensor &values, const Tensor &seqIds,
                                   int64_t rowBlocks);

  /// The block tables [B, blocksPerSequence()] of the sequences that the rows
  /// of `indices` [B, n] or [B] identify, for reading seqLens[b] tokens; a row
  /// of length 0 is -1. Fails like findBlockTables() of BlockTables.h.
  Expected<Tensor> findBlockTables(int64_t layer, const Tensor &indices,
                                   const Tensor &seqLens) const;

  /// Keys [B, n, G, D] and values [B, n, G, V] of the first seqLens[b] tokens
  /// of the sequence that row b of `indices` identifies, padded with zeros.
  /// Fails like findBlockTables(), and if a length is greater than n.
  Expected<std::pair<Tensor, Tensor>> lookup(int64_t layer,
                                             const Tensor &indices,
                                             const Tensor &seqLens,
                                             int64_t numTokens) const;

  /// dstIds[b] becomes a new sequence with the tokens of srcIds[b]; blocks are
  /// shared until either sequence writes. Fails without side effects if a
  /// source does not exist or a destination does.
  Status fork(const Tensor &srcIds, const Tensor &dstIds);

  /// Removes the sequences. Fails without side effects if one does not exist or
  /// is listed twice.
  Status free(const Tensor &seqIds);

  /// The state in a slot, from `offset` on in the record of a layer; zeros at
  /// first. Fails if the state that starts there has another shape, or if a
  /// number is negative. Valid as long as the cache.
  Expected<Tensor *> state(int64_t layer, int64_t offset, int64_t slot,
                           const Shape &shape);

  /// Length of a sequence; 0 for an unknown id.
  int64_t sequenceLength(int64_t id) const;
  /// Blocks of a sequence in order; empty for an unknown id.
  std::vector<int32_t> blockTable(int64_t id) const;

  /// Ids of all sequences, ascending.
  std::vector<int64_t> sequenceIds() const;
  /// Equality of geometry, sequences, their blocks, the contents of all blocks,
  /// and the states.
  bool sameAs(const PagedCache &other) const;

  bool isLayer(int64_t layer) const {
    return layer >= 0 && layer < facts.layers;
  }
  /// Key [D] and value [V] of a token in an existing block; zeros if not
  /// written.
  const double *key(int64_t layer, int64_t block, int64_t offset,
                    int64_t head) const;
  const double *value(int64_t layer, int64_t block, int64_t offset,
                      int64_t head) const;

private:
  struct Sequence {
    std::vector<int32_t> table;
    std::vector<int64_t> layerLengths; ///< [layer]
    int64_t length() const;            ///< Maximum over the layers.
  };
  /// Keys [blockSize, G, D], then values [blockSize, G, V].
  using Block = std::vector<double>;

  Status checkLayer(int64_t layer) const;
  Status checkDistinct(const Tensor &ids) const;
  Status grow(int64_t id, Sequence &sequence, int64_t first, int64_t count);
  Sequence &findOrAdd(int64_t id);
  int64_t keyNumbers() const {
    return facts.blockSize * facts.heads * facts.headDim;
  }
  int64_t valueNumbers() const {
    return facts.blockSize * facts.heads * facts.valueDim;
  }
  Block &writable(int64_t layer, int64_t block);
  const Block &readable(int64_t layer, int64_t block) const;
  void store(int64_t layer, int64_t block, int64_t offset, const double *keys,
             const double *values);

  CacheGeometry facts;
  mlir::llm::runtime::BlockManager manager;
  std::map<int64_t, Sequence> sequences;
  /// Written blocks by (layer, block).
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<Block>> blocks;
  std::shared_ptr<const Block> zeros;
  /// By layer, offset and slot.
  std::map<std::array<int64_t, 3>, Tensor> states;
};

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_CACHE_H
