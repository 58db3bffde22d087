//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folding and canonicalization of attention and the cache ops. The canonical
// form omits what types or defaults imply.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// A constant of zeros.
static Value makeZeros(OpBuilder &builder, Location loc,
                       RankedTensorType type) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

//===----------------------------------------------------------------------===//
// Attributes and operands that do not change scores
//===----------------------------------------------------------------------===//

namespace {

/// scale = 0 or 1 / sqrt(D) => no scale. The comparison is exact: an f32 value
/// close to the default is kept.
template <typename OpTy> struct DropDefaultScale : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<double> scale =
        llm::detail::getOptionalDouble(op.getScaleAttr());
    int64_t headDim =
        cast<AttentionOpInterface>(op.getOperation()).getHeadDim();
    if (!scale)
      return failure();
    bool isDefault =
        *scale == 0 ||
        (headDim > 0 && *scale == 1.0 / std::sqrt(double(headDim)));
    if (!isDefault)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.removeScaleAttr(); });
    return success();
  }
};

/// num_heads and head_dim implied by the query type => none.
template <typename OpTy> struct DropRepeatedHeads : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    // A dynamic size of the type is known from the attribute only.
    auto sizes = cast<AttentionOpInterface>(op.getOperation());
    bool dropsHeads = op.getNumHeadsAttr() && sizes.getNumHeads() >= 0;
    bool dropsSize = op.getHeadDimAttr() && sizes.getHeadDim() >= 0;
    if (!dropsHeads && !dropsSize)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (dropsHeads)
        op.removeNumHeadsAttr();
      if (dropsSize)
        op.removeHeadDimAttr();
    });
    return success();
  }
};

/// A mask that masks nothing (all true, or all zeros) => no mask.
template <typename OpTy> struct DropEmptyMask : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr mask;
    if (!op.getMask() || !matchPattern(op.getMask(), m_Constant(&mask)) ||
        !mask.isSplat())
      return failure();
    bool isEmpty = mask.getElementType().isInteger(1)
                       ? mask.getSplatValue<bool>()
                       : mask.getSplatValue<APFloat>().isZero();
    if (!isEmpty)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// alibi_slopes that are all 0 => none.
template <typename OpTy> struct DropFlatSlopes : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<ArrayRef<double>> slopes = op.getAlibiSlopes();
    if (!slopes ||
        !llvm::all_of(*slopes, [](double slope) { return slope == 0; }))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.removeAlibiSlopesAttr(); });
    return success();
  }
};

/// A window that covers all keys => none.
template <typename OpTy> struct DropWideWindow : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<int64_t> window = op.getWindow();
    int64_t mostKeys = getMostKeys(op);
    if (!window || mostKeys < 0 || *window < mostKeys)
      return failure();
    // There may be more queries than keys: the first ones are before all keys.
    if (!op.getCausal() && (op.getChunked() || !isWithinOfLast(op, *window)))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.removeWindowAttr();
      op.setChunked(false);
    });
    return success();
  }

private:
  /// Whether the last key is in the windows of all queries.
  static bool isWithinOfLast(Operation *op, int64_t window) {
    int64_t queries = cast<AttentionOpInterface>(op).getSeqLength();
    return queries >= 0 && queries <= window;
  }
  static int64_t getMostKeys(Operation *op) {
    if (auto paged = dyn_cast<KVCacheOpInterface>(op))
      return paged.getCacheType().getMaxSeqLen();
    return cast<AttentionOpInterface>(op).getKeyCount();
  }
};

/// With one query per sequence, the last token, `causal` has no effect: set it
/// to the op's default.
template <typename OpTy> struct CausalOfOneQuery : OpRewritePattern<OpTy> {
  CausalOfOneQuery(MLIRContext *context, bool byDefault)
      : OpRewritePattern<OpTy>(context), byDefault(byDefault) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (cast<AttentionOpInterface>(op.getOperation()).getSeqLength() != 1 ||
        op.getCausal() == byDefault)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setCausal(byDefault); });
    return success();
  }

  bool byDefault;
};

