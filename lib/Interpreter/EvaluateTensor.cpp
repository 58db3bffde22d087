//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of the tensor dialect.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Reference/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

/// Static and dynamic offsets, sizes or strides.
static Shape resolve(ArrayRef<OpFoldResult> mixed, Evaluation &e) {
  Shape result;
  for (OpFoldResult entry : mixed) {
    std::optional<int64_t> constant = getConstantIntValue(entry);
    result.push_back(constant ? *constant : e.integer(cast<Value>(entry)));
  }
  return result;
}

/// Fails if a tensor of that shape is too large.
static LogicalResult checkShape(Operation *op, const Shape &shape) {
  for (auto [d, size] : llvm::enumerate(shape))
    if (size < 0)
      return op->emitOpError() << "cannot be evaluated: dimension " << d
                               << " has the size " << size;
  if (isAffordable(shape))
    return success();
  return op->emitOpError("cannot be evaluated: its result is too large");
}

static LogicalResult evaluateExpandShape(tensor::ExpandShapeOp op,
                                         Evaluation &e) {
  Shape shape = resolve(op.getMixedOutputShape(), e);
  const Tensor &source = e.tensor(op.getSrc());
  if (failed(checkShape(op, shape)))
    return failure();
  if (reference::numElements(shape) != source.size())
    return op.emitOpError() << "cannot be evaluated: " << typeString(source)
                            << " does not fill the shape";
  return e.set(op, source.reshaped(shape));
}

static LogicalResult evaluateCollapseShape(tensor::CollapseShapeOp op,
                                           Evaluation &e) {
  const Tensor &source = e.tensor(op.getSrc());
  Shape shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t dim : group)
      shape.back() *= source.dim(dim);
  }
  return e.set(op, source.reshaped(shape));
}

/// Whether a slice of `size` elements of one dimension is within 0 to `whole` -
/// 1.
static bool isInside(int64_t whole, int64_t offset, int64_t size,
                     int64_t stride) {
  if (size == 0)
    return true;
  if (offset < 0 || offset >= whole)
    return false;
  if (size == 1 || stride == 0)
    return true;
  const int64_t room = stride > 0 ? whole - 1 - offset : offset;
  // Negative magnitudes do not overflow.
  return size - 1 <= -(room / (stride > 0 ? -stride : stride));
}

/// Calls visit(index in the slice, index in the whole) for each element of a
/// slice. Returns false if the slice is out of bounds.
static bool forEachInSlice(const Shape &whole, const Shape &offsets,
                           const Shape &sizes, const Shape &strides,
                           function_ref<void(int64_t, int64_t)> visit) {
  for (size_t d = 0; d < whole.size(); ++d)
    if (!isInside(whole[d], offsets[d], sizes[d], strides[d]))
      return false;
  for (int64_t i = 0; i < reference::numElements(sizes); ++i) {
    int64_t rest = i, place = 0, factor = 1;
    for (size_t d = whole.size(); d-- > 0;) {
      place += (offsets[d] + rest % sizes[d] * strides[d]) * factor;
      rest /= sizes[d];
      factor *= whole[d];
    }
    visit(i, place);
  }
  return true;
}

static LogicalResult evaluateExtractSlice(tensor::ExtractSliceOp op,
                                          Evaluation &e) {
  const Tensor &source = e.tensor(op.getSource());
  const Shape sizes = resolve(op.getMixedSizes(), e);
  if (failed(checkShape(op, sizes)))
    return failure();
  Tensor result(source.kind, sizes);
  if (!forEachInSlice(
          source.shape, resolve(op.getMixedOffsets(), e), sizes,
          resolve(op.getMixedStrides(), e),
          [&](int64_t i, int64_t place) { result[i] = source.number(place); }))
    return op.emitOpError()
           << "cannot be evaluated: the slice is not in " << typeString(source);
  Shape kept;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!dropped.test(unsigned(d)))
      kept.push_back(sizes[d]);
  return e.set(op, result.reshaped(kept));
}

static LogicalResult evaluateInsertSlice(tensor::InsertSliceOp op,
                                         Evaluation &e) {
  const Tensor &source = e.tensor(op.getSource());
  Tensor result = e.tensor(op.getDest());
  const Shape sizes = resolve(op.getMixedSizes(), e);
  if (failed(checkShape(op, sizes)))
    return failure();
  if (reference::numElements(sizes) != source.size() ||
      !forEachInSlice(
          result.shape, resolve(op.getMixedOffsets(), e), sizes,
          resolve(op.getMixedStrides(), e),
          [&](int64_t i, int64_t place) { result[place] = source.number(i); }))
    return op.emitOpError() << "cannot be evaluated: " << typeString(source)
                            << " is not in " << typeString(result);
  return e.set(op, std::move(result));
}

static LogicalResult evaluateConcat(tensor::ConcatOp op, Evaluation &e) {
  reference::RankTensors parts;
  for (Value input : op.getInputs())
    parts.push_back(e.tensor(input));
  return e.set(op, concatenate(parts, int64_t(op.getDim())));
}

/// Uninitialized elements read as zeros.
static LogicalResult evaluateEmpty(tensor::EmptyOp op, Evaluation &e) {
  std::optional<ElementKind> kind =
      getElementKind(op.getType().getElementType());
  if (!kind)
    return op.emitOpError("cannot be evaluated: unknown element type");
  Shape shape = resolve(op.getMixedSizes(), e);
  if (failed(checkShape(op, shape)))
    return failure();
  return e.set(op, Tensor(*kind, std::move(shape)));
}

