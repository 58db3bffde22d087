//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and resampling.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMVisionOps.h"

#include "LinalgCosts.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMVisionOps.cpp.inc"

void MLLMDialect::addVisionOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMVisionOps.cpp.inc"
      >();
}

/// Maximum of attributes; sums of them do not overflow.
static constexpr int64_t greatest = int64_t(1) << 31;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

template <typename OpT> static shapes::Window windowOf(OpT op) {
  const size_t count = op.getKernelSize().size();
  auto filled = [&](std::optional<ArrayRef<int64_t>> given, int64_t otherwise) {
    return given ? given->vec() : std::vector<int64_t>(count, otherwise);
  };
  shapes::Window window;
  window.kernel = op.getKernelSize().vec();
  window.stride = filled(op.getStride(), 1);
  window.padLow = window.padHigh = filled(op.getPadding(), 0);
  window.dilation = filled(op.getDilation(), 1);
  return window;
}

/// Fails unless a list has one element, at least `least`, per dimension.
static Status checkNumbers(ArrayRef<int64_t> numbers, size_t count,
                           int64_t least, const std::string &name) {
  if (numbers.size() != count) // c3
    return shapes::shapeError("'" + name + "' has " +
                              std::to_string(numbers.size()) +
                              " elements, expected " + std::to_string(count));
  for (int64_t number : numbers)
    if (number < least || number > greatest) // c4
      return shapes::shapeError("'" + name + "' has " + std::to_string(number) +
                                ", expected " + std::to_string(least) +
                                " to 2^31");
  return Status::ok();
}

/// The result shape of a convolution, whose number of outputs the result type
/// states.
template <typename OpT> static Expected<shapes::Shape> convolved(OpT op) {
  const shapes::Shape x = shapeOf(op.getX()), result = shapeOf(op.getResult());
  const size_t count = x.size() - 2;
  const shapes::Window window = windowOf(op);
  LLMIR_RETURN_IF_ERROR(checkNumbers(window.kernel, count, 1, "kernel_size"));
  LLMIR_RETURN_IF_ERROR(checkNumbers(window.stride, count, 1, "stride"));
  LLMIR_RETURN_IF_ERROR(checkNumbers(window.padLow, count, 0, "padding"));
  LLMIR_RETURN_IF_ERROR(checkNumbers(window.dilation, count, 1, "dilation"));
  std::optional<int64_t> in = x[1].constant(), out = result[1].constant();
  if (!in || !out) // c6
    return shapes::shapeError("has " + x[1].str() + " channels and " +
                              result[1].str() +
                              " outputs, expected static sizes");
  const int64_t groups = int64_t(op.getGroups());
  if (groups < 1 || *in % groups != 0 || *out % groups != 0) // c5
    return shapes::shapeError("has " + std::to_string(groups) + " groups for " +
                              std::to_string(*in) + " channels and " +
                              std::to_string(*out) +
                              " outputs, expected a divisor of both");
  return shapes::convolution(x, *out, window); // c4
}

template <typename OpT> static LogicalResult verifyConv(OpT op) {
  Expected<shapes::Shape> shape = convolved(op);
  if (!shape)
    return report(op, shape.status());
  return ::llmir::mllm::detail::verifyResultTypes(
      op, shaped(*shape, op.getX())); // c7
}

template <typename OpT>
static LogicalResult verifyKernels(OpT op, SymbolTableCollection &tables) {
  if (!convolved(op)) // verify() reports it.
    return success();
  const int64_t out = tensorType(op.getResult()).getDimSize(1);
  SmallVector<int64_t> want = {out, tensorType(op.getX()).getDimSize(1) /
                                        int64_t(op.getGroups())};
  llvm::append_range(want, op.getKernelSize());
  // c1, c2
  if (failed(verifyParameter(op, op.getWeightAttr(), "weight", want, tables)))
    return failure();
  if (FlatSymbolRefAttr bias = op.getBiasAttr())
    return verifyParameter(op, bias, "bias", {out}, tables);
  return success();
}

template <typename OpT> static std::optional<int64_t> convFlops(OpT op) {
  std::optional<int64_t> count = scaled(
      ::llmir::mllm::detail::numResultValues(op),
      {2, tensorType(op.getX()).getDimSize(1) / int64_t(op.getGroups())});
  return scaled(count, op.getKernelSize());
}

LogicalResult Conv1DOp::verify() { return verifyConv(*this); }
LogicalResult Conv1DOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyKernels(*this, tables);
}
std::optional<int64_t> Conv1DOp::getFlops() { return convFlops(*this); }
shapes::Window Conv1DOp::getWindow() { return windowOf(*this); }

