//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that move elements.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;

namespace llmir {

static LogicalResult lower(OpLowering &l, mllm::ViewOp op) {
  return l.replace(l.reshape(op.getX(), l.resultType().getShape()));
}

static LogicalResult lower(OpLowering &l, mllm::TransposeOp op) {
  int64_t rank = OpLowering::type(op.getX()).getRank();
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < rank; ++d)
    axes.push_back(d);
  std::swap(axes[dimOf(op.getDim0(), rank)], axes[dimOf(op.getDim1(), rank)]);
  return l.replace(l.transpose(op.getX(), axes));
}

static LogicalResult lower(OpLowering &l, mllm::ReshapeOp op) {
  return l.replace(l.reshape(op.getX(), l.resultType().getShape()));
}

static LogicalResult lower(OpLowering &l, mllm::PermuteOp op) {
  int64_t rank = OpLowering::type(op.getX()).getRank();
  SmallVector<int64_t> axes;
  for (int64_t axis : op.getAxes())
    axes.push_back(dimOf(axis, rank));
  return l.replace(l.transpose(op.getX(), axes));
}

/// The memory of values is assigned for the program.
template <typename OpTy>
static LogicalResult lowerSame(OpLowering &l, OpTy op) {
  return l.replace(op.getX());
}

static LogicalResult lower(OpLowering &l, mllm::CopyOp op) {
  return l.replace(op.getSrc());
}

//===----------------------------------------------------------------------===//
// Constants and memory
//===----------------------------------------------------------------------===//

static LogicalResult lower(OpLowering &l, mllm::ConstantOp op) {
  auto value = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!value)
    return l.refuse() << "its value is not dense";
  // The type of the tensor without its encoding.
  return l.replace(l.constant(value.reshape(l.resultType())));
}

/// Memory is planned for the program; the elements are not read.
static LogicalResult lower(OpLowering &l, mllm::AllocOp op) {
  RankedTensorType type = l.resultType();
  return l.replace(l.empty(type));
}

/// Ops without computation.
template <typename OpTy>
static LogicalResult lowerNothing(OpLowering &l, OpTy) {
  return l.replace({});
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static LogicalResult lower(OpLowering &l, mllm::SplitOp op) {
  int64_t dim = dimOf(op.getDim(), OpLowering::type(op.getX()).getRank());
  SmallVector<Value> parts;
  int64_t at = 0;
  for (Value part : op.getParts()) {
    RankedTensorType type = OpLowering::type(part);
    SmallVector<int64_t> offsets(type.getRank(), 0), steps(type.getRank(), 1);
    offsets[dim] = at;
    at += type.getDimSize(dim);
    parts.push_back(l.slice(op.getX(), offsets, type.getShape(), steps));
  }
  return l.replace(parts);
}

static LogicalResult lower(OpLowering &l, mllm::ConcatOp op) {
  return l.replace(
      l.concat(op.getParts(), dimOf(op.getDim(), l.resultType().getRank())));
}

static LogicalResult lower(OpLowering &l, mllm::StackOp op) {
  RankedTensorType result = l.resultType();
  int64_t dim = dimOf(op.getDim(), result.getRank());
  SmallVector<int64_t> shape(result.getShape());
  shape[dim] = 1;
  SmallVector<Value> parts;
  for (Value part : op.getParts())
    parts.push_back(l.reshape(part, shape));
  return l.replace(l.concat(parts, dim));
}

static LogicalResult lower(OpLowering &l, mllm::RepeatOp op) {
  int64_t rank = l.resultType().getRank();
  return l.replace(
      l.repeat(op.getX(), dimOf(op.getDim(), rank), op.getTimes()));
}

LogicalResult lowerSlice(OpLowering &l, mllm::SliceOp op) {
  return l.replace(l.slice(
      op.getX(),
      rangeStarts(op.getStarts(), OpLowering::type(op.getX()).getShape()),
      l.resultType().getShape(), op.getSteps()));
}

SmallVector<int64_t> rangeStarts(ArrayRef<int64_t> starts,
                                 ArrayRef<int64_t> shape) {
  SmallVector<int64_t> offsets;
  for (auto [start, size] : llvm::zip_equal(starts, shape))
    offsets.push_back(
        ShapedType::isDynamic(size)
            ? 0 // All tokens.
            : std::clamp<int64_t>(start < 0 ? start + size : start, 0,
                                  std::max<int64_t>(size - 1, 0)));
  return offsets;
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// The source index in a dimension of `size` for the padded index `place`,
/// relative to the first element of the dimension.
static int64_t sourceOf(mllm::PadMode mode, int64_t place, int64_t size) {
  switch (mode) {
  case mllm::PadMode::Reflect:
    place = place < 0 ? -place : place;
    return place < size ? place : 2 * (size - 1) - place;
  case mllm::PadMode::Replicate:
    return std::clamp<int64_t>(place, 0, size - 1);
  case mllm::PadMode::Circular:
    return (place + size) % size;
  case mllm::PadMode::Constant:
    break;
  }
  llvm_unreachable("constant padding has no source element");
}

Value padDimension(OpLowering &l, Value x, int64_t dim, int64_t low,
                   int64_t high, mllm::PadMode mode) {
  RankedTensorType type = OpLowering::type(x);
  int64_t size = type.getDimSize(dim);
  SmallVector<int32_t> sources;
  for (int64_t place = -low; place < size + high; ++place)
    sources.push_back(static_cast<int32_t>(sourceOf(mode, place, size)));
  return l.gather(x, sources, dim);
}

static LogicalResult lower(OpLowering &l, mllm::PadOp op) {
  Value x = op.getX();
  if (op.getMode() == mllm::PadMode::Constant) {
    double value = op.getValue() ? op.getValue()->convertToDouble() : 0.0;
    return l.replace(l.pad(x, op.getLow(), op.getHigh(), value));
  }
  for (auto [dim, low, high] : llvm::enumerate(op.getLow(), op.getHigh()))
    if (low != 0 || high != 0)
      x = padDimension(l, x, static_cast<int64_t>(dim), low, high,
                       op.getMode());
  return l.replace(x);
}

void addShapeLowerings(LoweringTable &table) {
  table.add<mllm::ViewOp>(lower);
  table.add<mllm::ReshapeOp>(lower);
  table.add<mllm::TransposeOp>(lower);
  table.add<mllm::PermuteOp>(lower);
  table.add<mllm::ContiguousOp>(lowerSame);
  table.add<mllm::CloneOp>(lowerSame);
  table.add<mllm::X2XOp>(lowerSame);
  table.add<mllm::CopyOp>(lower);
  table.add<mllm::SplitOp>(lower);
  table.add<mllm::ConcatOp>(lower);
  table.add<mllm::StackOp>(lower);
  table.add<mllm::RepeatOp>(lower);
  table.add<mllm::SliceOp>(lowerSlice);
  table.add<mllm::PadOp>(lower);
  table.add<mllm::ConstantOp>(lower);
  table.add<mllm::AllocOp>(lower);
  table.add<mllm::FreeOp>(lowerNothing);
  table.add<mllm::CommentOp>(lowerNothing);
}

} // namespace llmir
