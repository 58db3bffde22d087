//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Quantization.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace llmir {

static float highest(int64_t bits) {
  return static_cast<float>((1 << (bits - 1)) - 1);
}
static float lowest(int64_t bits, bool symmetric) {
  return symmetric ? -highest(bits) : -highest(bits) - 1.0f;
}

/// Clamps to the range of the integers; NaN becomes the lowest one.
static int16_t clamp(float q, int64_t bits, bool symmetric) {
  float low = lowest(bits, symmetric), high = highest(bits);
  return static_cast<int16_t>(q > low ? (q < high ? q : high) : low);
}

/// Rounds to nearest even if |x| < 2^22, which covers all integers of 16 bits;
/// larger values are only clamped later. (Adding 1.5 * 2^23 leaves no bits for
/// a fraction. Unlike nearbyint, this is not a function call.)
static float roundToEven(float x) {
  constexpr float shift = 12582912.0f;
  return std::fabs(x) < 4194304.0f ? (x + shift) - shift : x;
}

QuantizedRange quantizedRange(const float *values, int64_t count, int64_t bits,
                              bool symmetric) {
  // Vectorized: the order of the comparisons does not matter.
  constexpr int64_t lanes = 8;
  float lows[lanes] = {}, highs[lanes] = {};
  int64_t whole = count / lanes * lanes;
  for (int64_t i = 0; i < whole; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) {
      lows[j] = std::min(lows[j], values[i + j]);
      highs[j] = std::max(highs[j], values[i + j]);
    }
  float low = *std::min_element(lows, lows + lanes);
  float high = *std::max_element(highs, highs + lanes);
  for (int64_t i = whole; i < count; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (symmetric)
    return {std::max(-low, high) / highest(bits), 0};
  QuantizedRange range{(high - low) / static_cast<float>((1 << bits) - 1), 0};
  if (range.scale != 0)
    range.zeroPoint = clamp(
        lowest(bits, false) - roundToEven(low / range.scale), bits, false);
  return range;
}

int16_t quantizeValue(float x, QuantizedRange range, int64_t bits,
                      bool symmetric) {
  float steps = range.scale == 0 ? 0 : roundToEven(x / range.scale);
  return clamp(steps + static_cast<float>(range.zeroPoint), bits, symmetric);
}

/// quantizeValue for consecutive values that share a range.
static void quantizeValues(const float *values, int64_t count,
                           QuantizedRange range, int64_t bits, bool symmetric,
                           int16_t *q) {
  if (range.scale == 0) {
    std::fill_n(q, count, quantizeValue(0, range, bits, symmetric));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    q[i] = quantizeValue(values[i], range, bits, symmetric);
}

/// Quantizes a group as ggml does for block formats with an f16 scale
/// (quantize_row_q8_0_ref, quantize_row_q4_0_ref). Returns the scale before its
/// rounding to f16, which is also used to compute the integers: max|x| / 127
/// for 8 bits; for fewer bits, the (first) value of the largest magnitude, of
/// either sign, maps to the lowest integer. Ties round away from zero for 8
/// bits, up for fewer bits.
static float quantizeBlock(const float *values, int64_t count, int64_t bits,
                           int16_t *q) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::fabs(values[i]) > std::fabs(most))
      most = values[i];
  const auto bias = static_cast<float>(1 << (bits - 1));
  float scale = bits == 8 ? std::fabs(most) / 127.0f : most / -bias;
  float inverse = scale != 0 ? 1.0f / scale : 0;
  for (int64_t i = 0; i < count; ++i) {
    float steps = values[i] * inverse;
    steps = bits == 8 ? std::round(steps)
                      : std::floor(steps + (bias + 0.5f)) - bias;
    q[i] = clamp(steps, bits, /*symmetric=*/false);
  }
  return scale;
}

void quantizeAndPackRow(const IntegerMatrixLayout &layout, int64_t row,
                        const float *values, uint8_t *out) {
  const IntegerFormat &format = layout.format;
  const bool isBlocks = format.scales == ScaleFormat::F16;
  assert((isBlocks ? !format.zeroPoints : format.scales == ScaleFormat::F32) &&
         !format.minima && format.superGroup == 0 &&
         "a format that --quantize produces");
  const int64_t bits = format.bits, group = layout.group();
  const bool symmetric = !format.zeroPoints;
  std::vector<int16_t> q(layout.columns), zeroPoints(layout.numGroups());
  std::vector<float> scales(layout.numGroups());
  for (int64_t g = 0; g < layout.numGroups(); ++g) {
    int64_t first = g * group, count = std::min(group, layout.columns - first);
    if (isBlocks) {
      scales[g] = quantizeBlock(values + first, count, bits, q.data() + first);
      continue;
    }
    QuantizedRange range =
        quantizedRange(values + first, count, bits, symmetric);
    scales[g] = range.scale;
    zeroPoints[g] = range.zeroPoint;
    quantizeValues(values + first, count, range, bits, symmetric,
                   q.data() + first);
  }
  packIntegerRow(
      layout, row,
      {q.data(), scales.data(), symmetric ? nullptr : zeroPoints.data()}, out);
}

} // namespace llmir
