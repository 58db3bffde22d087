//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-lowering: decomposes fused ops.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {
#define GEN_PASS_DEF_LLMLOWERING
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

struct LowerFusedLinear : OpRewritePattern<FusedLinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedLinearOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getX();
    if (FloatAttr eps = op.getNormEpsAttr())
      x = RMSNormOp::create(rewriter, op.getLoc(), x.getType(), x,
                            op.getNormWeight(), eps);
    SmallVector<Value> outputs;
    for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
      Value bias = op.getBiases().empty() ? Value() : op.getBiases()[i];
      outputs.push_back(LinearOp::create(rewriter, op.getLoc(),
                                         op.getOutputs()[i].getType(), x,
                                         weight, bias));
    }
    rewriter.replaceOp(op, outputs);
    return success();
  }
};

struct LowerAddRMSNorm : OpRewritePattern<AddRMSNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddRMSNormOp op,
                                PatternRewriter &rewriter) const override {
    Value sum =
        AddOp::create(rewriter, op.getLoc(), op.getX(), op.getResidual());
    Value normed = RMSNormOp::create(rewriter, op.getLoc(), sum.getType(), sum,
                                     op.getWeight(), op.getEpsAttr());
    rewriter.replaceOp(op, {normed, sum});
    return success();
  }
};

struct LowerRopeAppendKV : OpRewritePattern<RopeAppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RopeAppendKVOp op,
                                PatternRewriter &rewriter) const override {
    Value keys =
        RopeOp::create(rewriter, op.getLoc(), op.getKeys().getType(),
                       op.getKeys(), op.getPositions(), op.getFrequenciesAttr(),
                       op.getScalingAttr(), op.getInterleavedAttr());
    auto append =
        AppendKVOp::create(rewriter, op.getLoc(), op.getCache(), keys,
                           op.getValues(), op.getSlotMapping(), op.getLayer());
    rewriter.replaceOp(op, append.getUpdatedCache());
    return success();
  }
};

struct LLMLoweringPass : llm::impl::LLMLoweringBase<LLMLoweringPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerFusedLinear, LowerAddRMSNorm, LowerRopeAppendKV>(
        &getContext());
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
