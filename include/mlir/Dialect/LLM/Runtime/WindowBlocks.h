//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of layers whose tokens read only the last few tokens. Does not
// know the contents of blocks.
//
// Each block belongs to a main block, one of the layers that keep all tokens,
// which holds the same tokens. It is held by those sequences with the main
// block that still need it, and by the prefix tree if it is shared there; when
// the last one gives it up, it is free, and the main block has none. A block
// that only the tree holds is idle: it is taken for another main block when
// none is free, that which has been idle the longest first.
//
// All memory is allocated by the constructor. Not thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_WINDOWBLOCKS_H
#define MLIR_DIALECT_LLM_RUNTIME_WINDOWBLOCKS_H

#include "mlir/Dialect/LLM/Runtime/BlockManager.h"
#include "mlir/Dialect/LLM/Runtime/PrefixTree.h"

#include <cstdint>
#include <vector>

namespace mlir::llm::runtime {

class WindowBlocks {
public:
  /// `window` is the number of tokens, including its own, that a token reads;
  /// blocks have `blockSize` tokens.
  WindowBlocks(int64_t window, int64_t blockSize, int64_t numBlocks,
               int64_t numMainBlocks);

  int64_t window() const { return size; }
  int64_t numBlocks() const { return manager.numBlocks(); }
  int64_t numFree() const { return manager.numFree(); }
  int64_t numIdle() const { return idle.size(); }
  int64_t numAvailable() const { return numFree() + numIdle(); }
  int64_t numEvicted() const { return evicted; }

  /// The index in a sequence of the first block that the token at `position`
  /// and later ones need. Attention reads whole spans of kAttentionSpan.
  int64_t firstNeeded(int64_t position) const;
  /// The most blocks of a sequence that holds only what it needs, while it
  /// computes up to `newTokens` at a time.
  static int64_t mostHeld(int64_t window, int64_t blockSize, int64_t newTokens);

  /// The block of a main block; -1 if it has none.
  int32_t of(int32_t mainBlock) const {
    return blockOf[static_cast<size_t>(mainBlock)];
  }
  bool has(int32_t mainBlock) const { return of(mainBlock) >= 0; }
  /// Whether only the tree holds the block of a main block.
  bool isIdle(int32_t mainBlock) const {
    return has(mainBlock) && idle.contains(of(mainBlock));
  }
  /// Sequences that hold the block of a main block.
  int32_t numHolders(int32_t mainBlock) const;

  /// Gives a main block without one a block, held by one sequence. Requires
  /// numAvailable() > 0.
  void attach(int32_t mainBlock);
  /// Whether the block had been used when it was attached.
  bool wasUsedBefore(int32_t mainBlock) const {
    return uses[static_cast<size_t>(of(mainBlock))] > 1;
  }
  /// Adds and removes a sequence that holds the block.
  void hold(int32_t mainBlock);
  void release(int32_t mainBlock);
  /// Moves a block, with those that hold it, to a main block without one. It
  /// must not be shared.
  void move(int32_t from, int32_t to);
  /// Adds and removes the tree; ignored if the main block has no block. A block
  /// that is removed from the tree must be idle.
  void share(int32_t mainBlock);
  void unshare(int32_t mainBlock);

  /// Slow; for tests. `holders` is the number of sequences that hold the block
  /// of each main block, and `prefixes` the tree.
  ::llmir::Status checkInvariants(const std::vector<int32_t> &holders,
                                  const PrefixTree &prefixes) const;

private:
  void evictOldest();
  void detach(int32_t mainBlock);

  int64_t size, tokensPerBlock;
  BlockManager manager;
  std::vector<int32_t> blockOf;  ///< [main block]
  std::vector<int32_t> owner;    ///< [block] its main block.
  std::vector<uint8_t> isShared; ///< [block]
  std::vector<uint8_t> uses;     ///< [block] times it was attached, at most 2.
  IndexQueue idle;               ///< Of blocks.
  int64_t evicted = 0;
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_WINDOWBLOCKS_H
