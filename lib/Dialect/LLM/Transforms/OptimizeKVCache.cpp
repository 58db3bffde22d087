//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-optimize-kv-cache: erases, merges and fuses cache ops.
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

/// The ancestor of `op` in `block`, or null.
Operation *getAncestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// True if `value` dominates `op`, considering a single block only.
bool isKnownBefore(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op->getBlock())
    return true; // Both uses are in one block, which the value dominates.
  return producer->isBeforeInBlock(op);
}

/// The layer of an op: a constant, or null and the value.
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

/// Two appends with the same operands (including the cache) and attributes
/// yield the same cache: the later one is erased. An append to the result of
/// another has a different cache operand, so a chain is never shortened.
struct MergeEqualAppends : OpRewritePattern<AppendKVOp> {
  MergeEqualAppends(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(AppendKVOp append,
                                PatternRewriter &rewriter) const override {
    // Without a cache operand, each creates its own cache.
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
          attention, "the attention depends on another result of the append");

    // One of the two insertion points is valid if all operands dominate it.
    if (canFuseAt(attention, append))
      rewriter.setInsertionPoint(attention);
    else if (llvm::all_of(
                 attention->getOperands().drop_front(2),
                 [&](Value value) { return isKnownBefore(value, append); }) &&
             isKnownBefore(attention.getQuery(), append))
      rewriter.setInsertionPoint(append);
    else
      return rewriter.notifyMatchFailure(
          attention,
          "the cache is used before the attention's operands are defined");

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
  /// True if all other users of the results of `append` come after `attention`.
  static bool canFuseAt(PagedAttentionOp attention, AppendKVOp append) {
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
        attention.getSoftCapAttr(), attention.getAlibiSlopesAttr(),
        attention.getChunked());
  }
};

struct OptimizeKVCachePass
    : llm::impl::OptimizeKVCacheBase<OptimizeKVCachePass> {
  void runOnOperation() override {
    eraseDeadLookups();
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeEqualAppends>(&getContext(), appendsMerged);
    patterns.add<FuseAppendAndAttention>(&getContext(), appendsFused);
    // Leave constants and control flow to other passes.
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
