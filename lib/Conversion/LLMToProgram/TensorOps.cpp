//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that only move the elements of tensors.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace llmir {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

SmallVector<int64_t> bufferStrides(ArrayRef<int64_t> shape) {
  std::optional<int64_t> row = rowDimension(shape);
  if (!row)
    return rowMajorStrides(shape);
  SmallVector<int64_t> columns(shape);
  columns[*row] = 1;
  SmallVector<int64_t> strides = rowMajorStrides(columns);
  // A row is all other dimensions.
  int64_t width = 1;
  for (int64_t size : columns)
    width *= size;
  strides[*row] = width;
  return strides;
}

//===----------------------------------------------------------------------===//
// Uninitialized elements
//===----------------------------------------------------------------------===//

/// Uninitialized results have no buffer, since they are not read, unless they
/// are empty.
static LogicalResult leaveUninitialized(ProgramConversion &c, Value result) {
  if (llvm::is_contained(tensorShape(result.getType()), 0))
    c.createResult(result);
  return success();
}

/// Whether the elements are those of a tensor.empty, possibly moved. Folding
/// creates these: a reshape of a fill becomes a fill of the reshaped tensor.
static bool isUninitialized(ProgramConversion &c, Value tensor) {
  return isa_and_nonnull<tensor::EmptyOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp, tensor::ExtractSliceOp,
                         tensor::ConcatOp>(tensor.getDefiningOp()) &&
         !c.isBound(tensor);
}

/// Whether the user overwrites all elements, or only moves them.
static bool mayBeUninitialized(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<linalg::LinalgOp>(user))
    return op.isDpsInit(&use) && op.getNumReductionLoops() == 0 &&
           op.getMatchingBlockArgument(&use).use_empty();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    return use.get() == insert.getDest();
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp, tensor::ConcatOp>(user);
}

/// If the elements are read, for example as initial values of a loop, they are
/// zeros, as in the interpreter.
static LogicalResult convert(ProgramConversion &c, tensor::EmptyOp op) {
  if (llvm::all_of(op->getUses(), mayBeUninitialized))
    return leaveUninitialized(c, op.getResult());
  OpBuilder b(op);
  auto zero = arith::ConstantOp::create(
      b, op.getLoc(), b.getZeroAttr(op.getType().getElementType()));
  LogicalResult result = fillWithScalar(
      c, op, zero, c.createResult(op.getResult()), op.getType().getShape());
  zero.erase();
  return result;
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

/// The same elements in the same order: another view of the same rows.
static LogicalResult convertReshape(ProgramConversion &c, Operation *op) {
  if (isUninitialized(c, op->getOperand(0)))
    return leaveUninitialized(c, op->getResult(0));
  FailureOr<RowsValue> x = c.lookup(op, op->getOperand(0));
  if (failed(x))
    return failure();
  bool hasRows =
      rowDimension(tensorShape(op->getResult(0).getType())).has_value();
  if (hasRows && !ShapedType::isDynamic(x->rows))
    return op->emitOpError(
        "uses a value that is the same for all tokens as one "
        "row per token");
  if (ShapedType::isDynamic(x->rows) &&
      rowColumns(op->getResult(0)) != x->columns)
    return op->emitOpError("moves elements between rows of the step");
  c.bind(op->getResult(0), *x);
  return success();
}

template <typename OpTy>
static LogicalResult convertView(ProgramConversion &c, OpTy op) {
  return convertReshape(c, op);
}

/// Sizes are static: uses of the result have been folded to constants.
template <typename OpTy>
static LogicalResult convertSize(ProgramConversion &, OpTy) {
  return success();
}

/// The stride of `size` elements of a slice; any value for a single element.
static int64_t slicedStride(int64_t size, int64_t step, int64_t stride) {
  return size > 1 ? step * stride : stride; // A dynamic size is below 0.
}

/// Whether the slice of a tensor of this shape has all rows of the step, and no
/// other dynamic size.
static bool takesAllRows(OffsetSizeAndStrideOpInterface op,
                         ArrayRef<int64_t> shape) {
  for (auto [size, offset, stride, whole] :
       llvm::zip_equal(op.getStaticSizes(), op.getStaticOffsets(),
                       op.getStaticStrides(), shape))
    if (ShapedType::isDynamic(size) != ShapedType::isDynamic(whole) ||
        (ShapedType::isDynamic(size) && (offset != 0 || stride != 1)))
      return false;
  return true;
}

/// Fails if sizes or strides of the slice of a tensor of this shape are
/// dynamic; returns whether its offsets are static.
static FailureOr<bool> hasKnownOffsets(OffsetSizeAndStrideOpInterface op,
                                       ArrayRef<int64_t> shape) {
  auto isStatic = [](ArrayRef<int64_t> numbers) {
    return llvm::none_of(numbers, ShapedType::isDynamic);
  };
  bool isKnown = isStatic(op.getStaticOffsets());
  if (!takesAllRows(op, shape) || !isStatic(op.getStaticStrides()) ||
      (!isKnown && rowDimension(shape)))
    return op->emitOpError("has a slice of dynamic size; a program requires "
                           "constant sizes and strides, and in a step all "
                           "tokens");
  return isKnown;
}

static LogicalResult convert(ProgramConversion &c, tensor::ExtractSliceOp op) {
  FailureOr<bool> isKnown = hasKnownOffsets(op, op.getSourceType().getShape());
  if (failed(isKnown))
    return failure();
  if (isUninitialized(c, op.getSource()))
    return leaveUninitialized(c, op.getResult());
  FailureOr<RowsValue> x = c.lookup(op, op.getSource());
  if (failed(x))
    return failure();
  RowsValue out = c.createResult(op.getResult(), x->over);
  if (llvm::is_contained(op.getStaticSizes(), 0))
    return success();
  if (!*isKnown)
    return extractComputedSlice(c, op, *x, out);
  SmallVector<int64_t> strides = bufferStrides(op.getSourceType().getShape());
  ElementBox box;
  box.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  box.toStrides = bufferStrides(box.sizes);
  for (auto [offset, size, step, stride] :
       llvm::zip_equal(op.getStaticOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), strides)) {
    box.from += offset * stride;
    box.fromStrides.push_back(slicedStride(size, step, stride));
  }
  c.copyBox(op.getLoc(), *x, out, box);
  return success();
}

