//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers with parameters, matrix products, activations and norms.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"
#include "QuantizedWeights.h"
#include "StepForm.h"

#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Converts 64-bit ids to 32 bits with saturation; saturated ids are out of
/// range as well.
static Value narrowIds(OpLowering &l, Value ids) {
  if (l.state.step)
    if (Value narrow = l.state.step->narrow(ids))
      return narrow;
  RankedTensorType type = OpLowering::type(ids);
  if (!type.getElementType().isInteger(64))
    return l.cast(ids, l.b().getI32Type());
  return l.elementwise(
      type.clone(l.b().getI32Type()), ids,
      [](OpBuilder &b, Location loc, ValueRange n) -> Value {
        auto limit = [&](int64_t number) -> Value {
          return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(number));
        };
        Value id = arith::MinSIOp::create(b, loc, n[0], limit(INT32_MAX));
        id = arith::MaxSIOp::create(b, loc, id, limit(INT32_MIN));
        return arith::TruncIOp::create(b, loc, b.getI32Type(), id);
      });
}

static LogicalResult lower(OpLowering &l, mllm::EmbeddingOp op) {
  RankedTensorType result = l.resultType();
  int64_t columns = result.getShape().back();
  RankedTensorType type = OpLowering::type(op.getIds());
  if (!type.hasStaticShape() && type.getRank() != 1)
    return l.refuse() << "it looks up several ids per token; a step looks up "
                         "only token ids and positions";
  int64_t tokens =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  Value ids = op.getIds();
  if (type.hasStaticShape())
    ids = l.reshape(ids, {tokens});
  ids = narrowIds(l, ids);
  Value rows = ll::EmbeddingOp::create(
      l.b(), RankedTensorType::get({tokens, columns}, l.b().getF32Type()), ids,
      l.parameter(op.getWeightAttr()));
  return l.replace(
      l.cast(l.reshape(rows, result.getShape()), result.getElementType()));
}

static LogicalResult lower(OpLowering &l, mllm::LinearOp op) {
  FlatSymbolRefAttr symbol = op.getBiasAttr();
  Value weight = l.parameter(op.getWeightAttr());
  Value bias = symbol ? l.parameter(symbol) : Value();
  auto multiply = [&](Value rows) -> SmallVector<Value> {
    FailureOr<Value> product =
        createAnnotatedProduct(l.b(), op, rows, weight, bias);
    return {succeeded(product) ? *product : Value()};
  };
  SmallVector<Value> products = l.mapRows(l.asRows(op.getX(), 1), multiply);
  if (products.empty() || !products.front())
    return failure(); // Reported at its creation.
  return l.replace(l.fromRows(products.front(), l.resultType().getShape()));
}

static LogicalResult lower(OpLowering &l, mllm::HeadLinearOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  RankedTensorType result = l.resultType();
  if (!x.hasStaticShape() && x.getRank() != 3)
    return l.refuse() << "it computes several rows of heads per token; a token "
                         "of a step has one";
  ArrayRef<int64_t> sizes = x.getShape().take_back(2);
  int64_t tokens = x.hasStaticShape()
                       ? ShapedType::getNumElements(x.getShape().drop_back(2))
                       : ShapedType::kDynamic;
  Value heads = op.getX();
  if (x.getRank() != 3)
    heads = l.reshape(heads, {tokens, sizes[0], sizes[1]});
  auto type = result.clone({tokens, sizes[0], result.getShape().back()});
  Value products = ll::HeadLinearOp::create(l.b(), type, heads,
                                            l.parameter(op.getWeightAttr()));
  if (x.getRank() != 3)
    products = l.reshape(products, result.getShape());
  return l.replace(products);
}

static LogicalResult lower(OpLowering &l, mllm::ExpertsOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  if (!x.hasStaticShape() && x.getRank() != 2)
    return l.refuse() << "it computes several rows per token; the experts of a "
                         "step have one";
  Value chosen = l.cast(op.getChosen(), l.b().getI32Type());
  Value rows = l.asRows(op.getX(), 1);
  SmallVector<Value> biases;
  if (op.getGateBias())
    for (FlatSymbolRefAttr bias :
         {op.getGateBiasAttr(), op.getUpBiasAttr(), op.getDownBiasAttr()})
      biases.push_back(l.parameter(bias));
  Value sums = ll::MoEFFNOp::create(
      l.b(), rows.getType(), rows, l.asRows(chosen, 1),
      l.asRows(op.getWeights(), 1), l.parameter(op.getGateAttr()),
      l.parameter(op.getUpAttr()), l.parameter(op.getDownAttr()), biases,
      op.getSwigluLimitAttr(), op.getGeluAttr());
  return l.replace(l.fromRows(sums, x.getShape()));
}

static LogicalResult lower(OpLowering &l, mllm::ParamOp op) {
  Value value = l.plainParameter(op.getWeightAttr());
  if (!value)
    return failure();
  return l.replace(l.cast(l.reshape(value, l.resultType().getShape()),
                          l.resultType().getElementType()));
}

