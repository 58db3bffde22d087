//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block size costs, and which caches of a function can have another one.
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

/// The numbers of the target and of the use that shapes do not say.
struct BlockSizeModel {
  /// Bytes that a core could have read while it finds the next block and its
  /// prefetcher starts.
  int64_t streamStartBytes = 256;
  /// Tokens of a usual sequence; 0: half of the longest.
  int64_t typicalLength = 0;
};

/// All values of one cache type in a function.
struct CacheUse {
  PagedKVCacheType type;
  SmallVector<Value> values;
  SmallVector<Operation *> ops; ///< That have such a value, in order.
  int64_t longest = 0;          ///< Tokens that block tables have room for.
  bool sharesPrefixes = false;  ///< Whether a sequence is forked.
  /// Why the block size cannot change here, and where; empty if it can.
  std::string obstacle;
  Location obstacleLoc;
};

/// One for each cache type, in order of appearance.
SmallVector<CacheUse> collectCacheUses(func::FuncOp func);

/// Shares of the whole, from 0 to 1.
struct BlockSizeCost {
  double borders; ///< Of reading: what is lost at borders of blocks.
  double unused;  ///< Of memory: what blocks hold in vain.
  double total() const { return borders + unused; }
};

/// With n tokens in a sequence, `headBytes` of K and V of one head in a block,
/// and w tokens in vain (half a block, and as much again where sequences part
/// in a shared block): borders = streamStartBytes / headBytes, unused =
/// w / (n + w).
BlockSizeCost getBlockSizeCost(const CacheUse &use, int64_t blockSize,
                               const BlockSizeModel &model);

/// The one of `candidates` that costs least, the smaller of two that cost the
/// same. Candidates beyond the longest sequence, or with which a lookup would
/// mean other tokens, are left out; if none is left, the type's block size.
int64_t chooseBlockSize(const CacheUse &use, ArrayRef<int64_t> candidates,
                        const BlockSizeModel &model);

/// The type with another block size.
PagedKVCacheType withBlockSize(PagedKVCacheType type, int64_t blockSize);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_BLOCKSIZEMODEL_H
