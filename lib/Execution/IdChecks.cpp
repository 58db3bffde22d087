//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IdChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmir {

/// Whether the op converts its first operand to another integer width or clamps
/// it to 32 bits, which preserves valid ids.
static bool keepsId(Operation *op) {
  if (isa<arith::TruncIOp, arith::ExtSIOp>(op))
    return true;
  APInt limit;
  if (!isa<arith::MinSIOp, arith::MaxSIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&limit)))
    return false;
  int64_t end = isa<arith::MinSIOp>(op) ? INT32_MAX : INT32_MIN;
  return limit.getSExtValue() == end;
}

/// The tensor that the op converts to another integer width, or null.
static Value castOf(linalg::GenericOp op) {
  auto isIdentity = [](AffineMap map) { return map.isIdentity(); };
  if (op.getNumDpsInputs() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(), isIdentity))
    return Value();
  Block &body = *op.getBody();
  Value id = body.getTerminator()->getOperand(0);
  while (id.getDefiningOp() && keepsId(id.getDefiningOp()))
    id = id.getDefiningOp()->getOperand(0);
  return id == body.getArgument(0) ? op.getDpsInputs().front() : Value();
}

/// The value that has the same integers in the same order.
static Value originOf(Value ids) {
  while (Operation *op = ids.getDefiningOp()) {
    Value from;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      from = op->getOperand(0);
    else if (auto generic = dyn_cast<linalg::GenericOp>(op))
      from = castOf(generic);
    if (!from)
      break;
    ids = from;
  }
  return ids;
}

std::vector<IdCheck> findIdChecks(func::FuncOp function) {
  std::vector<IdCheck> checks;
  for (auto op : function.getOps<mlir::llm::EmbeddingOp>()) {
    auto argument = dyn_cast<BlockArgument>(originOf(op.getIds()));
    if (argument)
      checks.push_back(
          {op.getLoc(), argument.getArgNumber(),
           mlir::llm::getWeightShape(op.getTable().getType()).front()});
  }
  return checks;
}

LogicalResult IdCheck::check(ArrayRef<InterpreterValue> arguments) const {
  const auto *ids = std::get_if<reference::Tensor>(&arguments[argument]);
  for (int64_t i = 0; ids && i < ids->size(); ++i)
    if (ids->integer(i) < 0 || ids->integer(i) >= rows)
      return emitError(loc, "cannot be run: id ")
             << i << " is " << ids->integer(i) << ", which is not from 0 to "
             << rows - 1;
  return success();
}

} // namespace llmir