/// Batch dimensions are broadcast like those of element-wise ops.
static LogicalResult lower(OpLowering &l, mllm::MatMulOp op) {
  RankedTensorType result = l.resultType();
  unsigned rank = static_cast<unsigned>(result.getRank()), batch = rank - 2;
  auto mapOf = [&](Value operand, AffineExpr row, AffineExpr column,
                   bool transposed) {
    ArrayRef<int64_t> shape = OpLowering::type(operand).getShape();
    unsigned own = static_cast<unsigned>(shape.size()) - 2;
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < own; ++d) {
      unsigned place = batch - own + d;
      bool repeats = shape[d] == 1 && result.getDimSize(place) != 1;
      exprs.push_back(repeats ? l.b().getAffineConstantExpr(0) : l.dim(place));
    }
    exprs.push_back(transposed ? column : row);
    exprs.push_back(transposed ? row : column);
    return l.map(rank + 1, exprs);
  };
  ArrayRef<int64_t> left = OpLowering::type(op.getLhs()).getShape();
  int64_t depth = left[left.size() - (op.getTransposeA() ? 2 : 1)];
  AffineExpr m = l.dim(batch), n = l.dim(batch + 1), k = l.dim(rank);
  return l.replace(
      l.sumOfProducts(result, depth, op.getLhs(), op.getRhs(),
                      {mapOf(op.getLhs(), m, k, op.getTransposeA()),
                       mapOf(op.getRhs(), k, n, op.getTransposeB())}));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// weight + 1, in f32.
static Value addOne(OpLowering &l, Value weight) {
  return l.elementwise(
      OpLowering::type(weight).clone(l.b().getF32Type()), weight,
      [](OpBuilder &b, Location loc, ValueRange n) -> Value {
        Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
        return arith::AddFOp::create(b, loc, n[0], one);
      });
}

static LogicalResult lower(OpLowering &l, mllm::RMSNormOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  Value rows = l.asRows(op.getX(), 1);
  Value weight = l.plainParameter(op.getWeightAttr());
  if (!weight)
    return failure();
  if (op.getUnitOffset())
    weight = addOne(l, weight);
  Value normed = ll::RMSNormOp::create(l.b(), rows.getType(), rows, weight,
                                       op.getEpsAttr());
  return l.replace(l.fromRows(normed, x.getShape()));
}

/// The parameter as one row; null if absent.
static FailureOr<Value> flatParameter(OpLowering &l,
                                      std::optional<FlatSymbolRefAttr> symbol) {
  if (!symbol || !*symbol)
    return Value();
  Value value = l.plainParameter(*symbol);
  if (!value)
    return failure();
  return l.reshape(value, OpLowering::type(value).getNumElements());
}

static LogicalResult lower(OpLowering &l, mllm::LayerNormOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  Value rows =
      l.asRows(op.getX(), static_cast<int64_t>(op.getNormalizedShape().size()));
  FailureOr<Value> weight = flatParameter(l, op.getWeightAttr());
  FailureOr<Value> bias = flatParameter(l, op.getBiasAttr());
  if (failed(weight) || failed(bias))
    return failure();
  Value normed = ll::LayerNormOp::create(l.b(), rows.getType(), rows, *weight,
                                         *bias, op.getEpsAttr());
  return l.replace(l.fromRows(normed, x.getShape()));
}

/// Moves channels to the last dimension, normalizes rows, and moves them back.
static LogicalResult lower(OpLowering &l, mllm::LayerNorm2DOp op) {
  FailureOr<Value> weight = flatParameter(l, op.getWeightAttr());
  FailureOr<Value> bias = flatParameter(l, op.getBiasAttr());
  if (failed(weight) || failed(bias))
    return failure();
  Value pictures = l.transpose(op.getX(), {0, 2, 3, 1});
  SmallVector<int64_t> shape(OpLowering::type(pictures).getShape());
  Value rows = l.asRows(pictures, 1);
  Value normed = ll::LayerNormOp::create(l.b(), rows.getType(), rows, *weight,
                                         *bias, op.getEpsAttr());
  return l.replace(l.transpose(l.fromRows(normed, shape), {0, 3, 1, 2}));
}

static LogicalResult lower(OpLowering &l, mllm::SoftmaxOp op) {
  RankedTensorType x = OpLowering::type(op.getX());
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < x.getRank(); ++d)
    axes.push_back(d);
  // A transposition that exchanges the axis and the last one, and is its own
  // inverse.
  std::swap(axes[dimOf(op.getAxis(), x.getRank())], axes.back());
  bool isLast = axes.back() == x.getRank() - 1;
  Value input = isLast ? op.getX() : l.transpose(op.getX(), axes);
  SmallVector<int64_t> shape(OpLowering::type(input).getShape());
  Value rows = l.asRows(input, 1);
  Value shares = ll::SoftmaxOp::create(l.b(), rows.getType(), rows);
  shares = l.fromRows(shares, shape);
  return l.replace(isLast ? shares : l.transpose(shares, axes));
}

void addNNLowerings(LoweringTable &table) {
  table.add<mllm::EmbeddingOp>(lower);
  table.add<mllm::LinearOp>(lower);
  table.add<mllm::HeadLinearOp>(lower);
  table.add<mllm::ExpertsOp>(lower);
  table.add<mllm::RMSNormOp>(lower);
  table.add<mllm::LayerNormOp>(lower);
  table.add<mllm::LayerNorm2DOp>(lower);
  table.add<mllm::SoftmaxOp>(lower);
  table.add<mllm::MatMulOp>(lower);
  table.add<mllm::ParamOp>(lower);
}

} // namespace llmir
