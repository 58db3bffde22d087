//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of MLLMNNOps.td: products, embeddings, norms, activations.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/MLLMNNOps.h"
#include "llmir/Reference/CustomOps.h"
#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/MoE.h"
#include "llmir/Reference/NN.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// Products and embeddings
//===----------------------------------------------------------------------===//

static LogicalResult evaluateMatMul(mllm::MatMulOp op, Evaluation &e) {
  return e.setChecked(op, matmul(e.tensor(op.getLhs()), e.tensor(op.getRhs()),
                                 {op.getTransposeA(), op.getTransposeB()}));
}

static LogicalResult evaluateEmbedding(mllm::EmbeddingOp op, Evaluation &e) {
  const Tensor &ids = e.tensor(op.getIds());
  FailureOr<Tensor> table = e.parameter(op.getWeightAttr());
  if (failed(table) || failed(e.checkIndices(ids, table->dim(0), "id")))
    return failure();
  Shape shape = ids.shape;
  shape.push_back(table->dim(1));
  if (Status status = reference::checkAffordable(shape); !status)
    return e.fail(status);
  return e.set(op, embedding(ids, *table).reshaped(shape));
}

/// The elements of an optional parameter; nullopt if it is absent.
static FailureOr<std::optional<Tensor>> parameterIf(FlatSymbolRefAttr symbol,
                                                    Evaluation &e) {
  if (!symbol)
    return std::optional<Tensor>();
  FailureOr<Tensor> numbers = e.parameter(symbol);
  if (failed(numbers))
    return failure();
  return std::optional<Tensor>(std::move(*numbers));
}

static const Tensor *pointer(const std::optional<Tensor> &tensor) {
  return tensor ? &*tensor : nullptr;
}

static LogicalResult evaluateLinear(mllm::LinearOp op, Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  FailureOr<std::optional<Tensor>> bias = parameterIf(op.getBiasAttr(), e);
  if (failed(weight) || failed(bias))
    return failure();
  const Tensor &x = e.tensor(op.getX());
  if (x.dim(-1) != weight->dim(1))
    return e.fail(Status(StatusCode::InvalidArgument,
                         "rows of " + std::to_string(x.dim(-1)) +
                             " elements do not match a weight " +
                             typeString(*weight)));
  Shape rows = x.shape;
  rows.back() = weight->dim(0);
  if (Status status = reference::checkAffordable(rows); !status)
    return e.fail(status);
  Tensor result = linear(x, *weight, pointer(*bias));
  // Reshapes the outputs to the split dimensions of the result.
  result.shape.pop_back();
  llvm::append_range(result.shape,
                     op.getType().getShape().drop_front(x.rank() - 1));
  return e.set(op, std::move(result));
}

static LogicalResult evaluateHeadLinear(mllm::HeadLinearOp op, Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  if (failed(weight))
    return failure();
  const Tensor &x = e.tensor(op.getX());
  if (x.dim(-2) != weight->dim(0) || x.dim(-1) != weight->dim(2))
    return e.fail(Status(StatusCode::InvalidArgument,
                         "heads " + typeString(x) + " do not match a weight " +
                             typeString(*weight)));
  Shape shape = x.shape;
  shape.back() = weight->dim(1);
  if (Status status = reference::checkAffordable(shape); !status)
    return e.fail(status);
  return e.set(op, headLinear(x, *weight));
}

static Tensor asRows(const Tensor &x) {
  const int64_t columns = x.dim(-1);
  return x.reshaped({columns == 0 ? 0 : x.size() / columns, columns});
}

static LogicalResult evaluateExperts(mllm::ExpertsOp op, Evaluation &e) {
  reference::ExpertParameters mlps;
  for (auto [target, symbol] : {std::pair(&mlps.gate, op.getGateAttr()),
                                std::pair(&mlps.up, op.getUpAttr()),
                                std::pair(&mlps.down, op.getDownAttr())}) {
    FailureOr<Tensor> matrices = e.parameter(symbol);
    if (failed(matrices))
      return failure();
    *target = std::move(*matrices);
  }
  if (op.getGateBias())
    for (FlatSymbolRefAttr symbol :
         {op.getGateBiasAttr(), op.getUpBiasAttr(), op.getDownBiasAttr()}) {
      FailureOr<Tensor> bias = e.parameter(symbol);
      if (failed(bias))
        return failure();
      mlps.biases.push_back(std::move(*bias));
    }
  if (std::optional<APFloat> limit = op.getSwigluLimit())
    mlps.swigluLimit = limit->convertToDouble();
  mlps.usesGELU = op.getGelu();
  const Tensor &x = e.tensor(op.getX()), &chosen = e.tensor(op.getChosen());
  if (x.dim(-1) != mlps.gate.dim(2))
    return e.fail(Status(StatusCode::InvalidArgument,
                         "rows of " + std::to_string(x.dim(-1)) +
                             " elements do not match experts " +
                             typeString(mlps.gate)));
  if (failed(e.checkIndices(chosen, mlps.gate.dim(0), "expert")))
    return failure();
  return e.set(op, moeFFN(asRows(x), asRows(chosen),
                          asRows(e.tensor(op.getWeights())), mlps)
                       .reshaped(x.shape));
}

