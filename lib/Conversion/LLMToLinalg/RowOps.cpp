//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms, softmax, positions, and element-wise ops.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Norms and softmax
//===----------------------------------------------------------------------===//

namespace {
/// Loops over [rows…, K] and over [rows…].
struct RowLoops {
  RowLoops(TensorBuilder &t, Value x)
      : rank(t.type(x).getRank()), all(t.sizes(x)), rows(all),
        whole(t.map(rank, t.range(0, rank))),
        row(t.map(rank, t.range(0, rank - 1))),
        column(t.map(rank, {rank - 1})) {
    rows.pop_back();
  }

  int64_t rank;
  TensorBuilder::Sizes all, rows;
  AffineMap whole, row, column;
};
} // namespace

/// The sum of `body` over the elements of a row, in f32.
static Value
sumOfRow(TensorBuilder &t, const RowLoops &loops, ValueRange inputs,
         ArrayRef<AffineMap> maps,
         llvm::function_ref<Value(ScalarBuilder &, ValueRange)> term) {
  SmallVector<AffineMap> all(maps);
  all.push_back(loops.row);
  return t.reduce(t.filled(loops.rows, 0), inputs, all,
                  [&](ScalarBuilder &s, ValueRange v) {
                    return s.addf(v.back(), term(s, v.drop_back()));
                  });
}

/// 1 / sqrt(sum / K + eps).
static Value inverseDeviation(ScalarBuilder &s, Value sum, Value columns,
                              double eps) {
  Value mean = s.addf(s.divf(sum, columns), s.f32(eps));
  return s.divf(s.f32(1), math::SqrtOp::create(s, mean));
}

/// x times the factor of the row and the weight, if any, plus the bias.
static SmallVector<Value> scaledRows(TensorBuilder &t, const RowLoops &loops,
                                     Value x, Value mean, Value squares,
                                     Value weight, Value bias, double eps) {
  SmallVector<Value> inputs = {x, squares};
  SmallVector<AffineMap> maps = {loops.whole, loops.row};
  auto add = [&](Value input, AffineMap map) {
    if (!input)
      return;
    inputs.push_back(input);
    maps.push_back(map);
  };
  add(mean, loops.row);
  add(weight, loops.column);
  add(bias, loops.column);
  Value columns = t.indexToF32(t.asValue(loops.all.back()));
  return {t.compute(loops.all, t.elementType(x), inputs, maps,
                    [&](ScalarBuilder &s, ValueRange v) {
                      unsigned at = 2;
                      Value y = v[0];
                      if (mean)
                        y = s.subf(y, v[at++]);
                      y = s.mulf(y, inverseDeviation(s, v[1], columns, eps));
                      if (weight)
                        y = s.mulf(y, v[at++]);
                      return bias ? s.addf(y, v[at]) : y;
                    })};
}

static SmallVector<Value> convertRMSNorm(TensorBuilder &t, RMSNormOp op,
                                         RMSNormOp::Adaptor operands) {
  Value x = operands.getX();
  RowLoops loops(t, x);
  Value squares =
      sumOfRow(t, loops, x, loops.whole, [](ScalarBuilder &s, ValueRange v) {
        return s.mulf(v[0], v[0]);
      });
  return scaledRows(t, loops, x, /*mean=*/Value(), squares,
                    operands.getWeight(), /*bias=*/Value(),
                    op.getEps().convertToDouble());
}

static SmallVector<Value> convertLayerNorm(TensorBuilder &t, LayerNormOp op,
                                           LayerNormOp::Adaptor operands) {
  Value x = operands.getX();
  RowLoops loops(t, x);
  Value columns = t.indexToF32(t.asValue(loops.all.back()));
  Value sum = sumOfRow(t, loops, x, loops.whole,
                       [](ScalarBuilder &s, ValueRange v) { return v[0]; });
  Value mean = t.elementwise(
      loops.rows, t.getF32Type(), sum,
      [&](ScalarBuilder &s, ValueRange v) { return s.divf(v[0], columns); });
  Value squares = sumOfRow(t, loops, {x, mean}, {loops.whole, loops.row},
                           [](ScalarBuilder &s, ValueRange v) {
                             Value difference = s.subf(v[0], v[1]);
                             return s.mulf(difference, difference);
                           });
  return scaledRows(t, loops, x, mean, squares, operands.getWeight(),
                    operands.getBias(), op.getEps().convertToDouble());
}

static SmallVector<Value> convertSoftmax(TensorBuilder &t, SoftmaxOp op,
                                         SoftmaxOp::Adaptor operands) {
  Value x = operands.getX();
  return {softmaxOfRows(t, x, t.elementType(x))};
}

