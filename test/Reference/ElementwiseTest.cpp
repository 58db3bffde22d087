// RUN: llmir-reference-tests --gtest_filter='ReferenceElementwise.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Elementwise.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace llmir::reference;

static const double inf = std::numeric_limits<double>::infinity();
static const double nan_ = std::numeric_limits<double>::quiet_NaN();

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}
static Tensor i32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::I32, std::move(shape), std::move(data));
}
static double add(double a, double b) { return a + b; }

TEST(ReferenceElementwise, ShapesBroadcastFromTheirLastDimensions) {
  EXPECT_EQ(*broadcastShape({2, 1, 4}, {3, 1}), Shape({2, 3, 4}));
  EXPECT_EQ(*broadcastShape({}, {2, 0}), Shape({2, 0}));
  EXPECT_EQ(*broadcastShape({0}, {1}), Shape({0}));
  auto wrong = broadcastShape({2, 3}, {2, 4});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.status().cause(),
            "the shapes [2, 3] and [2, 4] do not "
            "broadcast: 3 and 4 differ and neither is 1");
  EXPECT_FALSE(broadcastShape({0}, {2}));
}

TEST(ReferenceElementwise, HugeTensorsAreRefused) {
  EXPECT_TRUE(checkAffordable({1 << 14, 1 << 14}));
  EXPECT_EQ(checkAffordable({1 << 15, 1 << 14}).cause(),
            "a tensor [32768, 16384] has more than 2^28 elements");
  EXPECT_FALSE(checkAffordable({0, INT64_MAX, INT64_MAX}));
  EXPECT_EQ(checkAffordable({2, -1}).cause(),
            "the shape [2, -1] has a negative size");
  EXPECT_FALSE(broadcastShape({1 << 20, 1}, {1 << 20}));
}

