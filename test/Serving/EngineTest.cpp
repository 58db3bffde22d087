// RUN: llmir-serving-tests --gtest_filter='Engine.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine with a handwritten step, whose results are known: whatever shares
// a step, a cache or a prefix, each request gets its own tokens.
//
//===----------------------------------------------------------------------===//

#include "EngineHarness.h"

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

using namespace llmir;
using namespace llmir::test;

namespace {
/// Waits in a step until the test lets it go on.
class Gate {
public:
  void close() {
    std::lock_guard<std::mutex> lock(mutex);
    isOpen = isReached = false;
  }
  void open() {
    std::lock_guard<std::mutex> lock(mutex);
    isOpen = true;
    changed.notify_all();
  }
  void pass() {
    std::unique_lock<std::mutex> lock(mutex);
    isReached = true;
    changed.notify_all();
    changed.wait(lock, [&] { return isOpen; });
  }
  /// Waits until a step has begun.
  void waitUntilReached() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return isReached; });
  }

private:
  bool isOpen = true, isReached = false;
  std::mutex mutex;
  std::condition_variable changed;
};
Gate gate;

void gatedStep(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  if (worker == 0)
    gate.pass();
  handwrittenStep(ctx, worker, workers);
}

void stepWithNaN(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  handwrittenStep(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  if (worker == 0)
    ctx->logits[sampleInfo().vocabSize - 1] = std::nanf("");
}
} // namespace

TEST(Engine, ContinuesOnePrompt) {
  auto engine = makeEngine();
  Collector collector;
  const Tokens prompt = {5, 9, 11};
  auto id = engine->submit(requestFor(prompt, 8), collector.callback());
  ASSERT_TRUE(id) << id.status().message();
  const auto result = collector.result(*id);
  EXPECT_EQ(result.tokens, continuation(prompt, 8));
  EXPECT_EQ(result.reason, FinishReason::Length);
  engine->drain();
  expectAllAvailable(*engine);
}

TEST(Engine, StopsAtEndTokens) {
  ArtifactInfo info = sampleInfo();
  const Tokens prompt = {5, 9, 11}, all = continuation(prompt, 30);
  // The first occurrence of the fourth token.
  const auto end = std::find(all.begin(), all.end(), all[3]) - all.begin() + 1;
  const Tokens expected(all.begin(), all.begin() + end);
  info.eosTokens = {all[3]};
  auto engine = makeEngine(40, {}, info);
  Collector collector;
  auto byModel = engine->submit(requestFor(prompt, -1), collector.callback());
  Request request = requestFor(prompt, 10);
  request.ignoreEos = true;
  auto ignored = engine->submit(request, collector.callback());
  request.stopTokens = {all[3]};
  auto byRequest = engine->submit(request, collector.callback());
  request.minTokens = end;
  auto later = engine->submit(request, collector.callback());
  EXPECT_EQ(collector.result(*byModel).tokens, expected);
  EXPECT_EQ(collector.result(*byModel).reason, FinishReason::Stop);
  EXPECT_EQ(collector.result(*ignored).tokens.size(), 10u);
  EXPECT_EQ(collector.result(*byRequest).tokens, expected);
  // The end token was not chosen where it was forbidden.
  const Tokens tokens = collector.result(*later).tokens;
  ASSERT_GE(static_cast<int64_t>(tokens.size()), end);
  EXPECT_NE(tokens[static_cast<size_t>(end) - 1], all[3]);
}

TEST(Engine, EndsWhereTheContextDoes) {
  auto engine = makeEngine();
  Collector collector;
  const Tokens prompt(37, 3);
  auto id = engine->submit(requestFor(prompt, -1), collector.callback());
  // Three tokens fill the context, the fourth follows from them.
  EXPECT_EQ(collector.result(*id).tokens, continuation(prompt, 4));
  EXPECT_EQ(collector.result(*id).reason, FinishReason::Length);
}

