//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row-wise ops: projections, norms, rotations, element-wise ops, and the
// selection of rows.
//
//===----------------------------------------------------------------------===//

#include "MatmulResult.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

static LogicalResult convert(ProgramConversion &c, ll::EmbeddingOp op) {
  FailureOr<KernelWeights> table = c.weights(op, {op.getTable()});
  const bool positions = c.arePositions(op.getIds());
  if (failed(table) || failed(c.bindField(op, op.getIds(),
                                          positions ? StepField::positions
                                                    : StepField::token_ids)))
    return failure();
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getTable().getType());
  RowsValue out = c.createResult(op.getResult());
  c.kernel<kernel::EmbeddingOp>(
      op.getLoc(),
      kernelName(Twine(positions ? "position_embedding_" : "embedding_") +
                     table->format,
                 shape),
      out, (*table)[0], out.buffer, table->format, shape[0], shape[1],
      positions);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::LinearOp op) {
  ArrayRef<int64_t> shape = ll::getWeightShape(op.getWeight().getType());
  SmallVector<Value> operands{op.getWeight()};
  if (op.getBias())
    operands.push_back(op.getBias());
  FailureOr<RowsValue> x = c.lookup(op, op.getX(), shape[1]);
  FailureOr<KernelWeights> weights = c.weights(op, operands);
  if (failed(x) || failed(weights))
    return failure();
  if (auto integers = IntegerFormat::fromName(weights->format))
    return convertBlockLinear(c, op, *x, *weights, *integers);
  RowsValue input = c.matmulInput(op.getLoc(), op.getX(), *x,
                                  op.getWeight().getType(), weights->format);
  return convertMatmul(c, op,
                       kernelName(Twine("linear_") + weights->format, shape),
                       {shape[0], shape[1]}, *weights, *x, input.buffer);
}

/// The tensor in rows of whole groups of its last dimension.
static FailureOr<RowsValue> lookupGroups(ProgramConversion &c, Operation *op,
                                         Value tensor) {
  int64_t columns = tensorShape(tensor.getType()).back();
  FailureOr<RowsValue> x = c.lookup(op, tensor);
  if (failed(x) || (columns > 0 && x->columns % columns == 0))
    return x;
  return c.lookup(op, tensor, columns);
}

static LogicalResult convert(ProgramConversion &c, ll::RMSNormOp op) {
  FailureOr<RowsValue> x = lookupGroups(c, op, op.getX());
  SmallVector<Value> operands;
  if (op.getWeight())
    operands.push_back(op.getWeight());
  FailureOr<KernelWeights> factor = c.weights(op, operands);
  if (failed(x) || failed(factor))
    return failure();
  int64_t columns = tensorShape(op.getX().getType()).back();
  if (columns == 0) {
    c.createResult(op.getResult(), *x, 0);
    return success();
  }
  int64_t groups = x->columns / columns;
  RowsValue out = c.createResult(op.getResult(), *x, x->columns);
  c.kernel<kernel::RmsNormOp>(
      op.getLoc(), kernelName("rms_norm", {groups, columns}), out, (*factor)[0],
      x->buffer, out.buffer, columns, groups,
      APFloat(op.getEps().convertToDouble()), x->over);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::LayerNormOp op) {
  FailureOr<RowsValue> x = lookupGroups(c, op, op.getX());
  const bool hasWeight = static_cast<bool>(op.getWeight());
  SmallVector<Value> operands;
  for (Value operand : {op.getWeight(), op.getBias()})
    if (operand)
      operands.push_back(operand);
  FailureOr<KernelWeights> weights = c.weights(op, operands);
  if (failed(x) || failed(weights))
    return failure();
  int64_t columns = tensorShape(op.getX().getType()).back();
  if (columns == 0) {
    c.createResult(op.getResult(), *x, 0);
    return success();
  }
  int64_t groups = x->columns / columns;
  RowsValue out = c.createResult(op.getResult(), *x, x->columns);
  c.kernel<kernel::LayerNormOp>(
      op.getLoc(), kernelName("layer_norm", {groups, columns}), out,
      hasWeight ? (*weights)[0] : KernelWeight(), (*weights)[hasWeight ? 1 : 0],
      x->buffer, out.buffer, columns, groups,
      APFloat(op.getEps().convertToDouble()), x->over);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::SoftmaxOp op) {
  FailureOr<RowsValue> x = lookupGroups(c, op, op.getX());
  if (failed(x))
    return failure();
  int64_t columns = tensorShape(op.getX().getType()).back();
  if (columns == 0) {
    c.createResult(op.getResult(), *x, 0);
    return success();
  }
  int64_t groups = x->columns / columns;
  RowsValue out = c.createResult(op.getResult(), *x, x->columns);
  c.kernel<kernel::SoftmaxOp>(op.getLoc(),
                              kernelName("softmax", {groups, columns}), out,
                              x->buffer, out.buffer, columns, groups, x->over);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::RopeOp op) {
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  if (failed(x))
    return failure();
  FailureOr<RopeTable> table = c.ropeTable(op);
  if (failed(table))
    return failure();
  auto type = cast<RankedTensorType>(op.getX().getType());
  int64_t heads = type.getDimSize(1), headDim = type.getDimSize(2);
  int64_t rotaryDim = 2 * static_cast<int64_t>(op.getFrequencies().size());
  RowsValue out = c.reuseOrCreate(op, {op.getX()}, op.getResult(), *x);
  c.kernel<kernel::RopeOp>(op.getLoc(), kernelName("rope", {heads, headDim}),
                           *x, table->cosines, table->sines, x->buffer,
                           out.buffer, heads, headDim, rotaryDim,
                           op.getInterleaved());
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::SelectRowsOp op) {
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  if (failed(x) || failed(c.bindField(op, op.getRows(), StepField::logit_rows)))
    return failure();
  RowsValue out = c.createResult(op.getResult(), RowSpace::LogitRows);
  RowsValue rows = out;
  rows.over = RowSpace::LogitRows;
  c.kernel<kernel::SelectRowsOp>(op.getLoc(),
                                 kernelName("select_rows", {x->columns}), rows,
                                 x->buffer, out.buffer, x->columns);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::MeanRowsOp op) {
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  if (failed(x) ||
      failed(c.bindField(op, op.getOffsets(), StepField::query_offsets)))
    return failure();
  RowsValue out = c.createResult(op.getResult(), RowSpace::LogitRows);
  out.over = RowSpace::LogitRows;
  c.kernel<kernel::MeanRowsOp>(op.getLoc(),
                               kernelName("mean_rows", {x->columns}), out,
                               x->buffer, out.buffer, x->columns);
  return success();
}