template <typename OpTy>
void addScorePatterns(RewritePatternSet &patterns, MLIRContext *context,
                      bool causalByDefault) {
  patterns.add<DropDefaultScale<OpTy>, DropRepeatedHeads<OpTy>,
               DropEmptyMask<OpTy>, DropFlatSlopes<OpTy>, DropWideWindow<OpTy>>(
      context);
  patterns.add<CausalOfOneQuery<OpTy>>(context, causalByDefault);
}

//===----------------------------------------------------------------------===//
// append_kv and lookup_kv
//===----------------------------------------------------------------------===//

/// An append without a cache => create_paged_cache and an append to it.
struct CreateMissingCache : OpRewritePattern<AppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendKVOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getCache())
      return failure();
    Value cache =
        CreatePagedCacheOp::create(rewriter, op.getLoc(), op.getCacheType());
    rewriter.modifyOpInPlace(op, [&] { op.getCacheMutable().assign(cache); });
    return success();
  }
};

/// block_size and max_seq_len implied by the cache type => none.
struct DropRepeatedSizes : OpRewritePattern<AppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendKVOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getBlockSizeAttr() && !op.getMaxSeqLenAttr())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.removeBlockSizeAttr();
      op.removeMaxSeqLenAttr();
    });
    return success();
  }
};

/// An append of no rows => its cache operand. Appends of zero tokens to listed
/// sequences are kept, since they may start the sequences.
struct AppendNothing : OpRewritePattern<AppendKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendKVOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getCache() || tensorType(op.getKeys()).getDimSize(0) != 0)
      return failure();
    SmallVector<Value> results = {op.getCache()};
    if (Value indices = op.getBlockIndices()) {
      if (!tensorType(indices).hasStaticShape())
        return failure();
      results.push_back(makeZeros(rewriter, op.getLoc(), tensorType(indices)));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A lookup of zero tokens of every sequence => zeros. Other lookups in a cache
/// without sequences are kept: they are runtime errors.
struct LookupNothing : OpRewritePattern<LookupKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupKVOp op,
                                PatternRewriter &rewriter) const override {
    DenseIntElementsAttr lengths;
    if (!op.getKeys().getType().hasStaticShape() ||
        !op.getValues().getType().hasStaticShape() ||
        !matchPattern(op.getSeqLens(), m_Constant(&lengths)) ||
        !llvm::all_of(lengths.getValues<APInt>(),
                      [](const APInt &length) { return length.isZero(); }))
      return failure();
    Value keys = makeZeros(rewriter, op.getLoc(), op.getKeys().getType());
    Value values = makeZeros(rewriter, op.getLoc(), op.getValues().getType());
    rewriter.replaceOp(op, {keys, values});
    return success();
  }
};

/// num_heads and head_dim implied by the cache type => none.
struct DropRepeatedHeadsOfLookup : OpRewritePattern<LookupKVOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupKVOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getNumHeadsAttr() && !op.getHeadDimAttr())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.removeNumHeadsAttr();
      op.removeHeadDimAttr();
    });
    return success();
  }
};

} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  addScorePatterns<AttentionOp>(patterns, context, /*causalByDefault=*/false);
}

void PagedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  addScorePatterns<PagedAttentionOp>(patterns, context,
                                     /*causalByDefault=*/true);
}

void FusedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  addScorePatterns<FusedAttentionOp>(patterns, context,
                                     /*causalByDefault=*/true);
}

void AppendKVOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<CreateMissingCache, DropRepeatedSizes, AppendNothing>(context);
}

void LookupKVOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<LookupNothing, DropRepeatedHeadsOfLookup>(context);
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// No sequence is listed: the cache does not change.
OpFoldResult ForkKVOp::fold(FoldAdaptor) {
  bool isEmpty = tensorType(getSrcIds()).getDimSize(0) == 0 ||
                 tensorType(getDstIds()).getDimSize(0) == 0;
  return isEmpty ? getCache() : Value();
}

OpFoldResult FreeKVOp::fold(FoldAdaptor) {
  return tensorType(getSeqIds()).getDimSize(0) == 0 ? getCache() : Value();
}
