//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixture-of-experts ops, projections of heads, and greedy sampling.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Whether a ranks before b: it is greater, or b is NaN and a is not.
static Value isBetter(ScalarBuilder &s, Value a, Value b) {
  Value isNumber = s.cmp(CmpFPredicate::ORD, a, a);
  Value isNaN = s.cmp(CmpFPredicate::UNO, b, b);
  return s.orb(s.cmp(CmpFPredicate::OGT, a, b), s.andb(isNumber, isNaN));
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

/// The rank of each expert among those of its token [T, E], in i32.
static Value ranksOf(TensorBuilder &t, Value logits) {
  TensorBuilder::Sizes sizes = t.sizes(logits);
  Value zeros =
      linalg::FillOp::create(t, t.i32(0), t.empty(sizes, t.getI32Type()))
          .getResult(0);
  // Loops: token, expert, other expert.
  return t.reduce(zeros, {logits, logits},
                  {t.map(3, {0, 1}), t.map(3, {0, 2}), t.map(3, {0, 1})},
                  [](ScalarBuilder &s, ValueRange v) {
                    Value isLater =
                        s.cmp(CmpIPredicate::ult, s.loop(2), s.loop(1));
                    Value isNoWorse = arith::XOrIOp::create(
                        s, isBetter(s, v[0], v[1]),
                        arith::ConstantOp::create(s, s.getBoolAttr(true)));
                    Value comesBefore = s.orb(isBetter(s, v[1], v[0]),
                                              s.andb(isLater, isNoWorse));
                    return s.select(comesBefore, s.addi(v[2], s.i32(1)), v[2]);
                  });
}

static Value scoresOf(TensorBuilder &t, Value logits, StringRef score) {
  if (score == "softmax")
    return softmaxOfRows(t, logits, t.getF32Type());
  return t.elementwise(t.sizes(logits), t.getF32Type(), logits,
                       [](ScalarBuilder &s, ValueRange v) {
                         Value power = s.exp(s.negf(v[0]));
                         return s.divf(s.f32(1), s.addf(s.f32(1), power));
                       });
}

static SmallVector<Value> convertMoERoute(TensorBuilder &t, MoERouteOp op,
                                          MoERouteOp::Adaptor operands) {
  Value logits = operands.getLogits();
  Value ranks = ranksOf(t, logits);
  Value scores = scoresOf(t, logits, op.getScore());
  TensorBuilder::Sizes sizes = {t.size(logits, 0), t.fixed(op.getTopK())};
  Value experts =
      linalg::FillOp::create(t, t.i32(0), t.empty(sizes, t.getI32Type()))
          .getResult(0);
  // Loops: token, rank among the selected experts, expert.
  ValueRange chosen = t.reduceMany(
      {experts, t.filled(sizes, 0)}, {ranks, scores},
      {t.map(3, {0, 2}), t.map(3, {0, 2}), t.map(3, {0, 1})},
      [](ScalarBuilder &s, ValueRange v) {
        Value place = arith::IndexCastOp::create(s, s.getI32Type(), s.loop(1));
        Value expert = arith::IndexCastOp::create(s, s.getI32Type(), s.loop(2));
        Value isHere = s.cmp(CmpIPredicate::eq, v[0], place);
        return SmallVector<Value>{s.select(isHere, expert, v[2]),
                                  s.select(isHere, v[1], v[3])};
      });
  Value weights = chosen[1];
  Type element = t.elementType(op.getWeights());
  AffineMap whole = t.map(2, {0, 1}), row = t.map(2, {0});
  if (op.getNormalize()) {
    Value sum = t.reduce(
        t.filled({sizes.front()}, 0), weights, {whole, row},
        [](ScalarBuilder &s, ValueRange v) { return s.addf(v[1], v[0]); });
    weights = t.compute(
        sizes, element, {weights, sum}, {whole, row},
        [](ScalarBuilder &s, ValueRange v) { return s.divf(v[0], v[1]); });
  } else if (!element.isF32()) {
    weights =
        t.elementwise(sizes, element, weights,
                      [](ScalarBuilder &s, ValueRange v) { return v[0]; });
  }
  return {chosen[0], weights};
}

//===----------------------------------------------------------------------===//
// Feed-forward layers
//===----------------------------------------------------------------------===//

/// [T, k, N]: for each token and each of its experts, the product of its row,
/// [T, K] or [T, k, K], with the expert's matrix [N, K].
static Value productOfExperts(TensorBuilder &t, Value rows, Value experts,
                              const WeightOperand &weights) {
  TensorBuilder::Sizes sizes = t.sizes(experts);
  sizes.push_back(weights.sizes(t)[1]);
  // Loops: token, expert of the token, n, k.
  SmallVector<int64_t> ofRows = {0, 1, 3};
  if (t.type(rows).getRank() == 2)
    ofRows = {0, 3};
  return t.reduce(t.filled(sizes, 0), {rows, experts},
                  {t.map(4, ofRows), t.map(4, {0, 1}), t.map(4, {0, 1, 2})},
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value input =
                        weights.roundsInputs() ? roundedToBF16(s, v[0]) : v[0];
                    Value weight =
                        weights.at(s, {s.toIndex(v[1]), s.loop(2), s.loop(3)});
                    return s.addf(v[2], s.mulf(input, weight));
                  });
}

