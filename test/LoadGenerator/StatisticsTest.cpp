// RUN: llmir-load-generator-tests --gtest_filter='Statistics.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Statistics.h"

#include <gtest/gtest.h>

using namespace llmir;

// Expected values are those of numpy.percentile(), numpy.mean(), numpy.std().

TEST(Statistics, InterpolatesPercentiles) {
  const std::vector<double> values = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(values, 25), 1.75);
  EXPECT_DOUBLE_EQ(percentile(values, 50), 3);
  EXPECT_DOUBLE_EQ(percentile(values, 90), 6.8);
  EXPECT_DOUBLE_EQ(percentile(values, 99), 7.88);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 8);
  EXPECT_DOUBLE_EQ(percentile({5}, 99), 5);
}

TEST(Statistics, SummarizesValuesInAnyOrder) {
  const Summary summary = summarize({8, 1, 4, 2}, {25, 99});
  EXPECT_DOUBLE_EQ(summary.mean, 3.75);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_NEAR(summary.deviation, 2.680951323690902, 1e-12);
  ASSERT_EQ(summary.percentiles.size(), 2u);
  EXPECT_DOUBLE_EQ(summary.percentiles[0], 1.75);
  EXPECT_DOUBLE_EQ(summary.percentiles[1], 7.88);
}

TEST(Statistics, HasZerosForNoValues) {
  const Summary summary = summarize({}, {50, 99});
  EXPECT_EQ(summary.mean, 0);
  EXPECT_EQ(summary.percentiles, (std::vector<double>{0, 0}));
}
