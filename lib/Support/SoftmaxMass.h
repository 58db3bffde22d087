//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights that a softmax gives to tokens, relative to the best one's, and
// their sums. Sums are added in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SUPPORT_SOFTMAXMASS_H
#define LLMIR_LIB_SUPPORT_SOFTMAXMASS_H

#include "llmir/Support/Span.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llmir {

/// The weights of all tokens of this many ids are added at once.
constexpr size_t idsPerMass = 1024;

/// exp(x) for x <= 0, with a relative error below 3e-7; for NaN and below -87,
/// practically zero. A loop over it is vectorized.
inline float expOfNegative(float x) {
  x = x > -87.0f ? x : -87.0f;
  // exp(x) = 2^n * exp(r), |r| <= ln(2) / 2; adding 1.5 * 2^23 rounds.
  const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float power = 1.98756915e-4f; // Coefficients of Cephes' expf.
  for (float term : {1.39819995e-3f, 8.33345190e-3f, 4.16657959e-2f,
                     1.66666655e-1f, 5.00000012e-1f})
    power = power * r + term;
  power = power * r * r + r + 1.0f;
  const auto bits = static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return power * scale;
}

/// Weights of the tokens relative to the best one, added in lanes.
inline double massOf(Span<const float> logits, float greatest,
                     float inverseTemperature) {
  constexpr size_t lanes = 16;
  const size_t whole = logits.size() / lanes * lanes;
  float sums[lanes] = {};
  auto weight = [&](float logit) {
    return expOfNegative((logit - greatest) * inverseTemperature);
  };
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += weight(logits[i + lane]);
  double total = 0;
  for (float sum : sums)
    total += sum;
  for (size_t i = whole; i < logits.size(); ++i)
    total += weight(logits[i]);
  return total;
}

} // namespace llmir

#endif // LLMIR_LIB_SUPPORT_SOFTMAXMASS_H
