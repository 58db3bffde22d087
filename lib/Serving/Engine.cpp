//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Engine.h"
#include "Continuation.h"
#include "RequestChecks.h"
#include "llmir/Serving/PromptBudget.h"
#include "llmir/Serving/Scheduler.h"
#include "llmir/Support/Exceptions.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <string>

namespace llmir {

using Clock = std::chrono::steady_clock;
using ContinuationPtr = std::unique_ptr<Continuation>;
using mlir::llm::runtime::SharedBlocks;

namespace {
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
} // namespace

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
  void offer(const Continuation &continuation, SharedBlocks blocks);
  void addRow(Continuation &continuation, int64_t position,
              Span<const float> logits, std::vector<LogitsRow> &taken);
  void takeLogits(std::vector<LogitsRow> &taken);
  void fork(Continuation &leader, Span<const float> logits,
            std::vector<LogitsRow> &taken);
  void publish();
};

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

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
  std::vector<int32_t> &allowed = request.allowedTokens;
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  allowed.shrink_to_fit(); // A client may have repeated a few many times.
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

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// All running sequences and the first of those that wait.
std::vector<Continuation *> Engine::State::candidates() const {
  std::vector<Continuation *> running, waiting;
  for (const ContinuationPtr &continuation : continuations)
    (continuation->isRunning ? running : waiting).push_back(continuation.get());
  const size_t count = std::min(waiting.size(), mostWaitingCandidates);
  std::partial_sort(
      waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count),
      waiting.end(), [](const Continuation *a, const Continuation *b) {
        return a->request().priority != b->request().priority
                   ? a->request().priority < b->request().priority
                   : a->sequence < b->sequence;
      });
  running.insert(running.end(), waiting.begin(),
                 waiting.begin() + static_cast<ptrdiff_t>(count));
  return running;
}

/// The continuation, if any, that computes a longer prefix of known[index] than
/// the one that it would start with now. Running ones come first in `known`,
/// then waiting ones in the order of service.
int64_t Engine::State::findAwaited(const std::vector<Continuation *> &known,
                                   size_t index, int64_t computed) const {
  const PagedKVCache &cache = executor->cache();
  const Continuation &waiting = *known[index];
  for (size_t i = 0; i < index; ++i) {
    const Continuation &other = *known[i];
    if (!other.decodes() &&
        other.request().priority <= waiting.request().priority &&
        waiting.willShare(other, std::max(other.computed, computed), cache))
      return static_cast<int64_t>(i);
  }
  return -1;
}

/// Sequences that could not run in any case do not count as waiting.
int64_t Engine::State::promptTokensBesideDecoding() const {
  int64_t decoding = 0, running = 0;
  for (const ContinuationPtr &each : continuations) {
    running += each->isRunning;
    decoding += each->isRunning && each->decodes();
  }
  if (decoding == 0)
    return 0;
  const int64_t sequences =
      std::min(static_cast<int64_t>(continuations.size()),
               std::max(running, limits.runningSequences));
  return promptBudget.tokens(decoding, sequences - decoding);
}

void Engine::State::runNextStep() {
  const PagedKVCache &cache = executor->cache();
  const std::vector<Continuation *> known = candidates();
  std::vector<SchedulableSequence> schedulable;
  for (const Continuation *continuation : known) {
    SchedulableSequence sequence = continuation->schedulable(cache);
    if (!continuation->isRunning)
      sequence.awaits = findAwaited(known, schedulable.size(),
                                    /*computed=*/sequence.computed);
    schedulable.push_back(sequence);
  }
  SchedulerLimits now = limits;
  now.promptTokensBesideDecoding = promptTokensBesideDecoding();
  const StepPlan plan = planStep(schedulable, now, cache.numAvailable());
  auto at = [&](int64_t index) -> Continuation & {
    return *known[static_cast<size_t>(index)];
  };
  for (int64_t index : plan.preempted) {
    release(at(index));
    ++counts.preemptions;
  }
  for (int64_t index : plan.tooLarge)
    finish(at(index), FinishReason::Error, 0,
           Status(StatusCode::ResourceExhausted,
                  "the KV cache of " +
                      std::to_string(cache.blocks().numBlocks()) +
                      " blocks has no room for a sequence of " +
                      std::to_string(at(index).numTokens()) + " tokens",
                  "give the cache more blocks"));
  for (int64_t index : plan.started)
    start(at(index));
  std::vector<std::pair<Continuation *, int64_t>> parts;
  for (const ScheduledPart &part : plan.parts)
    if (Continuation &continuation = at(part.sequence); continuation.isRunning)
      parts.push_back(
          {&continuation, wholeBlocksFirst(continuation, part.tokens)});
  if (!parts.empty())
    compute(parts);
}

