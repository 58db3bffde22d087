//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding and collective ops: types, verifiers, folding. Labels are those of
// LLMCollectiveOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::llm;

/// `type` with `dim` multiplied by `times` and divided by `parts`.
static RankedTensorType getScaledType(RankedTensorType type, int64_t dim,
                                      int64_t times, int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape[dim]))
    shape[dim] = shape[dim] * times / parts;
  return type.clone(shape);
}

static bool isReduction(StringRef name) {
  return llvm::is_contained({"sum", "mean", "max", "min"}, name);
}

/// The number of ranks that run the function around `op`, if known.
static std::optional<int64_t> getNumRanks(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return std::nullopt;
  auto ranks =
      function->getAttrOfType<IntegerAttr>(LLMDialect::getNumRanksAttrName());
  if (!ranks)
    return std::nullopt;
  return ranks.getInt();
}

/// Groups have equal size.
static LogicalResult verifyGroup(Operation *op, int64_t groupSize) {
  if (groupSize <= 0)
    return op->emitOpError()
           << "group_size must be positive, not " << groupSize;
  std::optional<int64_t> ranks = getNumRanks(op);
  if (ranks && *ranks % groupSize != 0)
    return op->emitOpError()
           << "group_size " << groupSize << " does not divide the function's "
           << *ranks << " ranks";
  return success();
}

//===----------------------------------------------------------------------===//
// shard
//===----------------------------------------------------------------------===//

void ShardOp::build(OpBuilder &builder, OperationState &state, Value x,
                    int64_t dim, int64_t numShards) {
  auto type = cast<RankedTensorType>(x.getType());
  build(builder, state, getScaledType(type, dim, 1, numShards), x, dim,
        numShards, /*shard_index=*/IntegerAttr());
}

