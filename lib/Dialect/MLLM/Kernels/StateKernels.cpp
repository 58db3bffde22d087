//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "llmir/ABI/StateRecord.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/StateKernels.cpp.inc"

namespace llmir::mllm::kernel {

static LogicalResult verifyOffset(Operation *op, uint64_t offset) {
  if (offset % kStateLanes == 0 && offset <= uint64_t(1) << 31)
    return success();
  return op->emitOpError("has its state at ")
         << static_cast<int64_t>(offset) << ", expected a multiple of "
         << kStateLanes << " from 0 to 2^31";
}

//===----------------------------------------------------------------------===//
// CausalConvOp
//===----------------------------------------------------------------------===//

/// Taps are unrolled.
static constexpr int64_t kMaxTaps = 64;

WorkDivision CausalConvOp::getWorkDivision() {
  return WorkDivision::columns(RowSpace::Tokens, getChannels());
}

std::optional<WorkDivision> CausalConvOp::getDivisionOf(OpOperand &) {
  return getWorkDivision();
}

int64_t CausalConvOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return &operand == &getWeightMutable() ? getTaps() : limits.tokens;
}

std::optional<StatePart> CausalConvOp::getStatePart() {
  return StatePart{static_cast<int64_t>(getStateOffset()),
                   tailFloats(getTaps(), getChannels())};
}

LogicalResult CausalConvOp::verify() {
  const int64_t channels = getChannels(), taps = getTaps();
  if (failed(verifyRows(*this, {{"x", getX(), channels}, // c1
                                {"weight", getWeight(), channels},
                                {"out", getOut(), channels}})))
    return failure();
  if (rowsOf(getWeight()) < taps) // c1
    return emitOpError("has ") << taps << " taps, but a weight of "
                               << rowsOf(getWeight()) << " rows";
  if (taps > kMaxTaps) // c2
    return emitOpError("has ")
           << taps << " taps; at most " << kMaxTaps << " are supported";
  return verifyOffset(*this, getStateOffset()); // c3
}

//===----------------------------------------------------------------------===//
// LinearAttentionOp
//===----------------------------------------------------------------------===//

WorkDivision LinearAttentionOp::getWorkDivision() {
  return WorkDivision::columns(RowSpace::Tokens, getHeads() * getValueDim(),
                               tilesPerGrain(getValueDim()));
}

std::optional<WorkDivision>
LinearAttentionOp::getDivisionOf(OpOperand &operand) {
  if (&operand == &getVMutable() || &operand == &getOutMutable())
    return getWorkDivision();
  return std::nullopt;
}

std::optional<StatePart> LinearAttentionOp::getStatePart() {
  return StatePart{
      static_cast<int64_t>(getStateOffset()),
      saturatingProduct(matrixFloats(1, getKeyDim(), getValueDim()),
                        getHeads())};
}

LogicalResult LinearAttentionOp::verify() {
  const int64_t heads = getHeads(), keyHeads = getKeyHeads();
  if (heads % keyHeads != 0) // c1
    return emitOpError("has ")
           << heads << " value heads, which is not a multiple of the "
           << keyHeads << " key heads";
  const int64_t keys = keyHeads * static_cast<int64_t>(getKeyDim());
  const int64_t values = heads * static_cast<int64_t>(getValueDim());
  if (failed(verifyRows(*this, {{"q", getQ(), keys}, // c2
                                {"k", getK(), keys},
                                {"v", getV(), values},
                                {"decay", getDecay(), heads},
                                {"beta", getBeta(), heads},
                                {"out", getOut(), values}})))
    return failure();
  return verifyOffset(*this, getStateOffset()); // c3
}

} // namespace llmir::mllm::kernel
