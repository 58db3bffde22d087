//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which dimension of each value of a model is that of the tokens.
//
// A step runs a model on the tokens of several sequences at once, which are
// concatenated. That is the model's result for each sequence if no op but
// attention over the cache combines elements of different tokens. The rules for
// that are here, one for each op: they follow the token dimension from operands
// to results, and refuse an op, by name, that combines or moves tokens.
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
  /// Follows the tokens from the ids that the entry takes, whose only dimension
  /// they are, through all subgraphs that it calls. Fails, with a diagnostic,
  /// where an op combines tokens or a value has another size that is not known.
  static mlir::FailureOr<TokenDimensions> compute(mllm::SubGraphOp entry,
                                                  mlir::SymbolTable &symbols);

  /// The value's dimension of tokens; nullopt where it is the same for all of
  /// them.
  std::optional<int64_t> of(mlir::Value value) const {
    auto known = dims.find(value);
    return known == dims.end() ? std::nullopt : std::optional(known->second);
  }

  /// The value's type in a step: any number of tokens, all other sizes static.
  mlir::RankedTensorType stepType(mlir::Value value) const;

private:
  explicit TokenDimensions(mlir::SymbolTable &symbols) : symbols(symbols) {}

  mlir::LogicalResult visit(mllm::SubGraphOp subgraph);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitCall(mllm::CallGraphOp call);
  mlir::LogicalResult checkSizes(mlir::Value value) const;

  mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Value, int64_t> dims;
  llvm::DenseSet<mlir::Operation *> visited; ///< Subgraphs.
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_TOKENDIMENSIONS_H