static LogicalResult evaluateParam(mllm::ParamOp op, Evaluation &e) {
  FailureOr<Tensor> numbers = e.parameter(op.getWeightAttr());
  return failed(numbers) ? failure() : e.set(op, std::move(*numbers));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Fails unless a norm's parameter, if given, has `count` elements: dynamic
/// sizes are known only here.
static LogicalResult checkCount(const Tensor *parameter, int64_t count,
                                Evaluation &e) {
  if (!parameter || parameter->size() == count)
    return success();
  return e.fail(Status(StatusCode::InvalidArgument,
                       "normalizes " + std::to_string(count) +
                           " elements, but a parameter is " +
                           typeString(*parameter)));
}

static LogicalResult evaluateRMSNorm(mllm::RMSNormOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  if (failed(weight) || failed(checkCount(&*weight, x.dim(-1), e)))
    return failure();
  if (op.getUnitOffset())
    *weight = map(*weight, [](double w) { return w + 1; });
  return e.set(op, rmsNorm(x, &*weight, op.getEps().convertToDouble()));
}

static LogicalResult evaluateLayerNorm(mllm::LayerNormOp op, Evaluation &e) {
  FailureOr<std::optional<Tensor>> weight = parameterIf(op.getWeightAttr(), e);
  FailureOr<std::optional<Tensor>> bias = parameterIf(op.getBiasAttr(), e);
  if (failed(weight) || failed(bias))
    return failure();
  const Tensor &x = e.tensor(op.getX());
  const ArrayRef<int64_t> sizes = op.getNormalizedShape();
  const int64_t count =
      reference::numElements(Shape(sizes.begin(), sizes.end()));
  if (!std::equal(sizes.rbegin(), sizes.rend(), x.shape.rbegin()))
    return e.fail(Status(StatusCode::InvalidArgument,
                         "the last sizes of " + typeString(x) +
                             " are not 'normalized_shape'"));
  if (failed(checkCount(pointer(*weight), count, e)) ||
      failed(checkCount(pointer(*bias), count, e)))
    return failure();
  // Collapses the normalized dimensions into one row.
  Tensor rows = x.reshaped({count == 0 ? 0 : x.size() / count, count});
  Tensor result = layerNorm(rows, pointer(*weight), pointer(*bias),
                            op.getEps().convertToDouble());
  return e.set(op, result.reshaped(x.shape));
}

static LogicalResult evaluateLayerNorm2D(mllm::LayerNorm2DOp op,
                                         Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  FailureOr<Tensor> bias = e.parameter(op.getBiasAttr());
  const Tensor &x = e.tensor(op.getX());
  if (failed(weight) || failed(bias) ||
      failed(checkCount(&*weight, x.dim(1), e)) ||
      failed(checkCount(&*bias, x.dim(1), e)))
    return failure();
  return e.set(op, layerNormOfChannels(x, &*weight, &*bias,
                                       op.getEps().convertToDouble()));
}

static LogicalResult evaluateSoftmax(mllm::SoftmaxOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const auto axis = static_cast<int64_t>(op.getAxis());
  return e.set(op, softmax(x, axis < 0 ? axis + x.rank() : axis));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static LogicalResult evaluateGELU(mllm::GELUOp op, Evaluation &e) {
  using reference::GeluApproximation;
  const GeluApproximation form = op.getApproximate() == "tanh"
                                     ? GeluApproximation::Tanh
                                     : GeluApproximation::None;
  return e.set(op, map(e.tensor(op.getX()),
                       [&](double x) { return reference::gelu(x, form); }));
}

static LogicalResult evaluateQuickGELU(mllm::QuickGELUOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getX()), [](double x) {
                 return reference::gelu(x, reference::GeluApproximation::Quick);
               }));
}

static LogicalResult evaluateReLU(mllm::ReLUOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getX()), reference::relu));
}

static LogicalResult evaluateSigmoid(mllm::SigmoidOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getX()), reference::sigmoid));
}

//===----------------------------------------------------------------------===//
// Custom ops
//===----------------------------------------------------------------------===//

static LogicalResult evaluateCustomized(mllm::CustomizedOp op, Evaluation &e) {
  std::vector<Tensor> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(e.tensor(input));
  Expected<std::vector<Tensor>> results =
      runCustomOp(static_cast<int64_t>(op.getId()), inputs);
  if (!results)
    return e.fail(results.status());
  if (results->size() != op.getNumResults())
    return e.fail(Status(StatusCode::InvalidArgument,
                         "the function of '" + op.getName().str() +
                             "' returns " + std::to_string(results->size()) +
                             " results, expected " +
                             std::to_string(op.getNumResults())));
  for (auto [result, numbers] : llvm::zip(op.getResults(), *results))
    if (failed(e.set(result, std::move(numbers))))
      return failure();
  return success();
}

void llmir::interpreter::addMLLMNNEvaluators(EvaluatorTable &table) {
  table.add(evaluateMatMul);
  table.add(evaluateEmbedding);
  table.add(evaluateLinear);
  table.add(evaluateHeadLinear);
  table.add(evaluateExperts);
  table.add(evaluateParam);
  table.add(evaluateRMSNorm);
  table.add(evaluateLayerNorm);
  table.add(evaluateLayerNorm2D);
  table.add(evaluateSoftmax);
  table.add(evaluateGELU);
  table.add(evaluateQuickGELU);
  table.add(evaluateReLU);
  table.add(evaluateSigmoid);
  table.add(evaluateCustomized);
}
