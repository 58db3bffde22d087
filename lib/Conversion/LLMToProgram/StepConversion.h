//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the step function of a model to a program, op by op, in order. How
// single ops are converted, and how to add one: ProgramConversion.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H

#include "LayerRuns.h"
#include "ProgramConversion.h"

namespace llmir {

/// The step: rows are as many as the runtime says, index arrays are the step's
/// own, weights are parameters, and equal layers are loops.
class StepConversion : public ProgramConversion {
public:
  StepConversion(mlir::ModuleOp module, mlir::func::FuncOp step,
                 int64_t tokenBudget, int64_t maxLogitRows)
      : ProgramConversion(module, /*numRanks=*/1,
                          {/*quantizesWhenPacked=*/true,
                           /*quantizesActivations=*/true,
                           /*splitsAttention=*/true}),
        step(step), tokenBudget(tokenBudget), maxLogitRows(maxLogitRows) {}

  mlir::LogicalResult convert();

  RowsValue createResult(mlir::Value result, const RowsValue &like,
                         int64_t columns) override;
  RowsValue createResult(mlir::Value result, RowSpace over) override;
  RowsValue createRowsLike(mlir::Location loc, const RowsValue &like,
                           int64_t columns, mlir::Type element) override;
  int64_t maxRows(RowSpace over) const override {
    return over == RowSpace::Tokens ? tokenBudget : maxLogitRows;
  }
  mlir::FailureOr<KernelWeight>
  quantizedParameter(mlir::Operation *op, mlir::Value parameter,
                     const IntegerFormat &format) override;
  /// The operand must be the step's own argument of that field.
  mlir::LogicalResult bindField(mlir::Operation *op, mlir::Value operand,
                                StepField field) override;
  mlir::LogicalResult bindSlots(mlir::Operation *op,
                                mlir::Value slots) override {
    return bindField(op, slots, StepField::slot_mapping);
  }
  mlir::LogicalResult bindSequences(mlir::Operation *op,
                                    const SequenceOperands &operands) override;
  bool arePositions(mlir::Value ids) override;
  bool areLogitRows(mlir::Value rows) override;
  mlir::LogicalResult bindLayer(mlir::Operation *op,
                                mlir::Value layer) override;
  mlir::FailureOr<RopeTable> ropeTable(mlir::llm::RopeOp op) override;

private:
  mlir::FailureOr<RowsValue> rearrange(mlir::Operation *op, mlir::Value tensor,
                                       const RowsValue &now,
                                       int64_t columns) override;
  mlir::FailureOr<RowsValue> checkTokens(mlir::Operation *op,
                                         RowsValue rows) override;
  bool canIterateOver(const RowsValue &rows) const override {
    return mlir::ShapedType::isDynamic(rows.rows);
  }
  bool hasPlace(mlir::Value result) override { return isLogits(result); }
  std::optional<KernelWeight> givenWeight(mlir::Value tensor) override;

  mlir::LogicalResult bindStepArguments();
  mlir::LogicalResult emitRopeTables();
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult declareWeight(mlir::llm::WeightOp op);
  /// Records which parameters the value represents, one for each layer, and
  /// declares them as a weight unless they are only quantized.
  mlir::LogicalResult bindParameter(mlir::Value value,
                                    llvm::ArrayRef<mllm::RegisterOp> registered,
                                    int64_t firstLayer);
  /// The result of the step must have been computed in the logits buffer.
  mlir::LogicalResult checkLogits();

  // Runs of layers: StepLoops.cpp.
  mlir::LogicalResult convertRun(const LayerRun &run);
  /// Binds the callee's arguments to what the run passes: weights by layer,
  /// the step's arrays, the layer number, and rows.
  mlir::LogicalResult bindArguments(const LayerRun &run,
                                    mlir::func::FuncOp callee);
  /// Binds the argument that each iteration of the loop overwrites.
  void bindCarried(mlir::func::CallOp first, mlir::Value operand,
                   mlir::Value argument);
  /// Binds the results of an iteration for the next one, and for users of the
  /// last one.
  mlir::LogicalResult handOn(const LayerRun &run, mlir::func::FuncOp callee);

  bool isLogits(mlir::Value result);
  /// A buffer of the rows that the value has: of the step, or its own.
  mlir::Value createRows(mlir::Location loc, const RowsValue &value,
                         mlir::Type element = mlir::Type());
  /// A parameter or a constant as rows of f32, unpacked where it is first used;
  /// a vector of the step as rows of i32.
  mlir::FailureOr<RowsValue> materialize(mlir::Operation *op,
                                         mlir::Value tensor) override;
  mlir::FailureOr<RowsValue> unpack(mlir::Operation *op, mlir::Value tensor,
                                    const KernelWeight &weight);
  mlir::FailureOr<RowsValue> unpackConstant(mlir::Operation *op,
                                            mlir::Value tensor,
                                            mlir::ElementsAttr values);

  mlir::func::FuncOp step;
  int64_t tokenBudget, maxLogitRows;
  /// Parameters as they are stored, and those that are quantized.
  llvm::DenseMap<mlir::Value, KernelWeight> parameters;
  struct QuantizedParameter {
    llvm::SmallVector<mllm::RegisterOp> registered; ///< One for each layer.
    int64_t firstLayer;
  };
  llvm::DenseMap<mlir::Value, QuantizedParameter> quantized;
  llvm::DenseMap<mlir::Value, StepField> fields;
  llvm::DenseSet<mlir::Value> layerNumbers; ///< Equal to the layer register.
  /// The value of the layer register; nullopt if it differs by iteration.
  std::optional<int64_t> currentLayer = 0;
  llvm::SmallVector<RopeTable> ropeTables;
  int64_t numLoops = 0;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_STEPCONVERSION_H
