// RUN: llmir-serving-tests --gtest_filter='EngineDecoding.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an engine reports beside tokens, and which tokens it may choose.
//
//===----------------------------------------------------------------------===//

#include "EngineHarness.h"

#include <cmath>
#include <random>

using namespace llmir;
using namespace llmir::test;

namespace {
/// The handwritten step, with logits that differ from token to token.
void coloredStep(const LLMIRStepContext *ctx, int64_t worker, int64_t workers) {
  handwrittenStep(ctx, worker, workers);
  ctx->runtime->barrier(ctx, worker);
  const ArtifactInfo info = sampleInfo();
  if (worker != 0)
    return;
  for (int64_t r = 0; r < ctx->num_logit_rows; ++r) {
    float *row = ctx->logits + r * info.logitsRowStride;
    const int64_t best = std::max_element(row, row + info.vocabSize) - row;
    for (int64_t v = 0; v < info.vocabSize; ++v)
      row[v] += static_cast<float>((best * 7 + v * 13) % 50) / 64;
  }
}

/// As above, of the token after `tokens`.
std::vector<float> expectedLogits(const Tokens &tokens) {
  const int64_t best = expectedToken(tokens, tokens.size());
  std::vector<float> row(static_cast<size_t>(sampleInfo().vocabSize));
  for (size_t v = 0; v < row.size(); ++v) {
    row[v] = static_cast<int64_t>(v) == best ? 1.0f : 0.0f;
    row[v] +=
        static_cast<float>((best * 7 + static_cast<int64_t>(v) * 13) % 50) / 64;
  }
  return row;
}

void expectLogprobs(const Request &request, const Collector::Result &result,
                    bool hasPrompt) {
  Tokens tokens = request.prompt;
  ASSERT_EQ(result.logprobs.size(),
            request.logprobs ? result.tokens.size() : 0u);
  for (size_t i = 0; i < result.tokens.size(); ++i) {
    if (request.logprobs)
      EXPECT_EQ(result.logprobs[i],
                computeLogprobs(expectedLogits(tokens), result.tokens[i],
                                *request.logprobs));
    tokens.push_back(result.tokens[i]);
  }
  hasPrompt &= request.promptLogprobs.has_value();
  ASSERT_EQ(result.promptLogprobs.size(),
            hasPrompt ? request.prompt.size() - 1 : 0u);
  tokens.clear();
  for (size_t i = 0; i < result.promptLogprobs.size(); ++i) {
    tokens.push_back(request.prompt[i]);
    EXPECT_EQ(result.promptLogprobs[i],
              computeLogprobs(expectedLogits(tokens), request.prompt[i + 1],
                              *request.promptLogprobs));
  }
}

std::unique_ptr<Engine> makeColored(int64_t kvBlocks,
                                    const EngineOptions &options = {}) {
  return makeEngine(kvBlocks, options, withoutEnds(), coloredStep);
}
} // namespace

TEST(EngineDecoding, ReportsLogprobsOfOneRequest) {
  auto engine = makeColored(40);
  Collector collector;
  Request request = requestFor({5, 9, 11, 3}, 8);
  request.logprobs = 3;
  request.promptLogprobs = 0;
  auto id = engine->submit(request, collector.callback());
  ASSERT_TRUE(id) << id.status().message();
  expectLogprobs(request, collector.result(*id), /*hasPrompt=*/true);
  request.prompt = {5}; // Its only token follows nothing.
  request.logprobs = mostTopLogprobs;
  id = engine->submit(request, collector.callback());
  expectLogprobs(request, collector.result(*id), /*hasPrompt=*/true);
  EXPECT_EQ(collector.result(*id).logprobs[0].top.size(), 50u); // All tokens.
}

/// Whatever the model computes beside them, and though requests are preempted
/// and find prefixes.
TEST(EngineDecoding, ReportsTheSameLogprobsInAnyCompany) {
  for (double slowdown : {0.0, 1.0}) {
    EngineOptions options;
    options.mostSlowdown = slowdown;
    auto engine = makeColored(/*kvBlocks=*/11, options);
    Collector collector;
    std::mt19937 random(4);
    std::vector<std::pair<RequestId, Request>> sent;
    for (int i = 0; i < 150; ++i) {
      Tokens prompt(random() % 3 * 4, 9);
      for (size_t more = 1 + random() % 16; more > 0; --more)
        prompt.push_back(static_cast<int32_t>(random() % 50));
      Request request = requestFor(prompt, 1 + random() % 12);
      request.priority = static_cast<int64_t>(random() % 3);
      request.sampling.temperature = i % 2 ? 0 : 1.5;
      request.sampling.seed = static_cast<uint64_t>(i);
      request.count = i % 9 == 0 ? 3 : 1;
      if (i % 3 != 0)
        request.logprobs = static_cast<int64_t>(random() % 6);
      if (i % 4 != 0)
        request.promptLogprobs = static_cast<int64_t>(random() % 3);
      auto id = engine->submit(request, collector.callback());
      ASSERT_TRUE(id) << id.status().message();
      sent.push_back({*id, request});
    }
    for (const auto &[id, request] : sent)
      for (int64_t index = 0; index < request.count; ++index) {
        EXPECT_EQ(collector.result(id, index).reason, FinishReason::Length);
        expectLogprobs(request, collector.result(id, index), index == 0);
      }
    engine->drain();
    expectAllAvailable(*engine);
    EXPECT_GT(engine->statistics().preemptions, 0);
    EXPECT_GT(engine->statistics().cache.foundTokens, 0);
  }
}