/// Many requests in a pool that holds little more than one.
TEST(Engine, GivesEachRequestItsTokensInAnyCompany) {
  auto engine = makeEngine(/*kvBlocks=*/11);
  Collector collector;
  std::mt19937 random(3);
  std::vector<std::pair<RequestId, Request>> sent;
  for (int i = 0; i < 200; ++i) {
    Tokens prompt(random() % 3 * 4, 9); // Often the same beginning.
    for (size_t more = 1 + random() % 12; more > 0; --more)
      prompt.push_back(static_cast<int32_t>(random() % 50));
    Request request = requestFor(prompt, 1 + random() % 16);
    request.priority = static_cast<int64_t>(random() % 3);
    auto id = engine->submit(request, collector.callback());
    ASSERT_TRUE(id) << id.status().message();
    sent.push_back({*id, request});
  }
  for (const auto &[id, request] : sent)
    EXPECT_EQ(
        collector.result(id).tokens,
        continuation(request.prompt, static_cast<size_t>(request.maxTokens)));
  engine->drain();
  expectAllAvailable(*engine);
  const EngineStatistics counts = engine->statistics();
  EXPECT_GT(counts.preemptions, 0);
  EXPECT_GT(counts.cache.foundTokens, 100);
  EXPECT_GT(counts.cache.evictedBlocks, 0);
  EXPECT_EQ(counts.finished, 200);
}

/// With a temperature: as one request alone.
TEST(Engine, SamplesIndependentlyOfOthers) {
  std::vector<Tokens> alone;
  auto request = [](int i) {
    Request request = requestFor({1, static_cast<int32_t>(i % 5), 7}, 12);
    request.sampling.temperature = 1.5;
    request.sampling.repetitionPenalty = 1.3;
    request.sampling.frequencyPenalty = 0.5;
    request.sampling.seed = static_cast<uint64_t>(i);
    return request;
  };
  for (int i = 0; i < 30; ++i) {
    Collector collector;
    auto engine = makeEngine();
    auto id = engine->submit(request(i), collector.callback());
    const Tokens tokens = collector.result(*id).tokens;
    EXPECT_EQ(tokens.size(), 12u);
    alone.push_back(tokens);
  }
  Collector collector;
  auto engine = makeEngine(/*kvBlocks=*/12);
  std::vector<RequestId> ids;
  for (int i = 0; i < 30; ++i)
    ids.push_back(*engine->submit(request(i), collector.callback()));
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(collector.result(ids[i]).tokens, alone[i]) << i;
  EXPECT_NE(alone[0], alone[5]); // Another seed.
}

TEST(Engine, ForksContinuations) {
  Collector collector;
  auto engine = makeEngine();
  Request request = requestFor({4, 5, 6, 7, 8}, 9);
  request.sampling.temperature = 2;
  request.count = 5;
  auto id = engine->submit(request, collector.callback());
  std::vector<Tokens> forks;
  for (int64_t i = 0; i < request.count; ++i)
    forks.push_back(collector.result(*id, i).tokens);
  const int64_t computed = engine->statistics().promptTokens;
  EXPECT_EQ(computed, 5); // Once for all.
  for (int64_t i = 0; i < request.count; ++i) {
    Request single = request;
    single.count = 1;
    single.sampling.seed += static_cast<uint64_t>(i);
    auto again = engine->submit(single, collector.callback());
    EXPECT_EQ(collector.result(*again).tokens, forks[static_cast<size_t>(i)]);
  }
  // With room for few of them at once.
  auto small = makeEngine(/*kvBlocks=*/6);
  Collector others;
  auto squeezed = small->submit(request, others.callback());
  for (int64_t i = 0; i < request.count; ++i)
    EXPECT_EQ(others.result(*squeezed, i).tokens,
              forks[static_cast<size_t>(i)]);
  small->drain();
  expectAllAvailable(*small);
}

