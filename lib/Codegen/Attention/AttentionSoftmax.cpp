//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace llmir {

static constexpr double kLog2E = 1.4426950408889634074;

AttentionSoftmax::AttentionSoftmax(KernelBuilder &kb,
                                   const AttentionOptions &options, Value mask,
                                   Value sinks)
    : kb(kb), options(options), mask(mask), sinks(sinks),
      // The greatest values of a mask must not overflow to infinity.
      unit(options.maskStrides.empty() ? kLog2E : 1.0) {
  SmallVector<int32_t> numbers =
      llvm::to_vector_of<int32_t>(llvm::seq<int32_t>(0, kLanes));
  laneNumbers = arith::ConstantOp::create(
      kb, DenseElementsAttr::get(kb.i32x16(), ArrayRef(numbers)));
  lowest = kb.floatConstant(kb.f32x16(), kLowestScore);
}

QueryRow AttentionSoftmax::queryRow(const AttentionItem &item,
                                    int64_t itemHeads, Value number) {
  const QueryTile &tile = item.tile;
  Value query = kb.div(number, itemHeads);
  QueryRow row;
  row.token = kb.add(tile.firstToken, query);
  row.head = kb.add(item.firstHead, kb.rem(number, itemHeads));
  row.position = kb.add(tile.position, query);
  row.keyEnd = AttentionWork::keyEnd(kb, options, row.position, tile.length);
  row.keyBegin = AttentionWork::firstKey(kb, options, row.position);
  if (mask) {
    Value indices[] = {tile.sequence, row.head, kb.add(tile.firstQuery, query),
                       row.token};
    row.maskOffset = kb.index(0);
    for (auto [index, stride] : llvm::zip(indices, options.maskStrides))
      if (stride)
        row.maskOffset = kb.add(row.maskOffset, kb.mul(index, stride));
  }
  if (!options.alibiSlopes.empty()) {
    SmallVector<float> slopes;
    for (double slope : options.alibiSlopes)
      slopes.push_back(static_cast<float>(slope * unit));
    Value constant = arith::ConstantOp::create(
        kb, DenseElementsAttr::get(kb.vec(slopes.size(), kb.getF32Type()),
                                   ArrayRef(slopes)));
    row.slope = vector::ExtractOp::create(kb, constant, OpFoldResult(row.head));
  }
  return row;
}

std::pair<Value, Value> AttentionSoftmax::initialState(Value head) {
  Value least = kb.f32(kLowestScore), none = kb.f32(0.0);
  if (!sinks)
    return {least, none};
  // A sink is an additional first key whose V is zero; with score -inf it has
  // no effect.
  Value sink = kb.load(sinks, head);
  Value counts =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::UGT, sink,
                            kb.f32(-std::numeric_limits<double>::infinity()));
  Value score = kb.maxf(least, kb.mulf(sink, kb.f32(unit)));
  return {arith::SelectOp::create(kb, counts, score, least),
          arith::SelectOp::create(kb, counts, kb.f32(1.0), none)};
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value AttentionSoftmax::exponential(Value difference) {
  Type type = difference.getType();
  auto constant = [&](double value) { return kb.floatConstant(type, value); };
  Value x = unit == kLog2E ? difference : kb.mulf(difference, constant(kLog2E));
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits. The
  // constant includes the exponent bias, so that the bits, shifted, are the
  // exponent of 2^n.
  Value magic = constant(0x1.8p23 + 127);
  Value shifted = kb.addf(x, magic);
  Value f = kb.subf(x, kb.subf(shifted, magic)); // In [-1/2, 1/2].
  // 2^f: a minimax polynomial whose constant term is 1, so that 2^0 is. Its
  // relative error is below 2^-23 before rounding.
  static constexpr double coefficients[] = {
      0.009671512991189957, 0.05550733581185341, 0.24022242426872253,
      0.6931470036506653, 1.0};
  Value power = constant(0.001326472614891827);
  for (double coefficient : coefficients)
    power = kb.fma(power, f, constant(coefficient));
  Type bitsType = kb.getI32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    bitsType = kb.vec(vector.getNumElements(), bitsType);
  Value bits = arith::BitcastOp::create(kb, bitsType, shifted);
  bits = arith::ShLIOp::create(kb, bits, kb.intConstant(bitsType, 23));
  Value result = kb.mulf(power, arith::BitcastOp::create(kb, type, bits));
  // Clears the result if the exponent is too small. NaN is propagated.
  Value tiny =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, x, constant(-126.0));
  return arith::SelectOp::create(kb, tiny, constant(0.0), result);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionSoftmax::relative(Value key, Value firstKey) {
  return kb.broadcast(
      arith::IndexCastOp::create(kb, kb.getI32Type(), kb.sub(key, firstKey)));
}

