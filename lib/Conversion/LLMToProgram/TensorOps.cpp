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

using namespace mlir;

namespace llmir {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

//===----------------------------------------------------------------------===//
// Elements that nobody has written
//===----------------------------------------------------------------------===//

/// A result without a place: what nobody has written is not read either, unless
/// there is nothing of it.
static LogicalResult leaveUnwritten(ProgramConversion &c, Value result) {
  if (llvm::is_contained(tensorShape(result.getType()), 0))
    c.createResult(result);
  return success();
}

/// Whether the elements are those of a tensor.empty, moved or not. Folding
/// leaves such behind: a reshape of a fill becomes a fill of the reshape of
/// what it fills.
static bool isUnwritten(ProgramConversion &c, Value tensor) {
  return isa_and_nonnull<tensor::EmptyOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp, tensor::ExtractSliceOp,
                         tensor::ConcatOp>(tensor.getDefiningOp()) &&
         !c.isBound(tensor);
}

static LogicalResult convert(ProgramConversion &c, tensor::EmptyOp op) {
  return leaveUnwritten(c, op.getResult());
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

/// The same elements in the same order: another view of the same rows.
static LogicalResult convertReshape(ProgramConversion &c, Operation *op) {
  if (isUnwritten(c, op->getOperand(0)))
    return leaveUnwritten(c, op->getResult(0));
  FailureOr<RowsValue> x = c.lookup(op, op->getOperand(0));
  if (failed(x))
    return failure();
  if (!c.hasStaticRows() && rowColumns(op->getResult(0)) != x->columns)
    return op->emitOpError("moves values between rows, which a program cannot");
  c.bind(op->getResult(0), *x);
  return success();
}

static LogicalResult convert(ProgramConversion &c, tensor::ExpandShapeOp op) {
  return convertReshape(c, op);
}

static LogicalResult convert(ProgramConversion &c, tensor::CollapseShapeOp op) {
  return convertReshape(c, op);
}

/// Sizes are known without computing anything.
static LogicalResult convert(ProgramConversion &, tensor::DimOp) {
  return success();
}

/// From one of `size` numbers of a slice to the next one; of a single number
/// the step is anything.
static int64_t slicedStride(int64_t size, int64_t step, int64_t stride) {
  return size > 1 ? step * stride : stride;
}

static LogicalResult convert(ProgramConversion &c, tensor::ExtractSliceOp op) {
  auto isStatic = [](ArrayRef<int64_t> numbers) {
    return llvm::none_of(numbers, ShapedType::isDynamic);
  };
  if (!c.hasStaticRows() || !isStatic(op.getStaticOffsets()) ||
      !isStatic(op.getStaticSizes()) || !isStatic(op.getStaticStrides()))
    return op.emitOpError("takes a slice that is not known before it runs; a "
                          "program needs constant offsets, sizes and strides");
  if (isUnwritten(c, op.getSource()))
    return leaveUnwritten(c, op.getResult());
  FailureOr<RowsValue> x = c.lookup(op, op.getSource());
  if (failed(x))
    return failure();
  SmallVector<int64_t> strides = rowMajorStrides(op.getSourceType().getShape());
  CopyBoxSpec box;
  box.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  box.toStrides = rowMajorStrides(box.sizes);
  for (auto [offset, size, step, stride] :
       llvm::zip_equal(op.getStaticOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), strides)) {
    box.from += offset * stride;
    box.fromStrides.push_back(slicedStride(size, step, stride));
  }
  c.copyBox(op.getLoc(), *x, c.createResult(op.getResult()), box);
  return success();
}

static LogicalResult convert(ProgramConversion &c, tensor::ConcatOp op) {
  if (!c.hasStaticRows())
    return op.emitOpError("joins tensors of unknown sizes, which a program "
                          "cannot");
  auto isNothing = [&](Value input) { return isUnwritten(c, input); };
  if (llvm::all_of(op.getInputs(), isNothing))
    return leaveUnwritten(c, op.getResult());
  int64_t dim = op.getDim(), at = 0;
  SmallVector<int64_t> strides = rowMajorStrides(op.getResultType().getShape());
  RowsValue out = c.createResult(op.getResult());
  for (Value input : op.getInputs()) {
    ArrayRef<int64_t> shape = tensorShape(input.getType());
    if (isNothing(input)) {
      at += shape[dim];
      continue;
    }
    FailureOr<RowsValue> x = c.lookup(op, input);
    if (failed(x))
      return failure();
    CopyBoxSpec box;
    box.sizes.assign(shape.begin(), shape.end());
    box.fromStrides = rowMajorStrides(shape);
    box.toStrides = strides;
    box.to = at * strides[dim];
    c.copyBox(op.getLoc(), *x, out, box);
    at += shape[dim];
  }
  return success();
}

static LogicalResult convert(ProgramConversion &c, tensor::InsertSliceOp op) {
  auto isStatic = [](ArrayRef<int64_t> numbers) {
    return llvm::none_of(numbers, ShapedType::isDynamic);
  };
  if (!c.hasStaticRows() || !isStatic(op.getStaticOffsets()) ||
      !isStatic(op.getStaticSizes()) || !isStatic(op.getStaticStrides()))
    return op.emitOpError("writes a slice that is not known before it runs; a "
                          "program needs constant offsets, sizes and strides");
  FailureOr<RowsValue> x = c.lookup(op, op.getSource());
  if (failed(x))
    return failure();
  ArrayRef<int64_t> shape = op.getDestType().getShape();
  RowsValue out;
  if (isUnwritten(c, op.getDest())) {
    out = c.createResult(op.getResult());
  } else {
    FailureOr<RowsValue> before = c.lookup(op, op.getDest());
    if (failed(before))
      return failure();
    out = c.createResult(op.getResult());
    copyAll(c, op.getLoc(), *before, out, shape);
  }
  CopyBoxSpec box;
  box.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  box.fromStrides = rowMajorStrides(box.sizes);
  for (auto [offset, size, step, stride] :
       llvm::zip_equal(op.getStaticOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), rowMajorStrides(shape))) {
    box.to += offset * stride;
    box.toStrides.push_back(slicedStride(size, step, stride));
  }
  c.copyBox(op.getLoc(), *x, out, box);
  return success();
}

void addTensorConversions(ConversionTable &table) {
  table.add<tensor::EmptyOp>(convert, OpForm::Exact);
  table.add<tensor::ExpandShapeOp>(convert, OpForm::Exact);
  table.add<tensor::CollapseShapeOp>(convert, OpForm::Exact);
  table.add<tensor::DimOp>(convert, OpForm::Exact);
  table.add<tensor::ExtractSliceOp>(convert, OpForm::Exact);
  table.add<tensor::ConcatOp>(convert, OpForm::Exact);
  table.add<tensor::InsertSliceOp>(convert, OpForm::Exact);
}

} // namespace llmir
