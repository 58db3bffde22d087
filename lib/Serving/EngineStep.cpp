//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of the engine: what it computes, and what becomes of the logits.
//
//===----------------------------------------------------------------------===//

#include "EngineState.h"
#include "llmir/Support/Exceptions.h"

#include <algorithm>
#include <string>

namespace llmir {

using Clock = std::chrono::steady_clock;
using mlir::llm::runtime::SharedBlocks;
using mlir::llm::runtime::WindowBlocks;

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
    schedulable.push_back(std::move(sequence));
  }
  SchedulerLimits now = limits;
  now.promptTokensBesideDecoding = promptTokensBesideDecoding();
  for (const WindowBlocks &window : cache.windows())
    now.windows.push_back(
        {window.numAvailable(),
         WindowBlocks::mostHeld(window.window(), limits.blockSize,
                                limits.tokensPerStep)});
  const StepPlan plan = planStep(schedulable, now, cache.numAvailable());
  auto at = [&](int64_t index) -> Continuation & {
    return *known[static_cast<size_t>(index)];
  };
  for (int64_t index : plan.preempted) {
    release(at(index));
    ++counts.preemptions;
  }
  for (int64_t index : plan.tooLarge)
    finish(
        at(index), FinishReason::Error, 0,
        Status(StatusCode::ResourceExhausted,
               "the KV cache of " + std::to_string(cache.blocks().numBlocks()) +
                   " blocks" +
                   (cache.windows().empty() ? "" : ", or one of its windows,") +
                   " has no room for a sequence of " +
                   std::to_string(at(index).numTokens()) + " tokens",
               cache.windows().empty() ? "give the cache more blocks"
                                       : "give the cache more memory"));
  for (int64_t index : plan.started)
    if (canStartAsPlanned(schedulable[static_cast<size_t>(index)],
                          at(index).schedulable(cache)))
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
    executor->cache().releasePassed(continuation.sequence);
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
