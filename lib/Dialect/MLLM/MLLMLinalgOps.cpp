//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"

#include <cmath>

using namespace mlir;
using namespace llmir::mllm;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// A size as IR spells it: a number, or `?`.
static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

/// A shape as text, for example "172x64".
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape) {
    text += text.empty() ? "" : "x";
    text += sizeText(size);
  }
  return text;
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

static LogicalResult verifyPositive(Operation *op, const APFloat &value,
                                    StringRef name) {
  double number = value.convertToDouble();
  if (std::isfinite(number) && number > 0)
    return success();
  return op->emitOpError() << "'" << name << "' is " << number
                           << ", want a finite positive number";
}

/// Checks that `symbol` names a parameter of shape `want`; `role` is what the
/// op calls it.
static LogicalResult verifyParameter(Operation *op, FlatSymbolRefAttr symbol,
                                     StringRef role, ArrayRef<int64_t> want,
                                     SymbolTableCollection &tables) {
  Operation *found = tables.lookupNearestSymbolFrom(op, symbol);
  auto parameter = dyn_cast_or_null<RegisterOp>(found);
  if (!parameter) {
    InFlightDiagnostic error = op->emitOpError()
                               << role << " " << symbol
                               << " is not a registered tensor of the module";
    if (found)
      error.attachNote(found->getLoc())
          << "the symbol is '" << found->getName() << "'";
    return error;
  }
  // A malformed type is reported by the register op's own verifier.
  std::optional<ArrayRef<int64_t>> have = parameterShape(parameter.getType());
  if (!have || *have == want)
    return success();
  return (op->emitOpError()
          << role << " " << symbol << " has shape " << shapeText(*have)
          << ", but the op needs " << shapeText(want))
             .attachNote(parameter.getLoc())
         << "registered here";
}

//===----------------------------------------------------------------------===//
// Layers with parameters
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  // c3
  return verifySameTokens(*this, getIds(), "operand", getResult(), "result");
}

LogicalResult EmbeddingOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *found = tables.lookupNearestSymbolFrom(*this, getWeightAttr());
  auto table = dyn_cast_or_null<RegisterOp>(found);
  // c1, c2: any number of rows will do.
  int64_t rows = ShapedType::kDynamic;
  if (table)
    if (auto shape = parameterShape(table.getType());
        shape && shape->size() == 2)
      rows = shape->front();
  return verifyParameter(*this, getWeightAttr(), "table",
                         {rows, tensorType(getResult()).getDimSize(1)}, tables);
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
// Attention
//===----------------------------------------------------------------------===//

LogicalResult RoPEOp::verify() {
  int64_t count = getFrequencies().size();
  int64_t headDim = tensorType(getX()).getDimSize(2);
  // c1
  if (count < 1 || 2 * count > headDim)
    return emitOpError() << "has " << count << " frequencies for heads of size "
                         << headDim << ", want 1 to " << headDim / 2;
  // c2
  for (auto [index, frequency] : llvm::enumerate(getFrequencies()))
    if (!std::isfinite(frequency))
      return emitOpError() << "frequency #" << index << " is " << frequency
                           << ", want a finite number";
  // c3
  return verifyPositive(*this, getScaling(), "scaling");
}

LogicalResult KVCacheOp::verify() {
  Operation *op = *this;
  // c1
  if (failed(verifySameTokens(op, getK(), "k", getV(), "v")) ||
      failed(verifySameSize(op, getK(), "k", getV(), "v", 1, "heads")))
    return failure();
  // c2
  for (int64_t dim : {1, 2}) {
    StringRef unit = dim == 1 ? "heads" : "values per head";
    if (failed(verifySameSize(op, getK(), "k", getKeys(), "keys", dim, unit)) ||
        failed(
            verifySameSize(op, getV(), "v", getValues(), "values", dim, unit)))
      return failure();
  }
  // c3
  if (failed(verifySameTokens(op, getKeys(), "keys", getValues(), "values")))
    return failure();
  // c4
  if (static_cast<int64_t>(getLayer()) < 0)
    return emitOpError() << "'layer' is " << static_cast<int64_t>(getLayer())
                         << ", want 0 or more";
  return success();
}

LogicalResult FlashAttention2Op::verify() {
  Operation *op = *this;
  int64_t heads = tensorType(getQ()).getDimSize(1);
  int64_t keyHeads = tensorType(getK()).getDimSize(1);
  // c1
  if (keyHeads < 1 || heads % keyHeads != 0)
    return emitOpError() << "q has " << heads
                         << " heads, want a multiple of k's " << keyHeads;
  // c2
  if (failed(
          verifySameSize(op, getQ(), "q", getK(), "k", 2, "values per head")))
    return failure();
  // c3
  if (failed(verifySameTokens(op, getK(), "k", getV(), "v")) ||
      failed(verifySameSize(op, getK(), "k", getV(), "v", 1, "heads")))
    return failure();
  // c4
  if (failed(verifySameTokens(op, getQ(), "q", getResult(), "the result")) ||
      failed(verifySameSize(op, getQ(), "q", getResult(), "the result", 1,
                            "heads")) ||
      failed(verifySameSize(op, getV(), "v", getResult(), "the result", 2,
                            "values per head")))
    return failure();
  // c5
  return verifyPositive(op, getScale(), "scale");
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Values per token, that is the product of the sizes after the first; nullopt
/// when it overflows.
static std::optional<int64_t> valuesPerToken(Value value) {
  int64_t product = 1;
  for (int64_t size : tensorType(value).getShape().drop_front())
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

LogicalResult ViewOp::verify() {
  // c1
  if (failed(verifySameTokens(*this, getX(), "operand", getResult(), "result")))
    return failure();
  // c2
  std::optional<int64_t> have = valuesPerToken(getX());
  std::optional<int64_t> want = valuesPerToken(getResult());
  if (!have || !want || *have != *want)
    return emitOpError() << "operand has "
                         << (have ? std::to_string(*have) : "too many")
                         << " values per token, but result has "
                         << (want ? std::to_string(*want) : "too many");
  return success();
}
