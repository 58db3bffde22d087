// RUN: llmir-reference-tests --gtest_filter='ReferenceNN.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/NN.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

static void expectNear(const Tensor &actual,
                       const std::vector<double> &expected) {
  ASSERT_EQ(actual.toDoubles().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual.toDoubles()[i], expected[i], 1e-12) << "at " << i;
}

TEST(ReferenceNN, EmbeddingAndSelectRowsChooseRows) {
  const Tensor table = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor ids(ElementKind::I32, {4}, {2, 0, 0, 1});
  const Tensor rows = embedding(ids, table);
  EXPECT_EQ(rows.shape, Shape({4, 2}));
  EXPECT_EQ(rows.toDoubles(), std::vector<double>({5, 6, 1, 2, 1, 2, 3, 4}));
  const Tensor cubes = selectRows(f32({2, 1, 2}, {1, 2, 3, 4}),
                                  Tensor(ElementKind::I32, {1}, {1}));
  EXPECT_EQ(cubes.shape, Shape({1, 1, 2}));
  EXPECT_EQ(cubes.toDoubles(), std::vector<double>({3, 4}));
}

TEST(ReferenceNN, LinearMultipliesByTheTransposedWeight) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  const Tensor w = f32({3, 2}, {1, 0, 0, 1, 10, 100});
  const Tensor b = f32({3}, {0.5, 0, -1});
  EXPECT_EQ(linear(x, w).toDoubles(),
            std::vector<double>({1, 2, 210, 3, 4, 430}));
  EXPECT_EQ(linear(x, w, &b).toDoubles(),
            std::vector<double>({1.5, 2, 209, 3.5, 4, 429}));
  EXPECT_EQ(linear(f32({0, 2}, {}), w).shape, Shape({0, 3}));
}

TEST(ReferenceNN, MatmulBroadcastsAndTransposes) {
  const Tensor a = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = f32({3, 2}, {1, 10, 2, 20, 3, 30});
  auto c = matmul(a, b, {});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->shape, Shape({2, 1, 2}));
  EXPECT_EQ(c->toDoubles(), std::vector<double>({14, 140, 32, 320}));
  c = matmul(f32({3, 1}, {1, 2, 3}), f32({2, 3}, {1, 2, 3, 10, 20, 30}),
             {true, true});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->toDoubles(), std::vector<double>({14, 140}));
  c = matmul(f32({2, 0}, {}), f32({0, 2}, {}), {}); // Sums of nothing.
  ASSERT_TRUE(c);
  EXPECT_EQ(c->toDoubles(), std::vector<double>({0, 0, 0, 0}));
  EXPECT_FALSE(matmul(a, a, {}));
  EXPECT_FALSE(matmul(a, f32({3, 3, 1}, std::vector<double>(9)), {}));
}

TEST(ReferenceNN, RmsNorm) {
  // mean(9, 16) = 12.5; with eps 3.5 the root is 4.
  const Tensor x = f32({1, 2}, {3, 4});
  const Tensor w = f32({2}, {2, -1});
  expectNear(rmsNorm(x, &w, 3.5), {1.5, -1});
  expectNear(rmsNorm(x, nullptr, 3.5), {0.75, 1});
}

TEST(ReferenceNN, LayerNorm) {
  // Mean 3, variance 4; with eps 12 the root is 4.
  const Tensor x = f32({1, 2}, {1, 5});
  const Tensor w = f32({2}, {2, 4}), b = f32({2}, {10, 20});
  expectNear(layerNorm(x, nullptr, nullptr, 12), {-0.5, 0.5});
  expectNear(layerNorm(x, &w, &b, 12), {9, 22});
}

TEST(ReferenceNN, SoftmaxOfLogarithmsIsTheirShares) {
  const double inf = std::numeric_limits<double>::infinity();
  expectNear(softmax(f32({2, 3}, {std::log(1.0), std::log(2.0), std::log(5.0),
                                  1000, 1000, -inf})),
             {0.125, 0.25, 0.625, 0.5, 0.5, 0});
  expectNear(softmax(f32({1, 2}, {-inf, -inf})), {0, 0});
  // inf - inf is NaN, and so is the quotient by their sum.
  for (double most : {inf, std::numeric_limits<double>::quiet_NaN()})
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_TRUE(std::isnan(softmax(f32({1, 3}, {1, most, 2}))[i]));
}