LogicalResult Conv2DOp::verify() { return verifyConv(*this); }
LogicalResult Conv2DOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyKernels(*this, tables);
}
std::optional<int64_t> Conv2DOp::getFlops() { return convFlops(*this); }
shapes::Window Conv2DOp::getWindow() { return windowOf(*this); }

LogicalResult Conv3DOp::verify() { return verifyConv(*this); }
LogicalResult Conv3DOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyKernels(*this, tables);
}
std::optional<int64_t> Conv3DOp::getFlops() { return convFlops(*this); }
shapes::Window Conv3DOp::getWindow() { return windowOf(*this); }

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

/// Fails unless the mode supports the number of dimensions and the options are
/// valid.
static Status checkMode(StringRef mode, size_t spatial, bool alignCorners,
                        bool antialias) {
  const bool isSmooth = mode == "bilinear" || mode == "bicubic";
  const size_t want = mode == "linear" ? 1 : isSmooth ? 2 : 3;
  if (mode != "nearest" && spatial != want) // c4
    return shapes::shapeError("resamples " + std::to_string(spatial) +
                              " dimensions, but " + mode.str() + " is for " +
                              std::to_string(want));
  if ((alignCorners && (mode == "nearest" || antialias)) ||
      (antialias && !isSmooth)) // c5
    return shapes::shapeError("is " + mode.str() +
                              (antialias ? " with 'antialias'" : "") +
                              (alignCorners ? " with 'align_corners'" : "") +
                              ", expected antialias with bilinear and bicubic "
                              "only, and align_corners "
                              "with neither nearest nor antialias");
  return Status::ok();
}

/// floor(size * factor), if the size is known.
static DimExpr scaledSize(const DimExpr &size, double factor) {
  std::optional<int64_t> known = size.constant();
  if (!known)
    return DimExpr::unknown();
  const double result = std::floor(double(*known) * factor);
  return result <= double(greatest) ? DimExpr(int64_t(result))
                                    : DimExpr::unknown();
}

Expected<ResultTypes> InterpolateOp::inferResults(Adaptor op) {
  shapes::Shape shape = shapeOf(op.getX());
  std::optional<ArrayRef<int64_t>> sizes = op.getSize();
  std::optional<ArrayRef<double>> factors = op.getScaleFactor();
  if (sizes.has_value() == factors.has_value()) // c1
    return shapes::shapeError(sizes ? "has both 'size' and 'scale_factor'"
                                    : "has neither 'size' nor 'scale_factor'");
  const size_t given = sizes ? sizes->size() : factors->size();
  if (shape.size() < 3 || given != shape.size() - 2) // c2
    return shapes::shapeError(
        "has " + std::to_string(given) + " sizes for " + shapes::str(shape) +
        ", expected one for each dimension after the second");
  LLMIR_RETURN_IF_ERROR(
      checkMode(op.getMode(), given, op.getAlignCorners(), op.getAntialias()));
  for (size_t d = 0; d < given; ++d) {
    if (sizes && ((*sizes)[d] < 0 || (*sizes)[d] > greatest)) // c3
      return shapes::shapeError("has the size " + std::to_string((*sizes)[d]) +
                                ", expected 0 to 2^31");
    if (factors && !(std::isfinite((*factors)[d]) && (*factors)[d] > 0))
      return shapes::shapeError("has the factor " +
                                std::to_string((*factors)[d]) +
                                ", expected a finite positive number");
    const DimExpr size = shape[d + 2];
    shape[d + 2] =
        sizes ? DimExpr((*sizes)[d]) : scaledSize(size, (*factors)[d]);
    if (size == DimExpr(0) && shape[d + 2].constant().value_or(0) > 0) // c6
      return shapes::shapeError("resizes an empty dimension to " +
                                shape[d + 2].str());
  }
  return shaped(shape, op.getX()); // c7
}

OpFoldResult InterpolateOp::fold(FoldAdaptor) {
  // The step is 1 in every mode, so that there is no interpolation.
  auto isOne = [](double factor) { return factor == 1; };
  const bool keepsSteps =
      !getScaleFactor() || llvm::all_of(*getScaleFactor(), isOne);
  const bool keepsSizes =
      getX().getType() == getType() &&
      llvm::none_of(getType().getShape().drop_front(2), ShapedType::isDynamic);
  return keepsSteps && keepsSizes ? getX() : OpFoldResult();
}