Value softmaxOfRows(TensorBuilder &t, Value x, Type element) {
  RowLoops loops(t, x);
  Value most = t.rowMaximum(x);
  Value weights =
      t.compute(loops.all, t.getF32Type(), {x, most}, {loops.whole, loops.row},
                [](ScalarBuilder &s, ValueRange v) {
                  return s.exp(s.subf(v[0], s.finiteOrZero(v[1])));
                });
  Value total = sumOfRow(t, loops, weights, loops.whole,
                         [](ScalarBuilder &s, ValueRange v) { return v[0]; });
  return t.compute(
      loops.all, element, {weights, total}, {loops.whole, loops.row},
      [](ScalarBuilder &s, ValueRange v) { return s.shareOf(v[0], v[1]); });
}

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

using ScalarFunction = llvm::function_ref<Value(ScalarBuilder &, ValueRange)>;

static SmallVector<Value> eachElement(TensorBuilder &t, ValueRange inputs,
                                      ScalarFunction function) {
  return {t.elementwise(t.sizes(inputs.front()), t.elementType(inputs.front()),
                        inputs, function)};
}

static SmallVector<Value> convertSilu(TensorBuilder &t, SiluOp op,
                                      SiluOp::Adaptor operands) {
  return eachElement(
      t, operands.getOperands(),
      [](ScalarBuilder &s, ValueRange v) { return s.swish(v[0], v[0]); });
}

Value gelu(ScalarBuilder &s, Value x, StringRef form) {
  if (form == "quick")
    return s.swish(x, s.mulf(s.f32(1.702), x));
  if (form == "tanh") {
    // Twice the argument of tanh: x / 2 · (1 + tanh(a)) = x / (1 + exp(-2 ·
    // a)).
    Value cube = s.mulf(s.mulf(x, x), x);
    Value sum = s.addf(x, s.mulf(s.f32(0.044715), cube));
    return s.swish(x, s.mulf(s.f32(1.5957691216057307), sum));
  }
  Value erf = math::ErfOp::create(s, s.mulf(x, s.f32(0.70710678118654752)));
  return s.mulf(s.mulf(x, s.f32(0.5)), s.addf(s.f32(1), erf));
}

static SmallVector<Value> convertGelu(TensorBuilder &t, GeluOp op,
                                      GeluOp::Adaptor operands) {
  return eachElement(t, operands.getOperands(),
                     [&](ScalarBuilder &s, ValueRange v) {
                       return gelu(s, v[0], op.getApproximate());
                     });
}

static SmallVector<Value> convertSwiGLU(TensorBuilder &t, SwiGLUOp op,
                                        SwiGLUOp::Adaptor operands) {
  Type element = t.elementType(operands.getGate());
  return eachElement(t, operands.getOperands(),
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value gate = s.roundTo(s.swish(v[0], v[0]), element);
                       return s.mulf(s.toF32(gate), v[1]);
                     });
}

static SmallVector<Value> convertAdd(TensorBuilder &t, AddOp op,
                                     AddOp::Adaptor operands) {
  return eachElement(
      t, operands.getOperands(),
      [](ScalarBuilder &s, ValueRange v) { return s.addf(v[0], v[1]); });
}

static SmallVector<Value> convertMul(TensorBuilder &t, MulOp op,
                                     MulOp::Adaptor operands) {
  return eachElement(
      t, operands.getOperands(),
      [](ScalarBuilder &s, ValueRange v) { return s.mulf(v[0], v[1]); });
}

/// Loops over sequences, columns and all rows, of which those of the sequence
/// are added.
static SmallVector<Value> convertMeanRows(TensorBuilder &t, MeanRowsOp op,
                                          MeanRowsOp::Adaptor operands) {
  Value x = operands.getX(), offsets = operands.getOffsets();
  const int64_t rank = TensorBuilder::type(x).getRank();
  TensorBuilder::Sizes sizes = t.sizes(x);
  auto count = [&](ScalarBuilder &s, Value sequence) {
    Value begin = s.toIndex(tensor::ExtractOp::create(s, offsets, sequence));
    Value next = s.addi(sequence, s.index(1));
    Value end = s.toIndex(tensor::ExtractOp::create(s, offsets, next));
    return std::pair(begin, end);
  };
  const int64_t known = TensorBuilder::type(offsets).getDimSize(0);
  if (ShapedType::isDynamic(known))
    sizes.front() = t.subi(t.asValue(t.size(offsets, 0)), t.index(1));
  else
    sizes.front() = t.fixed(known - 1);
  SmallVector<int64_t> source = TensorBuilder::range(0, rank);
  source.front() = rank; // The loop over all rows.
  AffineMap result = t.map(rank + 1, TensorBuilder::range(0, rank));
  Value sum = t.reduce(t.filled(sizes, 0), x, {t.map(rank + 1, source), result},
                       [&](ScalarBuilder &s, ValueRange v) -> Value {
                         auto [begin, end] = count(s, s.loop(0));
                         Value row = s.loop(rank);
                         Value isOwn = s.andb(
                             s.cmp(arith::CmpIPredicate::sge, row, begin),
                             s.cmp(arith::CmpIPredicate::slt, row, end));
                         return s.select(isOwn, s.addf(v[1], v[0]), v[1]);
                       });
  return {t.elementwise(sizes, TensorBuilder::elementType(x), sum,
                        [&](ScalarBuilder &s, ValueRange v) -> Value {
                          auto [begin, end] = count(s, s.loop(0));
                          Value rows = s.subi(end, begin);
                          Value isEmpty =
                              s.cmp(arith::CmpIPredicate::eq, rows, s.index(0));
                          Value divisor =
                              s.select(isEmpty, s.f32(1), s.indexToF32(rows));
                          return s.divf(v[0], divisor);
                        })};
}

