//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Continuation.h"

#include <algorithm>

namespace llmir {

static SamplingParams samplingOf(const Request &request, int64_t index) {
  SamplingParams params = request.sampling;
  params.seed += static_cast<uint64_t>(index);
  return params;
}

Continuation::Continuation(std::shared_ptr<const AcceptedRequest> request,
                           int64_t index, SequenceId sequence)
    : accepted(std::move(request)), index(index), sequence(sequence),
      tokens(accepted->request.prompt),
      sampler(samplingOf(accepted->request, index)) {
  sampler.setPrompt(accepted->request.prompt);
}

SchedulableSequence Continuation::schedulable(const PagedKVCache &cache) const {
  SchedulableSequence result;
  result.priority = request().priority;
  result.arrival = sequence;
  result.isRunning = isRunning;
  result.tokens = numTokens();
  if (isRunning) {
    result.computed = computed;
    result.ownBlocks = cache.numOwnBlocks(sequence);
    result.copiesLastBlock = cache.copiesLastBlock(sequence);
    return result;
  }
  // The last token is computed in any case: its logits are needed.
  const auto prefix = cache.lookUp(
      Span<const int32_t>(tokens.data(), tokens.size() - 1), request().salt);
  result.computed = prefix.tokens;
  result.idleBlocks = prefix.idleBlocks;
  return result;
}

std::optional<FinishReason>
Continuation::addToken(Span<const float> logits,
                       const std::vector<int64_t> &ends,
                       int64_t contextLength) {
  const Request &asked = request();
  std::vector<int32_t> stops = asked.stopTokens;
  if (!asked.ignoreEos)
    for (int64_t end : ends)
      stops.push_back(static_cast<int32_t>(end));
  const bool mayEnd = generatedTokens() >= asked.minTokens;
  const int32_t token =
      sampler.sample(logits, mayEnd ? Span<const int32_t>() : stops);
  tokens.push_back(token);
  if (mayEnd && std::find(stops.begin(), stops.end(), token) != stops.end())
    return FinishReason::Stop;
  if (generatedTokens() == asked.maxTokens || numTokens() > contextLength)
    return FinishReason::Length;
  return std::nullopt;
}

void Continuation::report(int64_t newTokens, std::optional<FinishReason> reason,
                          const Status &failure) const {
  RequestUpdate update;
  update.request = accepted->id;
  update.index = index;
  update.tokens = Span<const int32_t>(
      tokens.data() + (tokens.size() - static_cast<size_t>(newTokens)),
      static_cast<size_t>(newTokens));
  update.finishReason = reason;
  update.failure = failure;
  update.promptTokens = promptTokens();
  update.cachedTokens = cachedTokens.value_or(0);
  update.generatedTokens = generatedTokens();
  accepted->callback(update);
}

} // namespace llmir
