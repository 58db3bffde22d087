//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMExpertOps.h"

#include "LinalgCosts.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMExpertOps.cpp.inc"

Expected<ResultTypes> ExpertsOp::inferResults(Adaptor op) {
  const shapes::Shape x = shapeOf(op.getX());
  shapes::Shape chosen = shapeOf(op.getChosen());
  // c4
  if (!shapes::sameShape(chosen, shapeOf(op.getWeights())))
    return shapes::shapeError(
        "has weights of shape " + shapes::str(shapeOf(op.getWeights())) +
        " for chosen experts of shape " + shapes::str(chosen));
  if (!x.empty() && chosen.size() == x.size())
    chosen.back() = x.back();
  if (x.empty() || !shapes::sameShape(chosen, x))
    return shapes::shapeError("chooses experts of shape " +
                              shapes::str(shapeOf(op.getChosen())) +
                              " for the rows of " + shapes::str(x));
  LLMIR_RETURN_IF_ERROR(checkSameElements({op.getX(), op.getWeights()})); // c5
  LLMIR_RETURN_IF_ERROR(
      checkSameDevice({op.getX(), op.getChosen(), op.getWeights()}));
  return sameAs(op.getX()); // c6
}

/// The shape of a parameter [a, b, c]; of dynamic sizes if there is none.
static SmallVector<int64_t> shapeOfStack(Operation *op, FlatSymbolRefAttr name,
                                         SymbolTableCollection &tables) {
  auto found = tables.lookupNearestSymbolFrom<RegisterOp>(op, name);
  std::optional<ArrayRef<int64_t>> shape;
  if (found)
    shape = parameterShape(found.getType());
  if (shape && shape->size() == 3)
    return SmallVector<int64_t>(*shape);
  return SmallVector<int64_t>(3, ShapedType::kDynamic);
}

LogicalResult ExpertsOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (tensorType(getX()).getRank() < 1) // The trait reports it.
    return success();
  const int64_t hidden = tensorType(getX()).getShape().back();
  const SmallVector<int64_t> gate = shapeOfStack(*this, getGateAttr(), tables);
  const int64_t experts = gate[0], inner = gate[1];
  // c1, c2, c3
  if (failed(verifyParameter(*this, getGateAttr(), "gate",
                             {experts, inner, hidden}, tables)) ||
      failed(verifyParameter(*this, getUpAttr(), "up projection",
                             {experts, inner, hidden}, tables)) ||
      failed(verifyParameter(*this, getDownAttr(), "down projection",
                             {experts, hidden, inner}, tables)))
    return failure();
  // c7
  for (auto [bias, rows] :
       {std::pair(getGateBiasAttr(), inner), std::pair(getUpBiasAttr(), inner),
        std::pair(getDownBiasAttr(), hidden)})
    if (bias && failed(verifyParameter(*this, bias, "bias", {experts, rows, 1},
                                       tables)))
      return failure();
  return success();
}

LogicalResult ExpertsOp::verify() {
  if (bool(getGateBias()) != bool(getUpBias()) ||
      bool(getGateBias()) != bool(getDownBias())) // c7
    return emitOpError() << "has some of the three biases; they are given "
                            "together or not at all";
  if (std::optional<APFloat> limit = getSwigluLimit())
    if (!limit->isFiniteNonZero() || limit->isNegative()) // c8
      return emitOpError() << "has the 'swiglu_limit' " << getSwigluLimitAttr()
                           << ", expected a finite positive number";
  if (getSwigluLimit() && getGelu()) // c9
    return emitOpError() << "has both 'swiglu_limit' and 'gelu'";
  return success();
}

/// The inner size is that of a parameter, which an op does not know by itself.
std::optional<int64_t> ExpertsOp::getFlops() {
  SymbolTableCollection tables;
  return scaled(detail::numResultValues(*this),
                {6, shapeOfStack(*this, getGateAttr(), tables)[1],
                 tensorType(getChosen()).getShape().back()});
}