/// The op and its operands that have no other use, as one kernel or a part of a
/// matmul's.
LogicalResult convertElementwise(ProgramConversion &c, Operation *root) {
  ElementwiseChain chain(root);
  if (Operation *matmul = chain.matmul())
    return ConversionTable::get().find(matmul)->convert(c, matmul);
  FailureOr<RowsValue> first = c.lookup(root, chain.operands().front());
  if (succeeded(first) && chain.needsWholeTiles() &&
      first->columns % kTileRows != 0)
    first = c.lookup(root, chain.operands().front(),
                     rowColumns(root->getResult(0)));
  if (failed(first))
    return failure();
  SmallVector<Value> inputs;
  for (Value operand : chain.operands()) {
    FailureOr<RowsValue> x = c.lookup(root, operand, first->columns);
    if (failed(x))
      return failure();
    if (x->over != first->over)
      return root->emitOpError("combines rows of all tokens with rows that "
                               "were selected");
    inputs.push_back(x->buffer);
  }
  RowsValue out =
      c.reuseOrCreate(root, chain.operands(), root->getResult(0), *first);
  if (out.columns == 0)
    return success();
  c.elementwise(
      root->getLoc(), kernelName(chain.name(), {out.columns}), inputs, out,
      [&](OpBuilder &b, Block &block) { chain.emitScalar(b, block); });
  return success();
}

template <typename OpTy>
static LogicalResult convertChain(ProgramConversion &c, OpTy op) {
  return convertElementwise(c, op);
}

void addRowConversions(ConversionTable &table) {
  table.add<ll::EmbeddingOp>(convert);
  table.add<ll::LinearOp>(convert);
  table.add<ll::RMSNormOp>(convert);
  table.add<ll::LayerNormOp>(convert);
  table.add<ll::SoftmaxOp>(convert);
  table.add<ll::RopeOp>(convert);
  table.add<ll::MeanRowsOp>(convert);
  table.add<ll::SelectRowsOp>(convert, OpForm::Exact);
  // A chain rounds the result of each of its ops.
  table.add<ll::SiluOp>(convertChain, OpForm::Exact);
  table.add<ll::GeluOp>(convertChain, OpForm::Exact);
  table.add<ll::AddOp>(convertChain, OpForm::Exact);
  table.add<ll::MulOp>(convertChain, OpForm::Exact);
  table.add<ll::SwiGLUOp>(convertChain, OpForm::Exact);
}

} // namespace llmir
