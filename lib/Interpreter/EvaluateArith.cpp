//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of constants and arithmetic, element-wise on tensors and in the
// bodies of linalg ops.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

namespace {
using Unary = double (*)(double);
using Binary = double (*)(double, double);
using IntegerBinary = int64_t (*)(int64_t, int64_t);
} // namespace

/// Ops that only change the type; the caller rounds.
static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp,
             arith::TruncIOp>(op);
}

/// The maximum; NaN if either operand is NaN.
static double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}
static double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
}

/// Unary functions; the caller rounds.
static Unary getUnary(StringRef name) {
  static const llvm::StringMap<Unary> table = {
      {"arith.negf", +[](double x) { return -x; }},
      {"math.absf", +[](double x) { return std::fabs(x); }},
      {"math.acos", +[](double x) { return std::acos(x); }},
      {"math.acosh", +[](double x) { return std::acosh(x); }},
      {"math.asin", +[](double x) { return std::asin(x); }},
      {"math.asinh", +[](double x) { return std::asinh(x); }},
      {"math.atan", +[](double x) { return std::atan(x); }},
      {"math.atanh", +[](double x) { return std::atanh(x); }},
      {"math.cbrt", +[](double x) { return std::cbrt(x); }},
      {"math.ceil", +[](double x) { return std::ceil(x); }},
      {"math.cos", +[](double x) { return std::cos(x); }},
      {"math.cosh", +[](double x) { return std::cosh(x); }},
      {"math.erf", +[](double x) { return std::erf(x); }},
      {"math.erfc", +[](double x) { return std::erfc(x); }},
      {"math.exp", +[](double x) { return std::exp(x); }},
      {"math.exp2", +[](double x) { return std::exp2(x); }},
      {"math.expm1", +[](double x) { return std::expm1(x); }},
      {"math.floor", +[](double x) { return std::floor(x); }},
      {"math.log", +[](double x) { return std::log(x); }},
      {"math.log10", +[](double x) { return std::log10(x); }},
      {"math.log1p", +[](double x) { return std::log1p(x); }},
      {"math.log2", +[](double x) { return std::log2(x); }},
      {"math.round", +[](double x) { return std::round(x); }},
      {"math.roundeven", +[](double x) { return std::nearbyint(x); }},
      {"math.rsqrt", +[](double x) { return 1 / std::sqrt(x); }},
      {"math.sin", +[](double x) { return std::sin(x); }},
      {"math.sinh", +[](double x) { return std::sinh(x); }},
      {"math.sqrt", +[](double x) { return std::sqrt(x); }},
      {"math.tan", +[](double x) { return std::tan(x); }},
      {"math.tanh", +[](double x) { return std::tanh(x); }},
      {"math.trunc", +[](double x) { return std::trunc(x); }},
  };
  return table.lookup(name);
}

/// Binary float functions; the caller rounds.
static Binary getBinary(StringRef name) {
  static const llvm::StringMap<Binary> table = {
      {"arith.addf", +[](double a, double b) { return a + b; }},
      {"arith.subf", +[](double a, double b) { return a - b; }},
      {"arith.mulf", +[](double a, double b) { return a * b; }},
      {"arith.divf", +[](double a, double b) { return a / b; }},
      {"arith.remf", +[](double a, double b) { return std::fmod(a, b); }},
      {"arith.maxnumf", +[](double a, double b) { return std::fmax(a, b); }},
      {"arith.minnumf", +[](double a, double b) { return std::fmin(a, b); }},
      {"arith.maximumf", maximum},
      {"arith.minimumf", minimum},
      {"math.atan2", +[](double a, double b) { return std::atan2(a, b); }},
      {"math.copysign",
       +[](double a, double b) { return std::copysign(a, b); }},
      {"math.fpowi", +[](double a, double b) { return std::pow(a, b); }},
      {"math.powf", +[](double a, double b) { return std::pow(a, b); }},
  };
  return table.lookup(name);
}

static int64_t remainder(int64_t a, int64_t b) {
  return reference::difference(
      a, reference::product(b, reference::quotient(a, b)));
}

/// The quotient rounded toward minus (`by` = -1) or plus infinity (1).
static int64_t quotientToward(int64_t a, int64_t b, int64_t by) {
  int64_t quotient = reference::quotient(a, b), rest = remainder(a, b);
  bool isPositive = (rest < 0) == (b < 0);
  return b != 0 && rest != 0 && isPositive == (by > 0) ? quotient + by
                                                       : quotient;
}

