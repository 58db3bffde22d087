// RUN: llmir-serving-tests --gtest_filter='Generator.*:Conversation.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers of an engine for those who wait, one after the other.
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Generator.h"
#include "EngineHarness.h"

#include <atomic>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {
/// An engine as `llmir run` has it, or as `llmir chat` (keepsPrefixes).
std::unique_ptr<Engine> open(bool keepsPrefixes = false,
                             LLMIRStepFunction step = handwrittenStep,
                             const ArtifactInfo &info = withoutEnds()) {
  ExecutorOptions options;
  options.threads = 2;
  options.sequences = info.stateLayers > 0 ? 2 : 0;
  options.keepsPrefixes = keepsPrefixes;
  auto executor =
      Executor::create(info, step, handwrittenWeightBytes(), options);
  EXPECT_TRUE(executor) << executor.status().message();
  auto engine = Engine::create(executor ? std::move(*executor) : nullptr);
  EXPECT_TRUE(engine) << engine.status().message();
  return engine ? std::move(*engine) : nullptr;
}

Tokens joined(Tokens first, const Tokens &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::atomic<int> stepsBegun{0};

void countedStep(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  if (worker == 0)
    ++stepsBegun;
  handwrittenStep(ctx, worker, workers);
}

/// The same logits as those of the handwritten step, from sums that a layer
/// keeps as its state.
void stepWithStates(const LLMIRStepContext *ctx, int64_t worker,
                    int64_t workers) {
  handwrittenStep(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  if (worker != 0)
    return;
  const ArtifactInfo info = sampleInfo();
  int64_t row = 0;
  for (int64_t s = 0; s < ctx->num_sequences; ++s) {
    auto *sum = reinterpret_cast<int64_t *>(
        ctx->state_pool + ctx->state_slots[s] * ctx->state_slot_stride);
    for (int64_t t = ctx->query_offsets[s]; t < ctx->query_offsets[s + 1];
         ++t) {
      *sum += int64_t(ctx->token_ids[t]) * (ctx->positions[t] + 1);
      if (row == ctx->num_logit_rows || ctx->logit_rows[row] != t)
        continue;
      float *logits = ctx->logits + row++ * info.logitsRowStride;
      std::fill(logits, logits + info.vocabSize, 0.0f);
      logits[*sum * 3 % info.vocabSize] = 1;
    }
  }
}

/// The first two steps compute finite values, later ones NaN.
void stepWithNaN(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  handwrittenStep(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  if (worker == 0 && ++stepsBegun > 2)
    ctx->logits[sampleInfo().vocabSize - 1] = std::nanf("");
}
} // namespace

TEST(Generator, ContinuesGreedily) {
  auto engine = open();
  const Tokens prompt = {5, 9, 11};
  Tokens seen;
  auto result = generate(
      *engine, requestFor(prompt, 8), [&](const RequestUpdate &update) {
        seen.insert(seen.end(), update.tokens.begin(), update.tokens.end());
      });
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, continuation(prompt, 8));
  EXPECT_EQ(seen, result->ids);
  EXPECT_EQ(result->finishReason, FinishReason::Length);
  EXPECT_STREQ(finishReasonName(result->finishReason), "length");
  EXPECT_EQ(result->promptTokens, 3);
  EXPECT_EQ(result->cachedTokens, 0);
  EXPECT_GT(result->prefillMilliseconds, 0);
  EXPECT_GT(result->decodeMilliseconds, 0);
  engine->drain();
  EXPECT_EQ(engine->executor().cache().getNumSequences(), 0);
  EXPECT_EQ(engine->executor().cache().blocks().numUsed(), 0);
}

/// A prompt in steps of the token budget.
TEST(Generator, TakesLongPrompts) {
  stepsBegun = 0;
  auto engine = open(/*keepsPrefixes=*/false, countedStep);
  Tokens prompt;
  for (int32_t i = 0; i < 35; ++i) // Above the token budget of 32.
    prompt.push_back(i * 7 % 50);
  auto result = generate(*engine, requestFor(prompt, 4));
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, continuation(prompt, 4));
  EXPECT_EQ(stepsBegun, 2 + 3);
}

