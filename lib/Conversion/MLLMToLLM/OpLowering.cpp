//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value OpLowering::parameter(FlatSymbolRefAttr symbol) {
  auto known =
      SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(op, symbol);
  auto weight = ll::WeightOp::create(builder, known.getType(), symbol);
  // Its value is that of the parameter, whoever runs the function.
  weight->setAttr(kParameterAttr, builder.getUnitAttr());
  return weight;
}

Value OpLowering::plainParameter(FlatSymbolRefAttr symbol) {
  Value value = parameter(symbol);
  if (isa<RankedTensorType>(value.getType()))
    return value;
  refuse() << "parameter " << symbol << " is stored as " << value.getType()
           << ", of which only projections and tables can be";
  return {};
}

TypedAttr numberAttr(Type element, reference::Number number) {
  if (isa<FloatType>(element))
    return FloatAttr::get(element, number.toDouble());
  APInt whole(64, static_cast<uint64_t>(number.toInteger()));
  return IntegerAttr::get(element,
                          whole.trunc(element.getIntOrFloatBitWidth()));
}

Value OpLowering::filled(RankedTensorType type, reference::Number value) {
  Type element = type.getElementType();
  Value scalar = arith::ConstantOp::create(builder, numberAttr(element, value));
  Value empty = tensor::EmptyOp::create(builder, type.getShape(), element);
  return linalg::FillOp::create(builder, scalar, empty).getResult(0);
}

Value OpLowering::constant(DenseElementsAttr value) {
  return arith::ConstantOp::create(builder, value);
}

Value OpLowering::constant(const reference::Tensor &numbers) {
  SmallVector<float> values;
  for (double number : numbers.toDoubles())
    values.push_back(static_cast<float>(number));
  auto type = RankedTensorType::get(numbers.shape, builder.getF32Type());
  return constant(DenseElementsAttr::get(type, ArrayRef(values)));
}

Value OpLowering::reshape(Value x, ArrayRef<int64_t> shape) {
  RankedTensorType from = type(x);
  if (from.getShape() == shape)
    return x;
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(rank == 0 ? 0 : 1);
    for (int64_t d = 0; d < rank; ++d)
      groups[0].push_back(d);
    return groups;
  };
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  if (from.getRank() == 0)
    x = tensor::ExpandShapeOp::create(builder, flat, x, all(0));
  else if (from.getRank() > 1)
    x = tensor::CollapseShapeOp::create(builder, flat, x, all(from.getRank()));
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (shape.empty())
    return tensor::CollapseShapeOp::create(builder, to, x, all(0));
  if (shape.size() == 1)
    return x;
  return tensor::ExpandShapeOp::create(builder, to, x, all(shape.size()));
}

Value OpLowering::transpose(Value x, ArrayRef<int64_t> axes) {
  RankedTensorType from = type(x);
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(from.getDimSize(axis));
  Value empty = tensor::EmptyOp::create(builder, shape, from.getElementType());
  return linalg::TransposeOp::create(builder, x, empty, axes)->getResult(0);
}

Value OpLowering::slice(Value x, ArrayRef<int64_t> offsets,
                        ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  // A slice of nothing may begin behind the end, which tensor.extract_slice may
  // not.
  if (llvm::is_contained(sizes, 0))
    return tensor::EmptyOp::create(builder, sizes, type(x).getElementType());
  auto numbers = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::ExtractSliceOp::create(builder, x, numbers(offsets),
                                        numbers(sizes), numbers(steps));
}

Value OpLowering::concat(ValueRange parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  return tensor::ConcatOp::create(builder, dim, parts);
}

Value OpLowering::repeat(Value x, int64_t dim, int64_t times) {
  SmallVector<int64_t> shape(type(x).getShape());
  SmallVector<int64_t> one(shape), many(shape);
  one.insert(one.begin() + dim + 1, 1);
  many.insert(many.begin() + dim + 1, times);
  shape[dim] *= times;
  Value split = reshape(x, one);
  Value repeated = elementwise(
      type(x).clone(many), split,
      [](OpBuilder &, Location, ValueRange e) -> Value { return e[0]; });
  return reshape(repeated, shape);
}

