//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "Scalars.h"

#include <cmath>

using namespace mlir;

namespace llmir::mllm::program {

Value emitSilu(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  return s.divideByOnePlus(x, s.exp(s.negate(x)));
}

// The forms of gelu are computed in f64 except for the exponential, whose error
// thus determines that of the result.

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

//===----------------------------------------------------------------------===//
// Cosine, sine and logarithm
//===----------------------------------------------------------------------===//

namespace {
/// An angle is quarter * pi/2 + rest, with |rest| at most pi/4.
struct ReducedAngle {
  Value rest;    ///< f64.
  Value quarter; ///< i32; only the low two bits are used.
};
} // namespace

/// A multiple of pi/2 is subtracted in two parts (Cody and Waite). The high one
/// has 32 bits, so that its product with 31 bits leaves the difference exact.
static ReducedAngle reduceAngle(Scalars s, Value angle) {
  constexpr double halfPiHigh = 0x1.921fb54400000p+0;
  constexpr double halfPiLow = 0x1.0b4611a626331p-34;
  Type f64 = angle.getType();
  Value quarter =
      math::RoundEvenOp::create(s.b, s.loc, s.mul(angle, 0x1.45f306dc9c883p-1));
  Value r = s.fma(quarter, s.constant(f64, -halfPiHigh), angle);
  r = s.fma(quarter, s.constant(f64, -halfPiLow), r);
  return {r, arith::FPToSIOp::create(s.b, s.loc, s.like(f64, s.b.getI32Type()),
                                     quarter)};
}

/// For f32 values m * 2^e with e at least 2 (Payne and Hanek). Only 64 bits of
/// 2/pi affect the product with m modulo 4: higher bits contribute multiples of
/// 4, lower bits less than 2^-38.
static ReducedAngle reduceFarAngle(Scalars s, Value x) {
  constexpr uint64_t twoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                    0xdb6295993c439041};
  OpBuilder &b = s.b;
  Location loc = s.loc;
  Type i64 = s.like(x.getType(), b.getI64Type());
  auto word = [&](uint64_t bits) {
    return s.integer(i64, static_cast<int64_t>(bits));
  };
  Value bits =
      arith::ExtUIOp::create(b, loc, i64, s.bitcast(x, b.getI32Type()));
  Value m = arith::OrIOp::create(
      b, loc, arith::AndIOp::create(b, loc, bits, word(0x7fffff)),
      word(0x800000));
  Value field = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, word(23)), word(0xff));
  // The position of the first of the 64 bits, whose weight with 2^e is 2.
  Value first = arith::SubIOp::create(
      b, loc, arith::MaxUIOp::create(b, loc, field, word(152)), word(152));
  Value isEarly =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, first, word(64));
  Value high = s.select(isEarly, word(twoOverPi[0]), word(twoOverPi[1]));
  Value low = s.select(isEarly, word(twoOverPi[1]), word(twoOverPi[2]));
  Value shift = arith::AndIOp::create(b, loc, first, word(63));
  Value rest = arith::SubIOp::create(b, loc, word(63), shift);
  Value upper = arith::ShLIOp::create(b, loc, high, shift);
  Value lower = arith::ShRUIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, low, word(1)), rest);
  Value window = arith::OrIOp::create(b, loc, upper, lower);
  // In units of 2^-62, so that overflow wraps modulo 4.
  Value turns = arith::MulIOp::create(b, loc, m, window);
  Value isNegative =
      s.compare(arith::CmpFPredicate::OLT, x, s.constant(x.getType(), 0.0));
  turns = s.select(isNegative, arith::SubIOp::create(b, loc, word(0), turns),
                   turns);
  Value quarter = arith::ShRSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, turns, word(uint64_t(1) << 61)),
      word(62));
  Value beside = arith::SubIOp::create(
      b, loc, turns, arith::ShLIOp::create(b, loc, quarter, word(62)));
  Value wide = arith::SIToFPOp::create(
      b, loc, s.like(x.getType(), b.getF64Type()), beside);
  return {
      s.mul(wide, 0x1.921fb54442d18p-62),
      arith::TruncIOp::create(b, loc, s.like(i64, b.getI32Type()), quarter)};
}

/// Taylor series, whose first omitted term is less than 3e-14.
static std::pair<Value, Value> cosSinOf(Scalars s, ReducedAngle angle) {
  Value r = angle.rest, q = angle.quarter;
  Value r2 = s.mul(r, r);
  Value cosR =
      s.polynomial(r2, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                        -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0});
  Value sinR = s.mul(
      r, s.polynomial(r2, {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                           -1.0 / 39916800, 1.0 / 6227020800.0}));
  // Quadrant q: (cos, sin) is (c, s), (-s, c), (-c, -s), (s, -c).
  auto bitSet = [&](Value value, int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(s.b, s.loc, value,
                                         s.integer(value.getType(), bit));
    return arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ne, masked,
                                 s.integer(value.getType(), 0));
  };
  auto negateIf = [&](Value condition, Value value) {
    return s.select(condition, s.negate(value), value);
  };
  Value swap = bitSet(q, 1);
  Value cosine = s.select(swap, sinR, cosR);
  Value sine = s.select(swap, cosR, sinR);
  Value next = arith::AddIOp::create(s.b, s.loc, q, s.integer(q.getType(), 1));
  return {negateIf(bitSet(next, 2), cosine), negateIf(bitSet(q, 2), sine)};
}

std::pair<Value, Value> emitCosSin(OpBuilder &b, Location loc, Value angle) {
  Scalars s{b, loc};
  return cosSinOf(s, reduceAngle(s, angle));
}

