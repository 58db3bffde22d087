//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions, and ops with indices in tensors. Gathers of slices, scatters and
// sorts of the last dimension are not lowered: programs have kernels for them.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// The loops of a reduction: those of the remaining dimensions, then those of
/// the reduced ones.
struct Reduction {
  SmallVector<int64_t> kept, gone; ///< Sizes.
  AffineMap map;                   ///< Of x.
};
} // namespace

static Reduction reductionOf(OpLowering &l, RankedTensorType x,
                             std::optional<int64_t> dim) {
  Reduction r;
  auto goes = [&](int64_t d) { return !dim || d == dimOf(*dim, x.getRank()); };
  unsigned kept = 0, rank = static_cast<unsigned>(x.getRank());
  for (unsigned d = 0; d < rank; ++d)
    kept += !goes(d);
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < rank; ++d) {
    SmallVector<int64_t> &side = goes(d) ? r.gone : r.kept;
    exprs.push_back(l.dim((goes(d) ? kept : 0) + side.size()));
    side.push_back(x.getDimSize(d));
  }
  r.map = l.map(rank, exprs);
  return r;
}

/// The maximum or minimum value of the type.
static reference::Number extreme(Type element, bool greatest) {
  if (isa<FloatType>(element))
    return greatest ? INFINITY : -INFINITY;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 1)
    return greatest;
  return (greatest ? APInt::getSignedMaxValue(bits)
                   : APInt::getSignedMinValue(bits))
      .getSExtValue();
}

template <bool isMax, typename OpTy>
static LogicalResult lowerExtreme(OpLowering &l, OpTy op) {
  RankedTensorType x = OpLowering::type(op.getX());
  Type element = x.getElementType();
  Reduction r = reductionOf(l, x, op.getDim());
  Value reduced = l.reduce(
      x.clone(r.kept), r.gone, extreme(element, !isMax), op.getX(), r.map,
      [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        if (isa<FloatType>(element))
          return isMax ? Value(arith::MaximumFOp::create(b, loc, n[0], n[1]))
                       : Value(arith::MinimumFOp::create(b, loc, n[0], n[1]));
        if (element.isInteger(1))
          return isMax ? Value(arith::OrIOp::create(b, loc, n[0], n[1]))
                       : Value(arith::AndIOp::create(b, loc, n[0], n[1]));
        return isMax ? Value(arith::MaxSIOp::create(b, loc, n[0], n[1]))
                     : Value(arith::MinSIOp::create(b, loc, n[0], n[1]));
      });
  return l.replace(l.reshape(reduced, l.resultType().getShape()));
}

/// The sum; floats are accumulated in f32.
static Value sumOf(OpLowering &l, Value x, const Reduction &r) {
  RankedTensorType type = OpLowering::type(x).clone(r.kept);
  if (isa<FloatType>(type.getElementType()))
    type = type.clone(l.b().getF32Type());
  return l.reduce(type, r.gone, 0.0, x, r.map,
                  [](OpBuilder &b, Location loc, ValueRange n) -> Value {
                    if (isa<FloatType>(n[0].getType()))
                      return arith::AddFOp::create(b, loc, n[1], n[0]);
                    return arith::AddIOp::create(b, loc, n[1], n[0]);
                  });
}

static LogicalResult lower(OpLowering &l, mllm::ReduceSumOp op) {
  Reduction r = reductionOf(l, OpLowering::type(op.getX()), op.getDim());
  Value sum = l.cast(sumOf(l, op.getX(), r), l.resultType().getElementType());
  return l.replace(l.reshape(sum, l.resultType().getShape()));
}

LogicalResult lowerMean(OpLowering &l, mllm::MeanOp op) {
  Reduction r = reductionOf(l, OpLowering::type(op.getX()), op.getDim());
  float count = 1;
  for (int64_t size : r.gone)
    count *= static_cast<float>(size);
  Value sum = sumOf(l, op.getX(), r);
  Value mean = l.elementwise(
      OpLowering::type(sum).clone(l.resultType().getElementType()), sum,
      [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        Value divisor =
            arith::ConstantOp::create(b, loc, b.getF32FloatAttr(count));
        return arith::DivFOp::create(b, loc, n[0], divisor);
      });
  return l.replace(l.reshape(mean, l.resultType().getShape()));
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// The permutation that exchanges `dim` and the last axis.
static SmallVector<int64_t> lastAxes(int64_t rank, int64_t dim) {
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < rank; ++d)
    axes.push_back(d);
  std::swap(axes[dim], axes.back());
  return axes;
}

static RankedTensorType permuted(RankedTensorType type,
                                 ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(type.getDimSize(axis));
  return type.clone(shape);
}

