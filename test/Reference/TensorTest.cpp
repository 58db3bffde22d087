// RUN: llmir-reference-tests --gtest_filter='ReferenceTensor.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/SmallFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace llmir;
using namespace llmir::reference;

static const double inf = std::numeric_limits<double>::infinity();

TEST(ReferenceTensor, RoundsToNearestEven) {
  EXPECT_EQ(roundTo(ElementKind::F32, 1 + 0x1p-24), 1); // A tie: to even.
  EXPECT_EQ(roundTo(ElementKind::F32, 1 + 0x1.8p-23), 1 + 0x1p-22);
  EXPECT_EQ(roundTo(ElementKind::BF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(roundTo(ElementKind::BF16, 1 + 0x1.8p-7), 1 + 0x1p-6);
  // Rounded once, not first to f32: the sum is above the tie by less than an
  // f32 ulp.
  EXPECT_EQ(roundTo(ElementKind::BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(ElementKind::F16, 65519.9), 65504);
  EXPECT_EQ(roundTo(ElementKind::F16, 65520), inf);
  EXPECT_EQ(roundTo(ElementKind::F16, -0x1p-25), 0);
  EXPECT_TRUE(std::signbit(roundTo(ElementKind::F16, -0x1p-25)));
  EXPECT_EQ(roundTo(ElementKind::F16, 0x1.8p-24), 0x1p-23); // Subnormal.
  EXPECT_TRUE(std::isnan(roundTo(ElementKind::F16, NAN)));
  EXPECT_EQ(roundTo(ElementKind::BF16, -inf), -inf);
}

TEST(ReferenceTensor, RoundsAsTheHardwareAndSmallFloatDo) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = bitsToFloat(bits);
    if (std::isnan(value))
      continue;
    EXPECT_EQ(roundTo(ElementKind::F16, value), f16ToFloat(floatToF16(value)));
    EXPECT_EQ(roundTo(ElementKind::BF16, value),
              bf16ToFloat(floatToBf16(value)));
    const double wide = value * (1 + std::ldexp(double(random() % 4096), -36));
    EXPECT_EQ(roundTo(ElementKind::F32, wide), double(float(wide)));
  }
}

TEST(ReferenceTensor, IntegersWrap) {
  EXPECT_EQ(roundTo(ElementKind::I4, 8), -8);
  EXPECT_EQ(roundTo(ElementKind::I8, -129), 127);
  EXPECT_EQ(roundTo(ElementKind::I32, 4294967295.0), -1);
  EXPECT_EQ(roundTo(ElementKind::I1, 3), 1);
}

TEST(ReferenceTensor, UlpIsTheDistanceToTheNeighbour) {
  EXPECT_EQ(ulp(ElementKind::F32, 1), 0x1p-23);
  EXPECT_EQ(ulp(ElementKind::BF16, -3), 0x1p-6);
  EXPECT_EQ(ulp(ElementKind::F16, 0), 0x1p-24);
}

TEST(ReferenceTensor, SlicesAndJoinsAlongADimension) {
  Tensor x(ElementKind::F32, {2, 4, 2});
  for (int64_t i = 0; i < x.size(); ++i)
    x[i] = double(i);
  Tensor middle = x.slice(1, 1, 2);
  EXPECT_EQ(middle.shape, Shape({2, 2, 2}));
  EXPECT_EQ(middle.toDoubles(),
            std::vector<double>({2, 3, 4, 5, 10, 11, 12, 13}));
  for (int64_t d : {0, 1, 2}) {
    std::vector<Tensor> parts = {x.slice(d, 0, 1), x.slice(d, 1, x.dim(d) - 1)};
    EXPECT_TRUE(sameBits(concatenate(parts, d), x));
  }
}

TEST(ReferenceTensor, PrintsReadably) {
  EXPECT_EQ(toString(Tensor(ElementKind::F32, {2, 2}, {1, -2.5, 0.1f, inf})),
            "tensor<2x2xf32> [[1, -2.5], [0.100000001, inf]]");
  EXPECT_EQ(toString(Tensor(ElementKind::I32, {}, {7})), "tensor<i32> 7");
  EXPECT_EQ(toString(Tensor(ElementKind::I8, {17, 1})),
            "tensor<17x1xi8> [[0], [0], [0], [0], [0], [0], [0], [0], [0], "
            "[0], [0], [0], [0], [0], [0], [0], …]");
  EXPECT_EQ(toString(Tensor(ElementKind::F16, {0, 3})), "tensor<0x3xf16> []");
}

TEST(ReferenceTensor, NmseForgivesRoundingOfNarrowTypes) {
  const double inf = std::numeric_limits<double>::infinity();
  auto one = [](double value, ElementKind kind = ElementKind::F32) {
    return Tensor(kind, {2}, {value, 2});
  };
  EXPECT_EQ(nmse(one(1), one(1)), 0);
  EXPECT_EQ(nmse(one(3), one(1)), 4.0 / 5);
  EXPECT_EQ(nmse(one(NAN), one(NAN)), 0);
  EXPECT_EQ(nmse(one(inf), one(inf)), 0);
  EXPECT_EQ(nmse(one(inf), one(1)), inf);
  EXPECT_TRUE(nmse(one(1), one(NAN)) > 1e9);
  EXPECT_EQ(nmse(one(1), Tensor(ElementKind::F32, {1}, {1})), inf);
  // 1 + 2^-8 is half a unit from 1 in bf16; only the excess counts.
  EXPECT_EQ(nmse(one(1, ElementKind::BF16), one(1 + 0x1p-8, ElementKind::BF16)),
            0);
  EXPECT_GT(
      nmse(one(1, ElementKind::BF16), one(1 + 0x1.8p-8, ElementKind::BF16)),
      1e-7);
}

TEST(ReferenceTensor, SameBitsTellsSignsAndTypesApart) {
  auto scalar = [](double value, ElementKind kind = ElementKind::F32) {
    return Tensor(kind, {1}, {value});
  };
  EXPECT_TRUE(sameBits(scalar(NAN), scalar(NAN)));
  EXPECT_FALSE(sameBits(scalar(0), scalar(-0.0)));
  EXPECT_FALSE(sameBits(scalar(1), scalar(1, ElementKind::F16)));
  EXPECT_FALSE(sameBits(scalar(1), scalar(2)));
}
