//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "StepForm.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <utility>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value OpLowering::parameter(FlatSymbolRefAttr symbol) {
  if (state.step)
    return state.step->weight(symbol.getAttr());
  auto known =
      SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(op, symbol);
  auto weight = ll::WeightOp::create(builder, known.getType(), symbol);
  // The value of a parameter does not depend on the position of the op.
  weight->setAttr(kParameterAttr, builder.getUnitAttr());
  return weight;
}

Value OpLowering::plainParameter(FlatSymbolRefAttr symbol) {
  Value value = parameter(symbol);
  if (isa<RankedTensorType>(value.getType()))
    return value;
  refuse() << "parameter " << symbol << " is stored as " << value.getType()
           << ", which only projections and embeddings support";
  return {};
}

TypedAttr numberAttr(Type element, reference::Number number) {
  if (isa<FloatType>(element))
    return FloatAttr::get(element, number.toDouble());
  APInt whole(64, static_cast<uint64_t>(number.toInteger()));
  return IntegerAttr::get(element,
                          whole.trunc(element.getIntOrFloatBitWidth()));
}

SmallVector<OpFoldResult> OpLowering::mixedSizes(ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> result;
  for (int64_t size : sizes)
    result.push_back(ShapedType::isDynamic(size)
                         ? OpFoldResult(state.step->numRows(op))
                         : builder.getIndexAttr(size));
  return result;
}

Value OpLowering::empty(RankedTensorType type) {
  return tensor::EmptyOp::create(builder, mixedSizes(type.getShape()),
                                 type.getElementType());
}

Value OpLowering::filled(RankedTensorType type, reference::Number value) {
  Value scalar = arith::ConstantOp::create(
      builder, numberAttr(type.getElementType(), value));
  return linalg::FillOp::create(builder, scalar, empty(type)).getResult(0);
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

/// The dimensions of a tensor that are collapsed to each of `whole`, in order;
/// a size of 1 in `whole` without any is omitted.
static SmallVector<ReassociationIndices>
groupsAroundTokens(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  bool begins = true;
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool isDynamic = ShapedType::isDynamic(size);
    if (begins || isDynamic)
      groups.emplace_back();
    groups.back().push_back(static_cast<int64_t>(d));
    begins = isDynamic;
  }
  return groups;
}

/// One size per group of groupsAroundTokens().
static SmallVector<int64_t> joinedShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> joined;
  for (const ReassociationIndices &group : groupsAroundTokens(shape)) {
    int64_t size = 1;
    for (int64_t d : group)
      size = ShapedType::isDynamic(shape[d]) ? shape[d] : size * shape[d];
    joined.push_back(size);
  }
  return joined;
}

Value OpLowering::reshape(Value x, ArrayRef<int64_t> shape) {
  RankedTensorType from = type(x);
  if (from.getShape() == shape)
    return x;
  auto typeOf = [&](ArrayRef<int64_t> sizes) {
    return RankedTensorType::get(sizes, from.getElementType());
  };
  // Via one dimension before, one for, and one after the tokens, except those
  // of size 1 in only one of the shapes.
  SmallVector<int64_t> joined = joinedShape(from.getShape());
  if (from.getRank() == 0) {
    joined = {1};
    x = tensor::ExpandShapeOp::create(builder, typeOf(joined), x,
                                      ArrayRef<ReassociationIndices>());
  } else if (ArrayRef(joined) != from.getShape()) {
    x = tensor::CollapseShapeOp::create(builder, typeOf(joined), x,
                                        groupsAroundTokens(from.getShape()));
  }
  if (shape.empty())
    return tensor::CollapseShapeOp::create(builder, typeOf({}), x,
                                           ArrayRef<ReassociationIndices>());
  SmallVector<int64_t> wanted = joinedShape(shape);
  x = matchUnitSizes(x, wanted);
  if (ArrayRef(wanted) == shape)
    return x;
  return tensor::ExpandShapeOp::create(
      builder, typeOf(shape), x, groupsAroundTokens(shape), mixedSizes(shape));
}

/// A reshape that only changes dimensions of size 1 before and after the token
/// dimension.
Value OpLowering::matchUnitSizes(Value x, ArrayRef<int64_t> shape) {
  auto withoutUnits = [](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> rest;
    for (int64_t size : sizes)
      if (size != 1)
        rest.push_back(size);
    return rest;
  };
  // The dimensions of `sizes` in groups with one size that is not 1 each.
  auto groups = [](ArrayRef<int64_t> sizes) {
    SmallVector<ReassociationIndices> result(1);
    bool hasSize = false;
    for (auto [d, size] : llvm::enumerate(sizes)) {
      if (size != 1 && std::exchange(hasSize, true))
        result.emplace_back();
      result.back().push_back(static_cast<int64_t>(d));
    }
    return result;
  };
  ArrayRef<int64_t> from = type(x).getShape();
  if (from == shape)
    return x;
  SmallVector<int64_t> rest = withoutUnits(from);
  assert(rest == withoutUnits(shape) &&
         "a reshape moves elements between tokens");
  if (rest.empty())
    rest = {1};
  auto to = type(x).clone(rest);
  if (from != ArrayRef(rest))
    x = tensor::CollapseShapeOp::create(builder, to, x, groups(from));
  if (shape != ArrayRef(rest))
    x = tensor::ExpandShapeOp::create(builder, to.clone(shape), x,
                                      groups(shape), mixedSizes(shape));
  return x;
}

