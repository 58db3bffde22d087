//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folding and canonicalization. Every pattern preserves results bit for bit,
// unless its comment states otherwise.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::llm;

/// True for a splat constant whose value `test` accepts.
static bool isSplat(Attribute constant,
                    function_ref<bool(const APFloat &)> test) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(constant);
  return elements && elements.isSplat() &&
         test(elements.getSplatValue<APFloat>());
}

static bool isOnes(Attribute constant) {
  return isSplat(constant,
                 [](const APFloat &value) { return value.isExactlyValue(1); });
}

static bool isZeros(Attribute constant) {
  return isSplat(constant, [](const APFloat &value) { return value.isZero(); });
}

/// The constant that defines `value`, or null.
static Attribute getConstant(Value value) {
  Attribute constant;
  if (value && matchPattern(value, m_Constant(&constant)))
    return constant;
  return {};
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// Constants are on the right, since the ops are commutative. (-0 + 0 becomes
/// -0; the op does not specify the sign.)
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return isZeros(adaptor.getRhs()) ? getLhs() : Value();
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return isOnes(adaptor.getRhs()) ? getLhs() : Value();
}

namespace {

/// mul(silu(gate), up) => swiglu(gate, up), by definition. The silu must have
/// no other use, or it would be computed twice.
struct SwiGLUFromSilu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp mul,
                                PatternRewriter &rewriter) const override {
    for (auto [gate, up] : {std::pair(mul.getLhs(), mul.getRhs()),
                            std::pair(mul.getRhs(), mul.getLhs())}) {
      auto silu = gate.getDefiningOp<SiluOp>();
      if (!silu || !silu->hasOneUse())
        continue;
      rewriter.replaceOpWithNewOp<SwiGLUOp>(mul, silu.getX(), up);
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// A weight of ones => none.
struct RMSNormWithoutWeight : OpRewritePattern<RMSNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RMSNormOp norm,
                                PatternRewriter &rewriter) const override {
    if (!isOnes(getConstant(norm.getWeight())))
      return failure();
    rewriter.modifyOpInPlace(norm, [&] { norm.getWeightMutable().clear(); });
    return success();
  }
};

/// A bias of zeros => none (up to the sign of zeros); without a bias, a weight
/// of ones => none.
struct LayerNormWithoutParameters : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp norm,
                                PatternRewriter &rewriter) const override {
    if (isZeros(getConstant(norm.getBias()))) {
      rewriter.modifyOpInPlace(norm, [&] { norm.getBiasMutable().clear(); });
      return success();
    }
    if (norm.getBias() || !isOnes(getConstant(norm.getWeight())))
      return failure();
    rewriter.modifyOpInPlace(norm, [&] { norm.getWeightMutable().clear(); });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Quantized weights
//===----------------------------------------------------------------------===//

/// linear(x, dequantize(q)) => quantized_matmul(x, q). Only if the weight is
/// dequantized to f32, in which quantized_matmul computes: narrower types would
/// have been rounded. (-llm-quantize accepts that.) Results agree up to f32
/// rounding: a target may multiply by the scale later.
struct LinearOfDequantized : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp linear,
                                PatternRewriter &rewriter) const override {
    auto weight = linear.getWeight().getDefiningOp<DequantizeOp>();
    // A weight type with dynamic sizes would change the result type.
    if (!weight || !weight.getType().getElementType().isF32() ||
        !weight.getType().hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<QuantizedMatmulOp>(
        linear, linear.getX(), weight.getX(), weight.getScales(),
        weight.getZeroPoints(), linear.getBias(), /*transposeRhs=*/true);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Sharding and collectives
//===----------------------------------------------------------------------===//

/// shard(shard(x, n, i), m, j) => shard(x, n · m, i · m + j): both slices have
/// an index and the same dimension.
struct ShardOfShard : OpRewritePattern<ShardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ShardOp shard,
                                PatternRewriter &rewriter) const override {
    auto outer = shard.getX().getDefiningOp<ShardOp>();
    if (!outer || outer.getDim() != shard.getDim() || !outer.getShardIndex() ||
        !shard.getShardIndex() || isa<ShardedTensorType>(shard.getType()))
      return failure();
    int64_t inner = shard.getNumShards();
    // A dimension of size 0 has any number of slices.
    std::optional<int64_t> slices =
        llvm::checkedMul<int64_t>(outer.getNumShards(), inner);
    if (!slices)
      return rewriter.notifyMatchFailure(shard, "too many slices");
    int64_t index = *outer.getShardIndex() * inner + *shard.getShardIndex();
    rewriter.replaceOpWithNewOp<ShardOp>(shard, shard.getType(), outer.getX(),
                                         shard.getDim(), *slices,
                                         rewriter.getI64IntegerAttr(index));
    return success();
  }
};

/// The rank's slice of an all_gather is the rank's operand.
struct ShardOfGathered : OpRewritePattern<ShardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ShardOp shard,
                                PatternRewriter &rewriter) const override {
    auto gather = shard.getX().getDefiningOp<AllGatherOp>();
    if (!gather || shard.getShardIndex() || gather.getDim() != shard.getDim() ||
        gather.getGroupSize() != shard.getNumShards() ||
        gather.getX().getType() != shard.getType())
      return failure();
    rewriter.replaceOp(shard, gather.getX());
    return success();
  }
};

