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
// and loops are labels and jumps. Ranks run in lockstep, each with buffers of
// its own.
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
      : ProgramConversion(module, numRanks), function(function) {}

  /// Fails where the function has something that a program has not: dynamic
  /// sizes, calls, control flow of other kinds, two caches, or a cache that a
  /// branch or a loop makes.
  static mlir::LogicalResult check(mlir::func::FuncOp function);

  mlir::LogicalResult convert();

  RowsValue createResult(mlir::Value result, const RowsValue &like,
                         int64_t columns) override;
  RowsValue createResult(mlir::Value result, RowSpace over) override;
  RowsValue createRowsLike(mlir::Location loc, const RowsValue &like,
                           int64_t columns, mlir::Type element) override;
  mlir::LogicalResult bindField(mlir::Operation *op, mlir::Value operand,
                                StepField field) override;
  void bindArray(mlir::Location loc, StepField field,
                 const RowsValue &array) override {
    setPointer(loc, field, array.buffer);
  }
  void bindCount(mlir::Location loc, StepField field, int64_t count) override;
  mlir::LogicalResult bindLayer(mlir::Operation *op,
                                mlir::Value layer) override;
  mlir::LogicalResult bindCache(mlir::Operation *op,
                                mlir::llm::PagedKVCacheType type) override;
  void bindScratchCache(mlir::Location loc, mlir::Value pool) override;
  mlir::FailureOr<RopeTable> ropeTable(mlir::llm::RopeOp op) override;
  RowsValue constantRows(mlir::Location loc,
                         llvm::ArrayRef<int32_t> numbers) override;
  bool hasStaticRows() const override { return true; }

private:
  //===--------------------------------------------------------------------===//
  // Branches and loops (FunctionControlFlow.cpp)
  //===--------------------------------------------------------------------===//

  /// What is known where a region begins and still holds behind it.
  struct Knowledge;
  /// Converts the ops of a block, its terminator excluded.
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOpOrRegions(mlir::Operation &op);
  /// An op with those regions; without ops, a region does nothing.
  mlir::LogicalResult convertIf(mlir::Operation *op, mlir::Value condition,
                                mlir::Region &then, mlir::Region &otherwise);
  /// An op that takes initial values and gives what the condition passes on
  /// after its condition.
  mlir::LogicalResult convertWhile(mlir::Operation *op, mlir::Region &condition,
                                   mlir::Region &body);
  /// Converts a region and gives what it yields.
  mlir::FailureOr<llvm::SmallVector<RowsValue>>
  convertRegion(mlir::Region &region);
  /// Makes each buffer of `to` hold what the one of `from` holds, all at once:
  /// `from` may name buffers of `to`. Both are tensors of those types, or a
  /// cache, which has no buffer.
  void assign(mlir::Location loc, llvm::ArrayRef<RowsValue> from,
              llvm::ArrayRef<RowsValue> to, mlir::TypeRange types);
  mlir::FailureOr<llvm::SmallVector<RowsValue>>
  lookupAll(mlir::Operation *op, mlir::ValueRange tensors);
  /// Buffers for results of a branch or values of a loop.
  llvm::SmallVector<RowsValue> createAll(mlir::ValueRange values);
  /// A label, behind which nothing is known of the step context.
  void placeLabel(mlir::Location loc, llvm::StringRef name);

  mlir::FailureOr<RowsValue> materialize(mlir::Operation *op,
                                         mlir::Value tensor) override;
  mlir::FailureOr<RowsValue> rearrange(mlir::Operation *op, mlir::Value tensor,
                                       const RowsValue &now,
                                       int64_t columns) override;
  void bindRows(mlir::Location loc, const RowsValue &rows) override;
  std::optional<KernelWeight> givenWeight(mlir::Value tensor) override;
  bool mayOverwrite(mlir::Value origin) override;

  /// The name under which the runner knows an argument (of this rank) or a
  /// constant; empty for a computed value.
  std::string sourceOf(mlir::Value tensor);
  std::string ofRank(const llvm::Twine &name) const;
  void setPointer(mlir::Location loc, StepField field, mlir::Value buffer);
  mlir::LogicalResult writeOutputs();

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, std::string> constants; ///< Names by value.
  std::map<std::vector<int32_t>, mlir::Value> integerConstants;
  /// The same elements in rows of another length, by buffer and columns.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, RowsValue> rearranged;
  /// What fields are set to; nothing and null stand for anything.
  llvm::DenseMap<int, std::optional<int64_t>> counts;
  llvm::DenseMap<int, mlir::Value> pointers;
  llvm::SmallVector<std::pair<mlir::Value, RopeTable>> ropeTables;
  std::optional<int64_t> currentLayer;
  mlir::llm::PagedKVCacheType cacheType;
  mlir::Block *currentBlock = nullptr;
  int64_t numBranches = 0; ///< Which have labels.
};

/// Brings a function into the form that programs are made of: counted loops
/// have a condition, those over the layers of a cache are written out, sizes
/// are constants, and what tensor.generate computes are loops of linalg.
/// (PrepareFunction.cpp)
void prepareFunction(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_FUNCTIONCONVERSION_H