static SmallVector<Value> convertSelectRows(TensorBuilder &t, SelectRowsOp op,
                                            SelectRowsOp::Adaptor operands) {
  return {t.gatherRows(operands.getX(), operands.getRows())};
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Cosines and sines [T, R] in f32 from angles in f64, since f32 loses the
/// fraction of large angles.
static std::pair<Value, Value> anglesOf(TensorBuilder &t, RopeOp op,
                                        Value positions) {
  ArrayRef<double> frequencies = op.getFrequencies();
  auto type =
      RankedTensorType::get({int64_t(frequencies.size())}, t.getF64Type());
  Value table =
      arith::ConstantOp::create(t, DenseElementsAttr::get(type, frequencies));
  double scaling = op.getScaling().convertToDouble();
  ValueRange tables = t.computeMany(
      {t.size(positions, 0), t.fixed(type.getDimSize(0))},
      {t.getF32Type(), t.getF32Type()}, {positions, table},
      {t.map(2, {0}), t.map(2, {1})}, [&](ScalarBuilder &s, ValueRange v) {
        Type f64 = s.getF64Type();
        Value position = arith::SIToFPOp::create(s, f64, v[0]);
        Value angle = s.mulf(position, v[1]);
        Value factor = arith::ConstantOp::create(s, s.getF64FloatAttr(scaling));
        Value cosine = math::CosOp::create(s, angle);
        Value sine = math::SinOp::create(s, angle);
        return SmallVector<Value>{
            s.roundTo(s.mulf(cosine, factor), s.getF32Type()),
            s.roundTo(s.mulf(sine, factor), s.getF32Type())};
      });
  return {tables[0], tables[1]};
}

static SmallVector<Value> convertRope(TensorBuilder &t, RopeOp op,
                                      RopeOp::Adaptor operands) {
  Value x = operands.getX();
  Type element = t.elementType(x);
  auto [cosines, sines] = anglesOf(t, op, operands.getPositions());
  const auto pairs = int64_t(op.getFrequencies().size());
  const bool interleaved = op.getInterleaved();
  TensorBuilder::Sizes sides = t.sizes(x);
  sides.back() = t.fixed(pairs);
  auto stride = t.fixed(interleaved ? 2 : 1);
  TensorBuilder::Sizes strides = {t.fixed(1), t.fixed(1), stride};
  auto offsets = [&](bool second) -> TensorBuilder::Sizes {
    int64_t offset = !second ? 0 : interleaved ? 1 : pairs;
    return {t.fixed(0), t.fixed(0), t.fixed(offset)};
  };
  auto side = [&](bool second) -> Value {
    return tensor::ExtractSliceOp::create(t, x, offsets(second), sides,
                                          strides);
  };
  AffineMap heads = t.map(3, {0, 1, 2}), angles = t.map(3, {0, 2});
  ValueRange rotated = t.computeMany(
      sides, {element, element}, {side(false), side(true), cosines, sines},
      {heads, heads, angles, angles}, [](ScalarBuilder &s, ValueRange v) {
        return SmallVector<Value>{
            s.subf(s.mulf(v[0], v[2]), s.mulf(v[1], v[3])),
            s.addf(s.mulf(v[1], v[2]), s.mulf(v[0], v[3]))};
      });
  for (bool second : {false, true})
    x = tensor::InsertSliceOp::create(t, rotated[second], x, offsets(second),
                                      sides, strides);
  return {x};
}

void addRowPatterns(LinalgPatterns &patterns) {
  patterns.add(convertRMSNorm);
  patterns.add(convertLayerNorm);
  patterns.add(convertSoftmax);
  patterns.add(convertSilu);
  patterns.add(convertGelu);
  patterns.add(convertSwiGLU);
  patterns.add(convertAdd);
  patterns.add(convertMul);
  patterns.add(convertMeanRows);
  patterns.add(convertSelectRows);
  patterns.add(convertRope);
}

} // namespace llmir