TEST(ReferenceNN, SoftmaxOverAnyDimension) {
  const Tensor x = f32({2, 2}, {0, std::log(3.0), std::log(3.0), 0});
  expectNear(softmax(x, 0), {0.25, 0.75, 0.75, 0.25});
  expectNear(softmax(x, 1), {0.25, 0.75, 0.75, 0.25});
  const Tensor y = f32({1, 2, 2}, {0, std::log(4.0), std::log(3.0), 0});
  expectNear(softmax(y, 1), {0.25, 0.8, 0.75, 0.2});
  expectNear(softmax(y, 0), {1, 1, 1, 1});
}

TEST(ReferenceNN, LayerNormOfChannels) {
  // Channels (1, 5) and (2, 2) of two places: means 3 and 2, variances 4 and 0.
  const Tensor x = f32({1, 2, 1, 2}, {1, 2, 5, 2});
  const Tensor w = f32({2}, {2, 4}), b = f32({2}, {10, 20});
  expectNear(layerNormOfChannels(x, &w, &b, 12), {9, 10, 22, 20});
}

TEST(ReferenceNN, RopeTurnsPairs) {
  // Angles 0 and π/2 at position 1; the fifth number is copied.
  const double half = std::acos(-1.0) / 2;
  const Tensor x = f32({2, 1, 5}, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
  const Tensor positions(ElementKind::I32, {2}, {0, 1});
  expectNear(rope(x, positions, {0, half}, 1, false),
             {1, 2, 3, 4, 5, 1, -4, 3, 2, 5});
  expectNear(rope(x, positions, {0, half}, 2, true),
             {2, 4, 6, 8, 5, 2, 4, -8, 6, 5});
}

TEST(ReferenceNN, RopeKeepsProductsOfEqualDistance) {
  // q(p) · k(r) depends on p − r alone.
  const std::vector<double> frequencies = {0.7, 0.01};
  const Tensor q = f32({1, 1, 4}, {1, -2, 0.5, 3});
  const Tensor k = f32({1, 1, 4}, {0.3, 1, -1, 2});
  auto product = [&](double p, double r, bool interleaved) {
    const Tensor a = rope(q, Tensor(ElementKind::I32, {1}, {p}), frequencies, 1,
                          interleaved);
    const Tensor b = rope(k, Tensor(ElementKind::I32, {1}, {r}), frequencies, 1,
                          interleaved);
    double sum = 0;
    for (int64_t i = 0; i < 4; ++i)
      sum += a[i] * b[i];
    return sum;
  };
  for (bool interleaved : {false, true}) {
    EXPECT_NEAR(product(7, 3, interleaved), product(104, 100, interleaved),
                1e-12);
    EXPECT_GT(
        std::fabs(product(7, 3, interleaved) - product(7, 4, interleaved)),
        0.01);
  }
}

TEST(ReferenceNN, Activations) {
  EXPECT_NEAR(silu(1), 0.7310585786300049, 1e-15);
  EXPECT_EQ(silu(0), 0);
  EXPECT_NEAR(sigmoid(1), 0.7310585786300049, 1e-15);
  EXPECT_EQ(sigmoid(-1000), 0);
  EXPECT_EQ(relu(-1), 0);
  EXPECT_EQ(relu(2), 2);
  EXPECT_TRUE(std::isnan(relu(std::nan(""))));
  EXPECT_NEAR(gelu(1, GeluApproximation::None), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(gelu(1, GeluApproximation::Tanh), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(gelu(1, GeluApproximation::Quick), 1 / (1 + std::exp(-1.702)),
              1e-15);
  for (GeluApproximation form :
       {GeluApproximation::None, GeluApproximation::Tanh,
        GeluApproximation::Quick})
    EXPECT_NEAR(gelu(2, form) - gelu(-2, form), 2, 0.1); // Near to relu.
}

TEST(ReferenceNN, SwiGLURoundsBetween) {
  const Tensor gate(ElementKind::BF16, {1}, {1});
  const Tensor up(ElementKind::BF16, {1}, {3});
  // silu(1) = 0.73106 is 0.73046875 in bf16.
  EXPECT_EQ(swiglu(gate, up)[0], 0.73046875 * 3);
  EXPECT_NEAR(swiglu(f32({1}, {1}), f32({1}, {3}))[0], 3 * 0.7310585786, 1e-6);
}
