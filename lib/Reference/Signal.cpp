//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Signal.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>
#include <cmath>

namespace llmir::reference {

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

int64_t numFrames(int64_t length, const STFTParams &params) {
  const int64_t padded = length + (params.center ? params.frame / 2 * 2 : 0);
  return padded < params.frame ? 0 : 1 + (padded - params.frame) / params.hop;
}

int64_t numSamples(int64_t frames, const STFTParams &params) {
  if (frames == 0)
    return 0;
  const int64_t whole = params.frame + params.hop * (frames - 1);
  return whole - (params.center ? params.frame / 2 * 2 : 0);
}

/// The window, centered and zero-padded to a frame.
static Expected<std::vector<double>> widened(const Tensor &window,
                                             const STFTParams &params) {
  if (window.size() > params.frame)
    return invalid("a window of " + std::to_string(window.size()) +
                   " samples is longer than a frame of " +
                   std::to_string(params.frame));
  constexpr int64_t longest = int64_t(1) << 24;
  if (params.frame > longest)
    return Status(StatusCode::ResourceExhausted,
                  "a frame of " + std::to_string(params.frame) +
                      " samples is longer than 2^24");
  std::vector<double> result(static_cast<size_t>(params.frame), 0.0);
  std::copy(window.floats().begin(), window.floats().end(),
            result.begin() + (params.frame - window.size()) / 2);
  return result;
}

/// cos and sin of 2π · k / N for k less than N, correctly rounded for any f ·
/// n.
static std::vector<std::pair<double, double>> unitCircle(int64_t n) {
  std::vector<std::pair<double, double>> circle;
  for (int64_t k = 0; k < n; ++k) {
    const double angle = 2 * std::acos(-1.0) * double(k) / double(n);
    circle.emplace_back(std::cos(angle), std::sin(angle));
  }
  return circle;
}

static Expected<Tensor> padded(const Tensor &x, const STFTParams &params) {
  if (!params.center)
    return x;
  Shape ends(x.shape.size(), 0);
  ends.back() = params.frame / 2;
  return pad(x, ends, ends, params.padMode, 0);
}

Expected<Tensor> stft(const Tensor &x, const Tensor &window,
                      const STFTParams &params) {
  Expected<std::vector<double>> weights = widened(window, params);
  if (!weights)
    return weights.status();
  Expected<Tensor> signal = padded(x, params);
  if (!signal)
    return signal.status();
  const int64_t frames = numFrames(x.dim(-1), params), n = params.frame;
  if (frames == 0)
    return invalid("a signal of " + std::to_string(x.dim(-1)) +
                   " samples is shorter than a frame of " + std::to_string(n));
  Shape shape(x.shape.begin(), x.shape.end() - 1);
  shape.insert(shape.end(), {params.frequencies(), frames, 2});
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  Tensor result(x.kind, shape);
  const auto circle = unitCircle(n);
  const double unit = params.normalized ? 1 / std::sqrt(double(n)) : 1.0;
  for (int64_t at = 0; at < result.size(); at += 2) {
    const int64_t t = at / 2 % frames;
    const int64_t f = at / 2 / frames % params.frequencies();
    const double *samples =
        signal->row(at / 2 / frames / params.frequencies()) + t * params.hop;
    for (int64_t i = 0; i < n; ++i) {
      const auto &[cosine, sine] = circle[static_cast<size_t>(f * i % n)];
      const double sample =
          unit * samples[i] * (*weights)[static_cast<size_t>(i)];
      result[at] += sample * cosine;
      result[at + 1] -= sample * sine;
    }
  }
  return result;
}

/// Sample i of the inverse transform of frame t of one signal [F, T, 2].
static double
inverseSample(const double *spectrum, int64_t frames, int64_t t, int64_t i,
              const STFTParams &params,
              const std::vector<std::pair<double, double>> &circle) {
  const int64_t n = params.frame;
  double sum = 0;
  for (int64_t f = 0; f < params.frequencies(); ++f) {
    const bool hasConjugate = params.onesided && f > 0 && 2 * f != n;
    const auto &[cosine, sine] = circle[static_cast<size_t>(f * i % n)];
    const double *number = spectrum + (f * frames + t) * 2;
    sum += (hasConjugate ? 2 : 1) * (number[0] * cosine - number[1] * sine);
  }
  return sum / (params.normalized ? std::sqrt(double(n)) : double(n));
}

Expected<Tensor> istft(const Tensor &x, const Tensor &window,
                       const STFTParams &params, int64_t length) {
  Expected<std::vector<double>> weights = widened(window, params);
  if (!weights)
    return weights.status();
  if (x.dim(-3) != params.frequencies() || x.dim(-1) != 2)
    return invalid(typeString(x) + " does not have " +
                   std::to_string(params.frequencies()) +
                   " frequencies of complex numbers");
  const int64_t frames = x.dim(-2), n = params.frame;
  const int64_t cut = params.center ? n / 2 : 0;
  const int64_t whole = frames == 0 ? 0 : n + params.hop * (frames - 1);
  if (length < 0)
    length = numSamples(frames, params);
  Shape shape(x.shape.begin(), x.shape.end() - 3);
  shape.push_back(length);
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  LLMIR_RETURN_IF_ERROR(checkAffordable({whole}));
  Tensor result(x.kind, shape);
  const auto circle = unitCircle(n);
  const int64_t signals = numElements(Shape(shape.begin(), shape.end() - 1));
  for (int64_t signal = 0; signal < signals; ++signal) {
    std::vector<double> sums(static_cast<size_t>(whole), 0.0), squares = sums;
    const double *spectrum =
        x.floats().data() + signal * params.frequencies() * frames * 2;
    for (int64_t t = 0; t < frames; ++t)
      for (int64_t i = 0; i < n; ++i) {
        const double w = (*weights)[static_cast<size_t>(i)];
        const auto at = static_cast<size_t>(t * params.hop + i);
        sums[at] += w * inverseSample(spectrum, frames, t, i, params, circle);
        squares[at] += w * w;
      }
    for (int64_t i = 0; i < std::min(length, whole - cut); ++i) {
      const auto at = static_cast<size_t>(i + cut);
      result[signal * length + i] =
          squares[at] > 1e-11 ? sums[at] / squares[at] : sums[at];
    }
  }
  return result;
}

} // namespace llmir::reference
