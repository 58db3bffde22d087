//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the rules that ODS cannot express. Labels (c1, …) are those of
// the op's description in LLMOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

LogicalResult mlir::llm::verifyRepeated(Operation *op, StringRef name,
                                        std::optional<int64_t> given,
                                        int64_t actual, StringRef owner) {
  if (!given || sizesAgree(*given, actual))
    return success();
  return op->emitOpError() << name << " is " << *given << ", but the " << owner
                           << " has " << actual;
}

std::string mlir::llm::shapeToString(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os, [&](int64_t size) {
    ShapedType::isDynamic(size) ? os << '?' : os << size;
  });
  os << ']';
  return text;
}

LogicalResult mlir::llm::verifyHasScales(Operation *op, Type weight) {
  auto quantized = dyn_cast<QuantizedTensorType>(weight);
  if (!quantized || !quantized.getFormat().empty())
    return success();
  return op->emitOpError() << "has a weight of type " << weight
                           << " without a format and therefore without scales";
}

LogicalResult mlir::llm::verifyEps(Operation *op, StringRef name,
                                   FloatAttr eps) {
  double value = eps.getValueAsDouble();
  if (value >= 0 && std::isfinite(value))
    return success();
  return op->emitOpError() << name << " must be finite and not negative, not "
                           << eps;
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *declaration =
      symbols.lookupNearestSymbolFrom(*this, getNameAttr());
  if (!declaration) // c1
    return emitOpError() << "refers to " << getNameAttr()
                         << ", which is not declared";
  auto type = declaration->getAttrOfType<TypeAttr>("type");
  if (type && type.getValue() != getType()) { // c2
    InFlightDiagnostic diag = emitOpError()
                              << "has type " << getType() << ", but "
                              << getNameAttr() << " has type " << type;
    diag.attachNote(declaration->getLoc()) << "declared here";
    return diag;
  }
  return success();
}

LogicalResult EmbeddingOp::verify() {
  int64_t tokens = tensorType(getIds()).getDimSize(0);
  int64_t columns = getWeightShape(getTable().getType())[1];
  ArrayRef<int64_t> shape = getType().getShape();
  if (!sizesAgree(shape[0], tokens)) // c1
    return emitOpError() << "has " << tokens << " ids, but a result of "
                         << shape[0] << " rows";
  if (!sizesAgree(shape[1], columns)) // c1
    return emitOpError() << "has a table of " << columns
                         << " columns, but a result of " << shape[1];
  return verifyHasScales(*this, getTable().getType()); // c2
}

LogicalResult LinearOp::verify() {
  int64_t inputs = tensorType(getX()).getShape().back();
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  if (!sizesAgree(inputs, weight[1])) // c1
    return emitOpError() << "has rows of " << inputs
                         << " elements, but a weight of " << weight[1]
                         << " inputs";
  if (Value bias = getBias()) {
    int64_t entries = tensorType(bias).getDimSize(0);
    if (!sizesAgree(entries, weight[0])) // c2
      return emitOpError() << "has a bias of " << entries
                           << " elements, but a weight of " << weight[0]
                           << " outputs";
  }
  return verifyHasScales(*this, getWeight().getType()); // c3
}

LogicalResult LayerNormOp::verify() {
  int64_t row = tensorType(getX()).getShape().back();
  if (Value weight = getWeight()) {
    int64_t entries = tensorType(weight).getDimSize(0);
    if (!sizesAgree(row, entries)) // c1
      return emitOpError() << "has rows of " << row
                           << " elements, but a weight of " << entries;
  }
  if (Value bias = getBias()) {
    int64_t entries = tensorType(bias).getDimSize(0);
    if (!sizesAgree(row, entries)) // c2
      return emitOpError() << "has rows of " << row
                           << " elements, but a bias of " << entries;
    if (!getWeight()) // c3
      return emitOpError() << "has a bias of " << entries
                           << " elements, but no weight";
  }
  return verifyEps(*this, "eps", getEpsAttr()); // c4
}

LogicalResult RMSNormOp::verify() {
  int64_t row = tensorType(getX()).getShape().back();
  if (Value weight = getWeight()) {
    int64_t entries = tensorType(weight).getDimSize(0);
    if (!sizesAgree(row, entries)) // c1
      return emitOpError() << "has rows of " << row
                           << " elements, but a weight of " << entries;
  }
  return verifyEps(*this, "eps", getEpsAttr()); // c2
}

LogicalResult RopeOp::verify() {
  int64_t tokens = tensorType(getX()).getDimSize(0);
  int64_t positions = tensorType(getPositions()).getDimSize(0);
  if (!sizesAgree(tokens, positions)) // c1
    return emitOpError() << "has " << tokens << " tokens, but " << positions
                         << " positions";

  int64_t headDim = tensorType(getX()).getDimSize(2);
  int64_t pairs = getFrequencies().size();
  if (pairs == 0 ||
      (!ShapedType::isDynamic(headDim) && 2 * pairs > headDim)) // c2
    return emitOpError() << "has " << pairs << " frequencies for heads of "
                         << headDim
                         << " elements; expected 1 to half of the head size";

  for (double frequency : getFrequencies())
    if (!std::isfinite(frequency)) // c3
      return emitOpError() << "frequency " << frequency << " is not finite";
  if (!getScaling().isFinite()) // c3
    return emitOpError() << "scaling " << getScalingAttr() << " is not finite";
  return success();
}

LogicalResult GeluOp::verify() {
  if (!llvm::is_contained({"none", "tanh", "quick"}, getApproximate())) // c1
    return emitOpError() << "approximate must be none, tanh or quick, not "
                         << getApproximate();
  return success();
}

LogicalResult MeanRowsOp::verify() {
  int64_t rank = tensorType(getX()).getRank();
  if (rank < 2) // c1
    return emitOpError() << "x must have rank 2 or more, not " << rank;
  if (tensorType(getOffsets()).getDimSize(0) == 0) // c2
    return emitOpError() << "offsets must have an element";
  return success();
}

LogicalResult SelectRowsOp::verify() {
  int64_t rank = tensorType(getX()).getRank();
  if (rank < 2) // c1
    return emitOpError() << "x must have rank 2 or more, not " << rank;
  return success();
}
