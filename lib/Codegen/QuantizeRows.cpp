//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations to int8 with scales, once per row and for all matmuls of it.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

class RowQuantizer {
public:
  RowQuantizer(KernelBuilder &kb, const QuantizeRowsSpec &spec)
      : kb(kb), spec(spec), row{spec.columns, spec.segment, spec.padded},
        x(kb.buffer(0)), out(kb.buffer(1)) {}

  void emit();

private:
  void emitGroup(Value token, Value number, int64_t group, int64_t values);
  /// max|x| of `values` numbers from column `from` on, in every lane; NaN where
  /// one of them is.
  Value largest(Value token, Value from, int64_t values);
  /// The segment of `values` numbers from column `from` on.
  void emitSegment(Value token, Value from, Value number, int64_t values,
                   Value scale);
  /// Rounds 16 numbers, stores `words` words of four and gives the integers.
  Value storeBytes(Value numbers, Value divisor, Value token, Value column,
                   int64_t words);
  /// `lanes` numbers of the row, and zero up to 16.
  Value loadLanes(Value token, Value column, int64_t lanes);

  KernelBuilder &kb;
  const QuantizeRowsSpec &spec;
  QuantizedRowLayout row;
  Value x, out;
};

} // namespace

void RowQuantizer::emit() {
  int64_t group =
      spec.group > 0 ? std::min(spec.group, spec.columns) : spec.columns;
  int64_t whole = spec.columns / group;
  auto [first, last] = kb.share(kb.rowCount(spec.over));
  kb.loop(first, last, kb.index(1), [&](Value token) {
    kb.loop(0, whole, 1, [&](Value g) { emitGroup(token, g, group, group); });
    if (int64_t rest = spec.columns % group)
      emitGroup(token, kb.index(whole), group, rest);
  });
}

void RowQuantizer::emitGroup(Value token, Value number, int64_t group,
                             int64_t values) {
  Value from = kb.mul(number, group);
  Value most = kb.foldLanes(largest(token, from, values),
                            [&](Value a, Value b) -> Value {
                              return arith::MaximumFOp::create(kb, a, b);
                            });
  Value scale = kb.divf(most, kb.f32(127.0));
  Value firstSegment = kb.mul(number, ceilDiv(group, spec.segment));
  int64_t whole = values / spec.segment;
  auto segmentAt = [&](Value i, int64_t size) {
    emitSegment(token, kb.add(from, kb.mul(i, spec.segment)),
                kb.add(firstSegment, i), size, scale);
  };
  kb.loop(0, whole, 1, [&](Value i) { segmentAt(i, spec.segment); });
  if (int64_t rest = values % spec.segment)
    segmentAt(kb.index(whole), rest);
}

Value RowQuantizer::loadLanes(Value token, Value column, int64_t lanes) {
  Value numbers = kb.loadVector(x, {token, column}, lanes);
  if (lanes == kLanes)
    return numbers;
  return vector::InsertStridedSliceOp::create(
      kb, numbers, kb.floatConstant(kb.f32x16(), 0.0), ArrayRef<int64_t>{0},
      ArrayRef<int64_t>{1});
}

Value RowQuantizer::largest(Value token, Value from, int64_t values) {
  auto include = [&](Value most, Value i, int64_t lanes) -> Value {
    Value size =
        math::AbsFOp::create(kb, loadLanes(token, kb.add(from, i), lanes));
    return arith::MaximumFOp::create(kb, most, size);
  };
  int64_t whole = values / kLanes * kLanes;
  Value most = kb.floatConstant(kb.f32x16(), 0.0);
  if (whole > 0)
    most = kb.reduce(kb.index(0), kb.index(whole), kLanes, {most},
                     [&](Value i, ValueRange carried) -> SmallVector<Value> {
                       return {include(carried.front(), i, kLanes)};
                     })
               .front();
  return values > whole ? include(most, kb.index(whole), values - whole) : most;
}

void RowQuantizer::emitSegment(Value token, Value from, Value number,
                               int64_t values, Value scale) {
  Value isZero =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, scale, kb.f32(0.0));
  Value divisor = kb.broadcast(
      arith::SelectOp::create(kb, isZero, kb.f32(INFINITY), scale));
  Value firstWord = kb.mul(number, row.wordsPerSegment());
  int64_t whole = values / kLanes * kLanes;
  auto addBytes = [&](Value sums, Value i, int64_t lanes, int64_t words) {
    Value integers =
        storeBytes(loadLanes(token, kb.add(from, i), lanes), divisor, token,
                   kb.add(firstWord, kb.div(i, 4)), words);
    return arith::AddIOp::create(kb, sums, integers).getResult();
  };
  Value sums = kb.intConstant(kb.i32x16(), 0);
  if (whole > 0)
    sums = kb.reduce(kb.index(0), kb.index(whole), kLanes, {sums},
                     [&](Value i, ValueRange carried) -> SmallVector<Value> {
                       return {addBytes(carried.front(), i, kLanes, 4)};
                     })
               .front();
  if (values > whole) // With zero up to the end of the weights' line.
    sums = addBytes(sums, kb.index(whole), values - whole,
                    std::min<int64_t>(4, row.wordsPerSegment() - whole / 4));
  Value sum =
      kb.foldLanes(sums, [&](Value a, Value b) { return kb.add(a, b); });
  Value minusSum = kb.sub(kb.intConstant(kb.getI32Type(), 0), sum);
  kb.store(scale, out, {token, kb.add(number, row.scalesAt())});
  kb.store(arith::BitcastOp::create(kb, kb.getF32Type(), minusSum), out,
           {token, kb.add(number, row.sumsAt())});
  Value scaledSum =
      kb.mulf(scale, arith::SIToFPOp::create(kb, kb.getF32Type(), sum));
  kb.store(scaledSum, out, {token, kb.add(number, row.scaledSumsAt())});
}

Value RowQuantizer::storeBytes(Value numbers, Value divisor, Value token,
                               Value column, int64_t words) {
  Value rounded = math::RoundEvenOp::create(kb, kb.divf(numbers, divisor));
  // No more than 127 but where the scale is subnormal, or where a number is not
  // finite: then the scale says so, and the integer only has to be one.
  Value low = kb.floatConstant(kb.f32x16(), -127.0);
  Value high = kb.floatConstant(kb.f32x16(), 127.0);
  Value above = kb.maxf(rounded, low);
  Value isBelow =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, above, high);
  Value clamped = arith::SelectOp::create(kb, isBelow, above, high);
  Value integers = arith::FPToSIOp::create(kb, kb.i32x16(), clamped);
  Value bytes =
      arith::TruncIOp::create(kb, kb.vec(kLanes, kb.getI8Type()), integers);
  Value packed =
      vector::BitCastOp::create(kb, kb.vec(4, kb.getF32Type()), bytes);
  if (words < 4)
    packed =
        vector::ExtractStridedSliceOp::create(kb, packed, {0}, {words}, {1});
  kb.storeVector(packed, out, {token, column});
  return integers;
}

void emitQuantizeRows(KernelBuilder &kb, const QuantizeRowsSpec &spec) {
  RowQuantizer(kb, spec).emit();
}

} // namespace llmir
