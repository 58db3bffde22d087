//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives, and shards of tensors. Ranks are buffers of one program: a
// collective is a kernel that reads those of its group, in ascending order of
// the ranks.
//
//===----------------------------------------------------------------------===//

#include "MatmulResult.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// The box of slice `index` of `count` in dimension `dim`.
static ElementBox sliceBox(ArrayRef<int64_t> shape, int64_t dim, int64_t count,
                           int64_t index) {
  ElementBox box;
  box.sizes.assign(shape.begin(), shape.end());
  box.sizes[dim] /= count;
  box.fromStrides = rowMajorStrides(shape);
  box.toStrides = rowMajorStrides(box.sizes);
  box.from = index * box.sizes[dim] * box.fromStrides[dim];
  return box;
}

/// The first rank of each group; fails if the ranks cannot be divided into
/// groups.
static FailureOr<SmallVector<int64_t>>
groupsOf(ProgramConversion &c, Operation *op, int64_t groupSize) {
  if (c.numRanks() % groupSize != 0)
    return op->emitOpError("has groups of ")
           << groupSize << " ranks, but llm.num_ranks of the function is "
           << c.numRanks();
  SmallVector<int64_t> firsts;
  for (int64_t rank = 0; rank < c.numRanks(); rank += groupSize)
    firsts.push_back(rank);
  return firsts;
}

