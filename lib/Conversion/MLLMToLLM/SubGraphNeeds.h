//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The additional arguments of the functions of subgraphs, which are collected
// and checked for the entire module before it is modified.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace llmir {

/// The arrays that describe a step's batch, in the order of function arguments.
/// T tokens, S sequences.
enum class BatchPiece {
  Positions,    ///< tensor<?xi32> [T]
  QueryOffsets, ///< tensor<?xi32> [S + 1]
  SeqLens,      ///< tensor<?xi32> [S]
  SlotMapping,  ///< tensor<?xi32> [T]
  BlockTables,  ///< tensor<?x?xi32> [S, blocks]
  StateSlots,   ///< tensor<?xi32> [S]; only of models that keep states
};
constexpr unsigned numBatchPieces = unsigned(BatchPiece::StateSlots) + 1;

/// The requirements of a subgraph and its callees.
struct SubGraphNeeds {
  bool batch[numBatchPieces] = {};
  bool embeds = false;
  llvm::SetVector<int64_t> layers;           ///< Of the cache.
  llvm::SetVector<int64_t> stateLayers;      ///< Of the pool of states.
  llvm::SetVector<mlir::StringAttr> weights; ///< In the order of first use.

  bool touchesCache() const { return !layers.empty() || !stateLayers.empty(); }
  /// True if the function has a layer number argument because it belongs to one
  /// layer. A subgraph that looks up embeddings is the model, even with one
  /// layer.
  bool takesLayer() const { return layerNumber().has_value() && !embeds; }
  /// The number of the layer that it belongs to, among those of its kind.
  std::optional<int64_t> layerNumber() const {
    llvm::SetVector<int64_t> all = layers;
    all.insert(stateLayers.begin(), stateLayers.end());
    if (all.size() == 1)
      return all.front();
    return std::nullopt;
  }
};

/// The needs of each subgraph reachable from the entry, callees first.
using NeedsMap = llvm::MapVector<mllm::SubGraphOp, SubGraphNeeds>;

/// Collects the needs of `entry` and all that it calls. Fails, with a
/// diagnostic, if the keys and values of a cache op do not match `facts` or are
/// used by an op other than attention, or if attention or a rotation has a form
/// that llm does not support for a ragged batch.
mlir::FailureOr<NeedsMap> collectNeeds(mllm::SubGraphOp entry,
                                       const mllm::ModelFacts &facts,
                                       mlir::SymbolTable &symbols);

/// Reports a declaration of a subgraph, which must be linked to its definition.
mlir::LogicalResult refuseWithoutBody(mllm::SubGraphOp subgraph);

/// The cache op whose keys and values `op` reads; null if `op` is not attention
/// over the keys and values of a single cache op.
mllm::KVCacheOp getCacheOp(mlir::Operation *op);

/// Whether the op adds no tokens: it reads the keys and values that another
/// layer has added in the same step and earlier.
bool onlyReads(mllm::KVCacheOp op);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_SUBGRAPHNEEDS_H
