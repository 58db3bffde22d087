//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expansions of math ops without hardware support.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "Scalars.h"

#include <cmath>

using namespace mlir;

namespace llmir::mllm::program {

//===----------------------------------------------------------------------===//
// Powers, hyperbolic functions and their inverses
//===----------------------------------------------------------------------===//

/// The logarithm of normal f64 numbers, with an error of 1e-15 relative to the
/// result or to 1. With x = m * 2^e and m around 1, log(m) = 2 * atanh(t) where
/// t = (m - 1) / (m + 1) is at most 0.172.
static Value logOfF64(Scalars s, Value x) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  Type f64 = x.getType();
  Value bits = s.bitcast(x, b.getI64Type());
  Type i64 = bits.getType();
  Value mantissaBits = s.integer(i64, 52);
  Value fromRootOfHalf = arith::SubIOp::create(
      b, loc, bits, s.integer(i64, 0x3fe6a09e667f3bcd)); // sqrt(1/2)
  Value e = arith::ShRSIOp::create(b, loc, fromRootOfHalf, mantissaBits);
  Value m = s.bitcast(
      arith::SubIOp::create(b, loc, bits,
                            arith::ShLIOp::create(b, loc, e, mantissaBits)),
      b.getF64Type());
  Value difference = s.add(m, -1.0);
  Value t = s.div(difference, s.add(m, 1.0));
  Value logM = s.mul(
      t, s.polynomial(s.mul(t, t), {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9,
                                    2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17}));
  Value number = arith::SIToFPOp::create(
      b, loc, f64,
      arith::TruncIOp::create(b, loc, s.like(i64, b.getI32Type()), e));
  Value log = s.fma(number, s.constant(f64, std::log(2.0)), logM);
  Value zero = s.constant(f64, 0.0), infinity = s.constant(f64, INFINITY);
  // The logarithm of infinity and NaN is the operand.
  log = s.select(s.compare(arith::CmpFPredicate::ULT, x, infinity), log, x);
  log = s.select(s.compare(arith::CmpFPredicate::UNO, x, x), x, log);
  log = s.select(s.compare(arith::CmpFPredicate::OLT, x, zero),
                 s.constant(f64, NAN), log);
  return s.select(s.compare(arith::CmpFPredicate::OEQ, x, zero),
                  s.constant(f64, -INFINITY), log);
}

/// x^y, given |x|^y: negative bases have real powers only for integer
/// exponents, and the sign is that of odd exponents.
static Value powerWithSign(Scalars s, Value x, Value y, Value magnitude) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  auto isWhole = [&](Value number) {
    return s.compare(arith::CmpFPredicate::OEQ,
                     math::FloorOp::create(b, loc, number), number);
  };
  Value wholeExponent = isWhole(y);
  Value one = s.integer(wholeExponent.getType(), 1);
  auto isNot = [&](Value holds) -> Value {
    return arith::XOrIOp::create(b, loc, holds, one);
  };
  Value isOdd = arith::AndIOp::create(b, loc, wholeExponent,
                                      isNot(isWhole(s.mul(y, 0.5))));
  Value bits = s.bitcast(x, b.getI32Type());
  Value hasSign = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits,
                                        s.integer(bits.getType(), 0));
  Value changesSign = arith::AndIOp::create(b, loc, hasSign, isOdd);
  Value power = s.select(changesSign, s.negate(magnitude), magnitude);
  Value isBelowZero =
      s.compare(arith::CmpFPredicate::OLT, x, s.constant(x.getType(), 0.0));
  Value isFinite = s.compare(arith::CmpFPredicate::OGT, x,
                             s.constant(x.getType(), -INFINITY));
  Value isNegative = arith::AndIOp::create(b, loc, isBelowZero, isFinite);
  return s.select(
      arith::AndIOp::create(b, loc, isNegative, isNot(wholeExponent)),
      s.constant(x.getType(), NAN), power);
}

Value emitPower(OpBuilder &b, Location loc, Value x, Value y) {
  Scalars s{b, loc};
  Value size = math::AbsFOp::create(b, loc, x);
  Value one = s.constant(x.getType(), 1.0);
  Value log = logOfF64(s, s.toF64(size));
  Value power = s.toF32(s.expOfF64(s.mul(s.toF64(y), log)));
  power = powerWithSign(s, x, y, power);
  // 1 to any power, -1 to an infinite power, and anything to the power 0.
  auto either = [&](Value p, Value q) -> Value {
    return arith::OrIOp::create(b, loc, p, q);
  };
  Value isInfinite =
      s.compare(arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, loc, y),
                s.constant(x.getType(), INFINITY));
  Value isZeroth =
      s.compare(arith::CmpFPredicate::OEQ, y, s.constant(x.getType(), 0.0));
  Value isOne = either(isZeroth, s.compare(arith::CmpFPredicate::OEQ, x, one));
  isOne = either(isOne, arith::AndIOp::create(
                            b, loc, isInfinite,
                            s.compare(arith::CmpFPredicate::OEQ, size, one)));
  return s.select(isOne, one, power);
}

