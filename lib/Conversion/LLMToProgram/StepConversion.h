//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the step function to a program, op by op, in order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H

#include "LayerRuns.h"
#include "ProgramBuilder.h"

#include "llmir/Runtime/ABI/StepFields.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

namespace llmir {

/// What a tensor value of the step is in the program.
struct RowsValue {
  mlir::Value buffer;
  RowSpace over = RowSpace::Tokens;
  int64_t columns = 0; ///< Without padding.
};

/// Cosines and sines of one kind of rotation.
struct RopeTable {
  llvm::ArrayRef<double> frequencies;
  double scaling;
  mlir::Value cosines, sines;
};

class StepConversion {
public:
  StepConversion(mlir::ModuleOp module, mlir::func::FuncOp step,
                 int64_t tokenBudget, int64_t maxLogitRows)
      : module(module), step(step), tokenBudget(tokenBudget),
        maxLogitRows(maxLogitRows), program(module) {}

  mlir::LogicalResult convert();

private:
  mlir::LogicalResult bindStepArguments();
  mlir::LogicalResult emitRopeTables();
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  /// What the step returns must have been made in the logits buffer.
  mlir::LogicalResult checkLogits();

  mlir::LogicalResult convert(mlir::llm::EmbeddingOp op);
  mlir::LogicalResult convert(mlir::llm::LinearOp op);
  mlir::LogicalResult convert(mlir::llm::RMSNormOp op);
  mlir::LogicalResult convert(mlir::llm::RopeOp op);
  mlir::LogicalResult convert(mlir::llm::AppendKVOp op);
  mlir::LogicalResult convert(mlir::llm::PagedAttentionOp op);
  mlir::LogicalResult convert(mlir::llm::SelectRowsOp op);
  mlir::LogicalResult convertElementwise(mlir::Operation *root);
  mlir::LogicalResult convertReshape(mlir::Operation *op);

  // Runs of layers: StepLoops.cpp.
  mlir::LogicalResult convertRun(const LayerRun &run);
  /// Binds the callee's arguments to what the run passes: weights by layer,
  /// the step's arrays, the layer number, and rows.
  mlir::LogicalResult bindArguments(const LayerRun &run,
                                    mlir::func::FuncOp callee);
  /// Binds the argument that the loop writes over from turn to turn.
  void bindCarried(mlir::func::CallOp first, mlir::Value operand,
                   mlir::Value argument);
  /// Hands what a turn returns to the next turn, and to what follows the loop.
  mlir::LogicalResult handOn(const LayerRun &run, mlir::func::FuncOp callee);
  /// Copies \p from to \p to unless they are the same buffer.
  void copyRows(mlir::Location loc, RowsValue from, RowsValue to);

  /// The operand must be the step's own argument of that field.
  mlir::LogicalResult expectField(mlir::Operation *op, mlir::Value operand,
                                  StepField field);
  /// The layer register must hold the operand's layer (absent: layer 0).
  mlir::LogicalResult expectLayer(mlir::Operation *op, mlir::Value layer);
  mlir::FailureOr<RowsValue> lookup(mlir::Operation *op, mlir::Value tensor);
  /// The same for an op that works on every token of the step.
  mlir::FailureOr<RowsValue> lookupTokens(mlir::Operation *op,
                                          mlir::Value tensor);
  mlir::FailureOr<mlir::Attribute> weight(mlir::Operation *op,
                                          mlir::Value tensor);

  bool isLogits(mlir::Value result);
  mlir::Value createRows(mlir::Location loc, RowSpace over, int64_t columns);
  /// A buffer for the result, or the logits where the result is the step's.
  RowsValue createResult(mlir::Value result, RowSpace over);
  /// The buffer of the first operand that ends here and fits, else a new one.
  RowsValue reuseOrCreate(mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> operands,
                          mlir::Value result, RowSpace over);

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  int64_t tokenBudget, maxLogitRows;
  ProgramBuilder program;
  llvm::DenseMap<mlir::Value, RowsValue> rows;
  llvm::DenseMap<mlir::Value, mlir::Attribute> weights;
  llvm::DenseMap<mlir::Value, StepField> fields;
  /// Buffers that carry a value round the loop that is being converted.
  llvm::DenseSet<mlir::Value> loopValues;
  llvm::DenseSet<mlir::Value> layerNumbers; ///< Equal to the layer register.
  /// What the layer register holds; nullopt where it differs by turn.
  std::optional<int64_t> currentLayer = 0;
  llvm::SmallVector<RopeTable> ropeTables;
  int64_t numLoops = 0;
};

/// The division that element-wise kernels and matmuls share.
WorkShare columnShare(RowSpace over, int64_t columns);

/// True when no kernel after that of \p op uses the tensor, reshaped or not.
bool endsAt(mlir::Value tensor, mlir::Operation *op);

/// The tensor that the given one is another view of.
mlir::Value withoutReshapes(mlir::Value tensor);

/// "linear_bf16_172x64"
std::string kernelName(const llvm::Twine &base, llvm::ArrayRef<int64_t> sizes);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H
