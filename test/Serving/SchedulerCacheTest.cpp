// RUN: llmir-serving-tests --gtest_filter='SchedulerCache.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler with a real cache, whose layers have windows: random requests
// with common beginnings in pools that are too small for them. What a plan
// counts suffices for its step, and all requests end.
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Scheduler.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>

using namespace llmir;
using namespace mlir::llm::runtime;

namespace {
struct Request {
  SequenceId id = 0;
  std::vector<int32_t> tokens;
  int64_t length = 0; ///< At which it ends.
  int64_t computed = 0;
  bool isRunning = false;
  bool hasEnded = false;

  int64_t numTokens() const { return static_cast<int64_t>(tokens.size()); }
  Span<const int32_t> first(int64_t count) const {
    return {tokens.data(), static_cast<size_t>(count)};
  }
};

class Load {
public:
  explicit Load(uint64_t seed) : random(seed) {
    // One of three loads has no layer that keeps all tokens.
    windows = {1 + below(40), 1 + below(80)};
    if (below(3) != 0)
      windows.push_back(0);
    longest = 8 * blockSize + below(300);
    limits.tokensPerStep = 1 + below(200);
    limits.runningSequences = std::min<int64_t>(limits.tokensPerStep, 8);
    limits.logitRows = limits.runningSequences;
    limits.blockSize = blockSize;
    const int64_t blocks = (longest + blockSize - 1) / blockSize;
    PagedKVCacheOptions options;
    options.numBlocks = blocks + 1 + below(3 * blocks);
    options.windows = windows;
    options.keepsPrefixes = true;
    for (int64_t window : distinctWindows(windows))
      options.windowBlocks.push_back(
          std::min(options.numBlocks, mostHeld(window) * (1 + below(3))));
    cache = std::make_unique<PagedKVCache>(
        static_cast<int64_t>(windows.size()), /*numHeads=*/1, /*headDim=*/2,
        blockSize, longest, KVElementType::F32, options);
  }

  /// Computes steps until `count` requests have ended. Returns how many planned
  /// starts were no longer possible.
  int64_t serve(int64_t count);

private:
  static constexpr int64_t blockSize = 16;

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  }
  int64_t mostHeld(int64_t window) const {
    return WindowBlocks::mostHeld(window, blockSize, limits.tokensPerStep);
  }
  void add();
  SchedulableSequence schedulable(const Request &request) const;
  void start(Request &request);
  void stop(Request &request);
  void compute(const StepPlan &plan);
  void advance(Request &request, int64_t count);
  void step();
  void finish();

  std::mt19937_64 random;
  std::vector<int64_t> windows;
  int64_t longest = 0; ///< Tokens of a sequence.
  SchedulerLimits limits;
  std::unique_ptr<PagedKVCache> cache;
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<Request *> known;            ///< Those of the plan.
  std::vector<std::vector<int32_t>> texts; ///< Of requests that have ended.
  SequenceId nextId = 0;
  int64_t ended = 0, stepsWithoutProgress = 0, refused = 0;
};

/// A request whose prompt often begins as an earlier text does.
void Load::add() {
  auto request = std::make_unique<Request>();
  request->id = nextId++;
  if (!texts.empty() && below(4) != 0) {
    const auto &text =
        texts[static_cast<size_t>(below(static_cast<int64_t>(texts.size())))];
    request->tokens.assign(
        text.begin(), text.begin() + below(static_cast<int64_t>(text.size())));
  }
  for (int64_t more = 1 + below(longest / 2); more > 0; --more)
    request->tokens.push_back(below(60) == 0);
  request->tokens.resize(
      std::min(request->tokens.size(), static_cast<size_t>(longest - 1)));
  request->length = std::min(longest, request->numTokens() + 1 + below(60));
  requests.push_back(std::move(request));
}

SchedulableSequence Load::schedulable(const Request &request) const {
  SchedulableSequence result;
  result.arrival = request.id;
  result.isRunning = request.isRunning;
  result.tokens = request.numTokens();
  if (request.isRunning) {
    result.computed = request.computed;
    result.ownBlocks = cache->numOwnBlocks(request.id);
    result.copiesLastBlock = cache->copiesLastBlock(request.id);
    for (size_t w = 0; w < cache->windows().size(); ++w)
      result.windows.push_back({cache->numWindowBlocks(request.id, w),
                                cache->numOwnWindowBlocks(request.id, w), 0});
    return result;
  }
  const auto prefix = cache->lookUp(request.first(request.numTokens() - 1));
  result.computed = prefix.tokens;
  result.startBlocks = prefix.startBlocks;
  for (int64_t blocks : prefix.windowStartBlocks)
    result.windows.push_back({0, 0, blocks});
  return result;
}

