// RUN: llmir-support-tests --gtest_filter='Logprobs.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Logprobs.h"
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
const float inf = std::numeric_limits<float>::infinity();

std::vector<float> randomLogits(std::mt19937 &random, size_t count) {
  std::vector<float> logits(count);
  const float spread = 0.1f + static_cast<float>(random() % 10);
  for (float &logit : logits)
    logit = std::normal_distribution<float>(0, spread)(random);
  if (random() % 3 == 0) // Many equals.
    for (float &logit : logits)
      logit = std::round(logit);
  return logits;
}

std::vector<int32_t> idsByRank(const std::vector<float> &logits) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)];
    const float y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  return order;
}
} // namespace

TEST(Logprobs, AgreeWithSumsInFloat64) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t count = trial < 190 ? 1 + random() % 3000 : 150001;
    const std::vector<float> logits = randomLogits(random, count);
    const std::vector<int32_t> order = idsByRank(logits);
    double total = 0;
    for (float logit : logits)
      total += std::exp(double(logit) - double(logits[size_t(order[0])]));
    auto exact = [&](int32_t id) {
      return double(logits[size_t(id)]) - double(logits[size_t(order[0])]) -
             std::log(total);
    };
    auto tolerance = [&](double value) {
      return 1e-6 * std::max(1.0, std::fabs(value));
    };
    const auto token = static_cast<int32_t>(random() % count);
    const auto top = static_cast<int64_t>(random() % (mostTopLogprobs + 1));
    const TokenLogprobs result = computeLogprobs(logits, token, top);
    EXPECT_EQ(result.token, token);
    EXPECT_NEAR(result.logprob, exact(token), tolerance(exact(token)));
    EXPECT_EQ(order[static_cast<size_t>(result.rank - 1)], token);
    ASSERT_EQ(result.top.size(), std::min(count, static_cast<size_t>(top)));
    for (size_t i = 0; i < result.top.size(); ++i) {
      EXPECT_EQ(result.top[i].token, order[i]);
      EXPECT_NEAR(result.top[i].logprob, exact(order[i]),
                  tolerance(exact(order[i])));
    }
  }
}

TEST(Logprobs, OfInfiniteLogits) {
  TokenLogprobs result = computeLogprobs(std::vector<float>{1, -inf, 1}, 1, 3);
  EXPECT_EQ(result.logprob, -inf);
  EXPECT_EQ(result.rank, 3);
  ASSERT_EQ(result.top.size(), 2u); // Those with a probability.
  EXPECT_FLOAT_EQ(result.top[1].logprob, -std::log(2.0f));
  result = computeLogprobs(std::vector<float>{inf, 5, inf}, 2, 2);
  EXPECT_FLOAT_EQ(result.logprob, -std::log(2.0f));
  EXPECT_EQ(result.rank, 2);
  result = computeLogprobs(std::vector<float>{inf, 5, inf}, 1, 0);
  EXPECT_EQ(result.logprob, -inf);
  EXPECT_EQ(result.rank, 3);
  EXPECT_EQ(computeLogprobs(std::vector<float>{7}, 0, 128).logprob, 0.0f);
  EXPECT_EQ(computeLogprobs(std::vector<float>{3e38f, -3e38f}, 1, 0).logprob,
            -inf);
}

/// Against the definition in transformers, in float64.
TEST(Logprobs, TypicalSamplingKeepsWhatIsTypical) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 120; ++trial) {
    std::vector<float> logits = randomLogits(random, 1 + random() % 400);
    SamplingParams params;
    params.temperature = 0.5 + 0.01 * double(random() % 100);
    params.topK = static_cast<int64_t>(random() % 3 * (random() % 40));
    params.typicalP = 0.05 + 0.0009 * double(random() % 1000);
    params.seed = random();
    std::vector<int32_t> kept = idsByRank(logits);
    if (params.topK > 0)
      kept.resize(std::min(kept.size(), static_cast<size_t>(params.topK)));
    std::map<int32_t, double> probability, distance;
    double total = 0, entropy = 0;
    for (int32_t id : kept)
      total += probability[id] = std::exp(
          (double(logits[size_t(id)]) - double(logits[size_t(kept[0])])) /
          params.temperature);
    for (auto &[id, p] : probability) {
      p /= total;
      entropy -= p * std::log(p);
    }
    for (const auto &[id, p] : probability)
      distance[id] = std::fabs(-std::log(p) - entropy);
    std::sort(kept.begin(), kept.end(),
              [&](int32_t a, int32_t b) { return distance[a] < distance[b]; });
    double mass = 0, farthest = 0;
    for (int32_t id : kept) {
      farthest = distance[id];
      mass += probability[id];
      if (mass >= params.typicalP)
        break;
    }
    std::map<int32_t, int> counts;
    Sampler sampler(params);
    const int draws = 300;
    for (int i = 0; i < draws; ++i)
      ++counts[sampler.sample(logits)];
    double keptMass = 0;
    for (int32_t id : kept)
      keptMass += distance[id] <= farthest + 1e-9 ? probability[id] : 0;
    for (const auto &[id, count] : counts) {
      ASSERT_TRUE(probability.count(id)) << "trial " << trial;
      EXPECT_LE(distance[id], farthest + 1e-9) << "trial " << trial;
      const double p = probability[id] / keptMass;
      EXPECT_LE(count, draws * p + 6 * std::sqrt(draws * p) + 5);
    }
  }
}

TEST(Logprobs, TypicalSamplingOfWildLogits) {
  for (const std::vector<float> &logits :
       {std::vector<float>{2, 2, 2}, std::vector<float>{3e38f, -3e38f, -inf},
        std::vector<float>{7}, std::vector<float>{0, -1e-30f, -1e30f},
        std::vector<float>{0, 700, 1400}})
    for (double temperature : {1e-310, 1e-30, 1.0, 1e6})
      for (double mass : {1e-300, 0.5, 1 - 1e-16}) {
        SamplingParams params;
        params.temperature = temperature;
        params.typicalP = mass;
        const int32_t id = Sampler(params).sample(logits);
        ASSERT_GE(id, 0);
        ASSERT_LT(id, static_cast<int32_t>(logits.size()));
        EXPECT_GT(logits[static_cast<size_t>(id)], -inf);
      }
}

TEST(Logprobs, TypicalSamplingMayExcludeTheBest) {
  // Probabilities 0.4 and 60 times 0.01: the entropy is 3.13, the best token
  // has 0.92, the others 4.6 each: they are closer.
  std::vector<float> logits(61, std::log(0.01f));
  logits[60] = std::log(0.4f);
  SamplingParams params;
  params.temperature = 1;
  params.typicalP = 0.4;
  Sampler sampler(params);
  for (int i = 0; i < 100; ++i)
    EXPECT_NE(sampler.sample(logits), 60);
  for (double bad : {0.0, -0.1, 1.1, double(NAN)}) {
    params.typicalP = bad;
    EXPECT_NE(validateSamplingParams(params).message().find("typical-p"),
              std::string::npos);
  }
}