static LogicalResult evaluateDim(tensor::DimOp op, Evaluation &e) {
  const Tensor &source = e.tensor(op.getSource());
  const int64_t index = e.integer(op.getIndex());
  if (index < 0 || index >= source.rank())
    return op.emitOpError() << "cannot be evaluated: " << typeString(source)
                            << " has no dimension " << index;
  return e.set(op,
               Tensor::ofIntegers(ElementKind::I64, {}, {source.dim(index)}));
}

static LogicalResult evaluateCast(tensor::CastOp op, Evaluation &e) {
  return e.set(op, e.tensor(op.getSource()));
}

/// The linear index of the element at the given indices.
static FailureOr<int64_t> placeOf(Operation *op, const Tensor &tensor,
                                  ValueRange indices, Evaluation &e) {
  int64_t place = 0;
  for (auto [d, index] : llvm::enumerate(indices)) {
    const int64_t at = e.integer(index), size = tensor.dim(int64_t(d));
    if (at < 0 || at >= size)
      return op->emitOpError() << "cannot be evaluated: index " << at
                               << " of a dimension of " << size;
    place = place * size + at;
  }
  return place;
}

static LogicalResult evaluateExtract(tensor::ExtractOp op, Evaluation &e) {
  const Tensor &source = e.tensor(op.getTensor());
  FailureOr<int64_t> place = placeOf(op, source, op.getIndices(), e);
  if (failed(place))
    return failure();
  Tensor result(source.kind, {});
  result[0] = source.number(*place);
  return e.set(op, std::move(result));
}

static LogicalResult evaluateInsert(tensor::InsertOp op, Evaluation &e) {
  Tensor result = e.tensor(op.getDest());
  FailureOr<int64_t> place = placeOf(op, result, op.getIndices(), e);
  if (failed(place))
    return failure();
  result[*place] = e.tensor(op.getScalar()).number(0);
  return e.set(op, std::move(result));
}

/// The same elements in order.
static LogicalResult evaluateReshape(tensor::ReshapeOp op, Evaluation &e) {
  const Tensor &source = e.tensor(op.getSource());
  const Tensor &sizes = e.tensor(op.getShape());
  Shape shape;
  for (int64_t i = 0; i < sizes.size(); ++i)
    shape.push_back(sizes.integer(i));
  if (failed(checkShape(op, shape)))
    return failure();
  if (reference::numElements(shape) != source.size())
    return op.emitOpError() << "cannot be evaluated: " << typeString(source)
                            << " does not fill the shape";
  return e.set(op, source.reshaped(shape));
}

static LogicalResult evaluateRank(tensor::RankOp op, Evaluation &e) {
  return e.set(op, Tensor::ofIntegers(ElementKind::I64, {},
                                      {e.tensor(op.getTensor()).rank()}));
}

/// Pads with a constant.
static LogicalResult evaluatePad(tensor::PadOp op, Evaluation &e) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return op.emitOpError("cannot be evaluated: its region is not a constant");
  std::optional<Tensor> number;
  if (auto constant = padding.getDefiningOp<arith::ConstantOp>())
    number = constantValue(constant.getValue());
  else
    number = e.tensor(padding);
  const Tensor &source = e.tensor(op.getSource());
  const Shape low = resolve(op.getMixedLowPad(), e);
  const Shape high = resolve(op.getMixedHighPad(), e);
  Shape shape = source.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return op.emitOpError() << "cannot be evaluated: it pads dimension " << d
                              << " by " << low[d] << " and " << high[d];
    // An overflowing size is -1, which is invalid.
    if (llvm::AddOverflow(shape[d], low[d], shape[d]) ||
        llvm::AddOverflow(shape[d], high[d], shape[d]))
      shape[d] = -1;
  }
  if (!number)
    return op.emitOpError("cannot be evaluated: its padding value does not "
                          "have a single element");
  if (failed(checkShape(op, shape)))
    return failure();
  Tensor result = pick(*number, shape, [](const Shape &) { return 0; });
  forEachInSlice(
      shape, low, source.shape, Shape(shape.size(), 1),
      [&](int64_t i, int64_t place) { result[place] = source.number(i); });
  return e.set(op, std::move(result));
}

static LogicalResult evaluateFromElements(tensor::FromElementsOp op,
                                          Evaluation &e) {
  RankedTensorType type = op.getType();
  Tensor result(*getElementKind(type.getElementType()),
                Shape(type.getShape().begin(), type.getShape().end()));
  for (auto [i, element] : llvm::enumerate(op.getElements()))
    result[int64_t(i)] = e.tensor(element).number(0);
  return e.set(op, std::move(result));
}

static LogicalResult evaluateSplat(tensor::SplatOp op, Evaluation &e) {
  RankedTensorType type = op.getType();
  Shape shape(type.getShape().begin(), type.getShape().end());
  auto size = op.getDynamicSizes().begin();
  for (int64_t &entry : shape)
    if (ShapedType::isDynamic(entry))
      entry = e.integer(*size++);
  if (failed(checkShape(op, shape)))
    return failure();
  return e.set(op, pick(e.tensor(op.getInput()), shape,
                        [](const Shape &) { return 0; }));
}

void llmir::interpreter::addTensorEvaluators(EvaluatorTable &table) {
  table.add(evaluateExpandShape);
  table.add(evaluateCollapseShape);
  table.add(evaluateExtractSlice);
  table.add(evaluateInsertSlice);
  table.add(evaluateConcat);
  table.add(evaluateEmpty);
  table.add(evaluateDim);
  table.add(evaluateCast);
  table.add(evaluateExtract);
  table.add(evaluateInsert);
  table.add(evaluateReshape);
  table.add(evaluateRank);
  table.add(evaluatePad);
  table.add(evaluateFromElements);
  table.add(evaluateSplat);
}
