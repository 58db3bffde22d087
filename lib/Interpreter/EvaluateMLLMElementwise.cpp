//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of element-wise mllm ops.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h"
#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/NN.h"

#include <cmath>

using namespace llmir;
using namespace llmir::interpreter;

using reference::BinaryFunction;
using reference::UnaryFunction;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// lhs and rhs, or lhs and a scalar.
template <typename OpT>
static LogicalResult evaluateArithmetic(OpT op, Evaluation &e,
                                        const BinaryFunction &function) {
  const Tensor &lhs = e.tensor(op.getLhs());
  const Tensor *rhs = e.tensorIf(op.getRhs());
  const Tensor scalar(lhs.kind, {},
                      {rhs ? 0 : op.getScalar()->convertToDouble()});
  return e.setChecked(op.getResult(),
                      broadcastMap(lhs, rhs ? *rhs : scalar, function));
}

static LogicalResult evaluateAdd(mllm::AddOp op, Evaluation &e) {
  return evaluateArithmetic(
      op, e, [](auto a, auto b) { return reference::sum(a, b); });
}

static LogicalResult evaluateSub(mllm::SubOp op, Evaluation &e) {
  return evaluateArithmetic(
      op, e, [](auto a, auto b) { return reference::difference(a, b); });
}

static LogicalResult evaluateMul(mllm::MulOp op, Evaluation &e) {
  return evaluateArithmetic(
      op, e, [](auto a, auto b) { return reference::product(a, b); });
}

static LogicalResult evaluateDiv(mllm::DivOp op, Evaluation &e) {
  return evaluateArithmetic(
      op, e, [](auto a, auto b) { return reference::quotient(a, b); });
}

/// Unary functions.
template <typename OpT, double (*function)(double)>
static LogicalResult evaluateFunction(OpT op, Evaluation &e) {
  return e.set(op.getResult(), reference::map(e.tensor(op.getX()), function));
}

static LogicalResult evaluateSiLU(mllm::SiLUOp op, Evaluation &e) {
  return e.set(op.getResult(), map(e.tensor(op.getX()), reference::silu));
}

template <typename OpT>
static LogicalResult mapNumbers(OpT op, Evaluation &e,
                                const UnaryFunction &function) {
  return e.set(op.getResult(), reference::map(e.tensor(op.getX()), function));
}

static double negative(double x) { return -x; }
static int64_t negative(int64_t x) { return reference::difference(0, x); }

static LogicalResult evaluateNeg(mllm::NegOp op, Evaluation &e) {
  return mapNumbers(op, e, [](auto x) { return negative(x); });
}

static double magnitude(double x) { return std::fabs(x); }
static int64_t magnitude(int64_t x) { return x < 0 ? negative(x) : x; }

static LogicalResult evaluateAbs(mllm::AbsOp op, Evaluation &e) {
  return mapNumbers(op, e, [](auto x) { return magnitude(x); });
}

static LogicalResult evaluateNot(mllm::LogicalNotOp op, Evaluation &e) {
  return mapNumbers(op, e, [](auto x) { return x == 0; });
}

static LogicalResult evaluateClip(mllm::ClipOp op, Evaluation &e) {
  const double least = op.getMinVal().convertToDouble();
  const double greatest = op.getMaxVal().convertToDouble();
  return mapNumbers(op, e, [=](auto x) {
    using T = decltype(x); // Bounds for integers are integers.
    return reference::clip(x, static_cast<T>(least), static_cast<T>(greatest));
  });
}

static LogicalResult evaluateFill(mllm::FillOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  auto number = [](std::optional<llvm::APFloat> value) {
    return value ? value->convertToDouble() : 0;
  };
  switch (op.getKind()) {
  case mllm::FillKind::Zeros:
    return e.set(op.getResult(), reference::filled(x.kind, x.shape, 0));
  case mllm::FillKind::Ones:
    return e.set(op.getResult(), reference::filled(x.kind, x.shape, 1));
  case mllm::FillKind::Specific:
    return e.set(op.getResult(),
                 reference::filled(x.kind, x.shape, number(op.getValue())));
  case mllm::FillKind::Arange:
    return e.set(op.getResult(),
                 reference::arange(x.kind, x.shape, number(op.getStart()),
                                   number(op.getStep())));
  case mllm::FillKind::Random:
    return e.set(op.getResult(), reference::randomNumbers(
                                     x.kind, x.shape, number(op.getStart()),
                                     number(op.getEnd()), *op.getSeed()));
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static reference::Comparison comparisonOf(mllm::Comparison comparison) {
  switch (comparison) {
  case mllm::Comparison::NotEqual:
    return reference::Comparison::NotEqual;
  case mllm::Comparison::Less:
    return reference::Comparison::Less;
  case mllm::Comparison::LessEqual:
    return reference::Comparison::LessEqual;
  case mllm::Comparison::Greater:
    return reference::Comparison::Greater;
  case mllm::Comparison::GreaterEqual:
    break;
  }
  return reference::Comparison::GreaterEqual;
}

template <typename OpT>
static LogicalResult evaluatePairs(OpT op, Evaluation &e,
                                   const BinaryFunction &function) {
  return e.setChecked(
      op.getResult(),
      broadcastMap(e.tensor(op.getLhs()), e.tensor(op.getRhs()), function));
}

static LogicalResult evaluateEqual(mllm::EqualOp op, Evaluation &e) {
  return evaluatePairs(op, e, std::equal_to<>());
}

static LogicalResult evaluateCompare(mllm::CompareOp op, Evaluation &e) {
  const reference::Comparison comparison = comparisonOf(op.getComparison());
  return evaluatePairs(op, e, [comparison](auto a, auto b) {
    return reference::compare(comparison, a, b);
  });
}

static LogicalResult evaluateAnd(mllm::LogicalAndOp op, Evaluation &e) {
  return evaluatePairs(op, e, std::logical_and<>());
}

static LogicalResult evaluateOr(mllm::LogicalOrOp op, Evaluation &e) {
  return evaluatePairs(op, e, std::logical_or<>());
}

static LogicalResult evaluateWhere(mllm::WhereOp op, Evaluation &e) {
  return e.setChecked(op.getResult(),
                      reference::where(e.tensor(op.getCondition()),
                                       e.tensor(op.getLhs()),
                                       e.tensor(op.getRhs())));
}

void llmir::interpreter::addMLLMElementwiseEvaluators(EvaluatorTable &table) {
  table.add(evaluateSiLU);
  table.add(evaluateAdd);
  table.add(evaluateSub);
  table.add(evaluateMul);
  table.add(evaluateDiv);
  table.add(evaluateNeg);
  table.add(evaluateAbs);
  table.add(evaluateFunction<mllm::LogOp, std::log>);
  table.add(evaluateFunction<mllm::ExpOp, std::exp>);
  table.add(evaluateFunction<mllm::SinOp, std::sin>);
  table.add(evaluateFunction<mllm::CosOp, std::cos>);
  table.add(evaluateNot);
  table.add(evaluateClip);
  table.add(evaluateFill);
  table.add(evaluateEqual);
  table.add(evaluateCompare);
  table.add(evaluateAnd);
  table.add(evaluateOr);
  table.add(evaluateWhere);
}