/// After an exception in a step, of which what was computed is not known: ends
/// what runs, which also makes room in memory; if nothing runs, what waits.
void Engine::State::endAfter(const Status &failure) {
  const bool someRun =
      std::any_of(continuations.begin(), continuations.end(),
                  [](const ContinuationPtr &each) { return each->isRunning; });
  for (const ContinuationPtr &continuation : continuations)
    if (!continuation->hasFinished && (continuation->isRunning || !someRun))
      finish(*continuation, FinishReason::Error, 0, failure);
}

/// Creates the sequence in the cache. A failure, which the plan should have
/// excluded, ends the continuation.
void Engine::State::start(Continuation &continuation) {
  Expected<int64_t> cached = 0;
  const Status thrown = withoutExceptions([&] {
    cached = executor->cache().createSequence(
        continuation.sequence,
        Span<const int32_t>(continuation.tokens.data(),
                            static_cast<size_t>(continuation.firstRow())),
        continuation.request().salt);
  });
  if (!thrown)
    cached = thrown;
  if (!cached) {
    finish(continuation, FinishReason::Error, 0, cached.status());
    return;
  }
  continuation.isRunning = true;
  continuation.computed = *cached;
  continuation.sharedTokens = *cached / limits.blockSize * limits.blockSize;
  if (!continuation.cachedTokens) {
    leaveQueue(continuation);
    continuation.cachedTokens = *cached;
    continuation.startTime = Clock::now();
  }
}

/// If layers keep a state, the part ends where the last full block before the
/// end does, so that the state there can be kept for other sequences.
int64_t Engine::State::wholeBlocksFirst(const Continuation &continuation,
                                        int64_t count) const {
  const int64_t end =
      (continuation.numTokens() - 1) / limits.blockSize * limits.blockSize;
  const PagedKVCache &cache = executor->cache();
  const bool isSplit = cache.keepsPrefixes() && !cache.states().isEmpty() &&
                       continuation.computed < end &&
                       continuation.computed + count > end;
  return isSplit ? end - continuation.computed : count;
}

void Engine::State::compute(
    const std::vector<std::pair<Continuation *, int64_t>> &parts) {
  std::vector<SequenceStep> batch;
  int64_t numTokens = 0, decoding = 0;
  std::vector<std::vector<int32_t>> rows;
  rows.reserve(parts.size());
  for (const auto &[continuation, count] : parts) {
    numTokens += count;
    decoding += continuation->decodes();
    SequenceStep step;
    step.sequence = continuation->sequence;
    step.tokens = Span<const int32_t>(continuation->tokens.data() +
                                          continuation->computed,
                                      static_cast<size_t>(count));
    std::vector<int32_t> &listed = rows.emplace_back();
    for (int64_t row = std::max<int64_t>(
             continuation->firstRow() - continuation->computed, 0);
         row < count; ++row)
      listed.push_back(static_cast<int32_t>(row));
    step.want = WantLogits::Listed;
    step.rows = listed;
    batch.push_back(step);
  }
  const Clock::time_point begin = Clock::now();
  Expected<StepLogits> logits = executor->step(batch);
  const double milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  ++counts.steps;
  // Exceptions here concern no request.
  (void)withoutExceptions([&] {
    if (logits)
      promptBudget.add(decoding, numTokens - decoding, milliseconds);
    if (options.onStep)
      options.onStep(
          {milliseconds, numTokens, static_cast<int64_t>(batch.size())});
  });
  std::vector<LogitsRow> taken;
  int64_t row = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    Continuation &continuation = *parts[i].first;
    if (!logits) {
      finish(continuation, FinishReason::Error, 0, logits.status());
      continue;
    }
    const int64_t before = continuation.computed;
    continuation.computed += parts[i].second;
    share(continuation);
    if (continuation.generatedTokens() == 0)
      counts.promptTokens += parts[i].second;
    for (int32_t listed : rows[i])
      addRow(continuation, before + listed, logits->row(row++), taken);
  }
  takeLogits(taken);
}

