//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantizes activations to int8 with scales, once per row for all matmuls that
// read it.
//
// The f32 quotient x / scale is rounded to an integer. Unless the scale is tiny
// or huge, which is rare, the quotient is computed without a division: with y =
// 1 / scale correctly rounded, q the quotient to about an ulp, and its
// remainder exact, q + (x - q * scale) * y rounds to the correctly rounded
// quotient (Markstein, "Computation of elementary functions on the IBM RISC
// System/6000 processor", 1990). A first such step makes q close enough for the
// theorem.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

class RowQuantizer {
public:
  RowQuantizer(KernelBuilder &kb, kernel::QuantizeRowsOp op)
      : kb(kb), columns(op.getColumns()), parts(op.getParts()),
        groupSize(std::min<int64_t>(op.getGroup(), columns)),
        segment(op.getSegment()),
        row{columns, segment, static_cast<int64_t>(op.getPadded())},
        x(kb.argument(op.getXMutable())), out(kb.argument(op.getOutMutable())) {
  }

  void emit();

private:
  /// Emits a part of a row.
  void emitPart(Value token);
  void emitGroup(Value token, Value number, int64_t values);
  /// max|x| of `values` elements from column `from` on; NaN if one of them is.
  Value largest(Value token, Value from, int64_t values);
  /// The divisor of the elements of a group.
  struct Divisor {
    Value scale;
    Value inverse; ///< f32 x 16; null if too small or too large to have one.
  };
  /// Emits the segment of `values` elements from column `from` on.
  void emitSegment(Value token, Value from, Value number, int64_t values,
                   const Divisor &divisor);
  Value quotients(Value numbers, const Divisor &divisor);
  /// Rounds 16 quotients, stores `words` words of four and returns the
  /// integers.
  Value storeBytes(Value quotients, bool isInRange, Value token, Value column,
                   int64_t words);
  /// Loads `lanes` elements of the row, padded with zeros to 16.
  Value loadLanes(Value token, Value column, int64_t lanes);

  KernelBuilder &kb;
  int64_t columns, parts, groupSize, segment;
  QuantizedRowLayout row;
  Value x, out;
  Value firstColumn, firstOut; ///< Of the current part.
};

} // namespace

void RowQuantizer::emit() {
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value token) {
    firstColumn = firstOut = kb.index(0);
    if (parts == 1)
      return emitPart(token);
    kb.loop(0, parts, 1, [&](Value part) {
      firstColumn = kb.mul(part, columns);
      firstOut = kb.mul(part, row.words());
      emitPart(token);
    });
  });
}

void RowQuantizer::emitPart(Value token) {
  int64_t whole = columns / groupSize;
  kb.loop(0, whole, 1, [&](Value g) { emitGroup(token, g, groupSize); });
  if (int64_t rest = columns % groupSize)
    emitGroup(token, kb.index(whole), rest);
}

/// The range of scales whose inverses and remainders are normal numbers.
static constexpr double kLeastScale = 0x1p-90, kMaxScale = 0x1p90;

void RowQuantizer::emitGroup(Value token, Value number, int64_t values) {
  Value from = kb.mul(number, groupSize);
  Value scale = kb.divf(largest(token, from, values), kb.f32(127.0));
  Value firstSegment = kb.mul(number, ceilDiv(groupSize, segment));
  int64_t whole = values / segment;
  auto emitSegments = [&](const Divisor &divisor) {
    auto segmentAt = [&](Value i, int64_t size) {
      Value first = kb.add(from, kb.mul(i, segment));
      emitSegment(token, first, kb.add(firstSegment, i), size, divisor);
    };
    kb.loop(0, whole, 1, [&](Value i) { segmentAt(i, segment); });
    if (int64_t rest = values % segment)
      segmentAt(kb.index(whole), rest);
  };
  auto compare = [&](arith::CmpFPredicate predicate, double limit) -> Value {
    return arith::CmpFOp::create(kb, predicate, scale, kb.f32(limit));
  };
  Value isOrdinary =
      arith::AndIOp::create(kb, compare(arith::CmpFPredicate::OGE, kLeastScale),
                            compare(arith::CmpFPredicate::OLE, kMaxScale));
  kb.when(isOrdinary, [&] {
    emitSegments({scale, kb.broadcast(kb.divf(kb.f32(1.0), scale))});
  });
  Value isStrange =
      arith::XOrIOp::create(kb, isOrdinary, kb.intConstant(kb.getI1Type(), 1));
  kb.when(isStrange, [&] { emitSegments({scale, Value()}); });
}

Value RowQuantizer::loadLanes(Value token, Value column, int64_t lanes) {
  Value numbers = kb.loadVector(x, {token, kb.add(firstColumn, column)}, lanes);
  if (lanes == kLanes)
    return numbers;
  return vector::InsertStridedSliceOp::create(
      kb, numbers, kb.floatConstant(kb.f32x16(), 0.0), ArrayRef<int64_t>{0},
      ArrayRef<int64_t>{1});
}

