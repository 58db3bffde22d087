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
  }
  return "unknown";
}

namespace {
using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// A sequence that is freed on every path.
class OwnSequence {
public:
  explicit OwnSequence(PagedKVCache &cache) : cache(cache) {
    while (cache.hasSequence(sequence))
      ++sequence;
    created = cache.createSequence(sequence);
  }
  ~OwnSequence() {
    if (created)
      (void)cache.freeSequence(sequence); // It exists.
  }
  OwnSequence(const OwnSequence &) = delete;
  OwnSequence &operator=(const OwnSequence &) = delete;

  SequenceId id() const { return sequence; }
  const Status &status() const { return created; }

private:
  PagedKVCache &cache;
  SequenceId sequence = 0;
  Status created;
};
} // namespace

static Status checkRequest(const Executor &executor, Span<const int32_t> prompt,
                           const GenerateOptions &options) {
  LLMIR_RETURN_IF_ERROR(validateSamplingParams(options.sampling));
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
    return Status(StatusCode::OutOfRange,
                  "the prompt has " + std::to_string(prompt.size()) +
                      " tokens; the context is " +
                      std::to_string(executor.contextLength()),
                  "shorten the prompt, or use a larger --ctx");
  return Status::ok();
}

/// Appends the prompt; returns the logits of its last token.
static Expected<StepLogits> prefill(Executor &executor, SequenceId sequence,
                                    Span<const int32_t> prompt, size_t chunk) {
  for (size_t done = 0;;) {
    SequenceStep part;
    part.sequence = sequence;
    part.tokens = prompt.subspan(done, std::min(chunk, prompt.size() - done));
    done += part.tokens.size();
    part.want = done < prompt.size() ? WantLogits::None : WantLogits::Last;
    Expected<StepLogits> logits =
        executor.step(Span<const SequenceStep>(&part, 1));
    if (!logits || done == prompt.size())
      return logits;
  }
}

Expected<GenerateResult> generate(Executor &executor,
                                  Span<const int32_t> prompt,
                                  const GenerateOptions &options) {
  if (Status status = checkRequest(executor, prompt, options); !status)
    return status;
  OwnSequence sequence(executor.cache());
  if (!sequence.status())
    return sequence.status();
  GenerateResult result;
  result.promptTokens = static_cast<int64_t>(prompt.size());

  Clock::time_point start = Clock::now();
  const int64_t chunk =
      options.prefillChunk > 0 ? options.prefillChunk : executor.tokenBudget();
  Expected<StepLogits> logits =
      prefill(executor, sequence.id(), prompt, static_cast<size_t>(chunk));
  if (!logits)
    return logits.takeStatus();
  result.prefillMilliseconds = millisecondsSince(start);

  start = Clock::now();
  const std::vector<int64_t> &ends = executor.info().eosTokens;
  Sampler sampler(options.sampling);
  while (options.maxTokens < 0 ||
         static_cast<int64_t>(result.ids.size()) < options.maxTokens) {
    if (!result.firstNaN && hasNaN(logits->row(0)))
      result.firstNaN = static_cast<int64_t>(result.ids.size());
    int32_t token = sampler.sample(logits->row(0));
    result.ids.push_back(token);
    bool goOn = !options.onToken || options.onToken(token);
    bool isEnd = !options.ignoreEos &&
                 std::find(ends.begin(), ends.end(), token) != ends.end();
    if (isEnd || !goOn) {
      result.finishReason =
          isEnd ? FinishReason::Stop : FinishReason::Cancelled;
      break;
    }
    // The last token's keys and values are not needed.
    if (static_cast<int64_t>(result.ids.size()) == options.maxTokens ||
        executor.cache().getSequenceLength(sequence.id()) ==
            executor.contextLength())
      break;
    SequenceStep part;
    part.sequence = sequence.id();
    part.tokens = Span<const int32_t>(&token, 1);
    logits = executor.step(Span<const SequenceStep>(&part, 1));
    if (!logits)
      return logits.takeStatus();
  }
  result.decodeMilliseconds = millisecondsSince(start);
  return result;
}

} // namespace llmir
