//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise ops.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"
#include "llmir/Dialect/MLLM/ScalarFunctions.h"
#include "llmir/Reference/Random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The quotient of integers as specified by mllm.linalg.div. Up to 32 bits it
/// is computed in f64, which is exact and faster.
static Value divideIntegers(OpBuilder &b, Location loc, Value x, Value y) {
  Type element = x.getType(), f64 = b.getF64Type();
  Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, 0));
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, 1));
  Value isZero =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  Value divisor = arith::SelectOp::create(b, loc, isZero, one, y);
  Value quotient;
  if (element.isInteger(64)) { // Kernels wrap the minimum divided by -1.
    quotient = arith::DivSIOp::create(b, loc, x, divisor);
  } else {
    Value real =
        arith::DivFOp::create(b, loc, arith::SIToFPOp::create(b, loc, f64, x),
                              arith::SIToFPOp::create(b, loc, f64, divisor));
    // Wide enough for the minimum divided by -1, which wraps to itself.
    Value wide = arith::FPToSIOp::create(b, loc, b.getI64Type(), real);
    quotient = arith::TruncIOp::create(b, loc, element, wide);
  }
  return arith::SelectOp::create(b, loc, isZero, zero, quotient);
}

namespace {
enum class Arithmetic { Add, Sub, Mul, Div };
} // namespace

static Value combine(OpBuilder &b, Location loc, Arithmetic how, Value x,
                     Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (how) {
  case Arithmetic::Add:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  case Arithmetic::Sub:
    return isFloat ? Value(arith::SubFOp::create(b, loc, x, y))
                   : Value(arith::SubIOp::create(b, loc, x, y));
  case Arithmetic::Mul:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y))
                   : Value(arith::MulIOp::create(b, loc, x, y));
  case Arithmetic::Div:
    return isFloat ? Value(arith::DivFOp::create(b, loc, x, y))
                   : divideIntegers(b, loc, x, y);
  }
  llvm_unreachable("one of the four");
}

/// A constant of the type in which scalar regions compute.
static Value scalarConstant(OpBuilder &b, Location loc, Type element,
                            double number) {
  Type type = isa<FloatType>(element) ? b.getF32Type() : element;
  return arith::ConstantOp::create(b, loc, numberAttr(type, number));
}

/// Whether llm has the op for these operands: rows of floats of one shape,
/// which can be fused with their producers.
static bool isOfRows(OpLowering &l, Operation *op) {
  RankedTensorType result = l.resultType();
  return isa<FloatType>(result.getElementType()) && result.getRank() > 0 &&
         (!l.state.step || !result.hasStaticShape()) &&
         llvm::all_of(op->getOperandTypes(),
                      [&](Type type) { return type == result; });
}

template <Arithmetic how, typename OpTy>
static LogicalResult lowerArithmetic(OpLowering &l, OpTy op) {
  Type element = op.getType().getElementType();
  SmallVector<Value> inputs(op->getOperands());
  std::optional<APFloat> scalar = op.getScalar();
  if (!scalar && isOfRows(l, op)) {
    if constexpr (how == Arithmetic::Add)
      return l.replace(
          ll::AddOp::create(l.b(), inputs[0], inputs[1]).getResult());
    if constexpr (how == Arithmetic::Mul)
      return l.replace(
          ll::MulOp::create(l.b(), inputs[0], inputs[1]).getResult());
  }
  return l.replace(l.elementwise(
      l.resultType(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value rhs =
            scalar ? scalarConstant(b, loc, element, scalar->convertToDouble())
                   : x[1];
        return combine(b, loc, how, x[0], rhs);
      }));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using Function = Value (*)(OpBuilder &, Location, Value);

/// f of each element, for floats.
template <Function function, typename OpTy>
static LogicalResult lowerFunction(OpLowering &l, OpTy op) {
  return l.replace(l.elementwise(l.resultType(), op.getX(),
                                 [](OpBuilder &b, Location loc, ValueRange x) {
                                   return function(b, loc, x[0]);
                                 }));
}

static Value emitNegative(OpBuilder &b, Location loc, Value x) {
  if (isa<FloatType>(x.getType()))
    return arith::NegFOp::create(b, loc, x);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(x.getType()));
  return arith::SubIOp::create(b, loc, zero, x);
}

static Value emitAbsolute(OpBuilder &b, Location loc, Value x) {
  if (isa<FloatType>(x.getType()))
    return math::AbsFOp::create(b, loc, x);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(x.getType()));
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, zero);
  return arith::SelectOp::create(b, loc, isNegative, emitNegative(b, loc, x),
                                 x);
}

static Value emitSigmoid(OpBuilder &b, Location loc, Value x) {
  Value one = scalarConstant(b, loc, x.getType(), 1.0);
  Value e = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
  return arith::DivFOp::create(b, loc, one,
                               arith::AddFOp::create(b, loc, one, e));
}