/// Replaces the results of a sort along `dim` by those of `sort`, which sorts
/// the last dimension. In a step, if a token has several rows, they are sorted
/// separately.
template <typename OpTy>
static LogicalResult
replaceBySort(OpLowering &l, OpTy op,
              llvm::function_ref<SmallVector<Value>(Value)> sort) {
  RankedTensorType x = OpLowering::type(op.getX());
  int64_t rank = x.getRank(), dim = dimOf(op.getDim(), rank);
  bool isLast = dim == rank - 1;
  bool hasTokens = !x.hasStaticShape();
  if (isLast && (!hasTokens || (rank == 2 && x.isDynamicDim(0))))
    return success(); // Supported by programs.
  SmallVector<int64_t> axes = lastAxes(rank, dim);
  Value sorted = isLast ? op.getX() : l.transpose(op.getX(), axes);
  SmallVector<Value> results =
      hasTokens ? l.mapRows(l.asRows(sorted, 1), sort) : sort(sorted);
  if (results.empty())
    return failure(); // Reported by mapRows().
  for (auto [i, result] : llvm::enumerate(results)) {
    RankedTensorType type = permuted(l.resultType(i), axes);
    if (hasTokens)
      result = l.fromRows(result, type.getShape());
    if (!isLast)
      result = l.transpose(result, axes);
  }
  return l.replace(results);
}

/// The shape with a different last size.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t size) {
  SmallVector<int64_t> result(shape);
  result.back() = size;
  return result;
}

static LogicalResult lower(OpLowering &l, mllm::TopKOp op) {
  auto k = static_cast<int64_t>(op.getK());
  return replaceBySort(l, op, [&](Value x) -> SmallVector<Value> {
    SmallVector<int64_t> shape = withLast(OpLowering::type(x).getShape(), k);
    auto sorted = mllm::TopKOp::create(
        l.b(), l.resultType(0).clone(shape), l.resultType(1).clone(shape), x,
        op.getK(), /*dim=*/-1, op.getLargest(), op.getSorted());
    return {sorted.getValues(), sorted.getIndices()};
  });
}

static LogicalResult lower(OpLowering &l, mllm::ArgsortOp op) {
  return replaceBySort(l, op, [&](Value x) -> SmallVector<Value> {
    Value sorted = mllm::ArgsortOp::create(
        l.b(), l.resultType().clone(OpLowering::type(x).getShape()), x,
        /*dim=*/-1, op.getDescending());
    return {sorted};
  });
}

//===----------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------===//

/// Combines the tensors of indices to one, of linear indices into the collapsed
/// dimensions.
static Value joinIndices(OpLowering &l, mllm::IndexOp op,
                         ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape;
  for (Value indices : op.getIndices()) { // They broadcast.
    ArrayRef<int64_t> own = OpLowering::type(indices).getShape();
    while (shape.size() < own.size())
      shape.insert(shape.begin(), 1);
    for (size_t i = 0; i < own.size(); ++i)
      if (int64_t size = own[own.size() - 1 - i]; size != 1)
        shape[shape.size() - 1 - i] = size;
  }
  auto isWide = [](Value indices) {
    return OpLowering::type(indices).getElementType().isInteger(64);
  };
  Type element = llvm::any_of(op.getIndices(), isWide) ? l.b().getI64Type()
                                                       : l.b().getI32Type();
  SmallVector<Value> inputs;
  for (Value indices : op.getIndices())
    inputs.push_back(l.cast(indices, element));
  return l.elementwise(
      RankedTensorType::get(shape, element), inputs,
      [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(b, loc, numberAttr(element, value));
        };
        Value joined = number(0);
        for (auto [index, size] : llvm::zip_equal(n, sizes))
          joined = arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, joined, number(size)),
              index);
        return joined;
      });
}

static LogicalResult lower(OpLowering &l, mllm::IndexOp op) {
  ArrayRef<int64_t> chosen = op.getDims();
  RankedTensorType x = OpLowering::type(op.getX());
  // Ranges first.
  SmallVector<int64_t> offsets = rangeStarts(op.getStarts(), x.getShape());
  SmallVector<int64_t> sizes;
  for (auto [d, start, end, step] :
       llvm::enumerate(op.getStarts(), op.getEnds(), op.getSteps())) {
    int64_t size = x.getDimSize(d);
    if (ShapedType::isDynamic(size)) { // All tokens.
      sizes.push_back(size);
      continue;
    }
    int64_t from =
        std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    int64_t to = end == INT64_MIN
                     ? size
                     : std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
    bool isChosen = llvm::is_contained(chosen, static_cast<int64_t>(d));
    sizes.push_back(
        isChosen ? size : (std::max<int64_t>(to - from, 0) + step - 1) / step);
  }
  Value sliced = l.slice(op.getX(), offsets, sizes, op.getSteps());
  if (chosen.empty())
    return l.replace(sliced);
  // The indexed dimensions, made adjacent and collapsed.
  bool areAdjacent =
      chosen.back() - chosen.front() + 1 == static_cast<int64_t>(chosen.size());
  int64_t place = areAdjacent ? chosen.front() : 0;
  SmallVector<int64_t> axes, chosenSizes, shape;
  for (int64_t d = 0; d < x.getRank(); ++d)
    if (!llvm::is_contained(chosen, d))
      axes.push_back(d);
  axes.insert(axes.begin() + place, chosen.begin(), chosen.end());
  Value gathered = areAdjacent ? sliced : l.transpose(sliced, axes);
  int64_t together = 1;
  for (int64_t d : chosen) {
    chosenSizes.push_back(sizes[d]);
    together *= sizes[d];
  }
  for (int64_t i = 0; i < x.getRank(); ++i) {
    if (i == place)
      shape.push_back(together);
    if (i < place || i >= place + static_cast<int64_t>(chosen.size()))
      shape.push_back(sizes[axes[i]]);
  }
  gathered = l.reshape(gathered, shape);
  return l.replace(l.gather(gathered, joinIndices(l, op, chosenSizes), place));
}

