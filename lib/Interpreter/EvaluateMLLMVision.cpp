//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of MLLMVisionOps.td: convolutions and resampling.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMVisionOps.h"
#include "llmir/Reference/Vision.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

template <typename OpT>
static LogicalResult evaluateConv(OpT op, Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  if (failed(weight))
    return failure();
  std::optional<Tensor> bias;
  if (op.getBiasAttr()) {
    FailureOr<Tensor> numbers = e.parameter(op.getBiasAttr());
    if (failed(numbers))
      return failure();
    bias = std::move(*numbers);
  }
  const shapes::Window window = op.getWindow();
  return e.setChecked(
      op, convolution(e.tensor(op.getX()), *weight, bias ? &*bias : nullptr,
                      {window.stride, window.padLow, window.dilation,
                       static_cast<int64_t>(op.getGroups())}));
}

static LogicalResult evaluateConv1D(mllm::Conv1DOp op, Evaluation &e) {
  return evaluateConv(op, e);
}

static LogicalResult evaluateConv2D(mllm::Conv2DOp op, Evaluation &e) {
  return evaluateConv(op, e);
}

static LogicalResult evaluateConv3D(mllm::Conv3DOp op, Evaluation &e) {
  return evaluateConv(op, e);
}

static LogicalResult evaluateInterpolate(mllm::InterpolateOp op,
                                         Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  reference::InterpolateParams params;
  params.mode = reference::interpolateModeOf(
      std::string_view(op.getMode().data(), op.getMode().size()));
  params.alignCorners = op.getAlignCorners();
  params.antialias = op.getAntialias();
  if (op.getSize())
    return e.setChecked(op, interpolate(x, op.getSize()->vec(), params));
  params.factors = op.getScaleFactor()->vec();
  std::vector<int64_t> sizes;
  for (auto [d, factor] : llvm::enumerate(params.factors)) {
    const double size = std::floor(double(x.shape[d + 2]) * factor);
    if (size > double(int64_t(1) << 31))
      return e.fail(Status(StatusCode::ResourceExhausted,
                           "a dimension of " + std::to_string(x.shape[d + 2]) +
                               " becomes too large"));
    sizes.push_back(static_cast<int64_t>(size));
  }
  return e.setChecked(op, interpolate(x, sizes, params));
}

void llmir::interpreter::addMLLMVisionEvaluators(EvaluatorTable &table) {
  table.add(evaluateConv1D);
  table.add(evaluateConv2D);
  table.add(evaluateConv3D);
  table.add(evaluateInterpolate);
}
