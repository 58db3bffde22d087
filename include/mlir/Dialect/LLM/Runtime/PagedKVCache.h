//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and values of many sequences, for all layers, in blocks of one pool.
//
//   PagedKVCache cache(numLayers, numHeads, headDim, blockSize, maxSeqLen,
//                      KVElementType::BF16);
//   cache.appendKV(keyPtr, valuePtr, batchSize, seqLen, seqIds, blockIndices);
//   cache.lookupKV(blockIndices, seqLens, batchSize, outputKeys, outputValues);
//
// `blockIndices` is the block table of each sequence of the batch, [batch,
// blocksPerSequence()] in both functions: an append writes it, a lookup reads
// it. BlockTables.h says what such a row means and which rows are refused.
//
// The pool is `[layer][block][KV head][K tile, V tile]` (KVBlockLayout.h), the
// layout that generated code reads and writes; a block has the same number in
// every layer. It is mapped once, as zero pages. A block is zeroed when it is
// given to a sequence and shared after a fork until someone writes to it.
//
// Every function that can fail returns a Status, and then has changed nothing.
// Not thread-safe: one thread owns the cache; the workers of a step touch the
// pool's memory only.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H
#define MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/BlockManager.h"
#include "mlir/Dialect/LLM/Runtime/BlockTables.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mlir {
class Type;
}

