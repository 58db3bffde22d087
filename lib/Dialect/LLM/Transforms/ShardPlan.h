//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a module that tensor parallelism shards among ranks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::llm {

/// Follows Megatron's decoder layer (arXiv 1909.08053): a projection whose rows
/// every rank has is divided by outputs (column parallel) if all ops up to the
/// next projections can work on parts of a row; those are divided by inputs
/// (row parallel) and require one sum over the ranks.
class ShardPlan {
public:
  ShardPlan(ModuleOp module, int64_t numRanks);

  /// The dimension in which the value is sharded, if it is.
  std::optional<int64_t> getDim(Value value) const {
    auto known = dims.find(value);
    return known == dims.end() ? std::nullopt
                               : std::optional<int64_t>(known->second);
  }
  bool isDivided(Value value) const { return dims.count(value) != 0; }

  /// True if the heads of the KV caches are sharded. Either all caches of a
  /// module are, or none, since a cache has the same type in all functions.
  bool isCacheDivided() const { return cacheDivided; }

  /// True for a projection that is only returned: its shards are gathered, so
  /// that no rank multiplies the whole matrix.
  static bool isReturnedOnly(LinearOp op);

private:
  /// Collects the values whose producers allow sharding.
  void collectCandidates();
  std::optional<int64_t> candidateDim(Value value) const;
  std::optional<int64_t> candidateDim(Operation *op) const;
  /// Removes candidates until all of their uses can work on shards.
  void settle();
  bool isUseValid(OpOperand &use) const;
  bool isProducerValid(Value value) const;
  bool isCacheValid();

  ModuleOp module;
  int64_t numRanks;
  bool cacheDivided = true;
  llvm::MapVector<Value, int64_t> dims;
};

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H
