//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized tensors: their integers are a tensor, their scales and zero points
// are operands. A grouped dimension is split into two, so that the indexing
// maps of all operands are projected permutations.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

using arith::CmpFPredicate;

namespace {

/// The scale of an element, in terms of the loops over a tensor whose grouped
/// dimension is split.
class ScaleLayout {
public:
  explicit ScaleLayout(QuantizedTensorType type)
      : type(type), isSplit(type.hasGroups()) {}

  int64_t numLoops() const { return type.getRank() + isSplit; }
  int64_t splitDim() const { return type.getGroupedDim(); }
  bool splits(int64_t dim) const { return isSplit && dim == splitDim(); }

  Value split(TensorBuilder &t, Value x) const {
    return isSplit ? t.split(x, splitDim(), t.fixed(type.getGroupSize())) : x;
  }
  Value join(TensorBuilder &t, Value x) const {
    return isSplit ? t.join(x, splitDim()) : x;
  }

  /// The loops that index scales: those of the group grid, the axis, or none.
  SmallVector<int64_t> loops() const {
    SmallVector<int64_t> result;
    for (int64_t loop = 0; isSplit && loop < numLoops(); ++loop)
      if (loop != splitDim() + 1)
        result.push_back(loop);
    if (!isSplit && type.getIsPerChannel())
      result.push_back(type.getQuantAxis());
    return result;
  }
  /// The same as results of the map of scales of that rank: a per-tensor scale
  /// is [1] or [].
  SmallVector<int64_t> loopsOf(Value scales) const {
    SmallVector<int64_t> result = loops();
    if (result.empty())
      result.assign(TensorBuilder::type(scales).getRank(), -1);
    return result;
  }

private:
  QuantizedTensorType type;
  bool isSplit;
};

/// The range of the integers.
struct IntegerRange {
  explicit IntegerRange(QuantizedTensorType type)
      : most((int64_t(1) << (type.getNumBits() - 1)) - 1),
        least(type.getIsSymmetric() ? -most : -most - 1) {}

  /// Clamps a float and converts it to i32; NaN becomes the least integer.
  Value toInteger(ScalarBuilder &s, Value x) const {
    Value low = s.f32(double(least)), high = s.f32(double(most));
    Value raised = s.select(s.cmp(CmpFPredicate::OGT, x, low), x, low);
    Value clamped =
        s.select(s.cmp(CmpFPredicate::OLT, raised, high), raised, high);
    return arith::FPToSIOp::create(s, s.getI32Type(), clamped);
  }

