// RUN: llmir-serving-tests --gtest_filter='Generator.*:CachedSequence.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Serving/Generator.h"
#include "Artifact/Handmade.h"
#include "Runtime/HandwrittenStep.h"

#include <atomic>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {
std::unique_ptr<Executor> executor(ArtifactInfo info = sampleInfo()) {
  ExecutorOptions options;
  options.threads = 2;
  Expected<std::unique_ptr<Executor>> made = Executor::create(
      info, handwrittenStep, handwrittenWeightBytes(), options);
  EXPECT_TRUE(made) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

/// What greedy decoding must give, by the meaning of the step.
std::vector<int32_t> continuation(std::vector<int32_t> tokens, size_t count) {
  std::vector<int32_t> result;
  for (size_t i = 0; i < count; ++i) {
    result.push_back(expectedToken(tokens, tokens.size()));
    tokens.push_back(result.back());
  }
  return result;
}

ArtifactInfo withEnds(std::vector<int64_t> ends) {
  ArtifactInfo info = sampleInfo();
  info.eosTokens = std::move(ends);
  return info;
}
} // namespace

TEST(Generator, ContinuesGreedily) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  const std::vector<int32_t> prompt = {5, 9, 11};
  std::vector<int32_t> seen;
  GenerateOptions options;
  options.maxTokens = 8;
  options.onToken = [&](int32_t token) {
    seen.push_back(token);
    return true;
  };
  Expected<GenerateResult> result = generate(*e, prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, continuation(prompt, 8));
  EXPECT_EQ(seen, result->ids);
  EXPECT_EQ(result->finishReason, FinishReason::Length);
  EXPECT_STREQ(finishReasonName(result->finishReason), "length");
  EXPECT_EQ(result->promptTokens, 3);
  EXPECT_GE(result->prefillMilliseconds, 0);
  EXPECT_EQ(e->cache().getNumSequences(), 0);
  EXPECT_EQ(e->cache().blocks().numUsed(), 0);
}

/// The first two steps compute finite values, later ones NaN.
static std::atomic<int> stepsBegun{0};
static void stepWithNaN(const LLMIRStepContext *ctx, int64_t worker,
                        int64_t workers) {
  handwrittenStep(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  if (worker == 0 && ++stepsBegun > 2)
    ctx->logits[sampleInfo().vocabSize - 1] = std::nanf("");
}

TEST(Generator, SaysFromWhereLogitsAreNaN) {
  EXPECT_FALSE(hasNaN(std::vector<float>{0, 1, -INFINITY, INFINITY}));
  EXPECT_TRUE(hasNaN(std::vector<float>{0, 1, std::nanf("")}));
  ExecutorOptions settings;
  settings.threads = 2;
  stepsBegun = 0;
  auto made = Executor::create(withEnds({}), stepWithNaN,
                               handwrittenWeightBytes(), settings);
  ASSERT_TRUE(made) << made.status().message();
  GenerateOptions options;
  options.maxTokens = 2;
  const std::vector<int32_t> prompt = {5, 9, 11};
  Expected<GenerateResult> result = generate(**made, prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->firstNaN, std::nullopt);
  stepsBegun = 0;
  options.maxTokens = 5;
  result = generate(**made, prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->firstNaN, std::optional<int64_t>(2));
  EXPECT_EQ(result->ids.size(), 5u);
}

TEST(Generator, StopsAtAnEndToken) {
  const std::vector<int32_t> prompt = {5, 9, 11};
  const std::vector<int32_t> all = continuation(prompt, 8);
  size_t at = 3;
  while (std::find(all.begin(), all.begin() + static_cast<ptrdiff_t>(at),
                   all[at]) != all.begin() + static_cast<ptrdiff_t>(at))
    ++at;
  std::unique_ptr<Executor> e = executor(withEnds({49999, all[at]}));
  GenerateOptions options;
  options.maxTokens = 8;
  Expected<GenerateResult> result = generate(*e, prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->finishReason, FinishReason::Stop);
  EXPECT_EQ(result->ids,
            std::vector<int32_t>(all.begin(),
                                 all.begin() + static_cast<ptrdiff_t>(at) + 1));
  options.ignoreEos = true;
  result = generate(*e, prompt, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ids, all);
}

TEST(Generator, TheWayOfPrefillDoesNotMatter) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  std::vector<int32_t> prompt;
  for (int32_t i = 0; i < 35; ++i) // Above the token budget of 32.
    prompt.push_back(i * 7 % 50);
  for (int64_t chunk : {0, 1, 2, 5, 31, 32}) {
    GenerateOptions options;
    options.maxTokens = 4;
    options.prefillChunk = chunk;
    Expected<GenerateResult> result = generate(*e, prompt, options);
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, continuation(prompt, 4)) << chunk;
  }
}