Value emitExp2(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  return s.toF32(s.expOfF64(s.mul(s.toF64(x), std::log(2.0))));
}

/// exp(x) / 2 and exp(-x) / 2 in f64: half of a value that may overflow f32.
static std::pair<Value, Value> halfExponentials(Scalars s, Value x) {
  auto half = [&](Value argument) {
    return s.expOfF64(s.add(argument, -std::log(2.0)));
  };
  return {half(x), half(s.negate(x))};
}

Value emitCosh(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  auto [up, down] = halfExponentials(s, s.toF64(x));
  return s.toF32(s.add(up, down));
}

/// Selects `near` if |x| is less than the bound. Small results of a difference
/// of values around 1 suffer from cancellation, which a series avoids.
static Value nearZero(Scalars s, Value x, double bound, Value near, Value far) {
  Value size = math::AbsFOp::create(s.b, s.loc, x);
  return s.select(s.compare(arith::CmpFPredicate::OLT, size,
                            s.constant(x.getType(), bound)),
                  near, far);
}

Value emitSinh(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  auto [up, down] = halfExponentials(s, wide);
  // The first omitted term is less than 1e-11 of the result.
  Value series =
      s.mul(wide, s.polynomial(s.mul(wide, wide), {1.0, 1.0 / 6, 1.0 / 120,
                                                   1.0 / 5040, 1.0 / 362880}));
  return s.toF32(nearZero(s, wide, 0.5, series, s.sub(up, down)));
}

Value emitAsinh(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  Value size = math::AbsFOp::create(b, loc, wide);
  Value root = math::SqrtOp::create(b, loc, s.add(s.mul(size, size), 1.0));
  Value far =
      math::CopySignOp::create(b, loc, logOfF64(s, s.add(size, root)), wide);
  Value series = s.mul(wide, s.polynomial(s.mul(wide, wide), {1.0, -1.0 / 6}));
  return s.toF32(nearZero(s, wide, 1e-3, series, far));
}

Value emitAcosh(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  Value root = math::SqrtOp::create(b, loc, s.add(s.mul(wide, wide), -1.0));
  Value log = logOfF64(s, s.add(wide, root));
  Value isBelow = s.compare(arith::CmpFPredicate::OLT, wide,
                            s.constant(wide.getType(), 1.0));
  return s.toF32(s.select(isBelow, s.constant(wide.getType(), NAN), log));
}

Value emitAtanh(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Value wide = s.toF64(x);
  Value sum = s.add(wide, 1.0);
  Value ratio = s.div(sum, s.add(s.negate(wide), 1.0));
  Value series = s.mul(wide, s.polynomial(s.mul(wide, wide), {1.0, 1.0 / 3}));
  return s.toF32(
      nearZero(s, wide, 1e-3, series, s.mul(logOfF64(s, ratio), 0.5)));
}

Value emitCbrt(OpBuilder &b, Location loc, Value x) {
  Scalars s{b, loc};
  Type f32 = x.getType();
  Value size = math::AbsFOp::create(b, loc, x);
  Value isSmall =
      s.compare(arith::CmpFPredicate::OLT, size, s.constant(f32, 0x1p-126));
  Value root =
      math::CbrtOp::create(b, loc, s.select(isSmall, s.mul(x, 0x1p24), x));
  root = s.select(isSmall, s.mul(root, 0x1p-8), root);
  // The root of 0, infinity and NaN is the operand.
  Value isAboveZero =
      s.compare(arith::CmpFPredicate::OGT, size, s.constant(f32, 0.0));
  Value isFinite =
      s.compare(arith::CmpFPredicate::OLT, size, s.constant(f32, INFINITY));
  Value isOrdinary = arith::AndIOp::create(b, loc, isAboveZero, isFinite);
  return s.select(isOrdinary, root, x);
}

Value emitAtan2(OpBuilder &b, Location loc, Value y, Value x) {
  Scalars s{b, loc};
  Type f32 = x.getType();
  auto bothAre = [&](double size) -> Value {
    auto is = [&](Value number) {
      return s.compare(arith::CmpFPredicate::OEQ,
                       math::AbsFOp::create(b, loc, number),
                       s.constant(f32, size));
    };
    Value isX = is(x), isY = is(y);
    return arith::AndIOp::create(b, loc, isX, isY);
  };
  // Two infinities count as equal; for two zeros, the sign of x determines the
  // direction.
  auto unit = [&](Value number) -> Value {
    return math::CopySignOp::create(b, loc, s.constant(f32, 1.0), number);
  };
  Value areInfinite = bothAre(INFINITY);
  Value turnsX = arith::OrIOp::create(b, loc, areInfinite, bothAre(0.0));
  Value height = s.select(areInfinite, unit(y), y);
  Value width = s.select(turnsX, unit(x), x);
  Value angle = math::Atan2Op::create(b, loc, height, width);
  // Above or below the x axis, also if y is -0.
  return math::CopySignOp::create(b, loc, angle, y);
}

} // namespace llmir::mllm::program
