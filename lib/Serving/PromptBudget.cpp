//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/PromptBudget.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir {

static constexpr int64_t fewestTokens = 8;
/// What remains of a step's weight after another one.
static constexpr double remaining = 0.99;
/// Sizes that make the three terms of a step's time similar.
static constexpr double usualDecoding = 16, usualTokens = 256;
/// Every other step with prompts has this part of the tokens: if their number
/// always followed from that of the sequences, the times of the two could not
/// be told apart.
static constexpr double reduction = 0.75;
/// Of the mean product: what makes the solution unique as long as steps were
/// all alike, and is too small to change others.
static constexpr double ridge = 1e-6;

void PromptBudget::add(int64_t decoding, int64_t promptTokens,
                       double milliseconds) {
  if (!(milliseconds > 0))
    return;
  const Vector step = {1, static_cast<double>(decoding) / usualDecoding,
                       static_cast<double>(promptTokens) / usualTokens};
  const double weight = 1 / (milliseconds * milliseconds);
  if (decoding > 0 && promptTokens > 0)
    isReduced = !isReduced;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j)
      products[i][j] = remaining * products[i][j] + weight * step[i] * step[j];
    times[i] = remaining * times[i] + weight * step[i] * milliseconds;
  }
}

/// Solves (products + ridge) * x = times by elimination; the matrix is positive
/// definite, so that no pivot is zero.
PromptBudget::Vector PromptBudget::coefficients() const {
  const double scale = products[0][0] + products[1][1] + products[2][2];
  if (scale == 0)
    return {};
  std::array<Vector, 3> matrix = products;
  Vector x = times;
  for (size_t i = 0; i < 3; ++i)
    matrix[i][i] += ridge * scale;
  for (size_t i = 0; i < 3; ++i)
    for (size_t row = i + 1; row < 3; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (size_t column = i; column < 3; ++column)
        matrix[row][column] -= factor * matrix[i][column];
      x[row] -= factor * x[i];
    }
  for (size_t i = 3; i-- > 0;) {
    for (size_t column = i + 1; column < 3; ++column)
      x[i] -= matrix[i][column] * x[column];
    x[i] /= matrix[i][i];
  }
  return {x[0], x[1] / usualDecoding, x[2] / usualTokens};
}

int64_t PromptBudget::tokens(int64_t decoding, int64_t waiting) const {
  if (std::isinf(maxSlowdown))
    return std::numeric_limits<int64_t>::max();
  const auto [fixed, ofEach, ofToken] = coefficients();
  const auto sequences = static_cast<double>(decoding);
  const double slowdown = std::max(
      maxSlowdown, (sequences + static_cast<double>(waiting)) / sequences);
  const double time = (slowdown - 1) * (fixed + ofEach * sequences) *
                      (isReduced ? reduction : 1);
  if (!(ofToken > 0 && time > 0))
    return fewestTokens;
  constexpr double most = 1 << 30;
  return std::max(fewestTokens,
                  static_cast<int64_t>(std::min(time / ofToken, most)));
}

} // namespace llmir