Value RowQuantizer::largest(Value token, Value from, int64_t values) {
  // Without their signs, floats are ordered like their bits, and NaN comes
  // last.
  auto larger = [&](Value a, Value b) -> Value {
    return arith::MaxUIOp::create(kb, a, b);
  };
  auto include = [&](Value most, Value i, int64_t lanes) -> Value {
    Value bits = arith::BitcastOp::create(
        kb, kb.i32x16(), loadLanes(token, kb.add(from, i), lanes));
    return larger(most, arith::AndIOp::create(
                            kb, bits, kb.intConstant(kb.i32x16(), 0x7fffffff)));
  };
  int64_t whole = values / kLanes * kLanes;
  Value most = kb.intConstant(kb.i32x16(), 0);
  if (whole > 0)
    most = kb.reduce(kb.index(0), kb.index(whole), kLanes, {most},
                     [&](Value i, ValueRange carried) -> SmallVector<Value> {
                       return {include(carried.front(), i, kLanes)};
                     })
               .front();
  if (values > whole)
    most = include(most, kb.index(whole), values - whole);
  return arith::BitcastOp::create(kb, kb.getF32Type(),
                                  kb.foldLanes(most, larger));
}

Value RowQuantizer::quotients(Value numbers, const Divisor &divisor) {
  if (!divisor.inverse) {
    Value isZero = arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ,
                                         divisor.scale, kb.f32(0.0));
    Value by =
        arith::SelectOp::create(kb, isZero, kb.f32(INFINITY), divisor.scale);
    return kb.divf(numbers, kb.broadcast(by));
  }
  Value minusScale =
      kb.broadcast(arith::NegFOp::create(kb, divisor.scale).getResult());
  Value quotient = kb.mulf(numbers, divisor.inverse);
  for (int step = 0; step < 2; ++step) {
    Value remainder = kb.fma(quotient, minusScale, numbers);
    quotient = kb.fma(remainder, divisor.inverse, quotient);
  }
  return quotient;
}

void RowQuantizer::emitSegment(Value token, Value from, Value number,
                               int64_t values, const Divisor &divisor) {
  Value firstWord = kb.mul(number, row.wordsPerSegment());
  int64_t whole = values / kLanes * kLanes;
  auto addBytes = [&](Value sums, Value i, int64_t lanes, int64_t words) {
    Value numbers = loadLanes(token, kb.add(from, i), lanes);
    Value rounded = quotients(numbers, divisor);
    Value integers = storeBytes(rounded, static_cast<bool>(divisor.inverse),
                                token, kb.add(firstWord, kb.div(i, 4)), words);
    return arith::AddIOp::create(kb, sums, integers).getResult();
  };
  Value sums = kb.intConstant(kb.i32x16(), 0);
  if (whole > 0)
    sums = kb.reduce(kb.index(0), kb.index(whole), kLanes, {sums},
                     [&](Value i, ValueRange carried) -> SmallVector<Value> {
                       return {addBytes(carried.front(), i, kLanes, 4)};
                     })
               .front();
  if (values > whole) // Padded with zeros to the end of the weights' line.
    sums = addBytes(sums, kb.index(whole), values - whole,
                    std::min<int64_t>(4, row.wordsPerSegment() - whole / 4));
  Value sum =
      kb.foldLanes(sums, [&](Value a, Value b) { return kb.add(a, b); });
  Value minusSum = kb.sub(kb.intConstant(kb.getI32Type(), 0), sum);
  auto place = [&](int64_t from) {
    return kb.add(firstOut, kb.add(number, from));
  };
  kb.store(divisor.scale, out, {token, place(row.scalesAt())});
  Value stored = arith::BitcastOp::create(kb, kb.getF32Type(), minusSum);
  kb.store(stored, out, {token, place(row.sumsAt())});
  Value scaledSum =
      kb.mulf(divisor.scale, arith::SIToFPOp::create(kb, kb.getF32Type(), sum));
  kb.store(scaledSum, out, {token, place(row.scaledSumsAt())});
}

Value RowQuantizer::storeBytes(Value quotients, bool isInRange, Value token,
                               Value column, int64_t words) {
  Value rounded = math::RoundEvenOp::create(kb, quotients);
  // Exceeds 127 if the scale is subnormal or an element is not finite: in these
  // cases the scale determines the result, so any integer will do.
  if (!isInRange)
    rounded = clampToBytes(kb, rounded);
  Value integers = arith::FPToSIOp::create(kb, kb.i32x16(), rounded);
  Value bytes =
      arith::TruncIOp::create(kb, kb.vec(kLanes, kb.getI8Type()), integers);
  Value packed =
      vector::BitCastOp::create(kb, kb.vec(4, kb.getF32Type()), bytes);
  if (words < 4)
    packed =
        vector::ExtractStridedSliceOp::create(kb, packed, {0}, {words}, {1});
  kb.storeVector(packed, out, {token, kb.add(firstOut, column)});
  return integers;
}

static LogicalResult emitQuantizeRows(KernelBuilder &kb,
                                      kernel::QuantizeRowsOp op) {
  RowQuantizer(kb, op).emit();
  return success();
}

void addRowQuantizers(KernelEmitters &emitters) {
  emitters.add(emitQuantizeRows);
}

} // namespace llmir
