//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/PromptBudget.h"

#include <algorithm>

namespace llmir {

/// With fewer tokens, prompts would hardly advance, and the time that one adds
/// could not be told from noise.
static constexpr int64_t fewestTokens = 8;
/// Of a new observation in an average.
static constexpr double weight = 0.2;

static void average(double &known, double seen) {
  known = known == 0 ? seen : known + weight * (seen - known);
}

void PromptBudget::add(int64_t decoding, int64_t promptTokens,
                       double milliseconds) {
  if (promptTokens == 0)
    return average(decodeTimes[decoding], milliseconds);
  if (promptTokens < fewestTokens)
    return;
  const auto count = static_cast<double>(promptTokens);
  if (decoding == 0)
    return average(timeAlone, milliseconds / count);
  // If many requests come at once, there has been no step without prompts.
  const double known = decodeTime(decoding);
  const double rest = milliseconds - count * timeAlone;
  if (known == 0 && timeAlone > 0 && rest > 0)
    average(decodeTimes[decoding], rest);
  // A step that was not slower than without prompts says nothing.
  const double added = milliseconds - known;
  if (known > 0 && added > 0)
    average(addedTime, added / count);
}

/// The time of the nearest number of sequences that is known; 0 = none is.
double PromptBudget::decodeTime(int64_t decoding) const {
  const auto above = decodeTimes.lower_bound(decoding);
  if (above == decodeTimes.begin())
    return above == decodeTimes.end() ? 0 : above->second;
  const auto below = std::prev(above);
  const bool isAboveNearer = above != decodeTimes.end() &&
                             above->first - decoding < decoding - below->first;
  return isAboveNearer ? above->second : below->second;
}

int64_t PromptBudget::tokens(int64_t decoding, int64_t waiting) const {
  const double ofEach = addedTime > 0 ? addedTime : timeAlone;
  const double slowdown =
      std::max(mostSlowdown, static_cast<double>(decoding + waiting) /
                                 static_cast<double>(decoding));
  const double time = (slowdown - 1) * decodeTime(decoding);
  if (ofEach <= 0 || time <= 0)
    return fewestTokens;
  constexpr double most = 1 << 30;
  return std::max(fewestTokens,
                  static_cast<int64_t>(std::min(time / ofEach, most)));
}

} // namespace llmir
