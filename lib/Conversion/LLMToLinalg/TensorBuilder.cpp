//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBuilder.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value ScalarBuilder::f32(double value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(float(value)));
}

Value ScalarBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(int32_t(value)));
}

Value ScalarBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value ScalarBuilder::asValue(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(*this, getLoc(), value);
}

Value ScalarBuilder::loop(int64_t dim) {
  return linalg::IndexOp::create(*this, dim);
}

Value ScalarBuilder::toF32(Value x) {
  Type type = x.getType();
  if (type.isF32())
    return x;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(*this, getF32Type(), x);
  return arith::SIToFPOp::create(*this, getF32Type(), x);
}

Value ScalarBuilder::roundTo(Value x, Type type) {
  return x.getType() == type ? x : arith::TruncFOp::create(*this, type, x);
}

Value ScalarBuilder::indexToF32(Value x) {
  return toF32(arith::IndexCastOp::create(*this, getI64Type(), x));
}

Value ScalarBuilder::toIndex(Value x) {
  return arith::IndexCastOp::create(*this, getIndexType(), x);
}

Value ScalarBuilder::truncI32(Value x, Type type) {
  return x.getType() == type ? x : arith::TruncIOp::create(*this, type, x);
}

Value ScalarBuilder::addf(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}

Value ScalarBuilder::subf(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}

Value ScalarBuilder::mulf(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}

Value ScalarBuilder::divf(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}

Value ScalarBuilder::negf(Value a) { return arith::NegFOp::create(*this, a); }

Value ScalarBuilder::exp(Value a) { return math::ExpOp::create(*this, a); }

Value ScalarBuilder::addi(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}

Value ScalarBuilder::subi(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}

Value ScalarBuilder::muli(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}

Value ScalarBuilder::divi(Value a, Value b) {
  return arith::DivUIOp::create(*this, a, b);
}

Value ScalarBuilder::remi(Value a, Value b) {
  return arith::RemUIOp::create(*this, a, b);
}

Value ScalarBuilder::andb(Value a, Value b) {
  return arith::AndIOp::create(*this, a, b);
}

Value ScalarBuilder::orb(Value a, Value b) {
  return arith::OrIOp::create(*this, a, b);
}

Value ScalarBuilder::cmp(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}

Value ScalarBuilder::cmp(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}

Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value ScalarBuilder::swish(Value x, Value power) {
  Value exponential = exp(negf(power));
  return divf(x, addf(f32(1), exponential));
}

Value ScalarBuilder::quotient(Value x, Value scale) {
  Value isZero = cmp(arith::CmpFPredicate::OEQ, scale, f32(0));
  Value rounded = math::RoundEvenOp::create(*this, divf(x, scale));
  return select(isZero, f32(0), rounded);
}

Value ScalarBuilder::finiteOrZero(Value maximum) {
  Value none = f32(-std::numeric_limits<double>::infinity());
  return select(cmp(arith::CmpFPredicate::OEQ, maximum, none), f32(0), maximum);
}

Value ScalarBuilder::shareOf(Value x, Value total) {
  Value isNothing = cmp(arith::CmpFPredicate::OEQ, total, f32(0));
  return select(isNothing, f32(0), divf(x, total));
}

Value ScalarBuilder::extractF32(Value tensor, ValueRange indices) {
  return toF32(tensor::ExtractOp::create(*this, tensor, indices));
}

//===----------------------------------------------------------------------===//
// Sizes and maps
//===----------------------------------------------------------------------===//

OpFoldResult TensorBuilder::size(Value tensor, int64_t dim) {
  return tensor::getMixedSize(*this, getLoc(), tensor, dim);
}

TensorBuilder::Sizes TensorBuilder::sizes(Value tensor) {
  return tensor::getMixedSizes(*this, getLoc(), tensor);
}

OpFoldResult TensorBuilder::product(OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return fixed(*x * *y);
  return muli(asValue(a), asValue(b));
}

OpFoldResult TensorBuilder::quotientOf(OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y && *y != 0)
    return fixed(*x / *y);
  return divi(asValue(a), asValue(b));
}

AffineMap TensorBuilder::map(int64_t numLoops, ArrayRef<int64_t> loops) {
  SmallVector<AffineExpr> exprs;
  for (int64_t loop : loops)
    exprs.push_back(loop < 0 ? getAffineConstantExpr(0)
                             : getAffineDimExpr(unsigned(loop)));
  return AffineMap::get(unsigned(numLoops), 0, exprs, getContext());
}

SmallVector<int64_t> TensorBuilder::range(int64_t first, int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(first, first + count));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value TensorBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(*this, sizes, element);
}

Value TensorBuilder::filled(ArrayRef<OpFoldResult> sizes, double value) {
  return linalg::FillOp::create(*this, f32(value), empty(sizes, getF32Type()))
      .getResult(0);
}

/// The elements in the body: narrow floats are extended to f32.
static SmallVector<Value> widenedInputs(ScalarBuilder &s, ValueRange elements,
                                        size_t numInputs) {
  SmallVector<Value> result(elements);
  for (Value &element : MutableArrayRef(result).take_front(numInputs))
    if (element.getType().isF16() || element.getType().isBF16())
      element = s.toF32(element);
  return result;
}