/// The values of the members of a group, in rows of one length.
static FailureOr<SmallVector<RowsValue>> lookupMembers(ProgramConversion &c,
                                                       Operation *op, Value x,
                                                       int64_t first,
                                                       int64_t groupSize) {
  SmallVector<RowsValue> members;
  for (int64_t rank = first; rank < first + groupSize; ++rank) {
    c.selectRank(rank);
    FailureOr<RowsValue> rows = c.lookup(op, x, rowColumns(x));
    if (failed(rows))
      return failure();
    members.push_back(*rows);
  }
  return members;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static LogicalResult convert(ProgramConversion &c, ll::AllGatherOp op) {
  int64_t size = op.getGroupSize(), dim = op.getDim();
  auto groups = groupsOf(c, op, size);
  if (failed(groups))
    return failure();
  ArrayRef<int64_t> part = tensorShape(op.getX().getType());
  SmallVector<int64_t> strides =
      rowMajorStrides(tensorShape(op.getResult().getType()));
  for (int64_t first : *groups) {
    auto members = lookupMembers(c, op, op.getX(), first, size);
    if (failed(members))
      return failure();
    RowsValue whole = c.createResult(op.getResult());
    c.shareBuffer(whole.buffer);
    for (auto [i, member] : llvm::enumerate(*members)) {
      ElementBox box;
      box.sizes.assign(part.begin(), part.end());
      box.fromStrides = rowMajorStrides(part);
      box.toStrides = strides;
      box.to = i * part[dim] * strides[dim];
      c.copyBox(op.getLoc(), member, whole, box);
      c.selectRank(first + i);
      c.bind(op.getResult(), whole);
    }
  }
  return success();
}

static Combination combinationNamed(StringRef name) {
  return llvm::StringSwitch<Combination>(name)
      .Case("mean", Combination::Mean)
      .Case("max", Combination::Max)
      .Case("min", Combination::Min)
      .Default(Combination::Sum);
}

/// Element-wise reduction of the members' values.
static RowsValue combine(ProgramConversion &c, Location loc, StringRef how,
                         ArrayRef<RowsValue> members, Type element) {
  RowsValue out =
      c.createScratch(loc, members.front().rows, members.front().columns);
  SmallVector<Value> inputs;
  for (const RowsValue &member : members)
    inputs.push_back(member.buffer);
  c.elementwise(loc, kernelName(Twine("reduce_") + how, {out.columns}), inputs,
                out, [&](OpBuilder &b, Block &block) {
                  for (size_t i = 0; i < members.size(); ++i)
                    block.addArgument(b.getF32Type(), loc);
                  Value result = emitCombination(b, loc, combinationNamed(how),
                                                 block.getArguments());
                  YieldOp::create(b, loc, emitRound(b, loc, result, element));
                });
  return out;
}

static LogicalResult convert(ProgramConversion &c, ll::AllReduceOp op) {
  int64_t size = op.getGroupSize();
  auto groups = groupsOf(c, op, size);
  if (failed(groups))
    return failure();
  for (int64_t first : *groups) {
    auto members = lookupMembers(c, op, op.getX(), first, size);
    if (failed(members))
      return failure();
    RowsValue whole = combine(c, op.getLoc(), op.getReduceOp(), *members,
                              op.getX().getType().getElementType());
    c.shareBuffer(whole.buffer);
    for (int64_t rank = first; rank < first + size; ++rank) {
      c.selectRank(rank);
      c.bind(op.getResult(), whole);
    }
  }
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::ReduceScatterOp op) {
  int64_t size = op.getGroupSize();
  auto groups = groupsOf(c, op, size);
  if (failed(groups))
    return failure();
  for (int64_t first : *groups) {
    auto members = lookupMembers(c, op, op.getX(), first, size);
    if (failed(members))
      return failure();
    RowsValue whole = combine(c, op.getLoc(), op.getReduceOp(), *members,
                              op.getX().getType().getElementType());
    for (int64_t i = 0; i < size; ++i) {
      c.selectRank(first + i);
      c.copyBox(
          op.getLoc(), whole, c.createResult(op.getResult()),
          sliceBox(tensorShape(op.getX().getType()), op.getDim(), size, i));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

static LogicalResult convert(ProgramConversion &c, ll::ShardOp op) {
  FailureOr<RowsValue> x = c.lookup(op, op.getX());
  if (failed(x))
    return failure();
  int64_t count = op.getNumShards();
  int64_t index = op.getShardIndex().value_or(c.rank() % count);
  c.copyBox(
      op.getLoc(), *x, c.createResult(op.getResult()),
      sliceBox(tensorShape(op.getX().getType()), op.getDim(), count, index));
  return success();
}

/// A slice of each row of `x`, or of a vector.
static RowsValue sliceColumns(ProgramConversion &c, Location loc,
                              const RowsValue &x, int64_t count,
                              int64_t index) {
  RowsValue part = c.createScratch(loc, x.rows, x.columns / count);
  c.copyBox(loc, x, part, sliceBox({x.rows, x.columns}, 1, count, index));
  return part;
}

static LogicalResult convert(ProgramConversion &c, ll::ShardedLinearOp op) {
  Location loc = op.getLoc();
  int64_t count = op.getNumShards(), shard = op.getShardId();
  bool isColumnForm = op.isColumnParallel();
  SmallVector<int64_t> given = op.getGivenWeightShape();
  FailureOr<RowsValue> x =
      c.lookup(op, op.getX(), tensorShape(op.getX().getType()).back());
  FailureOr<RowsValue> weight = c.lookup(op, op.getWeight(), given[1]);
  if (failed(x) || failed(weight))
    return failure();
  if (!isColumnForm && !op.getXIsShard())
    x = sliceColumns(c, loc, *x, count, shard);

  // The weight is [K, N]: its element (n, k) is at k * N + n.
  int64_t inputs = given[0], outputs = given[1], start = 0;
  if (!op.isWeightShard()) {
    (isColumnForm ? outputs : inputs) /= count;
    start = isColumnForm ? shard * outputs : shard * inputs * given[1];
  }
  KernelWeights weights;
  weights.format = "f32";
  weights.all.push_back(
      c.packMatrix(loc, *weight, outputs, inputs, 1, given[1], start));
  bool hasBias = op.getBias() && (isColumnForm || shard == 0);
  if (hasBias) {
    FailureOr<RowsValue> bias =
        c.lookup(op, op.getBias(), tensorShape(op.getBias().getType()).front());
    if (failed(bias))
      return failure();
    if (isColumnForm && !op.getBiasIsShard())
      bias = sliceColumns(c, loc, *bias, count, shard);
    weights.all.push_back(bias->buffer);
  }
  RowsValue input = c.matmulInput(loc, op.getX(), *x, op.getWeight().getType(),
                                  weights.format);
  RowsValue out = c.createResult(op.getResult(), *x, outputs);
  appendLinear(c, loc, kernelName("linear_f32", {outputs, inputs}),
               {outputs, inputs}, weights, input.buffer, {}, out);
  return success();
}

void addCollectiveConversions(ConversionTable &table) {
  table.addForAllRanks<ll::AllGatherOp>(convert, OpForm::Exact);
  table.addForAllRanks<ll::AllReduceOp>(convert, OpForm::Exact);
  table.addForAllRanks<ll::ReduceScatterOp>(convert, OpForm::Exact);
  table.add<ll::ShardOp>(convert, OpForm::Exact);
  table.add<ll::ShardedLinearOp>(convert);
}

} // namespace llmir
