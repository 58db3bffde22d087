//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: products, embeddings, norms, activations, and layer annotations.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMNNOps.h"

#include "LinalgCosts.h"
#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/MLLMShapeOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/QuantAttrs.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMNNOps.cpp.inc"

void MLLMDialect::addNNOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMNNOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMExpertOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Products and embeddings
//===----------------------------------------------------------------------===//

Expected<ResultTypes> MatMulOp::inferResults(Adaptor op) {
  LLMIR_RETURN_IF_ERROR(checkSameElements({op.getLhs(), op.getRhs()})); // c4
  LLMIR_RETURN_IF_ERROR(checkSameDevice({op.getLhs(), op.getRhs()}));
  // c1, c2, c3; the trait checks c5.
  return shaped(shapes::matmul(shapeOf(op.getLhs()), shapeOf(op.getRhs()),
                               op.getTransposeA(), op.getTransposeB()),
                op.getLhs());
}

std::optional<int64_t> MatMulOp::getFlops() {
  const int64_t inner = getTransposeA() ? 2 : 1;
  return scaled(detail::numResultValues(*this),
                {2, tensorType(getLhs()).getShape().rbegin()[inner - 1]});
}

/// The operand of a transposition of the last two dimensions, or null.
static Value transposedMatrices(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return nullptr;
  const int64_t rank = tensorType(value).getRank();
  auto axis = [&](uint64_t dim) {
    const auto number = static_cast<int64_t>(dim);
    return number < 0 ? number + rank : number;
  };
  const int64_t a = axis(transpose.getDim0()), b = axis(transpose.getDim1());
  const bool areLast = std::min(a, b) == rank - 2 && std::max(a, b) == rank - 1;
  return areLast ? transpose.getX() : Value();
}

LogicalResult MatMulOp::canonicalize(MatMulOp op, PatternRewriter &rewriter) {
  Value lhs = transposedMatrices(op.getLhs());
  Value rhs = transposedMatrices(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (lhs) {
      op.getLhsMutable().assign(lhs);
      op.setTransposeA(!op.getTransposeA());
    }
    if (rhs) {
      op.getRhsMutable().assign(rhs);
      op.setTransposeB(!op.getTransposeB());
    }
  });
  return success();
}

/// Fails unless the leading dimensions of `result` are these: rule c3 of
/// embedding, c4 of linear.
static LogicalResult verifyLeading(Operation *op, const shapes::Shape &want,
                                   Value result) {
  shapes::Shape have = shapeOf(result);
  have.resize(std::min(have.size(), want.size()));
  if (have.size() == want.size() && shapes::sameShape(have, want))
    return success();
  return op->emitOpError() << "yields " << shapes::str(shapeOf(result))
                           << " for " << shapes::str(want)
                           << " rows, expected them as leading dimensions";
}

LogicalResult EmbeddingOp::verify() {
  // c3
  if (tensorType(getResult()).getRank() != tensorType(getIds()).getRank() + 1)
    return emitOpError() << "yields " << shapes::str(shapeOf(getResult()))
                         << " for ids " << shapes::str(shapeOf(getIds()))
                         << ", expected one more dimension";
  return verifyLeading(*this, shapeOf(getIds()), getResult());
}

LogicalResult EmbeddingOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c1, c2: the number of rows is arbitrary.
  return verifyParameter(
      *this, getWeightAttr(), "table",
      {ShapedType::kDynamic, tensorType(getResult()).getShape().back()},
      tables);
}

/// The dimensions of a tensor except the last one.
static shapes::Shape rowsOf(Value value) {
  shapes::Shape result = shapeOf(value);
  result.pop_back();
  return result;
}

