//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element-wise ops.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h"

#include "LinalgHelpers.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

//===----------------------------------------------------------------------===//
// Assembly of types
//===----------------------------------------------------------------------===//

/// Like BinaryTypes; without a right operand, like UnaryTypes.
static ParseResult
parseArithmeticTypes(OpAsmParser &parser,
                     const std::optional<OpAsmParser::UnresolvedOperand> &rhs,
                     Type &lhsType, Type &rhsType, Type &result) {
  if (rhs)
    return parseBinaryTypes(parser, lhsType, rhsType, result);
  return parseUnaryTypes(parser, lhsType, result);
}

static void printArithmeticTypes(OpAsmPrinter &printer, Operation *op,
                                 Value rhs, Type lhsType, Type rhsType,
                                 Type result) {
  if (rhs)
    printBinaryTypes(printer, op, lhsType, rhsType, result);
  else
    printUnaryTypes(printer, op, lhsType, result);
}

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMElementwiseOps.cpp.inc"

void MLLMDialect::addElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMElementwiseOps.cpp.inc"
      >();
}

static Type elementOf(Value value) {
  return tensorType(value).getElementType();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Expected<ResultTypes> llmir::mllm::detail::arithmeticOf(Value lhs, Value rhs,
                                                        FloatAttr scalar) {
  if (rhs && scalar) // c4
    return shapes::shapeError(
        "has both 'rhs' and 'scalar', expected one of them");
  if (!rhs && !scalar)
    return shapes::shapeError("has neither 'rhs' nor 'scalar', expected one of "
                              "them");
  if (rhs)
    return broadcastOf(lhs, rhs); // c1, c2
  LLMIR_RETURN_IF_ERROR(checkNumber(scalar, "scalar", elementOf(lhs))); // c5
  return sameAs(lhs);                                                   // c3
}

/// The left operand, if the scalar is bitwise equal to `neutral`.
static OpFoldResult foldNeutral(Operation *op, FloatAttr scalar,
                                double neutral) {
  if (!scalar || scalar.getValueAsDouble() != neutral ||
      std::signbit(scalar.getValueAsDouble()) != std::signbit(neutral))
    return {};
  return ifSameType(op, op->getOperand(0));
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  // For floats, only -0 preserves the sign of zeros.
  const bool isFloat = isa<FloatType>(elementOf(getLhs()));
  return foldNeutral(*this, getScalarAttr(), isFloat ? -0.0 : 0.0);
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  return foldNeutral(*this, getScalarAttr(), 0.0);
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  return foldNeutral(*this, getScalarAttr(), 1.0);
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  return foldNeutral(*this, getScalarAttr(), 1.0);
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return ifSameType(*this, inner.getX());
  return {};
}

OpFoldResult AbsOp::fold(FoldAdaptor) {
  if (getX().getDefiningOp<AbsOp>())
    return ifSameType(*this, getX());
  if (auto negated = getX().getDefiningOp<NegOp>()) {
    getXMutable().assign(negated.getX());
    return getResult();
  }
  return {};
}

LogicalResult ClipOp::verify() {
  const double least = getMinVal().convertToDouble();
  const double greatest = getMaxVal().convertToDouble();
  if (!(least <= greatest)) // c2
    return emitOpError() << "has 'min_val' " << least << " and 'max_val' "
                         << greatest << ", expected numbers in order";
  if (isa<FloatType>(elementOf(getX())))
    return success();
  // c3
  Status status = checkNumber(getMinValAttr(), "min_val", elementOf(getX()));
  if (status)
    status = checkNumber(getMaxValAttr(), "max_val", elementOf(getX()));
  return report(*this, status);
}

//===----------------------------------------------------------------------===//
// Fill
//===----------------------------------------------------------------------===//

namespace {
/// An attribute of fill, and the kinds that use it.
struct FillNumber {
  const char *name;
  Attribute attribute;
  llvm::SmallVector<FillKind, 2> readers;
};
} // namespace

LogicalResult FillOp::verify() {
  const FillNumber numbers[] = {
      {"value", getValueAttr(), {FillKind::Specific}},
      {"start", getStartAttr(), {FillKind::Arange, FillKind::Random}},
      {"end", getEndAttr(), {FillKind::Random}},
      {"step", getStepAttr(), {FillKind::Arange}},
      {"seed", getSeedAttr(), {FillKind::Random}}};
  for (const FillNumber &number : numbers) {
    const bool isRead = llvm::is_contained(number.readers, getKind());
    if (isRead != bool(number.attribute)) // c2
      return emitOpError() << stringifyFillKind(getKind())
                           << (isRead ? " needs '" : " does not read '")
                           << number.name << "'";
    // c3
    if (auto value = dyn_cast_or_null<FloatAttr>(number.attribute))
      if (Status status = checkNumber(value, number.name, elementOf(getX()));
          !status)
        return report(*this, status);
  }
  // c4
  if (getKind() == FillKind::Random && !(*getStart() < *getEnd()))
    return emitOpError() << "draws from " << getStart()->convertToDouble()
                         << " to below " << getEnd()->convertToDouble()
                         << ", expected numbers in order";
  return success();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// The result types of a predicate; c1, c2.
static Expected<ResultTypes> conditionOf(Value lhs, Value rhs) {
  Expected<ResultTypes> pairs = broadcastOf(lhs, rhs);
  if (!pairs)
    return pairs;
  return shaped(shapeOf(pairs->front()), lhs,
                IntegerType::get(lhs.getContext(), 1));
}

Expected<ResultTypes> EqualOp::inferResults(Adaptor op) {
  return conditionOf(op.getLhs(), op.getRhs()); // c1 to c3
}

Expected<ResultTypes> CompareOp::inferResults(Adaptor op) {
  return conditionOf(op.getLhs(), op.getRhs()); // c1 to c3
}

Expected<ResultTypes> WhereOp::inferResults(Adaptor op) {
  // c1
  LLMIR_RETURN_IF_ERROR(checkSameDevice(op.getOperands()));
  Expected<ResultTypes> pairs = broadcastOf(op.getLhs(), op.getRhs());
  if (!pairs)
    return pairs;
  // c2, c3
  return shaped(
      shapes::broadcast(shapeOf(op.getCondition()), shapeOf(pairs->front())),
      op.getLhs());
}

OpFoldResult WhereOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() ? ifSameType(*this, getLhs()) : OpFoldResult();
}

OpFoldResult LogicalAndOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() ? ifSameType(*this, getLhs()) : OpFoldResult();
}

OpFoldResult LogicalOrOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() ? ifSameType(*this, getLhs()) : OpFoldResult();
}

OpFoldResult LogicalNotOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<LogicalNotOp>())
    return ifSameType(*this, inner.getX());
  return {};
}
