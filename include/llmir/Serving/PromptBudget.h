//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many tokens of prompts a step may compute that also decodes. They delay
// every sequence that receives text in this step; without them, new requests
// wait. The number follows from the times of the steps so far, so that it suits
// the model, the machine and the other load.
//
// The time of a step is taken to be a + b * (decoding sequences) + c * (tokens
// of prompts). The coefficients are those with the least squares of relative
// errors; older steps count less, since contexts grow and machines are shared.
//
// Results do not depend on the number: a prompt's keys and values are the same
// bits in any chunks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_PROMPTBUDGET_H
#define LLMIR_SERVING_PROMPTBUDGET_H

#include <array>
#include <cstdint>

namespace llmir {

class PromptBudget {
public:
  /// `maxSlowdown`, at least 1: how many times as long as without prompts a
  /// step may take while fewer sequences wait for their prompts than decode.
  /// Infinity: no limit.
  explicit PromptBudget(double maxSlowdown) : maxSlowdown(maxSlowdown) {}

  /// A step for `decoding` sequences and `promptTokens` tokens of prompts, not
  /// both 0, has taken this long.
  void add(int64_t decoding, int64_t promptTokens, double milliseconds);

  /// The number of tokens for a step that decodes `decoding` sequences, at
  /// least 1, while `waiting` others have prompts to be computed. Each sequence
  /// counts the same: if more wait than decode, the time is divided between
  /// prompts and decoding as the sequences are. At least 8, so that prompts
  /// advance even if a step of the model takes little time.
  int64_t tokens(int64_t decoding, int64_t waiting) const;

private:
  using Vector = std::array<double, 3>;

  /// The coefficients; zeros if no step is known.
  Vector coefficients() const;

  double maxSlowdown;
  /// Weighted sums of products of (1, decoding, tokens), and of these with the
  /// time.
  std::array<Vector, 3> products{};
  Vector times{};
  bool isReduced = false; ///< The next step has fewer tokens.
};

} // namespace llmir

#endif // LLMIR_SERVING_PROMPTBUDGET_H