static LogicalResult convert(ProgramConversion &c, tensor::ConcatOp op) {
  if (rowDimension(op.getResultType().getShape()) ==
      static_cast<int64_t>(op.getDim()))
    return op.emitOpError("concatenates tensors along the token dimension, "
                          "which a step does not support");
  auto isUninitializedInput = [&](Value input) {
    return isUninitialized(c, input);
  };
  if (llvm::all_of(op.getInputs(), isUninitializedInput))
    return leaveUninitialized(c, op.getResult());
  int64_t dim = op.getDim(), at = 0;
  SmallVector<int64_t> strides = bufferStrides(op.getResultType().getShape());
  FailureOr<RowSpace> over = commonRows(c, op, op.getInputs());
  if (failed(over))
    return failure();
  RowsValue out = c.createResult(op.getResult(), *over);
  for (Value input : op.getInputs()) {
    ArrayRef<int64_t> shape = tensorShape(input.getType());
    if (isUninitializedInput(input)) {
      at += shape[dim];
      continue;
    }
    FailureOr<RowsValue> x = c.lookup(op, input);
    if (failed(x))
      return failure();
    ElementBox box;
    box.sizes.assign(shape.begin(), shape.end());
    box.fromStrides = bufferStrides(shape);
    box.toStrides = strides;
    box.to = at * strides[dim];
    c.copyBox(op.getLoc(), *x, out, box);
    at += shape[dim];
  }
  return success();
}

static LogicalResult convert(ProgramConversion &c, tensor::InsertSliceOp op) {
  ArrayRef<int64_t> shape = op.getDestType().getShape();
  FailureOr<bool> isKnown = hasKnownOffsets(op, shape);
  if (failed(isKnown))
    return failure();
  FailureOr<RowsValue> x = c.lookup(op, op.getSource());
  if (failed(x))
    return failure();
  RowsValue out;
  if (isUninitialized(c, op.getDest())) {
    out = c.createResult(op.getResult(), x->over);
  } else {
    FailureOr<RowsValue> before = c.lookup(op, op.getDest());
    if (failed(before))
      return failure();
    out = c.createResult(op.getResult(), x->over);
    copyAll(c, op.getLoc(), *before, out, shape);
  }
  if (llvm::is_contained(op.getStaticSizes(), 0))
    return success();
  if (!*isKnown)
    return insertComputedSlice(c, op, *x, out);
  ElementBox box;
  box.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  box.fromStrides = bufferStrides(box.sizes);
  for (auto [offset, size, step, stride] :
       llvm::zip_equal(op.getStaticOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), bufferStrides(shape))) {
    box.to += offset * stride;
    box.toStrides.push_back(slicedStride(size, step, stride));
  }
  c.copyBox(op.getLoc(), *x, out, box);
  return success();
}

void addTensorConversions(ConversionTable &table) {
  table.add<tensor::EmptyOp>(convert, OpForm::Exact);
  table.add<tensor::ExpandShapeOp>(convertView, OpForm::Exact);
  table.add<tensor::CollapseShapeOp>(convertView, OpForm::Exact);
  table.add<tensor::ReshapeOp>(convertView, OpForm::Exact);
  table.add<tensor::CastOp>(convertView, OpForm::Exact);
  table.add<tensor::DimOp>(convertSize, OpForm::Exact);
  table.add<tensor::RankOp>(convertSize, OpForm::Exact);
  table.add<tensor::ExtractSliceOp>(convert, OpForm::Exact);
  table.add<tensor::ConcatOp>(convert, OpForm::Exact);
  table.add<tensor::InsertSliceOp>(convert, OpForm::Exact);
}

} // namespace llmir
