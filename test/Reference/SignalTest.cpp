// RUN: llmir-reference-tests --gtest_filter='ReferenceSignal.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Signal.h"
#include "Checks.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::reference;

/// Frames of 4 samples, one after another.
static STFTParams plain() {
  STFTParams params;
  params.frame = params.hop = 4;
  params.center = false;
  return params;
}

TEST(ReferenceSignal, TransformOfAnImpulseAndAWave) {
  const Tensor window = f32({4}, {1, 1, 1, 1});
  // δ(n − 1), then cos(π n / 2): frequencies 0 to 2 of two frames.
  const Tensor x = f32({8}, {0, 1, 0, 0, 1, 0, -1, 0});
  expectNumbers(stft(x, window, plain()), {3, 2, 2},
                {1, 0, 0, 0, /**/ 0, -1, 2, 0, /**/ -1, 0, 0, 0});
  STFTParams params = plain();
  params.onesided = false;
  params.normalized = true;
  expectNumbers(stft(f32({4}, {0, 2, 0, 0}), window, params), {4, 1, 2},
                {1, 0, 0, -1, -1, 0, 0, 1});
}

TEST(ReferenceSignal, AShortWindowStandsInTheMiddle) {
  const Tensor x = f32({4}, {1, 2, 4, 8});
  Expected<Tensor> result = stft(x, f32({2}, {1, 10}), plain());
  ASSERT_TRUE(result);
  EXPECT_NEAR((*result)[0], 42, 1e-12); // 2 · 1 + 4 · 10
  EXPECT_FALSE(stft(x, f32({5}, {1, 1, 1, 1, 1}), plain()));
}

TEST(ReferenceSignal, CenteredFramesReflectTheEnds) {
  STFTParams params = plain();
  params.center = true;
  EXPECT_EQ(numFrames(5, params), 2);
  // Padded: 3 2 1 2 3 4 5 4 3; sums of the frames.
  Expected<Tensor> result =
      stft(f32({5}, {1, 2, 3, 4, 5}), f32({4}, {1, 1, 1, 1}), params);
  ASSERT_TRUE(result);
  EXPECT_NEAR((*result)[0], 8, 1e-12);
  EXPECT_NEAR((*result)[2], 16, 1e-12);
  // Two samples cannot be reflected by two.
  EXPECT_FALSE(stft(f32({2}, {1, 2}), f32({4}, {1, 1, 1, 1}), params));
  EXPECT_FALSE(stft(f32({3}, {1, 2, 3}), f32({4}, {1, 1, 1, 1}), plain()));
}

TEST(ReferenceSignal, TheInverseGivesTheSignalBack) {
  std::vector<double> window, samples;
  for (int i = 0; i < 6; ++i)
    window.push_back(0.5 - 0.5 * std::cos(2 * std::acos(-1.0) * i / 6) + 0.1);
  for (int i = 0; i < 2 * 24; ++i)
    samples.push_back(std::sin(0.7 * i) + 0.01 * i);
  const Tensor x = f32({2, 24}, samples), w = f32({6}, window);
  for (int64_t frame : {6, 7})
    for (bool onesided : {true, false})
      for (bool normalized : {true, false}) {
        STFTParams params;
        params.frame = frame;
        params.hop = 2;
        params.onesided = onesided;
        params.normalized = normalized;
        Expected<Tensor> spectrum = stft(x, w, params);
        ASSERT_TRUE(spectrum);
        expectNumbers(istft(*spectrum, w, params, 24), {2, 24}, samples);
      }
}

TEST(ReferenceSignal, LengthCutsAndLengthens) {
  STFTParams params = plain();
  const Tensor w = f32({4}, {1, 1, 1, 1});
  const Tensor x = f32({3, 1, 2}, {4, 0, 0, 0, 0, 0}); // One frame of ones.
  EXPECT_EQ(numSamples(1, params), 4);
  expectNumbers(istft(x, w, params, -1), {4}, {1, 1, 1, 1});
  expectNumbers(istft(x, w, params, 2), {2}, {1, 1});
  expectNumbers(istft(x, w, params, 6), {6}, {1, 1, 1, 1, 0, 0});
  expectNumbers(istft(f32({3, 0, 2}, {}), w, params, -1), {0}, {});
  params.onesided = false;
  EXPECT_FALSE(istft(x, w, params, -1)); // Four frequencies are needed.
}
