//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupFit.h"

#include "llmir/Support/StoredBlock.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llmir;

static constexpr int64_t maxCount = StoredBlock::kMaxValues;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

LevelGrid::LevelGrid(const IntegerFormat &format)
    : format(format), low(static_cast<float>(format.lowest())),
      high(static_cast<float>(format.highest())) {
  if (format.codebook && format.codebook->name == "ternary")
    high = 1; // The fourth index is not used.
  if (!format.usesTable())
    return;
  const Codebook &book = *format.codebook;
  std::array<int8_t, 16> sorted = book.entries;
  std::sort(sorted.begin(), sorted.begin() + book.size());
  auto end = std::unique(sorted.begin(), sorted.begin() + book.size());
  for (auto at = sorted.begin(); at + 1 < end; ++at, ++steps) {
    middles[steps] = 0.5f * static_cast<float>(at[0] + at[1]);
    widths[steps] = static_cast<float>(at[1] - at[0]);
  }
}

void LevelGrid::round(const float *numbers, int64_t count,
                      float *levels) const {
  if (steps == 0) {
    // Adding and subtracting 1.5 * 2^23 rounds to a whole number.
    constexpr float shift = 12582912.0f;
    for (int64_t i = 0; i < count; ++i)
      levels[i] = (std::min(std::max(numbers[i], low), high) + shift) - shift;
    return;
  }
  std::fill_n(levels, count, low);
  for (int64_t s = 0; s < steps; ++s)
    for (int64_t i = 0; i < count; ++i)
      levels[i] += numbers[i] > middles[s] ? widths[s] : 0.0f;
}

uint8_t LevelGrid::stored(float level) const {
  const auto number = static_cast<int64_t>(level);
  if (!format.usesTable())
    return static_cast<uint8_t>(number + format.storedBias());
  const std::array<int8_t, 16> &entries = format.codebook->entries;
  return static_cast<uint8_t>(
      std::find(entries.begin(), entries.end(), static_cast<int8_t>(number)) -
      entries.begin());
}

//===----------------------------------------------------------------------===//
// Least squares
//===----------------------------------------------------------------------===//

namespace {

/// Sums over a group with levels l: of w, w l, w l^2, w x, w x l.
struct Sums {
  float w = 0, l = 0, ll = 0, x = 0, xl = 0;

  Sums(const Group &group, const float *levels) {
    // In parts, which the compiler turns into vectors.
    constexpr int64_t parts = 4;
    float all[5][parts] = {};
    for (int64_t i = 0; i < group.count; i += parts)
      for (int64_t p = 0; p < parts; ++p) {
        const float weight = group.w[i + p], level = levels[i + p],
                    value = weight * group.x[i + p], scaled = weight * level;
        all[0][p] += weight;
        all[1][p] += scaled;
        all[2][p] += scaled * level;
        all[3][p] += value;
        all[4][p] += value * level;
      }
    float *sums[] = {&w, &l, &ll, &x, &xl};
    for (int s = 0; s < 5; ++s)
      *sums[s] = (all[s][0] + all[s][1]) + (all[s][2] + all[s][3]);
  }

  /// The best scale without a minimum, and by how much it reduces the error
  /// sum w x^2 of the scale 0.
  Fit scaleOnly() const { return {ll > 0 ? xl / ll : 0.0f, 0.0f}; }
  float gainOfScaleOnly() const { return ll > 0 ? xl * xl / ll : 0.0f; }

  /// The best scale and minimum; without a minimum if the levels are all equal.
  Fit scaleAndMin() const {
    const float determinant = w * ll - l * l;
    if (!(determinant > 0))
      return scaleOnly();
    const float scale = (w * xl - x * l) / determinant;
    return {scale, (x - scale * l) / w};
  }
  /// 2 b'z - z'A z for the fit z, where A z = b are the normal equations.
  float gain(Fit fit) const {
    return 2 * (fit.scale * xl + fit.min * x) -
           (fit.scale * fit.scale * ll + 2 * fit.scale * fit.min * l +
            fit.min * fit.min * w);
  }
};

} // namespace

