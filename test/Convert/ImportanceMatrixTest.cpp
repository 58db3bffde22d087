// RUN: llmir-convert-tests --gtest_filter='ImportanceMatrix*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading of importance matrices, valid and hostile ones.
//
//===----------------------------------------------------------------------===//

#include "llmir/Convert/ImportanceMatrix.h"

#include "../Checkpoint/TestFiles.h"

#include "llmir/Checkpoint/GGUFWriter.h"

#include <cmath>
#include <random>

using namespace llmir;
using namespace llmir::test;

namespace {

/// The old format.
struct OldFile {
  std::string bytes;

  OldFile &i32(int32_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), 4);
    return *this;
  }
  OldFile &text(const std::string &value) {
    i32(static_cast<int32_t>(value.size()));
    bytes += value;
    return *this;
  }
  OldFile &floats(const std::vector<float> &values) {
    i32(static_cast<int32_t>(values.size()));
    bytes.append(reinterpret_cast<const char *>(values.data()),
                 values.size() * 4);
    return *this;
  }
};

OldFile valid() {
  return OldFile()
      .i32(2)
      .text("blk.0.attn_q.weight")
      .i32(5)
      .floats({1, 2, 3, 6})
      .text("blk.0.ffn_up.weight")
      .i32(5)
      .floats({0, 0, 0, 0})
      .i32(40)
      .text("wiki");
}

std::string ggufFile(const std::vector<GGUFTensor> &tensors,
                     const std::vector<std::vector<float>> &values) {
  GGUFKeys keys;
  keys.setString("general.type", "imatrix");
  keys.setStrings("imatrix.datasets", {"a", "b"});
  keys.setU32("imatrix.chunk_count", 7);
  std::string bytes = ggufHeader(keys, tensors);
  for (const std::vector<float> &each : values) {
    bytes.append(reinterpret_cast<const char *>(each.data()), each.size() * 4);
    bytes.resize((bytes.size() + ggufAlignment - 1) / ggufAlignment *
                 ggufAlignment);
  }
  return bytes;
}

class ImportanceMatrixTest : public testing::Test {
protected:
  Expected<ImportanceMatrix> read(const std::string &bytes) {
    const std::string path = folder.path() + "/imatrix";
    std::ofstream(path, std::ios::binary) << bytes;
    return ImportanceMatrix::open(path);
  }
  TempFolder folder;
};

TEST_F(ImportanceMatrixTest, OldFormat) {
  Expected<ImportanceMatrix> matrix = read(valid().bytes);
  ASSERT_TRUE(matrix) << matrix.status().message();
  EXPECT_EQ(matrix->size(), 2u);
  EXPECT_EQ(matrix->dataset(), "wiki");
  EXPECT_EQ(matrix->chunks(), 40);
  // Divided by the mean.
  Expected<Span<const float>> weights =
      matrix->find("blk.0.attn_q.weight", 1, 4);
  ASSERT_TRUE(weights);
  EXPECT_FLOAT_EQ((*weights)[0], 1.0f / 3);
  EXPECT_FLOAT_EQ((*weights)[3], 2.0f);
  // A tensor that was never used.
  weights = matrix->find("blk.0.ffn_up.weight", 1, 4);
  ASSERT_TRUE(weights);
  EXPECT_FLOAT_EQ((*weights)[2], 1.0f);
  weights = matrix->find("output.weight", 1, 4);
  ASSERT_TRUE(weights);
  EXPECT_TRUE(weights->empty());
  EXPECT_EQ(matrix->find("blk.0.attn_q.weight", 1, 8).status().code(),
            StatusCode::InvalidFile);
}

TEST_F(ImportanceMatrixTest, GGUF) {
  const std::string bytes =
      ggufFile({{"blk.0.ffn_up_exps.weight.in_sum2", {2, 3}},
                {"blk.0.ffn_up_exps.weight.counts", {2, 1}}},
               {{2, 4, 6, 1, 1, 1}, {2, 0}});
  Expected<ImportanceMatrix> matrix = read(bytes);
  ASSERT_TRUE(matrix) << matrix.status().message();
  EXPECT_EQ(matrix->dataset(), "a, b");
  EXPECT_EQ(matrix->chunks(), 7);
  Expected<Span<const float>> weights =
      matrix->find("blk.0.ffn_up_exps.weight", 2, 3);
  ASSERT_TRUE(weights);
  EXPECT_FLOAT_EQ((*weights)[0], 0.5f);
  EXPECT_FLOAT_EQ((*weights)[2], 1.5f);
  EXPECT_FLOAT_EQ((*weights)[4], 1.0f); // An expert without rows.
}

