//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and values of many sequences for all layers, in the blocks of one pool.
//
//   PagedKVCache cache(numLayers, numHeads, headDim, blockSize, maxSeqLen,
//                      KVElementType::BF16);
//   cache.appendKV(keyPtr, valuePtr, batchSize, seqLen, seqIds, blockIndices);
//   cache.lookupKV(blockIndices, seqLens, batchSize, outputKeys, outputValues);
//
// `blockIndices` is the block table of each sequence of the batch, [batch,
// blocksPerSequence()] in both functions: an append writes it, a lookup reads
// it. BlockTables.h documents the meaning of a row and which rows are rejected.
//
// The pool is `[layer][block][KV head][K tile, V tile]` (KVBlockLayout.h), the
// layout that generated code uses; block numbers are the same in every layer of
// a group. It is mapped once, as zero pages. A block is zeroed when a sequence
// gets it. Forked sequences share blocks until one of them is written (copy on
// write).
//
// Layers whose tokens read only the last few tokens may have windows. Layers
// with the same window are a group, with blocks of its own (WindowBlocks.h);
// those that lie before the windows of all tokens still to come are given back
// (releasePassed()). Group 0 are the layers without a window; it may have none,
// but has the blocks by which sequences and prefixes are known.
//
// Functions that can fail return a Status and change nothing if they fail.
// Not thread-safe: one thread owns the cache; the workers of a step only access
// the memory of the pool.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H
#define MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"
#include "mlir/Dialect/LLM/Runtime/BlockManager.h"
#include "mlir/Dialect/LLM/Runtime/BlockTables.h"
#include "mlir/Dialect/LLM/Runtime/PrefixTree.h"
#include "mlir/Dialect/LLM/Runtime/StatePool.h"
#include "mlir/Dialect/LLM/Runtime/WindowBlocks.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mlir {
class Type;
}