void Load::start(Request &request) {
  const SchedulableSequence now = schedulable(request);
  Expected<int64_t> cached =
      cache->createSequence(request.id, request.first(request.numTokens() - 1));
  ASSERT_TRUE(cached) << cached.status().message();
  EXPECT_EQ(*cached, now.computed);
  request.isRunning = true;
  request.computed = *cached;
}

/// As the engine does when a sequence ends, or is preempted.
void Load::stop(Request &request) {
  if (!request.isRunning)
    return;
  EXPECT_TRUE(cache->share(request.id, request.first(request.computed), 0,
                           SharedBlocks::All));
  EXPECT_TRUE(cache->freeSequence(request.id));
  request.isRunning = false;
  request.computed = 0;
}

void Load::advance(Request &request, int64_t count) {
  request.computed += count;
  ASSERT_LE(request.computed, request.numTokens());
  EXPECT_TRUE(cache->share(request.id, request.first(request.computed)));
  cache->releasePassed(request.id);
  if (request.computed < request.numTokens())
    return;
  if (request.numTokens() < request.length) {
    request.tokens.push_back(below(60) == 0);
    return;
  }
  texts.push_back(request.tokens);
  if (texts.size() > 10)
    texts.erase(texts.begin());
  stop(request);
  request.hasEnded = true;
}

void Load::compute(const StepPlan &plan) {
  std::vector<KVReservation> parts;
  std::vector<Request *> computing;
  int64_t tokens = 0;
  for (const ScheduledPart &part : plan.parts) {
    Request &request = *known[static_cast<size_t>(part.sequence)];
    if (!request.isRunning)
      continue;
    parts.push_back({request.id, part.tokens});
    computing.push_back(&request);
    tokens += part.tokens;
  }
  stepsWithoutProgress = parts.empty() ? stepsWithoutProgress + 1 : 0;
  ASSERT_LT(stepsWithoutProgress, 3);
  if (parts.empty())
    return;
  std::vector<int32_t> slots(static_cast<size_t>(tokens * cache->numGroups()));
  const Status reserved = cache->reserve(parts, slots);
  ASSERT_TRUE(reserved) << reserved.message();
  for (size_t i = 0; i < parts.size(); ++i)
    advance(*computing[i], parts[i].numTokens);
}

void Load::step() {
  known.clear();
  for (bool isRunning : {true, false})
    for (const auto &request : requests)
      if (request->isRunning == isRunning)
        known.push_back(request.get());
  std::vector<SchedulableSequence> planned;
  for (const Request *request : known)
    planned.push_back(schedulable(*request));
  SchedulerLimits now = limits;
  for (const WindowBlocks &window : cache->windows())
    now.windows.push_back({window.numAvailable(), mostHeld(window.window())});
  const StepPlan plan = planStep(planned, now, cache->numAvailable());
  ASSERT_TRUE(plan.tooLarge.empty());
  for (int64_t index : plan.preempted)
    stop(*known[static_cast<size_t>(index)]);
  bool isFirst = true;
  for (int64_t index : plan.started) {
    Request &request = *known[static_cast<size_t>(index)];
    const bool can = canStartAsPlanned(planned[static_cast<size_t>(index)],
                                       schedulable(request));
    EXPECT_TRUE(can || !isFirst);
    isFirst = false;
    refused += !can;
    if (can)
      ASSERT_NO_FATAL_FAILURE(start(request));
  }
  ASSERT_NO_FATAL_FAILURE(compute(plan));
}

int64_t Load::serve(int64_t count) {
  EXPECT_TRUE(cache->status()) << cache->status().message();
  for (int64_t steps = 0; ended < count && !testing::Test::HasFailure();
       ++steps) {
    EXPECT_LT(steps, 1000 * count);
    if (requests.empty() || (requests.size() < 6 && below(2) == 0))
      add();
    step();
    const auto end =
        std::remove_if(requests.begin(), requests.end(),
                       [](const auto &request) { return request->hasEnded; });
    ended += requests.end() - end;
    requests.erase(end, requests.end());
  }
  finish();
  return refused;
}

/// Nothing is lost: all blocks can be made free.
void Load::finish() {
  const Status invariants = cache->checkInvariants();
  EXPECT_TRUE(invariants) << invariants.message();
  for (const auto &request : requests)
    stop(*request);
  cache->evict(cache->blocks().numBlocks());
  EXPECT_EQ(cache->statistics().freeBlocks, cache->blocks().numBlocks());
  EXPECT_EQ(cache->statistics().freeWindowBlocks,
            cache->statistics().windowBlocks);
}
} // namespace

TEST(SchedulerCache, PlansSufficeForTheirSteps) {
  int64_t refused = 0;
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    refused += Load(seed).serve(40);
  }
  EXPECT_GT(refused, 0);
}
