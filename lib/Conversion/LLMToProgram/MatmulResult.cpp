//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulResult.h"

using namespace mlir;

namespace llmir {

FailureOr<MatmulResult> MatmulResult::create(ProgramConversion &c,
                                             Operation *op, const RowsValue &x,
                                             int64_t columns, Value input) {
  MatmulResult result;
  Operation *root = kernelRoot(op);
  if (root == op) {
    result.out = c.createResult(op->getResult(0), x, columns);
  } else {
    result.chain.emplace(root);
    RowsValue like = x;
    like.columns = columns;
    // Other workers may still read the input when this worker stores a result.
    SmallVector<Value> overwritable;
    for (Value leaf : result.chain->operands()) {
      FailureOr<RowsValue> rows = c.lookup(root, leaf, columns);
      if (failed(rows))
        return failure();
      if (rows->over != x.over)
        return root->emitOpError("combines rows of all tokens with rows that "
                                 "were selected");
      result.chainInputs.push_back(rows->buffer);
      if (rows->buffer != input)
        overwritable.push_back(leaf);
    }
    result.out = c.reuseOrCreate(root, overwritable, root->getResult(0), like);
  }
  return result;
}

std::string MatmulResult::name(std::string base) const {
  return chain ? base + "_" + chain->name() : base;
}

kernel::LinearOp appendLinear(ProgramConversion &c, Location loc,
                              StringRef label, const LinearShape &shape,
                              const KernelWeights &weights, Value input,
                              ValueRange inputs, const RowsValue &out) {
  IntegerAttr segment;
  if (shape.segment != 0)
    segment = Builder(loc.getContext()).getI64IntegerAttr(shape.segment);
  return c.kernel<kernel::LinearOp>(
      loc, label, out, weights[0], weights[1], input, inputs, out.buffer,
      weights.format, shape.rows, shape.columns, segment, out.grain, out.over);
}

LogicalResult convertMatmul(ProgramConversion &c, Operation *op,
                            std::string label, const LinearShape &shape,
                            const KernelWeights &weights, const RowsValue &x,
                            Value input) {
  FailureOr<MatmulResult> result =
      MatmulResult::create(c, op, x, shape.rows, input);
  if (failed(result))
    return failure();
  kernel::LinearOp linear =
      appendLinear(c, op->getLoc(), result->name(std::move(label)), shape,
                   weights, input, result->inputs(), result->rows());
  if (result->hasChain())
    writeBody(linear.getBody(), [&](OpBuilder &b, Block &block) {
      result->emitScalar(b, block);
    });
  return success();
}

} // namespace llmir
