// RUN: llmir-support-tests --gtest_filter='Sampler.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Sampler.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using namespace llmir;

namespace {
const float nan32 = std::numeric_limits<float>::quiet_NaN();
const float inf = std::numeric_limits<float>::infinity();

SamplingParams params(double temperature, int64_t topK = 0, double topP = 1,
                      double minP = 0, uint64_t seed = 1) {
  SamplingParams result;
  result.temperature = temperature;
  result.topK = topK;
  result.topP = topP;
  result.minP = minP;
  result.seed = seed;
  return result;
}

/// How often each id comes in `draws` draws.
std::map<int32_t, int> histogram(const SamplingParams &p,
                                 const std::vector<float> &logits,
                                 int draws = 20000) {
  Sampler sampler(p);
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i)
    ++counts[sampler.sample(logits)];
  return counts;
}
} // namespace

TEST(Sampler, GreedyTakesTheLowestOfEquals) {
  Sampler greedy(params(0));
  EXPECT_EQ(greedy.sample(std::vector<float>{1, 3, 3, 2}), 1);
  EXPECT_EQ(greedy.sample(std::vector<float>{nan32, -5, nan32, -4}), 3);
  EXPECT_EQ(greedy.sample(std::vector<float>{-inf, -inf}), 0);
  EXPECT_EQ(greedy.sample(std::vector<float>{nan32, nan32}), 0);
  EXPECT_EQ(greedy.sample(std::vector<float>{-inf, 1, inf}), 2);
  EXPECT_EQ(greedy.sample(std::vector<float>{-0.0f, 0.0f}), 0);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  const std::vector<float> logits = {0, 1, 2, nan32, -inf};
  for (double temperature : {0.5, 1.0, 2.0}) {
    std::map<int32_t, int> counts = histogram(params(temperature), logits);
    double total = 0;
    for (int i = 0; i < 3; ++i)
      total += std::exp(i / temperature);
    for (int i = 0; i < 3; ++i) {
      double p = std::exp(i / temperature) / total;
      EXPECT_NEAR(counts[i], 20000 * p, 5 * std::sqrt(20000 * p * (1 - p)));
    }
    EXPECT_EQ(counts.size(), 3u);
  }
}

TEST(Sampler, CutsTheTail) {
  const std::vector<float> logits = {0, 3, 1, 3, 2};
  auto ids = [&](const SamplingParams &p) {
    std::vector<int32_t> result;
    for (const auto &[id, count] : histogram(p, logits, 5000))
      result.push_back(id);
    return result;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(ids(params(1, 1)), Ids({1})); // The lowest of equals.
  EXPECT_EQ(ids(params(1, 2)), Ids({1, 3}));
  EXPECT_EQ(ids(params(1, 3)), Ids({1, 3, 4}));
  EXPECT_EQ(ids(params(1, 100)), Ids({0, 1, 2, 3, 4}));
  // Probabilities 0.40, 0.40, 0.147, 0.054, 0.020.
  EXPECT_EQ(ids(params(1, 0, 0.0)), Ids({1}));
  EXPECT_EQ(ids(params(1, 0, 0.3)), Ids({1}));
  EXPECT_EQ(ids(params(1, 0, 0.7)), Ids({1, 3}));
  EXPECT_EQ(ids(params(1, 0, 0.9)), Ids({1, 3, 4}));
  EXPECT_EQ(ids(params(1, 0, 1, 1.0)), Ids({1, 3}));
  EXPECT_EQ(ids(params(1, 0, 1, 0.3)), Ids({1, 3, 4}));
  EXPECT_EQ(ids(params(1, 0, 1, 0.1)), Ids({1, 2, 3, 4}));
  // Temperature comes first: a hot one flattens what top-p sees.
  EXPECT_EQ(ids(params(100, 0, 0.7)), Ids({1, 2, 3, 4}));
}

TEST(Sampler, ASeedGivesTheSameTokens) {
  std::vector<float> logits(1000);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(i % 17) * 0.25f;
  auto draw = [&](uint64_t seed) {
    Sampler sampler(params(0.9, 50, 0.95, 0.01, seed));
    std::vector<int32_t> ids;
    for (int i = 0; i < 20; ++i)
      ids.push_back(sampler.sample(logits));
    return ids;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Sampler, WildLogitsGiveSomeToken) {
  for (const std::vector<float> &logits :
       {std::vector<float>{inf, inf, 0}, std::vector<float>{nan32, nan32},
        std::vector<float>{-inf, -inf}, std::vector<float>{3e38f, -3e38f},
        std::vector<float>{0}})
    for (double temperature : {1e-30, 1.0, 1e6}) {
      Sampler sampler(params(temperature, 2, 0.5, 0.1));
      int32_t id = sampler.sample(logits);
      EXPECT_GE(id, 0);
      EXPECT_LT(id, static_cast<int32_t>(logits.size()));
    }
  EXPECT_EQ(Sampler(params(1)).sample(std::vector<float>{-inf, nan32, 5}), 2);
}

TEST(Sampler, ParametersAreChecked) {
  EXPECT_TRUE(validateSamplingParams(params(0)));
  EXPECT_TRUE(validateSamplingParams(params(0.7, 20, 0.8, 0.05)));
  for (const SamplingParams &bad :
       {params(-1), params(NAN), params(inf), params(1, -1), params(1, 0, -0.1),
        params(1, 0, 1.1), params(1, 0, NAN), params(1, 0, 1, -0.1),
        params(1, 0, 1, 2), params(1, 0, 1, NAN)})
    EXPECT_EQ(validateSamplingParams(bad).code(), StatusCode::InvalidArgument);
  GenerationDefaults defaults;
  defaults.topK = 20;
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).temperature, 0);
  defaults.doSample = true;
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).temperature, 1);
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).topK, 20);
}
