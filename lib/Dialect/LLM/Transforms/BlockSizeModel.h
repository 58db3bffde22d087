//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cost model of block sizes, and analysis of which caches of a function can
// change theirs.
//
//   for (CacheUse &use : collectCacheUses(func)) {
//     BlockSizeCost now = getBlockSizeCost(use, blockSize, model);
//     …
//   }
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_BLOCKSIZEMODEL_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_BLOCKSIZEMODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

/// Parameters of the target and of the workload.
struct BlockSizeModel {
  /// Cost of switching blocks: bytes that a core could have read until the next
  /// block is found and the prefetcher has started.
  int64_t streamStartBytes = 256;
  /// Typical sequence length in tokens; 0: half of the longest.
  int64_t typicalLength = 0;
};

/// The uses of one cache type in a function.
struct CacheUse {
  PagedKVCacheType type;
  SmallVector<Value> values;
  SmallVector<Operation *> ops; ///< Users and producers, in order.
  int64_t longest = 0;          ///< Capacity of the block tables in tokens.
  bool sharesPrefixes = false;  ///< Whether a sequence is forked.
  /// The reason why the block size cannot change, and its location; empty if it
  /// can.
  std::string obstacle;
  Location obstacleLoc;
};

/// Returns one entry per cache type, in order of first use.
SmallVector<CacheUse> collectCacheUses(func::FuncOp func);

/// Cost components, as fractions from 0 to 1.
struct BlockSizeCost {
  double borders; ///< Fraction of read bandwidth lost on switching blocks.
  double unused;  ///< Fraction of cache memory left unused.
  double total() const { return borders + unused; }
};

/// With n tokens per sequence, `headBytes` bytes of K and V of one head per
/// block, and w unused tokens (half a block, and as many again if sequences
/// diverge in a shared block): borders = streamStartBytes / headBytes, unused =
/// w / (n + w).
BlockSizeCost getBlockSizeCost(const CacheUse &use, int64_t blockSize,
                               const BlockSizeModel &model);

/// Returns the candidate with the lowest cost, the smaller of two with the same
/// cost. Ignores candidates greater than the longest sequence, or that would
/// change the meaning of a lookup; if none remains, returns the block size of
/// the type.
int64_t chooseBlockSize(const CacheUse &use, ArrayRef<int64_t> candidates,
                        const BlockSizeModel &model);

/// Returns the type with a different block size.
PagedKVCacheType withBlockSize(PagedKVCacheType type, int64_t blockSize);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_BLOCKSIZEMODEL_H
