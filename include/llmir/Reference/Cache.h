//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A paged KV cache as a value: copying it is cheap, and what is written to a
// copy does not show in the original. It gives out the same block numbers as
// the runtime's PagedKVCache, whose BlockManager it shares.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_CACHE_H
#define LLMIR_REFERENCE_CACHE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/BlockManager.h"
#include "mlir/Dialect/LLM/Runtime/BlockTables.h"

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

  /// Most blocks of one sequence.
  int64_t blocksPerSequence() const {
    return (maxSeqLen + blockSize - 1) / blockSize;
  }
};

class PagedCache {
public:
  /// Empty. Without a stated number there are blocks for 8 sequences of
  /// maxSeqLen, as in PagedKVCache.
  explicit PagedCache(const CacheGeometry &geometry, int64_t numBlocks = 0);

  const CacheGeometry &geometry() const { return facts; }
  int64_t numBlocks() const { return manager.numBlocks(); }
  mlir::llm::runtime::CacheBounds bounds() const {
    return {numBlocks(), facts.blockSize, facts.maxSeqLen};
  }

  /// Token t of keys [T, G, D] and values [T, G, V] goes to slot slots[t] =
  /// block · blockSize + offset, rounded to the cache's type. Fails, and then
  /// has changed nothing, when a slot or the layer does not exist.
  Status appendSlots(int64_t layer, const Tensor &keys, const Tensor &values,
                     const Tensor &slots);

  struct Reservation {
    Tensor slots;        ///< [B · n] where each new token goes.
    Tensor blockIndices; ///< [B, rowBlocks] rows that name the sequences.
    Tensor blockTables;  ///< [B, blocksPerSequence()], -1 past the last block.
    Tensor seqLens;      ///< [B] tokens in this layer, the new ones included.
  };
  /// Makes room for n tokens in each sequence, after those that this layer has.
  /// A new id starts a sequence; a shared block that would be written is copied
  /// first. Rows of block indices are what BlockTables.h says. Fails, and then
  /// has changed nothing, when a sequence is listed twice or would pass
  /// maxSeqLen, blocks run out, or the layer does not exist.
  Expected<Reservation> reserve(int64_t layer, const Tensor &seqIds,
                                int64_t numTokens, int64_t rowBlocks);

  /// Lengthens sequence seqIds[b] by row b of keys [B, n, G, D] and values
  /// [B, n, G, V]: reserve(), then appendSlots(). Returns rows of block indices
  /// [B, rowBlocks].
  Expected<Tensor> appendSequences(int64_t layer, const Tensor &keys,
                                   const Tensor &values, const Tensor &seqIds,
                                   int64_t rowBlocks);

  /// The block tables [B, blocksPerSequence()] of the sequences that the rows
  /// of `indices` [B, n] or [B] name, for readers of seqLens[b] tokens; -1 in a
  /// row of length 0. Fails as findBlockTables() of BlockTables.h does.
  Expected<Tensor> findBlockTables(int64_t layer, const Tensor &indices,
                                   const Tensor &seqLens) const;

  /// Keys [B, n, G, D] and values [B, n, G, V] of the first seqLens[b] tokens
  /// of the sequence that row b of `indices` names, zeros after them. Fails as
  /// findBlockTables() does, and where a length is more than n.
  Expected<std::pair<Tensor, Tensor>> lookup(int64_t layer,
                                             const Tensor &indices,
                                             const Tensor &seqLens,
                                             int64_t numTokens) const;

  /// dstIds[b] becomes a new sequence with the tokens of srcIds[b]; blocks are
  /// shared until one of the two writes. Fails, and then has changed nothing,
  /// when a source does not exist or a target does.
  Status fork(const Tensor &srcIds, const Tensor &dstIds);

  /// Forgets the sequences. Fails, and then has changed nothing, when one does
  /// not exist or is listed twice.
  Status free(const Tensor &seqIds);

  /// Tokens of a sequence; 0 for an unknown one.
  int64_t sequenceLength(int64_t id) const;
  /// Blocks of a sequence in order; empty for an unknown one.
  std::vector<int32_t> blockTable(int64_t id) const;

  /// Ids of all sequences, ascending.
  std::vector<int64_t> sequenceIds() const;
  /// The same geometry, the same sequences in the same blocks, and the same
  /// numbers in all blocks.
  bool sameAs(const PagedCache &other) const;

  bool isLayer(int64_t layer) const {
    return layer >= 0 && layer < facts.layers;
  }
  /// Key [D] and value [V] of a token in a block that exists; zeros where
  /// nothing was written.
  const double *key(int64_t layer, int64_t block, int64_t offset,
                    int64_t head) const;
  const double *value(int64_t layer, int64_t block, int64_t offset,
                      int64_t head) const;

private:
  struct Sequence {
    std::vector<int32_t> table;
    std::vector<int64_t> layerLengths; ///< [layer]
    int64_t length() const;            ///< Of the layer that has most.
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
  /// By (layer, block); those that were written.
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<Block>> blocks;
  std::shared_ptr<const Block> zeros;
};

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_CACHE_H
