//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokens with the greatest logits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SUPPORT_BESTTOKENS_H
#define LLMIR_LIB_SUPPORT_BESTTOKENS_H

#include "llmir/Support/Span.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace llmir {

/// Calls found(logit, id) for each logit that is greater than `least`, which
/// the calls may raise; not for NaN.
template <typename Fn>
void forEachGreater(Span<const float> logits, const float &least, Fn &&found) {
  constexpr size_t stride = 64; // Tested at once, which is vectorized.
  for (size_t begin = 0; begin < logits.size(); begin += stride) {
    const size_t end = std::min(begin + stride, logits.size());
    const float bound = least;
    bool any = false;
    for (size_t i = begin; i < end; ++i)
      any |= logits[i] > bound;
    for (size_t i = begin; any && i < end; ++i)
      if (logits[i] > least)
        found(logits[i], static_cast<int32_t>(i));
  }
}

/// Fills `best` with the k best, in any order; there are fewer if not as many
/// are greater than minus infinity. A Candidate is made of {logit, id}; its
/// operator< orders by descending logit, then by ascending id. The worst are
/// dropped whenever many have been collected; from then on, only better ones
/// are. Of equals, the lower id is better, so that a later one need not be
/// collected.
template <typename Candidate>
void collectBest(Span<const float> logits, size_t k,
                 std::vector<Candidate> &best) {
  const size_t most = 2 * k + 1024;
  float least = -std::numeric_limits<float>::infinity();
  best.clear();
  auto dropWorst = [&] {
    const auto last = best.begin() + static_cast<ptrdiff_t>(k - 1);
    std::nth_element(best.begin(), last, best.end());
    least = last->logit;
    best.resize(k);
  };
  forEachGreater(logits, least, [&](float logit, int32_t id) {
    best.push_back({logit, id});
    if (best.size() == most)
      dropWorst();
  });
  if (best.size() > k)
    dropWorst();
}

} // namespace llmir

#endif // LLMIR_LIB_SUPPORT_BESTTOKENS_H