Value AttentionSoftmax::withBias(const QueryRow &row, Value firstKey,
                                 Value scores) {
  if (options.softCap != 0) {
    Value cap = kb.floatConstant(kb.f32x16(), options.softCap * unit);
    scores = kb.mulf(cap, math::TanhOp::create(kb, kb.divf(scores, cap)));
  }
  if (row.slope) {
    Value distance = arith::SubIOp::create(kb, laneNumbers,
                                           relative(row.position, firstKey));
    distance = arith::SIToFPOp::create(kb, kb.f32x16(), distance);
    scores = kb.fma(kb.broadcast(row.slope), distance, scores);
  }
  return scores;
}

Value AttentionSoftmax::visible(const QueryRow &row, Value firstKey) {
  Value seen = arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, laneNumbers,
                                     relative(row.keyEnd, firstKey));
  if (!options.window)
    return seen;
  Value inWindow =
      arith::CmpIOp::create(kb, arith::CmpIPredicate::sge, laneNumbers,
                            relative(row.keyBegin, firstKey));
  return arith::AndIOp::create(kb, seen, inWindow);
}

AttentionSoftmax::Scores AttentionSoftmax::masked(const QueryRow &row,
                                                  Value firstKey, Scores tile) {
  Value values;
  if (options.maskStrides.back() == 0)
    values = kb.broadcast(kb.load(mask, row.maskOffset));
  else // Only visible keys are guaranteed to be within the mask.
    values = vector::MaskedLoadOp::create(
        kb, kb.f32x16(), mask, ValueRange{kb.add(row.maskOffset, firstKey)},
        tile.seen, kb.floatConstant(kb.f32x16(), 0.0));
  Value infinity =
      kb.floatConstant(kb.f32x16(), -std::numeric_limits<double>::infinity());
  Value open =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::UNE, values, infinity);
  // A sum below the lowest score is not -inf, so that such keys get equal
  // weights.
  Value s = kb.maxf(lowest, kb.addf(tile.values, values));
  return {s, arith::AndIOp::create(kb, tile.seen, open)};
}

//===----------------------------------------------------------------------===//
// Softmax iteration
//===----------------------------------------------------------------------===//

void AttentionSoftmax::attendSpan(const QueryRow &row, Value firstKey,
                                  const KeySpan &span, Value scores,
                                  const SoftmaxState &layout, Value state,
                                  Value rescale, AttentionProducts &products,
                                  Value weights, Value seenArea) {
  SmallVector<Value> values, visibleKeys;
  Value most;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value tileKey = kb.add(firstKey, t * kLanes);
    Value s = kb.loadAt(kb.f32x16(), scores, kb.index(t * kLanes * 4));
    s = withBias(row, tileKey, s);
    if (seenArea) {
      Scores tile{s, visible(row, tileKey)};
      if (mask)
        tile = masked(row, tileKey, tile);
      s = arith::SelectOp::create(kb, tile.seen, tile.values, lowest);
      visibleKeys.push_back(tile.seen);
    }
    values.push_back(s);
    most = most ? kb.maxf(most, s) : s;
  }
  most = kb.foldLanes(most, [&](Value a, Value b) { return kb.maxf(a, b); });
  Value at = kb.index(layout.maximumBytes());
  Value before = kb.loadAt(kb.getF32Type(), state, at);
  Value maximum = kb.maxf(before, most);
  kb.storeAt(maximum, state, at);
  Value factor = exponential(kb.subf(before, maximum));
  kb.storeAt(factor, rescale, kb.index(0));

  SmallVector<Value> p;
  Value top = kb.broadcast(maximum);
  for (auto [t, s] : llvm::enumerate(values)) {
    Value e = exponential(kb.subf(s, top));
    if (seenArea) {
      e = arith::SelectOp::create(kb, visibleKeys[t], e,
                                  kb.floatConstant(kb.f32x16(), 0.0));
      if (products.seenBytes())
        products.prepareSeen(seenArea, static_cast<int64_t>(t), visibleKeys[t]);
    }
    p.push_back(e);
  }
  p = products.prepareWeights(weights, p, span);
  Value firstHalf = kb.addf(p[0], p[1]);
  Value sum = kb.addf(firstHalf, kb.addf(p[2], p[3]));
  Value sumAt = kb.index(layout.sumBytes());
  Value sums = kb.loadAt(kb.f32x16(), state, sumAt);
  kb.storeAt(kb.fma(sums, kb.broadcast(factor), sum), state, sumAt);
}

} // namespace llmir
