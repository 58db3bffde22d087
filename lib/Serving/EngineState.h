//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of the engine share: Engine.cpp (requests), EngineThread.cpp
// (the thread, and ends) and EngineStep.cpp (a step).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVING_ENGINESTATE_H
#define LLMIR_LIB_SERVING_ENGINESTATE_H

#include "Continuation.h"
#include "llmir/Serving/PromptBudget.h"
#include "llmir/Serving/Scheduler.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>

namespace llmir {

using ContinuationPtr = std::unique_ptr<Continuation>;

/// The logits of a token of a continuation.
struct LogitsRow {
  Continuation *continuation;
  int64_t position; ///< Of the token.
  Span<const float> logits;
  Status failure = Status::ok();
};

struct Cancellation {
  std::optional<RequestId> request; ///< Without one, all requests.
  std::optional<int64_t> index;     ///< Without one, all continuations.
};

struct Engine::State {
  State(std::unique_ptr<Executor> executor, const EngineOptions &options);

  //===--- Any thread, with the mutex ----------------------------------------//
  mutable std::mutex mutex;
  std::condition_variable wakesThread, wakesDrain, wakesObservers;
  std::deque<ContinuationPtr> inbox; ///< Continuation 0 of each new request.
  std::vector<Cancellation> cancelled;
  /// Requests that were accepted and have not been started, and tokens of their
  /// prompts.
  int64_t queuedRequests = 0, queuedTokens = 0;
  bool isClosed = false, isEnding = false, isIdle = true;
  RequestId nextRequest = 1;
  EngineStatistics published;
  /// Those who wait for uses of blocks; they get those of a later publication.
  int64_t observers = 0, publications = 0;
  std::vector<int32_t> publishedUses;

  Status checkQueue(int64_t tokens) const;

  //===--- Constant ----------------------------------------------------------//
  const std::unique_ptr<Executor> executor;
  const EngineOptions options;
  SchedulerLimits limits;
  int64_t contextLength = 0;

  Status checkRequest(const Request &request, Span<const int32_t> prompt) const;

  //===--- The engine's thread -----------------------------------------------//
  /// Running ones and waiting ones; not in order.
  std::vector<ContinuationPtr> continuations;
  SequenceId nextSequence = 1;
  EngineStatistics counts;
  PromptBudget promptBudget;
  pthread_t thread{};

  Status startThread();
  void serve();
  bool receive();
  void takeInbox();
  void finish(Continuation &continuation, FinishReason reason,
              int64_t newTokens = 0, const Status &failure = Status::ok());
  void expire(const std::vector<Cancellation> &unwanted);
  void leaveQueue(const Continuation &continuation);
  void removeFinished();
  void release(Continuation &continuation);
  std::vector<Continuation *> candidates() const;
  int64_t findAwaited(const std::vector<Continuation *> &known, size_t index,
                      int64_t computed) const;
  int64_t promptTokensBesideDecoding() const;
  void runNextStep();
  void endAfter(const Status &failure);
  void start(Continuation &continuation);
  int64_t wholeBlocksFirst(const Continuation &continuation,
                           int64_t count) const;
  void compute(const std::vector<std::pair<Continuation *, int64_t>> &parts);
  void share(Continuation &continuation);
  void offer(const Continuation &continuation,
             mlir::llm::runtime::SharedBlocks blocks);
  void addRow(Continuation &continuation, int64_t position,
              Span<const float> logits, std::vector<LogitsRow> &taken);
  void takeLogits(std::vector<LogitsRow> &taken);
  void fork(Continuation &leader, Span<const float> logits,
            std::vector<LogitsRow> &taken);
  void publish();
};

} // namespace llmir

#endif // LLMIR_LIB_SERVING_ENGINESTATE_H