Value OpLowering::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                      reference::Number value) {
  RankedTensorType from = type(x);
  SmallVector<int64_t> shape, steps(from.getRank(), 1);
  for (auto [size, before, after] : llvm::zip_equal(from.getShape(), low, high))
    shape.push_back(before + size + after);
  if (ArrayRef(shape) == from.getShape())
    return x;
  if (from.getNumElements() == 0)
    return filled(from.clone(shape), value);
  auto numbers = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::InsertSliceOp::create(
      builder, x, filled(from.clone(shape), value), numbers(low),
      numbers(from.getShape()), numbers(steps));
}

Value OpLowering::gather(Value x, Value indices, int64_t dim) {
  RankedTensorType table = type(x);
  ArrayRef<int64_t> shape = table.getShape();
  SmallVector<int64_t> result(shape.take_front(dim));
  llvm::append_range(result, type(indices).getShape());
  llvm::append_range(result, shape.drop_front(dim + 1));
  return mllm::GatherOp::create(builder, table.clone(result), x, indices,
                                builder.getI64IntegerAttr(dim));
}

Value OpLowering::gather(Value x, ArrayRef<int32_t> indices, int64_t dim) {
  auto of = RankedTensorType::get({static_cast<int64_t>(indices.size())},
                                  builder.getI32Type());
  return gather(x, constant(DenseElementsAttr::get(of, indices)), dim);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool isSmallFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

Value OpLowering::generic(RankedTensorType result, Value initial,
                          unsigned numReduced, ValueRange inputs,
                          ArrayRef<AffineMap> maps, Scalar scalar) {
  unsigned rank = static_cast<unsigned>(result.getRank());
  SmallVector<AffineMap> all(maps);
  all.push_back(map(rank + numReduced, dims(0, rank)));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.append(numReduced, utils::IteratorType::reduction);
  auto body = [&](OpBuilder &b, Location loc, ValueRange elements) {
    SmallVector<Value> numbers(elements);
    if (numReduced == 0)
      numbers.pop_back(); // What stands there before.
    for (Value &number : numbers)
      if (isSmallFloat(number.getType()))
        number = arith::ExtFOp::create(b, loc, b.getF32Type(), number);
    Value made = scalar(b, loc, numbers);
    if (isSmallFloat(result.getElementType()))
      made = arith::TruncFOp::create(b, loc, result.getElementType(), made);
    linalg::YieldOp::create(b, loc, made);
  };
  return linalg::GenericOp::create(builder, result, inputs, initial, all, kinds,
                                   body)
      .getResult(0);
}

Value OpLowering::compute(RankedTensorType result, ValueRange inputs,
                          ArrayRef<AffineMap> maps, Scalar scalar) {
  Value empty = tensor::EmptyOp::create(builder, result.getShape(),
                                        result.getElementType());
  return generic(result, empty, 0, inputs, maps, scalar);
}

Value OpLowering::elementwise(RankedTensorType result, ValueRange inputs,
                              Scalar scalar) {
  unsigned rank = static_cast<unsigned>(result.getRank());
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    ArrayRef<int64_t> shape = type(input).getShape();
    SmallVector<AffineExpr> exprs;
    for (auto [d, size] : llvm::enumerate(shape)) {
      unsigned place = rank - static_cast<unsigned>(shape.size() - d);
      bool repeats = size == 1 && result.getDimSize(place) != 1;
      exprs.push_back(repeats ? builder.getAffineConstantExpr(0) : dim(place));
    }
    maps.push_back(map(rank, exprs));
  }
  return compute(result, inputs, maps, scalar);
}

