// RUN: llmir-reference-tests --gtest_filter='ReferenceReduce.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Reduce.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}
using Numbers = std::vector<double>;

TEST(ReferenceReduce, AlongADimension) {
  const Tensor x = f32({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_EQ(reduce(x, 1, false, ReduceKind::Max).toDoubles(), Numbers({5, 6}));
  EXPECT_EQ(reduce(x, 0, false, ReduceKind::Min).toDoubles(),
            Numbers({1, 2, 3}));
  EXPECT_EQ(reduce(x, 1, true, ReduceKind::Sum).shape, Shape({2, 1}));
  EXPECT_EQ(reduce(x, 0, true, ReduceKind::Sum).shape, Shape({1, 3}));
  EXPECT_EQ(reduce(x, 1, false, ReduceKind::Mean).toDoubles(), Numbers({3, 4}));
}

TEST(ReferenceReduce, AllNumbers) {
  const Tensor x = f32({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_EQ(reduce(x, std::nullopt, false, ReduceKind::Sum).shape, Shape());
  EXPECT_EQ(reduce(x, std::nullopt, false, ReduceKind::Sum).toDoubles(),
            Numbers({21}));
  EXPECT_EQ(reduce(x, std::nullopt, true, ReduceKind::Max).shape,
            Shape({1, 1}));
}

TEST(ReferenceReduce, OfNoNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = f32({2, 0}, {});
  EXPECT_EQ(reduce(x, 1, false, ReduceKind::Sum).toDoubles(), Numbers({0, 0}));
  EXPECT_EQ(reduce(x, 1, false, ReduceKind::Max).toDoubles(),
            Numbers({-inf, -inf}));
  EXPECT_EQ(reduce(x, 1, false, ReduceKind::Min).toDoubles(),
            Numbers({inf, inf}));
  EXPECT_TRUE(std::isnan(reduce(x, 1, false, ReduceKind::Mean)[0]));
  EXPECT_EQ(reduce(x, 0, false, ReduceKind::Sum).shape, Shape({0}));
  const Tensor bytes(ElementKind::I8, {0});
  EXPECT_EQ(reduce(bytes, 0, false, ReduceKind::Max)[0], -128);
  EXPECT_EQ(reduce(bytes, 0, false, ReduceKind::Min)[0], 127);
  const Tensor bits(ElementKind::I1, {0});
  EXPECT_EQ(reduce(bits, 0, false, ReduceKind::Max)[0], 0);
  EXPECT_EQ(reduce(bits, 0, false, ReduceKind::Min)[0], 1);
}

TEST(ReferenceReduce, NaNStays) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Numbers &numbers : {Numbers{1, nan}, Numbers{nan, 1}}) {
    const Tensor x = f32({2}, numbers);
    EXPECT_TRUE(std::isnan(reduce(x, 0, false, ReduceKind::Max)[0]));
    EXPECT_TRUE(std::isnan(reduce(x, 0, false, ReduceKind::Min)[0]));
  }
}