void llmir::levelsOf(const Group &group, const LevelGrid &grid, Fit fit,
                     float *levels) {
  assert(group.count > 0 && group.count <= maxCount);
  float numbers[maxCount];
  const float inverse = fit.scale != 0 ? 1.0f / fit.scale : 0.0f;
  for (int64_t i = 0; i < group.count; ++i)
    numbers[i] = (group.x[i] - fit.min) * inverse;
  grid.round(numbers, group.count, levels);
}

float llmir::errorOf(const Group &group, const LevelGrid &grid, Fit fit) {
  float levels[maxCount];
  levelsOf(group, grid, fit, levels);
  constexpr int64_t parts = 4;
  float error[parts] = {};
  for (int64_t i = 0; i < group.count; i += parts)
    for (int64_t p = 0; p < parts; ++p) {
      const float difference =
          fit.scale * levels[i + p] + fit.min - group.x[i + p];
      error[p] += group.w[i + p] * difference * difference;
    }
  return (error[0] + error[1]) + (error[2] + error[3]);
}

//===----------------------------------------------------------------------===//
// Scale
//===----------------------------------------------------------------------===//

static float extremeOf(const Group &group) {
  float extreme = 0;
  for (int64_t i = 0; i < group.count; ++i)
    if (std::fabs(group.x[i]) > std::fabs(extreme))
      extreme = group.x[i];
  return extreme;
}

/// Alternates between rounding and least squares, which never increases the
/// error, while it helps.
template <typename Solve>
static Fit improve(const Group &group, const LevelGrid &grid, Fit fit,
                   float gain, const Solve &solve) {
  float levels[maxCount];
  for (int round = 0; round < 4; ++round) {
    levelsOf(group, grid, fit, levels);
    const Sums sums(group, levels);
    const Fit next = solve(sums);
    const float reached = sums.gain(next);
    if (!(reached > gain) || next.scale == 0)
      break;
    fit = next;
    gain = reached;
  }
  return fit;
}

Fit llmir::fitScale(const Group &group, const LevelGrid &grid) {
  const float extreme = extremeOf(group);
  if (extreme == 0)
    return {};
  // The extreme element may be at either end of the levels, and by up to about
  // a level within or outside of them: the others are then closer.
  const bool isFine = grid.highest() > 64;
  const float first = isFine ? 0.0f : -1.2f, last = isFine ? 0.0f : 1.2f;
  const float unit = grid.highest() > 100 && !isFine ? 8.0f : 1.0f;
  float levels[maxCount];
  Fit best;
  float mostGain = 0;
  for (const float end : {grid.lowest(), grid.highest()})
    for (float shift = first; shift <= last; shift += 0.2f) {
      const float target = end < 0 ? end - shift * unit : end + shift * unit;
      levelsOf(group, grid, {extreme / target, 0}, levels);
      const Sums sums(group, levels);
      if (sums.gainOfScaleOnly() > mostGain) {
        mostGain = sums.gainOfScaleOnly();
        best = sums.scaleOnly();
      }
    }
  return improve(group, grid, best, mostGain,
                 [](const Sums &sums) { return sums.scaleOnly(); });
}

//===----------------------------------------------------------------------===//
// Scale and minimum
//===----------------------------------------------------------------------===//

Fit llmir::fitScaleAndMin(const Group &group, const LevelGrid &grid,
                          MinSign sign) {
  float low = *std::min_element(group.x, group.x + group.count);
  const float high = *std::max_element(group.x, group.x + group.count);
  if (sign == MinSign::NotPositive)
    low = std::min(low, 0.0f);
  if (low == high)
    return {0, low};
  auto solve = [&](const Sums &sums) {
    const Fit fit = sums.scaleAndMin();
    return sign == MinSign::NotPositive && fit.min > 0 ? sums.scaleOnly() : fit;
  };
  float levels[maxCount];
  Fit best;
  float mostGain = -1;
  for (float shift = -1.0f; shift <= 1.0f; shift += 0.2f) {
    const float scale = (high - low) / (grid.highest() + shift);
    // The surplus is divided between both ends.
    const float min = low + 0.5f * (shift < 0 ? -shift * scale * 0.5f : 0);
    levelsOf(group, grid, {scale, min}, levels);
    const Sums sums(group, levels);
    const Fit fit = solve(sums);
    const float gain = sums.gain(fit);
    if (gain > mostGain) {
      mostGain = gain;
      best = fit;
    }
  }
  return improve(group, grid, best, mostGain, solve);
}