TEST(Engine, ComputesACommonPrefixOnce) {
  Collector collector;
  auto engine = makeEngine();
  Tokens prompt(21, 6);
  auto first = engine->submit(requestFor(prompt, 2), collector.callback());
  EXPECT_EQ(collector.result(*first).cachedTokens, 0);
  prompt.back() = 9;
  auto second = engine->submit(requestFor(prompt, 2), collector.callback());
  EXPECT_EQ(collector.result(*second).cachedTokens, 20);
  EXPECT_EQ(collector.result(*second).tokens, continuation(prompt, 2));
  Request other = requestFor(prompt, 2);
  other.salt = 1;
  auto third = engine->submit(other, collector.callback());
  EXPECT_EQ(collector.result(*third).cachedTokens, 0);
  // A conversation: the answer of a turn is part of the next one's prefix.
  Tokens turn = prompt;
  for (int32_t token : collector.result(*second).tokens)
    turn.push_back(token);
  turn.push_back(3);
  turn.push_back(4);
  auto fourth = engine->submit(requestFor(turn, 2), collector.callback());
  // All of them but the last one, which was not computed.
  EXPECT_EQ(collector.result(*fourth).cachedTokens, 22);
  EXPECT_EQ(collector.result(*fourth).tokens, continuation(turn, 2));
}

TEST(Engine, ComputesACommonPrefixOnceThoughRequestsComeTogether) {
  Collector collector;
  gate.close();
  auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
  const RequestId other =
      *engine->submit(requestFor({1}, 2), collector.callback());
  gate.waitUntilReached();
  std::vector<std::pair<RequestId, Tokens>> sent;
  for (int32_t last : {7, 8, 9}) {
    Tokens prompt(21, 6);
    prompt.back() = last;
    sent.push_back(
        {*engine->submit(requestFor(prompt, 2), collector.callback()), prompt});
  }
  gate.open();
  for (const auto &[id, prompt] : sent)
    EXPECT_EQ(collector.result(id).tokens, continuation(prompt, 2));
  collector.result(other);
  engine->drain();
  EXPECT_EQ(collector.result(sent[0].first).cachedTokens, 0);
  EXPECT_EQ(collector.result(sent[1].first).cachedTokens, 20);
  EXPECT_EQ(collector.result(sent[2].first).cachedTokens, 20);
  EXPECT_EQ(engine->statistics().promptTokens, 1 + 21 + 1 + 1);
}

TEST(Engine, ServesPrioritiesFirst) {
  EngineOptions options;
  options.maxRunning = 1;
  gate.close();
  auto engine = makeEngine(40, options, withoutEnds(), gatedStep);
  Collector collector;
  auto blocking = engine->submit(requestFor({1}, 3), collector.callback());
  std::vector<RequestId> ids;
  for (int64_t priority : {2, 0, 1, 0}) {
    Request request = requestFor({2, 3}, 3);
    request.priority = priority;
    ids.push_back(*engine->submit(request, collector.callback()));
  }
  gate.open();
  EXPECT_EQ(collector.result(*blocking).order, 0);
  EXPECT_EQ(collector.result(ids[0]).order, 4);
  EXPECT_EQ(collector.result(ids[1]).order, 1);
  EXPECT_EQ(collector.result(ids[2]).order, 3);
  EXPECT_EQ(collector.result(ids[3]).order, 2);
}

TEST(Engine, CancelsWithinAStep) {
  auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
  Collector collector;
  gate.close();
  auto id = engine->submit(requestFor({1, 2}, 30), collector.callback());
  Request forked = requestFor({1, 2}, 30);
  forked.count = 3;
  auto waiting = engine->submit(forked, collector.callback());
  engine->cancel(*id);
  engine->cancel(*waiting);
  engine->cancel(12345); // Unknown: ignored.
  gate.open();
  EXPECT_LE(collector.result(*id).tokens.size(), 1u);
  EXPECT_EQ(collector.result(*id).reason, FinishReason::Cancelled);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(collector.result(*waiting, i).reason, FinishReason::Cancelled);
  engine->drain();
  expectAllAvailable(*engine);
}

