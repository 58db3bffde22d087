//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-lower-kv-cache-ops: lowers batched cache ops to ragged ones.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::llm {
#define GEN_PASS_DEF_LOWERKVCACHEOPS
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Collapses `[B, tokens, …]` to `[B · tokens, …]`; returns other shapes
/// unchanged.
Value collapseBatch(OpBuilder &builder, Location loc, Value value,
                    int64_t batchedRank) {
  if (tensorType(value).getRank() != batchedRank)
    return value;
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim < batchedRank; ++dim)
    groups.push_back({dim});
  return tensor::CollapseShapeOp::create(builder, loc, value, groups);
}

/// The ragged form requires a layer if there are several; the batched form
/// defaults to layer 0.
Value getOrCreateLayer(OpBuilder &builder, Location loc, Value layer,
                       PagedKVCacheType cache) {
  if (layer || cache.getNumLayers() == 1)
    return layer;
  return arith::ConstantIndexOp::create(builder, loc, 0);
}

Value makeIndexVector(OpBuilder &builder, Location loc,
                      ArrayRef<int32_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI32Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, values));
}

//===----------------------------------------------------------------------===//
// fused_attention
//===----------------------------------------------------------------------===//

/// fused_attention => append_kv, paged_attention, by definition.
struct SplitFusedAttention : OpRewritePattern<FusedAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedAttentionOp op,
                                PatternRewriter &rewriter) const override {
    Type indices =
        op.getBlockIndices() ? op.getBlockIndices().getType() : Type();
    auto append = AppendKVOp::create(
        rewriter, op.getLoc(), op.getUpdatedCache().getType(), indices,
        op.getCache(), op.getKeys(), op.getValues(), op.getSeqIds(),
        op.getSlotMapping(), op.getLayer(), /*block_size=*/Attribute(),
        /*max_seq_len=*/Attribute());
    auto attention = PagedAttentionOp::create(
        rewriter, op.getLoc(), op.getOutput().getType(), op.getQuery(),
        append.getUpdatedCache(), op.getBlockTables(), op.getSeqLens(),
        op.getQueryOffsets(), op.getLayer(), op.getMask(), op.getSinks(),
        op.getCausal(), op.getNumHeadsAttr(), op.getHeadDimAttr(),
        op.getScaleAttr(), op.getWindowAttr(), op.getSoftCapAttr(),
        op.getAlibiSlopesAttr(), op.getChunked());
    SmallVector<Value> results = {attention.getOutput()};
    llvm::append_range(results, append.getResults());
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// append_kv
//===----------------------------------------------------------------------===//

/// A batched append => reserve_kv and a ragged one.
struct LowerBatchedAppend : OpRewritePattern<AppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendKVOp op,
                                PatternRewriter &rewriter) const override {
    if (op.isRagged() || !op.getCache())
      return failure();
    RankedTensorType keys = op.getKeys().getType();
    int64_t tokens = keys.getRank() == 4 ? keys.getDimSize(1) : 1;
    if (ShapedType::isDynamic(tokens))
      return rewriter.notifyMatchFailure(op, "dynamic number of tokens");
    if (tokens > op.getCacheType().getMaxSeqLen())
      return rewriter.notifyMatchFailure(
          op, "more tokens than a sequence can have");

    Location loc = op.getLoc();
    ReserveKVOp reserve = createReserve(rewriter, op, tokens);
    Value layer =
        getOrCreateLayer(rewriter, loc, op.getLayer(), op.getCacheType());
    auto append =
        AppendKVOp::create(rewriter, loc, reserve.getUpdatedCache(),
                           collapseBatch(rewriter, loc, op.getKeys(), 4),
                           collapseBatch(rewriter, loc, op.getValues(), 4),
                           reserve.getSlots(), layer);
    rewriter.replaceOp(op, {append.getUpdatedCache(),
                            convertRows(rewriter, loc, op, reserve)});
    return success();
  }

private:
  /// Create a reservation that yields the append's block indices in rows of
  /// rank 2.
  static ReserveKVOp createReserve(OpBuilder &builder, AppendKVOp op,
                                   int64_t tokens) {
    auto reserve =
        ReserveKVOp::create(builder, op.getLoc(), op.getCache(), op.getSeqIds(),
                            op.getLayer(), builder.getI64IntegerAttr(tokens));
    RankedTensorType wanted = tensorType(op.getBlockIndices());
    RankedTensorType rows = tensorType(reserve.getBlockIndices());
    int64_t columns = wanted.getRank() == 1 ? 1 : wanted.getDimSize(1);
    if (!ShapedType::isDynamic(columns)) // Otherwise one per token.
      reserve.getBlockIndices().setType(
          rows.clone({rows.getDimSize(0), columns}));
    return reserve;
  }

  /// The reservation's block indices in the form of the append's.
  static Value convertRows(OpBuilder &builder, Location loc, AppendKVOp op,
                           ReserveKVOp reserve) {
    Value indices = reserve.getBlockIndices();
    RankedTensorType wanted = tensorType(op.getBlockIndices());
    if (wanted.getRank() == 1)
      indices = tensor::CollapseShapeOp::create(
          builder, loc, indices, ArrayRef<ReassociationIndices>{{0, 1}});
    // The operand types may be more or less static than the result type.
    if (indices.getType() != wanted)
      indices = tensor::CastOp::create(builder, loc, wanted, indices);
    return indices;
  }
};

