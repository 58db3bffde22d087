// RUN: llmir-serving-tests --gtest_filter='EngineMemory.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exceptions in the engine's thread: every allocation fails once, and callbacks
// throw. Each continuation still ends, once, and the engine goes on.
//
//===----------------------------------------------------------------------===//

#include "EngineHarness.h"
#include "FailingAllocation.h"

#include <array>
#include <atomic>
#include <thread>

using namespace llmir;
using namespace llmir::test;

namespace {

/// Allocations of the handwritten step do not fail: the generated code that it
/// replaces makes none.
void sparedStep(const LLMIRStepContext *context, int64_t worker,
                int64_t workers) {
  const SparedAllocations spared;
  handwrittenStep(context, worker, workers);
}

/// How the continuations of a request ended. Allocates nothing.
class Ends {
public:
  RequestCallback callback() {
    return [this](const RequestUpdate &update) {
      if (!update.finishReason)
        return;
      if (*update.finishReason == FinishReason::Error) {
        EXPECT_EQ(update.failure.code(), StatusCode::ResourceExhausted);
        hadMemory = false;
      } else {
        EXPECT_EQ(*update.finishReason, FinishReason::Length);
      }
      ++ends[static_cast<size_t>(update.index)];
      ++total;
    };
  }
  /// Waits for as many ends.
  void wait(int64_t count) const {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (total < count && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    EXPECT_EQ(total, count);
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(ends[static_cast<size_t>(i)], 1);
  }
  std::atomic<bool> hadMemory{true};

private:
  std::array<std::atomic<int64_t>, 8> ends{};
  std::atomic<int64_t> total{0};
};

/// As of the last step, which follows the last report.
void waitUntilIdle(const Engine &engine) {
  for (int i = 0; i < 30000; ++i) {
    const EngineStatistics counts = engine.statistics();
    if (counts.waiting + counts.running + counts.cache.sequences == 0)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  expectAllAvailable(engine);
}

void expectGoodAnswer(Engine &engine) {
  Collector collector;
  const Tokens prompt = {7, 8, 9};
  auto id = engine.submit(requestFor(prompt, 4), collector.callback());
  ASSERT_TRUE(id) << id.status().message();
  EXPECT_EQ(collector.result(*id).tokens, continuation(prompt, 4));
}

} // namespace

TEST(EngineMemory, EveryAllocationMayFail) {
  EngineOptions options;
  options.onStep = [](const StepRecord &) { (void)std::vector<int>(10); };
  auto engine = makeEngine(/*kvBlocks=*/40, options, withoutEnds(), sparedStep);
  int64_t number = 1, failed = 0;
  for (bool hasFailed = true; hasFailed; ++number) {
    Ends several, one;
    const FailingAllocation failing(number);
    Request request = requestFor({1, 2, 3, 4, 5, 6}, 5);
    request.count = 3;
    request.logprobs = 2;
    request.badWords = {{1, 2}};
    ASSERT_TRUE(engine->submit(request, several.callback()));
    request = requestFor({4, 3, 2, 1, 5}, 3);
    request.promptLogprobs = 1;
    ASSERT_TRUE(engine->submit(request, one.callback()));
    several.wait(3);
    one.wait(1);
    hasFailed = failing.hasFailed();
    failed += !several.hadMemory || !one.hadMemory;
    waitUntilIdle(*engine);
  }
  expectGoodAnswer(*engine);
  EXPECT_GT(number, 50);
  EXPECT_GT(failed, number / 2);
}

TEST(EngineMemory, CallbacksMayThrow) {
  auto engine = makeEngine();
  std::vector<FinishReason> reasons;
  int64_t updates = 0;
  std::atomic<bool> hasEnded{false};
  auto throwing =
      engine->submit(requestFor({1, 2}, 10), [&](const RequestUpdate &update) {
        if (update.finishReason) {
          reasons.push_back(*update.finishReason);
          EXPECT_EQ(update.failure.cause(), "no");
          hasEnded = true;
        } else if (++updates == 3) {
          throw std::runtime_error("no");
        }
      });
  ASSERT_TRUE(throwing);
  // One that throws whatever it is told.
  ASSERT_TRUE(engine->submit(requestFor({3, 4}, 4),
                             [](const RequestUpdate &) { throw 1; }));
  expectGoodAnswer(*engine);
  engine->drain();
  EXPECT_TRUE(hasEnded);
  EXPECT_EQ(updates, 3);
  EXPECT_EQ(reasons, std::vector<FinishReason>{FinishReason::Error});
  expectAllAvailable(*engine);
}