/// `limit` where x is beyond it; NaN is not.
static Value limitBy(OpBuilder &b, Location loc, Value x, Value limit,
                     bool isLeast) {
  Value isBeyond =
      isa<FloatType>(x.getType())
          ? Value(arith::CmpFOp::create(b, loc,
                                        isLeast ? arith::CmpFPredicate::OLT
                                                : arith::CmpFPredicate::OGT,
                                        x, limit))
          : Value(arith::CmpIOp::create(b, loc,
                                        isLeast ? arith::CmpIPredicate::slt
                                                : arith::CmpIPredicate::sgt,
                                        x, limit));
  return arith::SelectOp::create(b, loc, isBeyond, limit, x);
}

static Value emitReLU(OpBuilder &b, Location loc, Value x) {
  return limitBy(b, loc, x, scalarConstant(b, loc, x.getType(), 0.0),
                 /*isLeast=*/true);
}

template <typename MathOp>
static Value emitMath(OpBuilder &b, Location loc, Value x) {
  return MathOp::create(b, loc, x);
}

static LogicalResult lower(OpLowering &l, mllm::SiLUOp op) {
  if (isOfRows(l, op))
    return l.replace(ll::SiluOp::create(l.b(), op.getX()).getResult());
  return lowerFunction<mllm::program::emitSilu>(l, op);
}

static LogicalResult lower(OpLowering &l, mllm::QuickGELUOp op) {
  if (isOfRows(l, op))
    return l.replace(ll::GeluOp::create(l.b(), op.getX().getType(), op.getX(),
                                        l.b().getStringAttr("quick"))
                         .getResult());
  return lowerFunction<mllm::program::emitGeluQuick>(l, op);
}

static LogicalResult lower(OpLowering &l, mllm::GELUOp op) {
  if (isOfRows(l, op))
    return l.replace(ll::GeluOp::create(l.b(), op.getX().getType(), op.getX(),
                                        op.getApproximateAttr())
                         .getResult());
  Function function = op.getApproximate() == "tanh"
                          ? mllm::program::emitGeluTanh
                          : Function(mllm::program::emitGelu);
  return l.replace(l.elementwise(l.resultType(), op.getX(),
                                 [&](OpBuilder &b, Location loc, ValueRange x) {
                                   return function(b, loc, x[0]);
                                 }));
}

static LogicalResult lower(OpLowering &l, mllm::ClipOp op) {
  return l.replace(l.elementwise(
      l.resultType(), op.getX(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Type element = x[0].getType();
        auto limit = [&](const APFloat &number) {
          return scalarConstant(b, loc, element, number.convertToDouble());
        };
        Value value = limitBy(b, loc, x[0], limit(op.getMinVal()), true);
        return limitBy(b, loc, value, limit(op.getMaxVal()), false);
      }));
}

//===----------------------------------------------------------------------===//
// Fill
//===----------------------------------------------------------------------===//

/// Element i of the result in row-major order.
static Value emitFlatIndex(OpBuilder &b, Location loc,
                           ArrayRef<int64_t> shape) {
  Value flat = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [d, size] : llvm::enumerate(shape)) {
    Value i = linalg::IndexOp::create(b, loc, d);
    Value factor = arith::ConstantIndexOp::create(b, loc, size);
    flat = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, flat, factor), i);
  }
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), flat);
}

/// start + i * step, in f64, or in i64 for integers.
static Value fillRange(OpLowering &l, RankedTensorType type, double start,
                       double step) {
  Type element = type.getElementType();
  return l.elementwise(
      type, {}, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
        Value i = emitFlatIndex(b, loc, type.getShape());
        Type wide = isa<FloatType>(element) ? Type(b.getF64Type())
                                            : Type(b.getI64Type());
        auto number = [&](double value) -> Value {
          return arith::ConstantOp::create(b, loc, numberAttr(wide, value));
        };
        if (isa<FloatType>(element)) {
          Value real = arith::SIToFPOp::create(b, loc, wide, i);
          Value value = arith::AddFOp::create(
              b, loc, number(start),
              arith::MulFOp::create(b, loc, real, number(step)));
          return arith::TruncFOp::create(b, loc, b.getF32Type(), value);
        }
        Value whole = arith::AddIOp::create(
            b, loc, number(start),
            arith::MulIOp::create(b, loc, i, number(step)));
        if (element == wide)
          return whole;
        return arith::TruncIOp::create(b, loc, element, whole);
      });
}

/// Deterministic values are constants.
static Value fillRandom(OpLowering &l, RankedTensorType type, mllm::FillOp op) {
  reference::Random random(static_cast<uint64_t>(op.getSeed().value_or(0)));
  double least = op.getStart()->convertToDouble();
  double end = op.getEnd()->convertToDouble();
  Type element = type.getElementType();
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    if (isa<FloatType>(element))
      numbers.push_back(numberAttr(element, random.real(least, end)));
    else
      numbers.push_back(numberAttr(
          element, random.integer(reference::Number(least).toInteger(),
                                  reference::Number(end).toInteger())));
  }
  return l.constant(DenseElementsAttr::get(type, numbers));
}

