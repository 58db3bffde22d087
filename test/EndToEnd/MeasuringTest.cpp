// RUN: llmir-command-tests --gtest_filter='Measuring*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the command measures with: the reader of memory, and divergences.
//
//===----------------------------------------------------------------------===//

#include "AddressSpaceLimit.h"
#include "Divergence.h"
#include "MemoryBandwidth.h"
#include "llmir/Runtime/WorkerTeam.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::cli;

TEST(Measuring, ReadsLessWhereThereIsLessMemory) {
  if (!test::canLimitAddressSpace)
    GTEST_SKIP() << "a sanitizer has the addresses";
  auto team = WorkerTeam::create(1);
  ASSERT_TRUE(team);
  test::AddressSpaceLimit limit(int64_t(100) << 20);
  ASSERT_TRUE(limit.isSet);
  auto reader = MemoryReader::create(**team, int64_t(512) << 20);
  ASSERT_TRUE(reader) << reader.status().message();
  EXPECT_LE((*reader)->bytes(), int64_t(100) << 20);
  EXPECT_GE((*reader)->bytes(), int64_t(16) << 20);
  EXPECT_GT((*reader)->measure(0.001).bytesPerSecond, 0);
}

/// A NumPy file of float32 [rows, 2].
static std::string writeReference(const std::vector<float> &values) {
  std::string path = testing::TempDir() + "llmir-reference.npy";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size() / 2) + ", 2), }";
  header.resize(118, ' ');
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
  file.write(reinterpret_cast<const char *>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return path;
}

// A model that returns NaN has no divergence; NaN cannot be ordered.
TEST(Measuring, DivergenceOfNaNIsNaN) {
  std::string path = writeReference({0, 1, 1, 0, 2, 3});
  auto divergence = Divergence::open(path, 3, 2);
  ASSERT_TRUE(divergence) << divergence.status().message();
  const float rows[3][2] = {{0, 1}, {NAN, 0}, {5, 0}};
  for (const auto &row : rows)
    ASSERT_TRUE(divergence->compare({row, 2}));
  EXPECT_TRUE(std::isnan(divergence->mean()));
  EXPECT_TRUE(std::isnan(divergence->percentile99()));

  auto finite = Divergence::open(path, 3, 2);
  ASSERT_TRUE(finite);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(finite->compare({rows[i % 2 * 2], 2}));
  EXPECT_GT(finite->percentile99(), finite->mean());
}
