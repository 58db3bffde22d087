//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of the ops on rows: LLMOps.td, LLMQuantOps.td, LLMMoEOps.td.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Reference/MoE.h"
#include "llmir/Reference/NN.h"
#include "llmir/Reference/Quant.h"

#include <functional>

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// Weights, embedding, projections
//===----------------------------------------------------------------------===//

static LogicalResult evaluateWeight(WeightOp op, Evaluation &e) {
  if (!e.options().weight)
    return op.emitOpError(
        "cannot be evaluated: there is no source of weight values");
  FailureOr<InterpreterValue> value = e.options().weight(op);
  if (failed(value))
    return failure();
  return e.set(op, std::move(*value));
}

static LogicalResult evaluateEmbedding(EmbeddingOp op, Evaluation &e) {
  const Tensor table = e.weight(op.getTable());
  if (failed(e.checkIndices(e.tensor(op.getIds()), table.dim(0), "id")))
    return failure();
  return e.set(op, embedding(e.tensor(op.getIds()), table));
}

static LogicalResult evaluateLinear(LinearOp op, Evaluation &e) {
  return e.set(op, linear(e.tensor(op.getX()), e.weight(op.getWeight()),
                          e.tensorIf(op.getBias())));
}

static LogicalResult evaluateHeadLinear(HeadLinearOp op, Evaluation &e) {
  return e.set(op, headLinear(e.tensor(op.getX()), e.weight(op.getWeight())));
}

//===----------------------------------------------------------------------===//
// Norms, positions, element-wise ops
//===----------------------------------------------------------------------===//

static LogicalResult evaluateRMSNorm(RMSNormOp op, Evaluation &e) {
  return e.set(op, rmsNorm(e.tensor(op.getX()), e.tensorIf(op.getWeight()),
                           op.getEps().convertToDouble()));
}

static LogicalResult evaluateLayerNorm(LayerNormOp op, Evaluation &e) {
  return e.set(op, layerNorm(e.tensor(op.getX()), e.tensorIf(op.getWeight()),
                             e.tensorIf(op.getBias()),
                             op.getEps().convertToDouble()));
}

static LogicalResult evaluateSoftmax(SoftmaxOp op, Evaluation &e) {
  return e.set(op, softmax(e.tensor(op.getX())));
}

static LogicalResult evaluateRope(RopeOp op, Evaluation &e) {
  return e.set(op,
               rope(e.tensor(op.getX()), e.tensor(op.getPositions()),
                    op.getFrequencies().vec(),
                    op.getScaling().convertToDouble(), op.getInterleaved()));
}

static LogicalResult evaluateSilu(SiluOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getX()), reference::silu));
}

static LogicalResult evaluateGelu(GeluOp op, Evaluation &e) {
  using reference::GeluApproximation;
  GeluApproximation form =
      llvm::StringSwitch<GeluApproximation>(op.getApproximate())
          .Case("tanh", GeluApproximation::Tanh)
          .Case("quick", GeluApproximation::Quick)
          .Default(GeluApproximation::None);
  return e.set(op, map(e.tensor(op.getX()),
                       [&](double x) { return reference::gelu(x, form); }));
}

static LogicalResult evaluateSwiGLU(SwiGLUOp op, Evaluation &e) {
  return e.set(op, swiglu(e.tensor(op.getGate()), e.tensor(op.getUp())));
}

static LogicalResult evaluateAdd(AddOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getLhs()), e.tensor(op.getRhs()),
                       std::plus<double>()));
}

static LogicalResult evaluateMul(MulOp op, Evaluation &e) {
  return e.set(op, map(e.tensor(op.getLhs()), e.tensor(op.getRhs()),
                       std::multiplies<double>()));
}

static LogicalResult evaluateMeanRows(MeanRowsOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX()), &offsets = e.tensor(op.getOffsets());
  int64_t before = 0;
  for (int64_t s = 0; s < offsets.size(); ++s) {
    const int64_t offset = offsets.integer(s);
    if (offset < before || offset > x.dim(0))
      return op.emitOpError("has the offset ")
             << offset << " after " << before << ", of " << x.dim(0) << " rows";
    before = offset;
  }
  return e.set(op, meanRows(x, offsets));
}

