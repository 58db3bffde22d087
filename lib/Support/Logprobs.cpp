//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Logprobs.h"
#include "BestTokens.h"
#include "SoftmaxMass.h"
#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir {

namespace {
struct RankedToken {
  float logit;
  int32_t id;
  bool operator<(const RankedToken &other) const {
    return logit != other.logit ? logit > other.logit : id < other.id;
  }
};

/// Turns the logits of a row into log probabilities.
class LogSoftmax {
public:
  explicit LogSoftmax(Span<const float> logits)
      : greatest(logits[static_cast<size_t>(scanLogits(logits).best)]) {
    double total = 0;
    if (std::isfinite(greatest)) {
      for (size_t i = 0; i < logits.size(); i += idsPerMass)
        total +=
            massOf(logits.subspan(i, std::min(idsPerMass, logits.size() - i)),
                   greatest, /*inverseTemperature=*/1);
    } else { // The limit: only tokens with the greatest logit are possible.
      total = static_cast<double>(
          std::count(logits.begin(), logits.end(), greatest));
    }
    logTotal = std::log(total);
  }

  float operator()(float logit) const {
    if (logit == greatest)
      return static_cast<float>(-logTotal);
    if (!std::isfinite(greatest))
      return -std::numeric_limits<float>::infinity();
    return static_cast<float>(static_cast<double>(logit) -
                              static_cast<double>(greatest) - logTotal);
  }

private:
  float greatest;
  double logTotal = 0;
};
} // namespace

/// 1 + the number of better tokens.
static int64_t rankOf(Span<const float> logits, int32_t token) {
  const float own = logits[static_cast<size_t>(token)];
  const auto at = static_cast<size_t>(token);
  int32_t better = 1; // 32 bits, so that the loops vectorize.
  for (size_t i = 0; i < at; ++i)
    better += logits[i] >= own;
  for (size_t i = at + 1; i < logits.size(); ++i)
    better += logits[i] > own;
  return better;
}

TokenLogprobs computeLogprobs(Span<const float> logits, int32_t token,
                              int64_t top) {
  const LogSoftmax logprobOf(logits);
  TokenLogprobs result;
  result.token = token;
  result.logprob = logprobOf(logits[static_cast<size_t>(token)]);
  result.rank = rankOf(logits, token);
  if (top == 0)
    return result;
  std::vector<RankedToken> best;
  collectBest(logits, static_cast<size_t>(top), best);
  std::sort(best.begin(), best.end());
  result.top.reserve(best.size());
  for (const RankedToken &each : best)
    result.top.push_back({each.id, logprobOf(each.logit)});
  return result;
}

} // namespace llmir
