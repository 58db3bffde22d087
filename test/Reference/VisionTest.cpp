// RUN: llmir-reference-tests --gtest_filter='ReferenceVision.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Vision.h"
#include "Checks.h"

#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::reference;

TEST(ReferenceVision, ConvolvedSizes) {
  EXPECT_EQ(convolvedSize(5, 3, 1, 0, 1), 3);
  EXPECT_EQ(convolvedSize(5, 3, 2, 1, 1), 3);
  EXPECT_EQ(convolvedSize(5, 3, 1, 0, 2), 1);
  EXPECT_EQ(convolvedSize(2, 3, 1, 0, 1), std::nullopt);
  EXPECT_EQ(convolvedSize(0, 1, 1, 0, 1), std::nullopt);
}

TEST(ReferenceVision, ConvolutionSlidesTheKernelUnturned) {
  const Tensor x = f32({1, 1, 5}, {1, 2, 3, 4, 5});
  const Tensor w = f32({1, 1, 2}, {10, 1});
  const Tensor b = f32({1}, {0.5});
  expectNumbers(convolution(x, w, &b, {{1}, {0}, {1}, 1}), {1, 1, 4},
                {12.5, 23.5, 34.5, 45.5});
  expectNumbers(convolution(x, w, nullptr, {{2}, {1}, {1}, 1}), {1, 1, 3},
                {1, 23, 45});
  expectNumbers(convolution(x, w, nullptr, {{1}, {0}, {3}, 1}), {1, 1, 2},
                {14, 25});
}

TEST(ReferenceVision, ChannelsOfAGroupAreSummed) {
  const Tensor x = f32({1, 4, 1, 1}, {1, 2, 3, 4});
  expectNumbers(convolution(x, f32({2, 2, 1, 1}, {1, 10, 1, 10}), nullptr,
                            {{1, 1}, {0, 0}, {1, 1}, 2}),
                {1, 2, 1, 1}, {21, 43});
  expectNumbers(convolution(x, f32({1, 4, 1, 1}, {1, 10, 100, 1000}), nullptr,
                            {{1, 1}, {0, 0}, {1, 1}, 1}),
                {1, 1, 1, 1}, {4321});
  // Three channels do not fall into two groups.
  EXPECT_FALSE(convolution(f32({1, 3, 1, 1}, {1, 2, 3}),
                           f32({2, 1, 1, 1}, {1, 1}), nullptr,
                           {{1, 1}, {0, 0}, {1, 1}, 2}));
}

TEST(ReferenceVision, EmptyAndTooSmallPictures) {
  const Tensor w = f32({2, 1, 2}, {1, 1, 1, 1});
  expectNumbers(convolution(f32({0, 1, 4}, {}), w, nullptr, {{1}, {0}, {1}, 1}),
                {0, 2, 3}, {});
  EXPECT_FALSE(
      convolution(f32({1, 1, 1}, {7}), w, nullptr, {{1}, {0}, {1}, 1}));
}

TEST(ReferenceVision, NearestAndLinear) {
  const Tensor x = f32({1, 1, 2}, {0, 4});
  InterpolateParams params;
  expectNumbers(interpolate(x, {5}, params), {1, 1, 5}, {0, 0, 0, 4, 4});
  params.mode = InterpolateMode::Linear;
  expectNumbers(interpolate(x, {4}, params), {1, 1, 4}, {0, 1, 3, 4});
  params.alignCorners = true;
  expectNumbers(interpolate(x, {5}, params), {1, 1, 5}, {0, 1, 2, 3, 4});
  expectNumbers(interpolate(x, {1}, params), {1, 1, 1}, {0});
}

TEST(ReferenceVision, FactorsSetTheStep) {
  // Five elements times 1.25 are 6.25, so 6 results; their step is 1/1.25 = 0.8
  // and not 5/6.
  const Tensor x = f32({1, 1, 5}, {0, 10, 20, 30, 40});
  InterpolateParams params;
  params.mode = InterpolateMode::Linear;
  params.factors = {1.25};
  // Places (i + 0.5) · 0.8 − 0.5, the first one brought to 0.
  expectNumbers(interpolate(x, {6}, params), {1, 1, 6}, {0, 7, 15, 23, 31, 39});
}

TEST(ReferenceVision, CubicKeepsConstantsAndTheGrid) {
  InterpolateParams params;
  params.mode = InterpolateMode::Cubic;
  expectNumbers(interpolate(f32({1, 1, 1, 2}, {3, 3}), {1, 4}, params),
                {1, 1, 1, 4}, {3, 3, 3, 3});
  params.alignCorners = true;
  expectNumbers(interpolate(f32({1, 1, 1, 3}, {1, -2, 5}), {1, 3}, params),
                {1, 1, 1, 3}, {1, -2, 5});
  // Half way: (−0.09375, 0.59375, 0.59375, −0.09375) on −, 0, 8, and the edge.
  expectNumbers(interpolate(f32({1, 1, 1, 2}, {0, 8}), {1, 3}, params),
                {1, 1, 1, 3}, {0, 4, 8});
}

TEST(ReferenceVision, AntialiasAveragesWhatFallsTogether) {
  InterpolateParams params;
  params.mode = InterpolateMode::Linear;
  params.antialias = true;
  // Triangles of width 2 · 2 about 1 and 3, cut at the edge and normalized:
  // weights 3/7, 3/7, 1/7 and 0, then the mirror image.
  const Tensor x = f32({1, 1, 1, 4}, {7, 0, 0, 0});
  expectNumbers(interpolate(x, {1, 2}, params), {1, 1, 1, 2}, {3, 0});
  EXPECT_FALSE(interpolate(f32({1, 1, 1, 0}, {}), {1, 2}, params));
  expectNumbers(interpolate(x, {1, 0}, params), {1, 1, 1, 0}, {});
}
