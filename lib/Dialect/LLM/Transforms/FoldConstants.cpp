//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-fold-constants: folds ops on constants with the interpreter.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

/// True for an op whose results depend only on its operands, not on the rank
/// that runs it or on other ranks.
bool followsFromOperands(Operation *op) {
  if (!isa_and_nonnull<LLMDialect>(op->getDialect()))
    return false;
  auto shard = dyn_cast<ShardOp>(op);
  return !isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op) &&
         (!shard || shard.getShardIndex());
}

struct FoldToConstants : RewritePattern {
  FoldToConstants(MLIRContext *context, int64_t maxElements,
                  Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        maxElements(maxElements), count(count) {
    setDebugName("fold-to-constants");
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!followsFromOperands(op))
      return failure();
    auto values = llmir::foldOp(op, {maxElements, kMaxOperandElements});
    if (!values)
      return failure();
    SmallVector<Value> results;
    for (DenseElementsAttr value : *values)
      results.push_back(
          arith::ConstantOp::create(rewriter, op->getLoc(), value));
    rewriter.replaceOp(op, results);
    ++count;
    return success();
  }

private:
  static constexpr int64_t kMaxOperandElements = 1 << 24;

  int64_t maxElements;
  Pass::Statistic &count;
};

struct FoldConstantsPass : llm::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    if (failed(llmir::checkOption(getOperation()->getLoc(), maxElements, 0)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add(std::make_unique<FoldToConstants>(&getContext(), maxElements,
                                                   opsFolded));
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