LogicalResult ShardOp::verify() {
  RankedTensorType x = getX().getType();
  int64_t dim = getDim(), shards = getNumShards();
  if (dim < 0 || dim >= x.getRank()) // c1
    return emitOpError() << "dim " << dim
                         << " is not a dimension of a tensor of rank "
                         << x.getRank();
  if (shards <= 0) // c2
    return emitOpError() << "num_shards must be positive, not " << shards;
  int64_t size = x.getDimSize(dim);
  if (!ShapedType::isDynamic(size) && size % shards != 0) // c2
    return emitOpError() << "num_shards " << shards
                         << " does not divide dimension " << dim << " of size "
                         << size;
  int64_t index = getShardIndex().value_or(0);
  if (index < 0 || index >= shards) // c3
    return emitOpError() << "shard_index " << index << " is not between 0 and "
                         << shards - 1;

  Type expected = getScaledType(x, dim, 1, shards);
  if (isa<ShardedTensorType>(getType())) {
    if (!getShardIndexAttr() || ShapedType::isDynamic(size)) // c4
      return emitOpError() << "yields a sharded tensor only for a static size "
                              "and with a shard_index";
    expected = ShardedTensorType::get(getContext(), x, dim, shards, index);
  }
  if (getType() != expected) // c4
    return emitOpError() << "must yield " << expected << ", not " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// sharded_linear
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ShardedLinearOp::getGivenWeightShape() {
  Type type = getWeight().getType();
  if (auto sharded = dyn_cast<ShardedTensorType>(type))
    type = sharded.getShardType();
  return SmallVector<int64_t>(cast<RankedTensorType>(type).getShape());
}

bool ShardedLinearOp::isWeightShard() {
  return getWeightIsShard() || isa<ShardedTensorType>(getWeight().getType());
}

/// Rule c4: the type of a sharded weight.
static LogicalResult verifyShardedWeight(ShardedLinearOp op) {
  auto type = dyn_cast<ShardedTensorType>(op.getWeight().getType());
  if (!type)
    return success();
  if (type.getOriginalType().getRank() != 2)
    return op.emitOpError() << "has a sharded weight of rank "
                            << type.getOriginalType().getRank() << ", not 2";
  Type element = type.getOriginalType().getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op.emitOpError() << "has a sharded weight of " << element
                            << ", not of f16, bf16 or f32";
  if (failed(verifyRepeated(op, "shard_dim", op.getShardDim(),
                            type.getShardDim(), "weight")) ||
      failed(verifyRepeated(op, "num_shards", op.getNumShards(),
                            type.getNumShards(), "weight")))
    return failure();
  return verifyRepeated(op, "shard_id", op.getShardId(), type.getShardIndex(),
                        "weight");
}

/// The size of one of `parts` slices; dynamic if `size` is, nullopt if `parts`
/// does not divide it.
static std::optional<int64_t> getSliceSize(int64_t size, int64_t parts) {
  if (ShapedType::isDynamic(size))
    return size;
  if (size % parts != 0)
    return std::nullopt;
  return size / parts;
}

/// Rules c5, c6 and c8: rows of x, the weight, rows of the result.
static LogicalResult verifyShardedSizes(ShardedLinearOp op) {
  SmallVector<int64_t> weight = op.getGivenWeightShape();
  ArrayRef<int64_t> x = op.getX().getType().getShape();
  ArrayRef<int64_t> result = op.getType().getShape();
  int64_t shards = op.getNumShards();
  // `weight` becomes the shape of the slice to be multiplied, [inputs,
  // outputs].
  if (!op.isWeightShard()) {
    int64_t &cut = weight[op.getShardDim()];
    std::optional<int64_t> slice = getSliceSize(cut, shards);
    if (!slice) // c8
      return op.emitOpError()
             << "cannot slice a weight of " << cut
             << (op.isColumnParallel() ? " outputs" : " inputs") << " into "
             << shards << " shards";
    cut = *slice;
  }
  int64_t inputs = weight[0], outputs = weight[1];

  std::optional<int64_t> rows = x.back();
  bool isSliced = !op.isColumnParallel() && !op.getXIsShard();
  if (isSliced)
    rows = getSliceSize(x.back(), shards);
  if (!rows || !sizesAgree(*rows, inputs)) { // c5
    InFlightDiagnostic diag = op.emitOpError();
    diag << "has rows of " << x.back() << " elements, but ";
    if (!isSliced)
      return diag << "multiplies them by " << inputs;
    return diag << "slices them for " << shards << " shards of " << inputs
                << "; use 'x_is_shard' if they are already the slice";
  }
  if (!shapesAgree(x.drop_back(), result.drop_back()) ||
      !sizesAgree(result.back(), outputs)) { // c6
    SmallVector<int64_t> expected(x);
    expected.back() = outputs;
    return op.emitOpError() << "must yield shape " << shapeToString(expected)
                            << ", not " << shapeToString(result)
                            << (op.isColumnParallel() && !op.isWeightShard()
                                    ? "; use 'weight_is_shard' if the weight "
                                      "is already the slice"
                                    : "");
  }
  return success();
}

/// Rules c7, c8 and c9: the bias, and the forms that allow `x_is_shard` and
/// `bias_is_shard`.
static LogicalResult verifyShardedBias(ShardedLinearOp op) {
  if (op.getXIsShard() && op.isColumnParallel()) // c9
    return op.emitOpError() << "has 'x_is_shard', but the column form takes "
                               "whole rows";
  if (op.getBiasIsShard() && (!op.isColumnParallel() || !op.getBias())) // c9
    return op.emitOpError()
           << "has 'bias_is_shard', but "
           << (op.getBias() ? "the row form takes the whole bias" : "no bias");
  if (!op.getBias())
    return success();
  int64_t entries = tensorType(op.getBias()).getDimSize(0);
  int64_t outputs = op.getType().getShape().back();
  std::optional<int64_t> added = entries;
  bool isSliced = op.isColumnParallel() && !op.getBiasIsShard();
  if (isSliced)
    added = getSliceSize(entries, op.getNumShards());
  if (!added) // c8
    return op.emitOpError()
           << "cannot slice a bias of " << entries << " elements into "
           << op.getNumShards() << " shards";
  if (sizesAgree(*added, outputs)) // c7
    return success();
  return op.emitOpError()
         << "has a bias of " << entries << " elements, but results of "
         << outputs
         << (isSliced ? "; use 'bias_is_shard' if it is already the slice"
                      : "");
}

LogicalResult ShardedLinearOp::verify() {
  int64_t shards = getNumShards();
  if (getShardDim() != 0 && getShardDim() != 1) // c1
    return emitOpError() << "shard_dim must be 0 (inputs) or 1 (outputs), not "
                         << getShardDim();
  if (shards <= 0) // c2
    return emitOpError() << "num_shards must be positive, not " << shards;
  if (getShardId() < 0 || getShardId() >= shards) // c3
    return emitOpError() << "shard_id " << getShardId()
                         << " is not between 0 and " << shards - 1;
  if (getType().getRank() != getX().getType().getRank() ||
      getType().getElementType() != getX().getType().getElementType()) // c6
    return emitOpError()
           << "must yield a tensor of the rank and element type of "
           << getX().getType() << ", not " << getType();
  if (failed(verifyShardedWeight(*this)) || failed(verifyShardedSizes(*this)))
    return failure();
  return verifyShardedBias(*this);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= x.getRank()) // c1
    return emitOptionalError(loc, "'llm.all_gather' op dim ", dim,
                             " is not a dimension of a tensor of rank ",
                             x.getRank());
  int64_t size = x.getDimSize(dim);
  if (!ShapedType::isDynamic(size) &&
      !llvm::checkedMul(size, int64_t(adaptor.getGroupSize()))) // c3
    return emitOptionalError(loc, "'llm.all_gather' op concatenates ",
                             adaptor.getGroupSize(), " values of size ", size,
                             ", which overflows 63 bits");
  types.push_back(getScaledType(x, dim, adaptor.getGroupSize(), 1));
  return success();
}

