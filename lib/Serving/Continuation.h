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
  Request request;
  RequestCallback callback;
};

struct Continuation {
  /// `modelEnds`: the model's end tokens.
  Continuation(std::shared_ptr<const AcceptedRequest> accepted, int64_t index,
               SequenceId sequence, const std::vector<int64_t> &modelEnds);

  const Request &request() const { return accepted->request; }
  int64_t promptTokens() const {
    return static_cast<int64_t>(request().prompt.size());
  }
  int64_t numTokens() const { return static_cast<int64_t>(tokens.size()); }
  int64_t generatedTokens() const { return numTokens() - promptTokens(); }
  /// Whether the request's other continuations are forks of this one, which are
  /// made when the prompt has been computed.
  bool leads() const { return index == 0 && request().count > 1 && !hasForked; }

  /// As the scheduler sees it. `cache` has its prefix or its blocks.
  SchedulableSequence schedulable(const PagedKVCache &cache) const;

  /// Chooses and adds the next token. Returns why it is the last one, if it is;
  /// `contextLength` bounds the tokens in the cache.
  std::optional<FinishReason> addToken(Span<const float> logits,
                                       int64_t contextLength);

  /// Reports the last `newTokens` tokens, and the end if there is a reason.
  void report(int64_t newTokens, std::optional<FinishReason> reason,
              const Status &failure = Status::ok()) const {
    reportAs(index, newTokens, reason, failure);
  }
  /// The same for another index: that of a fork that was never made.
  void reportAs(int64_t index, int64_t newTokens,
                std::optional<FinishReason> reason,
                const Status &failure) const;

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
  std::vector<int32_t> ends;           ///< Tokens that end it; ascending.
  Sampler sampler;
};

} // namespace llmir

#endif // LLMIR_LIB_SERVING_CONTINUATION_H