/// Adds the bias [E, N, 1] of each expert to its product [T, k, N].
static Value addBias(TensorBuilder &t, Value products, Value experts,
                     Value bias) {
  return t.compute(t.sizes(products), t.getF32Type(), {products, experts},
                   {t.map(3, {0, 1, 2}), t.map(3, {0, 1})},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value zero = s.index(0);
                     Value own =
                         s.extractF32(bias, {s.toIndex(v[1]), s.loop(2), zero});
                     return s.addf(v[0], own);
                   });
}

/// min(g, limit) · σ(1.702 min(g, limit)) · (u + 1), with u within ±limit.
static Value clampedSwiGLU(ScalarBuilder &s, Value g, Value u, double limit) {
  Value most = s.f32(limit), least = s.f32(-limit);
  auto atMost = [&](Value x) {
    return s.select(s.cmp(CmpFPredicate::OGT, x, most), most, x);
  };
  Value gate = atMost(g);
  Value up = s.select(s.cmp(CmpFPredicate::OLT, u, least), least, atMost(u));
  Value opened = s.swish(gate, s.mulf(s.f32(1.702), gate));
  return s.mulf(opened, s.addf(up, s.f32(1)));
}

/// For each token, the positions of its experts in ascending order of experts
/// [T, k], in i32.
static Value ascendingPlaces(TensorBuilder &t, Value experts) {
  TensorBuilder::Sizes sizes = t.sizes(experts);
  auto zeros = [&] {
    return linalg::FillOp::create(t, t.i32(0), t.empty(sizes, t.getI32Type()))
        .getResult(0);
  };
  // The rank of each one.
  Value ranks = t.reduce(
      zeros(), {experts, experts},
      {t.map(3, {0, 1}), t.map(3, {0, 2}), t.map(3, {0, 1})},
      [](ScalarBuilder &s, ValueRange v) {
        Value isSame = s.cmp(CmpIPredicate::eq, v[1], v[0]);
        Value isEarlier = s.cmp(CmpIPredicate::ult, s.loop(2), s.loop(1));
        Value comesBefore = s.orb(s.cmp(CmpIPredicate::slt, v[1], v[0]),
                                  s.andb(isSame, isEarlier));
        return s.select(comesBefore, s.addi(v[2], s.i32(1)), v[2]);
      });
  return t.reduce(zeros(), ranks, {t.map(3, {0, 2}), t.map(3, {0, 1})},
                  [](ScalarBuilder &s, ValueRange v) {
                    Type i32 = s.getI32Type();
                    Value rank = arith::IndexCastOp::create(s, i32, s.loop(1));
                    Value place = arith::IndexCastOp::create(s, i32, s.loop(2));
                    return s.select(s.cmp(CmpIPredicate::eq, v[0], rank), place,
                                    v[1]);
                  });
}

