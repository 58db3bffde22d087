//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluator of structured linalg ops on tensors: runs the body for each point
// of the iteration space, rounding its values to their types.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

/// The size of each loop, from operands whose maps have the loop as a result.
static std::optional<Shape> loopSizes(linalg::LinalgOp op,
                                      ArrayRef<Tensor> operands) {
  Shape sizes(op.getNumLoops(), -1);
  for (auto [map, tensor] :
       llvm::zip_equal(op.getIndexingMapsArray(), operands))
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()] = tensor.dim(int64_t(d));
  if (llvm::is_contained(sizes, -1))
    return std::nullopt;
  return sizes;
}

/// The index of an operand's element for one point of the iteration space.
static int64_t placeOf(AffineMap map, ArrayRef<int64_t> point,
                       const Tensor &tensor) {
  SmallVector<int64_t> index = map.compose(point);
  int64_t place = 0;
  for (auto [d, at] : llvm::enumerate(index))
    place = place * tensor.dim(int64_t(d)) + at;
  return place;
}

/// Runs the body for one point and returns the yielded values.
static FailureOr<SmallVector<Number>> runBody(linalg::LinalgOp op,
                                              ArrayRef<int64_t> point,
                                              ArrayRef<Number> arguments,
                                              Evaluation &e) {
  llvm::DenseMap<Value, Number> values;
  auto get = [&](Value value) { // A value of the body or a captured scalar.
    auto found = values.find(value);
    return found != values.end() ? found->second : e.tensor(value).number(0);
  };
  Block &body = *op.getBlock();
  for (auto [name, number] : llvm::zip(body.getArguments(), arguments))
    values.try_emplace(name, number);
  for (Operation &inner : body.without_terminator()) {
    std::optional<Number> value;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      value = point[index.getDim()];
    } else if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      if (std::optional<Tensor> tensor = constantValue(constant.getValue()))
        value = tensor->number(0);
    } else {
      SmallVector<Number> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(get(operand));
      value = evaluateScalar(&inner, operands);
    }
    std::optional<ElementKind> kind =
        inner.getNumResults() == 1
            ? getElementKind(inner.getResult(0).getType())
            : std::nullopt;
    if (!value || !kind)
      return inner.emitOpError("cannot be evaluated: it has no evaluator"),
             failure();
    values.try_emplace(inner.getResult(0), roundTo(*kind, *value));
  }
  SmallVector<Number> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(get(value));
  return yielded;
}

static LogicalResult evaluateStructured(Operation *operation, Evaluation &e) {
  auto op = cast<linalg::LinalgOp>(operation);
  SmallVector<Tensor> operands;
  for (Value operand : operation->getOperands())
    operands.push_back(e.tensor(operand));
  std::optional<Shape> sizes = loopSizes(op, operands);
  if (!sizes)
    return op.emitOpError("cannot be evaluated: a loop has no size");

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const size_t firstInit = size_t(op.getNumDpsInputs());
  SmallVector<int64_t> point(sizes->size());
  for (int64_t i = 0; i < reference::numElements(*sizes); ++i) {
    int64_t rest = i;
    for (size_t d = point.size(); d-- > 0; rest /= (*sizes)[d])
      point[d] = rest % (*sizes)[d];
    SmallVector<Number> numbers;
    for (auto [map, tensor] : llvm::zip_equal(maps, operands))
      numbers.push_back(
          std::as_const(tensor).number(placeOf(map, point, tensor)));
    FailureOr<SmallVector<Number>> yielded = runBody(op, point, numbers, e);
    if (failed(yielded))
      return failure();
    for (auto [r, number] : llvm::enumerate(*yielded)) {
      Tensor &out = operands[firstInit + r];
      out[placeOf(maps[firstInit + r], point, out)] = number;
    }
  }
  for (auto [r, result] : llvm::enumerate(operation->getResults()))
    if (failed(e.set(result, std::move(operands[firstInit + r]))))
      return failure();
  return success();
}

void llmir::interpreter::addLinalgEvaluators(EvaluatorTable &table) {
  for (StringRef name : {"linalg.generic",
                         "linalg.matmul",
                         "linalg.batch_matmul",
                         "linalg.matvec",
                         "linalg.vecmat",
                         "linalg.batch_matvec",
                         "linalg.batch_vecmat",
                         "linalg.dot",
                         "linalg.contract",
                         "linalg.elementwise",
                         "linalg.transpose",
                         "linalg.broadcast",
                         "linalg.fill",
                         "linalg.copy",
                         "linalg.map",
                         "linalg.reduce",
                         "linalg.add",
                         "linalg.sub",
                         "linalg.mul",
                         "linalg.div",
                         "linalg.div_unsigned",
                         "linalg.max",
                         "linalg.min",
                         "linalg.powf",
                         "linalg.exp",
                         "linalg.log",
                         "linalg.abs",
                         "linalg.ceil",
                         "linalg.floor",
                         "linalg.negf",
                         "linalg.reciprocal",
                         "linalg.round",
                         "linalg.sqrt",
                         "linalg.rsqrt",
                         "linalg.square",
                         "linalg.tanh",
                         "linalg.erf",
                         "linalg.select",
                         "linalg.conv_1d",
                         "linalg.conv_2d",
                         "linalg.conv_3d",
                         "linalg.conv_1d_nwc_wcf",
                         "linalg.conv_1d_ncw_fcw",
                         "linalg.conv_2d_nhwc_hwcf",
                         "linalg.conv_2d_nchw_fchw",
                         "linalg.depthwise_conv_1d_nwc_wc",
                         "linalg.depthwise_conv_2d_nhwc_hwc",
                         "linalg.pooling_nhwc_sum",
                         "linalg.pooling_nhwc_max",
                         "linalg.pooling_nhwc_min",
                         "linalg.pooling_nchw_sum",
                         "linalg.pooling_nchw_max"})
    table.add(name, evaluateStructured);
}
