//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of mllm data movement ops. Dynamic sizes are checked here, by the
// rules of the verifiers.
//
//===----------------------------------------------------------------------===//

#include "MLLMEvaluation.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Dialect/MLLM/MLLMShapeOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Reference/Elementwise.h"

using namespace llmir;
using namespace llmir::interpreter;

static shapes::Shape shapeOf(const Tensor &x) {
  return {x.shape.begin(), x.shape.end()};
}

/// The sizes of a static shape.
static Shape sizesOf(const shapes::Shape &shape) {
  Shape result;
  for (const shapes::DimExpr &size : shape)
    result.push_back(*size.constant());
  return result;
}

static std::vector<int64_t> toVector(llvm::ArrayRef<int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

//===----------------------------------------------------------------------===//
// Ops that preserve values
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult evaluateSame(OpT op, Evaluation &e) {
  return e.set(op.getResult(), e.tensor(op.getX()));
}

/// Memory that a loop carries.
static bool isCarried(mlir::Value value) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  return argument && mlir::isa<mllm::WhileOp, mllm::ForOp>(
                         argument.getOwner()->getParentOp());
}

static LogicalResult evaluateCopy(mllm::CopyOp op, Evaluation &e) {
  const Tensor &dst = e.tensor(op.getDst()), &src = e.tensor(op.getSrc());
  // Uninitialized memory has no dynamic sizes, and that of a loop has those of
  // the previous iteration.
  if (op.getDst().getDefiningOp<mllm::AllocOp>() || isCarried(op.getDst()))
    return e.set(op.getResult(), src);
  auto shape = shapes::sameShape(shapeOf(dst), shapeOf(src));
  return shape ? e.set(op.getResult(), src) : e.fail(shape.status());
}

static LogicalResult evaluateCastType(mllm::CastTypeOp op, Evaluation &e) {
  return e.set(op.getResult(),
               castTo(e.tensor(op.getX()), *getElementKind(op.getDtype())));
}

/// The dynamic sizes of the result are those of the operand, in order.
static LogicalResult evaluateView(mllm::ViewOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  std::vector<int64_t> dynamic;
  for (auto [size, declared] :
       llvm::zip(x.shape, mllm::tensorType(op.getX()).getShape()))
    if (mlir::ShapedType::isDynamic(declared))
      dynamic.push_back(size);
  Shape shape;
  auto next = dynamic.begin();
  for (int64_t size : mllm::tensorType(op.getResult()).getShape())
    shape.push_back(mlir::ShapedType::isDynamic(size) ? *next++ : size);
  return e.set(op.getResult(), x.reshaped(shape));
}

static LogicalResult evaluateReshape(mllm::ReshapeOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  auto shape = shapes::reshape(shapeOf(x), toVector(op.getShape()));
  return shape ? e.set(op.getResult(), x.reshaped(sizesOf(*shape)))
               : e.fail(shape.status());
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

static LogicalResult evaluateTranspose(mllm::TransposeOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < x.rank(); ++d)
    axes.push_back(d);
  std::swap(axes[size_t(axisOf(op.getDim0(), x))],
            axes[size_t(axisOf(op.getDim1(), x))]);
  return e.set(op.getResult(), permuted(x, axes));
}

static LogicalResult evaluatePermute(mllm::PermuteOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  std::vector<int64_t> axes;
  for (int64_t axis : op.getAxes())
    axes.push_back(axisOf(axis, x));
  return e.set(op.getResult(), permuted(x, axes));
}

//===----------------------------------------------------------------------===//
// Concatenation and splitting
//===----------------------------------------------------------------------===//

static LogicalResult evaluateSplit(mllm::SplitOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t dim = axisOf(op.getDim(), x);
  auto parts =
      shapes::split(shapeOf(x), op.getDim(), toVector(op.getSections()));
  if (!parts)
    return e.fail(parts.status());
  int64_t first = 0;
  for (auto [part, shape] : llvm::zip(op.getParts(), *parts)) {
    const int64_t count = sizesOf(shape)[size_t(dim)];
    if (failed(e.set(part, x.slice(dim, first, count))))
      return failure();
    first += count;
  }
  return success();
}

/// Checks the operands of concat and stack with `rule`.
template <typename OpT, typename RuleT>
static Expected<reference::RankTensors> partsOf(OpT op, Evaluation &e,
                                                RuleT rule) {
  reference::RankTensors parts;
  std::vector<shapes::Shape> shapes;
  for (mlir::Value part : op.getParts()) {
    parts.push_back(e.tensor(part));
    shapes.push_back(shapeOf(parts.back()));
  }
  Expected<shapes::Shape> shape = rule(shapes, op.getDim());
  if (!shape)
    return shape.takeStatus();
  LLMIR_RETURN_IF_ERROR(reference::checkAffordable(sizesOf(*shape)));
  return parts;
}

static LogicalResult evaluateConcat(mllm::ConcatOp op, Evaluation &e) {
  auto parts = partsOf(op, e, shapes::concat);
  if (!parts)
    return e.fail(parts.status());
  return e.set(op.getResult(),
               concatenate(*parts, axisOf(op.getDim(), parts->front())));
}

static LogicalResult evaluateStack(mllm::StackOp op, Evaluation &e) {
  auto parts = partsOf(op, e, shapes::stack);
  if (!parts)
    return e.fail(parts.status());
  const int64_t dim = op.getDim();
  return e.set(op.getResult(),
               stack(*parts, dim < 0 ? dim + parts->front().rank() + 1 : dim));
}

static LogicalResult evaluateRepeat(mllm::RepeatOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  return e.setChecked(op.getResult(),
                      repeatEach(x, axisOf(op.getDim(), x), op.getTimes()));
}

//===----------------------------------------------------------------------===//
// Slices and padding
//===----------------------------------------------------------------------===//

static LogicalResult evaluateSlice(mllm::SliceOp op, Evaluation &e) {
  return e.set(op.getResult(), slice(e.tensor(op.getX()),
                                     indexRangesOf(op.getStarts(), op.getEnds(),
                                                   op.getSteps())));
}

static reference::PadMode padModeOf(mllm::PadMode mode) {
  switch (mode) {
  case mllm::PadMode::Constant:
    return reference::PadMode::Constant;
  case mllm::PadMode::Reflect:
    return reference::PadMode::Reflect;
  case mllm::PadMode::Replicate:
    return reference::PadMode::Replicate;
  case mllm::PadMode::Circular:
    break;
  }
  return reference::PadMode::Circular;
}

static LogicalResult evaluatePad(mllm::PadOp op, Evaluation &e) {
  const double value = op.getValue() ? op.getValue()->convertToDouble() : 0;
  return e.setChecked(op.getResult(),
                      pad(e.tensor(op.getX()), toVector(op.getLow()),
                          toVector(op.getHigh()), padModeOf(op.getMode()),
                          value));
}

void llmir::interpreter::addMLLMShapeEvaluators(EvaluatorTable &table) {
  table.add(evaluateSame<mllm::ContiguousOp>);
  table.add(evaluateSame<mllm::CloneOp>);
  table.add(evaluateSame<mllm::X2XOp>);
  table.add(evaluateCopy);
  table.add(evaluateCastType);
  table.add(evaluateView);
  table.add(evaluateReshape);
  table.add(evaluateTranspose);
  table.add(evaluatePermute);
  table.add(evaluateSplit);
  table.add(evaluateConcat);
  table.add(evaluateStack);
  table.add(evaluateRepeat);
  table.add(evaluateSlice);
  table.add(evaluatePad);
}
