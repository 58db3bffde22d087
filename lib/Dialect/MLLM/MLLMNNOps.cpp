//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: projections, norms, activations over rows.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMNNOps.h"

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
}

/// A size as IR spells it: a number, or `?`.
static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

/// Checks that two values have equal sizes in dimension `dim`; `what` names
/// that dimension's unit in the plural.
static LogicalResult verifySameSize(Operation *op, Value a, StringRef aName,
                                    Value b, StringRef bName, int64_t dim,
                                    StringRef what) {
  int64_t aSize = tensorType(a).getDimSize(dim);
  int64_t bSize = tensorType(b).getDimSize(dim);
  if (aSize == bSize)
    return success();
  return op->emitOpError() << aName << " has " << sizeText(aSize) << " " << what
                           << ", but " << bName << " has " << sizeText(bSize);
}

static LogicalResult verifySameTokens(Operation *op, Value a, StringRef aName,
                                      Value b, StringRef bName) {
  return verifySameSize(op, a, aName, b, bName, 0, "tokens");
}

LogicalResult EmbeddingOp::verify() {
  // c3
  return verifySameTokens(*this, getIds(), "operand", getResult(), "result");
}

LogicalResult EmbeddingOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c1, c2: any number of rows will do.
  return verifyParameter(
      *this, getWeightAttr(), "table",
      {ShapedType::kDynamic, tensorType(getResult()).getShape().back()},
      tables);
}

LogicalResult LinearOp::verify() {
  // c4
  return verifySameTokens(*this, getX(), "operand", getResult(), "result");
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &tables) {
  int64_t in = tensorType(getX()).getDimSize(1);
  int64_t out = tensorType(getResult()).getDimSize(1);
  // c1, c2
  if (failed(
          verifyParameter(*this, getWeightAttr(), "weight", {out, in}, tables)))
    return failure();
  // c1, c3
  if (FlatSymbolRefAttr bias = getBiasAttr())
    return verifyParameter(*this, bias, "bias", {out}, tables);
  return success();
}

LogicalResult RMSNormOp::verify() {
  // c3
  return verifyPositive(*this, getEps(), "eps");
}

LogicalResult RMSNormOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c1, c2
  return verifyParameter(*this, getWeightAttr(), "weight",
                         {tensorType(getX()).getShape().back()}, tables);
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

Expected<ResultTypes> SoftmaxOp::inferResults(Adaptor op) {
  // c1
  Expected<int64_t> axis =
      shapes::normalizeAxis(op.getAxis(), tensorType(op.getX()).getRank());
  if (!axis)
    return axis.takeStatus();
  return sameAs(op.getX()); // c2
}