Value OpLowering::move(RankedTensorType result, Value x, AffineMap from) {
  Value empty = tensor::EmptyOp::create(builder, result.getShape(),
                                        result.getElementType());
  SmallVector<AffineMap> maps{from,
                              builder.getMultiDimIdentityMap(result.getRank())};
  SmallVector<utils::IteratorType> kinds(result.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, result, x, empty, maps, kinds,
             [](OpBuilder &b, Location loc, ValueRange elements) {
               linalg::YieldOp::create(b, loc, elements[0]);
             })
      .getResult(0);
}

Value OpLowering::reduce(RankedTensorType result, ArrayRef<int64_t> sizes,
                         reference::Number initial, ValueRange inputs,
                         ArrayRef<AffineMap> maps, Scalar scalar) {
  // Between two turns nothing is rounded to less than f32.
  RankedTensorType wide = result;
  if (isSmallFloat(result.getElementType()))
    wide = result.clone(builder.getF32Type());
  Value value =
      generic(wide, filled(wide, initial), sizes.size(), inputs, maps, scalar);
  return wide == result ? value : cast(value, result.getElementType());
}

Value OpLowering::sumOfProducts(RankedTensorType result,
                                ArrayRef<int64_t> sizes, Value x, Value y,
                                ArrayRef<AffineMap> maps) {
  return reduce(result, sizes, 0.0, {x, y}, maps,
                [](OpBuilder &b, Location loc, ValueRange n) -> Value {
                  Value product = arith::MulFOp::create(b, loc, n[0], n[1]);
                  return arith::AddFOp::create(b, loc, n[2], product);
                });
}

SmallVector<AffineExpr> OpLowering::dims(unsigned first, unsigned count) {
  SmallVector<AffineExpr> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(dim(first + i));
  return result;
}

Value OpLowering::cast(Value x, Type to) {
  Type from = type(x).getElementType();
  if (from == to)
    return x;
  auto isBool = [](Type element) { return element.isInteger(1); };
  return elementwise(
      type(x).clone(to), x,
      [&](OpBuilder &b, Location loc, ValueRange numbers) -> Value {
        Value number = numbers[0];
        bool wasFloat = isa<FloatType>(from), isFloat = isa<FloatType>(to);
        if (isBool(to) && wasFloat)
          return arith::CmpFOp::create(
              b, loc, arith::CmpFPredicate::UNE, number,
              arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
        if (isBool(to))
          return arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::ne, number,
              arith::ConstantOp::create(b, loc, b.getIntegerAttr(from, 0)));
        if (wasFloat && isFloat)
          return number; // Rounded where it is stored.
        if (wasFloat)
          return mllm::program::emitToInteger(
              b, loc, number, llvm::cast<IntegerType>(to), /*isSigned=*/true);
        if (isFloat && isBool(from))
          return arith::UIToFPOp::create(b, loc, b.getF32Type(), number);
        if (isFloat)
          return arith::SIToFPOp::create(b, loc, b.getF32Type(), number);
        if (isBool(from))
          return arith::ExtUIOp::create(b, loc, to, number);
        if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
          return arith::ExtSIOp::create(b, loc, to, number);
        return arith::TruncIOp::create(b, loc, to, number);
      });
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

LogicalResult OpLowering::replace(ValueRange values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (!value)
      return failure(); // Reported where it was to be made.
    if (result.getType() != value.getType())
      return refuse() << "it gives " << value.getType() << " where "
                      << result.getType() << " is expected";
  }
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

LoweringTable::LoweringTable() {
  addElementwiseLowerings(*this);
  addShapeLowerings(*this);
  addIndexLowerings(*this);
  addNNLowerings(*this);
  addAttentionLowerings(*this);
  addVisionLowerings(*this);
  addSignalLowerings(*this);
  addControlFlowLowerings(*this);
}

const LoweringTable &LoweringTable::get() {
  static const LoweringTable table;
  return table;
}

const LoweringTable::Lower *LoweringTable::find(Operation *op) const {
  auto known = entries.find(op->getName().getStringRef());
  return known == entries.end() ? nullptr : &known->second;
}

} // namespace llmir
