//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of constants and of scalar arithmetic, on tensors number by
// number: what surrounds the ops of `llm`, and the bodies of linalg ops.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Interpreter/ReferenceElementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

namespace {
using Unary = double (*)(double);
using Binary = double (*)(double, double);
using IntegerBinary = int64_t (*)(int64_t, int64_t);
} // namespace

/// Ops that only change the type: the caller rounds.
static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp, arith::ExtSIOp,
             arith::TruncIOp, arith::SIToFPOp>(op);
}

/// One number from one; the caller rounds.
static Unary getUnary(StringRef name) {
  static const llvm::StringMap<Unary> table = {
      {"math.ceil", +[](double x) { return std::ceil(x); }},
      {"math.expm1", +[](double x) { return std::expm1(x); }},
      {"math.floor", +[](double x) { return std::floor(x); }},
      {"arith.fptosi", +[](double x) { return std::trunc(x); }},
      {"arith.negf", +[](double x) { return -x; }},
      {"math.absf", +[](double x) { return std::fabs(x); }},
      {"math.cos", +[](double x) { return std::cos(x); }},
      {"math.erf", +[](double x) { return std::erf(x); }},
      {"math.exp", +[](double x) { return std::exp(x); }},
      {"math.log", +[](double x) { return std::log(x); }},
      {"math.roundeven", +[](double x) { return std::nearbyint(x); }},
      {"math.rsqrt", +[](double x) { return 1 / std::sqrt(x); }},
      {"math.sin", +[](double x) { return std::sin(x); }},
      {"math.sqrt", +[](double x) { return std::sqrt(x); }},
      {"math.tanh", +[](double x) { return std::tanh(x); }},
  };
  return table.lookup(name);
}

/// One float from two; the caller rounds.
static Binary getBinary(StringRef name) {
  static const llvm::StringMap<Binary> table = {
      {"arith.addf", +[](double a, double b) { return a + b; }},
      {"arith.subf", +[](double a, double b) { return a - b; }},
      {"arith.mulf", +[](double a, double b) { return a * b; }},
      {"arith.divf", +[](double a, double b) { return a / b; }},
      {"arith.maxnumf", +[](double a, double b) { return std::fmax(a, b); }},
      {"arith.minnumf", +[](double a, double b) { return std::fmin(a, b); }},
      {"arith.maximumf",
       +[](double a, double b) {
         return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
       }},
      {"arith.minimumf",
       +[](double a, double b) {
         return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
       }},
  };
  return table.lookup(name);
}

/// One integer from two; the caller wraps. Division by zero is the caller's
/// error, and gives 0.
static IntegerBinary getIntegerBinary(StringRef name) {
  static const llvm::StringMap<IntegerBinary> table = {
      {"arith.addi", reference::sum},
      {"arith.subi", reference::difference},
      {"arith.muli", reference::product},
      {"arith.divsi", reference::quotient},
      {"arith.remsi",
       +[](int64_t a, int64_t b) {
         return reference::difference(
             a, reference::product(b, reference::quotient(a, b)));
       }},
      {"arith.maxsi", +[](int64_t a, int64_t b) { return std::max(a, b); }},
      {"arith.minsi", +[](int64_t a, int64_t b) { return std::min(a, b); }},
      {"arith.andi", +[](int64_t a, int64_t b) { return a & b; }},
      {"arith.ori", +[](int64_t a, int64_t b) { return a | b; }},
      {"arith.xori", +[](int64_t a, int64_t b) { return a ^ b; }},
  };
  return table.lookup(name);
}

/// Of integers as signed ones; unsigned predicates are not known.
static std::optional<bool> compare(arith::CmpIPredicate predicate, int64_t a,
                                   int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

/// Ordered comparisons and `une`.
static std::optional<bool> compare(arith::CmpFPredicate predicate, double a,
                                   double b) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  default:
    return std::nullopt;
  }
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
  if (isa<arith::ExtUIOp, arith::UIToFPOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1))
    return operands[0]; // Of more bits, numbers stand for signed ones.
  if (isa<math::FmaOp>(op))
    return std::fma(real(0), real(1), real(2));
  if (isa<arith::SelectOp>(op))
    return whole(0) != 0 ? operands[1] : operands[2];
  if (auto integers = dyn_cast<arith::CmpIOp>(op))
    return compare(integers.getPredicate(), whole(0), whole(1));
  if (auto floats = dyn_cast<arith::CmpFOp>(op))
    return compare(floats.getPredicate(), real(0), real(1));
  return std::nullopt;
}

/// Number by number; a scalar condition of a select chooses whole tensors.
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
           << "cannot be evaluated: " << type << " has more than 2^28 numbers";
  return op.emitOpError() << "cannot be evaluated: the interpreter has no "
                             "values of type "
                          << op.getType();
}

void llmir::interpreter::addArithEvaluators(EvaluatorTable &table) {
  table.add(evaluateConstant);
  for (StringRef name :
       {"arith.extf",     "arith.truncf",   "arith.index_cast", "arith.extsi",
        "arith.trunci",   "arith.sitofp",   "arith.fptosi",     "arith.negf",
        "math.absf",      "math.cos",       "math.erf",         "math.exp",
        "math.log",       "math.roundeven", "math.rsqrt",       "math.sin",
        "math.sqrt",      "math.tanh",      "math.ceil",        "math.floor",
        "math.expm1",     "arith.addf",     "arith.addi",       "arith.subf",
        "arith.subi",     "arith.mulf",     "arith.muli",       "arith.divf",
        "arith.divsi",    "arith.remsi",    "arith.maxnumf",    "arith.minnumf",
        "arith.maximumf", "arith.minimumf", "arith.maxsi",      "arith.minsi",
        "arith.andi",     "arith.ori",      "arith.xori",       "arith.select",
        "arith.cmpi",     "arith.cmpf"})
    table.add(name, evaluateElementwise);
}