TEST(ReferenceElementwise, BroadcastNumbers) {
  const Tensor columns = f32({2, 1}, {1, 2}), row = f32({3}, {10, 20, 30});
  const Tensor sum = *broadcastMap(columns, row, add);
  EXPECT_EQ(sum.shape, Shape({2, 3}));
  EXPECT_EQ(sum.toDoubles(), std::vector<double>({11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(broadcastTo(f32({2, 1, 1}, {1, 2}), {2, 1, 2}).toDoubles(),
            std::vector<double>({1, 1, 2, 2}));
  EXPECT_EQ(broadcastMap(f32({2, 0}, {}), f32({}, {1}), add)->shape,
            Shape({2, 0}));
  EXPECT_FALSE(broadcastMap(f32({2}, {1, 2}), row, add));
}

TEST(ReferenceElementwise, QuotientsOfIntegersGoTowardZero) {
  EXPECT_EQ(quotient(int64_t(-7), int64_t(2)), -3);
  EXPECT_EQ(quotient(int64_t(7), int64_t(0)), 0);
  EXPECT_EQ(quotient(INT64_MIN, int64_t(-1)), INT64_MIN);
  const Number wide = quotient(int64_t(-128), int64_t(-1));
  EXPECT_EQ(roundTo(ElementKind::I8, wide).toInteger(), -128);
  EXPECT_EQ(quotient(-7.0, 2.0), -3.5);
  EXPECT_EQ(quotient(1.0, 0.0), inf);
}

TEST(ReferenceElementwise, Clip) {
  EXPECT_EQ(clip(-2, -1, 1), -1);
  EXPECT_EQ(clip(inf, -1.0, 1.0), 1);
  EXPECT_EQ(clip(0.5, -1.0, 1.0), 0.5);
  EXPECT_TRUE(std::isnan(clip(nan_, -1.0, 1.0)));
}

TEST(ReferenceElementwise, Comparisons) {
  struct Case {
    Comparison comparison;
    double less, equal, greater, unordered;
  };
  for (const Case &c : {Case{Comparison::Equal, 0, 1, 0, 0},
                        Case{Comparison::NotEqual, 1, 0, 1, 1},
                        Case{Comparison::Less, 1, 0, 0, 0},
                        Case{Comparison::LessEqual, 1, 1, 0, 0},
                        Case{Comparison::Greater, 0, 0, 1, 0},
                        Case{Comparison::GreaterEqual, 0, 1, 1, 0}}) {
    EXPECT_EQ(compare(c.comparison, 1, 2), c.less);
    EXPECT_EQ(compare(c.comparison, 2, 2), c.equal);
    EXPECT_EQ(compare(c.comparison, 3, 2), c.greater);
    EXPECT_EQ(compare(c.comparison, nan_, 2.0), c.unordered);
  }
}

TEST(ReferenceElementwise, WhereChooses) {
  const Tensor condition(ElementKind::I1, {2, 1}, {1, 0});
  const Tensor result = *where(condition, f32({2}, {1, 2}), f32({}, {nan_}));
  EXPECT_EQ(result.shape, Shape({2, 2}));
  EXPECT_EQ(result.at({0, 1}), 2);
  EXPECT_TRUE(std::isnan(result.at({1, 0})));
  EXPECT_FALSE(where(condition, f32({2}, {1, 2}), f32({3}, {1, 2, 3})));
  EXPECT_FALSE(where(condition, f32({3, 2}, {1, 2, 3, 4, 5, 6}), f32({}, {1})));
}

TEST(ReferenceElementwise, CastsOfFloatsStayInTheRangeOfIntegers) {
  const Tensor x = f32({6}, {-1.9, 300, -inf, nan_, 0.4, -0.0});
  EXPECT_EQ(castTo(x, ElementKind::I8).toDoubles(),
            std::vector<double>({-1, 127, -128, 0, 0, 0}));
  EXPECT_EQ(castTo(x, ElementKind::I1).toDoubles(),
            std::vector<double>({1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(castTo(f32({1}, {inf}), ElementKind::I64).integer(0), INT64_MAX);
  EXPECT_EQ(castTo(i32({2}, {300, -1}), ElementKind::I8).toDoubles(),
            std::vector<double>({44, -1}));
  EXPECT_EQ(castTo(i32({2}, {2, 0}), ElementKind::I1).toDoubles(),
            std::vector<double>({1, 0}));
  EXPECT_EQ(castTo(f32({1}, {1.0 + 0x1p-12}), ElementKind::F16)[0], 1.0);
}

TEST(ReferenceElementwise, CastsOfIntegersRoundOnce) {
  const int64_t half = (int64_t(1) << 24) + 1; // Between two f32.
  const Tensor x = Tensor::ofIntegers(
      ElementKind::I64, {4},
      // Just above the middle of two f32, by less than a float64 holds.
      {(half << 38) + 1, (half << 38) - 1, -(half << 38) - 1, half << 38});
  EXPECT_EQ(castTo(x, ElementKind::F32).toDoubles(),
            std::vector<double>(
                {std::ldexp(half + 1, 38), std::ldexp(half - 1, 38),
                 -std::ldexp(half + 1, 38), std::ldexp(half - 1, 38)}));
  EXPECT_EQ(castTo(x, ElementKind::I8).toDoubles(),
            std::vector<double>({1, -1, -1, 0}));
  EXPECT_EQ(round(x, ElementKind::F32).toDoubles(),
            castTo(x, ElementKind::F32).toDoubles());
}

TEST(ReferenceElementwise, IntegersAreExact) {
  const int64_t big = (int64_t(1) << 62) + 1;
  const Tensor x = Tensor::ofIntegers(ElementKind::I64, {2}, {big, big - 1});
  EXPECT_EQ(toString(x),
            "tensor<2xi64> [4611686018427387905, 4611686018427387904]");
  EXPECT_EQ(x.reshaped({2, 1}).slice(0, 1, 1).integer(0), big - 1);
  Tensor y = x;
  EXPECT_TRUE(sameBits(x, y));
  y[0] = x.number(1);
  EXPECT_EQ(y.integer(0), big - 1);
  EXPECT_FALSE(sameBits(x, y));
  EXPECT_GT(nmse(y, x), 0.0);
  y[0] = y[1];
  EXPECT_EQ(y.integer(0), big - 1);
}

TEST(ReferenceElementwise, NumbersFromNothing) {
  EXPECT_EQ(filled(ElementKind::I32, {2}, 7).toDoubles(),
            std::vector<double>({7, 7}));
  EXPECT_EQ(arange(ElementKind::F32, {2, 2}, 1, 0.5).toDoubles(),
            std::vector<double>({1, 1.5, 2, 2.5}));
  EXPECT_EQ(arange(ElementKind::F32, {0}, 1, 1).shape, Shape({0}));
}

// The first numbers of SplitMix64 with seed 1234567 are published with it:
// 6457827717110365317 and 3203168211198807973.
TEST(ReferenceElementwise, RandomNumbersAreThoseOfSplitMix64) {
  const Tensor x = randomNumbers(ElementKind::F32, {2}, 0, 1, 1234567);
  EXPECT_EQ(x[0], double(6457827717110365317u >> 11) * 0x1p-53);
  EXPECT_EQ(x[1], double(3203168211198807973u >> 11) * 0x1p-53);
  const Tensor n = randomNumbers(ElementKind::I32, {2}, -3, 7, 1234567);
  EXPECT_EQ(n.toDoubles(), std::vector<double>({-3 + 7, -3 + 3}));
}
