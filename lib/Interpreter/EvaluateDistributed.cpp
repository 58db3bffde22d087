//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of collectives and of work that ranks share.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Interpreter/ReferenceNN.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;

/// Groups have to fit the ranks that run.
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

static LogicalResult evaluateReduceScatter(ReduceScatterOp op, Evaluation &e) {
  if (failed(checkGroups(op, op.getGroupSize(), e)))
    return failure();
  return e.set(
      op, reduceScatter(e.onAllRanks(op.getX()), op.getDim(), op.getGroupSize(),
                        reductionNamed(op.getReduceOp()))[size_t(e.rank())]);
}

static LogicalResult evaluateShard(ShardOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t count = op.getNumShards(), dim = op.getDim();
  if (x.dim(dim) % count != 0)
    return op.emitOpError()
           << "cannot be evaluated: " << count << " shards of dimension " << dim
           << " of " << typeString(x);
  return e.set(
      op, shard(x, dim, count, op.getShardIndex().value_or(e.rank() % count)));
}

/// Both forms as a plain projection of the shard; weights are [K, N].
static LogicalResult evaluateShardedLinear(ShardedLinearOp op, Evaluation &e) {
  const int64_t count = op.getNumShards(), index = op.getShardId();
  const bool isRowForm = op.getShardDim() == 0;
  Tensor x = e.tensor(op.getX()), weight = e.weight(op.getWeight());
  if (isRowForm && !op.isInputShard())
    x = shard(x, x.rank() - 1, count, index);
  if (!op.isWeightShard())
    weight = shard(weight, op.getShardDim(), count, index);
  std::optional<Tensor> bias;
  if (const Tensor *whole = e.tensorIf(op.getBias())) {
    if (!isRowForm)
      bias = op.isBiasShard() ? *whole : shard(*whole, 0, count, index);
    else if (index == 0)
      bias = *whole;
  }
  return e.set(op, linear(x, transposed(weight), bias ? &*bias : nullptr));
}

void llmir::interpreter::addDistributedEvaluators(EvaluatorTable &table) {
  table.add(evaluateAllGather);
  table.add(evaluateAllReduce);
  table.add(evaluateReduceScatter);
  table.add(evaluateShard);
  table.add(evaluateShardedLinear);
}
