// RUN: llmir-checkpoint-tests --gtest_filter='StoredParameter*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/StoredParameter.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {

constexpr const char *queries = "model.layers.0.self_attn.q_proj.weight";

class StoredParameterTest : public testing::Test {
protected:
  void SetUp() override {
    Expected<Checkpoint> opened =
        Checkpoint::open(LLMIR_SOURCE_DIR "/models/demo");
    ASSERT_TRUE(opened) << opened.status().message();
    checkpoint = std::make_unique<Checkpoint>(std::move(*opened));
    whole.source = queries;
    whole.shape = (*checkpoint->tensor(queries))->shape;
    ASSERT_EQ(whole.shape, (std::vector<int64_t>{256, 256}));
  }

  /// The rows; what fails is the test's failure.
  std::vector<std::vector<float>> rowsOf(const StoredParameter &parameter) {
    std::vector<std::vector<float>> rows;
    Status status = readRows(*checkpoint, parameter, [&](Span<const float> r) {
      rows.emplace_back(r.begin(), r.end());
      return Status::ok();
    });
    EXPECT_TRUE(status) << status.message();
    return rows;
  }
  std::string failureOf(const StoredParameter &parameter) {
    Status status = readRows(*checkpoint, parameter,
                             [](Span<const float>) { return Status::ok(); });
    EXPECT_FALSE(status);
    return status.message();
  }

  std::unique_ptr<Checkpoint> checkpoint;
  StoredParameter whole;
};

TEST_F(StoredParameterTest, RowsOfASlice) {
  const auto all = rowsOf(whole);
  ASSERT_EQ(all.size(), 256u);
  EXPECT_NE(all[0], all[1]);
  StoredParameter slice = whole;
  slice.shape = {3, 256};
  slice.firstRow = 5;
  slice.storedRows = 256;
  const auto some = rowsOf(slice);
  ASSERT_EQ(some.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(some[i], all[i + 5]) << i;
}

TEST_F(StoredParameterTest, RowsOfGroups) {
  const auto all = rowsOf(whole);
  StoredParameter groups = whole;
  groups.shape = {6, 256};
  groups.firstRow = 4;
  groups.storedRows = 256;
  groups.groupRows = 2;
  groups.groupStride = 100;
  const auto some = rowsOf(groups);
  ASSERT_EQ(some.size(), 6u);
  const size_t rows[] = {4, 5, 104, 105, 204, 205};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(some[i], all[rows[i]]) << i;
}

TEST_F(StoredParameterTest, RowsOfAdjacentPairsGoIntoTwoHalves) {
  const auto stored = rowsOf(whole);
  StoredParameter permuted = whole;
  permuted.unpermuteHeads = 4; // Heads of 64 rows.
  const auto rows = rowsOf(permuted);
  for (size_t head = 0; head < 4; ++head)
    for (size_t pair = 0; pair < 32; ++pair) {
      EXPECT_EQ(rows[head * 64 + pair], stored[head * 64 + 2 * pair]);
      EXPECT_EQ(rows[head * 64 + 32 + pair], stored[head * 64 + 2 * pair + 1]);
    }
}

TEST_F(StoredParameterTest, RowsOfTwoHalvesGoIntoAdjacentPairs) {
  const auto stored = rowsOf(whole);
  StoredParameter permuted = whole;
  permuted.permuteHeads = 4; // Heads of 64 rows.
  const auto rows = rowsOf(permuted);
  for (size_t head = 0; head < 4; ++head)
    for (size_t pair = 0; pair < 32; ++pair) {
      EXPECT_EQ(rows[head * 64 + 2 * pair], stored[head * 64 + pair]);
      EXPECT_EQ(rows[head * 64 + 2 * pair + 1], stored[head * 64 + 32 + pair]);
    }
}

TEST_F(StoredParameterTest, ColumnsOfATransposedSlice) {
  const auto stored = rowsOf(whole);
  StoredParameter transposed = whole;
  transposed.shape = {7, 256};
  transposed.isTransposed = true;
  transposed.firstRow = 249;
  transposed.storedRows = 256;
  const auto rows = rowsOf(transposed);
  ASSERT_EQ(rows.size(), 7u);
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < 256; ++j)
      EXPECT_EQ(rows[i][j], stored[j][249 + i]);
}