ValueRange TensorBuilder::reduceMany(ValueRange initials, ValueRange inputs,
                                     Maps maps, BodyOfMany body) {
  SmallVector<AffineMap> all(maps);
  all.append(initials.size() - 1, maps.back());
  SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : maps.back().getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;
  SmallVector<Type> types(initials.getTypes());
  auto op = linalg::GenericOp::create(
      *this, types, inputs, initials, all, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ScalarBuilder s(loc, nested);
        SmallVector<Value> values =
            body(s, widenedInputs(s, elements, inputs.size()));
        for (auto [value, initial] : llvm::zip_equal(values, initials))
          if (isa<FloatType>(value.getType()))
            value = s.roundTo(value, elementType(initial));
        linalg::YieldOp::create(s, values);
      });
  return op.getResults();
}

Value TensorBuilder::reduce(Value initial, ValueRange inputs, Maps maps,
                            Body body) {
  return reduceMany(initial, inputs, maps,
                    [&](ScalarBuilder &s, ValueRange v) {
                      return SmallVector<Value>{body(s, v)};
                    })
      .front();
}

ValueRange TensorBuilder::computeMany(ArrayRef<OpFoldResult> sizes,
                                      ArrayRef<Type> elements,
                                      ValueRange inputs, Maps maps,
                                      BodyOfMany body) {
  SmallVector<Value> initials;
  for (Type element : elements)
    initials.push_back(empty(sizes, element));
  SmallVector<AffineMap> all(maps);
  all.push_back(getMultiDimIdentityMap(unsigned(sizes.size())));
  return reduceMany(initials, inputs, all, [&](ScalarBuilder &s, ValueRange v) {
    return body(s, v.drop_back(elements.size()));
  });
}

Value TensorBuilder::compute(ArrayRef<OpFoldResult> sizes, Type element,
                             ValueRange inputs, Maps maps, Body body) {
  return computeMany(sizes, element, inputs, maps,
                     [&](ScalarBuilder &s, ValueRange v) {
                       return SmallVector<Value>{body(s, v)};
                     })
      .front();
}

Value TensorBuilder::elementwise(ArrayRef<OpFoldResult> sizes, Type element,
                                 ValueRange inputs, Body body) {
  SmallVector<AffineMap> maps(inputs.size(),
                              getMultiDimIdentityMap(unsigned(sizes.size())));
  return compute(sizes, element, inputs, maps, body);
}

Value TensorBuilder::rowMaximum(Value x) {
  const int64_t rank = type(x).getRank();
  Sizes rows = sizes(x);
  rows.pop_back();
  return reduce(filled(rows, -std::numeric_limits<double>::infinity()), x,
                {map(rank, range(0, rank)), map(rank, range(0, rank - 1))},
                [](ScalarBuilder &s, ValueRange v) -> Value {
                  return arith::MaximumFOp::create(s, v[0], v[1]);
                });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value TensorBuilder::castTo(Value x, Type type) {
  return x.getType() == type ? x : tensor::CastOp::create(*this, type, x);
}

Value TensorBuilder::expand(Value x, const Groups &groups,
                            ArrayRef<OpFoldResult> sizes) {
  RankedTensorType given = type(x);
  auto [shape, dynamic] = decomposeMixedValues(llvm::to_vector(sizes));
  // A dimension is static if and only if all dimensions that it becomes are.
  SmallVector<int64_t> source;
  for (auto [d, group] : llvm::enumerate(groups)) {
    int64_t whole = 1;
    for (int64_t i : group)
      whole = ShapedType::isDynamic(whole) || ShapedType::isDynamic(shape[i])
                  ? ShapedType::kDynamic
                  : whole * shape[i];
    source.push_back(whole);
  }
  x = castTo(x, given.clone(source));
  return tensor::ExpandShapeOp::create(*this, given.clone(shape), x, groups,
                                       sizes);
}

Value TensorBuilder::collapse(Value x, const Groups &groups) {
  return tensor::CollapseShapeOp::create(*this, x, groups);
}

Value TensorBuilder::split(Value x, int64_t dim, OpFoldResult inner) {
  Sizes all = sizes(x);
  all[dim] = quotientOf(all[dim], inner);
  all.insert(all.begin() + dim + 1, inner);
  Groups groups;
  for (int64_t d = 0; d < type(x).getRank(); ++d)
    if (d == dim)
      groups.push_back({d, d + 1});
    else
      groups.push_back({d < dim ? d : d + 1});
  return expand(x, groups, all);
}

Value TensorBuilder::join(Value x, int64_t dim) {
  Groups groups;
  for (int64_t d = 0; d + 1 < type(x).getRank(); ++d)
    if (d == dim)
      groups.push_back({d, d + 1});
    else
      groups.push_back({d < dim ? d : d + 1});
  return collapse(x, groups);
}

Value TensorBuilder::slice(Value x, int64_t dim, OpFoldResult offset,
                           OpFoldResult size) {
  Sizes all = sizes(x), offsets(all.size(), fixed(0));
  Sizes strides(all.size(), fixed(1));
  offsets[dim] = offset;
  all[dim] = size;
  return tensor::ExtractSliceOp::create(*this, x, offsets, all, strides);
}

Value TensorBuilder::widened(Value x) {
  if (elementType(x).isF32())
    return x;
  return elementwise(sizes(x), getF32Type(), x,
                     [](ScalarBuilder &s, ValueRange v) { return v[0]; });
}

Value TensorBuilder::gatherRows(Value x, Value rows) {
  const int64_t rank = type(x).getRank();
  Sizes all = sizes(x);
  all.front() = size(rows, 0);
  return compute(all, elementType(x), rows, map(rank, {0}),
                 [&](ScalarBuilder &s, ValueRange v) -> Value {
                   SmallVector<Value> place = {s.toIndex(v[0])};
                   for (int64_t d = 1; d < rank; ++d)
                     place.push_back(s.loop(d));
                   return tensor::ExtractOp::create(s, x, place);
                 });
}

} // namespace llmir
