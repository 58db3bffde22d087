//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Audio ops: short-time Fourier transforms.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMSignalOps.h"

#include "LinalgCosts.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMSignalOps.cpp.inc"

void MLLMDialect::addSignalOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMSignalOps.cpp.inc"
      >();
}

/// Maximum of attributes; sums of them do not overflow.
static constexpr int64_t greatest = int64_t(1) << 31;

namespace {
/// Verified framing parameters, including defaults.
struct Frame {
  int64_t samples = 0; ///< n_fft
  int64_t hop = 0;
  int64_t added = 0; ///< Total padding of `center`.
  int64_t frequencies = 0;
};
} // namespace

/// Framing parameters of either op; fails if attributes or operands are
/// invalid.
template <typename AdaptorT> static Expected<Frame> frameOf(AdaptorT op) {
  Frame frame;
  frame.samples = int64_t(op.getNFft());
  frame.hop = int64_t(op.getHopLength());
  if (frame.samples < 1 || frame.samples > greatest || frame.hop < 0 ||
      frame.hop > greatest) // c1
    return shapes::shapeError("has frames of " + std::to_string(frame.samples) +
                              " samples every " + std::to_string(frame.hop) +
                              ", expected 1 to 2^31 and 0 to 2^31");
  if (frame.hop == 0)
    frame.hop = std::max<int64_t>(1, frame.samples / 4);
  const DimExpr window = shapeOf(op.getWindow()).front();
  if (window.constant().value_or(0) > frame.samples) // c2
    return shapes::shapeError("has a window of " + window.str() +
                              " samples for frames of " +
                              std::to_string(frame.samples));
  LLMIR_RETURN_IF_ERROR(checkSameElements({op.getX(), op.getWindow()})); // c5
  LLMIR_RETURN_IF_ERROR(checkSameDevice({op.getX(), op.getWindow()}));
  frame.added = op.getCenter() ? frame.samples / 2 * 2 : 0;
  frame.frequencies = op.getOnesided() ? frame.samples / 2 + 1 : frame.samples;
  return frame;
}

Expected<ResultTypes> STFTOp::inferResults(Adaptor op) {
  Expected<Frame> frame = frameOf(op);
  if (!frame)
    return frame.takeStatus();
  shapes::Shape shape = shapeOf(op.getX());
  if (shape.empty()) // c3
    return shapes::shapeError("transforms a scalar, expected a signal");
  const DimExpr samples = shape.back() + DimExpr(frame->added);
  if (samples.constant().value_or(frame->samples) < frame->samples) // c4
    return shapes::shapeError("has a signal of " + samples.str() +
                              " samples, which is shorter than a frame of " +
                              std::to_string(frame->samples));
  const DimExpr steps = samples - DimExpr(frame->samples);
  shape.back() = DimExpr(frame->frequencies);
  shape.push_back(steps.floorDiv(frame->hop) + DimExpr(1));
  shape.push_back(DimExpr(2));
  return shaped(shape, op.getX()); // c6
}

std::optional<int64_t> STFTOp::getFlops() {
  // Counts a direct transform; a fast transform needs fewer operations.
  return scaled(detail::numResultValues(*this), {2, int64_t(getNFft())});
}

Expected<ResultTypes> ISTFTOp::inferResults(Adaptor op) {
  Expected<Frame> frame = frameOf(op);
  if (!frame)
    return frame.takeStatus();
  shapes::Shape shape = shapeOf(op.getX());
  const size_t rank = shape.size();
  if (rank < 3 || !DimExpr::mayEqual(shape[rank - 1], DimExpr(2)) ||
      !DimExpr::mayEqual(shape[rank - 3], DimExpr(frame->frequencies))) // c3
    return shapes::shapeError(
        "transforms " + shapes::str(shape) + ", expected [..., " +
        std::to_string(frame->frequencies) + " frequencies, frames, 2]");
  const DimExpr frames = shape[rank - 2];
  shape.resize(rank - 2, DimExpr());
  if (std::optional<uint64_t> length = op.getLength()) {
    if (*length > uint64_t(greatest)) // c4
      return shapes::shapeError("has the length " +
                                std::to_string(int64_t(*length)) +
                                ", expected 0 to 2^31");
    shape.back() = DimExpr(int64_t(*length));
  } else if (frames == DimExpr(0)) {
    shape.back() = DimExpr(0);
  } else if (frames.isConstant()) {
    shape.back() = (frames - DimExpr(1)) * DimExpr(frame->hop) +
                   DimExpr(frame->samples - frame->added);
  } else { // 0 without a frame, which is not linear.
    shape.back() = DimExpr::unknown();
  }
  return shaped(shape, op.getX()); // c6
}

std::optional<int64_t> ISTFTOp::getFlops() {
  return scaled(numValuesOf(getX().getType()), {2, int64_t(getNFft())});
}
