//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of constants, memory and comments: MLLMTensorOps.td,
// MLLMGraphOps.td.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Reference/Elementwise.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

static LogicalResult evaluateConstant(mllm::ConstantOp op, Evaluation &e) {
  std::optional<Tensor> value = constantValue(cast<TypedAttr>(op.getValue()));
  auto type = cast<RankedTensorType>(op.getType());
  if (!value && !isAffordable(type.getShape()))
    return op.emitOpError()
           << "cannot be evaluated: " << type << " has more than 2^28 elements";
  if (!value)
    return op.emitOpError("cannot be evaluated: the values are not dense");
  return e.set(op, std::move(*value));
}

/// Uninitialized memory holds zeros; reading it in a run with planned memory is
/// an error.
static LogicalResult evaluateAlloc(mllm::AllocOp op, Evaluation &e) {
  auto type = cast<RankedTensorType>(op.getType());
  std::optional<ElementKind> kind = getElementKind(type.getElementType());
  if (!kind)
    return op.emitOpError("cannot be evaluated: its elements are not numbers");
  // A copy into it determines its dynamic sizes; until then, it is empty.
  Shape shape;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? 0 : size);
  if (Status status = reference::checkAffordable(shape); !status)
    return e.fail(status);
  return e.set(op, Tensor(*kind, std::move(shape)));
}

static LogicalResult evaluateFree(mllm::FreeOp, Evaluation &) {
  return success();
}

static LogicalResult evaluateComment(mllm::CommentOp, Evaluation &) {
  return success();
}

void llmir::interpreter::addMLLMTensorEvaluators(EvaluatorTable &table) {
  table.add(evaluateConstant);
  table.add(evaluateAlloc);
  table.add(evaluateFree);
  table.add(evaluateComment);
}
