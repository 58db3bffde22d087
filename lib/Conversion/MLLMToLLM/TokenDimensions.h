//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis of token dimensions of the values of a model.
//
// A step runs a model on the tokens of several sequences at once, which are
// concatenated. The results are those of each sequence alone if only attention
// over the cache combines elements of different tokens. The analysis has a rule
// per op, which propagates the token dimension from operands to results, and
// rejects ops that combine or move tokens.
//
// The entry may pool the tokens of a sequence to one row, by taking the row of
// the first or the last one, or their mean. The results are pooled, too: their
// token dimension has a row per sequence.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_TOKENDIMENSIONS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_TOKENDIMENSIONS_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace llmir {

class TokenDimensions {
public:
  /// Propagates the token dimension from the ids, the argument of the entry,
  /// through all subgraphs. Fails, with a diagnostic, if an op combines tokens
  /// or a value has another dynamic size.
  static mlir::FailureOr<TokenDimensions> compute(mllm::SubGraphOp entry,
                                                  mlir::SymbolTable &symbols);

  /// The token dimension of the value; nullopt if it is the same for all
  /// tokens.
  std::optional<int64_t> of(mlir::Value value) const {
    auto known = dims.find(value);
    return known == dims.end() ? std::nullopt : std::optional(known->second);
  }

  /// Whether the token dimension of the value has a row per sequence.
  bool isPooled(mlir::Value value) const { return pooled.contains(value); }

  /// The type of the value in a step: a dynamic number of tokens, all other
  /// sizes static.
  mlir::RankedTensorType stepType(mlir::Value value) const;

private:
  explicit TokenDimensions(mlir::SymbolTable &symbols) : symbols(symbols) {}

  mlir::LogicalResult visit(mllm::SubGraphOp subgraph);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitRows(mlir::Operation *op);
  mlir::LogicalResult visitCall(mllm::CallGraphOp call);
  mlir::LogicalResult checkSizes(mlir::Value value) const;

  mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Value, int64_t> dims;
  llvm::DenseSet<mlir::Value> pooled;
  llvm::DenseSet<mlir::Operation *> visited; ///< Subgraphs.
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_TOKENDIMENSIONS_H
