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
// A step for n decoding sequences is expected to take what the last ones
// without prompts took, and each token of a prompt what it added to the last
// steps with prompts. Both are moving averages: contexts grow, and machines are
// shared.
//
// Results do not depend on the number: a prompt's keys and values are the same
// bits in any chunks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_PROMPTBUDGET_H
#define LLMIR_SERVING_PROMPTBUDGET_H

#include <cstdint>
#include <map>

namespace llmir {

class PromptBudget {
public:
  /// `mostSlowdown`, at least 1: how many times as long as without prompts a
  /// step may take while fewer sequences wait for their prompts than decode.
  explicit PromptBudget(double mostSlowdown) : mostSlowdown(mostSlowdown) {}

  /// A step for `decoding` sequences and `promptTokens` tokens of prompts, not
  /// both 0, has taken this long.
  void add(int64_t decoding, int64_t promptTokens, double milliseconds);

  /// The number of tokens for a step that decodes `decoding` sequences, at
  /// least 1, while `waiting` others have prompts to be computed. Each sequence
  /// counts the same: if more wait than decode, the time is divided between
  /// prompts and decoding as the sequences are.
  int64_t tokens(int64_t decoding, int64_t waiting) const;

private:
  double decodeTime(int64_t decoding) const;

  double mostSlowdown;
  /// Of steps without prompts, by the number of sequences; in milliseconds.
  std::map<int64_t, double> decodeTimes;
  /// What a token of a prompt adds to a step that decodes; 0 = unknown.
  double addedTime = 0;
  /// The time of a token in steps with prompts only; 0 = unknown.
  double timeAlone = 0;
};

} // namespace llmir

#endif // LLMIR_SERVING_PROMPTBUDGET_H
