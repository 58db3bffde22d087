// RUN: llmir-support-tests --gtest_filter='Sampler.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <random>

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

/// Blocks and lanes that are whole or not, with equals and NaN at any place.
TEST(Sampler, OnePassFindsTheMaximumAndNaN) {
  std::mt19937 random(7);
  for (size_t size : {1, 15, 32, 33, 1024, 1025, 2047, 5000})
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<float> logits(size);
      for (float &logit : logits)
        logit = static_cast<float>(random() % 100) - 120;
      EXPECT_FALSE(scanLogits(logits).hasNaN);
      const auto most = std::max_element(logits.begin(), logits.end());
      EXPECT_EQ(scanLogits(logits).best, most - logits.begin());
      logits[random() % size] = trial % 2 == 0 ? inf : -inf;
      EXPECT_FALSE(scanLogits(logits).hasNaN);
      const size_t at = random() % size;
      logits[at] = nan32;
      EXPECT_TRUE(scanLogits(logits).hasNaN);
      logits[at] = -inf; // NaN and minus infinity never win.
      const int32_t best = scanLogits(logits).best;
      const auto other = std::max_element(logits.begin(), logits.end());
      EXPECT_EQ(best, *other == -inf ? 0 : other - logits.begin());
      logits[at] = nan32;
      EXPECT_EQ(scanLogits(logits).best, best);
    }
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

TEST(Sampler, PenaltiesAndBiasChangeLogits) {
  SamplingParams p;
  p.repetitionPenalty = 2;
  Sampler repetition(p);
  repetition.setPrompt(std::vector<int32_t>{1, 2, 99, -1}); // Ignores two.
  // 4 / 2 = 2, -1 * 2 = -2.
  EXPECT_EQ(repetition.sample(std::vector<float>{1.5f, 4, -1}), 1);
  EXPECT_EQ(repetition.sample(std::vector<float>{2.5f, 4, -1}), 0);
  EXPECT_EQ(repetition.sample(std::vector<float>{-3, -3, -1}), 2);
  // What was generated counts, too: 4 / 2 < 2.5.
  EXPECT_EQ(repetition.sample(std::vector<float>{4, 4, 3, 2.5f}), 3);

  p = {};
  p.presencePenalty = 1;
  Sampler presence(p);
  presence.setPrompt(std::vector<int32_t>{0}); // Does not count.
  const std::vector<float> logits = {2, 1.5f, 1.25f};
  EXPECT_EQ(presence.sample(logits), 0);
  EXPECT_EQ(presence.sample(logits), 1);
  EXPECT_EQ(presence.sample(logits), 2);
  EXPECT_EQ(presence.sample(logits), 0); // Once only.

  p = {};
  p.frequencyPenalty = 0.5;
  Sampler frequency(p);
  std::vector<int32_t> ids;
  for (int i = 0; i < 6; ++i)
    ids.push_back(frequency.sample(logits));
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 0, 1, 2, 0, 1}));

  p = {};
  p.logitBias = {{2, 100.0f}, {1, -100.0f}, {50, 3.0f}, {-1, 3.0f}};
  EXPECT_EQ(Sampler(p).sample(std::vector<float>{5, 50, 4}), 2);
  const std::vector<int32_t> forbidden = {-1, 1, 99};
  const std::vector<uint64_t> allowed = {0b101}, second = {0b10};
  const std::vector<float> middle = {5, 50, 4};
  EXPECT_EQ(Sampler({}).sample(middle, {forbidden, {}}), 0);
  EXPECT_EQ(Sampler({}).sample(middle, {{}, allowed}), 0);
  const std::vector<int32_t> first = {0};
  EXPECT_EQ(Sampler({}).sample(middle, {first, allowed}), 2);
  EXPECT_EQ(Sampler({}).sample(middle, {{}, second}), 1);
  // Beyond the mask, nothing is allowed; bits beyond the logits mean nothing.
  std::vector<float> many(200, 1);
  many[150] = 9;
  many[70] = 5;
  const std::vector<uint64_t> two = {~uint64_t(0), uint64_t(1) << 6},
                              more = {0, 0, ~uint64_t(0), ~uint64_t(0)};
  EXPECT_EQ(Sampler({}).sample(many, {{}, two}), 70);
  EXPECT_EQ(Sampler({}).sample(many, {{}, more}), 150);
}

/// Against sums and sorts of all tokens.
TEST(Sampler, AgreesWithAPlainSampler) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 150; ++trial) {
    std::vector<float> logits(1 + random() % 3000);
    const float spread = 1 + static_cast<float>(random() % 8);
    for (float &logit : logits)
      logit = std::normal_distribution<float>(0, spread)(random);
    if (trial % 3 == 0) // Many equals.
      for (float &logit : logits)
        logit = std::round(logit);
    const auto k = static_cast<int64_t>(random() % 4 * (random() % 60));
    const double topP = random() % 2 ? 1 : 0.3 + 0.001 * double(random() % 700);
    const double minP = random() % 2 ? 0 : 0.001 * double(random() % 300);
    // All that may be chosen.
    std::vector<size_t> order(logits.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    if (k > 0)
      order.resize(std::min(order.size(), static_cast<size_t>(k)));
    auto weight = [&](size_t id) {
      return std::exp(double(logits[id]) - double(logits[order[0]]));
    };
    double total = 0, sum = 0, kept = 0;
    for (size_t id : order)
      total += weight(id);
    std::map<int32_t, double> expected;
    for (size_t id : order) {
      if (weight(id) >= minP)
        kept += expected[static_cast<int32_t>(id)] = weight(id);
      sum += weight(id);
      if (sum >= topP * total * (1 + 1e-6))
        break;
    }
    Sampler sampler(params(1, k, topP, minP, random()));
    std::map<int32_t, int> counts;
    const int draws = 60;
    double agreement = 0;
    for (int i = 0; i < draws; ++i)
      ++counts[sampler.sample(logits)];
    for (const auto &[id, count] : counts) {
      ASSERT_TRUE(expected.count(id)) << "trial " << trial << ", id " << id;
      const double p = expected[id] / kept;
      EXPECT_LE(count, draws * p + 6 * std::sqrt(draws * p) + 5);
      agreement += p;
    }
    EXPECT_GT(agreement, 0);
  }
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
  defaults.repetitionPenalty = 1.25;
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).temperature, 0);
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).repetitionPenalty, 1.25);
  defaults.doSample = true;
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).temperature, 1);
  EXPECT_EQ(SamplingParams::fromDefaults(defaults).topK, 20);
}
