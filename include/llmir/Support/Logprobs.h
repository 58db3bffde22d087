//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Log probabilities of tokens: the log-softmax of the model's logits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_LOGPROBS_H
#define LLMIR_SUPPORT_LOGPROBS_H

#include "llmir/Support/Span.h"

#include <cstdint>
#include <vector>

namespace llmir {

/// The most alternatives that can be reported for a token.
constexpr int64_t mostTopLogprobs = 128;

struct TokenLogprob {
  int32_t token = 0;
  /// Natural logarithm of its probability; minus infinity if that is 0.
  float logprob = 0;

  bool operator==(const TokenLogprob &other) const {
    return token == other.token && logprob == other.logprob;
  }
};

/// A token of a text, and what else could have stood there.
struct TokenLogprobs {
  int32_t token = 0;
  float logprob = 0; ///< As above.
  /// 1 = the most likely token. Of equals, the one with the lower id is first.
  int64_t rank = 0;
  std::vector<TokenLogprob> top; ///< The most likely tokens, in that order.

  bool operator==(const TokenLogprobs &other) const {
    return token == other.token && logprob == other.logprob &&
           rank == other.rank && top == other.top;
  }
};

/// The log probability of `token` after the position that `logits` belong to,
/// and those of the `top` most likely tokens. The logits, of which there is at
/// least one, are those of the model: before temperature, bias and penalties.
/// `token` is in [0, logits.size()); no logit is NaN. The result depends on
/// these arguments only; it is within 1e-6 of the exact one (relative, or
/// absolute if that is less than 1).
TokenLogprobs computeLogprobs(Span<const float> logits, int32_t token,
                              int64_t top);

} // namespace llmir

#endif // LLMIR_SUPPORT_LOGPROBS_H
