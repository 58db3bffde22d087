//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders for the patterns of convert-llm-to-linalg: loops over tensors with
// possibly dynamic sizes, and scalar ops in their bodies. Floats are f32 in
// bodies, independent of the element types.
//
//   TensorBuilder t(op.getLoc(), rewriter);
//   Value y = t.elementwise(t.sizes(x), x.getElementType(), {x},
//                           [](ScalarBuilder &s, ValueRange v) {
//                             return s.mulf(v[0], s.f32(2));
//                           });
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOLINALG_TENSORBUILDER_H
#define LLMIR_LIB_CONVERSION_LLMTOLINALG_TENSORBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace llmir {

/// Creates scalar ops in the body of a loop or outside.
class ScalarBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Value = mlir::Value;

  Value f32(double value);
  Value i32(int64_t value);
  Value index(int64_t value);
  Value asValue(mlir::OpFoldResult value);
  /// The index of a loop of the op whose body is being built.
  Value loop(int64_t dim);

  /// Converts a float or a signed integer to f32.
  Value toF32(Value x);
  /// Rounds an f32 to another float type.
  Value roundTo(Value x, mlir::Type type);
  Value indexToF32(Value x);
  Value toIndex(Value x);
  /// Truncates an i32.
  Value truncI32(Value x, mlir::Type type);

  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value divf(Value a, Value b);
  Value negf(Value a);
  Value exp(Value a);
  Value addi(Value a, Value b);
  Value subi(Value a, Value b);
  Value muli(Value a, Value b);
  /// Quotient and remainder of nonnegative integers.
  Value divi(Value a, Value b);
  Value remi(Value a, Value b);
  Value andb(Value a, Value b);
  Value orb(Value a, Value b);
  Value cmp(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  Value cmp(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// x / (1 + exp(-power)).
  Value swish(Value x, Value power);
  /// roundeven(x / scale), or 0 if the scale is 0.
  Value quotient(Value x, Value scale);
  /// The reference value of exponents: the maximum of a row, or 0 if every
  /// element is -inf.
  Value finiteOrZero(Value maximum);
  /// x / total, or 0 if the total is 0.
  Value shareOf(Value x, Value total);
  /// An element of a tensor as f32.
  Value extractF32(Value tensor, mlir::ValueRange indices);
};

/// Creates tensors by loops, slices and reshapes.
class TensorBuilder : public ScalarBuilder {
public:
  using ScalarBuilder::ScalarBuilder;
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
  using Maps = llvm::ArrayRef<mlir::AffineMap>;
  using Groups = llvm::SmallVector<mlir::ReassociationIndices>;
  using Body = llvm::function_ref<Value(ScalarBuilder &, mlir::ValueRange)>;
  using BodyOfMany = llvm::function_ref<llvm::SmallVector<Value>(
      ScalarBuilder &, mlir::ValueRange)>;

  static mlir::RankedTensorType type(Value tensor) {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType());
  }
  static mlir::Type elementType(Value tensor) {
    return type(tensor).getElementType();
  }

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  mlir::OpFoldResult size(Value tensor, int64_t dim);
  Sizes sizes(Value tensor);
  mlir::OpFoldResult fixed(int64_t size) { return getIndexAttr(size); }
  mlir::OpFoldResult product(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult quotientOf(mlir::OpFoldResult a, mlir::OpFoldResult b);

  //===--------------------------------------------------------------------===//
  // Maps
  //===--------------------------------------------------------------------===//

  /// The map from `numLoops` loops to the given ones; -1 is the constant 0.
  mlir::AffineMap map(int64_t numLoops, llvm::ArrayRef<int64_t> loops);
  /// first, first + 1, … (`count` elements).
  static llvm::SmallVector<int64_t> range(int64_t first, int64_t count);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);
  Value filled(llvm::ArrayRef<mlir::OpFoldResult> sizes, double value);
  /// One loop per size, one map per input. Floats in the body are f32 and are
  /// rounded to the element type.
  Value compute(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                mlir::ValueRange inputs, Maps maps, Body body);
  /// The same with inputs of the result's shape.
  Value elementwise(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element, mlir::ValueRange inputs, Body body);
  /// The same with several results.
  mlir::ValueRange computeMany(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                               llvm::ArrayRef<mlir::Type> elements,
                               mlir::ValueRange inputs, Maps maps,
                               BodyOfMany body);
  /// Reduces into `initial`, whose map is the last one and whose floats are
  /// f32: loops not in that map are reduced in ascending order. The body gets
  /// the input elements and, last, the accumulator.
  Value reduce(Value initial, mlir::ValueRange inputs, Maps maps, Body body);
  /// The same with several results of the same map, each with its own
  /// `initial`.
  mlir::ValueRange reduceMany(mlir::ValueRange initials,
                              mlir::ValueRange inputs, Maps maps,
                              BodyOfMany body);
  /// The maximum of each row in f32; NaN if an element is NaN.
  Value rowMaximum(Value x);

  Value expand(Value x, const Groups &groups,
               llvm::ArrayRef<mlir::OpFoldResult> sizes);
  Value collapse(Value x, const Groups &groups);
  /// Splits dimension `dim` into two, the second with `inner` elements.
  Value split(Value x, int64_t dim, mlir::OpFoldResult inner);
  /// Collapses dimension `dim` and the next one.
  Value join(Value x, int64_t dim);
  /// Elements offset to offset + size - 1 of one dimension.
  Value slice(Value x, int64_t dim, mlir::OpFoldResult offset,
              mlir::OpFoldResult size);
  /// Extends each element to f32.
  Value widened(Value x);
  /// Rows `rows[r]` of the first dimension.
  Value gatherRows(Value x, Value rows);
  Value castTo(Value x, mlir::Type type);
};

/// x · Φ(x), or its approximation "quick" or "tanh", as in llm.gelu.
mlir::Value gelu(ScalarBuilder &s, mlir::Value x, llvm::StringRef form);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOLINALG_TENSORBUILDER_H
