//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers and canonicalizations of the ops of LLMFusedOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return tensorType(tensor).getShape();
}

//===----------------------------------------------------------------------===//
// fused_linear
//===----------------------------------------------------------------------===//

/// Rules c4 to c6 for projection i.
static LogicalResult verifyProjection(FusedLinearOp op, size_t i) {
  ArrayRef<int64_t> weight = getWeightShape(op.getWeights()[i].getType());
  int64_t inputs = shapeOf(op.getX()).back();
  if (!sizesAgree(inputs, weight[1])) // c4
    return op.emitOpError()
           << "has rows of " << inputs << " elements, but weight " << i
           << " has " << weight[1] << " inputs";
  if (!op.getBiases().empty()) {
    int64_t entries = shapeOf(op.getBiases()[i])[0];
    if (!sizesAgree(entries, weight[0])) // c5
      return op.emitOpError()
             << "has bias " << i << " of " << entries
             << " elements, but its weight has " << weight[0] << " outputs";
  }
  auto x = cast<RankedTensorType>(op.getX().getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = weight[0];
  RankedTensorType expected = x.clone(shape);
  if (op.getOutputs()[i].getType() != expected) // c6
    return op.emitOpError()
           << "result " << i << " has type " << op.getOutputs()[i].getType()
           << ", expected " << expected;
  return success();
}

LogicalResult FusedLinearOp::verify() {
  size_t weights = getWeights().size(), results = getOutputs().size();
  if (weights != results || weights == 0) // c1
    return emitOpError() << "has " << weights << " weights, but " << results
                         << " results; expected one result per weight";
  if (!getBiases().empty() && getBiases().size() != weights) // c2
    return emitOpError() << "has " << getBiases().size() << " biases for "
                         << weights << " weights";
  if (getNormWeight() && !getNormEpsAttr()) // c3
    return emitOpError() << "has a norm weight, but no norm_eps";
  if (Value normWeight = getNormWeight()) {
    int64_t row = shapeOf(getX()).back(), entries = shapeOf(normWeight)[0];
    if (!sizesAgree(row, entries)) // c4
      return emitOpError() << "has rows of " << row
                           << " elements, but a norm weight of " << entries;
  }
  if (FloatAttr eps = getNormEpsAttr())
    if (failed(verifyEps(*this, "norm_eps", eps))) // c7
      return failure();
  for (size_t i = 0; i < weights; ++i)
    if (failed(verifyHasScales(*this, getWeights()[i].getType())) || // c8
        failed(verifyProjection(*this, i)))
      return failure();
  return success();
}

namespace {

/// A single projection without a norm => linear.
struct UnfuseSingleLinear : OpRewritePattern<FusedLinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FusedLinearOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getWeights().size() != 1 || op.getNormEpsAttr())
      return failure();
    Value bias = op.getBiases().empty() ? Value() : op.getBiases()[0];
    rewriter.replaceOpWithNewOp<LinearOp>(op, op.getOutputs()[0].getType(),
                                          op.getX(), op.getWeights()[0], bias);
    return success();
  }
};

/// Drops projections whose result is unused.
struct DropUnusedProjections : OpRewritePattern<FusedLinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FusedLinearOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> weights, biases;
    SmallVector<Type> types;
    SmallVector<OpResult> kept;
    for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
      if (output.use_empty())
        continue;
      kept.push_back(cast<OpResult>(output));
      types.push_back(output.getType());
      weights.push_back(op.getWeights()[i]);
      if (!op.getBiases().empty())
        biases.push_back(op.getBiases()[i]);
    }
    if (kept.size() == op.getOutputs().size() || kept.empty())
      return failure();
    auto smaller = FusedLinearOp::create(rewriter, op.getLoc(), types,
                                         op.getX(), op.getNormWeight(), weights,
                                         biases, op.getNormEpsAttr());
    for (auto [old, made] : llvm::zip_equal(kept, smaller.getOutputs()))
      rewriter.replaceAllUsesWith(old, made);
    rewriter.eraseOp(op);
    return success();
  }
};

