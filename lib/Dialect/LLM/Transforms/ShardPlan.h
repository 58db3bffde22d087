//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which values of a module a tensor-parallel run divides among its ranks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::llm {

/// The plan of Megatron's decoder layer (arXiv 1909.08053): a projection whose
/// rows every rank has is divided by outputs (column parallel) when everything
/// up to the next projections works on parts of a row; those are divided by
/// inputs (row parallel) and leave one sum over the ranks.
class ShardPlan {
public:
  ShardPlan(ModuleOp module, int64_t numRanks);

  /// The dimension along which each rank has its part of the value, if it is
  /// divided.
  std::optional<int64_t> getDim(Value value) const {
    auto known = dims.find(value);
    return known == dims.end() ? std::nullopt
                               : std::optional<int64_t>(known->second);
  }
  bool isDivided(Value value) const { return dims.count(value) != 0; }

  /// True when the heads of the KV caches are divided. Either all caches of a
  /// module are, or none: a cache is one type through all functions.
  bool isCacheDivided() const { return cacheDivided; }

  /// A projection whose only use is the function's result: its parts are
  /// gathered, so that no rank multiplies the whole matrix.
  static bool isReturnedOnly(LinearOp op);

private:
  /// Every value that could be divided, judged by how it is made.
  void collectCandidates();
  std::optional<int64_t> candidateDim(Value value) const;
  std::optional<int64_t> candidateDim(Operation *op) const;
  /// Takes away candidates until each use of each can work on parts.
  void settle();
  bool isUseFine(OpOperand &use) const;
  bool isMadeFine(Value value) const;
  bool isCacheFine();

  ModuleOp module;
  int64_t numRanks;
  bool cacheDivided = true;
  llvm::MapVector<Value, int64_t> dims;
};

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDPLAN_H
