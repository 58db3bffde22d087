// RUN: llmir-frontend-tests --gtest_filter='RopeFrequenciesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyModel.h"

#include "RopeFrequencies.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

ModelConfig config(int64_t rotaryDim, double theta) {
  ModelConfig config;
  config.rotaryDim = rotaryDim;
  config.ropeTheta = theta;
  return config;
}

/// Llama 3.1: factor 8 within an original context of 8192.
ModelConfig llama31() {
  ModelConfig result = config(128, 5e5);
  result.ropeScaling = {RopeScaling::Llama3, 8.0, 1.0, 4.0, 8192};
  return result;
}

TEST(RopeFrequenciesTest, DefaultIsAGeometricSeries) {
  EXPECT_EQ(ropeFrequencies(config(4, 1e4), {}),
            (std::vector<double>{1.0, 0.01}));
  auto frequencies = ropeFrequencies(config(10, 1e4), {});
  ASSERT_EQ(frequencies.size(), 5u);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(frequencies[i] * std::pow(1e4, 0.2 * static_cast<double>(i)),
                1.0, 1e-14);
}

TEST(RopeFrequenciesTest, LinearDividesAll) {
  ModelConfig scaled = config(4, 1e4);
  scaled.ropeScaling = {RopeScaling::Linear, 4.0, 1.0, 4.0, 0};
  EXPECT_EQ(ropeFrequencies(scaled, {}), (std::vector<double>{0.25, 0.0025}));
}

// Pairs are numbered over the whole head, unlike those of a part of it.
TEST(RopeFrequenciesTest, ProportionalStopsPairs) {
  const std::vector<double> plain = ropeFrequencies(config(8, 1e6), {});
  ModelConfig some = config(8, 1e6);
  some.ropeScaling.kind = RopeScaling::Proportional;
  some.ropeScaling.turnedPairs = 2;
  const std::vector<double> expected = {plain[0], plain[1], 0, 0};
  EXPECT_EQ(ropeFrequencies(some, {}), expected);
  // As in GGUF.
  const std::vector<double> divisors = {1, 1, 1e30, 1e30};
  EXPECT_EQ(ropeFrequencies(config(8, 1e6), divisors), expected);
}

TEST(RopeFrequenciesTest, LocalHeadsCanBeSmaller) {
  ModelConfig both = config(8, 1e6);
  both.localRopeTheta = 1e4;
  EXPECT_EQ(localRopeFrequencies(both), ropeFrequencies(config(8, 1e4), {}));
  both.localRotaryDim = 4;
  EXPECT_EQ(localRopeFrequencies(both), ropeFrequencies(config(4, 1e4), {}));
}

// The formula of Llama 3's reference code, in terms of wavelengths.
TEST(RopeFrequenciesTest, Llama3StretchesLongWavelengths) {
  std::vector<double> plain = ropeFrequencies(config(128, 5e5), {});
  std::vector<double> scaled = ropeFrequencies(llama31(), {});
  int64_t kept = 0, mixed = 0, stretched = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    double wavelength = 2.0 * 3.141592653589793 / plain[i];
    double wanted;
    if (wavelength < 8192.0 / 4.0) {
      wanted = plain[i];
      ++kept;
    } else if (wavelength > 8192.0) {
      wanted = plain[i] / 8.0;
      ++stretched;
    } else {
      double smooth = (8192.0 / wavelength - 1.0) / (4.0 - 1.0);
      wanted = (1.0 - smooth) * plain[i] / 8.0 + smooth * plain[i];
      ++mixed;
    }
    // Divisors are rounded to f32.
    EXPECT_NEAR(scaled[i] / wanted, 1.0, 6.0e-8) << i;
  }
  EXPECT_EQ(kept, 29);
  EXPECT_EQ(mixed, 6);
  EXPECT_EQ(stretched, 29);
}

TEST(RopeFrequenciesTest, DivisorsMeanTheSameRotationBitForBit) {
  std::vector<double> plain = ropeFrequencies(config(128, 5e5), {});
  std::vector<double> scaled = ropeFrequencies(llama31(), {});
  std::vector<double> divisors;
  for (size_t i = 0; i < plain.size(); ++i)
    divisors.push_back(static_cast<float>(plain[i] / scaled[i]));
  EXPECT_EQ(ropeFrequencies(config(128, 5e5), divisors), scaled);
}

TEST(RopeFrequenciesTest, DivisorsOfAGGUFFile) {
  TempFolder folder;
  TinyModel model;
  GGUFImage image = model.complete().gguf(1);
  image.add("rope_freqs.weight", {8}, 0);
  std::string file = image.build();
  std::vector<double> divisors;
  for (size_t i = 0; i < 8; ++i) {
    float value = 1.0f + 0.75f * static_cast<float>(i);
    divisors.push_back(value);
    std::memcpy(&file[file.size() - 32 + 4 * i], &value, 4);
  }
  auto checkpoint = Checkpoint::open(folder.write("model.gguf", file));
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  auto read = ropeFrequencies(*checkpoint);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(*read, ropeFrequencies(config(16, 1e4), divisors));
}

TEST(RopeFrequenciesTest, ScalingOfBothConfigDialects) {
  TinyModel model;
  TempFolder older, newer;
  model.moreConfig =
      R"(, "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3",
      "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 64})";
  auto one = model.complete().open(older);
  model.moreConfig =
      R"(, "rope_parameters": {"rope_theta": 500000.0, "rope_type": "llama3",
      "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 64})";
  auto other = model.open(newer);
  ASSERT_TRUE(one) << one.status().message();
  ASSERT_TRUE(other) << other.status().message();
  ModelConfig wanted = config(16, 5e5);
  wanted.ropeScaling = {RopeScaling::Llama3, 32.0, 1.0, 4.0, 64};
  EXPECT_EQ(*ropeFrequencies(*one), ropeFrequencies(wanted, {}));
  EXPECT_EQ(*ropeFrequencies(*other), ropeFrequencies(wanted, {}));
}

} // namespace
