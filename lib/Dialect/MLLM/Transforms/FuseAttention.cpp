//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// mllm-fuse-attention: fuses attention into one op.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;
using llmir::shapes::Shape;

namespace llmir::mllm {

#define GEN_PASS_DEF_FUSEATTENTION
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// Exchanges the token and head dimensions, which precede the last one.
static Value exchanged(OpBuilder &b, Location loc, Value heads) {
  const int64_t rank = tensorType(heads).getRank();
  Shape shape = shapeOf(heads);
  std::swap(shape[size_t(rank - 3)], shape[size_t(rank - 2)]);
  RankedTensorType type = tensorType(heads);
  return TransposeOp::create(
      b, loc, makeTensorType(shape, type.getElementType(), deviceOf(type)),
      heads, uint64_t(rank - 3), uint64_t(rank - 2));
}

/// The operand of a transposition of tokens and heads; null for other values.
static Value exchangedFrom(Value heads) {
  auto op = heads.getDefiningOp<TransposeOp>();
  if (!op)
    return {};
  const int64_t rank = tensorType(heads).getRank();
  auto fromStart = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const int64_t a = fromStart(int64_t(op.getDim0()));
  const int64_t b = fromStart(int64_t(op.getDim1()));
  return std::min(a, b) == rank - 3 && std::max(a, b) == rank - 2 ? op.getX()
                                                                  : Value();
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

namespace {
/// softmax(mask(scale * q keys^T)) values, heads before tokens.
struct ExplicitAttention {
  Value q;
  KVCacheOp cache;
  double scale = 1.0;
  int64_t window = 0; ///< 0: all keys up to the query's.
};
} // namespace

/// The defining op of a value with a single user.
template <typename OpT> static OpT onlyFor(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<OpT>() : OpT();
}

/// Strips `* constant` or `/ constant` from the scores.
static Value withoutScale(Value scores, double &scale) {
  if (auto mul = onlyFor<MulOp>(scores); mul && mul.getScalar()) {
    scale = mul.getScalar()->convertToDouble();
    return mul.getLhs();
  }
  if (auto div = onlyFor<DivOp>(scores); div && div.getScalar()) {
    scale = 1.0 / div.getScalar()->convertToDouble();
    return div.getLhs();
  }
  return scores;
}

/// The cache with these keys and values, each with a single user.
static KVCacheOp cacheOf(Value keys, Value values) {
  auto cache = onlyFor<KVCacheOp>(keys);
  if (!cache || cache.getKeys() != keys || cache.getValues() != values ||
      !values.hasOneUse() || cache.getLayout() != "bhsd")
    return {};
  return cache;
}

static std::optional<ExplicitAttention> matchAttention(MatMulOp mix) {
  if (mix.getTransposeA() || mix.getTransposeB())
    return std::nullopt;
  auto softmax = onlyFor<SoftmaxOp>(mix.getLhs());
  if (!softmax)
    return std::nullopt;
  const int64_t axis = int64_t(softmax.getAxis());
  if (axis != -1 && axis != tensorType(softmax.getX()).getRank() - 1)
    return std::nullopt;
  auto mask = onlyFor<CausalMaskOp>(softmax.getX());
  if (!mask)
    return std::nullopt;
  ExplicitAttention found;
  found.window = int64_t(mask.getWindow());
  auto product = onlyFor<MatMulOp>(withoutScale(mask.getX(), found.scale));
  if (!product || product.getTransposeA() || !product.getTransposeB() ||
      !std::isfinite(found.scale) || found.scale <= 0)
    return std::nullopt;
  found.q = product.getLhs();
  found.cache = cacheOf(product.getRhs(), mix.getRhs());
  // Requires as many query heads as repeated KV heads: a product would also
  // broadcast a single head.
  if (!found.cache)
    return std::nullopt;
  const size_t heads = size_t(found.cache.getHeadDim());
  const Shape q = shapeOf(found.q), keys = shapeOf(found.cache.getKeys());
  if (q.size() != keys.size() || !q[heads].isConstant() ||
      q[heads] != keys[heads] || (q.size() == 4 && q[0] != keys[0]))
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// The fused op has tokens before heads; the required transpositions cancel
/// those of the model.
struct FuseExplicitAttention : OpRewritePattern<MatMulOp> {
  FuseExplicitAttention(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(MatMulOp mix,
                                PatternRewriter &rewriter) const override {
    std::optional<ExplicitAttention> found = matchAttention(mix);
    if (!found)
      return failure();
    KVCacheOp cache = found->cache;
    rewriter.setInsertionPoint(cache);
    Value k = exchanged(rewriter, cache.getLoc(), cache.getK());
    Value v = exchanged(rewriter, cache.getLoc(), cache.getV());
    auto all = [&](Value one, Value cached) {
      Shape shape = shapeOf(one);
      shape[shape.size() - 3] = shapeOf(cached)[size_t(cache.getTokenDim())];
      RankedTensorType type = tensorType(one);
      return makeTensorType(shape, type.getElementType(), deviceOf(type));
    };
    auto tokensFirst = KVCacheOp::create(
        rewriter, cache.getLoc(), all(k, cache.getKeys()),
        all(v, cache.getValues()), k, v, cache.getLayerAttr());
    copyOtherAttributes(cache, tokensFirst);
    rewriter.setInsertionPoint(mix);
    Value mixed = attended(rewriter, mix, *found, tokensFirst);
    rewriter.replaceOp(mix, restored(rewriter, mix, mixed));
    // Only its side effects keep the old op, which has no users.
    eraseReaders(rewriter, cache);
    rewriter.eraseOp(cache);
    ++count;
    return success();
  }

private:
  /// Annotations such as `mllm.quant.*`.
  static void copyOtherAttributes(KVCacheOp from, KVCacheOp to) {
    for (NamedAttribute attribute : from->getDiscardableAttrs())
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
  }

  /// The fused op.
  static Value attended(PatternRewriter &rewriter, MatMulOp mix,
                        const ExplicitAttention &found, KVCacheOp cache) {
    Value q = exchanged(rewriter, mix.getLoc(), found.q);
    Shape shape = shapeOf(q);
    shape.back() = shapeOf(cache.getV()).back();
    RankedTensorType type = tensorType(mix.getResult());
    type = makeTensorType(shape, type.getElementType(), deviceOf(type));
    FloatAttr scale = rewriter.getF64FloatAttr(found.scale);
    if (found.window == 0)
      return FlashAttention2Op::create(rewriter, mix.getLoc(), type, q,
                                       cache.getKeys(), cache.getValues(),
                                       scale, rewriter.getBoolAttr(true),
                                       /*soft_cap=*/FloatAttr());
    return FlashAttention2SwaSinkOp::create(
        rewriter, mix.getLoc(), type, q, cache.getKeys(), cache.getValues(),
        /*s_aux=*/Value(), scale, rewriter.getI64IntegerAttr(found.window),
        /*soft_cap=*/FloatAttr(), /*chunked=*/UnitAttr(),
        /*causal=*/rewriter.getBoolAttr(true));
  }

  /// Converts the result back to the type of the op.
  static Value restored(PatternRewriter &rewriter, MatMulOp mix, Value mixed) {
    const int64_t rank = tensorType(mixed).getRank();
    return TransposeOp::create(rewriter, mix.getLoc(), mix.getType(), mixed,
                               uint64_t(rank - 3), uint64_t(rank - 2));
  }

  /// Matches probabilities, mask and scores down to the product with the keys.
  static void eraseReaders(PatternRewriter &rewriter, KVCacheOp cache) {
    SmallVector<Operation *> chain;
    for (Operation *user : cache->getUsers())
      for (Operation *op = user; op;
           op = op->hasOneUse() ? *op->getUsers().begin() : nullptr)
        chain.push_back(op);
    for (Operation *op : llvm::reverse(chain))
      rewriter.eraseOp(op);
  }

  int64_t &count;
};

/// Rotation is independent for each head of each token.
struct RopeBeforeTranspose : OpRewritePattern<RoPEOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RoPEOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getLayout() == "bhsd" ? exchangedFrom(op.getX()) : Value();
    if (!x)
      return failure();
    auto rotated =
        RoPEOp::create(rewriter, op.getLoc(), x.getType(), x, op.getTables(),
                       op.getFrequenciesAttr(), op.getScalingAttr(),
                       rewriter.getStringAttr("bshd"));
    const int64_t rank = tensorType(x).getRank();
    rewriter.replaceOpWithNewOp<TransposeOp>(
        op, op.getType(), rotated, uint64_t(rank - 3), uint64_t(rank - 2));
    return success();
  }
};

struct FuseAttentionPass : impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    attentionsFused += fuseAttention(getOperation());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Whether `a` is defined before `b` in one block.
static bool isBefore(Value a, Value b) {
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (x && y)
    return x.getOwner() == y.getOwner() && x.getArgNumber() < y.getArgNumber();
  if (x || y)
    return bool(x);
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return first != second && first->getBlock() == second->getBlock() &&
         first->isBeforeInBlock(second);
}

/// Canonicalizes `h + x` and `x + h`.
static void orderOperands(AddOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (!rhs || lhs.getType() != rhs.getType() || !isBefore(rhs, lhs))
    return;
  op.getLhsMutable().assign(rhs);
  op.getRhsMutable().assign(lhs);
}

/// Only these are visited: other ops, including dead ones, are left to later
/// conversions.
static SmallVector<Operation *> partsOfAttention(SubGraphOp subgraph) {
  SmallVector<Operation *> ops;
  subgraph.walk([&](Operation *op) {
    auto linear = dyn_cast<LinearOp>(op);
    auto rope = dyn_cast<RoPEOp>(op);
    if (isa<MatMulOp, TransposeOp>(op) || (linear && linear.isSplit()) ||
        (rope && rope.getLayout() == "bhsd"))
      ops.push_back(op);
  });
  return ops;
}

int64_t fuseAttention(ModuleOp module) {
  int64_t count = 0;
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns.add<FuseExplicitAttention>(context, count);
  patterns.add<RopeBeforeTranspose>(context);
  LinearOp::getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  for (auto subgraph : module.getOps<SubGraphOp>()) {
    // Iterates to a fixed point without a limit.
    (void)applyOpPatternsGreedily(partsOfAttention(subgraph), frozen, config);
    subgraph.walk([](AddOp op) { orderOperands(op); });
  }
  return count;
}

} // namespace llmir::mllm
