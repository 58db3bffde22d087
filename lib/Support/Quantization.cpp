//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Quantization.h"

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

QuantizedRange quantizedRange(const float *values, int64_t count, int64_t bits,
                              bool symmetric) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (symmetric)
    return {std::max(-low, high) / highest(bits), 0};
  QuantizedRange range{(high - low) / static_cast<float>((1 << bits) - 1), 0};
  if (range.scale != 0)
    range.zeroPoint = clamp(
        lowest(bits, false) - std::nearbyintf(low / range.scale), bits, false);
  return range;
}

int16_t quantizeNumber(float x, QuantizedRange range, int64_t bits,
                       bool symmetric) {
  float steps = range.scale == 0 ? 0 : std::nearbyintf(x / range.scale);
  return clamp(steps + static_cast<float>(range.zeroPoint), bits, symmetric);
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
    for (int64_t k = first; k < first + count; ++k)
      q[k] = quantizeNumber(values[k], range, bits, symmetric);
  }
  packIntegerRow(
      layout, row,
      {q.data(), scales.data(), symmetric ? nullptr : zeroPoints.data()}, out);
}

} // namespace llmir