/// If the normalized result is unused, the op is an addition.
struct AddRMSNormWithoutNorm : OpRewritePattern<AddRMSNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddRMSNormOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getNormed().use_empty() || op.getSum().use_empty())
      return failure();
    auto sum =
        AddOp::create(rewriter, op.getLoc(), op.getX(), op.getResidual());
    rewriter.replaceAllUsesWith(op.getSum(), sum);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void FusedLinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<UnfuseSingleLinear, DropUnusedProjections>(context);
}

//===----------------------------------------------------------------------===//
// add_rms_norm
//===----------------------------------------------------------------------===//

LogicalResult AddRMSNormOp::verify() {
  int64_t row = shapeOf(getX()).back(), entries = shapeOf(getWeight())[0];
  if (!sizesAgree(row, entries)) // c1
    return emitOpError() << "has rows of " << row
                         << " elements, but a weight of " << entries;
  return verifyEps(*this, "eps", getEpsAttr()); // c2
}

void AddRMSNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<AddRMSNormWithoutNorm>(context);
}

//===----------------------------------------------------------------------===//
// rope_append_kv
//===----------------------------------------------------------------------===//

Value RopeAppendKVOp::getCacheInput() { return getCache(); }
Value RopeAppendKVOp::getCacheOutput() { return getUpdatedCache(); }
Value RopeAppendKVOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> RopeAppendKVOp::getBlockOperands() {
  return {getSlotMapping()};
}

int64_t RopeAppendKVOp::countNewTokens() {
  int64_t tokens = shapeOf(getKeys())[0];
  return ShapedType::isDynamic(tokens) ? -1 : tokens;
}

/// Rules c2 and c3: keys or values against the cache.
static LogicalResult verifyAgainstCache(RopeAppendKVOp op, StringRef name,
                                        Value heads, int64_t headDim) {
  auto type = cast<RankedTensorType>(heads.getType());
  auto cache = cast<PagedKVCacheType>(op.getCache().getType());
  if (!sizesAgree(type.getDimSize(1), cache.getNumHeads()) ||
      !sizesAgree(type.getDimSize(2), headDim)) // c2
    return op.emitOpError()
           << "has " << name << " of " << type.getDimSize(1) << " heads of "
           << type.getDimSize(2) << " elements, but the cache has "
           << cache.getNumHeads() << " of " << headDim;
  Type element = type.getElementType();
  if (element != cache.getComputeElementType() && !element.isF32()) // c3
    return op.emitOpError()
           << "has " << name << " of " << element
           << ", but the cache's element type is " << cache.getElementType();
  return success();
}

LogicalResult RopeAppendKVOp::verify() {
  int64_t tokens = shapeOf(getKeys())[0];
  const std::pair<StringRef, Value> perToken[] = {{"values", getValues()},
                                                  {"positions", getPositions()},
                                                  {"slots", getSlotMapping()}};
  for (auto [name, value] : perToken)
    if (!sizesAgree(tokens, shapeOf(value)[0])) // c1
      return emitOpError() << "has keys of " << tokens << " tokens, but "
                           << name << " of " << shapeOf(value)[0];

  auto cache = cast<PagedKVCacheType>(getCache().getType());
  if (failed(
          verifyAgainstCache(*this, "keys", getKeys(), cache.getHeadDim())) ||
      failed(verifyAgainstCache(*this, "values", getValues(),
                                cache.getValueDim())))
    return failure();

  int64_t pairs = getFrequencies().size();
  if (pairs == 0 || 2 * pairs > cache.getHeadDim()) // c4
    return emitOpError() << "has " << pairs << " frequencies for heads of "
                         << cache.getHeadDim()
                         << " elements; expected 1 to half of the head size";
  for (double frequency : getFrequencies())
    if (!std::isfinite(frequency)) // c5
      return emitOpError() << "frequency " << frequency << " is not finite";
  if (!getScaling().isFinite()) // c5
    return emitOpError() << "scaling " << getScalingAttr() << " is not finite";
  if (!getLayer() && cache.getNumLayers() != 1) // c6
    return emitOpError() << "needs a layer: the cache has "
                         << cache.getNumLayers() << " layers";
  return success();
}
