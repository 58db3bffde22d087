// RUN: llmir-reference-tests --gtest_filter='ReferencePositions.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Positions.h"
#include "llmir/Reference/NN.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace llmir;
using namespace llmir::reference;

static Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

/// Numbers 1, 2, 3, …
static Tensor counted(Shape shape) {
  Tensor result(ElementKind::F32, std::move(shape));
  std::iota(result.floats().begin(), result.floats().end(), 1);
  return result;
}

TEST(ReferencePositions, RotationByTablesIsRotationByPositions) {
  const Tensor x = counted({3, 2, 5});
  const Tensor positions(ElementKind::I64, {3}, {4, 5, 6});
  const std::vector<double> frequencies = {1, 0.25};
  const RopeTables tables = ropeTables(positions, frequencies, 1.5);
  EXPECT_EQ(tables.cosines.shape, Shape({3, 2}));
  Expected<Tensor> rotated = rotate(x, tables, 0);
  ASSERT_TRUE(rotated) << rotated.status().message();
  EXPECT_EQ(rotated->toDoubles(),
            rope(x, positions, frequencies, 1.5, false).toDoubles());
}

TEST(ReferencePositions, TokensStandInAnyDimension) {
  // Two sequences, three tokens, two heads of two elements, rotated by half a
  // turn at token 1 and not at all elsewhere.
  const double pi = std::acos(-1.0);
  const RopeTables tables = ropeTables(f32({3}, {0, pi, 0}), {1}, 1);
  for (int64_t tokenDim : {1, 2}) {
    const Tensor x =
        counted(tokenDim == 1 ? Shape{2, 3, 2, 2} : Shape{2, 2, 3, 2});
    Expected<Tensor> rotated = rotate(x, tables, tokenDim);
    ASSERT_TRUE(rotated);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t token = tokenDim == 1 ? i / 4 % 3 : i / 2 % 3;
      EXPECT_NEAR((*rotated)[i], token == 1 ? -x[i] : x[i], 1e-12) << i;
    }
  }
}

TEST(ReferencePositions, SequencesMayHaveTablesOfTheirOwn) {
  const double pi = std::acos(-1.0);
  const RopeTables tables = ropeTables(f32({2, 1}, {0, pi}), {1}, 1);
  Expected<Tensor> rotated = rotate(counted({2, 1, 2}), tables, 1);
  ASSERT_TRUE(rotated);
  const std::vector<double> expected = {1, 2, -3, -4};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(rotated->toDoubles()[i], expected[i], 1e-12);
}

TEST(ReferencePositions, TablesThatDoNotFitAreRefused) {
  const RopeTables tables = ropeTables(f32({3}, {0, 1, 2}), {1, 1}, 1);
  EXPECT_FALSE(rotate(counted({2, 1, 4}), tables, 0)); // Tokens.
  EXPECT_FALSE(rotate(counted({3, 1, 3}), tables, 0)); // Head size.
  const RopeTables own = ropeTables(f32({3, 2}, {0, 1, 2, 3, 4, 5}), {1}, 1);
  EXPECT_FALSE(rotate(counted({2, 2, 2}), own, 1)); // Sequences.
  const RopeTables mixed{tables.cosines, own.sines};
  EXPECT_FALSE(rotate(counted({3, 1, 4}), mixed, 0));
}

TEST(ReferencePositions, PairsTakeTheirSectionsPlane) {
  const Tensor planes = counted({3, 1, 4}); // 1 to 4, 5 to 8, 9 to 12.
  Expected<RopeTables> selected = selectPlanes({planes, planes}, {1, 1, 2});
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->cosines.toDoubles(), std::vector<double>({1, 6, 11, 12}));
  selected = selectPlanes({planes, planes}, {1, 1, 1, 1}); // The first again.
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->sines.toDoubles(), std::vector<double>({1, 6, 11, 4}));
  EXPECT_FALSE(selectPlanes({planes, planes}, {1, 1, 1}));
  EXPECT_FALSE(selectPlanes({planes, planes}, {1, 1, 3}));
  EXPECT_FALSE(selectPlanes({planes, planes}, {-1, 5}));
}

TEST(ReferencePositions, PatchesAreListedBlockByBlock) {
  // Pair 0 is rotated by the row, pair 1 by the column, both by one radian.
  Expected<RopeTables> tables = visionTables({2, 2, 4, 2}, 2, 10000);
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->cosines.shape, Shape({16, 2}));
  const std::vector<int64_t> rows = {0, 0, 1, 1, 0, 0, 1, 1};
  const std::vector<int64_t> columns = {0, 1, 0, 1, 2, 3, 2, 3};
  for (int64_t patch = 0; patch < 16; ++patch) {
    const auto place = static_cast<size_t>(patch % 8);
    EXPECT_DOUBLE_EQ(tables->sines.at({patch, 0}), std::sin(rows[place]));
    EXPECT_DOUBLE_EQ(tables->cosines.at({patch, 1}), std::cos(columns[place]));
  }
  tables = visionTables({1, 1, 1, 1}, 4, 100);
  ASSERT_TRUE(tables);
  EXPECT_FALSE(visionTables({1, 3, 4, 2}, 2, 10000));
  EXPECT_FALSE(visionTables({1, 2, 2, 0}, 2, 10000));
  EXPECT_FALSE(visionTables({int64_t(1) << 40, 2, 2, 2}, 2, 10000));
}

TEST(ReferencePositions, CausalMaskKeepsThePastAndTheWindow) {
  const double m = maskedScore;
  EXPECT_EQ(causalMask(f32({2, 3}, {1, 2, 3, 4, 5, 6}), 0).toDoubles(),
            std::vector<double>({1, 2, m, 4, 5, 6}));
  EXPECT_EQ(causalMask(f32({2, 3}, {1, 2, 3, 4, 5, 6}), 2).toDoubles(),
            std::vector<double>({1, 2, m, m, 5, 6}));
  EXPECT_EQ(causalMask(f32({2, 2, 1}, {1, 2, 3, 4}), 0).toDoubles(),
            std::vector<double>({m, 2, m, 4})); // More rows than columns.
  EXPECT_EQ(causalMask(f32({0, 3}, {}), 0).shape, Shape({0, 3}));
}
