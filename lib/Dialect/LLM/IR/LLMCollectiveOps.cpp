//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work shared by ranks: types, verifiers, folding. Labels are those of
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

/// True if `whole` is `parts` times `part`, all of them known.
static bool isWholeOf(int64_t whole, int64_t part, int64_t parts) {
  return !ShapedType::isDynamic(part) && !ShapedType::isDynamic(whole) &&
         llvm::checkedMul(part, parts) == whole;
}

static bool isReduction(StringRef name) {
  return llvm::is_contained({"sum", "mean", "max", "min"}, name);
}

/// The ranks that run the function around `op`, where that is said.
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

/// Groups are equal parts of the ranks.
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
                         << " is no dimension of a tensor of rank "
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
    return emitOpError() << "shard_index " << index << " is not from 0 to "
                         << shards - 1;

  Type expected = getScaledType(x, dim, 1, shards);
  if (isa<ShardedTensorType>(getType())) {
    if (!getShardIndexAttr() || ShapedType::isDynamic(size)) // c4
      return emitOpError() << "gives a sharded tensor only of a known size and "
                              "with a shard_index";
    expected = ShardedTensorType::get(getContext(), x, dim, shards, index);
  }
  if (getType() != expected) // c4
    return emitOpError() << "gives " << expected << ", not " << getType();
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
  if (isa<ShardedTensorType>(getWeight().getType()))
    return true;
  SmallVector<int64_t> weight = getGivenWeightShape();
  if (isColumnParallel())
    return sizesAgree(weight[1], getType().getShape().back());
  return isWholeOf(getX().getType().getShape().back(), weight[0],
                   getNumShards());
}

bool ShardedLinearOp::isInputShard() {
  if (isColumnParallel())
    return false;
  int64_t inputs = getX().getType().getShape().back();
  int64_t rows = getGivenWeightShape()[0];
  // Equal sizes are both whole, unless the weight says that it is a shard.
  if (isa<ShardedTensorType>(getWeight().getType()))
    return inputs == rows;
  return isWholeOf(rows, inputs, getNumShards());
}

bool ShardedLinearOp::isBiasShard() {
  return isColumnParallel() && getBias() &&
         sizesAgree(tensorType(getBias()).getDimSize(0),
                    getType().getShape().back());
}

/// Rule c4: what a sharded weight's type says.
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

/// Rules c5, c6 and c8: rows of x, the weight, rows of the result.
static LogicalResult verifyShardedSizes(ShardedLinearOp op) {
  SmallVector<int64_t> weight = op.getGivenWeightShape();
  ArrayRef<int64_t> x = op.getX().getType().getShape();
  ArrayRef<int64_t> result = op.getType().getShape();
  int64_t shards = op.getNumShards();
  int64_t inputs = x.back();

  bool fits = sizesAgree(inputs, weight[0]);
  if (!op.isColumnParallel())
    fits |= isWholeOf(inputs, weight[0], shards) ||
            (!isa<ShardedTensorType>(op.getWeight().getType()) &&
             isWholeOf(weight[0], inputs, shards));
  if (!fits) // c5
    return op.emitOpError()
           << "has rows of " << inputs << " numbers, but a weight of "
           << weight[0] << " inputs in " << shards << " shards";

  bool isSliced = !op.isWeightShard();
  int64_t cut = weight[op.getShardDim()];
  if (isSliced && !ShapedType::isDynamic(cut) && cut % shards != 0) // c8
    return op.emitOpError() << "cannot slice a weight of " << cut
                            << (op.isColumnParallel() ? " outputs" : " inputs")
                            << " into " << shards << " shards";
  int64_t outputs = weight[1];
  if (isSliced && op.isColumnParallel() && !ShapedType::isDynamic(outputs))
    outputs /= shards;
  if (!shapesAgree(x.drop_back(), result.drop_back()) ||
      !sizesAgree(result.back(), outputs)) { // c6
    SmallVector<int64_t> expected(x);
    expected.back() = outputs;
    return op.emitOpError() << "gives " << shapeToString(expected) << ", not "
                            << shapeToString(result);
  }
  return success();
}

LogicalResult ShardedLinearOp::verify() {
  int64_t shards = getNumShards();
  if (getShardDim() != 0 && getShardDim() != 1) // c1
    return emitOpError() << "shard_dim must be 0 (inputs) or 1 (outputs), not "
                         << getShardDim();
  if (shards <= 0) // c2
    return emitOpError() << "num_shards must be positive, not " << shards;
  if (getShardId() < 0 || getShardId() >= shards) // c3
    return emitOpError() << "shard_id " << getShardId() << " is not from 0 to "
                         << shards - 1;
  if (getType().getRank() != getX().getType().getRank() ||
      getType().getElementType() != getX().getType().getElementType()) // c6
    return emitOpError() << "gives a tensor of the rank and element type of "
                         << getX().getType() << ", not " << getType();
  if (failed(verifyShardedWeight(*this)) || failed(verifyShardedSizes(*this)))
    return failure();

  if (Value bias = getBias()) {
    int64_t entries = tensorType(bias).getDimSize(0);
    int64_t outputs = getType().getShape().back();
    bool fits = sizesAgree(entries, outputs);
    if (isColumnParallel())
      fits |= isWholeOf(entries, outputs, shards);
    if (!fits) // c7
      return emitOpError() << "has a bias of " << entries
                           << " entries, but results of " << outputs;
  }
  return success();
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
                             " is no dimension of a tensor of rank ",
                             x.getRank());
  int64_t size = x.getDimSize(dim);
  if (!ShapedType::isDynamic(size) &&
      !llvm::checkedMul(size, int64_t(adaptor.getGroupSize()))) // c3
    return emitOptionalError(loc, "'llm.all_gather' op joins ",
                             adaptor.getGroupSize(), " parts of ", size,
                             ", which is more than fits in 63 bits");
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
  // The verifier refuses a group of nobody (c2).
  int64_t parts = std::max<int64_t>(adaptor.getGroupSize(), 1);
  if (dim < 0 || dim >= x.getRank()) // c1
    return emitOptionalError(loc, "'llm.reduce_scatter' op dim ", dim,
                             " is no dimension of a tensor of rank ",
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

/// An exchange with nobody gives what there is.
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
  // All members have the same value already, and the greatest of equal numbers
  // is that number. (Sums and, by rounding, means are not so.)
  auto before = getX().getDefiningOp<AllReduceOp>();
  bool isIdempotent = getReduceOp() == "max" || getReduceOp() == "min";
  if (before && isIdempotent && before.getGroupSize() == getGroupSize())
    return getX();
  return {};
}
