// RUN: llmir-reference-tests --gtest_filter='ReferenceQuant.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Quant.h"
#include "llmir/Reference/NN.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

static Tensor randomTensor(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor result(ElementKind::F32, std::move(shape));
  for (double &value : result.floats())
    value = double(float(int(random() % 2001) - 900) / 1000);
  return result;
}

TEST(ReferenceQuant, WhichNumberHasWhichScale) {
  using Indices = std::vector<int64_t>;
  const Shape shape = {2, 4};
  EXPECT_EQ(scaleIndices(shape, {8, true, -1, -1}), Indices(8, 0));
  EXPECT_EQ(scaleIndices(shape, {8, true, 0, -1}),
            Indices({0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(scaleIndices(shape, {8, true, 1, -1}),
            Indices({0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(scaleIndices(shape, {4, true, -1, 2}),
            Indices({0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(scaleIndices(shape, {4, true, 0, 2}),
            Indices({0, 0, 1, 1, 2, 2, 3, 3}));
  // Columns have scales: groups are in the first dimension, [K / g, N].
  EXPECT_EQ(scaleIndices({4, 2}, {4, true, 1, 2}),
            Indices({0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ((QuantSpec{4, true, 1, 2}.scaleShape({4, 2})), Shape({2, 2}));
  EXPECT_EQ((QuantSpec{4, true, -1, 2}.scaleShape({2, 4})), Shape({2, 2}));
  EXPECT_EQ((QuantSpec{4, true, -1, 4}.scaleShape({2, 4})), Shape({1}));
  EXPECT_EQ((QuantSpec{8, true, 1, -1}.scaleShape({2, 4})), Shape({4}));
}

TEST(ReferenceQuant, RoundsTiesToEvenAndClamps) {
  const Tensor scales = f32({1}, {2});
  const Tensor x = f32({7}, {1, 3, 5, -3, 300, -300, 0});
  EXPECT_EQ(quantize(x, scales, nullptr, {8, true, -1, -1}).toDoubles(),
            std::vector<double>({0, 2, 2, -2, 127, -127, 0}));
  const Tensor zero(ElementKind::I8, {1}, {10});
  EXPECT_EQ(quantize(x, scales, &zero, {8, false, -1, -1}).toDoubles(),
            std::vector<double>({10, 12, 12, 8, 127, -128, 10}));
  EXPECT_EQ(quantize(x, f32({1}, {0}), nullptr, {4, true, -1, -1}).toDoubles(),
            std::vector<double>(7, 0));
}

TEST(ReferenceQuant, DequantizeUndoesUpToHalfAStep) {
  const Tensor x = randomTensor({6, 8}, 1);
  for (int bits : {4, 8, 16})
    for (bool symmetric : {true, false})
      for (int64_t axis : {-1, 0, 1})
        for (int64_t group : {-1, 2}) {
          const QuantSpec spec{bits, symmetric, axis, group};
          const QuantParams params = quantParams(x, spec);
          const Tensor *zeros = symmetric ? nullptr : &params.zeroPoints;
          EXPECT_EQ(params.scales.shape, spec.scaleShape(x.shape));
          const Tensor q = quantize(x, params.scales, zeros, spec);
          const Tensor back = dequantize(q, params.scales, zeros, spec);
          const std::vector<int64_t> of = scaleIndices(x.shape, spec);
          for (int64_t i = 0; i < x.size(); ++i) {
            EXPECT_GE(q[i], spec.least());
            EXPECT_LE(q[i], spec.greatest());
            // The zero point's own rounding moves the range by half a step.
            const double step = params.scales[of[size_t(i)]];
            EXPECT_LE(std::fabs(back[i] - x[i]),
                      step * (symmetric ? 0.5001 : 1.0001));
          }
        }
}

TEST(ReferenceQuant, ParametersOfWholeRanges) {
  const Tensor x = f32({2, 2}, {-1, 2, 0, 0});
  EXPECT_EQ(quantParams(x, {8, true, 0, -1}).scales.toDoubles(),
            std::vector<double>({double(2.0f / 127.0f), 0}));
  const QuantParams asymmetric = quantParams(x, {4, false, 0, -1});
  EXPECT_EQ(asymmetric.scales.toDoubles(),
            std::vector<double>({double(3.0f / 15.0f), 0}));
  EXPECT_EQ(asymmetric.zeroPoints.toDoubles(), std::vector<double>({-3, 0}));
  EXPECT_EQ(asymmetric.zeroPoints.kind, ElementKind::I8);
  EXPECT_EQ((quantParams(x, {16, false, -1, -1}).zeroPoints.kind),
            ElementKind::I16);
  // All above zero: 0 is still in the range.
  const QuantParams above = quantParams(f32({2}, {15, 30}), {4, false, -1, -1});
  EXPECT_EQ(above.scales[0], 2);
  EXPECT_EQ(above.zeroPoints[0], -8);
}

TEST(ReferenceQuant, ActivationsInGroups) {
  const Tensor x = f32({1, 5}, {127, -63.4, 0, 0, 254});
  EXPECT_EQ(quantizeActivations(x, 2).toDoubles(),
            std::vector<double>({127, -63, 0, 0, 254}));
  EXPECT_EQ(quantizeActivations(x, 32).toDoubles(),
            std::vector<double>({128, -64, 0, 0, 254}));
}

TEST(ReferenceQuant, MatmulIsLinearOfTheDequantized) {
  const QuantSpec spec{8, false, 0, 4};
  const Tensor w = randomTensor({5, 8}, 2), x = randomTensor({3, 8}, 3);
  const QuantParams params = quantParams(w, spec);
  const Tensor q = quantize(w, params.scales, &params.zeroPoints, spec);
  const Tensor bias = randomTensor({5}, 4);
  const Tensor plain = dequantize(q, params.scales, &params.zeroPoints, spec);
  QuantizedMatmul options{spec, true, false, 32};
  EXPECT_TRUE(sameBits(
      quantizedMatmul(x, q, params.scales, &params.zeroPoints, &bias, options),
      linear(x, plain, &bias)));
  options.int8Activations = true;
  options.activationGroup = 4;
  EXPECT_TRUE(sameBits(
      quantizedMatmul(x, q, params.scales, &params.zeroPoints, &bias, options),
      linear(quantizeActivations(x, 4), plain, &bias)));
}

TEST(ReferenceQuant, MatmulTakesEitherLayout) {
  // [K, N] with scales per column.
  const Tensor rhs(ElementKind::I8, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor scales = f32({3}, {1, 10, 100});
  const Tensor x = f32({1, 2}, {1, -1});
  EXPECT_EQ(quantizedMatmul(x, rhs, scales, nullptr, nullptr,
                            {{8, true, 1, -1}, false, false, 32})
                .toDoubles(),
            std::vector<double>({-3, -30, -300}));
  const Tensor stored(ElementKind::I8, {3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(quantizedMatmul(x, stored, scales, nullptr, nullptr,
                            {{8, true, 0, -1}, true, false, 32})
                .toDoubles(),
            std::vector<double>({-3, -30, -300}));
}
