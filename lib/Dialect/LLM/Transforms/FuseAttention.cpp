//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-fuse-attention: fuses matmul, scale, mask, softmax and matmul into one
// attention op.
//
//===----------------------------------------------------------------------===//

#include "FusionPatterns.h"
#include "PatternCounts.h"
#include "WrittenAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {
#define GEN_PASS_DEF_FUSEATTENTION
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// True where the mask is false.
static Value createNegated(OpBuilder &b, Location loc, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, mask), type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(unsigned(type.getRank()));
  SmallVector<utils::IteratorType> loops(size_t(type.getRank()),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, mask, empty, {identity, identity}, loops,
             [](OpBuilder &body, Location loc, ValueRange elements) {
               Value yes =
                   arith::ConstantOp::create(body, loc, body.getBoolAttr(true));
               linalg::YieldOp::create(
                   body, loc,
                   arith::XOrIOp::create(body, loc, elements[0], yes)
                       .getResult());
             })
      .getResult(0);
}

namespace {

/// softmax(q kᵀ · scale + mask) v => attention, in any operand layout, starting
/// at the second product; see matchWrittenAttention().
struct ProductsToAttention : RewritePattern {
  explicit ProductsToAttention(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    FailureOr<WrittenAttention> found = matchWrittenAttention(op, rewriter);
    if (failed(found))
      return failure();
    Operation *last = found->result.getDefiningOp();
    Location loc = last->getLoc();
    rewriter.setInsertionPoint(last);
    const Digits heads = found->heads.value_or(Digits());
    auto operand = [&](const ElementView &view, const Digits &tokens,
                       const Digits &ownHeads, const Digits &size) {
      return createTensor(rewriter, loc, view,
                          found->axesOf(tokens, ownHeads, size));
    };
    Value query = operand(found->query, found->queries, heads, found->headDim);
    Value key =
        operand(found->key, found->keys, found->kvHeads, found->headDim);
    Value value =
        operand(found->value, found->keys, found->kvHeads, found->valueDim);
    Value mask;
    if (found->mask)
      mask = createTensor(rewriter, loc, *found->mask, found->maskAxes());
    if (mask && found->maskHides)
      mask = createNegated(rewriter, loc, mask);
    const int64_t window = found->positions.window;
    auto type = cast<RankedTensorType>(query.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = cast<RankedTensorType>(value.getType()).getShape().back();
    auto attention = AttentionOp::create(
        rewriter, op->getLoc(), type.clone(shape), query, key, value, mask,
        /*sinks=*/Value(), found->positions.causal, /*num_heads=*/Attribute(),
        /*head_dim=*/Attribute(), rewriter.getF64FloatAttr(found->scale),
        window > 0 ? rewriter.getI64IntegerAttr(window) : IntegerAttr(),
        /*soft_cap=*/Attribute(), /*alibi_slopes=*/DenseF64ArrayAttr());
    ElementView result{attention.getOutput(),
                       found->axesOf(found->queries, heads, found->valueDim)};
    rewriter.replaceOp(last,
                       createTensor(rewriter, loc, result, found->resultAxes));
    return success();
  }
};

/// attention(q, lookup_kv(c, blocks, lens)) => paged_attention(q, c, blocks,
/// lens). Only if every sequence is known to have as many tokens as were looked
/// up: the zero padding of a shorter one would contribute to the attention.
/// Since the cache is read later than before, it must not have been consumed.
struct LookupToPagedAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto lookup = op.getKey().getDefiningOp<LookupKVOp>();
    if (!lookup || op.getValue() != lookup.getValues() ||
        op.getKey() != lookup.getKeys())
      return failure();
    if (!isOnlyReadBefore(lookup.getCache(), op))
      return rewriter.notifyMatchFailure(op,
                                         "the cache may have been consumed");
    auto keys = cast<RankedTensorType>(lookup.getKeys().getType());
    int64_t tokens = keys.getDimSize(1);
    if (ShapedType::isDynamic(tokens))
      return rewriter.notifyMatchFailure(op, "dynamic sizes");
    DenseIntElementsAttr lens;
    if (!matchPattern(lookup.getSeqLens(), m_Constant(&lens)) ||
        !llvm::all_of(lens.getValues<APInt>(), [&](const APInt &length) {
          return length.getSExtValue() == tokens;
        }))
      return rewriter.notifyMatchFailure(op, "a sequence may be shorter");
    auto paged = PagedAttentionOp::create(
        rewriter, op.getLoc(), op.getType(), op.getQuery(), lookup.getCache(),
        lookup.getBlockIndices(), lookup.getSeqLens(), /*queryOffsets=*/Value(),
        lookup.getLayer(), op.getMask(), op.getSinks(), op.getCausal(),
        op.getNumHeadsAttr(), op.getHeadDimAttr(), op.getScaleAttr(),
        op.getWindowAttr(), op.getSoftCapAttr(), op.getAlibiSlopesAttr(),
        op.getChunked());
    rewriter.replaceOp(op, paged);
    return success();
  }

private:
  /// True if all users that do more than read `cache` come after `op` in its
  /// block.
  static bool isOnlyReadBefore(Value cache, Operation *op) {
    return llvm::all_of(cache.getUsers(), [&](Operation *user) {
      auto cacheOp = dyn_cast<KVCacheOpInterface>(user);
      if (cacheOp && !cacheOp.writesCache())
        return true;
      Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
      return inBlock && op->isBeforeInBlock(inBlock);
    });
  }
};

/// A constant mask that hides exactly the keys after a query => causal.
struct CausalMaskToAttribute : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr mask;
    if (!op.getMask() || op.getCausal() ||
        !matchPattern(op.getMask(), m_Constant(&mask)))
      return failure();
    auto keys = cast<RankedTensorType>(op.getKey().getType());
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    ArrayRef<int64_t> shape = mask.getType().getShape();
    int64_t rows = query.getDimSize(1), columns = keys.getDimSize(1);
    if (shape.size() < 2 || shape.back() != columns ||
        shape[shape.size() - 2] != rows || mask.isSplat())
      return failure();
    if (!isCausal(mask, rows, columns))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      op.setCausal(true);
    });
    return success();
  }

  /// True if every matrix of the mask shows exactly keys j <= columns - rows +
  /// i.
  static bool isCausal(DenseElementsAttr mask, int64_t rows, int64_t columns) {
    int64_t index = 0;
    auto isRight = [&](bool sees) {
      int64_t row = index / columns % rows, column = index % columns;
      ++index;
      return sees == (column <= columns - rows + row);
    };
    if (mask.getElementType().isInteger(1))
      return llvm::all_of(mask.getValues<bool>(), isRight);
    return llvm::all_of(mask.getValues<APFloat>(), [&](const APFloat &x) {
      bool hides = x.isInfinity() && x.isNegative();
      return (hides || x.isZero()) && isRight(!hides);
    });
  }
};

struct FuseAttentionPass : llm::impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateAttentionFusionPatterns(patterns);
    if (mergeProjections)
      populateProjectionFusionPatterns(patterns);
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void mlir::llm::populateAttentionFusionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<ProductsToAttention, LookupToPagedAttention, CausalMaskToAttribute>(
          patterns.getContext());
}
