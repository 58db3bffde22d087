// RUN: llmir-reference-tests --gtest_filter='ReferenceShape.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Shape.h"

#include <gtest/gtest.h>

using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}
static Tensor line(std::vector<double> data) {
  const auto size = static_cast<int64_t>(data.size());
  return f32({size}, std::move(data));
}
using Numbers = std::vector<double>;

TEST(ReferenceShape, PermutedDimensions) {
  const Tensor x = f32({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = permuted(x, {2, 0, 1});
  EXPECT_EQ(y.shape, Shape({3, 1, 2}));
  EXPECT_EQ(y.toDoubles(), Numbers({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(permuted(f32({0, 2}, {}), {1, 0}).shape, Shape({2, 0}));
  EXPECT_EQ(permuted(f32({}, {5}), {}).toDoubles(), Numbers({5}));
}

TEST(ReferenceShape, RepeatEachIndex) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(repeatEach(x, 0, 2)->toDoubles(),
            Numbers({1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(repeatEach(x, 1, 2)->toDoubles(),
            Numbers({1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(repeatEach(x, 1, 0)->shape, Shape({2, 0}));
  EXPECT_FALSE(repeatEach(x, 0, INT64_MAX));
  EXPECT_FALSE(repeatEach(x, 0, -1));
}

TEST(ReferenceShape, StackMakesADimension) {
  const Tensor a = line({1, 2}), b = line({3, 4});
  EXPECT_EQ(stack({a, b}, 0).shape, Shape({2, 2}));
  EXPECT_EQ(stack({a, b}, 0).toDoubles(), Numbers({1, 2, 3, 4}));
  EXPECT_EQ(stack({a, b}, 1).toDoubles(), Numbers({1, 3, 2, 4}));
  EXPECT_EQ(stack({f32({}, {5})}, 0).shape, Shape({1}));
}

TEST(ReferenceShape, RangesAreBroughtIntoTheDimension) {
  auto run = [](IndexRange range, int64_t size) {
    const IndexRun found = resolve(range, size);
    return std::pair<int64_t, int64_t>(found.first, found.count);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(run({}, 5), Pair(0, 5));
  EXPECT_EQ(run({1, 4, 2}, 5), Pair(1, 2));
  EXPECT_EQ(run({-2, std::nullopt, 1}, 5), Pair(3, 2));
  EXPECT_EQ(run({0, -1, 1}, 5), Pair(0, 4));
  EXPECT_EQ(run({-9, 99, 3}, 5), Pair(0, 2));
  EXPECT_EQ(run({4, 2, 1}, 5).second, 0);
  EXPECT_EQ(run({0, std::nullopt, 1}, 0).second, 0);
  EXPECT_EQ(run({INT64_MIN, INT64_MAX, INT64_MAX}, 5), Pair(0, 1));
}

TEST(ReferenceShape, SlicesOfRanges) {
  const Tensor x = f32({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor y = slice(x, {{-1, std::nullopt, 1}, {1, std::nullopt, 2}});
  EXPECT_EQ(y.shape, Shape({1, 2}));
  EXPECT_EQ(y.toDoubles(), Numbers({5, 7}));
  EXPECT_EQ(slice(x, {{2, std::nullopt, 1}, {}}).shape, Shape({0, 4}));
}

TEST(ReferenceShape, PadOfEachMode) {
  const Tensor x = line({1, 2, 3});
  EXPECT_EQ(pad(x, {1}, {2}, PadMode::Constant, 9)->toDoubles(),
            Numbers({9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(pad(x, {2}, {1}, PadMode::Reflect, 0)->toDoubles(),
            Numbers({3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad(x, {2}, {1}, PadMode::Replicate, 0)->toDoubles(),
            Numbers({1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad(x, {2}, {3}, PadMode::Circular, 0)->toDoubles(),
            Numbers({2, 3, 1, 2, 3, 1, 2, 3}));
  const Tensor matrix = f32({1, 2}, {1, 2});
  EXPECT_EQ(pad(matrix, {0, 1}, {1, 0}, PadMode::Constant, 0)->toDoubles(),
            Numbers({0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(pad(f32({0}, {}), {1}, {1}, PadMode::Constant, 5)->toDoubles(),
            Numbers({5, 5}));
}

TEST(ReferenceShape, PadsThatCannotBe) {
  auto cause = [](int64_t size, int64_t low, int64_t high, PadMode mode) {
    auto result = pad(Tensor(ElementKind::F32, {size}), {low}, {high}, mode, 0);
    return result ? std::string() : result.status().cause();
  };
  EXPECT_EQ(cause(3, 2, 3, PadMode::Reflect),
            "a dimension of 3 is padded by 3, expected less than its size in "
            "mode reflect");
  EXPECT_EQ(cause(3, 4, 0, PadMode::Circular),
            "a dimension of 3 is padded by 4, expected at most its size in "
            "mode circular");
  EXPECT_EQ(
      cause(0, 0, 1, PadMode::Replicate),
      "a dimension of 0 is padded by 1, expected 0 for an empty dimension");
  EXPECT_EQ(cause(3, -1, 0, PadMode::Constant),
            "a dimension of 3 is padded by -1, expected 0 or more");
  EXPECT_NE(cause(3, INT64_MAX, INT64_MAX, PadMode::Constant), "");
}
