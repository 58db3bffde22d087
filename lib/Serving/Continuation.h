//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One continuation of a request, as the engine's thread keeps it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVING_CONTINUATION_H
#define LLMIR_LIB_SERVING_CONTINUATION_H

#include "llmir/Serving/Engine.h"
#include "llmir/Serving/Scheduler.h"

#include <memory>
#include <optional>
#include <vector>

namespace llmir {

/// A request that was accepted.
struct AcceptedRequest {
  RequestId id = 0;
  /// All but the following. Others may share it.
  std::shared_ptr<const Request> common;
  std::vector<int32_t> prompt;
  uint64_t seed = 0;
  RequestCallback callback;
};

struct Continuation {
  /// `modelEnds`: the model's end tokens.
  Continuation(std::shared_ptr<const AcceptedRequest> accepted, int64_t index,
               SequenceId sequence, const std::vector<int64_t> &modelEnds);

  const Request &request() const { return *accepted->common; }
  const std::vector<int32_t> &prompt() const { return accepted->prompt; }
  int64_t promptTokens() const { return static_cast<int64_t>(prompt().size()); }
  int64_t numTokens() const { return static_cast<int64_t>(tokens.size()); }
  int64_t generatedTokens() const { return numTokens() - promptTokens(); }
  /// Whether the request's other continuations are forks of this one, which are
  /// made when the prompt has been computed.
  bool leads() const { return index == 0 && request().count > 1 && !hasForked; }

  /// As the scheduler sees it. `cache` has its prefix or its blocks.
  SchedulableSequence schedulable(const PagedKVCache &cache) const;

  /// Whether only one token is to be computed.
  bool decodes() const { return numTokens() - computed == 1; }

  /// Whether this one, which does not run, could start with more than `tokens`
  /// tokens when the other one has computed all of its own that are known.
  bool willShare(const Continuation &other, int64_t tokens,
                 const PagedKVCache &cache) const;

  /// The first token whose logits are needed: the last one, or one of the
  /// prompt whose successor has no log probability yet.
  int64_t firstRow() const;

  /// Takes the logits of token `position`, which is at least firstRow(): the
  /// log probability of the prompt's next token, or the next token, which is
  /// chosen and added; `end` is then why it is the last one, if it is.
  /// `contextLength` bounds the tokens in the cache. `promptLogprobs` has room
  /// for the result, so that several threads may take rows of one prompt. Fails
  /// with Internal for NaN that the request does not accept, and with
  /// InvalidArgument if no token is allowed.
  Status takeLogits(int64_t position, Span<const float> logits,
                    int64_t contextLength);

  /// Reports the last `newTokens` tokens, 0 or 1. Fails if the callback throws.
  Status report(int64_t newTokens) {
    return reportAs(index, newTokens, std::nullopt, Status::ok());
  }
  /// Reports the end with the last `newTokens` tokens, for an index that may be
  /// that of a fork that was never made. If the callback throws, it is told
  /// that this was an error, and if it throws again, nothing more.
  void reportEnd(int64_t index, int64_t newTokens, FinishReason reason,
                 const Status &failure);

  std::shared_ptr<const AcceptedRequest> accepted;
  int64_t index;
  SequenceId sequence;
  std::vector<int32_t> tokens; ///< Of the prompt, then generated.
  int64_t computed = 0;        ///< Tokens in the cache.
  bool isRunning = false;      ///< The sequence exists in the cache.
  bool hasForked = false;      ///< See leads().
  bool hasFinished = false;
  int64_t sharedTokens = 0;            ///< Offered to other sequences.
  std::optional<int64_t> cachedTokens; ///< Of the prompt, at the first start.
  std::optional<std::chrono::steady_clock::time_point> startTime;
  std::vector<int32_t> ends; ///< Tokens that end it; ascending.
  Sampler sampler;
  std::optional<FinishReason> end; ///< Set by takeLogits().
  bool hasEndToken = false;        ///< The same.
  std::optional<int64_t> firstNaN; ///< See RequestUpdate.
  TokenLogprobs lastLogprobs;      ///< Of the last token, if requested.
  /// Of the prompt's tokens from the second on; until they have been reported.
  std::vector<TokenLogprobs> promptLogprobs;

private:
  Status addToken(Span<const float> logits, int32_t best,
                  int64_t contextLength);
  Status reportAs(int64_t index, int64_t newTokens,
                  std::optional<FinishReason> reason, const Status &failure);
  std::vector<int32_t> forbiddenTokens() const;
  Expected<Span<const uint64_t>> allowedTokens();

  std::optional<ConstraintMatcher> matcher;
  std::vector<uint64_t> requested; ///< The allowed tokens of the request.
  std::vector<uint64_t> combined;  ///< Kept to reuse the allocation.
};

} // namespace llmir

#endif // LLMIR_LIB_SERVING_CONTINUATION_H