namespace mlir::llm::runtime {

/// The storage type of an element of K or V: F32, F16, BF16, or Q8.
using KVElementType = ::llmir::KVFormat;

/// Bytes of an element in the caller's arrays: the storage type, or f32 for Q8.
inline int64_t kvElementBytes(KVElementType type) {
  return type == KVElementType::Q8 ? 4 : ::llmir::kvStoredBytes(type);
}

/// An identifier chosen by the caller.
using SequenceId = int64_t;

/// A request to lengthen one sequence.
struct KVReservation {
  SequenceId sequence;
  int64_t numTokens; ///< At least 1.
};

struct PagedKVCacheOptions {
  /// Blocks of the pool, per layer. 0: enough for 8 sequences of maxSeqLen; the
  /// system commits their memory only when it is first touched.
  int64_t numBlocks = 0;
  /// Head size of V; 0: the same as K's.
  int64_t valueDim = 0;
  /// V is the first elements of K and is not stored: callers that store tokens
  /// pass it nevertheless.
  bool valuesInKeys = false;
  /// What layers without keys and values keep of each sequence. Such a cache is
  /// written by steps only (reserve()), not by value, and a sequence cannot go
  /// back: see fork() and truncate().
  StateGeometry states;
  /// [layer] How many tokens, including its own, a token reads; 0: all. Empty:
  /// all in every layer. A cache with windows is written by steps only.
  std::vector<int64_t> windows;
  /// Blocks for the layers of each window, in the order of distinctWindows().
  /// Empty: as many as numBlocks.
  std::vector<int64_t> windowBlocks;
  /// Keep blocks whose last sequence is freed, so that later sequences with the
  /// same first tokens can start with them (share()).
  bool keepsPrefixes = false;
  /// Surround each layer with unreadable pages, so that stray accesses fault.
  /// For tests.
  bool guardPages = false;
};

/// The different windows of layers in ascending order, without 0.
std::vector<int64_t> distinctWindows(::llmir::Span<const int64_t> windows);

/// What a cache contains and what it has done so far.
struct CacheStatistics {
  int64_t numBlocks = 0;
  int64_t freeBlocks = 0; ///< Without contents.
  int64_t idleBlocks = 0; ///< Kept for their prefixes; freed when needed.
  int64_t usedBlocks = 0; ///< Of sequences.
  int64_t sequences = 0;
  int64_t checkpoints = 0; ///< Kept states of layers.
  /// Tokens for which a prefix was looked up, and those that were found.
  int64_t lookedUpTokens = 0, foundTokens = 0;
  int64_t evictedBlocks = 0; ///< Idle blocks that were freed.
  int64_t copiedBlocks = 0;  ///< On writes, and for beginnings of blocks.
  /// The same for the blocks of all layers with windows.
  int64_t windowBlocks = 0, freeWindowBlocks = 0, idleWindowBlocks = 0,
          usedWindowBlocks = 0, evictedWindowBlocks = 0;
};

/// What a new sequence would start with.
struct CachedPrefix {
  int64_t tokens = 0;
  /// Available blocks that the start takes: those of the prefix that no
  /// sequence uses, and a new one if the prefix ends within a block.
  int64_t startBlocks = 0;
  /// The same for each window; empty if there are none.
  std::vector<int64_t> windowStartBlocks;
};

/// Which blocks of a sequence PagedKVCache::share() offers.
enum class SharedBlocks {
  Full,
  /// Also the last one if it is not full. The sequence's next token then needs
  /// a copy of it, so that this is for sequences that are about to be freed.
  All
};

class PagedKVCache {
public:
  /// `numHeads` is the number of KV heads; `maxSeqLen` bounds each sequence;
  /// `valueDim` is the head size of V if it differs from K's `headDim`. If
  /// sizes are invalid or memory cannot be allocated, status() and every other
  /// function report the failure.
  PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
               int64_t blockSize, int64_t maxSeqLen, KVElementType elementType,
               int64_t valueDim = 0);
  PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
               int64_t blockSize, int64_t maxSeqLen, KVElementType elementType,
               const PagedKVCacheOptions &options);
  /// The same for MLIR's f32, f16, bf16 or i8 (Q8). Defined in
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
  /// Creates sequences that do not exist. Shapes, in elements of the cache's
  /// type (f32 for Q8):
  ///   keyPtr, valuePtr  [layers, batch, seq, heads, dim], each with its own
  ///                     head size
  ///   seqIds            [batch], distinct
  ///   blockIndices      [batch, blocksPerSequence()] out: the block table of
  ///                     each sequence after the append, -1 past its last
  ///                     block; may be null
  /// Fails with OutOfRange (longer than maxSeqLen), ResourceExhausted (no free
  /// blocks) or InvalidArgument.
  ::llmir::Status appendKV(const void *keyPtr, const void *valuePtr,
                           int64_t batchSize, int64_t seqLen,
                           const int32_t *seqIds, int32_t *blockIndices);

  /// The same for one layer: data [batch, seq, heads, dim]; `blockIndices` is
  /// the same, since block numbers are the same in all layers. The tokens
  /// follow those already in this layer, so layers may be appended one after
  /// another.
  ::llmir::Status appendKV(int64_t layer, const void *keyPtr,
                           const void *valuePtr, int64_t batchSize,
                           int64_t seqLen, const int32_t *seqIds,
                           int32_t *blockIndices);

  /// Gathers the first seqLens[b] tokens of the sequence that row b of
  /// `blockIndices` identifies.
  ///   blockIndices  [batch, blocksPerSequence()]: the block table of a
  ///                 sequence, as written by an append or fillBlockTable(), or
  ///                 any run of its blocks, then -1; not read if seqLens[b]
  ///                 is 0
  ///   seqLens       [batch], at most the tokens that the sequence has in every
  ///                 layer that is read
  ///   outputKeys, outputValues
  ///                 [layers, batch, L, heads, dim] with L the maximum of
  ///                 seqLens; zero past a sequence's end
  /// Fails with OutOfRange for a length, with InvalidArgument for a row that
  /// does not identify a sequence (see findBlockTables()).
  ::llmir::Status lookupKV(const int32_t *blockIndices, const int32_t *seqLens,
                           int64_t batchSize, void *outputKeys,
                           void *outputValues) const;

  /// The same for one layer: output [batch, L, heads, dim].
  ::llmir::Status lookupKV(int64_t layer, const int32_t *blockIndices,
                           const int32_t *seqLens, int64_t batchSize,
                           void *outputKeys, void *outputValues) const;

  /// Writes the same rows as appendKV(), without appending: `table` [batch,
  /// blocksPerSequence()], -1 past a sequence's last block, and `seqLens`
  /// [batch] (may be null). Unsupported with windows, as lookupKV().
  ::llmir::Status fillBlockTable(const int32_t *seqIds, int64_t batchSize,
                                 int32_t *table, int32_t *seqLens) const;

  //===--------------------------------------------------------------------===//
  // Tokens by slot, for callers that have block tables
  //===--------------------------------------------------------------------===//

  /// Writes token t of `keys` and `values`, [tokens, heads, dim] each with its
  /// own head size, to slots[t] = block * blockSize + offset of one layer. Does
  /// not change the lengths of sequences, which reserve() has set. Fails with
  /// InvalidArgument if the layer or a slot does not exist.
  ::llmir::Status storeTokens(int64_t layer, ::llmir::Span<const int32_t> slots,
                              const void *keys, const void *values);

  /// Reads the first `numTokens` tokens of a block table of one layer. Fails
  /// with InvalidArgument if the layer or a block does not exist, or the table
  /// has too few blocks.
  ::llmir::Status loadTokens(int64_t layer, ::llmir::Span<const int32_t> table,
                             int64_t numTokens, void *keys, void *values) const;

  //===--------------------------------------------------------------------===//
  // Sequences, for callers that write to the pool themselves (the executor)
  //===--------------------------------------------------------------------===//

  /// Creates an empty sequence. Fails with InvalidArgument if the id is in use,
  /// and with ResourceExhausted if its state has no room.
  ::llmir::Status createSequence(SequenceId sequence);
  /// Removes a sequence and frees the blocks that no other sequence uses.
  ::llmir::Status freeSequence(SequenceId sequence);
  bool hasSequence(SequenceId sequence) const;

  /// Lengthens every listed sequence in all layers, or none of them. `slots`
  /// (one per token, in order of the list) receives block * blockSize + offset
  /// of each new token, to which the caller writes the token. Each sequence may
  /// be listed once. Allocates no memory. With windows, `slots` is
  /// [groups][tokens], and blocks that the sequences have passed are given back
  /// first, even if the function then fails.
  ::llmir::Status reserve(::llmir::Span<const KVReservation> list,
                          ::llmir::Span<int32_t> slots);
  ::llmir::Status reserve(SequenceId sequence, int64_t numTokens,
                          ::llmir::Span<int32_t> slots);

  /// The same for one layer: `numTokens` tokens for each of the sequences,
  /// after those already in this layer. Creates sequences that do not exist.
  /// `slots` is [sequences][numTokens].
  ::llmir::Status reserveLayer(int64_t layer, int64_t numTokens,
                               ::llmir::Span<const int32_t> seqIds,
                               ::llmir::Span<int32_t> slots);

  /// Fails as reserve() of this list would; changes nothing. Does not count the
  /// blocks that reserve() gives back first, as releasePassed() does.
  ::llmir::Status checkReserve(::llmir::Span<const KVReservation> list);

  /// Creates the sequence `target` with the first `numTokens` tokens of
  /// `source` (all of them by default) without copying: a shared block is
  /// copied when one of its owners writes to it. States of layers are copied at
  /// once; since they are those after the last token, a fork of fewer tokens
  /// (but not of none) is then Unsupported, and so is one of so few tokens that
  /// blocks in their windows have been given back.
  ::llmir::Status fork(SequenceId source, SequenceId target);
  ::llmir::Status fork(SequenceId source, SequenceId target, int64_t numTokens);

  /// Forks each of `sources`, which must exist before the call, to the
  /// corresponding entry of `targets`; forks all of them or none.
  ::llmir::Status forkSequences(::llmir::Span<const int32_t> sources,
                                ::llmir::Span<const int32_t> targets);
  /// Removes all sequences of a list, or none of them.
  ::llmir::Status freeSequences(::llmir::Span<const int32_t> list);

  /// Removes the tokens from position `length` on. If layers keep a state, only
  /// all tokens can be removed: others are Unsupported. The same holds for a
  /// length of which blocks in the windows have been given back.
  ::llmir::Status truncate(SequenceId sequence, int64_t length);

  /// Gives back the blocks before the windows of the sequence's next token and
  /// later ones; ignored for an unknown sequence. share() before offers them to
  /// others. Requires that the tokens so far have been computed.
  void releasePassed(SequenceId sequence);

  //===--------------------------------------------------------------------===//
  // Prefixes, for caches with PagedKVCacheOptions::keepsPrefixes
  //===--------------------------------------------------------------------===//

  bool keepsPrefixes() const { return prefixes.isEnabled(); }

  /// Offers the blocks of a sequence to later ones. `tokens` are the ids of the
  /// sequence's tokens from the first on; those that it does not have yet are
  /// ignored. Prefixes with different salts never match. A full block with the
  /// same tokens as one already offered is replaced by that one; so is the last
  /// block if the offered one has lost the blocks of its windows. If layers
  /// keep a state, others can start only at the end of the sequence, if its
  /// last offered block ends there and a slot for a copy of the state is free
  /// or kept by an older prefix.
  ///
  /// Fails with InvalidArgument if the sequence does not exist, its layers have
  /// different numbers of tokens, its blocks were offered with other tokens or
  /// another salt, or the cache does not keep prefixes.
  ::llmir::Status share(SequenceId sequence,
                        ::llmir::Span<const int32_t> tokens, uint64_t salt = 0,
                        SharedBlocks blocks = SharedBlocks::Full);

  /// Creates a sequence with the longest offered prefix of `tokens`. Its full
  /// blocks are shared; where it ends within a block, that block is copied, if
  /// one is available. With windows, it ends where all blocks in them exist.
  /// Returns the number of tokens. Since logits are results of computing a
  /// token, callers leave out the last one. Fails as createSequence(id).
  ::llmir::Expected<int64_t> createSequence(SequenceId sequence,
                                            ::llmir::Span<const int32_t> tokens,
                                            uint64_t salt = 0);

  /// The prefix with which createSequence() would start a sequence.
  CachedPrefix lookUp(::llmir::Span<const int32_t> tokens,
                      uint64_t salt = 0) const;

  /// Frees up to `count` idle blocks, the least recently used ones first;
  /// returns how many. Other functions do so when they need blocks.
  int64_t evict(int64_t count);

  CacheStatistics statistics() const;

  /// [block] 0 = free, -1 = idle (kept for its prefix), otherwise the number of
  /// sequences that have it.
  std::vector<int32_t> blockUses() const;

  /// Blocks for new tokens: free ones, and idle ones that would be evicted.
  int64_t numAvailable() const {
    return manager.numFree() + prefixes.numIdle();
  }

  /// Blocks that become available if the sequence is freed: those that no other
  /// sequence uses.
  int64_t numOwnBlocks(SequenceId sequence) const;
  /// The same for the blocks of a window, and those that the sequence holds.
  int64_t numOwnWindowBlocks(SequenceId sequence, size_t window) const;
  int64_t numWindowBlocks(SequenceId sequence, size_t window) const;
  /// Whether the next token of the sequence needs a copy of its last block,
  /// which is shared and not full.
  bool copiesLastBlock(SequenceId sequence) const;

  /// The sequence's blocks in order, ceil(length / block size) entries (I7);
  /// valid until the sequence changes. Empty for an unknown sequence.
  ::llmir::Span<const int32_t> blockTable(SequenceId sequence) const;

  /// Writes the sequence's blocks in a group's layers to the first entries of a
  /// row of `size` entries, at least as many as blockTable() has; 0 for those
  /// that were given back, and after the last one.
  void fillGroupTable(SequenceId sequence, int64_t group, int32_t *row,
                      int64_t size) const;

  /// The sequence's slot in states(); -1 for an unknown one, or without states.
  int32_t stateSlot(SequenceId sequence) const;
  /// The states of layers; empty if they keep none.
  const StatePool &states() const { return statePool; }

  /// Tokens of the sequence; 0 for an unknown one.
  int64_t getSequenceLength(SequenceId sequence) const;
  /// Tokens of one layer, if layers are written one after another.
  int64_t getSequenceLength(SequenceId sequence, int64_t layer) const;

  /// The LLMIR specification's name for freeSequence().
  ::llmir::Status clearSequence(SequenceId sequence) {
    return freeSequence(sequence);
  }
  /// Removes all sequences.
  void reset();

  //===--------------------------------------------------------------------===//
  // Properties
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
  /// Bytes of the pool of keys and values, used or not.
  int64_t getTotalMemoryUsage() const { return poolBytes; }

  /// Row stride of block tables: ceil(maxSeqLen / blockSize).
  int64_t blocksPerSequence() const;
  CacheBounds bounds() const {
    return {manager.numBlocks(), layout.blockSize, longest};
  }
  const ::llmir::KVBlockLayout &blockLayout() const { return layout; }
  const BlockManager &blocks() const { return manager; }
  /// The blocks of each window, ascending. Window i is that of group i + 1.
  const std::vector<WindowBlocks> &windows() const { return windowGroups; }
  int64_t numGroups() const {
    return static_cast<int64_t>(windowGroups.size()) + 1;
  }
  /// [layer] its group: `kv_groups` of the step context. If there is only one
  /// group, it has llmir::kvMaxLayers entries, since those of a program may
  /// share one of the cache.
  const int32_t *layerGroups() const;
  /// kvMaxLayers zeros: the groups if there is only one, or no cache.
  static const int32_t *singleGroup();
  /// Base of the pool, and bytes from one layer to the next: `kv_pool` and
  /// `kv_layer_stride` of the step context.
  uint8_t *pool() const { return poolBase; }
  int64_t layerStride() const { return strideBytes; }
  /// Bytes of addresses from pool() on; with windows, some have no memory.
  int64_t poolSpan() const { return strideBytes * layers; }

  /// Checks I1-I5, I7, and that the reference counts match the entries of all
  /// tables. Slow; for tests.
  ::llmir::Status checkInvariants() const;

  /// The block table of the sequence that each row identifies, for a reader of
  /// one layer, or of all layers if `layer` is -1; valid until a sequence
  /// changes. See the function of the same name in BlockTables.h.
  ::llmir::Expected<std::vector<::llmir::Span<const int32_t>>>
  findBlockTables(int64_t layer, const IndexRows &blockIndices,
                  ::llmir::Span<const int64_t> seqLens) const;

