//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-fuse-attention: attention that is written as matmul, scale, mask,
// softmax, matmul becomes one op.
//
//===----------------------------------------------------------------------===//

#include "FusionPatterns.h"
#include "PatternCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

namespace mlir::llm {
#define GEN_PASS_DEF_FUSEATTENTION
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

//===----------------------------------------------------------------------===//
// The parts of the pattern
//===----------------------------------------------------------------------===//

/// The one number that the value has everywhere: a splat constant or a fill.
static std::optional<double> getSplat(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

/// The operands of an element-wise op of two operands, as it may be written:
/// `llm`, `arith` on tensors, or named `linalg`.
template <typename LLMOp, typename ArithOp, typename LinalgOp>
static std::optional<std::pair<Value, Value>> matchBinary(Value value) {
  if (auto op = value.getDefiningOp<LLMOp>())
    return std::pair<Value, Value>(op.getLhs(), op.getRhs());
  if (auto op = value.getDefiningOp<ArithOp>())
    return std::pair<Value, Value>(op.getLhs(), op.getRhs());
  if (auto op = value.getDefiningOp<LinalgOp>())
    if (op->getNumResults() == 1)
      return std::pair<Value, Value>(op.getInputs()[0], op.getInputs()[1]);
  return std::nullopt;
}

namespace {

/// A batched product of two tensors, whichever op it was written with.
struct BatchedProduct {
  Value lhs;            ///< [B, m, k]
  Value rhs;            ///< [B, k, n], or [B, n, k]
  bool isRhsTransposed; ///< True for [B, n, k].
};

/// What is left of attention between the two products.
struct Scores {
  Value query, key; ///< [B, Tq, D], [B, Tk, D]
  Value mask;       ///< Added to the scores [B, Tq, Tk], or null.
  double scale = 1.0;
};

} // namespace

/// A contraction [b, m, k] x [b, k, n] or [b, n, k] into zeros. The sum may
/// start from nothing else: attention has no addend.
static std::optional<BatchedProduct> matchProduct(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !linalg::isaContractionOpInterface(op) ||
      op.getNumDpsInputs() != 2 || op.getNumLoops() != 4)
    return std::nullopt;
  Value init = op.getDpsInits()[0];
  std::optional<double> start = getSplat(init);
  if (!start || *start != 0.0)
    return std::nullopt;

  AffineExpr b, m, n, k;
  bindDims(op->getContext(), b, m, n, k);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(4, 0, {b, x, y}, op->getContext());
  };
  // Loops come as batch, rows, columns, reduction: linalg's own order.
  if (maps[2] != map(m, n) || maps[0] != map(m, k))
    return std::nullopt;
  bool isTransposed = maps[1] == map(n, k);
  if (!isTransposed && maps[1] != map(k, n))
    return std::nullopt;
  return BatchedProduct{op.getDpsInputs()[0], op.getDpsInputs()[1],
                        isTransposed};
}

/// Keys [B, Tk, D] from the right operand of the first product.
static Value matchKeys(const BatchedProduct &product) {
  if (product.isRhsTransposed)
    return product.rhs;
  auto transpose = product.rhs.getDefiningOp<linalg::TransposeOp>();
  if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>({0, 2, 1}))
    return {};
  return transpose.getInput();
}

/// The number that a value was multiplied by or divided by last, 1 if none;
/// `value` becomes what was scaled.
static double takeScale(Value &value) {
  if (auto scaled = matchBinary<MulOp, arith::MulFOp, linalg::MulOp>(value))
    for (auto [number, rest] : {std::pair(scaled->second, scaled->first),
                                std::pair(scaled->first, scaled->second)})
      if (std::optional<double> factor = getSplat(number)) {
        value = rest;
        return *factor;
      }
  Value number, rest;
  if (auto divided = value.getDefiningOp<arith::DivFOp>()) {
    number = divided.getRhs();
    rest = divided.getLhs();
  } else if (auto divided = value.getDefiningOp<linalg::DivOp>()) {
    number = divided.getInputs()[1];
    rest = divided.getInputs()[0];
  }
  std::optional<double> divisor = number ? getSplat(number) : std::nullopt;
  if (!divisor)
    return 1.0;
  value = rest;
  return 1.0 / *divisor;
}

