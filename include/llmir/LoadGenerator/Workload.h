//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a load consists of: conversations of one or more turns, and the times at
// which they arrive.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_WORKLOAD_H
#define LLMIR_LOADGENERATOR_WORKLOAD_H

#include "llmir/LoadGenerator/Target.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

/// What is said in one request, after the conversation so far.
struct Turn {
  /// Token ids, a text, or in chats also a list of messages.
  Json content;
  int64_t maxTokens = 0;
};

/// Its turns are sent one after the other, each with all earlier ones and their
/// answers. If there are several, they are texts.
using Conversation = std::vector<Turn>;

struct RandomWorkload {
  int64_t count = 0;
  int64_t inputLength = 0;  ///< Tokens of each turn, without the prefix.
  int64_t outputLength = 0; ///< Tokens of each answer.
  /// Lengths are uniform from (1 - ratio) to (1 + ratio) times these.
  double rangeRatio = 0;
  int64_t prefixLength = 0; ///< Tokens before the first turn.
  int64_t numPrefixes = 1;  ///< Conversation i has prefix i % numPrefixes.
  int64_t turns = 1;
  uint64_t seed = 0;
};

/// Random conversations of `ids`; of words if it is empty, which are about one
/// token each. The same seed gives the same conversations.
std::vector<Conversation> randomConversations(const RandomWorkload &workload,
                                              const std::vector<int32_t> &ids);

/// The words of random texts, separated by spaces.
const std::string &wordsText();

/// Reads conversations of one turn from JSON lines: {"prompt": text or ids} or
/// {"messages": [...]}, with an optional "output_tokens", otherwise
/// `outputLength`. There are `count` of them: the first lines of the file,
/// repeated if it has fewer. `api` decides which form is allowed; a prompt that
/// is a text is a message of the user in chats. Failures name file and line.
Expected<std::vector<Conversation>> readConversations(const std::string &path,
                                                      int64_t count,
                                                      int64_t outputLength,
                                                      LoadApi api);

/// Ascending seconds at which `count` conversations arrive: `rate` per second,
/// infinite for all at once. Intervals have a gamma distribution of shape
/// `burstiness` (1: a Poisson process; below: bursts; above: regular), scaled
/// so that the last one arrives at count / rate, as in vLLM.
std::vector<double> arrivalTimes(int64_t count, double rate, double burstiness,
                                 uint64_t seed);

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_WORKLOAD_H
