//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Projections, embedding, and sharding.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

Value roundedToBF16(ScalarBuilder &s, Value x) {
  return s.toF32(s.roundTo(x, s.getBF16Type()));
}

Value project(TensorBuilder &t, Value x, Value weight, Value bias,
              bool isTransposed) {
  const int64_t rank = t.type(x).getRank();
  TensorBuilder::Sizes sizes = t.sizes(x);
  sizes.back() = t.size(weight, isTransposed ? 0 : 1);
  // Loops: the rows of x, n, k.
  SmallVector<int64_t> row = t.range(0, rank - 1), result = t.range(0, rank);
  row.push_back(rank);
  AffineMap ofWeight = isTransposed ? t.map(rank + 1, {rank - 1, rank})
                                    : t.map(rank + 1, {rank, rank - 1});
  const bool roundsInputs = t.elementType(weight).isBF16();
  Value sums =
      t.reduce(t.filled(sizes, 0), {x, weight},
               {t.map(rank + 1, row), ofWeight, t.map(rank + 1, result)},
               [&](ScalarBuilder &s, ValueRange v) {
                 Value input = roundsInputs ? roundedToBF16(s, v[0]) : v[0];
                 return s.addf(v[2], s.mulf(input, v[1]));
               });
  return withBias(t, sums, bias, t.elementType(x));
}

Value withBias(TensorBuilder &t, Value sums, Value bias, Type element) {
  if (!bias && element.isF32())
    return sums;
  const int64_t rank = t.type(sums).getRank();
  SmallVector<Value> inputs = {sums};
  SmallVector<AffineMap> maps = {t.map(rank, t.range(0, rank))};
  if (bias) {
    inputs.push_back(bias);
    maps.push_back(t.map(rank, {rank - 1}));
  }
  return t.compute(t.sizes(sums), element, inputs, maps,
                   [](ScalarBuilder &s, ValueRange v) {
                     return v.size() > 1 ? s.addf(v[0], v[1]) : v[0];
                   });
}

static SmallVector<Value> convertLinear(TensorBuilder &t, LinearOp op,
                                        LinearOp::Adaptor operands) {
  WeightOperand weight{operands.getWeight(), op.getWeight().getType()};
  return {project(t, operands.getX(), weight.decoded(t), operands.getBias(),
                  /*isTransposed=*/true)};
}

static SmallVector<Value> convertEmbedding(TensorBuilder &t, EmbeddingOp op,
                                           EmbeddingOp::Adaptor operands) {
  WeightOperand table{operands.getTable(), op.getTable().getType()};
  TensorBuilder::Sizes sizes = {t.size(operands.getIds(), 0),
                                table.sizes(t).back()};
  return {t.compute(sizes, t.elementType(op.getResult()), operands.getIds(),
                    t.map(2, {0}), [&](ScalarBuilder &s, ValueRange v) {
                      return table.at(s, {s.toIndex(v[0]), s.loop(1)});
                    })};
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Slice `index` of `count` equal slices. Dynamic sizes are checked at run
/// time.
static Value shardOf(TensorBuilder &t, Value x, int64_t dim, int64_t count,
                     int64_t index) {
  if (t.type(x).isDynamicDim(dim)) {
    Value rest = t.remi(t.asValue(t.size(x, dim)), t.index(count));
    cf::AssertOp::create(t, t.cmp(arith::CmpIPredicate::eq, rest, t.index(0)),
                         "a dimension is not a multiple of " +
                             std::to_string(count) + ", the number of shards");
  }
  OpFoldResult size = t.quotientOf(t.size(x, dim), t.fixed(count));
  return t.slice(x, dim, t.product(size, t.fixed(index)), size);
}

/// Without an index, the slice is that of the rank, which is 0 in a function of
/// one rank.
static SmallVector<Value> convertShard(TensorBuilder &t, ShardOp op,
                                       ShardOp::Adaptor operands) {
  return {shardOf(t, operands.getX(), op.getDim(), op.getNumShards(),
                  op.getShardIndex().value_or(0))};
}

static SmallVector<Value>
convertShardedLinear(TensorBuilder &t, ShardedLinearOp op,
                     ShardedLinearOp::Adaptor operands) {
  const int64_t count = op.getNumShards(), index = op.getShardId();
  const bool isRowForm = !op.isColumnParallel();
  Value x = operands.getX(), weight = operands.getWeight();
  Value bias = operands.getBias();
  if (isRowForm && !op.getXIsShard())
    x = shardOf(t, x, t.type(x).getRank() - 1, count, index);
  if (!op.isWeightShard())
    weight = shardOf(t, weight, op.getShardDim(), count, index);
  if (bias && isRowForm && index > 0)
    bias = Value(); // Shard 0 adds it.
  else if (bias && !isRowForm && !op.getBiasIsShard())
    bias = shardOf(t, bias, 0, count, index);
  return {project(t, x, weight, bias, /*isTransposed=*/false)};
}

/// Only groups of one rank are supported, in which collectives are the
/// identity.
template <typename OpTy>
static SmallVector<Value> convertCollective(TensorBuilder &t, OpTy op,
                                            typename OpTy::Adaptor operands) {
  return {operands.getX()};
}

void addProductPatterns(LinalgPatterns &patterns) {
  patterns.add(convertLinear);
  patterns.add(convertEmbedding);
  patterns.add(convertShard);
  patterns.add(convertShardedLinear);
  patterns.add(convertCollective<AllGatherOp>);
  patterns.add(convertCollective<AllReduceOp>);
  patterns.add(convertCollective<ReduceScatterOp>);
}

} // namespace llmir
