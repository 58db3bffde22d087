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
                           int64_t index, SequenceId sequence,
                           const std::vector<int64_t> &modelEnds)
    : accepted(std::move(request)), index(index), sequence(sequence),
      tokens(accepted->request.prompt),
      sampler(samplingOf(accepted->request, index)) {
  sampler.setPrompt(accepted->request.prompt);
  ends = accepted->request.stopTokens;
  if (!accepted->request.ignoreEos)
    for (int64_t end : modelEnds)
      ends.push_back(static_cast<int32_t>(end));
  std::sort(ends.begin(), ends.end());
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

std::optional<FinishReason> Continuation::addToken(Span<const float> logits,
                                                   int64_t contextLength) {
  const bool mayEnd = generatedTokens() >= request().minTokens;
  const int32_t token =
      sampler.sample(logits, mayEnd ? Span<const int32_t>() : ends);
  tokens.push_back(token);
  if (mayEnd && std::binary_search(ends.begin(), ends.end(), token))
    return FinishReason::Stop;
  if (generatedTokens() == request().maxTokens || numTokens() > contextLength)
    return FinishReason::Length;
  return std::nullopt;
}

void Continuation::reportAs(int64_t index, int64_t newTokens,
                            std::optional<FinishReason> reason,
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
  update.startTime = startTime;
  accepted->callback(update);
}

} // namespace llmir
