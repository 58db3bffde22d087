//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padding, interpolation and Fourier transforms in ONNX.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

//===----------------------------------------------------------------------===//
// Pads
//===----------------------------------------------------------------------===//

/// For each dimension: its end, itself, its beginning.
static Name paddedAround(Builder &b, Name x, const Sizes &low,
                         const Sizes &high) {
  for (size_t i = 0; i < low.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    std::vector<Name> parts;
    if (low[i])
      parts.push_back(
          sliced(b, x, -low[i], std::numeric_limits<int64_t>::max(), dim));
    parts.push_back(x);
    if (high[i])
      parts.push_back(sliced(b, x, 0, high[i], dim));
    if (parts.size() > 1)
      x = b.node("Concat", parts, {Attribute("axis", dim)});
  }
  return x;
}

static Name padded(Builder &b, const GraphValue *like, const Name &x,
                   const std::string &mode, const Sizes &low, const Sizes &high,
                   double value) {
  if (mode == "circular")
    return paddedAround(b, x, low, high);
  Sizes pads = low;
  pads.insert(pads.end(), high.begin(), high.end());
  std::vector<Name> inputs = {x, b.ints(pads)};
  if (mode == "constant")
    inputs.push_back(b.number(value, like));
  return b.node("Pad", inputs,
                {Attribute("mode", mode == "replicate" ? "edge"
                                   : mode == "reflect" ? "reflect"
                                                       : "constant")});
}

static void lowerPad(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  b.define(op.results[0],
           padded(b, x, b.value(x), op.text("mode"), op.integers("low"),
                  op.integers("high"), op.real("value")));
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

static void lowerInterpolate(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  const std::string mode = op.text("mode", "nearest");
  std::vector<Attribute> attributes = {
      Attribute("coordinate_transformation_mode",
                op.flag("align_corners") ? "align_corners"
                : mode == "nearest"      ? "asymmetric"
                                         : "half_pixel"),
      Attribute("mode", mode == "nearest"   ? "nearest"
                        : mode == "bicubic" ? "cubic"
                                            : "linear")};
  if (mode == "nearest")
    attributes.push_back(Attribute("nearest_mode", "floor"));
  if (mode == "bicubic")
    attributes.push_back(Attribute("cubic_coeff_a", -0.75));
  Sizes spatial;
  for (size_t i = 2; i < op.results[0]->shape.size(); ++i)
    spatial.push_back(*op.results[0]->shape[i].constant());
  Name outer = b.node(
      "Slice", {b.node("Shape", {b.value(x)}), b.ints({0}), b.ints({2})});
  Name sizes = b.node("Concat", {outer, b.ints(spatial)},
                      {Attribute("axis", int64_t(0))});
  b.define(op.results[0],
           b.node("Resize", {b.value(x), "", "", sizes}, attributes));
}

/// Pass sizes instead of f32 factors; the step is their quotient.
static Status checkInterpolate(const GraphOp &op) {
  if (op.flag("antialias"))
    return cannot("opset 17 has no antialiasing", "omit `antialias`");
  const std::vector<double> factors = op.reals("scale_factor");
  for (size_t i = 2; i < op.results[0]->shape.size(); ++i) {
    std::optional<int64_t> from = op.operands[0]->shape[i].constant(),
                           to = op.results[0]->shape[i].constant();
    if (!to || (!from && !factors.empty()))
      return needsBoundSizes();
    if (!factors.empty() && !op.flag("align_corners") &&
        factors[i - 2] * double(*from) != double(*to))
      return cannot("a factor that is not the quotient of the sizes",
                    "use sizes instead");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// The cosines and sines of the transform as kernels [2 * frequencies, 1, N]:
/// the real parts, then the imaginary ones.
static Name fourierKernels(Builder &b, int64_t size, int64_t frequencies,
                           double factor) {
  std::vector<double> kernels;
  const double turn = 2 * 3.14159265358979323846 / double(size);
  for (int64_t part = 0; part < 2; ++part)
    for (int64_t f = 0; f < frequencies; ++f)
      for (int64_t n = 0; n < size; ++n) {
        const double angle = turn * double(f * n % size);
        kernels.push_back(factor * (part ? -std::sin(angle) : std::cos(angle)));
      }
  return b.reals(kernels, {2 * frequencies, 1, size});
}

static bool isOnesided(const GraphOp &op) {
  return !op.attributes.count("onesided") || op.flag("onesided");
}

/// A convolution of each signal with the kernels, times the window.
static void lowerSTFT(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0], *window = op.operands[1];
  const int64_t size = op.integer("n_fft"), rank = rankOf(x);
  int64_t hop = op.integer("hop_length");
  hop = hop ? hop : std::max<int64_t>(1, size / 4);
  const int64_t frequencies = isOnesided(op) ? size / 2 + 1 : size;

  Name signal = b.reshape(b.value(x), {-1, 1, *x->shape.back().constant()});
  if (!op.attributes.count("center") || op.flag("center"))
    signal = padded(b, x, signal, op.text("pad_mode", "reflect"),
                    {0, 0, size / 2}, {0, 0, size / 2}, 0);
  const int64_t given = *window->shape[0].constant(),
                before = (size - given) / 2;
  Name factors = padded(b, window, b.value(window), "constant", {before},
                        {size - given - before}, 0);
  Name kernels = b.node(
      "Mul",
      {fourierKernels(b, size, frequencies,
                      op.flag("normalized") ? 1 / std::sqrt(double(size)) : 1),
       factors});
  Name sums = b.node("Conv", {signal, kernels},
                     {Attribute("kernel_shape", Sizes{size}),
                      Attribute("strides", Sizes{hop})});
  // [signals, 2, frequencies, frames] to […, frequencies, frames, 2].
  const int64_t frames = *op.results[0]->shape[rank].constant();
  Name parts = b.reshape(sums, {-1, 2, frequencies, frames});
  Name last =
      b.node("Transpose", {parts}, {Attribute("perm", Sizes{0, 2, 3, 1})});
  b.define(op.results[0], b.reshape(last, *targetShape(op.results[0])));
}

static Status checkSTFT(const GraphOp &op) {
  for (const GraphValue *value :
       {op.operands[0], op.operands[1], op.results[0]})
    for (const shapes::DimExpr &size : value->shape)
      if (!size.isConstant())
        return needsBoundSizes();
  const auto size = static_cast<double>(op.integer("n_fft"));
  return checkTable(2 * (isOnesided(op) ? size / 2 + 1 : size) * size);
}

Lowerings onnx::signalLowerings() {
  return {
      {"pad", {lowerPad}},
      {"interpolate", {lowerInterpolate, checkInterpolate}},
      {"stft", {lowerSTFT, checkSTFT}},
  };
}
