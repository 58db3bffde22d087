//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of mllm gathers, scatters, sorts and reductions.
//
//===----------------------------------------------------------------------===//

#include "MLLMEvaluation.h"

#include "llmir/Dialect/MLLM/MLLMIndexOps.h"
#include "llmir/Reference/Index.h"
#include "llmir/Reference/Reduce.h"

using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

static LogicalResult evaluateGather(mllm::GatherOp op, Evaluation &e) {
  const Tensor &table = e.tensor(op.getTable());
  return e.setChecked(op.getResult(), gather(table, e.tensor(op.getIndices()),
                                             axisOf(op.getDim(), table)));
}

static LogicalResult evaluateScatter(mllm::ScatterOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  return e.setChecked(op.getResult(), scatter(x, e.tensor(op.getIndices()),
                                              e.tensor(op.getSource()),
                                              axisOf(op.getDim(), x)));
}

static LogicalResult evaluateMaskedScatter(mllm::MaskedScatterOp op,
                                           Evaluation &e) {
  return e.setChecked(op.getResult(),
                      maskedScatter(e.tensor(op.getX()), e.tensor(op.getMask()),
                                    e.tensor(op.getSource())));
}

static LogicalResult evaluateIndex(mllm::IndexOp op, Evaluation &e) {
  std::vector<reference::Indexer> indexers;
  for (const reference::IndexRange &range :
       indexRangesOf(op.getStarts(), op.getEnds(), op.getSteps()))
    indexers.push_back({range, nullptr});
  for (auto [dim, tensor] : llvm::zip(op.getDims(), op.getIndices()))
    indexers[size_t(dim)].tensor = &e.tensor(tensor);
  return e.setChecked(op.getResult(), index(e.tensor(op.getX()), indexers));
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

static LogicalResult evaluateTopK(mllm::TopKOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t dim = axisOf(op.getDim(), x), k = op.getK();
  if (k > x.dim(dim))
    return e.fail(
        Status(StatusCode::InvalidArgument, "'k' is " + std::to_string(k) +
                                                ", but the dimension has " +
                                                std::to_string(x.dim(dim))));
  auto [values, indices] = topK(x, k, dim, op.getLargest());
  if (failed(e.set(op.getValues(), std::move(values))))
    return failure();
  return e.set(op.getIndices(), std::move(indices));
}

static LogicalResult evaluateArgsort(mllm::ArgsortOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  return e.set(op.getResult(),
               argsort(x, axisOf(op.getDim(), x), op.getDescending()));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename OpT, reference::ReduceKind kind>
static LogicalResult evaluateReduction(OpT op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  std::optional<int64_t> dim;
  if (op.getDim())
    dim = axisOf(*op.getDim(), x);
  return e.set(op.getResult(), reduce(x, dim, op.getKeepDim(), kind));
}

void llmir::interpreter::addMLLMIndexEvaluators(EvaluatorTable &table) {
  using reference::ReduceKind;
  table.add(evaluateGather);
  table.add(evaluateScatter);
  table.add(evaluateMaskedScatter);
  table.add(evaluateIndex);
  table.add(evaluateTopK);
  table.add(evaluateArgsort);
  table.add(evaluateReduction<mllm::ReduceMaxOp, ReduceKind::Max>);
  table.add(evaluateReduction<mllm::ReduceMinOp, ReduceKind::Min>);
  table.add(evaluateReduction<mllm::ReduceSumOp, ReduceKind::Sum>);
  table.add(evaluateReduction<mllm::MeanOp, ReduceKind::Mean>);
}