TEST(Generator, ComputesOnlyThePrompt) {
  stepsBegun = 0;
  auto engine = open(/*keepsPrefixes=*/true, countedStep);
  Request request = requestFor(Tokens(33, 4), 0);
  request.promptLogprobs = 1;
  size_t logprobs = 0;
  int updates = 0;
  auto result = generate(*engine, request, [&](const RequestUpdate &update) {
    ++updates;
    logprobs = update.promptLogprobs.size();
  });
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_TRUE(result->ids.empty());
  EXPECT_EQ(result->finishReason, FinishReason::Length);
  EXPECT_EQ(updates, 1);
  EXPECT_EQ(logprobs, 32u);
  EXPECT_GT(result->prefillMilliseconds, 0);
  EXPECT_EQ(engine->statistics().generatedTokens, 0);
  result = generate(*engine, requestFor(Tokens(34, 4), 1));
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->cachedTokens, 33);
}

TEST(Generator, SaysFromWhereLogitsAreNaN) {
  auto engine = open(/*keepsPrefixes=*/false, stepWithNaN);
  Request request = requestFor({5, 9, 11}, 2);
  request.acceptsNaN = true;
  stepsBegun = 0;
  auto result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->firstNaN, std::nullopt);
  request.maxTokens = 5;
  stepsBegun = 0;
  result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->firstNaN, std::optional<int64_t>(2));
  EXPECT_EQ(result->ids.size(), 5u);
  request.maxTokens = 0; // No token is chosen.
  stepsBegun = 2;
  result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->firstNaN, std::nullopt);
  request.maxTokens = 5;
  request.acceptsNaN = false;
  stepsBegun = 0;
  result = generate(*engine, request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().code(), StatusCode::Internal);
}

TEST(Generator, StopsAtAnEndToken) {
  const Tokens prompt = {5, 9, 11}, all = continuation(prompt, 8);
  const auto end = std::find(all.begin(), all.end(), all[3]) + 1;
  ArtifactInfo info = sampleInfo();
  info.eosTokens = {49999, all[3]};
  auto engine = open(/*keepsPrefixes=*/false, handwrittenStep, info);
  Request request = requestFor(prompt, 8);
  auto result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->finishReason, FinishReason::Stop);
  EXPECT_EQ(result->ids, Tokens(all.begin(), end));
  request.ignoreEos = true;
  result = generate(*engine, request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ids, all);
}

TEST(Generator, EndsWithTheContext) {
  auto engine = open();
  Tokens prompt(38, 4);
  auto result = generate(*engine, requestFor(prompt, -1));
  ASSERT_TRUE(result) << result.status().message();
  // Two more fit, and the token after the last one is known as well.
  EXPECT_EQ(result->ids, continuation(prompt, 3));
  EXPECT_EQ(result->finishReason, FinishReason::Length);
  result = generate(*engine, requestFor(Tokens(40, 4), -1));
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids.size(), 1u);
  result = generate(*engine, requestFor(Tokens(41, 4), -1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().code(), StatusCode::ContextLengthExceeded);
  EXPECT_EQ(result.status().message(),
            "the prompt has 41 tokens; the context is 40; shorten the prompt, "
            "or use a larger context");
}

TEST(Generator, MayBeCancelled) {
  auto engine = open();
  Request request = requestFor({5}, -1);
  int asked = 0;
  request.isCancelled = [&] { return ++asked > 3; };
  auto result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->finishReason, FinishReason::Cancelled);
  EXPECT_EQ(result->ids.size(), 3u); // It is asked before each step.
  request.isCancelled = [] { return true; };
  result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->finishReason, FinishReason::Cancelled);
  EXPECT_TRUE(result->ids.empty());
  EXPECT_EQ(result->prefillMilliseconds, 0);
}

TEST(Generator, RefusesBadRequests) {
  auto engine = open();
  auto code = [&](const Request &request) {
    return generate(*engine, request).status().code();
  };
  EXPECT_EQ(code(requestFor({}, 1)), StatusCode::InvalidArgument);
  EXPECT_EQ(code(requestFor({50}, 1)), StatusCode::InvalidArgument);
  EXPECT_EQ(code(requestFor({1}, -2)), StatusCode::InvalidArgument);
  Request request = requestFor({1}, 1);
  request.count = 2;
  EXPECT_EQ(code(request), StatusCode::InvalidArgument);
  request.count = 1;
  request.sampling.topP = 3;
  EXPECT_EQ(code(request), StatusCode::InvalidArgument);
  EXPECT_EQ(code(requestFor({1}, 1)), StatusCode::Ok);
}

