// RUN: llmir-serving-tests --gtest_filter='EngineConstraint.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests whose answers are constrained.
//
//===----------------------------------------------------------------------===//

#include "EngineHarness.h"
#include "llmir/Constraint/Sources.h"

using namespace llmir;
using namespace llmir::test;

namespace {

/// Token 10 + i is digit i, token 20 + i letter i; the others have no text.
std::shared_ptr<const Constraint> constrain(const std::string &pattern) {
  std::vector<std::string> texts(50);
  for (size_t i = 0; i < 10; ++i) {
    texts[10 + i] = std::string(1, static_cast<char>('0' + i));
    texts[20 + i] = std::string(1, static_cast<char>('a' + i));
  }
  Grammar grammar;
  auto root = addRegex(grammar, pattern);
  EXPECT_TRUE(root) << root.status().message();
  grammar.define(grammar.root(), *root);
  auto constraint = Constraint::create(
      grammar, std::make_shared<const TokenVocabulary>(std::move(texts)));
  EXPECT_TRUE(constraint) << constraint.status().message();
  return *constraint;
}

Request constrained(const std::string &pattern, int64_t maxTokens = 12) {
  Request request;
  request.prompt = {5, 9, 11};
  request.maxTokens = maxTokens;
  request.constraint = constrain(pattern);
  return request;
}

TEST(EngineConstraint, TokensMatchAndTheTextEnds) {
  auto engine = makeEngine();
  Collector collector;
  for (double temperature : {0.0, 2.0, 50.0}) {
    Request request = constrained("[0-4]{3}[a-c]");
    request.sampling.temperature = temperature;
    request.logprobs = 1;
    const auto result =
        collector.result(*engine->submit(request, collector.callback()));
    ASSERT_EQ(result.tokens.size(), 4u);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(result.tokens[i] >= 10 && result.tokens[i] <= 14);
    EXPECT_TRUE(result.tokens[3] >= 20 && result.tokens[3] <= 22);
    EXPECT_EQ(result.reason, FinishReason::Stop);
    EXPECT_EQ(result.logprobs.size(), 4u);
  }
}

TEST(EngineConstraint, EndTokensOnlyWhereTheTextMayEnd) {
  auto engine = makeEngine();
  Collector collector;
  Request request = constrained("(ab)+", 40);
  request.sampling.temperature = 50;
  request.stopTokens = {3, 4};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    request.sampling.seed = seed;
    const auto result =
        collector.result(*engine->submit(request, collector.callback()));
    const size_t length = result.tokens.size();
    const bool ended = result.reason == FinishReason::Stop;
    for (size_t i = 0; i < length - ended; ++i)
      EXPECT_EQ(result.tokens[i], i % 2 == 0 ? 20 : 21);
    if (ended) {
      EXPECT_EQ(length % 2, 1u);
      EXPECT_TRUE(result.tokens.back() == 3 || result.tokens.back() == 4);
    }
  }
}

TEST(EngineConstraint, CombinesWithOtherLimits) {
  auto engine = makeEngine();
  Collector collector;
  Request request = constrained("[0-9]{4}");
  request.sampling.temperature = 50;
  request.allowedTokens = {12, 13, 25};
  request.badWords = {{12}};
  auto result =
      collector.result(*engine->submit(request, collector.callback()));
  EXPECT_EQ(result.tokens, (Tokens{13, 13, 13, 13}));
  request.allowedTokens = {25};
  result = collector.result(*engine->submit(request, collector.callback()));
  EXPECT_EQ(result.reason, FinishReason::Error);
  EXPECT_EQ(result.failure.code(), StatusCode::InvalidArgument);
}

TEST(EngineConstraint, DoesNotDependOnNeighbors) {
  Request request = constrained("[0-9a-j]{2,9}x?");
  request.sampling.temperature = 3;
  request.count = 3;
  std::vector<Tokens> alone;
  {
    auto engine = makeEngine();
    Collector collector;
    auto id = engine->submit(request, collector.callback());
    for (int64_t i = 0; i < 3; ++i)
      alone.push_back(collector.result(*id, i).tokens);
  }
  auto engine = makeEngine();
  Collector collector;
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) {
    Request other = constrained(i % 2 ? "[a-e]{5}" : "[0-9]+");
    other.prompt = {7, i + 1};
    ASSERT_TRUE(engine->submit(other, collector.callback()));
    ids.push_back(*engine->submit(request, collector.callback()));
  }
  for (RequestId id : ids)
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(collector.result(id, i).tokens, alone[static_cast<size_t>(i)]);
  engine->drain();
}

} // namespace
