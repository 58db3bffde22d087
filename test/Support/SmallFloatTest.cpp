// RUN: llmir-support-tests --gtest_filter='SmallFloat*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/SmallFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace llmir;

// Every f16 and bf16 value survives the way to f32 and back.
TEST(SmallFloat, EveryValueRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    uint16_t value = static_cast<uint16_t>(bits);
    float half = f16ToFloat(value);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(half)))) << bits;
    } else {
      EXPECT_EQ(floatToF16(half), value);
    }
    float brain = bf16ToFloat(value);
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(brain)))) << bits;
    } else {
      EXPECT_EQ(floatToBf16(brain), value);
    }
  }
}

// Rounds to the nearer of two adjacent values, and to the even one at a tie.
TEST(SmallFloat, RoundsToNearestEven) {
  for (uint16_t bits = 0; bits < 0x7bffu; ++bits) {
    float low = f16ToFloat(bits), high = f16ToFloat(bits + 1);
    float middle = low + (high - low) / 2; // Exact in f32.
    EXPECT_EQ(floatToF16(middle), bits & 1 ? bits + 1 : bits);
    EXPECT_EQ(floatToF16(std::nextafter(middle, low)), bits);
    EXPECT_EQ(floatToF16(std::nextafter(middle, high)), bits + 1);
    EXPECT_EQ(floatToF16(-std::nextafter(middle, high)),
              static_cast<uint16_t>(0x8000u | (bits + 1)));
  }
  for (uint16_t bits = 0x0080u; bits < 0x7f7fu; ++bits) {
    float low = bf16ToFloat(bits), high = bf16ToFloat(bits + 1);
    float middle = bitsToFloat((static_cast<uint32_t>(bits) << 16) | 0x8000u);
    EXPECT_EQ(floatToBf16(middle), bits & 1 ? bits + 1 : bits);
    EXPECT_EQ(floatToBf16(std::nextafter(middle, low)), bits);
    EXPECT_EQ(floatToBf16(std::nextafter(middle, high)), bits + 1);
  }
}

TEST(SmallFloat, OverflowGivesInfinity) {
  EXPECT_EQ(floatToF16(65504.0f), 0x7bffu);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00u); // The tie is rounded to infinity.
  EXPECT_EQ(floatToF16(std::nextafter(65520.0f, 0.0f)), 0x7bffu);
  EXPECT_EQ(floatToF16(-1e30f), 0xfc00u);
  EXPECT_EQ(floatToF16(std::numeric_limits<float>::infinity()), 0x7c00u);
  EXPECT_EQ(floatToBf16(std::numeric_limits<float>::max()), 0x7f80u);
}

TEST(SmallFloat, TinyValuesGoToTheNearerOfZeroAndTheSmallest) {
  EXPECT_EQ(floatToF16(0x1p-24f), 0x0001u);
  EXPECT_EQ(floatToF16(0x1p-25f), 0x0000u); // Tie: even.
  EXPECT_EQ(floatToF16(std::nextafter(0x1p-25f, 1.0f)), 0x0001u);
  EXPECT_EQ(floatToF16(-0.0f), 0x8000u);
  EXPECT_EQ(floatToF16(std::numeric_limits<float>::denorm_min()), 0x0000u);
}
