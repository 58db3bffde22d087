//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarRegion.h"
#include "ProgramConversion.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Supported ops
//===----------------------------------------------------------------------===//

bool isScalarComputation(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         !isa<arith::ConstantOp>(op) && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         (isa<RankedTensorType>(op->getResult(0).getType()) ||
          op->getResult(0).getType().isIntOrIndexOrFloat());
}

TypedAttr constantNumber(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (isa<ElementsAttr>(attribute))
    return {};
  return dyn_cast<TypedAttr>(attribute);
}

/// A bitcast is valid only if both are buffer element types.
static bool isPlainBitcast(arith::BitcastOp op) {
  auto isWord = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF32() || element.isInteger(32);
  };
  return isWord(op.getIn().getType()) && isWord(op.getType());
}

/// A hint for an unsupported op; null for others.
static const char *alternativeTo(Operation &op) {
  if (op.getNumResults() != 1)
    return "compute each of its results with a separate op";
  if (isa<math::IPowIOp, math::FPowIOp>(op))
    return "raise floats to floats with math.powf";
  if (isa<arith::RemFOp>(op))
    return "write x - y * trunc(x / y) with arith.divf and math.trunc";
  if (auto bits = dyn_cast<arith::BitcastOp>(op); bits && !isPlainBitcast(bits))
    return "arith.bitcast is only supported for elements of 32 bits";
  if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op))
    return "multiply by the scale with arith.mulf";
  return nullptr;
}

bool hasScalarKernel(Operation &op) { return !alternativeTo(op); }

LogicalResult checkHasScalarKernel(Operation &op) {
  if (const char *instead = alternativeTo(op))
    return op.emitOpError("has no kernel in a program; ") << instead;
  return success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

RegionWriter::RegionWriter(OpBuilder &b, Block &block, Location loc,
                           ArrayRef<unsigned> order)
    : b(b), block(block), loc(loc), order(order) {
  for (size_t i = 0; i < order.size(); ++i)
    block.addArgument(b.getIndexType(), loc);
}

static bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

Value RegionWriter::addElement(Value name) {
  Type type = getElementTypeOrSelf(name.getType());
  Value element = block.addArgument(bufferElement(type), loc);
  Value value = element;
  if (type.isInteger(1))
    value = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne, element,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)));
  else if (type.isIndex())
    value = arith::IndexCastOp::create(b, loc, type, element);
  else if (isa<IntegerType>(type) && isa<FloatType>(element.getType()))
    value = arith::FPToSIOp::create(b, loc, type, element);
  values.map(name, value);
  return value;
}

Value RegionWriter::get(Value name) {
  if (Value known = values.lookupOrNull(name))
    return known;
  // The caller has checked that the op is supported.
  TypedAttr value = constantNumber(name);
  if (auto number = dyn_cast<FloatAttr>(value);
      number && isSmallFloat(number.getType()))
    value = b.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
  Value copy = arith::ConstantOp::create(b, loc, value);
  values.map(name, copy);
  return copy;
}

/// Whether division by this value may trap or is undefined.
static bool mayTrap(Value divisor) {
  auto number = dyn_cast_or_null<IntegerAttr>(constantNumber(divisor));
  return !number || number.getValue().isZero() || number.getValue().isAllOnes();
}

/// The replacement of an integer quotient or remainder, which is always
/// defined. Null for any other op.
static Value emitDivision(OpBuilder &b, Location loc, Operation &op,
                          ArrayRef<Value> x) {
  using namespace mllm::program;
  using Rounding = QuotientRounding;
  if (isa<arith::DivSIOp>(op))
    return emitQuotient(b, loc, x[0], x[1], Rounding::TowardZero);
  if (isa<arith::FloorDivSIOp>(op))
    return emitQuotient(b, loc, x[0], x[1], Rounding::Down);
  if (isa<arith::CeilDivSIOp>(op))
    return emitQuotient(b, loc, x[0], x[1], Rounding::Up);
  if (isa<arith::DivUIOp>(op))
    return emitUnsignedQuotient(b, loc, x[0], x[1], Rounding::TowardZero);
  if (isa<arith::CeilDivUIOp>(op))
    return emitUnsignedQuotient(b, loc, x[0], x[1], Rounding::Up);
  Value quotient;
  if (isa<arith::RemSIOp>(op))
    quotient = emitQuotient(b, loc, x[0], x[1], Rounding::TowardZero);
  else if (isa<arith::RemUIOp>(op))
    quotient = emitUnsignedQuotient(b, loc, x[0], x[1], Rounding::TowardZero);
  else
    return Value();
  return arith::SubIOp::create(b, loc, x[0],
                               arith::MulIOp::create(b, loc, x[1], quotient));
}