TEST(Generator, EndsWithTheContext) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  std::vector<int32_t> prompt(38, 4);
  Expected<GenerateResult> result = generate(*e, prompt);
  ASSERT_TRUE(result) << result.status().message();
  // Two more fit, and the token after the last one is known as well.
  EXPECT_EQ(result->ids, continuation(prompt, 3));
  EXPECT_EQ(result->finishReason, FinishReason::Length);
  prompt.assign(40, 4);
  result = generate(*e, prompt);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids.size(), 1u);
  prompt.assign(41, 4);
  result = generate(*e, prompt);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().code(), StatusCode::ContextLengthExceeded);
  EXPECT_EQ(result.status().cause(),
            "the prompt has 41 tokens; the context is 40");
}

TEST(Generator, MayBeCancelled) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  GenerateOptions options;
  int calls = 0;
  options.onToken = [&](int32_t) { return ++calls < 3; };
  Expected<GenerateResult> result =
      generate(*e, std::vector<int32_t>{5}, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->finishReason, FinishReason::Cancelled);
  EXPECT_EQ(result->ids.size(), 3u);
  EXPECT_EQ(e->cache().getNumSequences(), 0);
}

TEST(Generator, RefusesBadRequests) {
  std::unique_ptr<Executor> e = executor();
  auto code = [&](const std::vector<int32_t> &prompt,
                  const GenerateOptions &options) {
    StatusCode result = generate(*e, prompt, options).status().code();
    EXPECT_EQ(e->cache().getNumSequences(), 0);
    EXPECT_EQ(e->cache().blocks().numUsed(), 0);
    return result;
  };
  GenerateOptions options;
  EXPECT_EQ(code({}, options), StatusCode::InvalidArgument);
  EXPECT_EQ(code({50}, options), StatusCode::OutOfRange);
  options.maxTokens = -2;
  EXPECT_EQ(code({1}, options), StatusCode::InvalidArgument);
  options = {};
  options.prefillChunk = 33;
  EXPECT_EQ(code({1}, options), StatusCode::InvalidArgument);
  options = {};
  options.sampling.topP = 3;
  EXPECT_EQ(code({1}, options), StatusCode::InvalidArgument);
  options = {};
  options.maxTokens = 0;
  EXPECT_EQ(code({1}, options), StatusCode::Ok);
}

TEST(CachedSequence, ComputesOnlyWhatDiffers) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  CachedSequence sequence(*e);
  GenerateOptions options;
  options.maxTokens = 4;
  std::vector<int32_t> prompt = {5, 9, 11};
  Expected<GenerateResult> first = sequence.generate(prompt, options);
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_EQ(first->cachedTokens, 0);
  EXPECT_EQ(first->ids, continuation(prompt, 4));

  // The next turn continues the first one; its last token was not appended.
  prompt.insert(prompt.end(), first->ids.begin(), first->ids.end());
  prompt.push_back(7);
  Expected<GenerateResult> second = sequence.generate(prompt, options);
  ASSERT_TRUE(second) << second.status().message();
  EXPECT_EQ(second->cachedTokens, 6);
  EXPECT_EQ(second->ids, continuation(prompt, 4));

  // The same prompt again: one token is computed, for the logits.
  Expected<GenerateResult> again = sequence.generate(prompt, options);
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(again->cachedTokens, 7);
  EXPECT_EQ(again->ids, second->ids);

  // A difference in the middle, and a shorter prompt.
  const std::vector<int32_t> other = {5, 9, 3};
  Expected<GenerateResult> third = sequence.generate(other, options);
  ASSERT_TRUE(third) << third.status().message();
  EXPECT_EQ(third->cachedTokens, 2);
  EXPECT_EQ(third->ids, continuation(other, 4));
}

TEST(CachedSequence, CanBeCancelledAndContinued) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  CachedSequence sequence(*e);
  GenerateOptions options;
  options.maxTokens = 8;
  options.prefillChunk = 1;
  int steps = 0;
  options.isCancelled = [&] { return ++steps > 2; };
  const std::vector<int32_t> prompt = {5, 9, 11};
  Expected<GenerateResult> cancelled = sequence.generate(prompt, options);
  ASSERT_TRUE(cancelled) << cancelled.status().message();
  EXPECT_EQ(cancelled->finishReason, FinishReason::Cancelled);
  EXPECT_TRUE(cancelled->ids.empty());
  EXPECT_EQ(sequence.ids().size(), 2u);

  options.isCancelled = nullptr;
  Expected<GenerateResult> result = sequence.generate(prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->cachedTokens, 2);
  EXPECT_EQ(result->ids, continuation(prompt, 8));
}

TEST(CachedSequence, StaysConsistentAfterFailures) {
  std::unique_ptr<Executor> e = executor(withEnds({}));
  CachedSequence sequence(*e);
  GenerateOptions options;
  options.maxTokens = 2;
  const std::vector<int32_t> prompt = {5, 9, 11};
  ASSERT_TRUE(sequence.generate(prompt, options));
  const std::vector<int32_t> wrong = {5, 9, 1 << 20};
  EXPECT_FALSE(sequence.generate(wrong, options));
  Expected<GenerateResult> result = sequence.generate(prompt, options);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->ids, continuation(prompt, 2));
  EXPECT_EQ(e->cache().getNumSequences(), 1);
}