static SmallVector<Value> convertMoEFFN(TensorBuilder &t, MoEFFNOp op,
                                        MoEFFNOp::Adaptor operands) {
  Value x = operands.getX(), experts = operands.getExperts();
  WeightOperand gate{operands.getGate(), op.getGate().getType()};
  WeightOperand up{operands.getUp(), op.getUp().getType()};
  WeightOperand down{operands.getDown(), op.getDown().getType()};
  auto product = [&](Value rows, const WeightOperand &matrices,
                     unsigned number) {
    Value products = productOfExperts(t, rows, experts, matrices);
    if (operands.getBiases().empty())
      return products;
    return addBias(t, products, experts, operands.getBiases()[number]);
  };
  auto limit = cast_if_present<FloatAttr>(op.getSwigluLimitAttr());
  Value gates = product(x, gate, 0);
  Value ups = product(x, up, 1);
  Value inner = t.elementwise(t.sizes(gates), t.getF32Type(), {gates, ups},
                              [&](ScalarBuilder &s, ValueRange v) {
                                if (limit)
                                  return clampedSwiGLU(
                                      s, v[0], v[1], limit.getValueAsDouble());
                                if (op.getGelu())
                                  return s.mulf(gelu(s, v[0], "tanh"), v[1]);
                                return s.mulf(s.swish(v[0], v[0]), v[1]);
                              });
  Value outputs = product(inner, down, 2);
  Value weights = t.widened(operands.getWeights());
  // Loops: token, column, rank of the expert among those of the token.
  Value sums = t.reduce(t.filled(t.sizes(x), 0), ascendingPlaces(t, experts),
                        {t.map(3, {0, 2}), t.map(3, {0, 1})},
                        [&](ScalarBuilder &s, ValueRange v) {
                          Value token = s.loop(0), place = s.toIndex(v[0]);
                          Value weight = s.extractF32(weights, {token, place});
                          Value output =
                              s.extractF32(outputs, {token, place, s.loop(1)});
                          return s.addf(v[1], s.mulf(weight, output));
                        });
  return {withBias(t, sums, /*bias=*/Value(), t.elementType(x))};
}

/// Each head is multiplied by its own matrix.
static SmallVector<Value> convertHeadLinear(TensorBuilder &t, HeadLinearOp op,
                                            HeadLinearOp::Adaptor operands) {
  WeightOperand weight{operands.getWeight(), op.getWeight().getType()};
  TensorBuilder::Sizes sizes = t.sizes(operands.getX());
  sizes.back() = weight.sizes(t)[1];
  // Loops: token, head, n, k.
  Value sums =
      t.reduce(t.filled(sizes, 0), operands.getX(),
               {t.map(4, {0, 1, 3}), t.map(4, {0, 1, 2})},
               [&](ScalarBuilder &s, ValueRange v) {
                 Value input =
                     weight.roundsInputs() ? roundedToBF16(s, v[0]) : v[0];
                 Value factor = weight.at(s, {s.loop(1), s.loop(2), s.loop(3)});
                 return s.addf(v[1], s.mulf(input, factor));
               });
  return {withBias(t, sums, /*bias=*/Value(), t.elementType(operands.getX()))};
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Without a temperature: the greatest logit, on a tie the lower id.
static SmallVector<Value> convertSample(TensorBuilder &t, SampleOp op,
                                        SampleOp::Adaptor operands) {
  TensorBuilder::Sizes sizes = {t.size(operands.getLogits(), 0)};
  Value ids =
      linalg::FillOp::create(t, t.i32(0), t.empty(sizes, t.getI32Type()))
          .getResult(0);
  ValueRange best = t.reduceMany(
      {ids, t.filled(sizes, std::numeric_limits<double>::quiet_NaN())},
      operands.getLogits(), {t.map(2, {0, 1}), t.map(2, {0})},
      [](ScalarBuilder &s, ValueRange v) {
        Value id = arith::IndexCastOp::create(s, s.getI32Type(), s.loop(1));
        Value better = isBetter(s, v[0], v[2]);
        return SmallVector<Value>{s.select(better, id, v[1]),
                                  s.select(better, v[0], v[2])};
      });
  return {best[0]};
}

void addExpertPatterns(LinalgPatterns &patterns) {
  patterns.add(convertMoERoute);
  patterns.add(convertMoEFFN);
  patterns.add(convertHeadLinear);
  patterns.add(convertSample);
}

} // namespace llmir
