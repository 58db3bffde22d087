//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through a function of named sizes, op by op, and makes each one an op of
// static shapes. To let an op work on sizes that are known at run time only,
// write
//
//   static LogicalResult bound(SizeBounder &s, ll::MyOp op) {
//     if (failed(s.needStatic(op, op.getX(), /*dim=*/1)))
//       return failure();
//     s.setSizes(op.getResult(), s.sizesOf(op.getX()));
//     return success();
//   }
//
// in SizeRulesOfModels.cpp and name it there in addSizeRulesOfModels: what the
// op gives must not depend on the padding of its operands, but for padding of
// its own.
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
  /// Says what sizes a result has, and gives it the type with their bounds.
  void setSizes(mlir::Value tensor, const shapes::Shape &sizes);
  /// Sizes of a result of the mllm dialect, as its type says.
  mlir::LogicalResult setDeclaredSizes(mlir::Operation *op);
  /// The number that a scalar of type index is, where it follows from sizes.
  std::optional<shapes::DimExpr> numberOf(mlir::OpFoldResult number) const;
  void setNumber(mlir::Value scalar, const shapes::DimExpr &number) {
    numbers.insert({scalar, number});
  }
  bool isStatic(mlir::Value tensor, int64_t dim) const {
    return sizesOf(tensor)[static_cast<size_t>(dim)].isConstant();
  }
  bool isStatic(mlir::Value tensor) const;
  /// Fails where the dimension's size is not the same in every run.
  mlir::LogicalResult needStatic(mlir::Operation *op, mlir::Value tensor,
                                 int64_t dim);
  mlir::LogicalResult needStatic(mlir::Operation *op, mlir::Value tensor);
  /// The greatest and the least value of a size that follows from the ranges; 0
  /// of one that is refused.
  int64_t greatest(const shapes::DimExpr &size) const;
  int64_t least(const shapes::DimExpr &size) const;
  /// Fails where a size has no greatest value, or is negative in some run.
  mlir::LogicalResult checkSize(mlir::Operation *op,
                                const shapes::DimExpr &size);
  /// The size as a number of type index, which the function computes.
  mlir::Value numberFor(const shapes::DimExpr &size);
  /// `x` with `value` in the padding of a dimension, so that it may be reduced.
  mlir::Value masked(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     int64_t dim, double value);
  /// Replaces an operand by masked(), where its dimension has padding.
  void maskOperand(mlir::OpOperand &operand, int64_t dim, double value);
  /// Refuses the op; what holds it back follows.
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);
  mlir::LogicalResult boundBlock(mlir::Block &block);

private:
  /// The value of a size where it is greatest, or where it is least; nullopt
  /// where that is not known.
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

/// A rule makes one op static. By the op's name.
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
  /// Null where the op has none.
  const SizeRule *find(mlir::Operation *op) const;

private:
  SizeRules();
  llvm::StringMap<SizeRule> rules;
  SizeRule elementwise, structured;
};

void addSizeRulesOfModels(SizeRules &rules);

/// Tensors one after another along a dimension. (SizeRules.cpp)
mlir::LogicalResult boundConcat(SizeBounder &s, mlir::Operation *op,
                                mlir::ValueRange parts, int64_t dim);

/// Whether elements keep their places when a tensor of sizes `from` becomes one
/// of sizes `to`, each as large as its bounds.
bool keepsPlaces(const shapes::Shape &from, const shapes::Shape &to);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_SIZEBOUNDER_H