private:
  struct Sequence {
    std::vector<int32_t> table; ///< Blocks in order; capacity for maxSeqLen.
    int64_t length = 0;         ///< Tokens of the longest layer.
    std::vector<int32_t> layerLengths; ///< [layer] tokens written.
    bool evenLayers = true;            ///< All layers have `length` tokens.
    bool dirtyTail = false;            ///< The last block has removed tokens.
    uint64_t lastListed = 0; ///< Stamp used to detect duplicates in a list.
    int32_t stateSlot = -1;  ///< In the pool of states, if there is one.
    /// [window] The first entry of the table whose block there is held.
    std::vector<int32_t> firstKept;
  };

  ::llmir::Status checkSharedPrefixes() const;
  ::llmir::Status checkOwners(std::vector<int32_t> owners) const;
  ::llmir::Status initialize(const PagedKVCacheOptions &options);
  ::llmir::Status checkGeometry() const;
  ::llmir::Status initializeWindows(const PagedKVCacheOptions &options,
                                    int64_t numBlocks);
  ::llmir::Status mapPool(bool lazy, bool guardPages);
  ::llmir::Status protectLayers(int64_t page);
  /// The blocks of the layer's window; null if it has none.
  const WindowBlocks *windowOf(int64_t layer) const {
    const int32_t group =
        groups.empty() ? 0 : groups[static_cast<size_t>(layer)];
    return group == 0 ? nullptr : &windowGroups[static_cast<size_t>(group) - 1];
  }
  int64_t blocksOfLayer(int64_t layer) const {
    const WindowBlocks *window = windowOf(layer);
    return window ? window->numBlocks() : mainBlocks;
  }
  /// The number, in the layer's group, of a block; -1 if it was given back.
  int32_t blockIn(int64_t layer, int32_t block) const {
    const WindowBlocks *window = windowOf(layer);
    return window ? window->of(block) : block;
  }
  const Sequence *find(SequenceId sequence) const;
  Sequence *find(SequenceId sequence);
  ::llmir::Status checkByValue() const;
  Sequence &addSequence(SequenceId sequence);
  void release(Sequence &sequence);
  void releaseBlocks(Sequence &sequence, size_t keep);
  void releasePassed(Sequence &sequence);
  /// Calls fn(window) for the windows in which the sequence holds the block of
  /// an entry of its table.
  template <typename Fn>
  void forWindows(const Sequence &sequence, size_t entry, Fn &&fn) {
    for (size_t w = 0; w < windowGroups.size(); ++w)
      if (entry >= static_cast<size_t>(sequence.firstKept[w]))
        fn(windowGroups[w]);
  }
  /// Whether the blocks that the token after `length` tokens needs are held.
  bool holdsWindowsAt(const Sequence &sequence, int64_t length) const;
  void writeSlots(const Sequence &sequence, int64_t first, int32_t *slots,
                  size_t stride) const;

  ::llmir::Status planGrowth(SequenceId id, const Sequence *sequence,
                             int64_t first, int64_t numTokens, int64_t &needed);
  ::llmir::Status finishPlan(int64_t needed);
  void grow(Sequence &sequence, int64_t first, int64_t numTokens);
  void setLayerLength(Sequence &sequence, int64_t layer, int64_t length);
  /// A block with one owner; frees the oldest idle block if none is free.
  int32_t takeBlock();
  int32_t takeZeroedBlock();
  void addOwner(int32_t block);
  void removeOwner(int32_t block);
  void evictOldest();
  ::llmir::Status checkStateRoom(int64_t count) const;
  int32_t takeStateSlot();
  void dropOldestCheckpoint();
  void keepState(const Sequence &sequence, int32_t lastBlock);
  /// The blocks of a prefix: full ones, then perhaps the beginning of another.
  struct PrefixBlocks {
    std::vector<int32_t> full;
    PartialMatch last;
  };
  PrefixBlocks findPrefix(::llmir::Span<const int32_t> tokens,
                          uint64_t salt) const;
  int64_t tokensOf(const PrefixBlocks &prefix) const {
    return static_cast<int64_t>(prefix.full.size()) * layout.blockSize +
           prefix.last.tokens;
  }
  int64_t windowStartBlocks(const PrefixBlocks &prefix, size_t window) const;
  bool hasRoomToCopy(const PrefixBlocks &prefix) const;
  void copyBeginning(const PartialMatch &match, Sequence &sequence);
  void replaceBlock(Sequence &sequence, size_t entry, int32_t known);
  bool isInAllWindows(int32_t block) const;
  void shareLastBlock(Sequence &sequence, ::llmir::Span<const int32_t> tokens,
                      int32_t parent, uint64_t salt);
  void copyBlock(int32_t from, int32_t to);
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
  int64_t mainBlocks = 0; ///< Of group 0; known before `manager` has them.
  KVElementType type = KVElementType::F32;

  uint8_t *poolBase = nullptr;
  int64_t poolBytes = 0;
  int64_t strideBytes = 0;
  void *mapping = nullptr;
  uint64_t mappingBytes = 0;

  BlockManager manager;
  std::vector<WindowBlocks> windowGroups;
  std::vector<int32_t> groups;  ///< [layer]; empty if there is only one.
  std::vector<uint8_t> touched; ///< [block] was used since the pool was mapped.
  std::vector<int32_t> planned; ///< [block] copies planned by checkReserve().
  std::vector<int32_t> plannedBlocks; ///< The blocks with planned copies.
  uint64_t stamp = 0;
  StatePool statePool;
  PrefixTree prefixes; ///< One owner of each of its blocks.
  int64_t lookedUpTokens = 0, foundTokens = 0;
  int64_t evictedBlocks = 0, copiedBlocks = 0;
  std::unordered_map<SequenceId, Sequence> sequences;
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_PAGEDKVCACHE_H