TEST(Conversation, ComputesOnlyWhatDiffers) {
  auto engine = open(/*keepsPrefixes=*/true);
  auto answer = [&](const Tokens &prompt) {
    auto result = generate(*engine, requestFor(prompt, 4));
    EXPECT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, continuation(prompt, 4));
    return result->cachedTokens;
  };
  const Tokens first = {5, 9, 11};
  EXPECT_EQ(answer(first), 0);
  // The next turn continues the first one; its last token was not appended.
  const Tokens second = joined(joined(first, continuation(first, 4)), {7});
  EXPECT_EQ(answer(second), 6);
  // The same prompt again: one token is computed, for the logits.
  EXPECT_EQ(answer(second), 7);
  // A difference in the middle, and a shorter prompt.
  EXPECT_EQ(answer({5, 9, 3}), 2);
  // Another salt.
  Request other = requestFor({5, 9, 3}, 4);
  other.salt = 1;
  auto result = generate(*engine, other);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->cachedTokens, 0);
  engine->drain();
  expectAllAvailable(*engine);
}

/// The pool has room for one sequence of the whole context, and for the block
/// from which its start is copied.
TEST(Conversation, HasTheWholeContext) {
  auto engine = open(/*keepsPrefixes=*/true);
  const Tokens full(40, 4), other(40, 5);
  for (const Tokens &prompt : {full, full, other, full}) {
    auto result = generate(*engine, requestFor(prompt, -1));
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, continuation(prompt, 1));
  }
}

TEST(Conversation, CanBeCancelledAndContinued) {
  auto engine = open(/*keepsPrefixes=*/true);
  int steps = 0;
  Request request = requestFor(Tokens(35, 4), 3); // Two steps for the prompt.
  request.isCancelled = [&] { return ++steps > 1; };
  auto cancelled = generate(*engine, request);
  ASSERT_TRUE(cancelled) << cancelled.status().message();
  EXPECT_EQ(cancelled->finishReason, FinishReason::Cancelled);
  EXPECT_TRUE(cancelled->ids.empty());
  request.isCancelled = nullptr;
  auto result = generate(*engine, request);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->cachedTokens, 32);
  EXPECT_EQ(result->ids, continuation(request.prompt, 3));
}

TEST(Conversation, StaysConsistentAfterFailures) {
  auto engine = open(/*keepsPrefixes=*/true, stepWithNaN);
  const Tokens prompt = {5, 9, 11};
  stepsBegun = 0;
  EXPECT_FALSE(generate(*engine, requestFor(prompt, 5)));
  EXPECT_FALSE(generate(*engine, requestFor({5, 9, 1 << 20}, 2)));
  stepsBegun = 0;
  auto result = generate(*engine, requestFor(prompt, 2));
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, continuation(prompt, 2));
  EXPECT_EQ(result->cachedTokens, 2);
}

/// States are kept where a turn ended, so that the next one can only continue
/// there.
TEST(Conversation, ContinuesFromStates) {
  ArtifactInfo info = withoutEnds();
  info.stateLayers = 1;
  info.stateRecordBytes = 64;
  auto engine = open(/*keepsPrefixes=*/true, stepWithStates, info);
  Tokens text = {5, 9, 11};
  for (int64_t turn = 0, known = 0; turn < 5; ++turn) {
    SCOPED_TRACE("turn " + std::to_string(turn));
    auto result = generate(*engine, requestFor(text, 4));
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, continuation(text, 4));
    EXPECT_EQ(result->cachedTokens, known);
    text = joined(text, result->ids);
    known = static_cast<int64_t>(text.size()) - 1;
    text.push_back(static_cast<int32_t>(turn));
  }
  text[9] += 1; // What was said before is changed.
  for (int round = 0; round < 2; ++round) {
    auto result = generate(*engine, requestFor(text, 4));
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, continuation(text, 4));
    EXPECT_EQ(result->cachedTokens, 0);
  }
  engine->drain();
  expectAllAvailable(*engine);
  EXPECT_TRUE(engine->executor().cache().checkInvariants());
}
