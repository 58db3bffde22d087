//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the mllm dialect without a counterpart in llm or linalg: gathers,
// scatters and sorts.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include "llmir/Dialect/MLLM/MLLMIndexOps.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

static bool isEmpty(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, 0);
}

static LogicalResult refuseTokens(Operation *op) {
  return op->emitOpError("moves elements between tokens of a step, which may "
                         "belong to different sequences");
}

static LogicalResult convert(ProgramConversion &c, mllm::GatherOp op) {
  MLIRContext *context = op.getContext();
  ArrayRef<int64_t> table = tensorShape(op.getTable().getType());
  ArrayRef<int64_t> chosen = tensorShape(op.getIndices().getType());
  ArrayRef<int64_t> shape = tensorShape(op.getType());
  FailureOr<RowsValue> x = c.lookup(op, op.getTable());
  FailureOr<RowsValue> indices = c.lookup(op, op.getIndices());
  if (failed(x) || failed(indices))
    return failure();
  FailureOr<RowSpace> over = commonRows(c, op, op->getOperands());
  if (failed(over))
    return failure();
  RowsValue out = c.createResult(op.getResult(), *over);
  if (isEmpty(shape))
    return success();
  int64_t dim = dimOf(op.getDim(), table.size());
  if (table[dim] == 0)
    return op.emitOpError("gathers from an empty dimension");
  if (ShapedType::isDynamic(table[dim]))
    return refuseTokens(op);
  unsigned rank = shape.size();
  SmallVector<unsigned> order = loopOrder(shape);
  SmallVector<AffineExpr> all = loopDims(order, context);
  SmallVector<AffineExpr> from(all.begin(), all.begin() + dim);
  from.push_back(getAffineSymbolExpr(0, context));
  from.append(all.begin() + dim + chosen.size(), all.end());
  ArrayAttr maps = Builder(context).getAffineMapArrayAttr(
      {placeMap(*indices, chosen, ArrayRef(all).slice(dim, chosen.size()), rank,
                0, context),
       placeMap(*x, table, from, rank, 1, context),
       placeMap(out, shape, all, rank, 0, context)});
  c.fixedKernel<kernel::GatherOp>(
      op.getLoc(), kernelName("gather", shape), indices->buffer, x->buffer,
      out.buffer, loopSizes(c, shape, order, *over), table[dim], maps,
      out.columns, nestRows(context, shape, *over));
  return success();
}

static LogicalResult convert(ProgramConversion &c, mllm::ScatterOp op) {
  MLIRContext *context = op.getContext();
  ArrayRef<int64_t> shape = tensorShape(op.getType());
  ArrayRef<int64_t> sizes = tensorShape(op.getSource().getType());
  FailureOr<RowsValue> x = c.lookup(op, op.getX());
  FailureOr<RowsValue> indices = c.lookup(op, op.getIndices());
  FailureOr<RowsValue> source = c.lookup(op, op.getSource());
  if (failed(x) || failed(indices) || failed(source))
    return failure();
  FailureOr<RowSpace> over = commonRows(c, op, op->getOperands());
  if (failed(over))
    return failure();
  int64_t dim = dimOf(op.getDim(), shape.size());
  // Rows of the step are the same ones on both sides.
  if (ShapedType::isDynamic(shape[dim]) ||
      rowDimension(sizes) != rowDimension(shape))
    return refuseTokens(op);
  RowsValue out = c.createResult(op.getResult(), *over);
  copyAll(c, op.getLoc(), *x, out, shape);
  if (isEmpty(sizes) || isEmpty(shape))
    return success();
  unsigned rank = shape.size();
  SmallVector<unsigned> order = loopOrder(sizes);
  SmallVector<AffineExpr> all = loopDims(order, context);
  SmallVector<AffineExpr> to = all;
  to[dim] = getAffineSymbolExpr(0, context);
  ArrayAttr maps = Builder(context).getAffineMapArrayAttr(
      {placeMap(*indices, sizes, all, rank, 0, context),
       placeMap(*source, sizes, all, rank, 0, context),
       placeMap(out, shape, to, rank, 1, context)});
  c.fixedKernel<kernel::ScatterOp>(
      op.getLoc(), kernelName("scatter", sizes), indices->buffer,
      source->buffer, out.buffer, loopSizes(c, sizes, order, *over),
      /*indexed=*/rank, shape[dim], maps, nestRows(context, sizes, *over));
  return success();
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Sorts the last dimension; returns the first `count` values and indices of
/// each row.
static FailureOr<std::pair<RowsValue, RowsValue>>
sortRows(ProgramConversion &c, Operation *op, Value x, int64_t count,
         bool descending) {
  ArrayRef<int64_t> shape = tensorShape(x.getType());
  int64_t columns = shape.back();
  if (ShapedType::isDynamic(columns))
    return refuseTokens(op);
  FailureOr<RowsValue> input = c.lookup(op, x, columns);
  if (failed(input))
    return failure();
  kernel::RowSpaceAttr over = nestRows(op->getContext(), shape, input->over);
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  RowsValue like = *input;
  like.rows = rows;
  if (over) {
    rows = c.maxRows(input->over);
    like = *input;
  }
  Location loc = op->getLoc();
  auto create = [&](int64_t columns, Type element) {
    return c.createRowsLike(loc, like, columns, element);
  };
  RowsValue values = create(count, bufferElementOf(x.getType()));
  RowsValue indices = create(count, c.i32());
  if (rows == 0 || count == 0)
    return std::make_pair(values, indices);
  RowsValue one = create(columns, c.i32()), other = create(columns, c.i32());
  c.fixedKernel<kernel::SortOp>(loc, kernelName("sort", {rows, columns, count}),
                                input->buffer, values.buffer, indices.buffer,
                                one.buffer, other.buffer, rows, columns, count,
                                descending, over);
  return std::make_pair(values, indices);
}

static LogicalResult checkLastDim(Operation *op, int64_t dim, Value x) {
  int64_t rank = tensorShape(x.getType()).size();
  if (dim == -1 || dim == rank - 1)
    return success();
  return op->emitOpError("sorts dimension ")
         << dim << "; a program can only sort the last one, to which "
         << "convert-mllm-to-llm{form=function} moves it";
}

static LogicalResult convert(ProgramConversion &c, mllm::TopKOp op) {
  if (failed(checkLastDim(op, op.getDim(), op.getX())))
    return failure();
  auto sorted = sortRows(c, op, op.getX(), op.getK(), op.getLargest());
  if (failed(sorted))
    return failure();
  c.bind(op.getValues(), sorted->first);
  c.bind(op.getIndices(), sorted->second);
  return success();
}

static LogicalResult convert(ProgramConversion &c, mllm::ArgsortOp op) {
  if (failed(checkLastDim(op, op.getDim(), op.getX())))
    return failure();
  int64_t columns = tensorShape(op.getX().getType()).back();
  auto sorted = sortRows(c, op, op.getX(), columns, op.getDescending());
  if (failed(sorted))
    return failure();
  c.bind(op.getResult(), sorted->second);
  return success();
}

void addIndexConversions(ConversionTable &table) {
  table.add<mllm::GatherOp>(convert, OpForm::Exact);
  table.add<mllm::ScatterOp>(convert, OpForm::Exact);
  table.add<mllm::TopKOp>(convert, OpForm::Exact);
  table.add<mllm::ArgsortOp>(convert, OpForm::Exact);
}

} // namespace llmir
