//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace llmir::mllm::program {

namespace {
/// Short names for the ops, at one place.
struct Scalars {
  OpBuilder &b;
  Location loc;

  Type like(Type type, Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value constant(Type type, double value) {
    TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value integer(Type type, int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) { return mul(x, constant(x.getType(), y)); }
  Value add(Value x, double y) { return add(x, constant(x.getType(), y)); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value exp(Value x) { return math::ExpOp::create(b, loc, x); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value toF64(Value x) {
    return arith::ExtFOp::create(b, loc, like(x.getType(), b.getF64Type()), x);
  }
  Value toF32(Value x) {
    return arith::TruncFOp::create(b, loc, like(x.getType(), b.getF32Type()),
                                   x);
  }
  Value bitcast(Value x, Type element) {
    return arith::BitcastOp::create(b, loc, like(x.getType(), element), x);
  }

  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(x.getType(), coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(x.getType(), c));
    return sum;
  }

  /// exp of an f64 argument, exact to about an ulp of f32. Rounding the
  /// argument alone would cost as many ulps as it is large: exp(h + l) = exp(h)
  /// (1 + l).
  Value expOfF64(Value argument) {
    // Beyond these the result is 0 or infinity, and the low part would be too.
    for (auto [predicate, bound] :
         {std::pair(arith::CmpFPredicate::OLT, -200.0),
          std::pair(arith::CmpFPredicate::OGT, 200.0)}) {
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
} // namespace

Value emitSilu(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  return s.divideByOnePlus(x, s.exp(s.negate(x)));
}

// The forms of gelu are computed in f64 but for the exponential, so that its
// error is all that the result has.

Value emitGelu(OpBuilder &b, Location loc, Value x) {
  // With t = |x|, P(X > t) = exp(-t^2 / 2) * u * p(u) where u = 1 / (1 + 0.3 t)
  // and p is fitted at Chebyshev's points for t up to 15: relative error 5e-9.
  static constexpr double p[] = {0x1.ea3db3cf62aa9p-4, 0x1.e9ad6283cbe74p-4,
                                 0x1.c44b1d22e2a26p-4, 0x1.3d61b82d59304p-4,
                                 0x1.94cfa5f44259fp-4, -0x1.5a090b9918671p-4,
                                 0x1.9557f163be400p-3, -0x1.dcd8d9887ee8ep-3,
                                 0x1.d4974f10b5c13p-4, -0x1.57d01527e0ad7p-6};
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  Type f64 = wide.getType();
  Value one = s.constant(f64, 1.0);
  Value t = math::AbsFOp::create(b, loc, wide);
  Value u = s.div(one, s.fma(t, s.constant(f64, 0.3), one));
  Value e = s.expOfF64(s.mul(s.mul(wide, wide), -0.5));
  Value tail = s.mul(e, s.mul(u, s.polynomial(u, p)));
  Value negative =
      s.compare(arith::CmpFPredicate::OLT, wide, s.constant(f64, 0.0));
  return s.toF32(s.mul(wide, s.select(negative, tail, s.sub(one, tail))));
}

Value emitGeluTanh(OpBuilder &b, Location loc, Value x) {
  // (1 + tanh(a)) / 2 = 1 / (1 + exp(-2 a)).
  Scalars s{b, loc};
  const double root = std::sqrt(2 / std::acos(-1.0));
  Value wide = s.toF64(x);
  Value factor = s.add(s.mul(s.mul(wide, wide), -2 * root * 0.044715),
                       -2 * root); // -2 a / x.
  return s.toF32(s.divideByOnePlus(wide, s.expOfF64(s.mul(wide, factor))));
}

Value emitGeluQuick(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  return s.toF32(s.divideByOnePlus(wide, s.expOfF64(s.mul(wide, -1.702))));
}

/// On the bits: arith.truncf to bf16 would become a call of compiler-rt.
static Value roundToBF16(Scalars s, Value x) {
  Value bits = s.bitcast(x, s.b.getI32Type());
  Type i32 = bits.getType();
  Value shift = s.integer(i32, 16);
  Value odd = arith::AndIOp::create(
      s.b, s.loc, arith::ShRUIOp::create(s.b, s.loc, bits, shift),
      s.integer(i32, 1));
  Value bias = arith::AddIOp::create(s.b, s.loc, odd, s.integer(i32, 0x7fff));
  Value rounded = arith::AddIOp::create(s.b, s.loc, bits, bias);
  Value quiet =
      arith::OrIOp::create(s.b, s.loc, bits, s.integer(i32, 0x400000));
  Value isNaN = s.compare(arith::CmpFPredicate::UNO, x, x);
  Value high = arith::AndIOp::create(
      s.b, s.loc, s.select(isNaN, quiet, rounded), s.integer(i32, -65536));
  return s.bitcast(high, s.b.getF32Type());
}

Value emitRound(OpBuilder &b, Location loc, Value x, Type element) {
  Scalars s{b, loc};
  if (element.isBF16())
    return roundToBF16(s, x);
  if (!element.isF16())
    return x;
  Value half = arith::TruncFOp::create(b, loc, s.like(x.getType(), element), x);
  return arith::ExtFOp::create(b, loc, x.getType(), half);
}

Value emitCombination(OpBuilder &b, Location loc, Combination how,
                      ValueRange values) {
  Scalars s{b, loc};
  Value result = values.front();
  for (Value value : values.drop_front()) {
    if (how == Combination::Sum || how == Combination::Mean) {
      result = s.add(result, value);
      continue;
    }
    auto predicate = how == Combination::Max ? arith::CmpFPredicate::OGT
                                             : arith::CmpFPredicate::OLT;
    Value better = s.compare(predicate, value, result);
    // A NaN among the values is the result.
    Value isNaN = s.compare(arith::CmpFPredicate::UNO, value, value);
    result =
        s.select(arith::OrIOp::create(b, loc, better, isNaN), value, result);
  }
  if (how == Combination::Mean)
    result = s.div(result, s.constant(result.getType(),
                                      static_cast<double>(values.size())));
  return result;
}

} // namespace llmir::mllm::program
