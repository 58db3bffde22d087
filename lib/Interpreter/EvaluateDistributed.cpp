//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of sharding and collective ops.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Reference/NN.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;

/// The number of ranks must be a multiple of the group size.
static LogicalResult checkGroups(Operation *op, int64_t groupSize,
                                 Evaluation &e) {
  if (e.numRanks() % groupSize == 0)
    return success();
  return op->emitOpError() << "cannot be evaluated: groups of " << groupSize
                           << " ranks among " << e.numRanks()
                           << " (llm.num_ranks of the function)";
}

static reference::Reduction reductionNamed(StringRef name) {
  return llvm::StringSwitch<reference::Reduction>(name)
      .Case("mean", reference::Reduction::Mean)
      .Case("max", reference::Reduction::Max)
      .Case("min", reference::Reduction::Min)
      .Default(reference::Reduction::Sum);
}

static LogicalResult evaluateAllGather(AllGatherOp op, Evaluation &e) {
  if (failed(checkGroups(op, op.getGroupSize(), e)))
    return failure();
  return e.set(op, allGather(e.onAllRanks(op.getX()), op.getDim(),
                             op.getGroupSize())[size_t(e.rank())]);
}

static LogicalResult evaluateAllReduce(AllReduceOp op, Evaluation &e) {
  if (failed(checkGroups(op, op.getGroupSize(), e)))
    return failure();
  return e.set(op,
               allReduce(e.onAllRanks(op.getX()), op.getGroupSize(),
                         reductionNamed(op.getReduceOp()))[size_t(e.rank())]);
}

/// Checks dynamic sizes.
static LogicalResult checkDivides(Operation *op, const Tensor &x, int64_t dim,
                                  int64_t count) {
  if (x.dim(dim) % count == 0)
    return success();
  return op->emitOpError() << "cannot be evaluated: " << count
                           << " shards of dimension " << dim << " of "
                           << typeString(x);
}

static LogicalResult evaluateReduceScatter(ReduceScatterOp op, Evaluation &e) {
  if (failed(checkGroups(op, op.getGroupSize(), e)) ||
      failed(checkDivides(op, e.tensor(op.getX()), op.getDim(),
                          op.getGroupSize())))
    return failure();
  return e.set(
      op, reduceScatter(e.onAllRanks(op.getX()), op.getDim(), op.getGroupSize(),
                        reductionNamed(op.getReduceOp()))[size_t(e.rank())]);
}

static LogicalResult evaluateShard(ShardOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t count = op.getNumShards(), dim = op.getDim();
  if (failed(checkDivides(op, x, dim, count)))
    return failure();
  return e.set(
      op, shard(x, dim, count, op.getShardIndex().value_or(e.rank() % count)));
}

/// Evaluates both forms as a plain projection of the shard; weights are [K, N].
static LogicalResult evaluateShardedLinear(ShardedLinearOp op, Evaluation &e) {
  const int64_t count = op.getNumShards(), index = op.getShardId();
  const bool isRowForm = op.getShardDim() == 0;
  auto sliced = [&](const Tensor &x, int64_t dim,
                    bool isShard) -> FailureOr<Tensor> {
    if (isShard)
      return x;
    if (failed(checkDivides(op, x, dim, count)))
      return failure();
    return shard(x, dim, count, index);
  };
  const Tensor &given = e.tensor(op.getX());
  FailureOr<Tensor> x =
      sliced(given, given.rank() - 1, !isRowForm || op.getXIsShard());
  FailureOr<Tensor> weight =
      sliced(e.weight(op.getWeight()), op.getShardDim(), op.isWeightShard());
  if (failed(x) || failed(weight))
    return failure();
  if (x->dim(-1) != weight->dim(0))
    return op.emitOpError()
           << "cannot be evaluated: rows of " << x->dim(-1)
           << " elements, but a weight of " << weight->dim(0) << " inputs";
  std::optional<Tensor> bias;
  if (const Tensor *whole = e.tensorIf(op.getBias());
      whole && (!isRowForm || index == 0)) {
    FailureOr<Tensor> part =
        sliced(*whole, 0, isRowForm || op.getBiasIsShard());
    if (failed(part))
      return failure();
    if (part->size() != weight->dim(1))
      return op.emitOpError()
             << "cannot be evaluated: a bias of " << part->size()
             << " elements, but " << weight->dim(1) << " outputs";
    bias = std::move(*part);
  }
  return e.set(op, linear(*x, transposed(*weight), bias ? &*bias : nullptr));
}

void llmir::interpreter::addDistributedEvaluators(EvaluatorTable &table) {
  table.add(evaluateAllGather);
  table.add(evaluateAllReduce);
  table.add(evaluateReduceScatter);
  table.add(evaluateShard);
  table.add(evaluateShardedLinear);
}