TEST(Engine, CancelsOneContinuation) {
  auto engine = makeEngine();
  std::mutex mutex;
  std::map<int64_t, std::pair<int64_t, FinishReason>> ends;
  Request request = requestFor({1, 2}, 20);
  request.count = 3;
  ASSERT_TRUE(engine->submit(request, [&](const RequestUpdate &update) {
    if (update.index == 1 && update.generatedTokens == 4)
      engine->cancel(update.request, 1);
    std::lock_guard<std::mutex> lock(mutex);
    if (update.finishReason)
      ends[update.index] = {update.generatedTokens, *update.finishReason};
  }));
  engine->drain();
  EXPECT_EQ(ends[0], std::make_pair(int64_t(20), FinishReason::Length));
  EXPECT_EQ(ends[1], std::make_pair(int64_t(4), FinishReason::Cancelled));
  EXPECT_EQ(ends[2], std::make_pair(int64_t(20), FinishReason::Length));
}

TEST(Engine, CancelsFromACallback) {
  auto engine = makeEngine();
  std::atomic<int> tokens{0};
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  RequestCallback callback = [&](const RequestUpdate &update) {
    if (++tokens == 3)
      engine->cancel(update.request);
    std::lock_guard<std::mutex> lock(mutex);
    isDone = update.finishReason.has_value();
    changed.notify_all();
  };
  ASSERT_TRUE(engine->submit(requestFor({1, 2}, 30), callback));
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return isDone; });
  EXPECT_EQ(tokens, 4); // Three tokens and the end.
}

TEST(Engine, GivesUpAtADeadline) {
  auto engine = makeEngine();
  Collector collector;
  Request request = requestFor({1, 2}, 30);
  request.deadline = std::chrono::steady_clock::now();
  auto id = engine->submit(request, collector.callback());
  EXPECT_EQ(collector.result(*id).reason, FinishReason::Timeout);
  EXPECT_STREQ(finishReasonName(*collector.result(*id).reason), "timeout");
}

TEST(Engine, ReportsLogitsThatAreNaN) {
  auto engine = makeEngine(40, {}, withoutEnds(), stepWithNaN);
  Collector collector;
  Request request = requestFor({1, 2}, 30);
  request.count = 2;
  auto id = engine->submit(request, collector.callback());
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(collector.result(*id, i).reason, FinishReason::Error);
    EXPECT_NE(collector.result(*id, i).failure.cause().find("NaN"),
              std::string::npos);
  }
  engine->drain();
  expectAllAvailable(*engine);
}

TEST(Engine, BoundsItsQueue) {
  EngineOptions options;
  options.maxWaitingRequests = 3;
  options.maxWaitingTokens = 20;
  Collector collector;
  gate.close();
  auto engine = makeEngine(40, options, withoutEnds(), gatedStep);
  auto submit = [&](size_t tokens) {
    return engine
        ->submit(requestFor(Tokens(tokens, 1), 2), collector.callback())
        .status()
        .code();
  };
  EXPECT_EQ(submit(25), StatusCode::Ok); // Nothing else waits.
  gate.waitUntilReached();               // It no longer waits, either.
  EXPECT_EQ(submit(18), StatusCode::Ok);
  EXPECT_EQ(submit(3), StatusCode::ResourceExhausted); // Too many tokens.
  EXPECT_EQ(submit(1), StatusCode::Ok);
  EXPECT_EQ(submit(1), StatusCode::Ok);
  EXPECT_EQ(submit(1), StatusCode::ResourceExhausted);
  gate.open();
  engine->drain();
  EXPECT_EQ(engine->statistics().finished, 4);
  EXPECT_EQ(submit(1), StatusCode::ResourceExhausted);
}

TEST(Engine, CancelsAllAtItsEnd) {
  Collector collector;
  RequestId id = 0;
  {
    gate.close();
    auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
    id = *engine->submit(requestFor({1, 2}, 30), collector.callback());
    gate.open();
  }
  collector.result(id); // Has ended, for whatever reason.
}

TEST(Engine, CancelsAllOnRequest) {
  Collector collector;
  gate.close();
  auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
  const RequestId first =
      *engine->submit(requestFor({1, 2}, 30), collector.callback());
  const RequestId second =
      *engine->submit(requestFor({3, 4}, 30), collector.callback());
  engine->cancelAll();
  gate.open();
  EXPECT_EQ(*collector.result(first).reason, FinishReason::Cancelled);
  EXPECT_EQ(*collector.result(second).reason, FinishReason::Cancelled);
  EXPECT_FALSE(engine->submit(requestFor({1}, 1), collector.callback()));
  engine->drain();
  expectAllAvailable(*engine);
}