std::optional<int64_t> LinearOp::getNumOutputs() {
  const int64_t leading = tensorType(getX()).getRank() - 1;
  if (leading < 0 || tensorType(getResult()).getRank() <= leading)
    return std::nullopt;
  int64_t product = 1;
  for (int64_t size : tensorType(getResult()).getShape().drop_front(leading))
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

LogicalResult LinearOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  // c4
  if (x.getRank() < 1 || result.getRank() < x.getRank())
    return emitOpError() << "yields " << shapes::str(shapeOf(getResult()))
                         << " for " << shapes::str(shapeOf(getX()))
                         << ", expected rows and at least as many dimensions";
  if (failed(verifyLeading(*this, rowsOf(getX()), getResult())))
    return failure();
  if (!getNumOutputs()) // c4
    return emitOpError() << "yields " << result
                         << ", whose number of outputs is not static";
  // c5
  if (x.getElementType() != result.getElementType() ||
      deviceOf(x) != deviceOf(result))
    return emitOpError() << "yields " << result << " for " << x
                         << ", expected the same element type and device";
  return success();
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &tables) {
  // verify() has already reported errors.
  if (tensorType(getX()).getRank() < 1 || !getNumOutputs())
    return success();
  const int64_t in = tensorType(getX()).getShape().back();
  const int64_t out = *getNumOutputs();
  // c1, c2
  if (failed(
          verifyParameter(*this, getWeightAttr(), "weight", {out, in}, tables)))
    return failure();
  // c1, c3
  if (FlatSymbolRefAttr bias = getBiasAttr())
    return verifyParameter(*this, bias, "bias", {out}, tables);
  return success();
}

std::optional<int64_t> LinearOp::getFlops() {
  return scaled(detail::numResultValues(*this),
                {2, tensorType(getX()).getShape().back()});
}

/// Linear to [rows…, heads, size] becomes linear to [rows…, heads * size] and a
/// view: a canonical form for conversions.
LogicalResult LinearOp::canonicalize(LinearOp op, PatternRewriter &rewriter) {
  if (!op.isSplit())
    return failure();
  shapes::Shape shape = shapeOf(op.getResult());
  shape.resize(tensorType(op.getX()).getRank() - 1, shapes::DimExpr());
  // A view preserves the dynamic sizes in order, as required here.
  shape.push_back(shapes::DimExpr(*op.getNumOutputs()));
  RankedTensorType type = makeTensorType(shape, op.getType().getElementType(),
                                         deviceOf(op.getType()));
  auto whole = LinearOp::create(rewriter, op.getLoc(), type, op.getX(),
                                op.getWeightAttr(), op.getBiasAttr());
  for (StringRef name : {kQuantWeightsAttr, kQuantInputsAttr})
    if (Attribute quant = op->getAttr(name))
      whole->setAttr(name, quant);
  rewriter.replaceOpWithNewOp<ViewOp>(op, op.getType(), whole);
  return success();
}

LogicalResult HeadLinearOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  // c3
  if (x.getRank() < 2 || x.isDynamicDim(x.getRank() - 2))
    return emitOpError() << "takes " << shapes::str(shapeOf(getX()))
                         << ", expected a static number of heads before the "
                            "last dimension";
  // c3
  if (result.getRank() != x.getRank() ||
      result.isDynamicDim(result.getRank() - 1))
    return emitOpError() << "yields " << shapes::str(shapeOf(getResult()))
                         << " for " << shapes::str(shapeOf(getX()))
                         << ", expected the same rank and a static last size";
  if (failed(verifyLeading(*this, rowsOf(getX()), getResult())))
    return failure();
  // c4
  if (x.getElementType() != result.getElementType() ||
      deviceOf(x) != deviceOf(result))
    return emitOpError() << "yields " << result << " for " << x
                         << ", expected the same element type and device";
  return success();
}

LogicalResult HeadLinearOp::verifySymbolUses(SymbolTableCollection &tables) {
  ArrayRef<int64_t> x = tensorType(getX()).getShape();
  if (x.size() < 2) // verify() has reported it.
    return success();
  // c1, c2
  return verifyParameter(
      *this, getWeightAttr(), "weight",
      {x[x.size() - 2], tensorType(getResult()).getShape().back(), x.back()},
      tables);
}

std::optional<int64_t> HeadLinearOp::getFlops() {
  return scaled(detail::numResultValues(*this),
                {2, tensorType(getX()).getShape().back()});
}

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c1, c2
  return verifyParameter(*this, getWeightAttr(), "parameter",
                         tensorType(getResult()).getShape(), tables);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

Expected<ResultTypes> RMSNormOp::inferResults(Adaptor op) {
  if (tensorType(op.getX()).getRank() < 1) // c4
    return shapes::shapeError("normalizes a tensor of rank 0, expected rows");
  return sameAs(op.getX()); // c5
}

