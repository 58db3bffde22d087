//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a subgraph's function needs beyond the subgraph's own arguments: found
// out, and checked, for the whole module before anything is changed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace llmir {

/// The arrays that describe a step's batch, in the order in which functions
/// take them. T tokens, S sequences.
enum class BatchPiece {
  Positions,    ///< tensor<?xi32> [T]
  QueryOffsets, ///< tensor<?xi32> [S + 1]
  SeqLens,      ///< tensor<?xi32> [S]
  SlotMapping,  ///< tensor<?xi32> [T]
  BlockTables,  ///< tensor<?x?xi32> [S, blocks]
};
constexpr unsigned numBatchPieces = unsigned(BatchPiece::BlockTables) + 1;

/// What a subgraph and the subgraphs that it calls use.
struct SubGraphNeeds {
  bool batch[numBatchPieces] = {};
  bool embeds = false;
  llvm::SetVector<int64_t> layers;           ///< Of the cache.
  llvm::SetVector<mlir::StringAttr> weights; ///< In the order of first use.

  bool touchesCache() const { return !layers.empty(); }
  /// True if the function takes its layer number: it belongs to one layer. A
  /// subgraph that looks up embeddings is the model, even of one layer.
  bool takesLayer() const { return layers.size() == 1 && !embeds; }
};

/// The needs of each subgraph that the entry reaches, callees first.
using NeedsMap = llvm::MapVector<mllm::SubGraphOp, SubGraphNeeds>;

/// Collects the needs of `entry` and all that it calls. Emits an error and
/// fails when the keys and values of a cache op do not fit `facts`, or are read
/// by another op than attention, and when attention or a rotation is not of the
/// form that the ops of llm have for a ragged batch.
mlir::FailureOr<NeedsMap> collectNeeds(mllm::SubGraphOp entry,
                                       const mllm::ModelFacts &facts,
                                       mlir::SymbolTable &symbols);

/// Reports that another module defines the subgraph, as modules that are to be
/// linked declare them.
mlir::LogicalResult refuseWithoutBody(mllm::SubGraphOp subgraph);

/// The cache op whose keys and values `attention` reads; null when they are
/// from elsewhere, or from two.
mllm::KVCacheOp getCacheOp(mllm::FlashAttention2Op attention);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H