Value OpLowering::asRows(Value x, int64_t tail) {
  ArrayRef<int64_t> shape = type(x).getShape();
  int64_t rows = 1, columns = 1, rank = type(x).getRank();
  std::optional<int64_t> tokens = rowDimension(shape);
  SmallVector<int64_t> axes;
  if (tokens)
    axes.push_back(*tokens);
  for (int64_t d = 0; d < rank; ++d) {
    if (d == tokens)
      continue;
    axes.push_back(d);
    (d + tail < rank ? rows : columns) *= shape[d];
  }
  if (!tokens)
    return reshape(x, {rows, columns});
  if (*tokens != 0)
    x = transpose(x, axes);
  SmallVector<int64_t> to{ShapedType::kDynamic, columns};
  if (rows != 1)
    to.insert(to.begin() + 1, rows);
  return reshape(x, to);
}

Value OpLowering::fromRows(Value rows, ArrayRef<int64_t> shape) {
  std::optional<int64_t> tokens = rowDimension(shape);
  if (!tokens || *tokens == 0)
    return reshape(rows, shape);
  // Moves tokens first, and then to their position.
  SmallVector<int64_t> first(shape), axes;
  first.erase(first.begin() + *tokens);
  first.insert(first.begin(), ShapedType::kDynamic);
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    axes.push_back(d == *tokens ? 0 : d < *tokens ? d + 1 : d);
  return transpose(reshape(rows, first), axes);
}

SmallVector<Value>
OpLowering::mapRows(Value x, llvm::function_ref<SmallVector<Value>(Value)> f) {
  RankedTensorType from = type(x);
  if (from.getRank() == 2)
    return f(x);
  // Each of them is lowered to separate ops.
  constexpr int64_t maxRows = 1024;
  int64_t groups = from.getDimSize(1), columns = from.getDimSize(2);
  if (groups < 1 || groups > maxRows) {
    refuse() << "it processes " << groups
             << " rows of each token separately; a step supports 1 to "
             << maxRows;
    return {};
  }
  SmallVector<SmallVector<Value>> results;
  for (int64_t i = 0; i < groups; ++i) {
    Value group =
        slice(x, {0, i, 0}, {from.getDimSize(0), 1, columns}, {1, 1, 1});
    SmallVector<Value> parts = f(reshape(group, {from.getDimSize(0), columns}));
    results.resize(parts.size());
    for (auto [all, part] : llvm::zip_equal(results, parts)) {
      if (!part)
        return SmallVector<Value>(parts.size()); // Reported by `f`.
      all.push_back(
          reshape(part, {from.getDimSize(0), 1, type(part).getDimSize(1)}));
    }
  }
  SmallVector<Value> joined;
  for (const SmallVector<Value> &all : results)
    joined.push_back(concat(all, 1));
  return joined;
}

Value OpLowering::transpose(Value x, ArrayRef<int64_t> axes) {
  RankedTensorType from = type(x);
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(from.getDimSize(axis));
  return linalg::TransposeOp::create(builder, x, empty(from.clone(shape)), axes)
      ->getResult(0);
}

Value OpLowering::slice(Value x, ArrayRef<int64_t> offsets,
                        ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  // An empty slice may start after the end, which is invalid for
  // tensor.extract_slice.
  if (llvm::is_contained(sizes, 0))
    return empty(type(x).clone(sizes));
  auto numbers = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::ExtractSliceOp::create(builder, type(x).clone(sizes), x,
                                        numbers(offsets), mixedSizes(sizes),
                                        numbers(steps));
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
    shape.push_back(ShapedType::isDynamic(size) ? size : before + size + after);
  if (ArrayRef(shape) == from.getShape())
    return x;
  if (llvm::is_contained(from.getShape(), 0))
    return filled(from.clone(shape), value);
  auto numbers = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::InsertSliceOp::create(
      builder, x, filled(from.clone(shape), value), numbers(low),
      mixedSizes(from.getShape()), numbers(steps));
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
      numbers.pop_back(); // The element overwritten by the result.
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
  return generic(result, empty(result), 0, inputs, maps, scalar);
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
  SmallVector<AffineMap> maps{from,
                              builder.getMultiDimIdentityMap(result.getRank())};
  SmallVector<utils::IteratorType> kinds(result.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, result, x, empty(result), maps, kinds,
             [](OpBuilder &b, Location loc, ValueRange elements) {
               linalg::YieldOp::create(b, loc, elements[0]);
             })
      .getResult(0);
}

Value OpLowering::reduce(RankedTensorType result, ArrayRef<int64_t> sizes,
                         reference::Number initial, ValueRange inputs,
                         ArrayRef<AffineMap> maps, Scalar scalar) {
  // Accumulators are f32.
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
          return number; // Rounded when it is stored.
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
// Replacement
//===----------------------------------------------------------------------===//

LogicalResult OpLowering::replace(ValueRange values) {
  if (state.step)
    state.step->replaced(op, values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (!value)
      return failure(); // Reported at its creation.
    if (result.getType() != value.getType())
      return refuse() << "its lowering has the result type " << value.getType()
                      << ", expected " << result.getType();
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
  addStepLowerings(*this);
}

const LoweringTable &LoweringTable::get() {
  static const LoweringTable table;
  return table;
}

const LoweringTable::Lower *LoweringTable::find(Operation *op,
                                                bool inStep) const {
  StringRef name = op->getName().getStringRef();
  if (auto known = entriesForSteps.find(name);
      inStep && known != entriesForSteps.end())
    return &known->second;
  auto known = entries.find(name);
  return known == entries.end() ? nullptr : &known->second;
}

} // namespace llmir