LogicalResult RMSNormOp::verify() {
  return verifyPositive(*this, getEps(), "eps"); // c3
}

LogicalResult RMSNormOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (tensorType(getX()).getRank() < 1) // The trait reports it.
    return success();
  // c1, c2
  return verifyParameter(*this, getWeightAttr(), "weight",
                         {tensorType(getX()).getShape().back()}, tables);
}

std::optional<int64_t> RMSNormOp::getFlops() {
  return scaled(detail::numResultValues(*this), {4});
}

Expected<ResultTypes> LayerNormOp::inferResults(Adaptor op) {
  ArrayRef<int64_t> normalized = op.getNormalizedShape();
  shapes::Shape shape = shapeOf(op.getX());
  shapes::Shape want(normalized.begin(), normalized.end());
  // c4
  if (want.size() <= shape.size())
    shape.erase(shape.begin(), shape.end() - want.size());
  if (want.empty() || want.size() != shape.size() ||
      !shapes::sameShape(want, shape))
    return shapes::shapeError("normalizes the sizes " + shapes::str(want) +
                              ", which are not the last ones of " +
                              shapes::str(shapeOf(op.getX())));
  return sameAs(op.getX()); // c5
}

LogicalResult LayerNormOp::verify() {
  return verifyPositive(*this, getEps(), "eps"); // c3
}

LogicalResult LayerNormOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c1, c2
  if (FlatSymbolRefAttr weight = getWeightAttr())
    if (failed(verifyParameter(*this, weight, "weight", getNormalizedShape(),
                               tables)))
      return failure();
  if (FlatSymbolRefAttr bias = getBiasAttr())
    return verifyParameter(*this, bias, "bias", getNormalizedShape(), tables);
  return success();
}

std::optional<int64_t> LayerNormOp::getFlops() {
  return scaled(detail::numResultValues(*this), {7});
}

Expected<ResultTypes> LayerNorm2DOp::inferResults(Adaptor op) {
  if (tensorType(op.getX()).getRank() != 4) // c4
    return shapes::shapeError("normalizes the channels of " +
                              shapes::str(shapeOf(op.getX())) +
                              ", expected [batch, channels, height, width]");
  return sameAs(op.getX()); // c5
}

LogicalResult LayerNorm2DOp::verify() {
  return verifyPositive(*this, getEps(), "eps"); // c3
}

LogicalResult LayerNorm2DOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (tensorType(getX()).getRank() != 4) // The trait reports it.
    return success();
  const int64_t channels = tensorType(getX()).getDimSize(1);
  // c1, c2
  return failure(failed(verifyParameter(*this, getWeightAttr(), "weight",
                                        {channels}, tables)) ||
                 failed(verifyParameter(*this, getBiasAttr(), "bias",
                                        {channels}, tables)));
}

std::optional<int64_t> LayerNorm2DOp::getFlops() {
  return scaled(detail::numResultValues(*this), {7});
}

Expected<ResultTypes> SoftmaxOp::inferResults(Adaptor op) {
  Expected<int64_t> axis = shapes::normalizeAxis(
      int64_t(op.getAxis()), size_t(tensorType(op.getX()).getRank()));
  if (!axis) // c1
    return axis.takeStatus();
  return sameAs(op.getX()); // c2
}

std::optional<int64_t> SoftmaxOp::getFlops() {
  return scaled(detail::numResultValues(*this), {4});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

OpFoldResult ReLUOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<ReLUOp>();
  return inner && inner.getType() == getType() ? inner.getResult()
                                               : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Layer annotations and custom ops
//===----------------------------------------------------------------------===//

LogicalResult RegisterLayerOp::verify() {
  std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(
      ("mllm.linalg." + getOpType()).str(), getContext());
  if (name && name->hasInterface<LinalgOpInterface>())
    return success();
  // c1
  return emitOpError() << "registers @" << getSymName() << " as '"
                       << getOpType() << "', which is not an op of the level";
}

LogicalResult CustomizedOp::verify() {
  constexpr int64_t first = 4096;
  if (int64_t(getId()) >= first)
    return success();
  // c1
  return emitOpError() << "has the id " << int64_t(getId()) << ", expected "
                       << first << " or more";
}
