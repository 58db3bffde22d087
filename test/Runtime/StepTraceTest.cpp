//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: llmir-runtime-tests --gtest_filter=StepTraceTest.*

#include "llmir/Runtime/StepTrace.h"
#include "AllocationCount.h"
#include "llmir/Runtime/StepRuntime.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {

std::unique_ptr<StepTrace> makeTrace(int64_t workers, int64_t events) {
  auto trace = StepTrace::create(workers, events);
  EXPECT_TRUE(bool(trace)) << trace.status().message();
  return trace ? std::move(*trace) : nullptr;
}

std::vector<int32_t> sitesOf(const StepTrace &trace, int64_t worker) {
  std::vector<int32_t> sites;
  for (const TraceEvent &event : trace.events(worker))
    sites.push_back(event.site);
  return sites;
}

constexpr int32_t begins = TraceEvent::stepBegins, ends = TraceEvent::stepEnds;

TEST(StepTraceTest, SizesAreChecked) {
  for (auto [workers, events] : {std::pair<int64_t, int64_t>{0, 8},
                                 {1, 0},
                                 {1, -1},
                                 {-1, 8},
                                 {1, (int64_t(1) << 26) + 1},
                                 {INT64_MAX, 8},
                                 {1, INT64_MAX}})
    EXPECT_EQ(StepTrace::create(workers, events).status().code(),
              StatusCode::InvalidArgument)
        << workers << " " << events;
}

TEST(StepTraceTest, TheOldestStepsAreOverwritten) {
  auto trace = makeTrace(1, 7); // Eight.
  for (int32_t step = 0; step < 4; ++step) {
    TracedStep size;
    size.tokens = step + 1;
    trace->beginStep(size);
    EXPECT_EQ(trace->step(), step);
    trace->record(0, begins, step);
    trace->record(0, 0, 5);
    trace->record(0, ends, step);
  }
  // Twelve events: the last eight begin within the second step.
  EXPECT_EQ(trace->numLost(), 4);
  EXPECT_EQ(sitesOf(*trace, 0),
            (std::vector<int32_t>{begins, 0, ends, begins, 0, ends}));
  ASSERT_NE(trace->findStep(3), nullptr);
  EXPECT_EQ(trace->findStep(3)->tokens, 4);
  EXPECT_EQ(trace->findStep(4), nullptr);
  EXPECT_EQ(trace->findStep(-1), nullptr);
}

/// Like a compiled step: each worker reports its position if tracing is
/// enabled.
void tracedStep(const LLMIRStepContext *ctx, int64_t worker, int64_t) {
  for (int64_t layer = 0; layer < 2; ++layer) {
    if (ctx->trace)
      ctx->runtime->trace(ctx, worker, 0, layer);
    ctx->runtime->barrier(ctx, worker);
    if (ctx->trace)
      ctx->runtime->trace(ctx, worker, 1, layer);
  }
}

TEST(StepTraceTest, EveryWorkerOfARunLeavesItsEvents) {
  auto team = WorkerTeam::create(3);
  ASSERT_TRUE(bool(team));
  StepRuntime runtime(**team, nullptr);
  auto trace = makeTrace(3, 64);
  const int32_t lengths[] = {4, 9};
  LLMIRStepContext context{};
  context.num_tokens = 5;
  context.num_sequences = 2;
  context.num_logit_rows = 1;
  context.seq_lens = lengths;

  ASSERT_TRUE(runtime.run(tracedStep, context)); // Tracing is disabled.
  EXPECT_EQ(context.trace, nullptr);
  EXPECT_TRUE(trace->events(0).empty());

  runtime.setTrace(trace.get());
  int64_t before = test::allocationCount();
  ASSERT_TRUE(runtime.run(tracedStep, context));
  EXPECT_EQ(test::allocationCount(), before);
  for (int64_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(sitesOf(*trace, worker),
              (std::vector<int32_t>{begins, 0, 1, 0, 1, ends}));
    uint64_t last = trace->startTicks();
    for (const TraceEvent &event : trace->events(worker)) {
      EXPECT_GE(event.ticks, last);
      last = event.ticks;
    }
    EXPECT_EQ(trace->events(worker)[3].layer, 1);
  }
  ASSERT_NE(trace->findStep(0), nullptr);
  EXPECT_EQ(trace->findStep(0)->tokens, 5);
  EXPECT_EQ(trace->findStep(0)->sequences, 2);
  EXPECT_EQ(trace->findStep(0)->logitRows, 1);
  EXPECT_EQ(trace->findStep(0)->keys, 13);
  EXPECT_GT(trace->nanosecondsPerTick(), 0);

  runtime.setTrace(nullptr);
  ASSERT_TRUE(runtime.run(tracedStep, context));
  EXPECT_EQ(trace->events(0).size(), 6u);
}

} // namespace
