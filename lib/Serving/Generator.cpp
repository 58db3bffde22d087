//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Generator.h"
#include "RequestChecks.h"

#include <condition_variable>
#include <mutex>
#include <string>

namespace llmir {

namespace {
using Clock = std::chrono::steady_clock;

/// Collects the updates of a request, which come from the engine's thread.
class Answer {
public:
  void add(const RequestUpdate &update);
  Expected<GenerateResult> wait();

private:
  GenerateResult result;
  Status failure;
  std::optional<Clock::time_point> firstUpdate;

  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;
};
} // namespace

static double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void Answer::add(const RequestUpdate &update) {
  const Clock::time_point now = Clock::now();
  if (!firstUpdate) {
    firstUpdate = now;
    result.prefillMilliseconds =
        milliseconds(now - update.startTime.value_or(now));
  }
  result.ids.insert(result.ids.end(), update.tokens.begin(),
                    update.tokens.end());
  if (!update.finishReason)
    return;
  result.finishReason = *update.finishReason;
  result.decodeMilliseconds = milliseconds(now - *firstUpdate);
  result.promptTokens = update.promptTokens;
  result.cachedTokens = update.cachedTokens;
  result.firstNaN = update.firstNaN;
  failure = update.failure;
  // Whoever waits may destroy this as soon as the mutex is free.
  std::lock_guard<std::mutex> lock(mutex);
  hasEnded = true;
  ended.notify_one();
}

Expected<GenerateResult> Answer::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return hasEnded; });
  if (!failure)
    return failure;
  return std::move(result);
}

Expected<GenerateResult> generate(Engine &engine, Request request,
                                  const RequestCallback &onUpdate) {
  if (request.count != 1)
    return refuseRequest("the number of continuations is " +
                             std::to_string(request.count),
                         "submit the request to the engine");
  Answer answer;
  Expected<RequestId> id =
      engine.submit(std::move(request), [&](const RequestUpdate &update) {
        if (onUpdate)
          onUpdate(update);
        answer.add(update);
      });
  if (!id)
    return id.takeStatus();
  return answer.wait();
}

} // namespace llmir