/// Binary integer functions; the caller wraps. Division by zero yields 0.
static IntegerBinary getIntegerBinary(StringRef name) {
  static const llvm::StringMap<IntegerBinary> table = {
      {"arith.addi", reference::sum},
      {"arith.subi", reference::difference},
      {"arith.muli", reference::product},
      {"arith.divsi", reference::quotient},
      {"arith.remsi", remainder},
      {"arith.floordivsi",
       +[](int64_t a, int64_t b) { return quotientToward(a, b, -1); }},
      {"arith.ceildivsi",
       +[](int64_t a, int64_t b) { return quotientToward(a, b, 1); }},
      {"arith.andi", +[](int64_t a, int64_t b) { return a & b; }},
      {"arith.ori", +[](int64_t a, int64_t b) { return a | b; }},
      {"arith.xori", +[](int64_t a, int64_t b) { return a ^ b; }},
  };
  return table.lookup(name);
}

namespace {
/// Integers of a given width: unsigned, or as stored in tensors.
struct Bits {
  unsigned width;

  uint64_t toUnsigned(int64_t value) const {
    return width >= 64 ? uint64_t(value)
                       : uint64_t(value) & ((uint64_t(1) << width) - 1);
  }
  /// Sign-extended: an i1 stored as 1 is -1.
  int64_t toSigned(int64_t value) const {
    return llvm::SignExtend64(uint64_t(value), width);
  }
};
} // namespace

static Bits bitsOf(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return {type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64};
}

/// Signed, unsigned and bitwise integer functions.
static std::optional<Number> evaluateBits(Operation *op, ArrayRef<int64_t> x) {
  const Bits bits = bitsOf(op->getOperand(0));
  auto at = [&](size_t i) { return bits.toUnsigned(x[i]); };
  auto shift = [&](auto how) {
    return at(1) >= bits.width ? int64_t(0) : int64_t(how(at(0), at(1)));
  };
  using U = uint64_t;
  return llvm::TypeSwitch<Operation *, std::optional<Number>>(op)
      .Case([&](arith::DivUIOp) { return at(1) ? at(0) / at(1) : U(0); })
      .Case([&](arith::CeilDivUIOp) {
        return at(1) ? at(0) / at(1) + (at(0) % at(1) != 0) : U(0);
      })
      .Case([&](arith::RemUIOp) { return at(1) ? at(0) % at(1) : at(0); })
      .Case([&](arith::MaxSIOp) {
        return std::max(bits.toSigned(x[0]), bits.toSigned(x[1]));
      })
      .Case([&](arith::MinSIOp) {
        return std::min(bits.toSigned(x[0]), bits.toSigned(x[1]));
      })
      .Case([&](arith::MaxUIOp) { return std::max(at(0), at(1)); })
      .Case([&](arith::MinUIOp) { return std::min(at(0), at(1)); })
      .Case(
          [&](arith::ShLIOp) { return shift([](U a, U b) { return a << b; }); })
      .Case([&](arith::ShRUIOp) {
        return shift([](U a, U b) { return a >> b; });
      })
      .Case([&](arith::ShRSIOp) {
        return bits.toSigned(x[0]) >> std::min<uint64_t>(at(1), bits.width - 1);
      })
      .Case([&](math::CountLeadingZerosOp) {
        return int64_t(llvm::countl_zero(at(0))) + bits.width - 64;
      })
      .Case([&](math::CountTrailingZerosOp) {
        return std::min<int64_t>(llvm::countr_zero(at(0)), bits.width);
      })
      .Case([&](math::CtPopOp) { return int64_t(llvm::popcount(at(0))); })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(
          [&](auto) -> Number {
            if (isa<arith::UIToFPOp>(op))
              return double(at(0));
            return at(0);
          })
      .Case<arith::ExtSIOp, arith::SIToFPOp>(
          [&](auto) { return bits.toSigned(x[0]); })
      .Case([&](math::AbsIOp) {
        return x[0] < 0 ? reference::difference(0, x[0]) : x[0];
      })
      .Case([&](math::IPowIOp) {
        int64_t power = 1;
        if (x[1] < 0) // Only for 1 and -1 is it not between 0 and 1.
          return x[0] == 1    ? int64_t(1)
                 : x[0] == -1 ? (x[1] % 2 ? int64_t(-1) : int64_t(1))
                              : int64_t(0);
        for (int64_t rest = x[1], square = x[0]; rest > 0; rest >>= 1) {
          if (rest & 1)
            power = reference::product(power, square);
          square = reference::product(square, square);
        }
        return power;
      })
      .Default(std::nullopt);
}

