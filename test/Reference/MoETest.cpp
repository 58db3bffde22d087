// RUN: llmir-reference-tests --gtest_filter='ReferenceMoE.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/MoE.h"
#include "llmir/Reference/NN.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

TEST(ReferenceMoE, RouteOrdersAndWeighs) {
  const Tensor logits =
      f32({2, 4}, {0, std::log(3.0), std::log(4.0), 0, 1, NAN, 1, 1});
  const Routing two =
      moeRoute(logits.slice(0, 0, 1), 2, RouteScore::Softmax, true);
  EXPECT_EQ(two.experts.toDoubles(), std::vector<double>({2, 1}));
  EXPECT_NEAR(two.weights[0], 4.0 / 7, 1e-12);
  EXPECT_NEAR(two.weights[1], 3.0 / 7, 1e-12);
  const Routing raw =
      moeRoute(logits.slice(0, 0, 1), 4, RouteScore::Softmax, false);
  EXPECT_EQ(raw.experts.toDoubles(),
            std::vector<double>({2, 1, 0, 3})); // Ties.
  EXPECT_NEAR(raw.weights[0], 4.0 / 9, 1e-12);
  const Routing sigmoid = moeRoute(logits, 4, RouteScore::Sigmoid, false);
  EXPECT_NEAR(sigmoid.weights[0], 0.8, 1e-12);
  EXPECT_NEAR(sigmoid.weights[3], 0.5, 1e-12);
  // NaN comes last.
  EXPECT_EQ(sigmoid.experts.slice(0, 1, 1).toDoubles(),
            std::vector<double>({0, 2, 3, 1}));
}

TEST(ReferenceMoE, FFNSumsTheTokensExperts) {
  // One number everywhere: expert e computes d·silu(g·x)·u·x.
  const Tensor gate = f32({2, 1, 1}, {1, 2}), up = f32({2, 1, 1}, {3, 5});
  const Tensor down = f32({2, 1, 1}, {7, 11});
  const Tensor x = f32({2, 1}, {1, 2});
  const Tensor experts(ElementKind::I32, {2, 2}, {1, 0, 0, 0});
  const Tensor weights = f32({2, 2}, {0.25, 0.75, 1, 0.5});
  const Tensor y = moeFFN(x, experts, weights, {gate, up, down});
  auto expert = [&](int64_t e, double value) {
    return down[e] * silu(gate[e] * value) * up[e] * value;
  };
  EXPECT_NEAR(y[0], 0.75 * expert(0, 1) + 0.25 * expert(1, 1), 1e-12);
  EXPECT_NEAR(y[1], 1.5 * expert(0, 2), 1e-12);
}

TEST(ReferenceMoE, SampleIsTheSamplersFirstDraw) {
  Tensor logits(ElementKind::F32, {6, 9});
  for (int64_t i = 0; i < logits.size(); ++i)
    logits[i] = double(float(std::sin(double(i))));
  SamplingParams params;
  EXPECT_EQ(sample(logits.slice(0, 0, 1), params)[0],
            scanLogits(std::vector<float>(logits.row(0), logits.row(1))).best);
  params.temperature = 1.5;
  params.topK = 7;
  params.seed = 40;
  const Tensor drawn = sample(logits, params);
  for (int64_t r = 0; r < 6; ++r) {
    SamplingParams ofRow = params;
    ofRow.seed = uint64_t(40 + r);
    EXPECT_EQ(drawn[r], Sampler(ofRow).sample(std::vector<float>(
                            logits.row(r), logits.row(r) + 9)));
  }
}
