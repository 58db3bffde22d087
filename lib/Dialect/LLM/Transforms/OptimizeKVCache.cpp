//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-optimize-kv-cache: fewer ops on caches, with the same meaning.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"

namespace mlir::llm {
#define GEN_PASS_DEF_OPTIMIZEKVCACHE
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

/// The op of `block` in which `op` is, or null.
Operation *getAncestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// True if `value` is there when `op` runs, as far as one block tells.
bool isKnownBefore(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op->getBlock())
    return true; // Both uses stand in one block, which the value dominates.
  return producer->isBeforeInBlock(op);
}

/// The layer that an op means: a constant, or null and the value.
std::pair<std::optional<int64_t>, Value> getLayer(KVCacheOpInterface op) {
  Value layer = op.getLayerOperand();
  if (!layer)
    return {0, Value()};
  APInt constant;
  if (matchPattern(layer, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), Value()};
  return {std::nullopt, layer};
}

//===----------------------------------------------------------------------===//
// Equal appends
//===----------------------------------------------------------------------===//

/// Two appends with the same operands and attributes, the same cache value
/// among them, give the same cache: the later one goes. An append to the result
/// of another has another cache operand, so a chain is never shortened.
struct MergeEqualAppends : OpRewritePattern<AppendKVOp> {
  MergeEqualAppends(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(AppendKVOp append,
                                PatternRewriter &rewriter) const override {
    // Without a cache operand each makes a cache of its own.
    if (!append.getCache())
      return failure();
    for (Operation *user : append.getCache().getUsers()) {
      auto earlier = dyn_cast<AppendKVOp>(user);
      if (!earlier || earlier == append ||
          earlier->getBlock() != append->getBlock() ||
          !earlier->isBeforeInBlock(append) ||
          !OperationEquivalence::isEquivalentTo(
              earlier, append, OperationEquivalence::IgnoreLocations))
        continue;
      rewriter.replaceOp(append, earlier);
      ++count;
      return success();
    }
    return failure();
  }

  Pass::Statistic &count;
};

//===----------------------------------------------------------------------===//
// Append followed by attention
//===----------------------------------------------------------------------===//

/// append_kv and paged_attention to the result => fused_attention.
struct FuseAppendAndAttention : OpRewritePattern<PagedAttentionOp> {
  FuseAppendAndAttention(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(PagedAttentionOp attention,
                                PatternRewriter &rewriter) const override {
    auto append = attention.getCache().getDefiningOp<AppendKVOp>();
    if (!append || !append.getCache() ||
        append->getBlock() != attention->getBlock() ||
        append.isRagged() != attention.isRagged() ||
        getLayer(append) != getLayer(attention))
      return failure();
    if (llvm::is_contained(attention->getOperands(), append.getBlockIndices()))
      return rewriter.notifyMatchFailure(
          attention, "the append decides what the attention reads");

    // One of the two places is right if all that is needed is there.
    if (canStandAt(attention, append))
      rewriter.setInsertionPoint(attention);
    else if (llvm::all_of(
                 attention->getOperands().drop_front(2),
                 [&](Value value) { return isKnownBefore(value, append); }) &&
             isKnownBefore(attention.getQuery(), append))
      rewriter.setInsertionPoint(append);
    else
      return rewriter.notifyMatchFailure(
          attention, "the cache is used before the attention has its operands");

    auto fused = createFused(append, attention, rewriter);
    rewriter.replaceOp(attention, fused.getOutput());
    SmallVector<Value> results = {fused.getUpdatedCache()};
    if (append.getBlockIndices())
      results.push_back(fused.getBlockIndices());
    rewriter.replaceOp(append, results);
    ++count;
    return success();
  }

  Pass::Statistic &count;

private:
  /// True if all other users of what `append` gives come after `attention`.
  static bool canStandAt(PagedAttentionOp attention, AppendKVOp append) {
    return llvm::all_of(append->getUsers(), [&](Operation *user) {
      Operation *top = getAncestorIn(attention->getBlock(), user);
      return user == attention || (top && attention->isBeforeInBlock(top));
    });
  }

  static FusedAttentionOp createFused(AppendKVOp append,
                                      PagedAttentionOp attention,
                                      PatternRewriter &rewriter) {
    Location loc = rewriter.getFusedLoc({append.getLoc(), attention.getLoc()});
    Type indices =
        append.getBlockIndices() ? append.getBlockIndices().getType() : Type();
    return FusedAttentionOp::create(
        rewriter, loc, attention.getOutput().getType(), append.getCacheType(),
        indices, attention.getQuery(), append.getKeys(), append.getValues(),
        append.getCache(), append.getSeqIds(), attention.getBlockIndices(),
        attention.getSeqLens(), append.getSlotMapping(),
        attention.getQueryOffsets(), attention.getLayer(), attention.getMask(),
        attention.getSinks(), attention.getCausal(),
        attention.getNumHeadsAttr(), attention.getHeadDimAttr(),
        attention.getScaleAttr(), attention.getWindowAttr(),
        attention.getSoftCapAttr(), attention.getAlibiSlopesAttr());
  }
};

struct OptimizeKVCachePass
    : llm::impl::OptimizeKVCacheBase<OptimizeKVCachePass> {
  void runOnOperation() override {
    eraseDeadLookups();
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeEqualAppends>(&getContext(), appendsMerged);
    patterns.add<FuseAppendAndAttention>(&getContext(), appendsFused);
    // Constants and control flow are other passes' work.
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyCountedPatterns(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }

private:
  void eraseDeadLookups() {
    getOperation().walk([&](LookupKVOp lookup) {
      if (!lookup->use_empty())
        return;
      lookup.erase();
      ++lookupsErased;
    });
  }
};

} // namespace
