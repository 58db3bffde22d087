//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts any function of static shapes to a program: every tensor is a buffer
// of rows, arguments and constants are inputs, results are outputs. Branches
// and loops are labels and jumps. Ranks run in lockstep, each with separate
// buffers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_FUNCTIONCONVERSION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_FUNCTIONCONVERSION_H

#include "ProgramConversion.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"

#include <map>

namespace llmir {

class FunctionConversion : public ProgramConversion {
public:
  FunctionConversion(mlir::ModuleOp module, mlir::func::FuncOp function,
                     int64_t numRanks)
      : ProgramConversion(module, numRanks, ProgramPolicy()),
        function(function) {}
  FunctionConversion *asFunction() override { return this; }

  /// Fails if the function has unsupported parts: dynamic sizes, calls, other
  /// control flow, two caches, or a cache created in a branch or a loop.
  static mlir::LogicalResult check(mlir::func::FuncOp function);

  mlir::LogicalResult convert();

  RowsValue createResult(mlir::Value result, const RowsValue &like,
                         int64_t columns) override;
  RowsValue createResult(mlir::Value result,
                         RowSpace over = RowSpace::Tokens) override;
  RowsValue createRowsLike(mlir::Location loc, const RowsValue &like,
                           int64_t columns, mlir::Type element) override;
  mlir::LogicalResult bindField(mlir::Operation *op, mlir::Value operand,
                                StepField field) override;
  mlir::LogicalResult bindSlots(mlir::Operation *op,
                                mlir::Value slots) override;
  mlir::LogicalResult bindSequences(mlir::Operation *op,
                                    const SequenceOperands &operands) override;
  /// Binds an array that is not an operand to the field.
  void bindArray(mlir::Location loc, StepField field, const RowsValue &array) {
    setPointer(loc, field, array.buffer);
  }
  void bindCount(mlir::Location loc, StepField field, int64_t count);
  mlir::LogicalResult bindLayer(mlir::Operation *op,
                                mlir::Value layer) override;
  mlir::LogicalResult bindCache(mlir::Operation *op,
                                mlir::llm::PagedKVCacheType type) override;
  /// Binds a buffer of the program as the blocks of a cache with one layer.
  void bindScratchCache(mlir::Location loc, mlir::Value pool);
  mlir::FailureOr<RopeTable> ropeTable(mlir::llm::RopeOp op) override;
  /// One row of constants.
  RowsValue constantRows(mlir::Location loc, llvm::ArrayRef<int32_t> numbers);
  mlir::FailureOr<KernelWeight>
  quantizedParameter(mlir::Operation *op, mlir::Value parameter,
                     const IntegerFormat &format) override {
    llvm_unreachable("the program quantizes its weights");
  }
  int64_t maxRows(RowSpace over) const override {
    llvm_unreachable("all sizes of a function are static");
  }

private:
  //===--------------------------------------------------------------------===//
  // Branches and loops (FunctionControlFlow.cpp)
  //===--------------------------------------------------------------------===//

  /// The state at the start of a region that is still valid after it.
  struct Knowledge;
  /// Converts the ops of a block, its terminator excluded.
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOpOrRegions(mlir::Operation &op);
  /// Converts an op with these regions; a null region is empty.
  mlir::LogicalResult convertIf(mlir::Operation *op, mlir::Value condition,
                                mlir::Region &then, mlir::Region &otherwise);
  /// Converts an op with initial values whose results are the values that the
  /// condition forwards.
  mlir::LogicalResult convertWhile(mlir::Operation *op, mlir::Region &condition,
                                   mlir::Region &body);
  /// Converts a region and returns the yielded values.
  mlir::FailureOr<llvm::SmallVector<RowsValue>>
  convertRegion(mlir::Region &region);
  /// Copies the buffers of `from` to those of `to` simultaneously: `from` may
  /// contain buffers of `to`. Both are tensors of these types, or a cache,
  /// which has no buffer.
  void assign(mlir::Location loc, llvm::ArrayRef<RowsValue> from,
              llvm::ArrayRef<RowsValue> to, mlir::TypeRange types);
  mlir::FailureOr<llvm::SmallVector<RowsValue>>
  lookupAll(mlir::Operation *op, mlir::ValueRange tensors);
  /// Buffers for results of a branch or values of a loop.
  llvm::SmallVector<RowsValue> createAll(mlir::ValueRange values);
  /// Emits a label, after which the state of the step context is unknown.
  void placeLabel(mlir::Location loc, llvm::StringRef name);

  mlir::FailureOr<RowsValue> materialize(mlir::Operation *op,
                                         mlir::Value tensor) override;
  mlir::FailureOr<RowsValue> rearrange(mlir::Operation *op, mlir::Value tensor,
                                       const RowsValue &now,
                                       int64_t columns) override;
  bool canIterateOver(const RowsValue &rows) const override { return true; }
  void bindRows(mlir::Location loc, const RowsValue &rows) override;
  std::optional<KernelWeight> givenWeight(mlir::Value tensor) override;
  bool mayOverwrite(mlir::Value origin) override;

  /// The name of an argument (of this rank) or a constant for the runner; empty
  /// for a computed value.
  std::string sourceOf(mlir::Value tensor);
  std::string ofRank(const llvm::Twine &name) const;
  void setPointer(mlir::Location loc, StepField field, mlir::Value buffer);
  mlir::LogicalResult writeOutputs();

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, std::string> constants; ///< Names by value.
  std::map<std::vector<int32_t>, mlir::Value> integerConstants;
  /// The same elements in rows of another length, by buffer and columns.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, RowsValue> rearranged;
  /// The values of fields; nullopt and null if unknown.
  llvm::DenseMap<int, std::optional<int64_t>> counts;
  llvm::DenseMap<int, mlir::Value> pointers;
  llvm::SmallVector<std::pair<mlir::Value, RopeTable>> ropeTables;
  std::optional<int64_t> currentLayer;
  mlir::llm::PagedKVCacheType cacheType;
  mlir::Block *currentBlock = nullptr;
  int64_t numBranches = 0; ///< Those that have labels.
};

/// Normalizes a function for conversion to a program: counted loops get a
/// condition, those over the layers of a cache are unrolled, sizes are folded
/// to constants, and tensor.generate becomes linalg. (PrepareFunction.cpp)
void prepareFunction(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_FUNCTIONCONVERSION_H