TEST_F(ImportanceMatrixTest, HostileGGUF) {
  const GGUFTensor sums{"a.weight.in_sum2", {1, 4}},
      counts{"a.weight.counts", {1, 1}};
  const std::pair<std::string, std::string> cases[] = {
      {ggufFile({}, {}), "no tensors"},
      {ggufFile({sums}, {{1, 2, 3, 4}}), "has no counts"},
      {ggufFile({sums, {"a.weight.counts", {3, 1}}}, {{1, 2, 3, 4}, {1, 1, 1}}),
       "counts [3, 1]"},
      {ggufFile({sums, counts}, {{1, NAN, 3, 4}, {1}}), "means of squares"},
      {ggufFile({sums, counts}, {{1, -1, 3, 4}, {1}}), "means of squares"},
      {ggufFile({sums, counts}, {{1, INFINITY, 3, 4}, {1}}),
       "means of squares"}};
  for (const auto &[bytes, message] : cases) {
    Expected<ImportanceMatrix> matrix = read(bytes);
    ASSERT_FALSE(matrix) << message;
    EXPECT_EQ(matrix.status().code(), StatusCode::InvalidFile);
    EXPECT_NE(matrix.status().message().find(message), std::string::npos)
        << matrix.status().message();
  }
}

TEST_F(ImportanceMatrixTest, HostileOldFormat) {
  const std::string name = "blk.0.attn_q.weight";
  const std::pair<OldFile, std::string> cases[] = {
      {OldFile(), "the number of entries"},
      {OldFile().i32(0), "the number of entries"},
      {OldFile().i32(-1), "the number of entries"},
      {OldFile().i32(INT32_MAX), "the name of entry 0"},
      {OldFile().i32(1).i32(-5), "the name of entry 0"},
      {OldFile().i32(1).i32(INT32_MAX), "the name of entry 0"},
      {OldFile().i32(1).text(""), "the name of entry 0"},
      {OldFile().i32(1).text(std::string(1000, 'a')), "the name of entry 0"},
      {OldFile().i32(1).text(name), "the size of entry 0"},
      {OldFile().i32(1).text(name).i32(-1).floats({1}), "the size of entry 0"},
      {OldFile().i32(1).text(name).i32(1).i32(0), "the size of entry 0"},
      {OldFile().i32(1).text(name).i32(1).i32(-8), "the size of entry 0"},
      {OldFile().i32(1).text(name).i32(1).i32(INT32_MAX),
       "the size of entry 0"},
      {OldFile().i32(1).text(name).i32(1).floats({1, NAN}), "means of squares"},
      {OldFile().i32(1).text(name).i32(1).floats({-1, 1}), "means of squares"},
      {OldFile().i32(2).text(name).i32(1).floats({1}), "the name of entry 1"},
      {OldFile().i32(2).text(name).i32(1).floats({1}).text(name).i32(1).floats(
           {1}),
       "is there twice"},
      {valid().i32(3), ""},
      {OldFile().i32(1).text(name).i32(1).floats({1}).i32(-3), "what follows"},
      {OldFile().i32(1).text(name).i32(1).floats({1}).i32(3).i32(99),
       "what follows"}};
  for (const auto &[file, message] : cases) {
    Expected<ImportanceMatrix> matrix = read(file.bytes);
    if (message.empty()) { // Bytes at the end are ignored.
      EXPECT_TRUE(matrix);
      continue;
    }
    ASSERT_FALSE(matrix) << message;
    EXPECT_EQ(matrix.status().code(), StatusCode::InvalidFile);
    EXPECT_NE(matrix.status().message().find(message), std::string::npos)
        << matrix.status().message();
  }
}

TEST_F(ImportanceMatrixTest, MutationsAreReadOrRefused) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = valid().bytes;
    for (int i = 0; i < 3; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    (void)read(bytes).status();
  }
}

} // namespace
