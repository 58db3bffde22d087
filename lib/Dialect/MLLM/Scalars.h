//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers to create ops on f32 and f64 scalars or vectors.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_SCALARS_H
#define LLMIR_LIB_DIALECT_MLLM_SCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

namespace llmir::mllm::program {

/// Shorthands for ops.
struct Scalars {
  using Type = mlir::Type;
  using Value = mlir::Value;

  mlir::OpBuilder &b;
  mlir::Location loc;

  Type like(Type type, Type element) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      return vector.clone(element);
    return element;
  }
  /// The element in every lane of `type`, or the scalar.
  Value splat(Type type, mlir::TypedAttr element) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      element = mlir::SplatElementsAttr::get(vector, mlir::Attribute(element));
    return mlir::arith::ConstantOp::create(b, loc, element);
  }
  Value constant(Type type, double value) {
    return splat(type, b.getFloatAttr(mlir::getElementTypeOrSelf(type), value));
  }
  Value integer(Type type, int64_t value) {
    return splat(type,
                 b.getIntegerAttr(mlir::getElementTypeOrSelf(type), value));
  }
  Value add(Value x, Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  Value div(Value x, Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  Value mul(Value x, double y) { return mul(x, constant(x.getType(), y)); }
  Value add(Value x, double y) { return add(x, constant(x.getType(), y)); }
  Value fma(Value x, Value y, Value z) {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  Value negate(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value exp(Value x) { return mlir::math::ExpOp::create(b, loc, x); }
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value toF64(Value x) {
    return mlir::arith::ExtFOp::create(b, loc,
                                       like(x.getType(), b.getF64Type()), x);
  }
  Value toF32(Value x) {
    return mlir::arith::TruncFOp::create(b, loc,
                                         like(x.getType(), b.getF32Type()), x);
  }
  Value bitcast(Value x, Type element) {
    return mlir::arith::BitcastOp::create(b, loc, like(x.getType(), element),
                                          x);
  }

  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = constant(x.getType(), coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(x.getType(), c));
    return sum;
  }

  /// exp of an f64 argument, exact to about one ulp of f32. Rounding the
  /// argument to f32 would cost a number of ulps that grows with its magnitude,
  /// so the rounding error l is added back: exp(h + l) is about exp(h) * (1 +
  /// l).
  Value expOfF64(Value argument) {
    // Beyond these the result is 0 or infinity, and the low part would be too.
    for (auto [predicate, bound] :
         {std::pair(mlir::arith::CmpFPredicate::OLT, -200.0),
          std::pair(mlir::arith::CmpFPredicate::OGT, 200.0)}) {
      Value limit = constant(argument.getType(), bound);
      argument = select(compare(predicate, argument, limit), limit, argument);
    }
    Value high = toF32(argument);
    Value low = sub(argument, toF64(high));
    return mul(toF64(exp(high)), add(low, 1.0));
  }

  /// x / (1 + y).
  Value divideByOnePlus(Value x, Value y) { return div(x, add(y, 1.0)); }
};

} // namespace llmir::mllm::program

#endif // LLMIR_LIB_DIALECT_MLLM_SCALARS_H
