//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of elements that share a scale, and possibly a minimum:
//
//   x_i ~ scale * level_i + min, level_i in a grid of levels
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_QUANTIZE_GROUPFIT_H
#define LLMIR_LIB_QUANTIZE_GROUPFIT_H

#include "llmir/Support/IntegerFormat.h"

#include <cstdint>

namespace llmir {

/// The integers that a format multiplies by scales, in ascending order.
class LevelGrid {
public:
  explicit LevelGrid(const IntegerFormat &format);

  float lowest() const { return low; }
  float highest() const { return high; }
  /// The level next to each number; halves go to the even or the lower level.
  void round(const float *numbers, int64_t count, float *levels) const;
  /// The stored integer of a level.
  uint8_t stored(float level) const;

private:
  IntegerFormat format;
  float low, high;
  /// Levels that are not a range: the middles between them, and the steps.
  int64_t steps = 0;
  float middles[15], widths[15];
};

/// Elements with their weights.
struct Group {
  const float *x;
  const float *w;
  int64_t count; ///< At most StoredBlock::kMaxValues.
};

struct Fit {
  float scale = 0, min = 0;
};

/// The levels next to a group's elements in a fit.
void levelsOf(const Group &group, const LevelGrid &grid, Fit fit,
              float *levels);
/// The weighted squared error of a fit.
float errorOf(const Group &group, const LevelGrid &grid, Fit fit);

/// A fit without a minimum whose error is small.
Fit fitScale(const Group &group, const LevelGrid &grid);

enum class MinSign { Any, NotPositive };
/// The same with a minimum.
Fit fitScaleAndMin(const Group &group, const LevelGrid &grid, MinSign sign);

} // namespace llmir

#endif // LLMIR_LIB_QUANTIZE_GROUPFIT_H