namespace mlir::llm::runtime {

/// What one element of K or V is stored as: F32, F16, BF16, or Q8.
using KVElementType = ::llmir::KVFormat;

/// Bytes of one element as callers give it and get it: stored as it is, but for
/// Q8, which callers know as f32.
inline int64_t kvElementBytes(KVElementType type) {
  return type == KVElementType::Q8 ? 4 : ::llmir::kvStoredBytes(type);
}

/// The caller's name of a sequence.
using SequenceId = int64_t;

/// One sequence's wish for room, and how much.
struct KVReservation {
  SequenceId sequence;
  int64_t numTokens; ///< At least 1.
};

struct PagedKVCacheOptions {
  /// Blocks of the pool, per layer. 0: enough for 8 sequences of maxSeqLen;
  /// their memory is promised by the system only when it is first touched.
  int64_t numBlocks = 0;
  /// Head size of V; 0: the same as K's.
  int64_t valueDim = 0;
  /// Unreadable pages around each layer, so that a stray access stops the
  /// program. For tests.
  bool guardPages = false;
};

class PagedKVCache {
public:
  /// `numHeads` are KV heads; `maxSeqLen` bounds one sequence; `valueDim` is
  /// the head size of V where it is not K's `headDim`. Sizes that cannot be, or
  /// memory that is not there, leave a cache whose status() and every other
  /// function say so.
  PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
               int64_t blockSize, int64_t maxSeqLen, KVElementType elementType,
               int64_t valueDim = 0);
  PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
               int64_t blockSize, int64_t maxSeqLen, KVElementType elementType,
               const PagedKVCacheOptions &options);
  /// The same with MLIR's f32, f16, bf16 or i8 (Q8). Defined in
  /// LLMIRRuntimeBridge, which links MLIR; the cache itself does not.
  PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
               int64_t blockSize, int64_t maxSeqLen, mlir::Type elementType,
               int64_t valueDim = 0);
  ~PagedKVCache();
  PagedKVCache(const PagedKVCache &) = delete;
  PagedKVCache &operator=(const PagedKVCache &) = delete;

  /// Whether construction succeeded.
  const ::llmir::Status &status() const { return constructed; }

  //===--------------------------------------------------------------------===//
  // Append and look up by value
  //===--------------------------------------------------------------------===//

  /// Appends `seqLen` tokens to each of `batchSize` sequences, in all layers.
  /// A sequence that is not there yet is created. Shapes, in elements of the
  /// cache's type, f32 where that is Q8:
  ///   keyPtr, valuePtr  [layers, batch, seq, heads, dim], each with its own
  ///                     head size
  ///   seqIds            [batch], all different
  ///   blockIndices      [batch, blocksPerSequence()] out: the block table of
  ///                     each sequence after the append, -1 past its last
  ///                     block; may be null
  /// Fails with OutOfRange (longer than maxSeqLen), ResourceExhausted (no free
  /// blocks) or InvalidArgument.
  ::llmir::Status appendKV(const void *keyPtr, const void *valuePtr,
                           int64_t batchSize, int64_t seqLen,
                           const int32_t *seqIds, int32_t *blockIndices);

  /// The same for one layer: data [batch, seq, heads, dim]; `blockIndices` is
  /// the same, since blocks have the same numbers in all layers. The tokens
  /// follow those that this layer already has, so the layers may be appended
  /// one after another.
  ::llmir::Status appendKV(int64_t layer, const void *keyPtr,
                           const void *valuePtr, int64_t batchSize,
                           int64_t seqLen, const int32_t *seqIds,
                           int32_t *blockIndices);

  /// Gathers the first seqLens[b] tokens of the sequence that row b of
  /// `blockIndices` names.
  ///   blockIndices  [batch, blocksPerSequence()]: the block table of a
  ///                 sequence, as an append or fillBlockTable() writes it, or
  ///                 any run of its blocks, then -1; not read where seqLens[b]
  ///                 is 0
  ///   seqLens       [batch], at most the tokens that the sequence has in every
  ///                 layer that is read
  ///   outputKeys, outputValues
  ///                 [layers, batch, L, heads, dim] with L the greatest of
  ///                 seqLens; what is past a sequence's end is zero
  /// Fails with OutOfRange for a length, with InvalidArgument for a row that
  /// names no sequence (see findBlockTables()).
  ::llmir::Status lookupKV(const int32_t *blockIndices, const int32_t *seqLens,
                           int64_t batchSize, void *outputKeys,
                           void *outputValues) const;

  /// The same for one layer: output [batch, L, heads, dim].
  ::llmir::Status lookupKV(int64_t layer, const int32_t *blockIndices,
                           const int32_t *seqLens, int64_t batchSize,
                           void *outputKeys, void *outputValues) const;

  /// Writes the rows that appendKV() writes, without an append: `table` [batch,
  /// blocksPerSequence()], -1 past a sequence's last block, and `seqLens`
  /// [batch] (may be null).
  ::llmir::Status fillBlockTable(const int32_t *seqIds, int64_t batchSize,
                                 int32_t *table, int32_t *seqLens) const;

  //===--------------------------------------------------------------------===//
  // Tokens by their place, for callers that have block tables
  //===--------------------------------------------------------------------===//

  /// Writes token t of `keys` and `values`, [tokens, heads, dim] each with its
  /// own head size, to slots[t] = block * blockSize + offset of one layer.
  /// Lengths of sequences stay as they are: reserve() has set them. Fails with
  /// InvalidArgument when there is no such layer or slot.
  ::llmir::Status storeTokens(int64_t layer, ::llmir::Span<const int32_t> slots,
                              const void *keys, const void *values);

  /// Reads the first `numTokens` tokens of a block table of one layer. Fails
  /// with InvalidArgument when there is no such layer or block, or the table
  /// has too few.
  ::llmir::Status loadTokens(int64_t layer, ::llmir::Span<const int32_t> table,
                             int64_t numTokens, void *keys, void *values) const;

  //===--------------------------------------------------------------------===//
  // Sequences, for who writes the pool himself (the executor)
  //===--------------------------------------------------------------------===//

  /// A new, empty sequence. Fails with InvalidArgument when the id is taken.
  ::llmir::Status createSequence(SequenceId sequence);
  /// Forgets a sequence and gives back the blocks that nobody else uses.
  ::llmir::Status freeSequence(SequenceId sequence);
  bool hasSequence(SequenceId sequence) const;

  /// Lengthens every listed sequence, in all layers, or none of them. `slots`
  /// (as many as tokens, in order of the list) receives block * blockSize +
  /// offset of each new token. The caller writes the tokens there. A sequence
  /// is listed once. Allocates no memory.
  ::llmir::Status reserve(::llmir::Span<const KVReservation> list,
                          ::llmir::Span<int32_t> slots);
  ::llmir::Status reserve(SequenceId sequence, int64_t numTokens,
                          ::llmir::Span<int32_t> slots);

  /// The same for one layer: `numTokens` for each of the sequences, which
  /// follow those that this layer already has; a sequence that is not there yet
  /// is created. `slots` is [sequences][numTokens].
  ::llmir::Status reserveLayer(int64_t layer, int64_t numTokens,
                               ::llmir::Span<const int32_t> seqIds,
                               ::llmir::Span<int32_t> slots);

  /// Ok when reserve() of this list would succeed; changes nothing.
  ::llmir::Status checkReserve(::llmir::Span<const KVReservation> list);

  /// Makes `target` a new sequence that begins with the first `numTokens`
  /// tokens of `source` (all of them by default), without copying: a shared
  /// block is copied when one of its owners writes to it.
  ::llmir::Status fork(SequenceId source, SequenceId target);
  ::llmir::Status fork(SequenceId source, SequenceId target, int64_t numTokens);

  /// Forks each of `sources`, all of which are there before, to the entry of
  /// `targets`, or none of them.
  ::llmir::Status forkSequences(::llmir::Span<const int32_t> sources,
                                ::llmir::Span<const int32_t> targets);
  /// Forgets all sequences of a list, or none of them.
  ::llmir::Status freeSequences(::llmir::Span<const int32_t> list);

  /// Drops the tokens from position `length` on.
  ::llmir::Status truncate(SequenceId sequence, int64_t length);

  /// Blocks of the sequence in order: ceil(length / block size) entries (I7);
  /// valid until the sequence changes. Empty for an unknown sequence.
  ::llmir::Span<const int32_t> blockTable(SequenceId sequence) const;

  /// Tokens of the sequence; 0 for an unknown one.
  int64_t getSequenceLength(SequenceId sequence) const;
  /// Those of one layer, where the layers are written one after another.
  int64_t getSequenceLength(SequenceId sequence, int64_t layer) const;

  /// The LLMIR specification's names: freeSequence, and all sequences at once.
  ::llmir::Status clearSequence(SequenceId sequence) {
    return freeSequence(sequence);
  }
  void reset();

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  int64_t getNumLayers() const { return layers; }
  int64_t getNumHeads() const { return layout.numKVHeads; }
  int64_t getHeadDim() const { return layout.headDim; }
  int64_t getValueDim() const { return layout.valueDim(); }
  int64_t getBlockSize() const { return layout.blockSize; }
  int64_t getMaxSeqLen() const { return longest; }
  KVElementType getElementType() const { return type; }
  int64_t getNumSequences() const {
    return static_cast<int64_t>(sequences.size());
  }
  /// Bytes of the pool, used or not.
  int64_t getTotalMemoryUsage() const { return poolBytes; }

  /// Row stride of block tables: ceil(maxSeqLen / blockSize).
  int64_t blocksPerSequence() const;
  CacheBounds bounds() const {
    return {manager.numBlocks(), layout.blockSize, longest};
  }
  const ::llmir::KVBlockLayout &blockLayout() const { return layout; }
  const BlockManager &blocks() const { return manager; }
  /// Base of the pool and bytes from one layer to the next: `kv_pool` and
  /// `kv_layer_stride` of the step context.
  uint8_t *pool() const { return poolBase; }
  int64_t layerStride() const { return strideBytes; }

  /// I1-I5, I7 and the pool's own: the counts of references equal the entries
  /// of all tables. Slow; for tests.
  ::llmir::Status checkInvariants() const;

  /// The block table of the sequence that each row names, for a reader of one
  /// layer, or of all of them where `layer` is -1; valid until a sequence
  /// changes. See the function of this name in BlockTables.h.
  ::llmir::Expected<std::vector<::llmir::Span<const int32_t>>>
  findBlockTables(int64_t layer, const IndexRows &blockIndices,
                  ::llmir::Span<const int64_t> seqLens) const;