TEST(Engine, TellsWhatBlocksAreUsedFor) {
  Collector collector;
  auto engine = makeEngine();
  const std::vector<int32_t> unused(40, 0);
  EXPECT_EQ(engine->blockUses(), unused) << "without a step";
  const Tokens prompt = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5};
  collector.result(
      *engine->submit(requestFor(prompt, 2), collector.callback()));
  const std::vector<int32_t> kept = engine->blockUses();
  const EngineStatistics idle = engine->statistics();
  EXPECT_EQ(std::count(kept.begin(), kept.end(), -1), idle.cache.idleBlocks);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 0), idle.cache.freeBlocks);
  EXPECT_GT(idle.cache.idleBlocks, 0);
}

TEST(Engine, TellsWhatBlocksWereUsedForDuringALongStep) {
  Collector collector;
  gate.close();
  auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
  const RequestId id =
      *engine->submit(requestFor({1, 2, 3}, 2), collector.callback());
  EXPECT_EQ(engine->blockUses(), std::vector<int32_t>(40, 0));
  gate.open();
  collector.result(id);
}

TEST(Engine, TellsWhichBlocksAreShared) {
  // It depends on the threads whether the uses are those of a step of both
  // continuations, so there are several attempts.
  int32_t most = 0;
  for (int attempt = 0; attempt < 50 && most < 2; ++attempt) {
    Collector collector;
    gate.close();
    auto engine = makeEngine(40, {}, withoutEnds(), gatedStep);
    Request request = requestFor({1, 2, 3, 4, 5, 6, 7, 8, 1}, 25);
    request.count = 2;
    const RequestId id = *engine->submit(request, collector.callback());
    std::thread opener([] { gate.open(); });
    for (int round = 0; round < 20 && most < 2; ++round) {
      const std::vector<int32_t> uses = engine->blockUses();
      most = std::max(most, *std::max_element(uses.begin(), uses.end()));
    }
    opener.join();
    collector.result(id);
    collector.result(id, 1);
  }
  EXPECT_EQ(most, 2) << "two continuations share the prompt's blocks";
}

TEST(Engine, ReportsSteps) {
  std::vector<StepRecord> steps;
  EngineOptions options;
  options.onStep = [&](const StepRecord &step) { steps.push_back(step); };
  Collector collector;
  auto engine = makeEngine(40, options);
  collector.result(
      *engine->submit(requestFor({1, 2, 3}, 4), collector.callback()));
  engine->drain();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].tokens, 3);
  EXPECT_EQ(steps[1].tokens, 1);
  for (const StepRecord &step : steps) {
    EXPECT_EQ(step.sequences, 1);
    EXPECT_GT(step.milliseconds, 0);
  }
}

