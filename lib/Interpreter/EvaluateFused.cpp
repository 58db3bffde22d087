//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of fused ops: LLMFusedOps.td. Each evaluates its parts in
// sequence, rounding intermediate results.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Reference/NN.h"

#include <functional>

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;

static LogicalResult evaluateFusedLinear(FusedLinearOp op, Evaluation &e) {
  Tensor x = e.tensor(op.getX());
  if (std::optional<APFloat> eps = op.getNormEps())
    x = round(
        rmsNorm(x, e.tensorIf(op.getNormWeight()), eps->convertToDouble()),
        x.kind);
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    const Tensor *bias =
        op.getBiases().empty() ? nullptr : &e.tensor(op.getBiases()[i]);
    if (failed(e.set(op.getOutputs()[i], linear(x, e.weight(weight), bias))))
      return failure();
  }
  return success();
}

static LogicalResult evaluateAddRMSNorm(AddRMSNormOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  Tensor sum = map(x, e.tensor(op.getResidual()), std::plus<double>());
  Tensor normed = rmsNorm(round(sum, x.kind), &e.tensor(op.getWeight()),
                          op.getEps().convertToDouble());
  return failure(failed(e.set(op.getSum(), std::move(sum))) ||
                 failed(e.set(op.getNormed(), std::move(normed))));
}

static LogicalResult evaluateRopeAppendKV(RopeAppendKVOp op, Evaluation &e) {
  const Tensor &keys = e.tensor(op.getKeys());
  const Tensor rotated =
      round(rope(keys, e.tensor(op.getPositions()), op.getFrequencies().vec(),
                 op.getScaling().convertToDouble(), op.getInterleaved()),
            keys.kind);
  PagedCache cache = e.cache(op.getCache());
  if (Status status = cache.appendSlots(e.integer(op.getLayer()), rotated,
                                        e.tensor(op.getValues()),
                                        e.tensor(op.getSlotMapping()));
      !status)
    return e.fail(status);
  return e.set(op.getUpdatedCache(), std::move(cache));
}

void llmir::interpreter::addFusedEvaluators(EvaluatorTable &table) {
  table.add(evaluateFusedLinear);
  table.add(evaluateAddRMSNorm);
  table.add(evaluateRopeAppendKV);
}