static LogicalResult lower(OpLowering &l, mllm::FillOp op) {
  RankedTensorType type = l.resultType();
  auto numberOf = [](std::optional<APFloat> number) {
    return number ? number->convertToDouble() : 0.0;
  };
  const double start = numberOf(op.getStart()), step = numberOf(op.getStep());
  switch (op.getKind()) {
  case mllm::FillKind::Zeros:
    return l.replace(l.filled(type, 0.0));
  case mllm::FillKind::Ones:
    return l.replace(l.filled(type, 1.0));
  case mllm::FillKind::Specific:
    return l.replace(l.filled(type, op.getValue()->convertToDouble()));
  case mllm::FillKind::Random:
    return l.replace(fillRandom(l, type, op));
  case mllm::FillKind::Arange:
    return l.replace(fillRange(l, type, start, step));
  }
  llvm_unreachable("one of the five");
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult lowerComparison(OpLowering &l, OpTy op,
                                     arith::CmpFPredicate floats,
                                     arith::CmpIPredicate integers) {
  SmallVector<Value> inputs(op->getOperands());
  return l.replace(l.elementwise(
      l.resultType(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        if (isa<FloatType>(x[0].getType()))
          return arith::CmpFOp::create(b, loc, floats, x[0], x[1]);
        return arith::CmpIOp::create(b, loc, integers, x[0], x[1]);
      }));
}

static LogicalResult lower(OpLowering &l, mllm::EqualOp op) {
  return lowerComparison(l, op, arith::CmpFPredicate::OEQ,
                         arith::CmpIPredicate::eq);
}

static LogicalResult lower(OpLowering &l, mllm::CompareOp op) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (op.getComparison()) {
  case mllm::Comparison::NotEqual:
    return lowerComparison(l, op, F::UNE, I::ne);
  case mllm::Comparison::Less:
    return lowerComparison(l, op, F::OLT, I::slt);
  case mllm::Comparison::LessEqual:
    return lowerComparison(l, op, F::OLE, I::sle);
  case mllm::Comparison::Greater:
    return lowerComparison(l, op, F::OGT, I::sgt);
  case mllm::Comparison::GreaterEqual:
    return lowerComparison(l, op, F::OGE, I::sge);
  }
  llvm_unreachable("one of the five");
}

template <typename ScalarOp, typename OpTy>
static LogicalResult lowerLogical(OpLowering &l, OpTy op) {
  SmallVector<Value> inputs(op->getOperands());
  return l.replace(
      l.elementwise(l.resultType(), inputs,
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      return ScalarOp::create(b, loc, x[0], x[1]);
                    }));
}

static Value emitNot(OpBuilder &b, Location loc, Value x) {
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, loc, x, yes);
}

static LogicalResult lower(OpLowering &l, mllm::WhereOp op) {
  SmallVector<Value> inputs(op->getOperands());
  return l.replace(
      l.elementwise(l.resultType(), inputs,
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      return arith::SelectOp::create(b, loc, x[0], x[1], x[2]);
                    }));
}

static LogicalResult lower(OpLowering &l, mllm::CastTypeOp op) {
  return l.replace(l.cast(op.getX(), l.resultType().getElementType()));
}

void addElementwiseLowerings(LoweringTable &table) {
  table.add<mllm::AddOp>(lowerArithmetic<Arithmetic::Add>);
  table.add<mllm::SubOp>(lowerArithmetic<Arithmetic::Sub>);
  table.add<mllm::MulOp>(lowerArithmetic<Arithmetic::Mul>);
  table.add<mllm::DivOp>(lowerArithmetic<Arithmetic::Div>);
  table.add<mllm::NegOp>(lowerFunction<emitNegative>);
  table.add<mllm::AbsOp>(lowerFunction<emitAbsolute>);
  table.add<mllm::LogOp>(lowerFunction<emitMath<math::LogOp>>);
  table.add<mllm::ExpOp>(lowerFunction<emitMath<math::ExpOp>>);
  table.add<mllm::SinOp>(lowerFunction<emitMath<math::SinOp>>);
  table.add<mllm::CosOp>(lowerFunction<emitMath<math::CosOp>>);
  table.add<mllm::SiLUOp>(lower);
  table.add<mllm::QuickGELUOp>(lower);
  table.add<mllm::SigmoidOp>(lowerFunction<emitSigmoid>);
  table.add<mllm::ReLUOp>(lowerFunction<emitReLU>);
  table.add<mllm::GELUOp>(lower);
  table.add<mllm::ClipOp>(lower);
  table.add<mllm::FillOp>(lower);
  table.add<mllm::EqualOp>(lower);
  table.add<mllm::CompareOp>(lower);
  table.add<mllm::LogicalAndOp>(lowerLogical<arith::AndIOp>);
  table.add<mllm::LogicalOrOp>(lowerLogical<arith::OrIOp>);
  table.add<mllm::LogicalNotOp>(lowerFunction<emitNot>);
  table.add<mllm::WhereOp>(lower);
  table.add<mllm::CastTypeOp>(lower);
}

} // namespace llmir