TEST(Engine, RefusesWhatItCannotServe) {
  auto engine = makeEngine(/*kvBlocks=*/4);
  EXPECT_EQ(engine->contextLength(), 16);
  auto refuses = [&](Request request, StatusCode code, const char *words) {
    auto id = engine->submit(std::move(request), [](const RequestUpdate &) {});
    EXPECT_FALSE(id);
    EXPECT_EQ(id.status().code(), code);
    EXPECT_NE(id.status().message().find(words), std::string::npos)
        << id.status().message();
  };
  const auto invalid = StatusCode::InvalidArgument;
  refuses(requestFor({}, 1), invalid, "no tokens");
  refuses(requestFor({50}, 1), invalid, "token id 50");
  refuses(requestFor({-1}, 1), invalid, "token id -1");
  refuses(requestFor(Tokens(17, 1), 1), StatusCode::ContextLengthExceeded,
          "17 tokens; the context is 16");
  refuses(requestFor({1}, -2), invalid, "is -2");
  Request request = requestFor({1}, 0);
  request.minTokens = 1;
  refuses(request, invalid, "minTokens is 1, but maxTokens is 0");
  request = requestFor({1}, 3);
  request.minTokens = 4;
  refuses(request, invalid, "minTokens is 4, but maxTokens is 3");
  request = requestFor({1}, 3);
  request.count = 9;
  refuses(request, invalid, "continuations is 9");
  request.count = 1;
  request.stopTokens = {50};
  refuses(request, invalid, "stop token 50");
  request.stopTokens = {};
  EXPECT_EQ(engine->submit(request, nullptr).status().code(), invalid);
  EXPECT_EQ(Engine::create(nullptr).status().code(), invalid);
  EngineOptions options;
  options.maxWaitingTokens = 0;
  EXPECT_EQ(
      Engine::create(makeExecutor(withoutEnds(), 4, handwrittenStep), options)
          .status()
          .code(),
      invalid);
  for (double slowdown : {0.0, 0.5, -1.0, double(NAN)}) {
    options = {};
    options.maxSlowdown = slowdown;
    EXPECT_EQ(
        Engine::create(makeExecutor(withoutEnds(), 4, handwrittenStep), options)
            .status()
            .code(),
        invalid);
  }
  request.sampling.repetitionPenalty = 0;
  refuses(request, invalid, "repetition penalty");
  request.sampling = {};
  request.sampling.presencePenalty = 3;
  refuses(request, invalid, "presence penalty");
  request.sampling = {};
  request.sampling.frequencyPenalty = NAN;
  refuses(request, invalid, "frequency penalty");
  request.sampling = {};
  request.sampling.logitBias = {{1, 101.0f}};
  refuses(request, invalid, "logit bias");
}

/// Requests, cancellations and statistics from several threads.
TEST(Engine, PromptsMayShareARequest) {
  auto engine = makeEngine();
  Request request = requestFor({}, 6);
  request.sampling.temperature = 2;
  request.allowedTokens = {1, 4, 5, 9, 13, 22, 30, 41};
  request.badWords = {{4}};
  const auto common = std::make_shared<const Request>(request);
  const std::vector<Tokens> prompts = {{1, 2, 3}, {9, 8}};
  for (size_t i = 0; i < prompts.size(); ++i) {
    Collector shared, own;
    auto id =
        engine->submit(common, prompts[i], /*seed=*/7 + i, shared.callback());
    ASSERT_TRUE(id) << id.status().message();
    EXPECT_EQ(shared.result(*id).tokens.size(), 6u);
    request.prompt = prompts[i];
    request.sampling.seed = 7 + i;
    auto other = engine->submit(request, own.callback());
    ASSERT_TRUE(other) << other.status().message();
    EXPECT_EQ(shared.result(*id).tokens, own.result(*other).tokens);
  }
  EXPECT_FALSE(engine->submit(nullptr, {1}, 0, [](const RequestUpdate &) {}));
  EXPECT_FALSE(engine->submit(common, {}, 0, [](const RequestUpdate &) {}));
}

TEST(Engine, IsSafeFromManyThreads) {
  auto engine = makeEngine(/*kvBlocks=*/14);
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int client = 0; client < 8; ++client)
    clients.emplace_back([&, client] {
      std::mt19937 random(static_cast<unsigned>(client));
      for (int i = 0; i < 20; ++i) {
        Collector collector;
        const Tokens prompt = {client, static_cast<int32_t>(random() % 50), 3};
        const auto count = static_cast<int64_t>(1 + random() % 9);
        auto id =
            engine->submit(requestFor(prompt, count), collector.callback());
        if (!id)
          return;
        if (random() % 4 == 0)
          engine->cancel(*id);
        (void)engine->statistics();
        const auto result = collector.result(*id);
        Tokens expected = continuation(prompt, static_cast<size_t>(count));
        expected.resize(result.tokens.size());
        wrong += result.tokens != expected;
      }
    });
  for (std::thread &client : clients)
    client.join();
  EXPECT_EQ(wrong, 0);
  engine->drain();
  expectAllAvailable(*engine);
}