/// Q, K, scale and mask from what goes into the softmax.
static std::optional<Scores> matchScores(Value value) {
  Scores scores;
  if (auto sum = matchBinary<AddOp, arith::AddFOp, linalg::AddOp>(value)) {
    value = sum->first;
    scores.mask = sum->second;
  }
  scores.scale = takeScale(value);
  std::optional<BatchedProduct> product = matchProduct(value);
  if (!product)
    return std::nullopt;
  // Some scale the queries instead, which are fewer.
  scores.query = product->lhs;
  scores.scale *= takeScale(scores.query);
  scores.key = matchKeys(*product);
  // An attention's scale of 0 means the default, and it may not be negative.
  if (!scores.key || !(scores.scale > 0) || !std::isfinite(scores.scale))
    return std::nullopt;
  return scores;
}

/// What the probabilities are the softmax of, over the last dimension.
static Value matchSoftmax(Value value) {
  if (auto softmax = value.getDefiningOp<SoftmaxOp>())
    return softmax.getX();
  if (auto softmax = value.getDefiningOp<linalg::SoftmaxOp>())
    if (int64_t(softmax.getDimension()) == softmax.getInputOperandRank() - 1)
      return softmax.getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// softmax(q kᵀ · scale + mask) v => attention. Starts at the second product.
struct ProductsToAttention : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1)
      return failure();
    std::optional<BatchedProduct> product = matchProduct(op->getResult(0));
    if (!product || product->isRhsTransposed)
      return failure();
    Value input = matchSoftmax(product->lhs);
    std::optional<Scores> scores = input ? matchScores(input) : std::nullopt;
    if (!scores)
      return failure();
    Value query = scores->query, key = scores->key, value = product->rhs;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Type element = type.getElementType();
    if (!element.isF16() && !element.isBF16() && !element.isF32())
      return rewriter.notifyMatchFailure(op, "attention has no such numbers");
    for (Value operand : {query, key, value})
      if (getElementTypeOrSelf(operand.getType()) != element)
        return rewriter.notifyMatchFailure(op, "mixed element types");
    // linalg may know a size of the result that the query's type does not.
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(query.getType()).getShape());
    shape.back() = cast<RankedTensorType>(value.getType()).getShape().back();
    if (type.getShape() != ArrayRef<int64_t>(shape))
      return rewriter.notifyMatchFailure(op, "sizes are known of one only");
    auto attention = AttentionOp::create(
        rewriter, op.getLoc(), type, query, key, value, scores->mask,
        /*sinks=*/Value(), /*causal=*/false,
        /*num_heads=*/Attribute(), /*head_dim=*/Attribute(),
        rewriter.getF64FloatAttr(scores->scale), /*window=*/Attribute(),
        /*soft_cap=*/Attribute(), /*alibi_slopes=*/DenseF64ArrayAttr());
    rewriter.replaceOp(op, attention);
    return success();
  }
};

/// attention(q, lookup_kv(c, blocks, lens)) => paged_attention(q, c, blocks,
/// lens). Only when every sequence is known to be as long as what was looked
/// up: the zeros of a shorter one would take part in the attention. The cache
/// is read later than before: nothing may have used it up.
struct LookupToPagedAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto lookup = op.getKey().getDefiningOp<LookupKVOp>();
    if (!lookup || op.getValue() != lookup.getValues() ||
        op.getKey() != lookup.getKeys())
      return failure();
    if (!isOnlyReadBefore(lookup.getCache(), op))
      return rewriter.notifyMatchFailure(op, "the cache may be used up");
    auto keys = cast<RankedTensorType>(lookup.getKeys().getType());
    auto table = cast<RankedTensorType>(lookup.getBlockIndices().getType());
    int64_t tokens = keys.getDimSize(1);
    int64_t blockSize = lookup.getCache().getType().getBlockSize();
    if (ShapedType::isDynamic(tokens) || table.getRank() != 2 ||
        ShapedType::isDynamic(table.getDimSize(1)))
      return rewriter.notifyMatchFailure(op, "sizes are not known");
    // A table with one entry per token is not what paged_attention reads.
    if (table.getDimSize(1) == tokens && blockSize > 1 && tokens > 1)
      return rewriter.notifyMatchFailure(op, "the table is per token");
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
        op.getWindowAttr(), op.getSoftCapAttr(), op.getAlibiSlopesAttr());
    rewriter.replaceOp(op, paged);
    return success();
  }

private:
  /// True if whatever does more than read `cache` comes after `op`, in its
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

/// A constant mask that hides exactly what lies after a query => causal.
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

  /// Every matrix of the mask sees j <= columns - rows + i and nothing else.
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