/// Adds a row of logits to those that are taken, for the continuation and for
/// its forks.
void Engine::State::addRow(Continuation &continuation, int64_t position,
                           Span<const float> logits,
                           std::vector<LogitsRow> &taken) {
  if (position + 1 == continuation.numTokens()) {
    if (continuation.leads())
      fork(continuation, logits, taken);
  } else {
    continuation.promptLogprobs.resize(static_cast<size_t>(position) + 1);
  }
  taken.push_back({&continuation, position, logits});
}

/// Chooses tokens, all at once, and reports them, one after the other.
void Engine::State::takeLogits(std::vector<LogitsRow> &taken) {
  executor->forEach(static_cast<int64_t>(taken.size()), [&](int64_t index) {
    LogitsRow &row = taken[static_cast<size_t>(index)];
    const Status thrown = withoutExceptions([&] {
      row.failure =
          row.continuation->takeLogits(row.position, row.logits, contextLength);
    });
    if (!thrown)
      row.failure = thrown;
  });
  for (const LogitsRow &row : taken) {
    Continuation &continuation = *row.continuation;
    if (continuation.hasFinished)
      continue;
    if (!row.failure) {
      finish(continuation, FinishReason::Error, 0, row.failure);
      continue;
    }
    if (row.position < continuation.promptTokens() - 1)
      continue; // Is reported with the first token.
    // None if only the prompt was to be computed.
    const int64_t newTokens = continuation.generatedTokens() > 0;
    counts.generatedTokens += newTokens;
    if (continuation.end)
      finish(continuation, *continuation.end, newTokens);
    else if (Status status = continuation.report(newTokens); !status)
      finish(continuation, FinishReason::Error, 0, status);
  }
}

/// Offers new full blocks to other sequences, if the cache keeps them.
void Engine::State::share(Continuation &continuation) {
  const int64_t whole =
      continuation.computed / limits.blockSize * limits.blockSize;
  if (whole == continuation.sharedTokens)
    return;
  continuation.sharedTokens = whole;
  offer(continuation, SharedBlocks::Full);
}

void Engine::State::offer(const Continuation &continuation,
                          SharedBlocks blocks) {
  // Fails only if the cache keeps no prefixes.
  (void)executor->cache().share(
      continuation.sequence,
      Span<const int32_t>(continuation.tokens.data(),
                          static_cast<size_t>(continuation.computed)),
      continuation.request().salt, blocks);
}

/// Creates the other continuations of a request whose prompt has been computed;
/// they choose their first tokens from the same logits. Where the cache has no
/// room for a fork, the continuation computes the prompt itself later.
void Engine::State::fork(Continuation &leader, Span<const float> logits,
                         std::vector<LogitsRow> &taken) {
  auto running = std::count_if(
      continuations.begin(), continuations.end(),
      [](const ContinuationPtr &each) { return each->isRunning; });
  std::vector<ContinuationPtr> forks;
  for (int64_t index = 1; index < leader.request().count; ++index)
    forks.push_back(std::make_unique<Continuation>(
        leader.accepted, index, nextSequence++, executor->info().eosTokens));
  continuations.reserve(continuations.size() + forks.size());
  leader.hasForked = true; // If memory is short, none of them exists.
  const size_t first = continuations.size();
  std::move(forks.begin(), forks.end(), std::back_inserter(continuations));
  for (size_t i = first; i < continuations.size(); ++i) {
    Continuation &added = *continuations[i];
    added.cachedTokens = leader.cachedTokens;
    added.startTime = leader.startTime;
  }
  for (size_t i = first; i < continuations.size(); ++i) {
    Continuation &added = *continuations[i];
    if (running == limits.runningSequences ||
        !executor->cache().fork(leader.sequence, added.sequence))
      continue;
    ++running;
    added.isRunning = true;
    added.computed = leader.computed;
    added.sharedTokens = leader.sharedTokens;
    taken.push_back({&added, added.numTokens() - 1, logits});
  }
}

} // namespace llmir