/// Truncates and saturates a float to the result type; NaN becomes 0.
static int64_t wholeNumber(Operation *op, double x) {
  const bool isSigned = isa<arith::FPToSIOp>(op);
  const unsigned width = bitsOf(op->getResult(0)).width;
  const double end = std::ldexp(1, int(isSigned ? width - 1 : width));
  if (std::isnan(x) || (!isSigned && x < 0))
    return 0;
  if (x >= end)
    return isSigned ? INT64_MAX >> (64 - width) : -1; // All bits.
  if (x < -end)
    return INT64_MIN >> (64 - width);
  return isSigned ? int64_t(x) : int64_t(uint64_t(x));
}

/// Classification of floats.
static std::optional<bool> classify(Operation *op, double x) {
  const bool isSmallest = op->getNumOperands() == 1 && std::isfinite(x);
  return llvm::TypeSwitch<Operation *, std::optional<bool>>(op)
      .Case([&](math::IsFiniteOp) { return std::isfinite(x); })
      .Case([&](math::IsInfOp) { return std::isinf(x); })
      .Case([&](math::IsNaNOp) { return std::isnan(x); })
      .Case([&](math::IsNormalOp) {
        const auto &semantics =
            cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()))
                .getFloatSemantics();
        const double least =
            llvm::APFloat::getSmallestNormalized(semantics).convertToDouble();
        return isSmallest && std::fabs(x) >= least;
      })
      .Default(std::nullopt);
}

static bool compare(arith::CmpIPredicate predicate, Bits bits, int64_t a,
                    int64_t b) {
  const int64_t x = bits.toSigned(a), y = bits.toSigned(b);
  const uint64_t u = bits.toUnsigned(a), v = bits.toUnsigned(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return u == v;
  case arith::CmpIPredicate::ne:
    return u != v;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return u < v;
  case arith::CmpIPredicate::ule:
    return u <= v;
  case arith::CmpIPredicate::ugt:
    return u > v;
  case arith::CmpIPredicate::uge:
    return u >= v;
  }
  llvm_unreachable("one of the ten");
}

/// Ordered predicates are false for NaN, unordered ones true.
static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  const bool isUnordered = std::isnan(a) || std::isnan(b);
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !isUnordered;
  case P::UNO:
    return isUnordered;
  case P::OEQ:
    return a == b;
  case P::UEQ:
    return isUnordered || a == b;
  case P::ONE:
    return !isUnordered && a != b;
  case P::UNE:
    return a != b;
  case P::OLT:
    return a < b;
  case P::ULT:
    return isUnordered || a < b;
  case P::OLE:
    return a <= b;
  case P::ULE:
    return isUnordered || a <= b;
  case P::OGT:
    return a > b;
  case P::UGT:
    return isUnordered || a > b;
  case P::OGE:
    return a >= b;
  case P::UGE:
    return isUnordered || a >= b;
  }
  llvm_unreachable("one of the sixteen");
}

/// Bitcasts a 32-bit value.
static Number reinterpret(Operation *op, Number x) {
  uint32_t word;
  if (getElementTypeOrSelf(op->getOperand(0).getType()).isF32()) {
    float single = static_cast<float>(x.toDouble());
    std::memcpy(&word, &single, 4);
  } else {
    word = static_cast<uint32_t>(x.toInteger());
  }
  if (getElementTypeOrSelf(op->getResult(0).getType()).isInteger(32))
    return static_cast<int64_t>(static_cast<int32_t>(word));
  float single;
  std::memcpy(&single, &word, 4);
  return static_cast<double>(single);
}

std::optional<Number>
llmir::interpreter::evaluateScalar(Operation *op, ArrayRef<Number> operands) {
  StringRef name = op->getName().getStringRef();
  auto real = [&](size_t i) { return operands[i].toDouble(); };
  auto whole = [&](size_t i) { return operands[i].toInteger(); };
  if (isConversion(op))
    return operands[0];
  if (Unary unary = getUnary(name))
    return unary(real(0));
  if (Binary binary = getBinary(name))
    return binary(real(0), real(1));
  if (IntegerBinary binary = getIntegerBinary(name))
    return binary(whole(0), whole(1));
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return wholeNumber(op, real(0));
  if (isa<math::FmaOp>(op))
    return std::fma(real(0), real(1), real(2));
  if (isa<math::ClampFOp>(op))
    return minimum(maximum(real(0), real(1)), real(2));
  if (isa<arith::SelectOp>(op))
    return whole(0) != 0 ? operands[1] : operands[2];
  if (auto integers = dyn_cast<arith::CmpIOp>(op))
    return compare(integers.getPredicate(), bitsOf(integers.getLhs()), whole(0),
                   whole(1));
  if (auto floats = dyn_cast<arith::CmpFOp>(op))
    return compare(floats.getPredicate(), real(0), real(1));
  if (auto bits = dyn_cast<arith::BitcastOp>(op))
    return bitsOf(bits.getIn()).width == 32
               ? std::optional<Number>(reinterpret(op, operands[0]))
               : std::nullopt;
  if (std::optional<bool> is = classify(op, real(0)))
    return *is;
  SmallVector<int64_t> integers;
  for (const Number &number : operands)
    integers.push_back(number.toInteger());
  return evaluateBits(op, integers);
}