LogicalResult AllGatherOp::verify() {
  return verifyGroup(*this, getGroupSize()); // c2
}

LogicalResult AllReduceOp::verify() {
  if (!isReduction(getReduceOp())) // c1
    return emitOpError() << "reduce_op must be sum, mean, max or min, not "
                         << getReduceOp();
  return verifyGroup(*this, getGroupSize()); // c2
}

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t dim = adaptor.getDim();
  // The verifier rejects empty groups (c2).
  int64_t parts = std::max<int64_t>(adaptor.getGroupSize(), 1);
  if (dim < 0 || dim >= x.getRank()) // c1
    return emitOptionalError(loc, "'llm.reduce_scatter' op dim ", dim,
                             " is not a dimension of a tensor of rank ",
                             x.getRank());
  int64_t size = x.getDimSize(dim);
  if (!ShapedType::isDynamic(size) && size % parts != 0) // c3
    return emitOptionalError(loc, "'llm.reduce_scatter' op group_size ", parts,
                             " does not divide dimension ", dim, " of size ",
                             size);
  types.push_back(getScaledType(x, dim, 1, parts));
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  if (!isReduction(getReduceOp())) // c4
    return emitOpError() << "reduce_op must be sum, mean, max or min, not "
                         << getReduceOp();
  return verifyGroup(*this, getGroupSize()); // c2
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Communication within a group of one rank is the identity.
static OpFoldResult foldAlone(int64_t groupSize, Value x, Type type) {
  return groupSize == 1 && x.getType() == type ? x : Value();
}

OpFoldResult ShardOp::fold(FoldAdaptor) {
  return foldAlone(getNumShards(), getX(), getType());
}

OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  return foldAlone(getGroupSize(), getX(), getType());
}

OpFoldResult ReduceScatterOp::fold(FoldAdaptor) {
  return foldAlone(getGroupSize(), getX(), getType());
}

OpFoldResult AllReduceOp::fold(FoldAdaptor) {
  if (OpFoldResult alone = foldAlone(getGroupSize(), getX(), getType()))
    return alone;
  // All members have the same value already, and max and min are idempotent.
  // (Sums are not; nor, due to rounding, are means.)
  auto before = getX().getDefiningOp<AllReduceOp>();
  bool isIdempotent = getReduceOp() == "max" || getReduceOp() == "min";
  if (before && isIdempotent && before.getGroupSize() == getGroupSize())
    return getX();
  return {};
}
