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

using namespace llmir;

namespace {

/// A block in which group g has the scale d * scales[g] and the minimum
/// -dmin * mins[g].
class SuperBlock {
public:
  SuperBlock(const IntegerFormat &format, const LevelGrid &grid, const float *x,
             const float *w)
      : format(format), grid(grid), size(format.group),
        groups(format.superGroup / format.group),
        lowest(format.minima                            ? 0
               : format.group == 16 && format.bits == 6 ? -128
                                                        : -32),
        highest(format.pairedSubScales ? 15
                : format.minima        ? 63
                                       : -lowest - 1),
        x(x), w(w) {}

  void quantize(StoredBlock &block);

private:
  /// The integers of a block, and its error.
  struct State {
    float d = 0, dmin = 0; ///< Values of f16.
    int scales[StoredBlock::kMaxGroups] = {},
        mins[StoredBlock::kMaxGroups] = {};
    float error = INFINITY;
  };

  Group group(int64_t g) const { return {x + g * size, w + g * size, size}; }
  static Fit fitOf(const State &state, int64_t g) {
    return {state.d * static_cast<float>(state.scales[g]),
            -state.dmin * static_cast<float>(state.mins[g])};
  }
  void fitGroups();
  State start(float shrink) const;
  void searchIntegers(State &state) const;
  bool fitBoth(State &state) const;
  void refine(State state);

  const IntegerFormat &format;
  const LevelGrid &grid;
  const int64_t size, groups;
  const int lowest, highest; ///< Of the scales, and the highest minimum.
  const float *x, *w;
  Fit fits[StoredBlock::kMaxGroups]; ///< Of each group alone.
  State best;
};

} // namespace

/// A number as f16, or the least positive one instead of 0.
static float asHalf(float number) {
  const float rounded =
      f16ToFloat(floatToF16(std::clamp(number, -65504.0f, 65504.0f)));
  return rounded == 0 && number != 0 ? std::copysign(0x1p-24f, number)
                                     : rounded;
}

void SuperBlock::fitGroups() {
  for (int64_t g = 0; g < groups; ++g)
    fits[g] = format.minima
                  ? fitScaleAndMin(group(g), grid, MinSign::NotPositive)
                  : fitScale(group(g), grid);
}

/// Integers next to the groups' own fits; the one with the largest scale gets
/// an end of the range divided by `shrink`.
SuperBlock::State SuperBlock::start(float shrink) const {
  State state;
  float scale = 0, min = 0;
  for (int64_t g = 0; g < groups; ++g) {
    if (std::fabs(fits[g].scale) > std::fabs(scale))
      scale = fits[g].scale;
    min = std::max(min, -fits[g].min);
  }
  const auto end = static_cast<float>(format.minima ? highest : lowest);
  state.d = asHalf(scale / end * shrink);
  state.dmin = asHalf(min / static_cast<float>(highest) * shrink);
  auto nearest = [&](float number, float unit) {
    if (unit == 0)
      return 0;
    const float ratio = std::clamp(number / unit, static_cast<float>(lowest),
                                   static_cast<float>(highest));
    return static_cast<int>(std::lrintf(ratio));
  };
  for (int64_t g = 0; g < groups; ++g) {
    state.scales[g] = nearest(fits[g].scale, state.d);
    state.mins[g] = nearest(-fits[g].min, state.dmin);
  }
  return state;
}

/// Tries the neighbors of each group's integers, and sums the errors.
void SuperBlock::searchIntegers(State &state) const {
  state.error = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const Group elements = group(g);
    const int scale = state.scales[g], min = state.mins[g];
    const int minStep = format.minima && state.dmin != 0 ? 1 : 0;
    float least = INFINITY;
    for (int s = std::max(scale - 1, lowest); s <= std::min(scale + 1, highest);
         ++s)
      for (int m = std::max(min - minStep, 0);
           m <= std::min(min + minStep, highest); ++m) {
        State tried = state;
        tried.scales[g] = s;
        tried.mins[g] = m;
        const float error = errorOf(elements, grid, fitOf(tried, g));
        if (!(error < least))
          continue;
        least = error;
        state.scales[g] = s;
        state.mins[g] = m;
      }
    state.error += least;
  }
}

/// Least squares for d and dmin with all integers fixed. Returns false if they
/// stay the same.
bool SuperBlock::fitBoth(State &state) const {
  double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;
  float levels[StoredBlock::kMaxValues];
  for (int64_t g = 0; g < groups; ++g) {
    const Group elements = group(g);
    levelsOf(elements, grid, fitOf(state, g), levels);
    const auto b = static_cast<double>(-state.mins[g]);
    for (int64_t i = 0; i < size; ++i) {
      const double weight = elements.w[i], value = elements.x[i],
                   a = static_cast<double>(state.scales[g]) * levels[i];
      aa += weight * a * a;
      ab += weight * a * b;
      bb += weight * b * b;
      ax += weight * a * value;
      bx += weight * b * value;
    }
  }
  const double determinant = aa * bb - ab * ab;
  double d = aa > 0 ? ax / aa : 0, dmin = 0;
  if (bb > 0 && determinant > 1e-9 * aa * bb) {
    d = (ax * bb - bx * ab) / determinant;
    dmin = (bx * aa - ax * ab) / determinant;
  }
  const float newD = asHalf(static_cast<float>(d)),
              newMin = asHalf(static_cast<float>(dmin));
  if ((newD == state.d && newMin == state.dmin) || newMin < 0 ||
      (format.minima && newD < 0))
    return false;
  state.d = newD;
  state.dmin = newMin;
  return true;
}

void SuperBlock::refine(State state) {
  for (int round = 0; round < 3; ++round) {
    searchIntegers(state);
    if (state.error < best.error)
      best = state;
    else if (round > 0)
      return;
    if (!fitBoth(state))
      return;
  }
}

void SuperBlock::quantize(StoredBlock &block) {
  fitGroups();
  // Coarse scales depend on where the range ends.
  refine(start(1.0f));
  if (format.pairedSubScales)
    for (float shrink : {0.93f, 1.07f})
      refine(start(shrink));
  block.d = floatToF16(best.d);
  block.dmin = floatToF16(best.dmin);
  for (int64_t g = 0; g < groups; ++g) {
    block.subScales[g] = static_cast<uint8_t>(best.scales[g]);
    block.subMins[g] = static_cast<uint8_t>(best.mins[g]);
    storeLevels(group(g), grid, fitOf(best, g), block.q + g * size);
  }
}

void llmir::quantizeSuperBlock(const IntegerFormat &format,
                               const LevelGrid &grid, const float *x,
                               const float *w, StoredBlock &block) {
  SuperBlock(format, grid, x, w).quantize(block);
}
