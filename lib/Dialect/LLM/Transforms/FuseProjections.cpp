//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The patterns of -llm-fuse-attention around the attention op: projections of
// the same rows, norms before them, residual connections before norms, and the
// rotation of keys before they are appended.
//
//===----------------------------------------------------------------------===//

#include "FusionPatterns.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::llm;

namespace {

/// True if the value can be used at `op`, possibly after hoisting its defining
/// op (a weight has no operands).
bool isAvailableBefore(Value value, Operation *op) {
  if (!value)
    return true;
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op->getBlock() ||
      producer->isBeforeInBlock(op))
    return true;
  return producer->getNumOperands() == 0 && isPure(producer);
}

void moveBefore(Value value, Operation *op, PatternRewriter &rewriter) {
  Operation *producer = value ? value.getDefiningOp() : nullptr;
  if (producer && producer->getBlock() == op->getBlock() &&
      !producer->isBeforeInBlock(op))
    rewriter.moveOpBefore(producer, op);
}

/// linear(x, w0), linear(x, w1), … => fused_linear x weights(w0, w1, …). The
/// pattern starts at the first of them. Each keeps its own sum over k, so
/// results are bit-identical.
struct MergeLinears : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp first,
                                PatternRewriter &rewriter) const override {
    SmallVector<LinearOp> merged;
    for (Operation *user : first.getX().getUsers()) {
      auto linear = dyn_cast<LinearOp>(user);
      // The rows must be x of the op, not its weight.
      if (!linear || linear.getX() != first.getX() ||
          linear.getWeight() == first.getX() ||
          linear->getBlock() != first->getBlock())
        continue;
      if (linear->isBeforeInBlock(first))
        return rewriter.notifyMatchFailure(first, "not the first of them");
      if (bool(linear.getBias()) == bool(first.getBias()) &&
          isAvailableBefore(linear.getWeight(), first) &&
          isAvailableBefore(linear.getBias(), first))
        merged.push_back(linear);
    }
    if (merged.size() < 2)
      return failure();
    // The order of uses is unspecified; order the results by program order.
    llvm::sort(merged,
               [](LinearOp a, LinearOp b) { return a->isBeforeInBlock(b); });

    SmallVector<Value> weights, biases;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    for (LinearOp linear : merged) {
      moveBefore(linear.getWeight(), first, rewriter);
      moveBefore(linear.getBias(), first, rewriter);
      weights.push_back(linear.getWeight());
      if (linear.getBias())
        biases.push_back(linear.getBias());
      types.push_back(linear.getType());
      locations.push_back(linear.getLoc());
    }
    rewriter.setInsertionPoint(first);
    auto fused = FusedLinearOp::create(
        rewriter, rewriter.getFusedLoc(locations), types, first.getX(),
        /*normWeight=*/Value(), weights, biases, /*norm_eps=*/FloatAttr());
    for (auto [linear, output] : llvm::zip_equal(merged, fused.getOutputs()))
      rewriter.replaceOp(linear, output);
    return success();
  }
};

/// fused_linear(rms_norm(x, g)) => fused_linear x norm(g), if the norm has no
/// other use and normalizes the whole projected rows.
struct NormIntoFusedLinear : OpRewritePattern<FusedLinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedLinearOp op,
                                PatternRewriter &rewriter) const override {
    auto norm = op.getX().getDefiningOp<RMSNormOp>();
    if (!norm || op.getNormEpsAttr() || !norm->hasOneUse() ||
        norm->getBlock() != op->getBlock())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(norm.getX());
      if (Value weight = norm.getWeight())
        op.getNormWeightMutable().assign(weight);
      op.setNormEpsAttr(norm.getEpsAttr());
    });
    rewriter.eraseOp(norm);
    return success();
  }
};

/// linear(rms_norm(x, g), w) => fused_linear x norm(g) weights(w).
struct NormIntoLinear : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp op,
                                PatternRewriter &rewriter) const override {
    auto norm = op.getX().getDefiningOp<RMSNormOp>();
    if (!norm || !norm->hasOneUse() || norm->getBlock() != op->getBlock())
      return failure();
    SmallVector<Value> biases;
    if (op.getBias())
      biases.push_back(op.getBias());
    auto fused = FusedLinearOp::create(
        rewriter, rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}),
        TypeRange(op.getType()), norm.getX(), norm.getWeight(),
        ValueRange(op.getWeight()), biases, norm.getEpsAttr());
    rewriter.replaceOp(op, fused.getOutputs());
    rewriter.eraseOp(norm);
    return success();
  }
};

/// s = add(x, r), rms_norm(s, g) => add_rms_norm(x, r, g).
struct AddIntoNorm : OpRewritePattern<RMSNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RMSNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto add = norm.getX().getDefiningOp<AddOp>();
    if (!add || !norm.getWeight() || add->getBlock() != norm->getBlock())
      return failure();
    int64_t rank = norm.getX().getType().getRank();
    if (rank != 2 && rank != 3)
      return rewriter.notifyMatchFailure(norm,
                                         "the rows are not a list of tokens");
    // The sum is computed at the norm, so it must not be used before.
    for (Operation *user : add->getUsers()) {
      Operation *inBlock = norm->getBlock()->findAncestorOpInBlock(*user);
      if (user != norm && (!inBlock || inBlock->isBeforeInBlock(norm)))
        return rewriter.notifyMatchFailure(norm, "the sum is used before");
    }
    auto fused = AddRMSNormOp::create(
        rewriter, rewriter.getFusedLoc({add.getLoc(), norm.getLoc()}),
        add.getLhs(), add.getRhs(), norm.getWeight(), norm.getEpsAttr());
    rewriter.replaceOp(norm, fused.getNormed());
    rewriter.replaceOp(add, fused.getSum());
    return success();
  }
};

/// append_kv(c, rope(k, p), v) slots(s) => rope_append_kv c, k, v. Only in the
/// ragged form (the batched form has no positions) and only if the rotated keys
/// have no other use.
struct RopeIntoAppend : OpRewritePattern<AppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendKVOp append,
                                PatternRewriter &rewriter) const override {
    auto rope = append.getKeys().getDefiningOp<RopeOp>();
    if (!append.isRagged() || !append.getCache() || !rope || !rope->hasOneUse())
      return failure();
    rewriter.replaceOpWithNewOp<RopeAppendKVOp>(
        append, append.getCacheType(), append.getCache(), rope.getX(),
        append.getValues(), rope.getPositions(), append.getSlotMapping(),
        append.getLayer(), rope.getFrequenciesAttr(), rope.getScalingAttr(),
        rope.getInterleavedAttr());
    rewriter.eraseOp(rope);
    return success();
  }
};

} // namespace

void mlir::llm::populateProjectionFusionPatterns(RewritePatternSet &patterns) {
  patterns.add<MergeLinears, NormIntoFusedLinear, AddIntoNorm, RopeIntoAppend>(
      patterns.getContext(), PatternBenefit(2));
  // Only single projections that the pattern above did not merge.
  patterns.add<NormIntoLinear>(patterns.getContext(), PatternBenefit(1));
}