//===----------------------------------------------------------------------===//
// paged_attention
//===----------------------------------------------------------------------===//

/// Batched attention => block_tables and ragged attention, with the same number
/// of queries per sequence.
struct LowerBatchedAttention : OpRewritePattern<PagedAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PagedAttentionOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType query = op.getQuery().getType();
    if (op.isRagged())
      return failure();
    int64_t batch = query.getDimSize(0);
    int64_t tokens =
        cast<AttentionOpInterface>(op.getOperation()).getSeqLength();
    if (ShapedType::isDynamic(batch) || tokens < 0)
      return rewriter.notifyMatchFailure(op, "dynamic batch sizes");
    // Offsets are 32-bit and materialized as a constant.
    constexpr int64_t kMaxSequences = 1 << 20;
    int64_t numRows;
    if (llvm::MulOverflow(batch, tokens, numRows) || numRows > INT32_MAX ||
        batch > kMaxSequences)
      return rewriter.notifyMatchFailure(op, "too many rows");
    if (!canConvertMask(op.getMask(), batch, tokens))
      return rewriter.notifyMatchFailure(op, "the mask differs by head");

    Location loc = op.getLoc();
    SmallVector<int32_t> offsets;
    for (int64_t sequence = 0; sequence <= batch; ++sequence)
      offsets.push_back(sequence * tokens);
    Value mask = op.getMask();
    if (mask)
      mask = tensor::CollapseShapeOp::create(
          rewriter, loc, mask, ArrayRef<ReassociationIndices>{{0, 1, 2}, {3}});
    Value rows = collapseBatch(rewriter, loc, op.getQuery(), 4);
    auto attention = PagedAttentionOp::create(
        rewriter, loc,
        tensorType(rows).clone(getRowShape(rows, op.getOutput())), rows,
        op.getCache(), createTables(rewriter, op), op.getSeqLens(),
        makeIndexVector(rewriter, loc, offsets),
        getOrCreateLayer(rewriter, loc, op.getLayer(), op.getCacheType()), mask,
        op.getSinks(), op.getCausal(), op.getNumHeadsAttr(),
        op.getHeadDimAttr(), op.getScaleAttr(), op.getWindowAttr(),
        op.getSoftCapAttr(), op.getAlibiSlopesAttr(), op.getChunked());
    Value output = attention.getOutput();
    if (query.getRank() == 4)
      output = tensor::ExpandShapeOp::create(
          rewriter, loc, op.getOutput().getType(), output,
          ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}});
    rewriter.replaceOp(op, output);
    return success();
  }

private:
  /// A ragged mask has one row per query and no head dimension.
  static bool canConvertMask(Value mask, int64_t batch, int64_t tokens) {
    if (!mask)
      return true;
    RankedTensorType type = tensorType(mask);
    return type.getDimSize(0) == batch && type.getDimSize(1) == 1 &&
           type.getDimSize(2) == tokens;
  }

  static SmallVector<int64_t> getRowShape(Value rows, Value output) {
    SmallVector<int64_t> shape(tensorType(rows).getShape());
    shape.back() = tensorType(output).getShape().back();
    return shape;
  }

  /// The block tables of the sequences that the op's rows identify.
  static Value createTables(OpBuilder &builder, PagedAttentionOp op) {
    RankedTensorType rows = tensorType(op.getBlockIndices());
    int64_t columns = op.getCache().getType().getMaxBlocksPerSequence();
    return BlockTablesOp::create(
        builder, op.getLoc(), rows.clone({rows.getDimSize(0), columns}),
        op.getCache(), op.getBlockIndices(), op.getSeqLens(), op.getLayer());
  }
};

struct LowerKVCacheOpsPass
    : llm::impl::LowerKVCacheOpsBase<LowerKVCacheOpsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    // Creates the cache of an append without one.
    AppendKVOp::getCanonicalizationPatterns(patterns, context);
    patterns
        .add<SplitFusedAttention, LowerBatchedAppend, LowerBatchedAttention>(
            context);
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](KVCacheOpInterface op) {
      if (!op.getBlockResults().empty() && isa<AppendKVOp>(op.getOperation()))
        ++batchedLeft;
      auto attention = dyn_cast<PagedAttentionOp>(op.getOperation());
      if (attention && !attention.isRagged())
        ++batchedLeft;
    });
  }
};

} // namespace
