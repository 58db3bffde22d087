//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/CacheKernels.cpp.inc"

namespace llmir::mllm::kernel {

/// Checks the cache and the rows of keys and values.
template <typename Op> static LogicalResult verifyKeysAndValues(Op op) {
  CacheGeometry geometry = geometryOf(op);
  if (failed(verifyCache(op, geometry))) // c1
    return failure();
  return verifyRows( // c2
      op, {{"keys", op.getKeys(), geometry.kvHeads * geometry.headDim},
           {"values", op.getValues(), geometry.kvHeads * geometry.valueDim}});
}

//===----------------------------------------------------------------------===//
// AppendKVOp
//===----------------------------------------------------------------------===//

int64_t AppendKVOp::getHeadsPerGrain() {
  return std::max(headsPerGrain(getHeadDim()), headsPerGrain(getValueDim()));
}

/// The division of rows of KV heads of `dim` elements.
static WorkDivision divisionOfHeads(AppendKVOp op, int64_t dim) {
  return WorkDivision::columns(RowSpace::Tokens, op.getKvHeads() * dim,
                               op.getHeadsPerGrain() * dim / kTileColumns);
}

WorkDivision AppendKVOp::getWorkDivision() {
  return divisionOfHeads(*this, getHeadDim());
}

std::optional<WorkDivision> AppendKVOp::getDivisionOf(OpOperand &operand) {
  return divisionOfHeads(*this, &operand == &getKeysMutable() ? getHeadDim()
                                                              : getValueDim());
}

std::optional<CacheGeometry> AppendKVOp::getCacheGeometry() {
  return geometryOf(*this);
}

LogicalResult AppendKVOp::verify() { return verifyKeysAndValues(*this); }

//===----------------------------------------------------------------------===//
// LookupKVOp
//===----------------------------------------------------------------------===//

WorkDivision LookupKVOp::getWorkDivision() {
  return WorkDivision::heads(getKvHeads());
}

int64_t LookupKVOp::getRowsOf(OpOperand &, const StepLimits &limits) {
  // The number of sequences is at most the number of tokens.
  return saturatingProduct(limits.tokens, getRows());
}

bool LookupKVOp::hasFixedSize() { return true; }

std::optional<CacheGeometry> LookupKVOp::getCacheGeometry() {
  return geometryOf(*this);
}

LogicalResult LookupKVOp::verify() { return verifyKeysAndValues(*this); }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// An item of attention has rows of this length on the stack.
static constexpr int64_t kMaxHeadDim = 4096;

template <typename Op> static LogicalResult verifyHeads(Op op) {
  const int64_t dim = std::max(op.getHeadDim(), op.getValueDim());
  if (dim > kMaxHeadDim)
    return op.emitOpError("has heads of ")
           << dim << " elements; at most " << kMaxHeadDim << " are supported";
  if (op.getHeads() % op.getKvHeads() != 0)
    return op.emitOpError("has ")
           << op.getHeads() << " heads, which is not a multiple of the "
           << op.getKvHeads() << " KV heads";
  if (static_cast<int64_t>(op.getWindow()) < 0)
    return op.emitOpError("has the window ")
           << static_cast<int64_t>(op.getWindow())
           << ", expected a non-negative value";
  return success();
}

template <typename Op> static LogicalResult verifySlopes(Op op) {
  auto slopes = op.getAlibiSlopes();
  if (!slopes || slopes->size() == op.getHeads())
    return success();
  return op.emitOpError("has ")
         << slopes->size() << " ALiBi slopes for " << op.getHeads() << " heads";
}

/// Sinks are a packed vector, or a buffer with one row.
template <typename Op> static LogicalResult verifySinks(Op op) {
  Value sinks = op.getSinks();
  const int64_t heads = op.getHeads();
  if (!sinks)
    return success();
  auto type = cast<MemRefType>(sinks.getType());
  if (type.getRank() == 2 && type.getElementType().isF32())
    return verifyRows(op, {{"sinks", sinks, heads}});
  return verifyVector(op, "sinks", sinks, heads);
}

template <typename Op> static LogicalResult verifyPartials(Op op) {
  const int64_t rows = op.getShape().partialResults().rows;
  if (!op.getPartials() || rowsOf(op.getPartials()) >= rows)
    return success();
  return op.emitOpError("has ")
         << rowsOf(op.getPartials()) << " rows of partial results, expected "
         << rows;
}

template <typename Op> static SmallVector<WeightNeed> needOfSinks(Op op) {
  return needsOfVectors(
      {{op.getSinksMutable(), static_cast<int64_t>(op.getHeads())}});
}

//===----------------------------------------------------------------------===//
// PagedAttentionOp
//===----------------------------------------------------------------------===//

WorkDivision PagedAttentionOp::getWorkDivision() {
  return WorkDivision::items();
}

SplitCondition PagedAttentionOp::getConditionOf(OpOperand &operand) {
  if (!getPartials() || !writesOperand(operand))
    return SplitCondition::Always;
  return &operand == &getOutMutable() ? SplitCondition::UnlessSplit
                                      : SplitCondition::IfSplit;
}

SmallVector<WeightNeed> PagedAttentionOp::getWeightNeeds() {
  return needOfSinks(*this);
}

std::optional<CacheGeometry> PagedAttentionOp::getCacheGeometry() {
  return geometryOf(*this);
}

/// sum + (count - 1) * stride, saturated to INT64_MAX.
static int64_t addDistance(int64_t sum, int64_t count, int64_t stride) {
  int64_t result;
  if (count <= 1)
    return sum;
  return llvm::AddOverflow(sum, saturatingProduct(count - 1, stride), result)
             ? INT64_MAX
             : result;
}

/// The number of rows of the mask up to the element of the last sequence, head,
/// query, token and key.
static int64_t maskRows(PagedAttentionOp op, const StepLimits &limits) {
  const int64_t most[] = {limits.tokens, static_cast<int64_t>(op.getHeads()),
                          limits.tokens, limits.tokens, limits.contextLength};
  int64_t last = 0;
  for (auto [count, stride] : llvm::zip_equal(most, *op.getMaskStrides()))
    last = addDistance(last, count, stride);
  const int64_t columns =
      cast<MemRefType>(op.getMask().getType()).getDimSize(1);
  return last == INT64_MAX ? INT64_MAX : last / columns + 1;
}

int64_t PagedAttentionOp::getRowsOf(OpOperand &operand,
                                    const StepLimits &limits) {
  const unsigned number = operand.getOperandNumber();
  auto is = [&](unsigned group) {
    auto [first, count] = getODSOperandIndexAndLength(group);
    return number >= first && number < first + count;
  };
  if (is(0)) // Sinks.
    return 1;
  if (is(2))
    return maskRows(*this, limits);
  if (is(3))
    return getShape().partialResults().rows;
  return limits.tokens;
}

LogicalResult PagedAttentionOp::verify() {
  CacheGeometry geometry = geometryOf(*this);
  if (failed(verifyCache(*this, geometry)) || // c1
      failed(verifyHeads(*this)) ||           // c2
      failed(verifySlopes(*this)))            // c3
    return failure();
  auto strides = getMaskStrides();
  if (strides.has_value() != static_cast<bool>(getMask())) // c4
    return emitOpError(getMask() ? "has a mask without strides"
                                 : "has mask strides without a mask");
  if (strides &&
      (strides->size() != 5 || strides->back() > 1 ||
       llvm::any_of(*strides, [](int64_t stride) { return stride < 0; }))) // c4
    return emitOpError("has the mask strides [")
           << *strides
           << "]; expected those of sequence, head, query, token and key, the "
              "last 0 or 1";
  const int64_t heads = getHeads();
  if (failed(verifyRows(
          *this,
          {{"query", getQuery(), heads * geometry.headDim}, // c5
           {"mask", getMask(), 1},
           {"partials", getPartials(), getShape().partialResults().columns},
           {"out", getOut(), heads * geometry.valueDim}})) ||
      failed(verifySinks(*this))) // c5
    return failure();
  return verifyPartials(*this); // c6
}

//===----------------------------------------------------------------------===//
// MergeAttentionOp
//===----------------------------------------------------------------------===//

WorkDivision MergeAttentionOp::getWorkDivision() {
  return WorkDivision::items();
}

SplitCondition MergeAttentionOp::getConditionOf(OpOperand &) {
  return SplitCondition::IfSplit;
}

SmallVector<WeightNeed> MergeAttentionOp::getWeightNeeds() {
  return needOfSinks(*this);
}

std::optional<CacheGeometry> MergeAttentionOp::getCacheGeometry() {
  return geometryOf(*this);
}

int64_t MergeAttentionOp::getRowsOf(OpOperand &operand,
                                    const StepLimits &limits) {
  if (&operand == &getPartialsMutable())
    return getShape().partialResults().rows;
  return &operand == &getOutMutable() ? limits.tokens : 1;
}

LogicalResult MergeAttentionOp::verify() {
  CacheGeometry geometry = geometryOf(*this);
  if (failed(verifyCache(*this, geometry)) || // c1
      failed(verifyHeads(*this)) ||           // c2
      failed(verifySlopes(*this)))            // c3
    return failure();
  const int64_t heads = getHeads();
  if (failed(
          verifyRows(*this, {{"partials", getPartials(), // c4
                              getShape().partialResults().columns},
                             {"out", getOut(), heads * geometry.valueDim}})) ||
      failed(verifySinks(*this))) // c4
    return failure();
  return verifyPartials(*this); // c5
}

} // namespace llmir::mllm::kernel