//===----------------------------------------------------------------------===//
// Masked scatter
//===----------------------------------------------------------------------===//

/// The exclusive prefix sum of a mask, with quadratic cost.
static Value countBefore(OpLowering &l, Value mask, int64_t size) {
  auto result = RankedTensorType::get({size}, l.b().getI32Type());
  return l.reduce(result, {size}, 0.0, mask, l.map(2, l.dim(1)),
                  [](OpBuilder &b, Location loc, ValueRange n) -> Value {
                    Value place = linalg::IndexOp::create(b, loc, 0);
                    Value other = linalg::IndexOp::create(b, loc, 1);
                    Value isBefore = arith::CmpIOp::create(
                        b, loc, arith::CmpIPredicate::slt, other, place);
                    Value counts =
                        arith::AndIOp::create(b, loc, isBefore, n[0]);
                    Value one =
                        arith::ExtUIOp::create(b, loc, b.getI32Type(), counts);
                    return arith::AddIOp::create(b, loc, n[1], one);
                  });
}

static LogicalResult lower(OpLowering &l, mllm::MaskedScatterOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  ArrayRef<int64_t> shape = x.getShape();
  SmallVector<int64_t> mask(OpLowering::type(op.getMask()).getShape());
  while (mask.size() < shape.size())
    mask.insert(mask.begin(), 1);
  // Trailing dimensions in which the mask is broadcast are collapsed.
  size_t rank = shape.size();
  int64_t inner = 1, outer = 1;
  while (rank > 0 && mask[rank - 1] == 1)
    inner *= shape[--rank];
  for (int64_t size : shape.take_front(rank))
    outer *= size;
  RankedTensorType source = OpLowering::type(op.getSource());
  if (x.getNumElements() == 0 || source.getNumElements() == 0)
    return l.replace(op.getX());
  Value wide = l.elementwise(
      RankedTensorType::get(shape.take_front(rank), l.b().getI1Type()),
      l.reshape(op.getMask(), ArrayRef(mask).take_front(rank)),
      [](OpBuilder &, Location, ValueRange n) -> Value { return n[0]; });
  wide = l.reshape(wide, {outer});
  Value before = countBefore(l, wide, outer);
  Value places = l.elementwise(
      RankedTensorType::get({outer, inner}, l.b().getI32Type()),
      l.reshape(before, {outer, 1}),
      [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        Value column = arith::IndexCastOp::create(
            b, loc, b.getI32Type(), linalg::IndexOp::create(b, loc, 1));
        Value columns = arith::ConstantOp::create(
            b, loc, b.getI32IntegerAttr(static_cast<int32_t>(inner)));
        return arith::AddIOp::create(
            b, loc, arith::MulIOp::create(b, loc, n[0], columns), column);
      });
  Value values =
      l.gather(l.reshape(op.getSource(), {source.getNumElements()}), places, 0);
  Value result =
      l.elementwise(RankedTensorType::get({outer, inner}, x.getElementType()),
                    {l.reshape(wide, {outer, 1}), values,
                     l.reshape(op.getX(), {outer, inner})},
                    [](OpBuilder &b, Location loc, ValueRange n) -> Value {
                      return arith::SelectOp::create(b, loc, n[0], n[1], n[2]);
                    });
  return l.replace(l.reshape(result, shape));
}

void addIndexLowerings(LoweringTable &table) {
  table.add<mllm::ReduceMaxOp>(lowerExtreme<true>);
  table.add<mllm::ReduceMinOp>(lowerExtreme<false>);
  table.add<mllm::ReduceSumOp>(lower);
  table.add<mllm::MeanOp>(lowerMean);
  table.add<mllm::TopKOp>(lower);
  table.add<mllm::ArgsortOp>(lower);
  table.add<mllm::IndexOp>(lower);
  table.add<mllm::MaskedScatterOp>(lower);
}

} // namespace llmir
