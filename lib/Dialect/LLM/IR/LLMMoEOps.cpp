//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixture-of-experts ops and sampling: types and verifiers. Labels are those of
// LLMMoEOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace mlir::llm;

LogicalResult MoERouteOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  int64_t experts = logits.getDimSize(1);
  int64_t topK = adaptor.getTopK();
  if (topK < 1 || (!ShapedType::isDynamic(experts) && topK > experts)) // c1
    return emitOptionalError(loc, "'llm.moe_route' op top_k is ", topK,
                             ", but there are ", experts, " experts");
  if (adaptor.getScore() != "softmax" && adaptor.getScore() != "sigmoid") // c2
    return emitOptionalError(
        loc, "'llm.moe_route' op score must be softmax or sigmoid, not ",
        adaptor.getScore());
  SmallVector<int64_t> shape = {logits.getDimSize(0), topK};
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  types.push_back(logits.clone(shape));
  return success();
}

LogicalResult HeadLinearOp::verify() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  RankedTensorType result = getResult().getType();
  if (!sizesAgree(weight[0], x[1]) || !sizesAgree(weight[2], x[2])) // c1
    return emitOpError() << "has heads of shape " << shapeToString(x)
                         << ", but weights of shape " << shapeToString(weight);
  if (!shapesAgree(result.getShape(), {x[0], x[1], weight[1]}) ||
      result.getElementType() != getX().getType().getElementType()) // c2
    return emitOpError() << "has a result of type " << result
                         << " for heads of type " << getX().getType()
                         << " and weights of shape " << shapeToString(weight);
  return verifyHasScales(*this, getWeight().getType()); // c3
}

LogicalResult MoEFFNOp::verify() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ArrayRef<int64_t> experts = getExperts().getType().getShape();
  ArrayRef<int64_t> weights = getWeights().getType().getShape();
  if (!shapesAgree(experts, weights) || !sizesAgree(experts[0], x[0])) // c1
    return emitOpError() << "has experts of shape " << shapeToString(experts)
                         << " and weights of shape " << shapeToString(weights)
                         << " for " << x[0] << " tokens";

  ArrayRef<int64_t> gate = getWeightShape(getGate().getType());
  ArrayRef<int64_t> up = getWeightShape(getUp().getType());
  ArrayRef<int64_t> down = getWeightShape(getDown().getType());
  if (!shapesAgree(gate, up)) // c2
    return emitOpError() << "has gates of shape " << shapeToString(gate)
                         << ", but up projections of shape "
                         << shapeToString(up);
  if (!sizesAgree(gate[2], x[1])) // c2
    return emitOpError() << "has rows of " << x[1] << " elements, but gates of "
                         << gate[2] << " inputs";
  if (!shapesAgree(down, {gate[0], gate[2], gate[1]})) // c3
    return emitOpError() << "has down projections of shape "
                         << shapeToString(down) << " for gates of shape "
                         << shapeToString(gate);
  for (Value weight : {getGate(), getUp(), getDown()})
    if (failed(verifyHasScales(*this, weight.getType()))) // c4
      return failure();
  if (!getBiases().empty() && getBiases().size() != 3) // c5
    return emitOpError() << "has " << getBiases().size()
                         << " biases, expected none or three";
  const ArrayRef<int64_t> matrices[] = {gate, up, down};
  for (auto [bias, matrix] : llvm::zip(getBiases(), matrices)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(bias.getType()).getShape();
    if (!shapesAgree(shape, {matrix[0], matrix[1], 1})) // c5
      return emitOpError() << "has a bias of shape " << shapeToString(shape)
                           << " for matrices of shape "
                           << shapeToString(matrix);
  }
  if (std::optional<APFloat> limit = getSwigluLimit())
    if (!limit->isFiniteNonZero() || limit->isNegative()) // c6
      return emitOpError() << "swiglu_limit must be finite and positive, not "
                           << getSwigluLimitAttr();
  if (getSwigluLimitAttr() && getGelu()) // c7
    return emitOpError() << "has both swiglu_limit and gelu";
  return success();
}

LogicalResult SampleOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  types.push_back(RankedTensorType::get({logits.getDimSize(0)},
                                        IntegerType::get(context, 32)));
  return success();
}

/// True if low <= value <= high; false for NaN.
static bool isWithin(const APFloat &value, double low, double high) {
  double number = value.convertToDouble();
  return number >= low && number <= high;
}

LogicalResult SampleOp::verify() {
  if (!isWithin(getTemperature(), 0, 1e6)) // c1
    return emitOpError() << "temperature must be from 0 to 1000000, not "
                         << getTemperatureAttr();
  if (getTopK() < 0) // c2
    return emitOpError() << "top_k must be 0 (all) or positive, not "
                         << getTopK();
  if (!isWithin(getTopP(), 0, 1)) // c3
    return emitOpError() << "top_p must be from 0 to 1, not " << getTopPAttr();
  if (!isWithin(getMinP(), 0, 1)) // c4
    return emitOpError() << "min_p must be from 0 to 1, not " << getMinPAttr();
  if (getLogits().getType().getDimSize(1) == 0) // c5
    return emitOpError() << "has a vocabulary of 0 tokens";
  return success();
}
