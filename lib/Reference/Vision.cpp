//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Vision.h"

#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/Shape.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace llmir::reference {

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

std::optional<int64_t> convolvedSize(int64_t size, int64_t kernel,
                                     int64_t stride, int64_t padding,
                                     int64_t dilation) {
  const int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0)
    return std::nullopt;
  return room / stride + 1;
}

static Expected<Shape> convolvedShape(const Tensor &x, const Tensor &weight,
                                      const ConvolutionParams &params) {
  const int64_t channels = x.dim(1), outputs = weight.dim(0);
  if (channels % params.groups != 0 || outputs % params.groups != 0 ||
      weight.dim(1) != channels / params.groups)
    return invalid("a weight " + typeString(weight) + " does not match " +
                   typeString(x) + " in " + std::to_string(params.groups) +
                   " groups");
  Shape shape = {x.dim(0), outputs};
  for (size_t d = 0; d < params.stride.size(); ++d) {
    const int64_t size = x.shape[d + 2], kernel = weight.shape[d + 2];
    std::optional<int64_t> result = convolvedSize(
        size, kernel, params.stride[d], params.padding[d], params.dilation[d]);
    if (!result)
      return invalid("a kernel of " + std::to_string(kernel) +
                     " is longer than a dimension of " + std::to_string(size) +
                     " with " + std::to_string(params.padding[d]) +
                     " on each side");
    shape.push_back(*result);
  }
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  return shape;
}

/// Moves to the next index in row-major order; false after the last one.
static bool advance(Shape &index, const Shape &sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d])
      return true;
    index[d] = 0;
  }
  return false;
}

/// Sums the products of the kernel and one channel of x, which starts at
/// `picture`, for output position `at`.
static double weigh(const double *picture, const Shape &sizes,
                    const double *kernel, const Shape &kernelSizes,
                    const int64_t *at, const ConvolutionParams &params) {
  double sum = 0;
  Shape j(kernelSizes.size(), 0);
  do {
    int64_t place = 0;
    bool isInside = true;
    for (size_t d = 0; d < sizes.size() && isInside; ++d) {
      const int64_t i = at[d] * params.stride[d] + j[d] * params.dilation[d] -
                        params.padding[d];
      isInside = i >= 0 && i < sizes[d];
      place = place * sizes[d] + i;
    }
    if (isInside)
      sum += picture[place] * *kernel;
    ++kernel;
  } while (advance(j, kernelSizes));
  return sum;
}

