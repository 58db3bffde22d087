//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Generator.h"

#include <algorithm>
#include <chrono>
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

namespace {
using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}
} // namespace

static Status checkRequest(const Executor &executor, Span<const int32_t> prompt,
                           const GenerateOptions &options) {
  LLMIR_RETURN_IF_ERROR(validateSamplingParams(options.sampling));
  if (executor.info().pooling != Pooling::None)
    return Status(StatusCode::InvalidArgument,
                  "'" + executor.info().modelName +
                      "' is an embedding model, which generates no text",
                  "use 'llmir embed'");
  if (prompt.empty())
    return Status(StatusCode::InvalidArgument, "the prompt has no tokens",
                  "give at least one token");
  if (options.maxTokens < -1)
    return Status(StatusCode::InvalidArgument,
                  "the number of tokens to generate is " +
                      std::to_string(options.maxTokens),
                  "give a number from 0, or -1 for no limit");
  if (options.prefillChunk < 0 || options.prefillChunk > executor.tokenBudget())
    return Status(StatusCode::InvalidArgument,
                  "a prefill chunk of " + std::to_string(options.prefillChunk) +
                      " tokens",
                  "give a number from 1 to the token budget, " +
                      std::to_string(executor.tokenBudget()));
  if (static_cast<int64_t>(prompt.size()) > executor.contextLength())
    return Status(StatusCode::ContextLengthExceeded,
                  "the prompt has " + std::to_string(prompt.size()) +
                      " tokens; the context is " +
                      std::to_string(executor.contextLength()),
                  "shorten the prompt, or use a larger --ctx");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The sequence
//===----------------------------------------------------------------------===//

CachedSequence::CachedSequence(Executor &executor) : executor(executor) {
  while (executor.cache().hasSequence(sequence))
    ++sequence;
  created = executor.cache().createSequence(sequence);
}

CachedSequence::~CachedSequence() {
  if (created)
    (void)executor.cache().freeSequence(sequence); // It exists.
}

/// Removes the tokens after the first one that differs. At least one token of
/// the prompt remains to be computed, which gives the logits.
Status CachedSequence::keepPrefixOf(Span<const int32_t> prompt) {
  const size_t most = std::min(tokens.size(), prompt.size() - 1);
  size_t same = 0;
  while (same < most && tokens[same] == prompt[same])
    ++same;
  return goBack(same);
}

/// Removes the tokens after the first `count`; all of them if layers keep a
/// state, which cannot go back.
Status CachedSequence::goBack(size_t count) {
  PagedKVCache &cache = executor.cache();
  const bool isNow =
      cache.getSequenceLength(sequence) == static_cast<int64_t>(count);
  if (!cache.states().isEmpty() && !isNow)
    count = 0;
  LLMIR_RETURN_IF_ERROR(cache.truncate(sequence, static_cast<int64_t>(count)));
  tokens.resize(count);
  return Status::ok();
}

Expected<StepLogits> CachedSequence::append(Span<const int32_t> part,
                                            WantLogits want) {
  SequenceStep step;
  step.sequence = sequence;
  step.tokens = part;
  step.want = want;
  Expected<StepLogits> logits =
      executor.step(Span<const SequenceStep>(&step, 1));
  if (logits)
    tokens.insert(tokens.end(), part.begin(), part.end());
  else // A step that failed may have reserved its tokens.
    (void)goBack(tokens.size());
  return logits;
}

/// Appends the rest of the prompt; returns the logits of its last token, or
/// nullopt if this was cancelled.
Expected<std::optional<StepLogits>>
CachedSequence::prefill(Span<const int32_t> prompt,
                        const GenerateOptions &options) {
  const auto chunk = static_cast<size_t>(
      options.prefillChunk > 0 ? options.prefillChunk : executor.tokenBudget());
  while (true) {
    if (options.isCancelled && options.isCancelled())
      return std::optional<StepLogits>();
    const size_t done = tokens.size();
    Span<const int32_t> part =
        prompt.subspan(done, std::min(chunk, prompt.size() - done));
    const bool isLast = done + part.size() == prompt.size();
    Expected<StepLogits> logits =
        append(part, isLast ? WantLogits::Last : WantLogits::None);
    if (!logits)
      return logits.takeStatus();
    if (isLast)
      return std::optional<StepLogits>(*logits);
  }
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

Expected<GenerateResult>
CachedSequence::generate(Span<const int32_t> prompt,
                         const GenerateOptions &options) {
  LLMIR_RETURN_IF_ERROR(created);
  LLMIR_RETURN_IF_ERROR(checkRequest(executor, prompt, options));
  GenerateResult result;
  result.promptTokens = static_cast<int64_t>(prompt.size());

  Clock::time_point start = Clock::now();
  LLMIR_RETURN_IF_ERROR(keepPrefixOf(prompt));
  result.cachedTokens = static_cast<int64_t>(tokens.size());
  Expected<std::optional<StepLogits>> prefilled = prefill(prompt, options);
  if (!prefilled)
    return prefilled.takeStatus();
  result.prefillMilliseconds = millisecondsSince(start);
  if (!*prefilled) {
    result.finishReason = FinishReason::Cancelled;
    return result;
  }

  start = Clock::now();
  StepLogits logits = **prefilled;
  const std::vector<int64_t> &ends = executor.info().eosTokens;
  Sampler sampler(options.sampling);
  sampler.setPrompt(prompt);
  while (options.maxTokens < 0 ||
         static_cast<int64_t>(result.ids.size()) < options.maxTokens) {
    if (!result.firstNaN && hasNaN(logits.row(0)))
      result.firstNaN = static_cast<int64_t>(result.ids.size());
    int32_t token = sampler.sample(logits.row(0));
    result.ids.push_back(token);
    bool goOn = !options.onToken || options.onToken(token);
    goOn &= !options.isCancelled || !options.isCancelled();
    bool isEnd = !options.ignoreEos &&
                 std::find(ends.begin(), ends.end(), token) != ends.end();
    if (isEnd || !goOn) {
      result.finishReason =
          isEnd ? FinishReason::Stop : FinishReason::Cancelled;
      break;
    }
    // The last token's keys and values are not needed.
    if (static_cast<int64_t>(result.ids.size()) == options.maxTokens ||
        static_cast<int64_t>(tokens.size()) == executor.contextLength())
      break;
    Expected<StepLogits> next =
        append(Span<const int32_t>(&token, 1), WantLogits::Last);
    if (!next)
      return next.takeStatus();
    logits = *next;
  }
  result.decodeMilliseconds = millisecondsSince(start);
  return result;
}

Expected<GenerateResult> generate(Executor &executor,
                                  Span<const int32_t> prompt,
                                  const GenerateOptions &options) {
  return CachedSequence(executor).generate(prompt, options);
}

} // namespace llmir
