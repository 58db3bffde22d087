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

#include "ProgramConversion.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace llmir {

/// The same elements in the same order: another view of the same rows.
static LogicalResult convertReshape(ProgramConversion &c, Operation *op) {
  FailureOr<RowsValue> x = c.lookup(op, op->getOperand(0));
  if (failed(x))
    return failure();
  if (x->rows == ShapedType::kDynamic &&
      rowColumns(op->getResult(0)) != x->columns)
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

void addTensorConversions(ConversionTable &table) {
  table.add<tensor::ExpandShapeOp>(convert, OpForm::Exact);
  table.add<tensor::CollapseShapeOp>(convert, OpForm::Exact);
  table.add<tensor::DimOp>(convert, OpForm::Exact);
}

} // namespace llmir