/// Cosine and sine of f32 values of any magnitude.
static std::pair<Value, Value> cosSinOfF32(Scalars s, Value x) {
  Type f32 = x.getType();
  Value size = math::AbsFOp::create(s.b, s.loc, x);
  auto isBelow = [&](double bound) {
    return s.compare(arith::CmpFPredicate::OLT, size, s.constant(f32, bound));
  };
  Value isNear = isBelow(0x1p31);
  ReducedAngle near =
      reduceAngle(s, s.toF64(s.select(isNear, x, s.constant(f32, 0.0))));
  ReducedAngle far = reduceFarAngle(s, x);
  auto [cosine, sine] =
      cosSinOf(s, {s.select(isNear, near.rest, far.rest),
                   s.select(isNear, near.quarter, far.quarter)});
  Value isFinite = isBelow(INFINITY), none = s.constant(f32, NAN);
  return {s.select(isFinite, s.toF32(cosine), none),
          s.select(isFinite, s.toF32(sine), none)};
}

Value emitSin(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  // The reduction by a multiple of pi/2 loses the sign of -0.
  Value isZero =
      s.compare(arith::CmpFPredicate::OEQ, x, s.constant(x.getType(), 0.0));
  return s.select(isZero, x, cosSinOfF32(s, x).second);
}

Value emitCos(OpBuilder &b, Location loc, Value x) {
  return cosSinOfF32(Scalars{b, loc}, x).first;
}

Value emitLog(OpBuilder &b, Location loc, Value x) {
  // 0 and negative numbers are scaled, too, without effect.
  Scalars s{b, loc};
  Value isSmall = s.compare(arith::CmpFPredicate::OLT, x,
                            s.constant(x.getType(), 0x1p-126));
  Value log =
      math::LogOp::create(b, loc, s.select(isSmall, s.mul(x, 0x1p32), x));
  return s.select(isSmall, s.add(log, -32 * std::log(2.0)), log);
}

//===----------------------------------------------------------------------===//
// Rounding and combining
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Integer quotients
//===----------------------------------------------------------------------===//

static Value isLess(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}
static Value isEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}

Value emitUnsignedQuotient(OpBuilder &b, Location loc, Value x, Value y,
                           QuotientRounding rounding) {
  Scalars s{b, loc};
  Value zero = s.integer(x.getType(), 0), one = s.integer(x.getType(), 1);
  // Kernels verify that no divisor is 0.
  Value divisor = arith::MaxUIOp::create(b, loc, y, one);
  Value quotient = arith::DivUIOp::create(b, loc, x, divisor);
  if (rounding == QuotientRounding::Up) {
    Value whole = arith::MulIOp::create(b, loc, quotient, divisor);
    Value more = arith::AddIOp::create(b, loc, quotient, one);
    quotient = s.select(isEqual(b, loc, whole, x), quotient, more);
  }
  return s.select(isEqual(b, loc, y, zero), zero, quotient);
}

Value emitQuotient(OpBuilder &b, Location loc, Value x, Value y,
                   QuotientRounding rounding) {
  Scalars s{b, loc};
  Value zero = s.integer(x.getType(), 0);
  Value isNegativeX = isLess(b, loc, x, zero);
  Value isNegativeY = isLess(b, loc, y, zero);
  auto negate = [&](Value n) -> Value {
    return arith::SubIOp::create(b, loc, zero, n);
  };
  Value isNegative = arith::XOrIOp::create(b, loc, isNegativeX, isNegativeY);
  // Divides magnitudes as unsigned numbers. Toward zero is down for positive
  // quotients and up for negative ones.
  Value magnitudeX = s.select(isNegativeX, negate(x), x);
  Value magnitudeY = s.select(isNegativeY, negate(y), y);
  Value less = emitUnsignedQuotient(b, loc, magnitudeX, magnitudeY,
                                    QuotientRounding::TowardZero);
  if (rounding == QuotientRounding::TowardZero)
    return s.select(isNegative, negate(less), less);
  Value more = emitUnsignedQuotient(b, loc, magnitudeX, magnitudeY,
                                    QuotientRounding::Up);
  return rounding == QuotientRounding::Down
             ? s.select(isNegative, negate(more), less)
             : s.select(isNegative, negate(less), more);
}

Value emitToInteger(OpBuilder &b, Location loc, Value x, IntegerType element,
                    bool isSigned) {
  Scalars s{b, loc};
  const unsigned width = element.getWidth();
  const double end = std::ldexp(1.0, int(isSigned ? width - 1 : width));
  const double least = isSigned ? -end : 0;
  // `least` and `end` are exact as floats, unlike, possibly, the greatest
  // integer: out-of-range values and NaN are converted from 0 instead.
  auto number = [&](double value) { return s.constant(x.getType(), value); };
  auto isBelow = [&](Value a, double bound) {
    return s.compare(arith::CmpFPredicate::OLT, a, number(bound));
  };
  Value inside = s.select(isBelow(x, end), x, number(0));
  inside = s.select(isBelow(inside, least), number(least), inside);
  Type type = s.like(x.getType(), element);
  Value whole;
  if (width < 32) // Convert to 32 bits, which processors support.
    whole = arith::TruncIOp::create(
        b, loc, type,
        arith::FPToSIOp::create(b, loc, s.like(x.getType(), b.getI32Type()),
                                inside));
  else if (isSigned)
    whole = arith::FPToSIOp::create(b, loc, type, inside);
  else
    whole = arith::FPToUIOp::create(b, loc, type, inside);
  const APInt greatest =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  return s.select(s.compare(arith::CmpFPredicate::OGE, x, number(end)),
                  s.integer(type, greatest.getSExtValue()), whole);
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
    // The result is NaN if any value is NaN.
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