TEST_F(StoredParameterTest, SliceOfTheColumnsOfAStack) {
  const auto stored = rowsOf(whole);
  StoredParameter stack = whole;
  stack.shape = {8, 256, 5};
  stack.isTransposed = stack.slicesColumns = true;
  stack.firstRow = 3;
  stack.storedRows = 32;
  const auto rows = rowsOf(stack);
  ASSERT_EQ(rows.size(), 8u * 256u);
  for (size_t matrix = 0; matrix < 8; ++matrix)
    for (size_t i = 0; i < 256; ++i)
      for (size_t k = 0; k < 5; ++k)
        EXPECT_EQ(rows[matrix * 256 + i][k], stored[matrix * 32 + 3 + k][i]);
}

// The tensor as a stack of matrices with one row of 256 columns each.
TEST_F(StoredParameterTest, ColumnsOfAStack) {
  const auto stored = rowsOf(whole);
  StoredParameter stack = whole;
  stack.shape = {256, 128, 1};
  stack.isTransposed = true;
  stack.firstRow = 1;
  stack.storedRows = 256;
  stack.groupRows = 1;
  stack.groupStride = 2;
  const auto columns = rowsOf(stack);
  ASSERT_EQ(columns.size(), 256u * 128u);
  for (size_t m : {0, 1, 255})
    for (size_t i : {0, 1, 127})
      EXPECT_EQ(columns[m * 128 + i][0], stored[m][2 * i + 1]);
  // Without transposition: the same rows of one column.
  stack.isTransposed = false;
  EXPECT_EQ(rowsOf(stack), columns);
}

TEST_F(StoredParameterTest, AListIsItsNumbers) {
  StoredParameter norm;
  norm.source = "model.norm.weight";
  norm.shape = {256};
  const auto all = rowsOf(norm);
  ASSERT_EQ(all.size(), 256u);
  norm.shape = {2};
  norm.firstRow = 254;
  norm.storedRows = 256;
  EXPECT_EQ(rowsOf(norm),
            (std::vector<std::vector<float>>{all[254], all[255]}));
}

TEST_F(StoredParameterTest, WhatDoesNotFitIsAnError) {
  StoredParameter wrong = whole;
  wrong.source = "nothing";
  EXPECT_NE(failureOf(wrong).find("'nothing'"), std::string::npos);
  wrong = whole;
  wrong.shape = {256, 255};
  EXPECT_NE(failureOf(wrong).find("does not contain a parameter [256, 255]"),
            std::string::npos);
  wrong = whole;
  wrong.shape = {512, 128}; // The same number of elements, in other rows.
  EXPECT_NE(failureOf(wrong).find("[256, 256] does not contain"),
            std::string::npos);
  wrong = whole;
  wrong.shape = {4, 256};
  wrong.firstRow = 253;
  wrong.storedRows = 256;
  EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  wrong.firstRow = -1;
  EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  wrong.firstRow = INT64_MAX;
  EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  // 2^64 + 2^16 elements, which is the size of the tensor modulo 2^64.
  wrong = whole;
  wrong.shape = {(int64_t(1) << 56) + 256, 256};
  EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  wrong.shape = {-256, -256};
  EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  for (int64_t heads : {-4, 3, 256, 512}) { // One row, or none, has no pair.
    wrong = whole;
    wrong.unpermuteHeads = heads;
    EXPECT_NE(failureOf(wrong).find("does not contain"), std::string::npos);
  }
}

TEST_F(StoredParameterTest, TheFirstFailureOfTheTakerEndsIt) {
  int taken = 0;
  Status status = readRows(*checkpoint, whole, [&](Span<const float>) {
    return ++taken < 3 ? Status::ok() : Status(StatusCode::IoError, "no more");
  });
  EXPECT_EQ(status.message(), "no more");
  EXPECT_EQ(taken, 3);
}

} // namespace
