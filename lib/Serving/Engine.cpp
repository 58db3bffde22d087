//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineState.h"
#include "RequestChecks.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace llmir {

Engine::State::State(std::unique_ptr<Executor> given,
                     const EngineOptions &options)
    : executor(std::move(given)), options(options),
      promptBudget(options.maxSlowdown) {
  const PagedKVCache &cache = executor->cache();
  limits.tokensPerStep = executor->tokenBudget();
  limits.logitRows = executor->maxLogitRows();
  limits.blockSize = cache.getBlockSize();
  limits.runningSequences =
      std::min(executor->maxLogitRows(), executor->tokenBudget());
  if (!cache.states().isEmpty())
    limits.runningSequences =
        std::min(limits.runningSequences, cache.states().geometry().slots);
  if (options.maxRunning > 0)
    limits.runningSequences =
        std::min(limits.runningSequences, options.maxRunning);
  contextLength = std::min(executor->contextLength(),
                           cache.blocks().numBlocks() * limits.blockSize);
}

Status Engine::State::checkRequest(const Request &request,
                                   Span<const int32_t> prompt) const {
  return llmir::checkRequest(request, prompt,
                             {executor->info().vocabSize, contextLength,
                              /*continuations=*/limits.runningSequences});
}

/// For a prompt of so many tokens.
Status Engine::State::checkQueue(int64_t tokens) const {
  if (isClosed)
    return Status(StatusCode::ResourceExhausted,
                  "the engine accepts no more requests");
  if (queuedRequests == 0 ||
      (queuedRequests < options.maxWaitingRequests &&
       queuedTokens <= options.maxWaitingTokens - tokens))
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                std::to_string(queuedRequests) + " requests with " +
                    std::to_string(queuedTokens) + " tokens are waiting",
                "try again later");
}

Expected<std::unique_ptr<Engine>>
Engine::create(std::unique_ptr<Executor> executor,
               const EngineOptions &options) {
  if (!executor)
    return refuseRequest("the executor is null", "create one first");
  if (executor->info().pooling != Pooling::None)
    return refuseRequest("'" + executor->info().modelName +
                             "' is an embedding model, which generates no text",
                         "use an Embedder, or 'llmir embed'");
  if (options.maxWaitingRequests < 1 || options.maxWaitingTokens < 1)
    return refuseRequest(
        "maxWaitingRequests is " + std::to_string(options.maxWaitingRequests) +
            ", maxWaitingTokens is " + std::to_string(options.maxWaitingTokens),
        "give positive numbers");
  if (options.maxRunning < 0)
    return refuseRequest("maxRunning is " + std::to_string(options.maxRunning),
                         "give a number from 0");
  if (!(options.maxSlowdown >= 1))
    return refuseRequest("maxSlowdown is " +
                             std::to_string(options.maxSlowdown),
                         "give a number from 1; infinity is no limit");
  auto state = std::make_unique<State>(std::move(executor), options);
  state->publishedUses = state->executor->cache().blockUses();
  LLMIR_RETURN_IF_ERROR(state->startThread());
  return std::unique_ptr<Engine>(new Engine(std::move(state)));
}

Engine::Engine(std::unique_ptr<State> state) : state(std::move(state)) {}

/// std::thread would throw if the system starts no thread.
Status Engine::State::startThread() {
  publish();
  const int error = pthread_create(
      &thread, nullptr,
      [](void *state) -> void * {
        static_cast<State *>(state)->serve();
        return nullptr;
      },
      this);
  if (error == 0)
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                "the system does not start a thread for the engine: " +
                    std::string(std::strerror(error)),
                "raise the limit of processes, or close other programs");
}

Engine::~Engine() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->isClosed = state->isEnding = true;
  }
  state->wakesThread.notify_one();
  pthread_join(state->thread, nullptr);
}

Expected<RequestId> Engine::submit(Request request, RequestCallback callback) {
  std::vector<int32_t> prompt = std::move(request.prompt);
  request.prompt = {};
  const uint64_t seed = request.sampling.seed;
  return submit(std::make_shared<const Request>(std::move(request)),
                std::move(prompt), seed, std::move(callback));
}

Expected<RequestId> Engine::submit(std::shared_ptr<const Request> common,
                                   std::vector<int32_t> prompt, uint64_t seed,
                                   RequestCallback callback) {
  if (!common)
    return refuseRequest("the request is null", "give one");
  if (!callback)
    return refuseRequest("the request has no callback", "give a function");
  LLMIR_RETURN_IF_ERROR(state->checkRequest(*common, prompt));
  const auto tokens = static_cast<int64_t>(prompt.size());
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    LLMIR_RETURN_IF_ERROR(state->checkQueue(tokens));
  }
  auto accepted = std::make_shared<AcceptedRequest>();
  accepted->common = std::move(common);
  accepted->prompt = std::move(prompt);
  accepted->seed = seed;
  accepted->callback = std::move(callback);
  // Here and not in the engine's thread, for whose lack of memory other
  // requests would have to end.
  auto first = std::make_unique<Continuation>(
      accepted, 0, /*sequence=*/0, state->executor->info().eosTokens);
  RequestId id = 0;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    LLMIR_RETURN_IF_ERROR(state->checkQueue(tokens));
    state->inbox.push_back(std::move(first));
    id = accepted->id = state->nextRequest++;
    ++state->queuedRequests;
    state->queuedTokens += tokens;
    state->isIdle = false;
  }
  state->wakesThread.notify_one();
  return id;
}

Status Engine::check(const Request &request, Span<const int32_t> prompt) const {
  return state->checkRequest(request, prompt);
}

bool Engine::acceptsRequests() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return !state->isClosed;
}

void Engine::cancel(RequestId request, std::optional<int64_t> index) {
  std::lock_guard<std::mutex> lock(state->mutex);
  if (!state->isIdle && request > 0 && request < state->nextRequest)
    state->cancelled.push_back({request, index});
}

void Engine::cancelAll() {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->isClosed = true;
  if (!state->isIdle)
    state->cancelled.push_back({std::nullopt, std::nullopt});
}

void Engine::drain() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->isClosed = true;
  state->wakesDrain.wait(lock, [&] { return state->isIdle; });
}

EngineStatistics Engine::statistics() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->published;
}

/// A step for many prompts takes seconds.
static constexpr std::chrono::milliseconds longestObservation(250);

std::vector<int32_t> Engine::blockUses() const {
  std::unique_lock<std::mutex> lock(state->mutex);
  ++state->observers;
  const int64_t before = state->publications;
  state->wakesThread.notify_one();
  state->wakesObservers.wait_for(lock, longestObservation,
                                 [&] { return state->publications != before; });
  return state->publishedUses;
}

const ArtifactInfo &Engine::info() const { return state->executor->info(); }
int64_t Engine::contextLength() const { return state->contextLength; }
int64_t Engine::maxRunning() const { return state->limits.runningSequences; }
Executor &Engine::executor() { return *state->executor; }

} // namespace llmir