/// Emits a shift whose amount may be the width of the type or more, which is
/// undefined in MLIR; the result is then the sign. Null for any other op.
static Value emitShift(OpBuilder &b, Location loc, Operation &op,
                       ArrayRef<Value> x) {
  if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return Value();
  Type type = x[0].getType();
  const int64_t width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto amount = dyn_cast_or_null<IntegerAttr>(constantNumber(op.getOperand(1)));
  if (amount && amount.getValue().ult(uint64_t(width)))
    return Value();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  Value most = number(width - 1);
  if (isa<arith::ShRSIOp>(op))
    return arith::ShRSIOp::create(b, loc, x[0],
                                  arith::MinUIOp::create(b, loc, x[1], most));
  Value shifted = isa<arith::ShLIOp>(op)
                      ? Value(arith::ShLIOp::create(b, loc, x[0], x[1]))
                      : Value(arith::ShRUIOp::create(b, loc, x[0], x[1]));
  Value isInside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, x[1], most);
  return arith::SelectOp::create(b, loc, isInside, shifted, number(0));
}

/// Emits a float op that is undefined in MLIR for some operands, or is not
/// lowered to instructions. Null for any other op.
static Value emitOfFloats(OpBuilder &b, Location loc, Operation &op,
                          ArrayRef<Value> x) {
  using namespace mllm::program;
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return emitToInteger(
        b, loc, x[0],
        cast<IntegerType>(getElementTypeOrSelf(op.getResult(0).getType())),
        isa<arith::FPToSIOp>(op));
  if (isa<math::ClampFOp>(op))
    return arith::MinimumFOp::create(
        b, loc, arith::MaximumFOp::create(b, loc, x[0], x[1]), x[2]);
  if (!isa<math::IsInfOp, math::IsNormalOp>(op))
    return Value();
  auto type = cast<FloatType>(x[0].getType());
  auto compare = [&](arith::CmpFPredicate predicate, Value size,
                     double bound) -> Value {
    return arith::CmpFOp::create(
        b, loc, predicate, size,
        arith::ConstantOp::create(b, loc, b.getFloatAttr(type, bound)));
  };
  Value size = math::AbsFOp::create(b, loc, x[0]);
  if (isa<math::IsInfOp>(op))
    return compare(arith::CmpFPredicate::OEQ, size, INFINITY);
  // With the type of the op: 16-bit floats are computed in f32.
  auto named =
      cast<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType()));
  const double least = APFloat::getSmallestNormalized(named.getFloatSemantics())
                           .convertToDouble();
  return arith::AndIOp::create(
      b, loc, compare(arith::CmpFPredicate::OGE, size, least),
      compare(arith::CmpFPredicate::OLT, size, INFINITY));
}

/// The type in which kernels compute values of an element type.
static Type computedType(OpBuilder &b, Type type) {
  Type element = getElementTypeOrSelf(type);
  return isSmallFloat(element) ? b.getF32Type() : element;
}

Value emitComputation(OpBuilder &b, Location loc, Operation &op,
                      ArrayRef<Value> operands) {
  Type type = computedType(b, op.getResult(0).getType());
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && operands[0].getType() == type)
    return operands[0];
  if (op.getNumOperands() == 2 && mayTrap(op.getOperand(1)))
    if (Value quotient = emitDivision(b, loc, op, operands))
      return quotient;
  if (Value shifted = emitShift(b, loc, op, operands))
    return shifted;
  if (Value value = emitOfFloats(b, loc, op, operands))
    return value;
  OperationState state(loc, op.getName(), operands, type);
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

void RegionWriter::clone(Operation &op) {
  Value result = op.getResult(0);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return values.map(result, block.getArgument(order[index.getDim()]));
  if (isa<arith::ConstantOp>(op))
    return; // Created at its use.
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  values.map(result, mllm::program::emitRound(
                         b, loc, emitComputation(b, loc, op, operands),
                         getElementTypeOrSelf(result.getType())));
}

void RegionWriter::yield(Value name) {
  Value value = get(name);
  Type type = getElementTypeOrSelf(name.getType());
  if (type.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI32Type(), value);
  else if (type.isIndex())
    value = arith::IndexCastOp::create(b, loc, bufferElement(type), value);
  else if (isa<IntegerType>(type) && bufferElement(type).isF32())
    value = arith::SIToFPOp::create(b, loc, b.getF32Type(), value);
  mllm::program::YieldOp::create(b, loc, value);
}

} // namespace llmir
