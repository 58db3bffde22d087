//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockQuantizer.h"

#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llmir;

BlockQuantizer::BlockQuantizer(TensorFormat format)
    : format(*IntegerFormat::ofBlocks(format)), grid(this->format),
      size(tensorFormatInfo(format).valuesPerBlock),
      isTernary(format == TensorFormat::TQ1_0 ||
                format == TensorFormat::TQ2_0) {}

void llmir::storeLevels(const Group &group, const LevelGrid &grid, Fit fit,
                        uint8_t *q) {
  float levels[StoredBlock::kMaxValues];
  levelsOf(group, grid, fit, levels);
  for (int64_t i = 0; i < group.count; ++i)
    q[i] = grid.stored(levels[i]);
}

void BlockQuantizer::quantize(const float *x, const float *w,
                              StoredBlock &block) const {
  const Group all{x, w, size};
  if (format.superGroup != 0)
    return quantizeSuperBlock(format, grid, x, w, block);
  if (isTernary)
    return quantizeTernary(all, block);
  if (format.scales == ScaleFormat::E8M0)
    return quantizePowerOfTwo(all, block);
  quantizeGroup(all, block);
}

/// The f16 numbers next to a number, and 0.
static std::array<uint16_t, 4> neighborsOf(float number) {
  const uint16_t half = floatToF16(number);
  return {half, static_cast<uint16_t>(half - 1),
          static_cast<uint16_t>(half + 1), 0};
}

/// In f16's subnormal range, rounding to nearest may not be best: compares the
/// neighbors of a fit.
static void searchNeighbors(const Group &group, const LevelGrid &grid,
                            bool hasMin, Fit fit, StoredBlock &block) {
  float least = INFINITY;
  for (uint16_t d : neighborsOf(fit.scale))
    for (uint16_t min : neighborsOf(fit.min)) {
      const Fit tried{f16ToFloat(d), hasMin ? f16ToFloat(min) : 0};
      const float error = errorOf(group, grid, tried); // NaN for such halves.
      if (!(error < least))
        continue;
      least = error;
      block.d = d;
      block.dmin = hasMin ? min : 0;
    }
}

void BlockQuantizer::quantizeGroup(const Group &group,
                                   StoredBlock &block) const {
  constexpr float leastNormal = 0x1p-14f;
  const Fit fit = format.minima ? fitScaleAndMin(group, grid, MinSign::Any)
                                : fitScale(group, grid);
  block.d = floatToF16(fit.scale);
  block.dmin = format.minima ? floatToF16(fit.min) : 0;
  if (std::fabs(fit.scale) < leastNormal && (fit.scale != 0 || fit.min != 0))
    searchNeighbors(group, grid, format.minima, fit, block);
  storeLevels(group, grid, {f16ToFloat(block.d), f16ToFloat(block.dmin)},
              block.q);
}

/// With the levels -1, 0 and 1 and the scale d, the elements that are not 0 are
/// the largest ones. With those in order, sum w |x| of the first k squared,
/// divided by their sum of w, is what their best scale reduces the error by:
/// the best k is found exactly.
void BlockQuantizer::quantizeTernary(const Group &group,
                                     StoredBlock &block) const {
  uint16_t order[StoredBlock::kMaxValues];
  std::iota(order, order + group.count, uint16_t(0));
  std::sort(order, order + group.count, [&](uint16_t a, uint16_t b) {
    const float first = std::fabs(group.x[a]), second = std::fabs(group.x[b]);
    return first != second ? first > second : a < b;
  });
  double sum = 0, weights = 0, mostGain = 0, scale = 0;
  for (int64_t k = 0; k < group.count; ++k) {
    const double w = group.w[order[k]];
    sum += w * std::fabs(group.x[order[k]]);
    weights += w;
    if (sum * sum > mostGain * weights) {
      mostGain = sum * sum / weights;
      scale = sum / weights;
    }
  }
  block.d = floatToF16(static_cast<float>(scale));
  storeLevels(group, grid, {f16ToFloat(block.d), 0}, block.q);
}

/// The scale is a power of two: the few that can be best are compared.
void BlockQuantizer::quantizePowerOfTwo(const Group &group,
                                        StoredBlock &block) const {
  float largest = 0;
  for (int64_t i = 0; i < group.count; ++i)
    largest = std::max(largest, std::fabs(group.x[i]));
  if (largest == 0) {
    block.d = 0;
    return storeLevels(group, grid, {}, block.q);
  }
  float least = INFINITY;
  // The largest level is 12; an element of it may be cut to less.
  const int middle = std::ilogb(largest) - 3;
  for (int exponent = middle - 1; exponent <= middle + 1; ++exponent) {
    // A byte e is the scale 2^(e - 128), subnormal for 0 and 1; 255 is NaN.
    const auto byte = static_cast<uint8_t>(std::clamp(exponent + 128, 2, 254));
    const Fit fit{decodeScale(ScaleFormat::E8M0, &byte), 0};
    const float error = errorOf(group, grid, fit);
    if (!(error < least))
      continue;
    least = error;
    block.d = byte;
    storeLevels(group, grid, fit, block.q);
  }
}