private:
  struct Sequence {
    std::vector<int32_t> table; ///< Blocks in order; capacity for maxSeqLen.
    int64_t length = 0;         ///< Tokens of the layer that has most.
    std::vector<int32_t> layerLengths; ///< [layer] tokens written.
    bool evenLayers = true;            ///< All layers have `length` tokens.
    bool dirtyTail = false;            ///< The last block holds dropped tokens.
    uint64_t lastListed = 0; ///< Stamp that finds a sequence listed twice.
  };

  ::llmir::Status checkSharedPrefixes() const;
  ::llmir::Status initialize(const PagedKVCacheOptions &options);
  ::llmir::Status checkGeometry() const;
  ::llmir::Status mapPool(int64_t numBlocks, bool lazy, bool guardPages);
  const Sequence *find(SequenceId sequence) const;
  Sequence *find(SequenceId sequence);
  Sequence &addSequence(SequenceId sequence);
  void releaseBlocks(Sequence &sequence, size_t keep);

  ::llmir::Status planGrowth(SequenceId id, const Sequence *sequence,
                             int64_t first, int64_t numTokens, int64_t &needed);
  ::llmir::Status finishPlan(int64_t needed);
  void grow(Sequence &sequence, int64_t first, int64_t numTokens);
  void setLayerLength(Sequence &sequence, int64_t layer, int64_t length);
  int32_t takeZeroedBlock();
  void copyBlock(int32_t from, int32_t to);
  void zeroBlock(int32_t block);
  void zeroTail(int32_t block, int64_t firstToken);

  ::llmir::Status planAppend(int64_t firstLayer, int64_t numLayers,
                             int64_t batchSize, int64_t seqLen,
                             const int32_t *seqIds);
  ::llmir::Status appendLayers(int64_t firstLayer, int64_t numLayers,
                               const void *keys, const void *values,
                               int64_t batchSize, int64_t seqLen,
                               const int32_t *seqIds, int32_t *blockIndices);
  ::llmir::Status lookupLayers(int64_t firstLayer, int64_t numLayers,
                               const int32_t *blockIndices,
                               const int32_t *seqLens, int64_t batchSize,
                               void *outputKeys, void *outputValues) const;
  void storeToken(int64_t layer, int32_t block, int64_t offset,
                  const uint8_t *keys, const uint8_t *values);
  void loadToken(int64_t layer, int32_t block, int64_t offset, uint8_t *keys,
                 uint8_t *values) const;
  uint8_t *blockAddress(int64_t layer, int32_t block) const {
    return poolBase + layer * strideBytes + block * layout.blockBytes();
  }

  ::llmir::Status constructed;
  ::llmir::KVBlockLayout layout{};
  int64_t layers = 0;
  int64_t longest = 0;
  KVElementType type = KVElementType::F32;

  uint8_t *poolBase = nullptr;
  int64_t poolBytes = 0;
  int64_t strideBytes = 0;
  void *mapping = nullptr;
  uint64_t mappingBytes = 0;

  BlockManager manager;
  std::vector<uint8_t> touched; ///< [block] was used since the pool was mapped.
  std::vector<int32_t> planned; ///< [block] copies planned by checkReserve.
  std::vector<int32_t> plannedBlocks; ///< Those entries that are not zero.
  uint64_t stamp = 0;
  std::unordered_map<SequenceId, Sequence> sequences;
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H