TEST(EngineDecoding, ComputesPromptsWhoseLogprobsAreWanted) {
  auto engine = makeColored(40);
  Collector collector;
  Request request = requestFor(Tokens(30, 6), 2);
  ASSERT_TRUE(
      collector.result(*engine->submit(request, collector.callback())).reason);
  auto plain = engine->submit(request, collector.callback());
  EXPECT_GT(collector.result(*plain).cachedTokens, 0);
  request.promptLogprobs = 1;
  auto id = engine->submit(request, collector.callback());
  EXPECT_EQ(collector.result(*id).cachedTokens, 0);
  expectLogprobs(request, collector.result(*id), /*hasPrompt=*/true);
  engine->drain(); // Results are reported before their step is counted.
  // 30 tokens, with 8 rows of logits in a step, and one step for the second.
  EXPECT_EQ(engine->statistics().steps, 2 + 2 + 4 + 1);
}

TEST(EngineDecoding, ChoosesAllowedTokensOnly) {
  auto engine = makeColored(40);
  Collector collector;
  Request request = requestFor({5, 9, 11}, 12);
  request.allowedTokens = {7, 3, 42, 3};
  request.logprobs = 1;
  for (double temperature : {0.0, 5.0}) {
    request.sampling.temperature = temperature;
    auto id = engine->submit(request, collector.callback());
    const auto result = collector.result(*id);
    EXPECT_EQ(result.tokens.size(), 12u);
    for (int32_t token : result.tokens)
      EXPECT_TRUE(token == 3 || token == 7 || token == 42) << token;
    expectLogprobs(request, result, /*hasPrompt=*/false); // Of all tokens.
  }
}

TEST(EngineDecoding, CompletesNoBadWord) {
  const Tokens prompt = {5, 9, 11}, plain = continuation(prompt, 12);
  auto engine = makeEngine();
  Collector collector;
  auto tokensOf = [&](const std::vector<Tokens> &words, double temperature) {
    Request request = requestFor(prompt, 12);
    request.badWords = words;
    request.sampling.temperature = temperature;
    return collector.result(*engine->submit(request, collector.callback()))
        .tokens;
  };
  // Of two tokens, the second is not chosen after the first.
  const Tokens words = tokensOf({{plain[3], plain[4]}}, 0);
  EXPECT_TRUE(std::equal(plain.begin(), plain.begin() + 4, words.begin()));
  EXPECT_NE(words[4], plain[4]);
  EXPECT_NE(tokensOf({{plain[0]}}, 0)[0], plain[0]);
  // Tokens of the prompt do not count, nor do words longer than the text.
  EXPECT_EQ(tokensOf({{11, plain[0]}, {9, 11, plain[0]}}, 0), plain);
  EXPECT_EQ(tokensOf({{plain[3], plain[4], plain[4]}}, 0), plain);
  std::vector<Tokens> most;
  for (int32_t token = 0; token < 50; ++token)
    if (token % 10)
      most.push_back({token});
  for (int32_t token : tokensOf(most, 3.0))
    EXPECT_EQ(token % 10, 0);
}

TEST(EngineDecoding, EndsWhereNoTokenIsAllowed) {
  auto engine = makeEngine();
  Collector collector;
  Request request = requestFor({5, 9, 11}, 12);
  request.allowedTokens = {4, 8};
  request.badWords = {{4, 4}, {4, 8}, {8}};
  request.count = 2;
  request.sampling.temperature = 1;
  auto id = engine->submit(request, collector.callback());
  for (int64_t index = 0; index < 2; ++index) {
    const auto result = collector.result(*id, index);
    EXPECT_EQ(result.tokens, Tokens{4});
    EXPECT_EQ(result.reason, FinishReason::Error);
    EXPECT_EQ(result.failure.code(), StatusCode::InvalidArgument);
    EXPECT_NE(result.failure.cause().find("no token may follow token 4"),
              std::string::npos)
        << result.failure.message();
  }
  request.badWords = {};
  request.stopTokens = {4, 8};
  request.minTokens = 2;
  id = engine->submit(request, collector.callback());
  EXPECT_EQ(collector.result(*id).reason, FinishReason::Error);
  engine->drain();
  expectAllAvailable(*engine);
}

TEST(EngineDecoding, RefusesWhatItCannotReport) {
  auto engine = makeEngine();
  auto refuses = [&](const Request &request, const char *words) {
    auto id = engine->submit(request, [](const RequestUpdate &) {});
    EXPECT_EQ(id.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(id.status().message().find(words), std::string::npos)
        << id.status().message();
  };
  const Request valid = requestFor({1}, 3);
  Request request = valid;
  request.logprobs = 129;
  refuses(request, "logprobs is 129; give a number from 0 to 128");
  request.logprobs = -1;
  refuses(request, "logprobs is -1");
  request = valid;
  request.promptLogprobs = 129;
  refuses(request, "promptLogprobs is 129; give a number from 0 to 128");
  request = valid;
  request.allowedTokens = {3, 50};
  refuses(request, "allowed token 50 is not in the vocabulary of 50");
  request = valid;
  request.badWords = {{1}, {}};
  refuses(request, "a bad word has no tokens");
  request.badWords = {{1, -1}};
  refuses(request, "token of a bad word -1");
  request = valid;
  request.sampling.typicalP = 0;
  refuses(request, "typical-p is 0");
}