Expected<Tensor> convolution(const Tensor &x, const Tensor &weight,
                             const Tensor *bias,
                             const ConvolutionParams &params) {
  Expected<Shape> shape = convolvedShape(x, weight, params);
  if (!shape)
    return shape.status();
  Tensor result(x.kind, *shape);
  const Shape sizes(x.shape.begin() + 2, x.shape.end());
  const Shape kernelSizes(weight.shape.begin() + 2, weight.shape.end());
  const int64_t picture = numElements(sizes), kernel = numElements(kernelSizes);
  const int64_t channels = weight.dim(1); // Per group.
  const int64_t perGroup = weight.dim(0) / params.groups;
  Shape at(shape->size(), 0);
  for (double &value : result.floats()) {
    const int64_t o = at[1];
    value = bias ? (*bias)[o] : 0.0;
    for (int64_t c = 0; c < channels && kernel > 0; ++c) {
      const int64_t from = at[0] * x.dim(1) + o / perGroup * channels + c;
      value += weigh(x.floats().data() + from * picture, sizes,
                     weight.floats().data() + (o * channels + c) * kernel,
                     kernelSizes, at.data() + 2, params);
    }
    advance(at, *shape);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

namespace {
/// A source element and its weight.
struct Tap {
  int64_t index;
  double weight;
};
} // namespace

InterpolateMode interpolateModeOf(std::string_view name) {
  if (name == "nearest")
    return InterpolateMode::Nearest;
  return name == "bicubic" ? InterpolateMode::Cubic : InterpolateMode::Linear;
}

/// Keys' cubic kernel.
static double cubic(double x, double a) {
  x = std::fabs(x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// The taps of a kernel of width `step`, normalized to 1.
static std::vector<Tap> smoothTaps(int64_t size, double center, double step,
                                   InterpolateMode mode) {
  const double scale = std::max(step, 1.0);
  const double support = (mode == InterpolateMode::Cubic ? 2 : 1) * scale;
  const auto first =
      std::max<int64_t>(0, static_cast<int64_t>(center - support + 0.5));
  const auto end =
      std::min<int64_t>(size, static_cast<int64_t>(center + support + 0.5));
  std::vector<Tap> taps;
  double total = 0;
  for (int64_t i = first; i < end; ++i) {
    const double distance = (double(i) - center + 0.5) / scale;
    const double weight = mode == InterpolateMode::Cubic
                              ? cubic(distance, -0.5)
                              : std::max(0.0, 1 - std::fabs(distance));
    taps.push_back({i, weight});
    total += weight;
  }
  for (Tap &tap : taps)
    tap.weight /= total;
  return taps;
}

/// The taps of result i along a dimension of `size` elements.
static std::vector<Tap> tapsOf(int64_t size, int64_t i, double step,
                               const InterpolateParams &params) {
  auto inside = [&](int64_t index) {
    return std::clamp<int64_t>(index, 0, size - 1);
  };
  if (params.mode == InterpolateMode::Nearest)
    return {{inside(static_cast<int64_t>(std::floor(double(i) * step))), 1.0}};
  if (params.antialias)
    return smoothTaps(size, step * (double(i) + 0.5), step, params.mode);
  double place =
      params.alignCorners ? double(i) * step : (double(i) + 0.5) * step - 0.5;
  if (params.mode == InterpolateMode::Linear)
    place = std::max(place, 0.0);
  const double below = std::floor(place), part = place - below;
  const auto index = static_cast<int64_t>(below);
  if (params.mode == InterpolateMode::Linear)
    return {{inside(index), 1 - part}, {inside(index + 1), part}};
  std::vector<Tap> taps;
  for (int64_t j = -1; j <= 2; ++j)
    taps.push_back({inside(index + j), cubic(double(j) - part, -0.75)});
  return taps;
}

/// The source step between adjacent results.
static double stepOf(int64_t size, int64_t newSize, size_t spatial,
                     const InterpolateParams &params) {
  if (params.alignCorners)
    return newSize > 1 ? double(size - 1) / double(newSize - 1) : 0.0;
  if (!params.factors.empty())
    return 1 / params.factors[spatial];
  return double(size) / double(newSize);
}

/// Resamples dimension `dim` of x to `newSize` elements with tapsAt(i).
static Tensor resample(const Tensor &x, size_t dim, int64_t newSize,
                       const std::function<std::vector<Tap>(int64_t)> &tapsAt) {
  Shape shape = x.shape;
  shape[dim] = newSize;
  Tensor result(x.kind, shape);
  const int64_t inner = stridesOf(x.shape)[dim], size = x.shape[dim];
  std::vector<Tap> taps;
  for (int64_t at = 0; at < result.size(); ++at) {
    const int64_t outer = at / inner / newSize;
    if (at % inner == 0)
      taps = tapsAt(at / inner % newSize);
    for (const Tap &tap : taps)
      result[at] +=
          tap.weight * x[(outer * size + tap.index) * inner + at % inner];
  }
  return result;
}

Expected<Tensor> interpolate(const Tensor &x, const std::vector<int64_t> &sizes,
                             const InterpolateParams &params) {
  Tensor result = x;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = x.shape[d + 2];
    if (sizes[d] < 0 || (size == 0 && sizes[d] > 0))
      return invalid("a dimension of " + std::to_string(size) +
                     " cannot be resized to " + std::to_string(sizes[d]));
    Shape shape = result.shape;
    shape[d + 2] = sizes[d];
    LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
    const double step = stepOf(size, sizes[d], d, params);
    result = resample(result, d + 2, sizes[d],
                      [&](int64_t i) { return tapsOf(size, i, step, params); });
  }
  return result;
}

} // namespace llmir::reference
