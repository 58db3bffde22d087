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

/// Turns x <= 0 into exp(x), with a relative error below 3e-7; for NaN and
/// below -87, practically zero. T is float, or a vector of floats, with Bits a
/// vector of as many uint32_t; the results are the same.
template <typename T, typename Bits>
[[gnu::always_inline]] inline void expOfNegative(T &x) {
  const T least = T{} - 87.0f;
  x = x > least ? x : least; // Replaces NaN.
  // exp(x) = 2^n * exp(r), |r| <= ln(2) / 2; adding 1.5 * 2^23 rounds, and
  // leaves n in the lowest bits.
  const T rounded = x * 1.44269504f + 12582912.0f;
  const T n = rounded - 12582912.0f;
  const T r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  T power = r * 1.98756915e-4f + 1.39819995e-3f; // Cephes' expf.
  power = power * r + 8.33345190e-3f;
  power = power * r + 4.16657959e-2f;
  power = power * r + 1.66666655e-1f;
  power = power * r + 5.00000012e-1f;
  power = power * r * r + r + 1.0f;
  Bits bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  bits = (bits + 127u) << 23;
  T scale;
  std::memcpy(&scale, &bits, sizeof scale);
  x = power * scale;
}

inline float expOfNegative(float x) {
  expOfNegative<float, uint32_t>(x);
  return x;
}

/// Weights of the tokens relative to the best one, added in lanes. The same
/// bits on all processors of an architecture.
double massOf(Span<const float> logits, float greatest,
              float inverseTemperature);

} // namespace llmir

#endif // LLMIR_LIB_SUPPORT_SOFTMAXMASS_H
