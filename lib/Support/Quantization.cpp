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

/// A number that no range holds becomes an end of the range; NaN its start.
static int16_t clamp(float q, int64_t bits, bool symmetric) {
  float low = lowest(bits, symmetric), high = highest(bits);
  return static_cast<int16_t>(q > low ? (q < high ? q : high) : low);
}

/// The nearest integer, even between two, of what an integer of 16 bits may
/// become; larger numbers stay large. (A sum with 1.5 * 2^23 has no bits for a
/// fraction; unlike nearbyint, it is no call.)
static float roundToEven(float x) {
  constexpr float shift = 12582912.0f;
  return std::fabs(x) < 4194304.0f ? (x + shift) - shift : x;
}

QuantizedRange quantizedRange(const float *values, int64_t count, int64_t bits,
                              bool symmetric) {
  // Several at once: which of them come first makes no difference.
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

int16_t quantizeNumber(float x, QuantizedRange range, int64_t bits,
                       bool symmetric) {
  float steps = range.scale == 0 ? 0 : roundToEven(x / range.scale);
  return clamp(steps + static_cast<float>(range.zeroPoint), bits, symmetric);
}

/// The same of neighbours that share a range.
static void quantizeNumbers(const float *values, int64_t count,
                            QuantizedRange range, int64_t bits, bool symmetric,
                            int16_t *q) {
  if (range.scale == 0) {
    std::fill_n(q, count, quantizeNumber(0, range, bits, symmetric));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    q[i] = quantizeNumber(values[i], range, bits, symmetric);
}

void quantizeAndPackRow(const IntegerMatrixLayout &layout, int64_t row,
                        const float *values, uint8_t *out) {
  assert(layout.format.scales == TensorFormat::F32 && !layout.format.minima &&
         layout.format.superGroup == 0 && "of what --quantize makes");
  const int64_t bits = layout.format.bits, group = layout.group();
  const bool symmetric = !layout.format.zeroPoints;
  std::vector<int16_t> q(layout.columns), zeroPoints(layout.numGroups());
  std::vector<float> scales(layout.numGroups());
  for (int64_t g = 0; g < layout.numGroups(); ++g) {
    int64_t first = g * group, count = std::min(group, layout.columns - first);
    QuantizedRange range =
        quantizedRange(values + first, count, bits, symmetric);
    scales[g] = range.scale;
    zeroPoints[g] = range.zeroPoint;
    quantizeNumbers(values + first, count, range, bits, symmetric,
                    q.data() + first);
  }
  packIntegerRow(
      layout, row,
      {q.data(), scales.data(), symmetric ? nullptr : zeroPoints.data()}, out);
}

} // namespace llmir
