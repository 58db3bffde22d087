//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a step: the conversion of subgraphs for a ragged batch,
// except for their ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_STEPFORM_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_STEPFORM_H

#include "SubGraphNeeds.h"
#include "TokenDimensions.h"
#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace llmir {

/// Shared by all functions of a step.
struct StepModule {
  mlir::SymbolTable &symbols;
  const NeedsMap &needs;
  const TokenDimensions &tokens;
  mlir::llm::PagedKVCacheType cacheType;
  mllm::StateLayout states;

  const SubGraphNeeds &needsOf(mllm::SubGraphOp subgraph) const {
    return needs.find(subgraph)->second;
  }
  mlir::Type weightType(mlir::StringAttr name) const {
    return symbols.lookup<mllm::RegisterOp>(name).getType();
  }
};

/// The function of a subgraph in a step, and its values: the arrays of the
/// batch, the cache, the layer number, parameters. Lowerings use it for values
/// that are constants in a function of static shapes.
class StepFunction {
public:
  StepFunction(const StepModule &module, mllm::SubGraphOp source)
      : module(module), source(source), needs(module.needsOf(source)),
        builder(source), context(source.getContext()) {}

  /// Creates the private function of a subgraph, with unconverted ops.
  /// `isLayer`: it is an entire layer.
  void createPrivate(bool isLayer);
  /// Creates the public function @step of the entry in the same way.
  void createEntry();
  /// Lowers the ops by the table of lowerings; fails, with a diagnostic, if one
  /// cannot be lowered.
  mlir::LogicalResult lowerOps();
  mlir::func::FuncOp get() const { return function; }

  //===--------------------------------------------------------------------===//
  // Used by lowerings
  //===--------------------------------------------------------------------===//

  mlir::Value piece(BatchPiece piece) const { return batch[unsigned(piece)]; }
  /// Where the layers' states are in their records.
  const mllm::StateLayout &states() const { return module.states; }
  mlir::Value weight(mlir::StringAttr name) const {
    return weights.lookup(name);
  }
  /// The current cache value.
  mlir::Value getCache() const { return cache; }
  void setCache(mlir::Value updated) { cache = updated; }
  /// The layer number in this function: its argument, or a constant.
  mlir::Value layer(mlir::ImplicitLocOpBuilder &b, int64_t layer) const;
  /// The rows of x that the runtime asks for; in the entry only.
  mlir::Value selectRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
  /// The means of the rows of each sequence; in the entry only.
  mlir::Value meanRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
  /// The number of tokens in the step, an index.
  mlir::Value numTokens();
  /// The number of rows that an op processes: that of selected rows if it has
  /// such operands, otherwise that of the tokens.
  mlir::Value numRows(mlir::Operation *op);
  /// Called with the values that replace the results of an op.
  void replaced(mlir::Operation *op, mlir::ValueRange values);
  /// Token ids and positions are i32 in a step and may be i64 in the model: the
  /// i32 value before extension, or null.
  mlir::Value narrow(mlir::Value ids) const { return narrowIds.lookup(ids); }
  /// The value extended to this element type; narrow() returns the original.
  mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value ids,
                    mlir::Type element);
  /// Replaces the call of a subgraph by a call of its function.
  mlir::LogicalResult lowerCall(mllm::CallGraphOp call);

private:
  mlir::Value addArgument(mlir::Type type, llvm::Twine name);
  /// Clones the subgraph's ops, with the types of the step.
  void cloneBody(llvm::ArrayRef<mlir::Value> arguments);
  mlir::RankedTensorType argumentType(mlir::Value value) const;
  bool hasSelectedRows(mlir::Operation *op) const;

  const StepModule &module;
  mllm::SubGraphOp source;
  const SubGraphNeeds &needs;
  mlir::OpBuilder builder;
  mlir::MLIRContext *context;
  mlir::func::FuncOp function;

  mlir::Value batch[numBatchPieces];
  mlir::Value cache, layerArgument, logitRows, tokenCount, selectedCount;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> weights;
  llvm::DenseMap<mlir::Value, mlir::Value> narrowIds;
  llvm::DenseSet<mlir::Value> selected; ///< Selected rows, and results of them.
};

/// The name of the entry's function.
inline constexpr llvm::StringLiteral kStepName = "step";

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_STEPFORM_H
