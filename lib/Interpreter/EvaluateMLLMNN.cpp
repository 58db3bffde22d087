//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of layers: MLLMNNOps.td.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMNNOps.h"
#include "llmir/Interpreter/ReferenceNN.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

static LogicalResult evaluateEmbedding(mllm::EmbeddingOp op, Evaluation &e) {
  const Tensor &ids = e.tensor(op.getIds());
  FailureOr<Tensor> table = e.parameter(op.getWeightAttr());
  if (failed(table) || failed(e.checkIndices(ids, table->dim(0), "id")))
    return failure();
  Shape shape = ids.shape;
  shape.push_back(table->dim(1));
  return e.set(op, embedding(ids, *table).reshaped(shape));
}

static LogicalResult evaluateLinear(mllm::LinearOp op, Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  if (failed(weight))
    return failure();
  if (!op.getBiasAttr())
    return e.set(op, linear(e.tensor(op.getX()), *weight));
  FailureOr<Tensor> bias = e.parameter(op.getBiasAttr());
  if (failed(bias))
    return failure();
  return e.set(op, linear(e.tensor(op.getX()), *weight, &*bias));
}

static LogicalResult evaluateRMSNorm(mllm::RMSNormOp op, Evaluation &e) {
  FailureOr<Tensor> weight = e.parameter(op.getWeightAttr());
  if (failed(weight))
    return failure();
  return e.set(op, rmsNorm(e.tensor(op.getX()), &*weight,
                           op.getEps().convertToDouble()));
}

static LogicalResult evaluateSoftmax(mllm::SoftmaxOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t axis = op.getAxis();
  return e.set(op, softmax(x, axis < 0 ? axis + x.rank() : axis));
}

void llmir::interpreter::addMLLMNNEvaluators(EvaluatorTable &table) {
  table.add(evaluateEmbedding);
  table.add(evaluateLinear);
  table.add(evaluateRMSNorm);
  table.add(evaluateSoftmax);
}
