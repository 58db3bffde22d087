//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <limits>

namespace llmir {

/// The maximum is first found of each of these blocks of ids, and its id then
/// within one of them.
static constexpr size_t idsPerBlock = 1024;
static constexpr float lowest = -std::numeric_limits<float>::infinity();

/// The maximum of a block; sets `hasNaN` if there is NaN, and skips it.
[[gnu::always_inline]] static inline float greatestOf(Span<const float> logits,
                                                      bool &hasNaN) {
  constexpr size_t lanes = 32; // So that the loop vectorizes.
  float most[lanes];
  int32_t numbers[lanes]; // Lanes of all ones where no logit was NaN.
  std::fill_n(most, lanes, lowest);
  std::fill_n(numbers, lanes, -1);
  const size_t whole = logits.size() / lanes * lanes;
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane) {
      const float logit = logits[i + lane];
      most[lane] = logit > most[lane] ? logit : most[lane];
      numbers[lane] &= -static_cast<int32_t>(logit == logit);
    }
  float greatest = *std::max_element(most, most + lanes);
  bool any = std::find(numbers, numbers + lanes, 0) != numbers + lanes;
  for (size_t i = whole; i < logits.size(); ++i) {
    greatest = logits[i] > greatest ? logits[i] : greatest;
    any |= logits[i] != logits[i];
  }
  hasNaN |= any;
  return greatest;
}

[[gnu::always_inline]] static inline LogitsScan
scanInBlocks(Span<const float> logits) {
  LogitsScan result;
  float greatest = lowest;
  size_t best = 0;
  for (size_t first = 0; first < logits.size(); first += idsPerBlock) {
    const size_t count = std::min(idsPerBlock, logits.size() - first);
    const float most = greatestOf(logits.subspan(first, count), result.hasNaN);
    if (most > greatest) {
      greatest = most;
      best = first;
    }
  }
  if (greatest == lowest)
    return result;
  const float *found = std::find(logits.begin() + best, logits.end(), greatest);
  result.best = static_cast<int32_t>(found - logits.begin());
  return result;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] static LogitsScan
scanInWideBlocks(Span<const float> logits) {
  return scanInBlocks(logits);
}
#endif

LogitsScan scanLogits(Span<const float> logits) {
#if defined(__x86_64__)
  static const bool hasAVX2 = __builtin_cpu_supports("avx2");
  if (hasAVX2)
    return scanInWideBlocks(logits);
#endif
  return scanInBlocks(logits);
}

} // namespace llmir
