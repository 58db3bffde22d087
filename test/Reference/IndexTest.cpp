// RUN: llmir-reference-tests --gtest_filter='ReferenceIndex.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Index.h"

#include <gtest/gtest.h>
#include <limits>

using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}
static Tensor i32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::I32, std::move(shape), std::move(data));
}
static Tensor counting(Shape shape) {
  Tensor result(ElementKind::F32, std::move(shape));
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = double(i);
  return result;
}
using Numbers = std::vector<double>;

TEST(ReferenceIndex, GatherReplacesADimension) {
  const Tensor table = counting({2, 3, 2});
  const Tensor y = *gather(table, i32({2, 1}, {2, 0}), 1);
  EXPECT_EQ(y.shape, Shape({2, 2, 1, 2}));
  EXPECT_EQ(y.toDoubles(), Numbers({4, 5, 0, 1, 10, 11, 6, 7}));
  EXPECT_EQ(gather(table, i32({}, {1}), 2)->shape, Shape({2, 3}));
  EXPECT_EQ(gather(table, i32({0}, {}), 0)->shape, Shape({0, 3, 2}));
  EXPECT_EQ(gather(table, i32({2}, {0, 3}), 1).status().cause(),
            "index 1 is 3, but the dimension has 3");
  EXPECT_FALSE(gather(table, i32({1}, {-1}), 1));
}

TEST(ReferenceIndex, ScatterWritesInOrder) {
  const Tensor x = f32({2, 3}, {0, 0, 0, 0, 0, 0});
  const Tensor indices = i32({2, 2}, {2, 0, 1, 1});
  const Tensor source = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(scatter(x, indices, source, 1)->toDoubles(),
            Numbers({2, 0, 1, 0, 4, 0}));
  EXPECT_EQ(scatter(x, i32({1, 3}, {1, 0, 1}), f32({1, 3}, {1, 2, 3}), 0)
                ->toDoubles(),
            Numbers({0, 2, 0, 1, 0, 3}));
  EXPECT_FALSE(scatter(x, i32({2, 2}, {3, 0, 1, 1}), source, 1));
  EXPECT_FALSE(scatter(x, i32({4}, {0, 0, 1, 1}), source, 1));
  EXPECT_EQ(scatter(x, i32({3, 1}, {0, 0, 0}), f32({3, 1}, {1, 2, 3}), 1)
                .status()
                .cause(),
            "indices tensor<3x1xi32> of tensor<3x1xf32> do not match "
            "tensor<2x3xf32>");
}

TEST(ReferenceIndex, MaskedScatterTakesNumbersInOrder) {
  const Tensor x = counting({2, 2});
  const Tensor mask(ElementKind::I1, {2, 2}, {0, 1, 1, 0});
  EXPECT_EQ(maskedScatter(x, mask, f32({3}, {7, 8, 9}))->toDoubles(),
            Numbers({0, 7, 8, 3}));
  const Tensor column(ElementKind::I1, {2, 1}, {0, 1});
  EXPECT_EQ(maskedScatter(x, column, f32({2}, {7, 8}))->toDoubles(),
            Numbers({0, 1, 7, 8}));
  EXPECT_EQ(maskedScatter(x, mask, f32({1}, {7})).status().cause(),
            "the mask selects 2 elements, but the source has 1");
  EXPECT_FALSE(maskedScatter(f32({2}, {0, 0}), mask, f32({2}, {7, 8})));
  EXPECT_FALSE(maskedScatter(x, Tensor(ElementKind::I1, {3}), x));
}

TEST(ReferenceIndex, IndexMixesRangesAndTensors) {
  const Tensor x = counting({2, 3, 4});
  const Tensor rows = i32({2}, {1, 0}), columns = i32({2, 1}, {2, 0});
  // A single index tensor replaces its dimension.
  const Tensor one = *index(x, {{}, {{}, &rows}, {{0, 2, 1}, nullptr}});
  EXPECT_EQ(one.shape, Shape({2, 2, 2}));
  EXPECT_EQ(one.toDoubles(), Numbers({4, 5, 0, 1, 16, 17, 12, 13}));
  // Neighbours choose together.
  const Tensor both = *index(x, {{}, {{}, &rows}, {{}, &columns}});
  EXPECT_EQ(both.shape, Shape({2, 2, 2}));
  EXPECT_EQ(both.toDoubles(), Numbers({6, 2, 4, 0, 18, 14, 16, 12}));
  // Apart they come first.
  const Tensor apart =
      *index(x, {{{}, &rows}, {{1, 3, 1}, nullptr}, {{}, &rows}});
  EXPECT_EQ(apart.shape, Shape({2, 2}));
  EXPECT_EQ(apart.toDoubles(), Numbers({17, 21, 4, 8}));
  EXPECT_FALSE(index(x, {{{}, &columns}, {}, {}}));
  const Tensor three = i32({3}, {0, 0, 0});
  EXPECT_FALSE(index(x, {{}, {{}, &rows}, {{}, &three}}));
  EXPECT_EQ(index(x, {{}, {}, {}})->toDoubles(), x.toDoubles());
}

TEST(ReferenceIndex, ArgsortIsStable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = f32({5}, {2, nan, 1, 2, 1});
  EXPECT_EQ(argsort(x, 0, false).toDoubles(), Numbers({2, 4, 0, 3, 1}));
  EXPECT_EQ(argsort(x, 0, true).toDoubles(), Numbers({1, 0, 3, 2, 4}));
  const Tensor matrix = f32({2, 2}, {3, 1, 2, 4});
  EXPECT_EQ(argsort(matrix, 0, false).toDoubles(), Numbers({1, 0, 0, 1}));
  EXPECT_EQ(argsort(matrix, 1, false).toDoubles(), Numbers({1, 0, 0, 1}));
  EXPECT_EQ(argsort(x, 0, false).kind, ElementKind::I32);
  EXPECT_EQ(argsort(f32({0, 2}, {}), 1, false).shape, Shape({0, 2}));
  EXPECT_EQ(argsort(f32({2, 0}, {}), 1, false).shape, Shape({2, 0}));
}

TEST(ReferenceIndex, TopKIsTheStartOfTheOrder) {
  const Tensor x = f32({2, 3}, {1, 3, 2, 5, 5, 4});
  auto [values, indices] = topK(x, 2, 1, true);
  EXPECT_EQ(values.toDoubles(), Numbers({3, 2, 5, 5}));
  EXPECT_EQ(indices.toDoubles(), Numbers({1, 2, 0, 1}));
  auto [least, places] = topK(x, 1, 0, false);
  EXPECT_EQ(least.shape, Shape({1, 3}));
  EXPECT_EQ(least.toDoubles(), Numbers({1, 3, 2}));
  EXPECT_EQ(places.toDoubles(), Numbers({0, 0, 0}));
  EXPECT_EQ(topK(x, 0, 1, true).first.shape, Shape({2, 0}));
}