/// Element-wise; a scalar condition of a select selects whole tensors.
static LogicalResult evaluateElementwise(Operation *op, Evaluation &e) {
  SmallVector<const Tensor *> tensors;
  for (Value operand : op->getOperands())
    tensors.push_back(&e.tensor(operand));
  std::optional<ElementKind> kind =
      getElementKind(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!kind)
    return op->emitOpError("cannot be evaluated: unknown element type");
  Tensor result(*kind, tensors.back()->shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    SmallVector<Number> numbers;
    for (const Tensor *tensor : tensors)
      numbers.push_back(tensor->number(tensor->rank() == 0 ? 0 : i));
    std::optional<Number> value = evaluateScalar(op, numbers);
    if (!value)
      return op->emitOpError("cannot be evaluated: it has no evaluator");
    result[i] = *value;
  }
  return e.set(op->getResult(0), std::move(result));
}

static LogicalResult evaluateConstant(arith::ConstantOp op, Evaluation &e) {
  if (std::optional<Tensor> value = constantValue(op.getValue()))
    return e.set(op, std::move(*value));
  if (auto type = dyn_cast<RankedTensorType>(op.getType());
      type && !isAffordable(type.getShape()))
    return op.emitOpError()
           << "cannot be evaluated: " << type << " has more than 2^28 elements";
  return op.emitOpError()
         << "cannot be evaluated: the interpreter does not support "
            "values of type "
         << op.getType();
}

static constexpr StringLiteral kComputations[] = {
    "arith.addf",         "arith.addi",      "arith.andi",
    "arith.bitcast",      "arith.ceildivsi", "arith.ceildivui",
    "arith.cmpf",         "arith.cmpi",      "arith.divf",
    "arith.divsi",        "arith.divui",     "arith.extf",
    "arith.extsi",        "arith.extui",     "arith.floordivsi",
    "arith.fptosi",       "arith.fptoui",    "arith.index_cast",
    "arith.index_castui", "arith.maximumf",  "arith.maxnumf",
    "arith.maxsi",        "arith.maxui",     "arith.minimumf",
    "arith.minnumf",      "arith.minsi",     "arith.minui",
    "arith.mulf",         "arith.muli",      "arith.negf",
    "arith.ori",          "arith.remf",      "arith.remsi",
    "arith.remui",        "arith.select",    "arith.shli",
    "arith.shrsi",        "arith.shrui",     "arith.sitofp",
    "arith.subf",         "arith.subi",      "arith.truncf",
    "arith.trunci",       "arith.uitofp",    "arith.xori",
    "math.absf",          "math.absi",       "math.acos",
    "math.acosh",         "math.asin",       "math.asinh",
    "math.atan",          "math.atan2",      "math.atanh",
    "math.cbrt",          "math.ceil",       "math.clampf",
    "math.copysign",      "math.cos",        "math.cosh",
    "math.ctlz",          "math.ctpop",      "math.cttz",
    "math.erf",           "math.erfc",       "math.exp",
    "math.exp2",          "math.expm1",      "math.floor",
    "math.fma",           "math.fpowi",      "math.ipowi",
    "math.isfinite",      "math.isinf",      "math.isnan",
    "math.isnormal",      "math.log",        "math.log10",
    "math.log1p",         "math.log2",       "math.powf",
    "math.round",         "math.roundeven",  "math.rsqrt",
    "math.sin",           "math.sinh",       "math.sqrt",
    "math.tan",           "math.tanh",       "math.trunc"};

void llmir::interpreter::addArithEvaluators(EvaluatorTable &table) {
  table.add(evaluateConstant);
  for (StringRef name : kComputations)
    table.add(name, evaluateElementwise);
}
