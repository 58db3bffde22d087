//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's thread, and the ends of continuations.
//
//===----------------------------------------------------------------------===//

#include "EngineState.h"
#include "llmir/Support/Exceptions.h"

#include <algorithm>
#include <iterator>

namespace llmir {

using Clock = std::chrono::steady_clock;
using mlir::llm::runtime::SharedBlocks;

void Engine::State::serve() {
  while (receive()) {
    if (!continuations.empty())
      if (Status status = withoutExceptions([&] { runNextStep(); }); !status)
        endAfter(status);
    removeFinished();
    publish();
  }
  for (const ContinuationPtr &continuation : continuations)
    finish(*continuation, FinishReason::Cancelled);
  for (const ContinuationPtr &continuation : inbox)
    finish(*continuation, FinishReason::Cancelled);
  removeFinished();
  publish();
}

/// With the mutex. If there is no memory for more, those that are new wait.
void Engine::State::takeInbox() {
  const Status reserved = withoutExceptions(
      [&] { continuations.reserve(continuations.size() + inbox.size()); });
  for (; !inbox.empty() && continuations.size() < continuations.capacity();
       inbox.pop_front()) {
    inbox.front()->sequence = nextSequence++;
    continuations.push_back(std::move(inbox.front()));
  }
}

/// Takes new and cancelled requests; waits for some if there is nothing to do.
/// False: the engine ends.
bool Engine::State::receive() {
  std::vector<Cancellation> unwanted;
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (continuations.empty() && inbox.empty() && !isEnding) {
      isIdle = true;
      cancelled.clear();
      wakesDrain.notify_all();
      wakesThread.wait(
          lock, [&] { return isEnding || observers > 0 || !inbox.empty(); });
    }
    takeInbox();
    unwanted.swap(cancelled);
    if (isEnding)
      return false;
  }
  expire(unwanted);
  removeFinished();
  return true;
}

void Engine::State::publish() {
  counts.waiting = counts.running = counts.waitingTokens = 0;
  for (const ContinuationPtr &continuation : continuations) {
    ++(continuation->isRunning ? counts.running : counts.waiting);
    if (!continuation->isRunning)
      counts.waitingTokens += continuation->promptTokens();
  }
  const PagedKVCache &cache = executor->cache();
  counts.cache = cache.statistics();
  std::lock_guard<std::mutex> lock(mutex);
  published = counts;
  if (observers == 0)
    return;
  // Without memory, they get those of an earlier call.
  (void)withoutExceptions([&] { publishedUses = cache.blockUses(); });
  observers = 0;
  ++publications;
  wakesObservers.notify_all();
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

void Engine::State::release(Continuation &continuation) {
  if (continuation.isRunning) // Without memory, nothing is offered.
    (void)withoutExceptions([&] { offer(continuation, SharedBlocks::All); });
  // After an exception, a sequence may exist that does not run.
  if (executor->cache().hasSequence(continuation.sequence))
    (void)executor->cache().freeSequence(continuation.sequence);
  continuation.isRunning = false;
  continuation.computed = continuation.sharedTokens = 0;
}

/// Ends a continuation, and those that would have been its forks. Blocks are
/// released before the end is reported.
void Engine::State::finish(Continuation &continuation, FinishReason reason,
                           int64_t newTokens, const Status &failure) {
  if (!continuation.cachedTokens)
    leaveQueue(continuation);
  release(continuation);
  continuation.hasFinished = true;
  ++counts.finished;
  const int64_t neverForked =
      continuation.leads() ? continuation.request().count : 1;
  continuation.reportEnd(continuation.index, newTokens, reason, failure);
  for (int64_t index = 1; index < neverForked; ++index) {
    ++counts.finished;
    continuation.reportEnd(index, 0, reason, failure);
  }
}

/// The request is no longer one that waits for its start.
void Engine::State::leaveQueue(const Continuation &continuation) {
  if (continuation.index != 0)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  --queuedRequests;
  queuedTokens -= continuation.promptTokens();
}

void Engine::State::expire(const std::vector<Cancellation> &unwanted) {
  const Clock::time_point now = Clock::now();
  for (const ContinuationPtr &continuation : continuations) {
    const bool isUnwanted = std::any_of(
        unwanted.begin(), unwanted.end(), [&](const Cancellation &each) {
          return each.request.value_or(continuation->accepted->id) ==
                     continuation->accepted->id &&
                 each.index.value_or(continuation->index) ==
                     continuation->index;
        });
    const Request &request = continuation->request();
    if (isUnwanted || (request.isCancelled && request.isCancelled()))
      finish(*continuation, FinishReason::Cancelled);
    else if (request.deadline && *request.deadline <= now)
      finish(*continuation, FinishReason::Timeout);
  }
}

void Engine::State::removeFinished() {
  continuations.erase(std::remove_if(continuations.begin(), continuations.end(),
                                     [](const ContinuationPtr &continuation) {
                                       return continuation->hasFinished;
                                     }),
                      continuations.end());
}

} // namespace llmir
