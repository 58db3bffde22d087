//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Continuation.h"

#include <algorithm>
#include <string>

namespace llmir {

const char *finishReasonName(FinishReason reason) {
  switch (reason) {
  case FinishReason::Stop:
    return "stop";
  case FinishReason::Length:
    return "length";
  case FinishReason::Cancelled:
    return "cancelled";
  case FinishReason::Timeout:
    return "timeout";
  case FinishReason::Error:
    return "error";
  }
  return "unknown";
}

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

int64_t Continuation::firstRow() const {
  // A fork gets the prompt's logits from the first continuation, which alone
  // reports them.
  const bool needsPrompt =
      request().promptLogprobs && index == 0 && generatedTokens() == 0;
  return needsPrompt ? static_cast<int64_t>(promptLogprobs.size())
                     : numTokens() - 1;
}

SchedulableSequence Continuation::schedulable(const PagedKVCache &cache) const {
  SchedulableSequence result;
  result.priority = request().priority;
  result.arrival = sequence;
  result.isRunning = isRunning;
  result.tokens = numTokens();
  result.rows = numTokens() - firstRow();
  if (isRunning) {
    result.computed = computed;
    result.ownBlocks = cache.numOwnBlocks(sequence);
    result.copiesLastBlock = cache.copiesLastBlock(sequence);
    return result;
  }
  // Tokens whose logits are needed are computed in any case.
  const auto prefix = cache.lookUp(
      Span<const int32_t>(tokens.data(), static_cast<size_t>(firstRow())),
      request().salt);
  result.computed = prefix.tokens;
  result.prefixBlocks = prefix.newBlocks;
  return result;
}

int64_t Continuation::sharedTokensWith(const Continuation &other,
                                       const PagedKVCache &cache) const {
  if (!cache.keepsPrefixes() || request().salt != other.request().salt)
    return 0;
  const auto most = std::min(firstRow(), other.numTokens());
  const int64_t same =
      std::mismatch(tokens.begin(), tokens.begin() + most, other.tokens.begin())
          .first -
      tokens.begin();
  const int64_t size = cache.getBlockSize();
  if (cache.states().isEmpty())
    return same / size * size;
  // The states are kept where the other one's last full block ends.
  const int64_t end = (other.numTokens() - 1) / size * size;
  return end <= same ? end : 0;
}

Status Continuation::takeLogits(int64_t position, Span<const float> logits,
                                int64_t contextLength) {
  const bool isNaN = hasNaN(logits);
  if (isNaN && !request().acceptsNaN)
    return Status(StatusCode::Internal,
                  "the logits after token " + std::to_string(position + 1) +
                      " contain NaN",
                  "check the model with 'llmir perplexity'");
  const auto next = static_cast<size_t>(position) + 1;
  if (next >= request().prompt.size()) {
    if (isNaN && !firstNaN && request().maxTokens != 0)
      firstNaN = generatedTokens();
    return addToken(logits, contextLength);
  }
  // Another thread may be adding a token now.
  promptLogprobs[next - 1] = computeLogprobs(logits, request().prompt[next],
                                             *request().promptLogprobs);
  return Status::ok();
}

/// The tokens that must not come next.
std::vector<int32_t> Continuation::forbiddenTokens() const {
  std::vector<int32_t> forbidden;
  if (generatedTokens() < request().minTokens)
    forbidden = ends;
  for (const std::vector<int32_t> &word : request().badWords) {
    const auto before = static_cast<int64_t>(word.size()) - 1;
    if (before <= generatedTokens() &&
        std::equal(word.begin(), word.end() - 1, tokens.end() - before))
      forbidden.push_back(word.back());
  }
  return forbidden;
}

Status Continuation::addToken(Span<const float> logits, int64_t contextLength) {
  if (request().maxTokens == 0) {
    end = FinishReason::Length;
    return Status::ok();
  }
  const bool mayEnd = generatedTokens() >= request().minTokens;
  const std::vector<int32_t> forbidden = forbiddenTokens();
  const std::vector<int32_t> &allowed = request().allowedTokens;
  const int32_t token = sampler.sample(logits, {forbidden, allowed});
  const bool isForbidden =
      std::find(forbidden.begin(), forbidden.end(), token) != forbidden.end();
  if (isForbidden ||
      (!allowed.empty() &&
       !std::binary_search(allowed.begin(), allowed.end(), token)))
    return Status(StatusCode::InvalidArgument,
                  "no token may follow token " + std::to_string(numTokens()),
                  "allow more tokens, or use fewer bad words or a smaller "
                  "minimum of tokens");
  if (request().logprobs)
    lastLogprobs = computeLogprobs(logits, token, *request().logprobs);
  tokens.push_back(token);
  if (mayEnd && std::binary_search(ends.begin(), ends.end(), token))
    end = FinishReason::Stop;
  else if (generatedTokens() == request().maxTokens ||
           numTokens() > contextLength)
    end = FinishReason::Length;
  return Status::ok();
}

void Continuation::reportAs(int64_t index, int64_t newTokens,
                            std::optional<FinishReason> reason,
                            const Status &failure) {
  RequestUpdate update;
  update.request = accepted->id;
  update.index = index;
  update.tokens = Span<const int32_t>(
      tokens.data() + (tokens.size() - static_cast<size_t>(newTokens)),
      static_cast<size_t>(newTokens));
  if (request().logprobs)
    update.logprobs = Span<const TokenLogprobs>(&lastLogprobs,
                                                static_cast<size_t>(newTokens));
  if (newTokens > 0 || end) // They are complete before the first token.
    update.promptLogprobs = promptLogprobs;
  update.finishReason = reason;
  update.failure = failure;
  update.promptTokens = promptTokens();
  update.cachedTokens = cachedTokens.value_or(0);
  update.generatedTokens = generatedTokens();
  update.firstNaN = firstNaN;
  update.startTime = startTime;
  accepted->callback(update);
  if (newTokens > 0)
    promptLogprobs = {};
}

} // namespace llmir
