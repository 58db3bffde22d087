//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The division of attention into items, and of items among workers.
//
// An item is a tile of adjacent tokens of one sequence with query heads of one
// KV head, so that all its rows share every key and value. Keys are divided
// into chunks at fixed positions, each of which starts from zero; chunks are
// merged in ascending order. If a step splits its sequences, an item is one
// chunk, and its result is stored to a buffer of partial results; otherwise an
// item covers all chunks.
//
// Items are numbered over the step, and every worker can compute their costs. A
// worker processes the items whose midpoint is within its share of the total
// cost. Items with few rows are processed in groups of adjacent heads: span by
// span, all heads of each, in memory order. The result of a row does not depend
// on the worker or on the other rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_ATTENTIONWORK_H
#define LLMIR_LIB_CODEGEN_ATTENTIONWORK_H

#include "AttentionProducts.h"

namespace llmir {

/// The attributes of an attention kernel, or of a kernel that merges its
/// results.
struct AttentionOptions {
  int64_t heads, headDim, valueDim;
  int64_t kvHeads;
  int64_t itemHeads; ///< Number of query heads per item.
  double scale;
  bool causal;
  int64_t window;
  bool chunked; ///< The window begins at a multiple of its size.
  double softCap;
  llvm::ArrayRef<double> alibiSlopes;
  llvm::ArrayRef<int64_t> maskStrides;

  template <typename OpT>
  explicit AttentionOptions(OpT op)
      : heads(op.getHeads()), headDim(op.getHeadDim()),
        valueDim(op.getValueDim()), kvHeads(op.getKvHeads()),
        itemHeads(op.getShape().itemHeads()),
        scale(op.getScale().convertToDouble()), causal(op.getCausal()),
        window(op.getWindow()), chunked(op.getChunked()),
        softCap(op.getSoftCap().convertToDouble()),
        alibiSlopes(op.getAlibiSlopes().value_or(llvm::ArrayRef<double>())),
        maskStrides(op.getMaskStrides().value_or(llvm::ArrayRef<int64_t>())) {}
};

/// A tile of tokens of one sequence, and the union of the keys that its rows
/// see.
struct QueryTile {
  mlir::Value sequence;
  mlir::Value firstToken; ///< Index in the step.
  mlir::Value firstQuery; ///< Index among the sequence's tokens in the step.
  mlir::Value tokens;
  mlir::Value position; ///< Position of the first token; may be negative.
  mlir::Value length;   ///< Length of the sequence.
  mlir::Value keyBegin, keyEnd;
  mlir::Value firstChunk, chunkEnd;
  mlir::Value partials; ///< Number of (token, chunk) pairs before this tile.
};

/// A range of query heads and of chunks of a tile.
struct AttentionItem {
  QueryTile tile;
  mlir::Value firstHead;
  mlir::Value firstChunk, chunkEnd;
  /// The item's first row of partial results.
  mlir::Value partialRow;
};

/// Items of one worker that are processed together: blocks of heads [first,
/// end) of a tile.
struct AttentionGroup {
  QueryTile tile;
  mlir::Value firstBlock, blockEnd;
  mlir::Value firstChunk, chunkEnd;
};

class AttentionWork {
public:
  AttentionWork(KernelBuilder &kb, const AttentionOptions &options);

  /// Maximum number of rows of a group, where each item is padded to whole
  /// blocks.
  int64_t maxRows() const {
    return roundUpTo(headsPerItem * tokensPerItem, kRowBlock);
  }
  /// Number of rows of an item of the tile, padded to whole blocks.
  mlir::Value itemRows(const QueryTile &tile) {
    return kb.mul(ceilDiv(kb.mul(tile.tokens, headsPerItem), kRowBlock),
                  kRowBlock);
  }
  int64_t itemHeads() const { return headsPerItem; }

  /// Calls body(tile, carried) for every tile of the step, in order.
  using TileBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      const QueryTile &, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> overTiles(llvm::ArrayRef<mlir::Value> initial,
                                           TileBody body);
  /// Calls body(group) for every group of this worker. `split` is an i1.
  void overGroups(mlir::Value split,
                  llvm::function_ref<void(const AttentionGroup &)> body);
  /// The item of a block of heads of the group.
  AttentionItem itemOf(const AttentionGroup &group, mlir::Value headBlock);
  /// The row of partial results for a token of a tile, a head and a chunk
  /// (counted from 0).
  mlir::Value partialRow(const QueryTile &tile, mlir::Value token,
                         mlir::Value head, mlir::Value chunk);

  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value notNegative(mlir::Value value) { return max(value, kb.index(0)); }
  /// The first key in the window of a position, which may be negative.
  static mlir::Value firstKey(KernelBuilder &kb,
                              const AttentionOptions &options,
                              mlir::Value position);
  /// The end of the keys that a query at a position attends to, of a sequence
  /// of `length` keys.
  static mlir::Value keyEnd(KernelBuilder &kb, const AttentionOptions &options,
                            mlir::Value position, mlir::Value length);
  mlir::Value ceilDiv(mlir::Value value, int64_t by) {
    return kb.div(kb.add(value, by - 1), by);
  }

private:
  QueryTile makeTile(mlir::Value sequence, mlir::Value number,
                     mlir::Value partials);
  mlir::Value cost(const QueryTile &tile, mlir::Value split);
  mlir::Value countItems(const QueryTile &tile, mlir::Value split);
  mlir::Value itemPartials(const QueryTile &tile, mlir::Value headBlock,
                           mlir::Value chunk);
  void overGroupsOf(const QueryTile &tile, mlir::Value split, mlir::Value first,
                    mlir::Value end,
                    llvm::function_ref<void(const AttentionGroup &)> body);

  KernelBuilder &kb;
  const AttentionOptions &options;
  int64_t headsPerItem, headBlocks, tokensPerItem;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_ATTENTIONWORK_H