static LogicalResult evaluateSelectRows(SelectRowsOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  if (failed(e.checkIndices(e.tensor(op.getRows()), x.dim(0), "row")))
    return failure();
  return e.set(op, selectRows(x, e.tensor(op.getRows())));
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// The stored integers of a quantized operand.
static const Tensor &storedNumbers(Value operand, Evaluation &e) {
  return std::get<QuantizedValue>(e.value(operand)).numbers;
}

static LogicalResult evaluateQuantParams(QuantParamsOp op, Evaluation &e) {
  reference::QuantParams params =
      quantParams(e.tensor(op.getX()), {int(op.getBits()), op.getSymmetric(),
                                        op.getAxis(), op.getGroupSize()});
  if (failed(e.set(op.getScales(), std::move(params.scales))))
    return failure();
  return op.getZeroPoints()
             ? e.set(op.getZeroPoints(), std::move(params.zeroPoints))
             : success();
}

static LogicalResult evaluateQuantize(QuantizeOp op, Evaluation &e) {
  Tensor numbers =
      quantize(e.tensor(op.getX()), e.tensor(op.getScales()),
               e.tensorIf(op.getZeroPoints()), getQuantSpec(op.getType()));
  return e.set(op, QuantizedValue{numbers.shape, numbers, std::nullopt, {}});
}

static LogicalResult evaluateDequantize(DequantizeOp op, Evaluation &e) {
  return e.set(op,
               dequantize(storedNumbers(op.getX(), e), e.tensor(op.getScales()),
                          e.tensorIf(op.getZeroPoints()),
                          getQuantSpec(op.getX().getType())));
}

static LogicalResult evaluateQuantizedMatmul(QuantizedMatmulOp op,
                                             Evaluation &e) {
  reference::QuantizedMatmul options;
  options.spec = getQuantSpec(cast<QuantizedTensorType>(op.getRhs().getType()));
  options.transposeRhs = op.getTransposeRhs();
  options.int8Activations = op.getActivationBits().has_value();
  options.activationGroup = op.getActivationGroupOrDefault();
  return e.set(op, quantizedMatmul(
                       e.tensor(op.getX()), storedNumbers(op.getRhs(), e),
                       e.tensor(op.getScales()), e.tensorIf(op.getZeroPoints()),
                       e.tensorIf(op.getBias()), options));
}

//===----------------------------------------------------------------------===//
// Experts and sampling
//===----------------------------------------------------------------------===//

static LogicalResult evaluateMoERoute(MoERouteOp op, Evaluation &e) {
  reference::Routing routing =
      moeRoute(e.tensor(op.getLogits()), op.getTopK(),
               op.getScore() == "sigmoid" ? reference::RouteScore::Sigmoid
                                          : reference::RouteScore::Softmax,
               op.getNormalize());
  return failure(failed(e.set(op.getExperts(), std::move(routing.experts))) ||
                 failed(e.set(op.getWeights(), std::move(routing.weights))));
}

static LogicalResult evaluateMoEFFN(MoEFFNOp op, Evaluation &e) {
  reference::ExpertParameters mlps;
  mlps.gate = e.weight(op.getGate());
  mlps.up = e.weight(op.getUp());
  mlps.down = e.weight(op.getDown());
  for (Value bias : op.getBiases())
    mlps.biases.push_back(e.weight(bias));
  if (auto limit = cast_if_present<FloatAttr>(op.getSwigluLimitAttr()))
    mlps.swigluLimit = limit.getValueAsDouble();
  mlps.usesGELU = op.getGelu();
  const Tensor &experts = e.tensor(op.getExperts());
  if (failed(e.checkIndices(experts, mlps.gate.dim(0), "expert")))
    return failure();
  return e.set(op, moeFFN(e.tensor(op.getX()), experts,
                          e.tensor(op.getWeights()), mlps));
}

static LogicalResult evaluateSample(SampleOp op, Evaluation &e) {
  SamplingParams params;
  params.temperature = op.getTemperature().convertToDouble();
  params.topK = op.getTopK();
  params.topP = op.getTopP().convertToDouble();
  params.minP = op.getMinP().convertToDouble();
  params.seed = uint64_t(op.getSeed());
  if (Status status = validateSamplingParams(params); !status)
    return e.fail(status);
  return e.set(op, sample(e.tensor(op.getLogits()), params));
}

void llmir::interpreter::addLLMEvaluators(EvaluatorTable &table) {
  table.add(evaluateWeight);
  table.add(evaluateEmbedding);
  table.add(evaluateLinear);
  table.add(evaluateHeadLinear);
  table.add(evaluateRMSNorm);
  table.add(evaluateLayerNorm);
  table.add(evaluateSoftmax);
  table.add(evaluateRope);
  table.add(evaluateSilu);
  table.add(evaluateGelu);
  table.add(evaluateSwiGLU);
  table.add(evaluateAdd);
  table.add(evaluateMul);
  table.add(evaluateMeanRows);
  table.add(evaluateSelectRows);
  table.add(evaluateQuantParams);
  table.add(evaluateQuantize);
  table.add(evaluateDequantize);
  table.add(evaluateQuantizedMatmul);
  table.add(evaluateMoERoute);
  table.add(evaluateMoEFFN);
  table.add(evaluateSample);
}
