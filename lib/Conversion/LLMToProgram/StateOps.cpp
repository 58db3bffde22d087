//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that keep a state of each sequence.
//
//===----------------------------------------------------------------------===//

#include "ProgramConversion.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Binds what describes the sequences of the step and their states.
template <typename OpTy>
static LogicalResult bindStates(ProgramConversion &c, OpTy op) {
  if (c.asFunction())
    return op.emitOpError("updates the states of sequences, which only a step "
                          "has; the runtime owns them");
  return failure(
      failed(c.bindField(op, op.getSlots(), StepField::state_slots)) ||
      failed(c.bindField(op, op.getQueryOffsets(), StepField::query_offsets)) ||
      failed(c.bindLayer(op, op.getLayer())));
}

static LogicalResult convert(ProgramConversion &c, ll::CausalConvOp op) {
  ArrayRef<int64_t> weight = tensorShape(op.getWeight().getType());
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  FailureOr<RowsValue> factors = c.lookup(op, op.getWeight(), weight[1]);
  if (failed(x) || failed(factors) || failed(bindStates(c, op)))
    return failure();
  RowsValue out = c.reuseOrCreate(op, {op.getX()}, op.getResult(), *x);
  c.kernel<kernel::CausalConvOp>(op.getLoc(), kernelName("causal_conv", weight),
                                 *x, x->buffer, factors->buffer, out.buffer,
                                 weight[1], weight[0], op.getOffset());
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::LinearAttentionOp op) {
  ArrayRef<int64_t> k = tensorShape(op.getK().getType());
  ArrayRef<int64_t> v = tensorShape(op.getV().getType());
  SmallVector<RowsValue> rows;
  for (Value operand : {Value(op.getQ()), Value(op.getK()), Value(op.getV()),
                        Value(op.getDecay()), Value(op.getBeta())}) {
    if (!operand)
      continue;
    FailureOr<RowsValue> each = c.lookupTokens(op, operand);
    if (failed(each))
      return failure();
    rows.push_back(*each);
  }
  if (failed(bindStates(c, op)))
    return failure();
  RowsValue out = c.createResult(op.getResult(), rows[2], rows[2].columns);
  Value beta = rows.size() > 4 ? rows[4].buffer : Value();
  c.kernel<kernel::LinearAttentionOp>(
      op.getLoc(), kernelName("linear_attention", {v[1], k[2], v[2]}), rows[2],
      rows[0].buffer, rows[1].buffer, rows[2].buffer, rows[3].buffer, beta,
      out.buffer, v[1], k[1], k[2], v[2], op.getInterleaved(), op.getOffset());
  return success();
}

void addStateConversions(ConversionTable &table) {
  table.add<ll::CausalConvOp>(convert);
  table.add<ll::LinearAttentionOp>(convert);
}

} // namespace llmir