/// The rank's slice of a reduced value without other uses is reduce_scatter,
/// which communicates less.
struct ShardOfReduced : OpRewritePattern<ShardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ShardOp shard,
                                PatternRewriter &rewriter) const override {
    auto reduce = shard.getX().getDefiningOp<AllReduceOp>();
    if (!reduce || !reduce->hasOneUse() || shard.getShardIndex() ||
        reduce.getGroupSize() != shard.getNumShards())
      return failure();
    rewriter.replaceOpWithNewOp<ReduceScatterOp>(
        shard, shard.getType(), reduce.getX(), shard.getDim(),
        reduce.getGroupSize(), reduce.getReduceOp());
    return success();
  }
};

/// Gathering the slices of a reduced value yields that value.
struct GatherOfScattered : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllGatherOp gather,
                                PatternRewriter &rewriter) const override {
    auto scatter = gather.getX().getDefiningOp<ReduceScatterOp>();
    if (!scatter || !scatter->hasOneUse() ||
        scatter.getDim() != gather.getDim() ||
        scatter.getGroupSize() != gather.getGroupSize() ||
        scatter.getX().getType() != gather.getType())
      return failure();
    rewriter.replaceOpWithNewOp<AllReduceOp>(
        gather, gather.getType(), scatter.getX(), scatter.getGroupSize(),
        scatter.getReduceOp());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Hoisting select_rows above row-wise ops
//===----------------------------------------------------------------------===//

/// select_rows(op(x, …), rows) => op(select_rows(x, rows), …) for an op whose
/// row t of the result depends only on row t of its row operands. The op must
/// have no other use, or it would be computed twice.
template <typename RowOp>
struct SelectRowsBefore : OpRewritePattern<SelectRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectRowsOp select,
                                PatternRewriter &rewriter) const override {
    auto producer = select.getX().template getDefiningOp<RowOp>();
    if (!producer || !producer->hasOneUse())
      return failure();
    // In another block, the rows might not dominate the op.
    if (producer->getBlock() != select->getBlock())
      return failure();
    // A row that is listed several times would be computed several times.
    int64_t listed = select.getType().getDimSize(0);
    int64_t rows = select.getX().getType().getDimSize(0);
    if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(listed) &&
        listed > rows)
      return failure();

    // Only the first operand of norms and projections has rows; all operands of
    // element-wise ops do.
    SmallVector<Value> operands(producer->getOperands());
    size_t rowOperands =
        producer->template hasTrait<OpTrait::SameOperandsAndResultType>()
            ? operands.size()
            : 1;
    for (Value &operand : MutableArrayRef(operands).take_front(rowOperands))
      operand = SelectRowsOp::create(rewriter, select.getLoc(), operand,
                                     select.getRows());
    Operation *moved = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperands(operands);
      moved->getResult(0).setType(select.getType());
    });
    rewriter.replaceOp(select, moved);
    rewriter.eraseOp(producer);
    return success();
  }
};

/// The constant row indices that `rows` holds. A splat may be too large to
/// materialize.
static std::optional<SmallVector<int64_t>> getKnownRows(Value rows) {
  constexpr int64_t kMaxRows = 1 << 20;
  auto constant = dyn_cast_or_null<DenseIntElementsAttr>(getConstant(rows));
  if (!constant || constant.getNumElements() > kMaxRows)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &number : constant.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

/// select_rows(select_rows(x, a), b) => select_rows(x, a[b]) for known rows.
struct SelectOfSelected : OpRewritePattern<SelectRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectRowsOp select,
                                PatternRewriter &rewriter) const override {
    auto inner = select.getX().getDefiningOp<SelectRowsOp>();
    if (!inner)
      return failure();
    auto rows = getKnownRows(select.getRows());
    auto innerRows = getKnownRows(inner.getRows());
    if (!rows || !innerRows)
      return failure();
    SmallVector<int32_t> numbers;
    for (int64_t row : *rows) {
      if (row < 0 || row >= int64_t(innerRows->size()))
        return failure(); // Out of range: keep the caller's error.
      numbers.push_back((*innerRows)[row]);
    }
    auto type = cast<RankedTensorType>(select.getRows().getType());
    Value composed = arith::ConstantOp::create(
        rewriter, select.getLoc(),
        DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    rewriter.replaceOpWithNewOp<SelectRowsOp>(select, select.getType(),
                                              inner.getX(), composed);
    return success();
  }
};

/// Selecting all rows in order is the identity.
struct SelectAllRows : OpRewritePattern<SelectRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectRowsOp select,
                                PatternRewriter &rewriter) const override {
    if (select.getX().getType() != select.getType())
      return failure();
    auto rows = getKnownRows(select.getRows());
    if (!rows || !llvm::equal(*rows, llvm::seq<int64_t>(rows->size())))
      return failure();
    rewriter.replaceOp(select, select.getX());
    return success();
  }
};

} // namespace

void MulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<SwiGLUFromSilu>(context);
}

void RMSNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<RMSNormWithoutWeight>(context);
}

void LayerNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<LayerNormWithoutParameters>(context);
}

void LinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<LinearOfDequantized>(context);
}

void ShardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<ShardOfShard, ShardOfGathered, ShardOfReduced>(context);
}

void AllGatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<GatherOfScattered>(context);
}

void SelectRowsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<SelectRowsBefore<RMSNormOp>, SelectRowsBefore<LayerNormOp>,
               SelectRowsBefore<LinearOp>, SelectRowsBefore<QuantizedMatmulOp>,
               SelectRowsBefore<SoftmaxOp>, SelectRowsBefore<SiluOp>,
               SelectRowsBefore<GeluOp>, SelectRowsBefore<SwiGLUOp>,
               SelectRowsBefore<AddOp>, SelectRowsBefore<MulOp>,
               SelectOfSelected, SelectAllRows>(context);
}
