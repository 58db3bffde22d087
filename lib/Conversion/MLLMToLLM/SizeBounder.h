//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts a function with named sizes, op by op, to static shapes. To support
// an op on sizes that are only known at run time, write
//
//   static LogicalResult bound(SizeBounder &s, ll::MyOp op) {
//     if (failed(s.needStatic(op, op.getX(), /*dim=*/1)))
//       return failure();
//     s.setSizes(op.getResult(), s.sizesOf(op.getX()));
//     return success();
//   }
//
// in SizeRulesOfModels.cpp and register it in addSizeRulesOfModels. Except for
// its padding, the result must not depend on the padding of operands.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_SIZEBOUNDER_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_SIZEBOUNDER_H

#include "llmir/Conversion/BoundSizes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace llmir {

class SizeBounder {
public:
  explicit SizeBounder(mlir::func::FuncOp function) : function(function) {}

  mlir::FailureOr<BoundedSizes> run();

  //===--------------------------------------------------------------------===//
  // For rules
  //===--------------------------------------------------------------------===//

  /// The sizes of a tensor.
  shapes::Shape sizesOf(mlir::Value tensor) const;
  /// Sets the sizes of a result, and its type to that of their bounds.
  void setSizes(mlir::Value tensor, const shapes::Shape &sizes);
  /// Sets the sizes of a result of the mllm dialect from its type.
  mlir::LogicalResult setDeclaredSizes(mlir::Operation *op);
  /// The value of a scalar of type index as an expression of sizes, if known.
  std::optional<shapes::DimExpr> numberOf(mlir::OpFoldResult number) const;
  void setNumber(mlir::Value scalar, const shapes::DimExpr &number) {
    numbers.insert({scalar, number});
  }
  bool isStatic(mlir::Value tensor, int64_t dim) const {
    return sizesOf(tensor)[static_cast<size_t>(dim)].isConstant();
  }
  bool isStatic(mlir::Value tensor) const;
  /// Fails if the size of the dimension is not static.
  mlir::LogicalResult needStatic(mlir::Operation *op, mlir::Value tensor,
                                 int64_t dim);
  mlir::LogicalResult needStatic(mlir::Operation *op, mlir::Value tensor);
  /// The maximum and minimum of a size, from the ranges; 0 for a rejected one.
  int64_t greatest(const shapes::DimExpr &size) const;
  int64_t least(const shapes::DimExpr &size) const;
  /// Fails if a size is unbounded, or may be negative.
  mlir::LogicalResult checkSize(mlir::Operation *op,
                                const shapes::DimExpr &size);
  /// The size as a value of type index, computed by the function.
  mlir::Value numberFor(const shapes::DimExpr &size);
  /// `x` with `value` in the padding of a dimension, as required for
  /// reductions.
  mlir::Value masked(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     int64_t dim, double value);
  /// Replaces an operand by masked(), if its dimension has padding.
  void maskOperand(mlir::OpOperand &operand, int64_t dim, double value);
  /// Rejects the op; the caller appends the reason.
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);
  mlir::LogicalResult boundBlock(mlir::Block &block);

private:
  /// The maximum or the minimum of a size; nullopt if unknown.
  std::optional<int64_t> extreme(const shapes::DimExpr &size,
                                 bool isGreatest) const;
  mlir::LogicalResult readRanges();
  mlir::LogicalResult addArguments();
  mlir::LogicalResult boundOp(mlir::Operation *op);
  mlir::LogicalResult boundBranch(mlir::Operation *op);
  mlir::LogicalResult boundLoop(mlir::Operation *op);

  mlir::func::FuncOp function;
  BoundedSizes result;
  std::map<std::string, BoundedSize> ranges; ///< By name of the size.
  llvm::DenseMap<mlir::Value, shapes::Shape> sizes;
  llvm::DenseMap<mlir::Value, shapes::DimExpr> numbers;
  std::map<std::string, mlir::Value> arguments; ///< By name of the size.
  std::map<std::string, mlir::Value> computed;  ///< By text of the size.
};

/// The rules, each of which converts an op to static shapes, by the op's name.
using SizeRule =
    std::function<mlir::LogicalResult(SizeBounder &, mlir::Operation *)>;
class SizeRules {
public:
  static const SizeRules &get();
  template <typename OpTy>
  void add(mlir::LogicalResult (*rule)(SizeBounder &, OpTy)) {
    rules[OpTy::getOperationName()] = [rule](SizeBounder &s,
                                             mlir::Operation *op) {
      return rule(s, llvm::cast<OpTy>(op));
    };
  }
  /// Null if the op has none.
  const SizeRule *find(mlir::Operation *op) const;

private:
  SizeRules();
  llvm::StringMap<SizeRule> rules;
  SizeRule elementwise, structured;
};

void addSizeRulesOfModels(SizeRules &rules);

/// The concatenation of tensors along a dimension. (SizeRules.cpp)
mlir::LogicalResult boundConcat(SizeBounder &s, mlir::Operation *op,
                                mlir::ValueRange parts, int64_t dim);

/// Whether a reshape of a tensor of sizes `from` to sizes `to`, both padded to
/// their bounds, keeps elements in place.
bool keepsPositions(const shapes::Shape &from, const shapes::Shape &to);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_SIZEBOUNDER_H
