//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SoftmaxMass.h"

namespace llmir {

static constexpr size_t lanes = 16;
using Floats = float __attribute__((vector_size(lanes * sizeof(float))));
using Words = uint32_t __attribute__((vector_size(lanes * sizeof(float))));

[[gnu::always_inline]] static inline double
addInLanes(Span<const float> logits, float greatest, float inverseTemperature) {
  const size_t whole = logits.size() / lanes * lanes;
  Floats sums = {};
  for (size_t i = 0; i < whole; i += lanes) {
    Floats values;
    std::memcpy(&values, logits.data() + i, sizeof values);
    values = (values - greatest) * inverseTemperature;
    expOfNegative<Floats, Words>(values);
    sums += values;
  }
  double total = 0;
  for (size_t lane = 0; lane < lanes; ++lane)
    total += sums[lane];
  for (size_t i = whole; i < logits.size(); ++i)
    total += expOfNegative((logits[i] - greatest) * inverseTemperature);
  return total;
}

#if defined(__x86_64__)
// AVX2 without FMA, so that products are rounded as without it.
[[gnu::target("avx2")]] static double
addInWideLanes(Span<const float> logits, float greatest, float inverse) {
  return addInLanes(logits, greatest, inverse);
}
#endif

double massOf(Span<const float> logits, float greatest,
              float inverseTemperature) {
#if defined(__x86_64__)
  static const bool hasAVX2 = __builtin_cpu_supports("avx2");
  if (hasAVX2)
    return addInWideLanes(logits, greatest, inverseTemperature);
#endif
  return addInLanes(logits, greatest, inverseTemperature);
}

} // namespace llmir
