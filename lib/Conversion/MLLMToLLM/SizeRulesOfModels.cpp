//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules for ops of llm and mllm on tensors with padding. Ops without a rule
// require static sizes.
//
//===----------------------------------------------------------------------===//

#include "SizeBounder.h"

#include "llmir/Conversion/Dimensions.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/MLLMIndexOps.h"
#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

using shapes::DimExpr;
using shapes::Shape;

static int64_t lastDim(SizeBounder &s, Value tensor) {
  return static_cast<int64_t>(s.sizesOf(tensor).size()) - 1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Element-wise ops.
template <typename OpTy>
static LogicalResult boundSame(SizeBounder &s, OpTy op) {
  Shape shape = s.sizesOf(op->getOperand(0));
  for (Value operand : op->getOperands())
    if (s.sizesOf(operand) != shape)
      return s.refuse(op) << "it combines the sizes " << shapes::str(shape)
                          << " and " << shapes::str(s.sizesOf(operand))
                          << ", which may differ";
  s.setSizes(op->getResult(0), shape);
  return success();
}

/// Row-wise ops on entire rows; other operands are weights.
template <typename OpTy>
static LogicalResult boundRows(SizeBounder &s, OpTy op) {
  Value x = op->getOperand(0);
  if (failed(s.needStatic(op, x, lastDim(s, x))))
    return failure();
  for (Value weight : op->getOperands().drop_front())
    if (failed(s.needStatic(op, weight)))
      return failure();
  s.setSizes(op->getResult(0), s.sizesOf(x));
  return success();
}

static LogicalResult bound(SizeBounder &s, ll::LinearOp op) {
  Value x = op->getOperand(0);
  if (failed(s.needStatic(op, x, lastDim(s, x))))
    return failure();
  for (Value weight : op->getOperands().drop_front())
    if (failed(s.needStatic(op, weight)))
      return failure();
  Shape shape = s.sizesOf(x);
  shape.back() = DimExpr(ll::getWeightShape(op.getWeight().getType()).front());
  s.setSizes(op.getResult(), shape);
  return success();
}

/// Ids in padding select an arbitrary row, since ids are clamped.
static LogicalResult bound(SizeBounder &s, ll::EmbeddingOp op) {
  Shape shape = s.sizesOf(op.getIds());
  shape.push_back(DimExpr(ll::getWeightShape(op.getTable().getType()).back()));
  s.setSizes(op.getResult(), shape);
  return success();
}

static LogicalResult bound(SizeBounder &s, ll::SoftmaxOp op) {
  int64_t last = lastDim(s, op->getOperand(0));
  s.maskOperand(op->getOpOperand(0), last, -INFINITY);
  s.setSizes(op->getResult(0), s.sizesOf(op->getOperand(0)));
  return success();
}

static LogicalResult bound(SizeBounder &s, ll::RopeOp op) {
  if (s.sizesOf(op.getX()).front() != s.sizesOf(op.getPositions()).front())
    return s.refuse(op) << "the numbers of its positions and tokens may differ";
  s.setSizes(op.getResult(), s.sizesOf(op.getX()));
  return success();
}

static LogicalResult bound(SizeBounder &s, ll::MeanRowsOp op) {
  Shape shape = s.sizesOf(op.getX());
  shape.front() = s.sizesOf(op.getOffsets()).front() - 1;
  s.setSizes(op.getResult(), shape);
  return success();
}

static LogicalResult bound(SizeBounder &s, ll::SelectRowsOp op) {
  Shape shape = s.sizesOf(op.getX());
  shape.front() = s.sizesOf(op.getRows()).front();
  s.setSizes(op.getResult(), shape);
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// With as many keys as queries, a causal query sees no later key, and hence no
/// padding.
static LogicalResult checkAttention(SizeBounder &s, Operation *op, Value query,
                                    Value key, size_t tokens, bool isCausal) {
  DimExpr queries = s.sizesOf(query)[tokens], keys = s.sizesOf(key)[tokens];
  if (keys.isConstant() && queries.isConstant())
    return success();
  if (keys.isConstant() && !isCausal)
    return success();
  if (isCausal && queries == keys)
    return success();
  return s.refuse(op) << "its " << queries.str() << " queries attend to "
                      << keys.str() << " keys"
                      << (isCausal ? "; their numbers must be equal"
                                   : " without a causal mask");
}

static LogicalResult bound(SizeBounder &s, ll::AttentionOp op) {
  if (failed(
          checkAttention(s, op, op.getQuery(), op.getKey(), 1, op.getCausal())))
    return failure();
  Shape shape = s.sizesOf(op.getQuery());
  if (shape.back().constant() != s.sizesOf(op.getValue()).back().constant())
    shape.back() = s.sizesOf(op.getValue()).back();
  s.setSizes(op.getOutput(), shape);
  return success();
}

static LogicalResult bound(SizeBounder &s, mllm::FlashAttention2Op op) {
  size_t tokens = s.sizesOf(op.getQ()).size() - 3;
  if (failed(
          checkAttention(s, op, op.getQ(), op.getK(), tokens, op.getCausal())))
    return failure();
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::CausalMaskOp op) {
  Shape shape = s.sizesOf(op.getX());
  if (shape[shape.size() - 1] != shape[shape.size() - 2])
    return s.refuse(op) << "it masks " << shape[shape.size() - 1].str()
                        << " keys for " << shape[shape.size() - 2].str()
                        << " queries; their numbers must be equal";
  return s.setDeclaredSizes(op);
}

//===----------------------------------------------------------------------===//
// Ops of mllm
//===----------------------------------------------------------------------===//

/// Element-wise ops, and moves that keep padding at the end of each dimension.
template <typename OpTy>
static LogicalResult boundDeclared(SizeBounder &s, OpTy op) {
  return s.setDeclaredSizes(op);
}

/// Row-wise ops on entire rows.
template <typename OpTy>
static LogicalResult boundDeclaredRows(SizeBounder &s, OpTy op) {
  Value x = op->getOperand(0);
  if (failed(s.needStatic(op, x, lastDim(s, x))))
    return failure();
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::SoftmaxOp op) {
  int64_t axis = dimOf(op.getAxis(), s.sizesOf(op.getX()).size());
  s.maskOperand(op->getOpOperand(0), axis, -INFINITY);
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::MatMulOp op) {
  int64_t left = lastDim(s, op.getLhs()), right = lastDim(s, op.getRhs());
  s.maskOperand(op.getLhsMutable(), op.getTransposeA() ? left - 1 : left, 0);
  s.maskOperand(op.getRhsMutable(), op.getTransposeB() ? right : right - 1, 0);
  return s.setDeclaredSizes(op);
}

/// Fills the padding of reduced dimensions with `neutral`.
template <typename OpTy>
static LogicalResult boundReduction(SizeBounder &s, OpTy op, double neutral) {
  size_t rank = s.sizesOf(op.getX()).size();
  for (size_t d = 0; d < rank; ++d)
    if (!op.getDim() || dimOf(*op.getDim(), rank) == static_cast<int64_t>(d))
      s.maskOperand(op->getOpOperand(0), static_cast<int64_t>(d), neutral);
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::ReduceSumOp op) {
  return boundReduction(s, op, 0);
}
static LogicalResult bound(SizeBounder &s, mllm::ReduceMaxOp op) {
  return boundReduction(s, op, -INFINITY);
}
static LogicalResult bound(SizeBounder &s, mllm::ReduceMinOp op) {
  return boundReduction(s, op, INFINITY);
}

/// The divisor is the number of all elements.
static LogicalResult bound(SizeBounder &s, mllm::MeanOp op) {
  size_t rank = s.sizesOf(op.getX()).size();
  for (size_t d = 0; d < rank; ++d)
    if ((!op.getDim() ||
         dimOf(*op.getDim(), rank) == static_cast<int64_t>(d)) &&
        failed(s.needStatic(op, op.getX(), static_cast<int64_t>(d))))
      return failure();
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::FillOp op) {
  Shape shape = s.sizesOf(op->getOperand(0));
  DimExpr all(1);
  for (const DimExpr &size : shape)
    all = all * size;
  bool isNumbered = op.getKind() == mllm::FillKind::Arange ||
                    op.getKind() == mllm::FillKind::Random;
  if (isNumbered && !(all.isKnown() && keepsPositions(shape, {all})))
    return s.refuse(op) << "it numbers the elements of a tensor of the sizes "
                        << shapes::str(shape)
                        << ", whose padding would be numbered, too";
  return s.setDeclaredSizes(op);
}

template <typename OpTy>
static LogicalResult boundReshape(SizeBounder &s, OpTy op) {
  Shape from = s.sizesOf(op->getOperand(0));
  if (failed(s.setDeclaredSizes(op)))
    return failure();
  Shape to = s.sizesOf(op->getResult(0));
  if (keepsPositions(from, to))
    return success();
  return s.refuse(op) << "it reshapes " << shapes::str(from) << " to "
                      << shapes::str(to)
                      << ", which moves elements; keep dynamic sizes in "
                         "separate dimensions";
}

static LogicalResult bound(SizeBounder &s, mllm::ConcatOp op) {
  size_t rank = s.sizesOf(op.getParts().front()).size();
  return boundConcat(s, op, op.getParts(), dimOf(op.getDim(), rank));
}

static LogicalResult bound(SizeBounder &s, mllm::SplitOp op) {
  int64_t dim = dimOf(op.getDim(), s.sizesOf(op.getX()).size());
  if (failed(s.needStatic(op, op.getX(), dim)))
    return failure();
  return s.setDeclaredSizes(op);
}

static LogicalResult bound(SizeBounder &s, mllm::GatherOp op) {
  int64_t dim = dimOf(op.getDim(), s.sizesOf(op.getTable()).size());
  if (failed(s.needStatic(op, op.getTable(), dim)))
    return failure();
  return s.setDeclaredSizes(op);
}

/// Ranges that start relative to the end, which is the size.
static LogicalResult bound(SizeBounder &s, mllm::SliceOp op) {
  Shape from = s.sizesOf(op.getX());
  if (failed(s.setDeclaredSizes(op)))
    return failure();
  Shape to = s.sizesOf(op.getResult());
  OpBuilder b(op);
  SmallVector<OpFoldResult> offsets, sizes, steps;
  bool isComputed = false;
  for (auto [d, start, step] : llvm::enumerate(op.getStarts(), op.getSteps())) {
    const int64_t needed =
        start < 0 ? -start : start + (s.least(to[d]) - 1) * step + 1;
    if (!from[d].isConstant() && needed > s.least(from[d]))
      return s.refuse(op) << "its slice from index " << start
                          << " may exceed dimension " << d
                          << ", whose size may be " << s.least(from[d]);
    if (from[d].isConstant() || start >= 0) {
      int64_t begin = start < 0 ? start + *from[d].constant() : start;
      offsets.push_back(b.getIndexAttr(std::max<int64_t>(begin, 0)));
    } else if (!to[d].isConstant()) {
      return s.refuse(op) << "its slice of size " << to[d].str() << " starts "
                          << -start << " before the end of dimension " << d
                          << "; it must have a static size";
    } else {
      isComputed = true;
      offsets.push_back(s.numberFor(from[d] + DimExpr(start)));
    }
    sizes.push_back(b.getIndexAttr(s.greatest(to[d])));
    steps.push_back(b.getIndexAttr(step));
  }
  if (!isComputed)
    return success();
  Value slice = tensor::ExtractSliceOp::create(b, op.getLoc(), op.getX(),
                                               offsets, sizes, steps);
  s.setSizes(slice, to);
  op->replaceAllUsesWith(ValueRange{slice});
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename... Ops> static void addDeclared(SizeRules &rules) {
  (rules.add<Ops>(boundDeclared<Ops>), ...);
}

void addSizeRulesOfModels(SizeRules &rules) {
  rules.add<ll::SiluOp>(boundSame);
  rules.add<ll::GeluOp>(boundSame);
  rules.add<ll::AddOp>(boundSame);
  rules.add<ll::MulOp>(boundSame);
  rules.add<ll::SwiGLUOp>(boundSame);
  rules.add<ll::RMSNormOp>(boundRows);
  rules.add<ll::LayerNormOp>(boundRows);
  rules.add<ll::LinearOp>(bound);
  rules.add<ll::EmbeddingOp>(bound);
  rules.add<ll::SoftmaxOp>(bound);
  rules.add<ll::RopeOp>(bound);
  rules.add<ll::MeanRowsOp>(bound);
  rules.add<ll::SelectRowsOp>(bound);
  rules.add<ll::AttentionOp>(bound);
  addDeclared<mllm::AddOp, mllm::SubOp, mllm::MulOp, mllm::DivOp, mllm::NegOp,
              mllm::AbsOp, mllm::LogOp, mllm::ExpOp, mllm::SinOp, mllm::CosOp,
              mllm::ClipOp, mllm::EqualOp, mllm::CompareOp, mllm::LogicalAndOp,
              mllm::LogicalOrOp, mllm::LogicalNotOp, mllm::WhereOp,
              mllm::SiLUOp, mllm::GELUOp, mllm::QuickGELUOp, mllm::ReLUOp,
              mllm::SigmoidOp, mllm::CastTypeOp, mllm::ContiguousOp,
              mllm::CloneOp, mllm::TransposeOp, mllm::PermuteOp, mllm::StackOp,
              mllm::RepeatOp, mllm::EmbeddingOp, mllm::PositionsOp,
              mllm::RoPEOp>(rules);
  rules.add<mllm::LinearOp>(boundDeclaredRows);
  rules.add<mllm::RMSNormOp>(boundDeclaredRows);
  rules.add<mllm::LayerNormOp>(boundDeclaredRows);
  rules.add<mllm::SoftmaxOp>(bound);
  rules.add<mllm::MatMulOp>(bound);
  rules.add<mllm::ReduceSumOp>(bound);
  rules.add<mllm::ReduceMaxOp>(bound);
  rules.add<mllm::ReduceMinOp>(bound);
  rules.add<mllm::MeanOp>(bound);
  rules.add<mllm::FillOp>(bound);
  rules.add<mllm::ViewOp>(boundReshape);
  rules.add<mllm::ReshapeOp>(boundReshape);
  rules.add<mllm::ConcatOp>(bound);
  rules.add<mllm::SplitOp>(bound);
  rules.add<mllm::GatherOp>(bound);
  rules.add<mllm::SliceOp>(bound);
  rules.add<mllm::FlashAttention2Op>(bound);
  rules.add<mllm::CausalMaskOp>(bound);
}

} // namespace llmir
