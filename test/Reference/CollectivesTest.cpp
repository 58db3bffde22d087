// RUN: llmir-reference-tests --gtest_filter='ReferenceCollectives.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Collectives.h"

#include <gtest/gtest.h>

using namespace llmir::reference;

/// Rank r holds [[r, 10 + r], [20 + r, 30 + r]].
static RankTensors ranks(int64_t count) {
  RankTensors result;
  for (int64_t r = 0; r < count; ++r)
    result.emplace_back(
        ElementKind::F32, Shape({2, 2}),
        std::vector<double>({0.0 + r, 10.0 + r, 20.0 + r, 30.0 + r}));
  return result;
}

TEST(ReferenceCollectives, GatherJoinsTheGroup) {
  const RankTensors rows = allGather(ranks(4), 0, 2);
  EXPECT_EQ(rows[0].shape, Shape({4, 2}));
  EXPECT_EQ(rows[1].toDoubles(),
            std::vector<double>({0, 10, 20, 30, 1, 11, 21, 31}));
  EXPECT_EQ(rows[2].toDoubles(),
            std::vector<double>({2, 12, 22, 32, 3, 13, 23, 33}));
  EXPECT_EQ(allGather(ranks(2), 1, 2)[1].toDoubles(),
            std::vector<double>({0, 10, 1, 11, 20, 30, 21, 31}));
}

TEST(ReferenceCollectives, ReduceInRankOrder) {
  EXPECT_EQ(allReduce(ranks(3), 3, Reduction::Sum)[1].toDoubles(),
            std::vector<double>({3, 33, 63, 93}));
  EXPECT_EQ(allReduce(ranks(4), 2, Reduction::Mean)[3].toDoubles(),
            std::vector<double>({2.5, 12.5, 22.5, 32.5}));
  EXPECT_EQ(allReduce(ranks(3), 3, Reduction::Max)[0].toDoubles(),
            std::vector<double>({2, 12, 22, 32}));
  EXPECT_EQ(allReduce(ranks(3), 3, Reduction::Min)[0].toDoubles(),
            std::vector<double>({0, 10, 20, 30}));
  // Ascending: (1 + 2^60) − 2^60 is 0, any other order gives 1.
  RankTensors wide;
  for (double value : {1.0, 0x1p60, -0x1p60})
    wide.emplace_back(ElementKind::F32, Shape({1}),
                      std::vector<double>({value}));
  EXPECT_EQ(allReduce(wide, 3, Reduction::Sum)[2][0], 0);
}

TEST(ReferenceCollectives, ScatterIsReduceThenShard) {
  const RankTensors x = ranks(4);
  const RankTensors sums = allReduce(x, 2, Reduction::Sum);
  for (int64_t dim : {0, 1}) {
    const RankTensors parts = reduceScatter(x, dim, 2, Reduction::Sum);
    for (int64_t r = 0; r < 4; ++r)
      EXPECT_TRUE(
          sameBits(parts[size_t(r)], shard(sums[size_t(r)], dim, 2, r % 2)));
    const RankTensors whole = allGather(parts, dim, 2);
    EXPECT_TRUE(sameBits(whole[3], sums[3]));
  }
}