  int64_t most, least;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements to integers and back
//===----------------------------------------------------------------------===//

static SmallVector<Value> convertQuantize(TensorBuilder &t, QuantizeOp op,
                                          QuantizeOp::Adaptor operands) {
  auto type = cast<QuantizedTensorType>(op.getType());
  ScaleLayout layout(type);
  // The type has a static shape even if x does not.
  Value known =
      t.castTo(operands.getX(), t.type(operands.getX()).clone(type.getShape()));
  Value x = layout.split(t, known), zeros = operands.getZeroPoints();
  AffineMap scaleMap =
      t.map(layout.numLoops(), layout.loopsOf(operands.getScales()));
  SmallVector<Value> inputs = {x, operands.getScales()};
  SmallVector<AffineMap> maps = {
      t.map(layout.numLoops(), t.range(0, layout.numLoops())), scaleMap};
  if (zeros) {
    inputs.push_back(zeros);
    maps.push_back(scaleMap);
  }
  Value integers =
      t.compute(t.sizes(x), type.getElementType(), inputs, maps,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value q = s.quotient(v[0], v[1]);
                  if (zeros)
                    q = s.addf(q, s.toF32(v[2]));
                  return s.truncI32(IntegerRange(type).toInteger(s, q),
                                    type.getElementType());
                });
  return {layout.join(t, integers)};
}

/// scale · (q - zero point); without a zero point v has two elements.
static Value dequantized(ScalarBuilder &s, Value q, Value scale,
                         Value zeroPoint) {
  Value number = s.toF32(q);
  if (zeroPoint)
    number = s.subf(number, s.toF32(zeroPoint));
  return s.mulf(scale, number);
}

static SmallVector<Value> convertDequantize(TensorBuilder &t, DequantizeOp op,
                                            DequantizeOp::Adaptor operands) {
  ScaleLayout layout(cast<QuantizedTensorType>(op.getX().getType()));
  Value q = layout.split(t, operands.getX());
  Value zeros = operands.getZeroPoints();
  AffineMap scaleMap =
      t.map(layout.numLoops(), layout.loopsOf(operands.getScales()));
  SmallVector<Value> inputs = {q, operands.getScales()};
  SmallVector<AffineMap> maps = {
      t.map(layout.numLoops(), t.range(0, layout.numLoops())), scaleMap};
  if (zeros) {
    inputs.push_back(zeros);
    maps.push_back(scaleMap);
  }
  Value numbers =
      t.compute(t.sizes(q), t.elementType(op.getResult()), inputs, maps,
                [&](ScalarBuilder &s, ValueRange v) {
                  return dequantized(s, v[0], v[1], zeros ? v[2] : Value());
                });
  return {layout.join(t, numbers)};
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static Value scaleOf(ScalarBuilder &s, Value low, Value high,
                     const IntegerRange &range, bool isSymmetric) {
  if (isSymmetric) {
    Value magnitude = arith::MaximumFOp::create(s, high, s.negf(low));
    return s.divf(magnitude, s.f32(double(range.most)));
  }
  return s.divf(s.subf(high, low), s.f32(double(range.most - range.least)));
}

static Value zeroPointOf(ScalarBuilder &s, Value low, Value scale,
                         const IntegerRange &range, Type type) {
  Value zero = s.subf(s.f32(double(range.least)), s.quotient(low, scale));
  Value isZero = s.cmp(CmpFPredicate::OEQ, scale, s.f32(0));
  Value integer = range.toInteger(s, s.select(isZero, s.f32(0), zero));
  return s.truncI32(integer, type);
}

static SmallVector<Value> convertQuantParams(TensorBuilder &t, QuantParamsOp op,
                                             QuantParamsOp::Adaptor operands) {
  QuantizedTensorType type = op.getQuantizedType();
  ScaleLayout layout(type);
  IntegerRange range(type);
  Value x = layout.split(t, operands.getX());
  TensorBuilder::Sizes all = t.sizes(x), sizes;
  for (int64_t loop : layout.loops())
    sizes.push_back(all[loop]);
  // The range includes 0.
  Value zeros = t.filled(sizes, 0);
  ValueRange bounds =
      t.reduceMany({zeros, zeros}, x,
                   {t.map(layout.numLoops(), t.range(0, layout.numLoops())),
                    t.map(layout.numLoops(), layout.loops())},
                   [](ScalarBuilder &s, ValueRange v) {
                     Value isLess = s.cmp(CmpFPredicate::OLT, v[0], v[1]);
                     Value isMore = s.cmp(CmpFPredicate::OGT, v[0], v[2]);
                     return SmallVector<Value>{s.select(isLess, v[0], v[1]),
                                               s.select(isMore, v[0], v[2])};
                   });
  Value low = bounds[0], high = bounds[1];
  SmallVector<Value> results = {
      t.elementwise(sizes, t.elementType(op.getScales()), {low, high},
                    [&](ScalarBuilder &s, ValueRange v) {
                      return scaleOf(s, v[0], v[1], range, op.getSymmetric());
                    })};
  if (op.getZeroPoints()) {
    Type element = t.elementType(op.getZeroPoints());
    results.push_back(t.elementwise(sizes, element, {low, results.front()},
                                    [&](ScalarBuilder &s, ValueRange v) {
                                      return zeroPointOf(s, v[0], v[1], range,
                                                         element);
                                    }));
  }
  // A per-tensor scale is [1].
  for (Value &result : results)
    if (sizes.empty())
      result = t.expand(result, {}, {t.fixed(1)});
  return results;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Quantizes each row to 8 bits in groups of `group` elements and dequantizes
/// it to f32; the last group may be shorter.
static Value roundedActivations(TensorBuilder &t, Value x, int64_t columns,
                                int64_t group) {
  const int64_t rank = t.type(x).getRank();
  group = std::min(group, std::max<int64_t>(columns, 1));
  const int64_t rest = (group - columns % group) % group;
  x = t.widened(x);
  TensorBuilder::Sizes given = t.sizes(x);
  if (rest > 0) {
    TensorBuilder::Sizes low(rank, t.fixed(0)), high(low);
    high.back() = t.fixed(rest);
    SmallVector<int64_t> shape(t.type(x).getShape());
    shape.back() += rest;
    x = tensor::PadOp::create(t, t.type(x).clone(shape), x, low, high,
                              t.f32(0));
  }
  x = t.split(x, rank - 1, t.fixed(group));
  AffineMap whole = t.map(rank + 1, t.range(0, rank + 1));
  AffineMap groups = t.map(rank + 1, t.range(0, rank));
  TensorBuilder::Sizes sizes = t.sizes(x), grid = t.sizes(x);
  grid.pop_back();
  Value most = t.reduce(t.filled(grid, 0), x, {whole, groups},
                        [](ScalarBuilder &s, ValueRange v) {
                          Value size = math::AbsFOp::create(s, v[0]);
                          Value isMore = s.cmp(CmpFPredicate::OGT, size, v[1]);
                          return s.select(isMore, size, v[1]);
                        });
  Value rounded = t.compute(sizes, t.getF32Type(), {x, most}, {whole, groups},
                            [](ScalarBuilder &s, ValueRange v) {
                              Value scale = s.divf(v[1], s.f32(127));
                              return s.mulf(scale, s.quotient(v[0], scale));
                            });
  rounded = t.join(rounded, rank - 1);
  return rest > 0 ? t.slice(rounded, rank - 1, t.fixed(0), given.back())
                  : rounded;
}

static SmallVector<Value>
convertQuantizedMatmul(TensorBuilder &t, QuantizedMatmulOp op,
                       QuantizedMatmulOp::Adaptor operands) {
  auto type = cast<QuantizedTensorType>(op.getRhs().getType());
  ScaleLayout layout(type);
  Value given = operands.getX();
  const int64_t lead = t.type(given).getRank() - 1;
  const int64_t inputDim = op.getTransposeRhs() ? 1 : 0;
  // The weight type has a static K even if x does not.
  SmallVector<int64_t> shape(t.type(given).getShape());
  shape.back() = type.getShape()[inputDim];
  Value x = t.castTo(given, t.type(given).clone(shape));
  if (op.getActivationBits())
    x = roundedActivations(t, x, shape.back(),
                           op.getActivationGroupOrDefault());
  if (layout.splits(inputDim))
    x = t.split(x, lead, t.fixed(type.getGroupSize()));
  Value rhs = layout.split(t, operands.getRhs());
  TensorBuilder::Sizes rhsSizes = t.sizes(rhs);

  // Loops: the rows of x, then those of n, then those of k. `loopOf` maps a
  // dimension of the split matrix to its loop.
  SmallVector<int64_t> loopOf(rhsSizes.size());
  TensorBuilder::Sizes sizes = t.sizes(x);
  sizes.resize(lead);
  int64_t next = lead;
  auto place = [&](int64_t dim) {
    int64_t first = dim + (layout.splits(0) && dim == 1 ? 1 : 0);
    for (int64_t d = first; d <= first + layout.splits(dim); ++d) {
      loopOf[d] = next++;
      if (dim != inputDim)
        sizes.push_back(rhsSizes[d]);
    }
  };
  place(1 - inputDim);
  const int64_t outputs = next;
  place(inputDim);

  SmallVector<int64_t> ofX = t.range(0, lead), ofScales;
  llvm::append_range(ofX, t.range(outputs, next - outputs));
  for (int64_t loop : layout.loopsOf(operands.getScales()))
    ofScales.push_back(loop < 0 ? loop : loopOf[loop]);
  SmallVector<Value> inputs = {x, rhs, operands.getScales()};
  SmallVector<AffineMap> maps = {t.map(next, ofX), t.map(next, loopOf),
                                 t.map(next, ofScales)};
  Value zeros = operands.getZeroPoints();
  if (zeros) {
    inputs.push_back(zeros);
    maps.push_back(maps.back());
  }
  maps.push_back(t.map(next, t.range(0, outputs)));
  Value sums = t.reduce(
      t.filled(sizes, 0), inputs, maps, [&](ScalarBuilder &s, ValueRange v) {
        Value weight = dequantized(s, v[1], v[2], zeros ? v[3] : Value());
        return s.addf(v.back(), s.mulf(v[0], weight));
      });
  if (layout.splits(1 - inputDim))
    sums = t.join(sums, lead);
  return {withBias(t, sums, operands.getBias(), t.elementType(op.getResult()))};
}

void addQuantizationPatterns(LinalgPatterns &patterns) {
  patterns.add(convertQuantParams);
  patterns.add(convertQuantize);
  patterns.add(convertDequantize);
  patterns.add(convertQuantizedMatmul);
}

} // namespace llmir
