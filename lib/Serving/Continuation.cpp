//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Continuation.h"
#include "llmir/Support/Exceptions.h"

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

static SamplingParams samplingOf(const AcceptedRequest &accepted,
                                 int64_t index) {
  SamplingParams params = accepted.common->sampling;
  params.seed = accepted.seed + static_cast<uint64_t>(index);
  return params;
}

static void setBit(std::vector<uint64_t> &mask, int32_t token) {
  const size_t word = static_cast<size_t>(token) / 64;
  if (word >= mask.size())
    mask.resize(word + 1);
  mask[word] |= uint64_t(1) << (token % 64);
}

static bool hasBit(Span<const uint64_t> mask, int32_t token) {
  const size_t word = static_cast<size_t>(token) / 64;
  return word < mask.size() && ((mask[word] >> (token % 64)) & 1) != 0;
}

Continuation::Continuation(std::shared_ptr<const AcceptedRequest> request,
                           int64_t index, SequenceId sequence,
                           const std::vector<int64_t> &modelEnds)
    : accepted(std::move(request)), index(index), sequence(sequence),
      tokens(accepted->prompt), sampler(samplingOf(*accepted, index)) {
  sampler.setPrompt(prompt());
  ends = this->request().stopTokens;
  if (!this->request().ignoreEos)
    for (int64_t end : modelEnds)
      ends.push_back(static_cast<int32_t>(end));
  std::sort(ends.begin(), ends.end());
  for (int32_t token : this->request().allowedTokens)
    setBit(requested, token);
  if (this->request().constraint)
    matcher.emplace(this->request().constraint);
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
    for (size_t w = 0; w < cache.windows().size(); ++w)
      result.windows.push_back({cache.numWindowBlocks(sequence, w),
                                cache.numOwnWindowBlocks(sequence, w), 0});
    return result;
  }
  // Tokens whose logits are needed are computed in any case.
  const auto prefix = cache.lookUp(
      Span<const int32_t>(tokens.data(), static_cast<size_t>(firstRow())),
      request().salt);
  result.computed = prefix.tokens;
  result.startBlocks = prefix.startBlocks;
  for (int64_t blocks : prefix.windowStartBlocks)
    result.windows.push_back({0, 0, blocks});
  return result;
}

bool Continuation::willShare(const Continuation &other, int64_t tokens,
                             const PagedKVCache &cache) const {
  if (!cache.keepsPrefixes() || request().salt != other.request().salt)
    return false;
  // With more than `tokens`, sequences start after the next full block; if
  // layers keep a state, after the last one, where a copy is kept.
  const int64_t size = cache.getBlockSize();
  const int64_t needed = cache.states().isEmpty()
                             ? (tokens / size + 1) * size
                             : (other.numTokens() - 1) / size * size;
  if (needed <= tokens || needed > firstRow() || needed > other.numTokens())
    return false;
  // Where texts have the beginning in common, they differ at the end.
  const auto ours = this->tokens.begin(), theirs = other.tokens.begin();
  return std::equal(ours + tokens, ours + needed, theirs + tokens) &&
         std::equal(ours, ours + tokens, theirs);
}

Status Continuation::takeLogits(int64_t position, Span<const float> logits,
                                int64_t contextLength) {
  const LogitsScan scan = scanLogits(logits);
  if (scan.hasNaN && !request().acceptsNaN)
    return Status(StatusCode::Internal,
                  "the logits after token " + std::to_string(position + 1) +
                      " contain NaN",
                  "check the model with 'llmir perplexity'");
  const auto next = static_cast<size_t>(position) + 1;
  if (next >= prompt().size()) {
    if (scan.hasNaN && !firstNaN && request().maxTokens != 0)
      firstNaN = generatedTokens();
    return addToken(logits, scan.best, contextLength);
  }
  // Another thread may be adding a token now.
  promptLogprobs[next - 1] =
      computeLogprobs(logits, prompt()[next], *request().promptLogprobs);
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

/// The tokens that may come next; empty if all may.
Expected<Span<const uint64_t>> Continuation::allowedTokens() {
  if (!matcher)
    return Span<const uint64_t>(requested);
  Expected<Span<const uint64_t>> allowed = matcher->allowed();
  const bool addsEnds = matcher->mayEnd();
  if (!allowed || (requested.empty() && !addsEnds))
    return allowed;
  combined.assign(allowed->begin(), allowed->end());
  if (addsEnds)
    for (int32_t token : ends)
      setBit(combined, token);
  if (!requested.empty())
    for (size_t i = 0; i < combined.size(); ++i)
      combined[i] &= i < requested.size() ? requested[i] : 0;
  return Span<const uint64_t>(combined);
}

Status Continuation::addToken(Span<const float> logits, int32_t best,
                              int64_t contextLength) {
  if (request().maxTokens == 0) {
    end = FinishReason::Length;
    return Status::ok();
  }
  const bool mayEnd = generatedTokens() >= request().minTokens;
  const std::vector<int32_t> forbidden = forbiddenTokens();
  const Expected<Span<const uint64_t>> allowed = allowedTokens();
  if (!allowed)
    return allowed.status();
  const int32_t token = sampler.sample(logits, best, {forbidden, *allowed});
  const bool isForbidden =
      std::find(forbidden.begin(), forbidden.end(), token) != forbidden.end();
  if (isForbidden ||
      ((matcher || !allowed->empty()) && !hasBit(*allowed, token)))
    return Status(StatusCode::InvalidArgument,
                  "no token may follow token " + std::to_string(numTokens()),
                  "allow more tokens, or use fewer bad words, a smaller "
                  "minimum of tokens or another constraint");
  if (request().logprobs)
    lastLogprobs = computeLogprobs(logits, token, *request().logprobs);
  tokens.push_back(token);
  hasEndToken = mayEnd && std::binary_search(ends.begin(), ends.end(), token);
  if (matcher && !hasEndToken)
    LLMIR_RETURN_IF_ERROR(matcher->accept(token));
  if (hasEndToken || (matcher && matcher->mustEnd()))
    end = FinishReason::Stop;
  else if (generatedTokens() == request().maxTokens ||
           numTokens() > contextLength)
    end = FinishReason::Length;
  return Status::ok();
}

void Continuation::reportEnd(int64_t index, int64_t newTokens,
                             FinishReason reason, const Status &failure) {
  const Status status = reportAs(index, newTokens, reason, failure);
  if (!status)
    (void)reportAs(index, 0, FinishReason::Error, status);
}

Status Continuation::reportAs(int64_t index, int64_t newTokens,
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
  update.hasEndToken = reason == FinishReason::Stop && hasEndToken;
  update.promptTokens = promptTokens();
  update.cachedTokens = cachedTokens.value_or(0);
  update.generatedTokens = generatedTokens();
  update.firstNaN = firstNaN;
  update.startTime = startTime;
  const Status status = withoutExceptions([&] {
    update.failure = failure;
    accepted->callback(update);
  });
  if (newTokens > 0)
    promptLogprobs = {};
  return status;
}

} // namespace llmir
