// RUN: llmir-quantize-tests --gtest_filter=EncodeRow*
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantizers against a plain search, bounds, and edge cases.
//
//===----------------------------------------------------------------------===//

#include "llmir/Quantize/EncodeRow.h"

#include "llmir/Support/IntegerFormat.h"
#include "llmir/Support/StoredBlock.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace llmir;

namespace {

constexpr int64_t kColumns = 1024;

constexpr TensorFormat blockFormats[] = {
    TensorFormat::Q8_0,  TensorFormat::Q4_0,   TensorFormat::Q4_1,
    TensorFormat::Q5_0,  TensorFormat::Q5_1,   TensorFormat::Q2_K,
    TensorFormat::Q3_K,  TensorFormat::Q4_K,   TensorFormat::Q5_K,
    TensorFormat::Q6_K,  TensorFormat::IQ4_NL, TensorFormat::IQ4_XS,
    TensorFormat::TQ1_0, TensorFormat::TQ2_0,  TensorFormat::MXFP4};

std::vector<float> normalRow(unsigned seed, float scale = 0.02f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> row(kColumns);
  for (float &value : row)
    value = normal(random);
  return row;
}

std::vector<float> someWeights(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> weights(kColumns);
  for (float &weight : weights)
    weight = std::exp(normal(random));
  return weights;
}

std::vector<float> roundTrip(TensorFormat format, const std::vector<float> &row,
                             const std::vector<float> &weights = {}) {
  const auto columns = static_cast<int64_t>(row.size());
  std::vector<uint8_t> bytes(
      static_cast<size_t>(*tensorRowBytes(format, columns)));
  EXPECT_TRUE(encodeTensorRow(format, row.data(), columns,
                              weights.empty() ? nullptr : weights.data(),
                              bytes.data()));
  std::vector<float> decoded(row.size());
  decodeTensorRow(format, bytes.data(), columns, decoded.data());
  return decoded;
}

/// sum w (x - y)^2 / sum w x^2
double errorOf(const std::vector<float> &x, const std::vector<float> &y,
               const std::vector<float> &weights = {}) {
  double error = 0, all = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double w = weights.empty() ? 1.0 : weights[i];
    error += w * (double(x[i]) - y[i]) * (double(x[i]) - y[i]);
    all += w * double(x[i]) * x[i];
  }
  return all > 0 ? error / all : error;
}

TEST(EncodeRowTest, BlocksAreTheInverseOfReading) {
  std::mt19937 random(7);
  for (TensorFormat format : blockFormats) {
    const TensorFormatInfo &info = tensorFormatInfo(format);
    std::vector<uint8_t> bytes(static_cast<size_t>(info.bytesPerBlock));
    for (int round = 0; round < 200; ++round) {
      for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random());
      StoredBlock block = {}, again = {};
      readStoredBlock(format, bytes.data(), block);
      std::vector<uint8_t> written(bytes.size(), 0xAA);
      writeStoredBlock(format, block, written.data());
      readStoredBlock(format, written.data(), again);
      EXPECT_EQ(0, std::memcmp(&block, &again, sizeof block)) << info.name;
      // A byte of TQ1_0 has more values than five digits; others are unique.
      if (format != TensorFormat::TQ1_0) {
        EXPECT_EQ(bytes, written) << info.name;
      }
    }
  }
}

/// The least error with one scale of a dense set, levels being the nearest
/// ones: what any search over scales alone can reach.
double searchedError(const IntegerFormat &format, const float *x,
                     int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(double(x[i])));
  std::vector<double> levels;
  if (format.usesTable())
    for (int64_t i = 0; i < format.codebook->size(); ++i)
      levels.push_back(format.codebook->entries[static_cast<size_t>(i)]);
  else
    for (int64_t q = format.lowest(); q <= format.highest(); ++q)
      levels.push_back(static_cast<double>(q));
  double least = INFINITY;
  for (int sign : {-1, 1})
    for (int step = 0; step < 600; ++step) {
      const double scale =
          sign * largest / -double(format.lowest()) * (0.6 + 0.001 * step);
      double error = 0;
      for (int64_t i = 0; i < count; ++i) {
        double nearest = INFINITY;
        for (double level : levels)
          nearest = std::min(nearest, std::fabs(x[i] - scale * level));
        error += nearest * nearest;
      }
      least = std::min(least, error);
    }
  return least;
}

TEST(EncodeRowTest, ScalesAreAsGoodAsASearch) {
  for (TensorFormat format :
       {TensorFormat::Q4_0, TensorFormat::Q5_0, TensorFormat::IQ4_NL}) {
    const std::vector<float> row = normalRow(11);
    const std::vector<float> decoded = roundTrip(format, row);
    double reached = 0, searched = 0;
    for (int64_t j = 0; j < kColumns; j += 32) {
      searched += searchedError(*IntegerFormat::ofBlocks(format), &row[j], 32);
      for (int64_t i = j; i < j + 32; ++i)
        reached += std::pow(double(row[i]) - decoded[i], 2);
    }
    EXPECT_LE(reached, 1.04 * searched) << tensorFormatInfo(format).name;
  }
}

TEST(EncodeRowTest, TernaryIsOptimal) {
  // All supports of a block whose other elements are zero.
  std::vector<float> row(256, 0.0f);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 10; ++i)
    row[static_cast<size_t>(i)] = normal(random);
  double best = INFINITY;
  for (int mask = 1; mask < 1024; ++mask) {
    double sum = 0, count = 0, squares = 0;
    for (int i = 0; i < 10; ++i) {
      squares += double(row[i]) * row[i];
      if (mask >> i & 1) {
        sum += std::fabs(row[i]);
        ++count;
      }
    }
    best = std::min(best, squares - sum * sum / count);
  }
  for (TensorFormat format : {TensorFormat::TQ1_0, TensorFormat::TQ2_0}) {
    const std::vector<float> decoded = roundTrip(format, row);
    double error = 0;
    for (size_t i = 0; i < row.size(); ++i)
      error += std::pow(double(row[i]) - decoded[i], 2);
    EXPECT_LE(error, best * 1.001);
  }
}

TEST(EncodeRowTest, ErrorsOfNormalElementsAreBounded) {
  const std::pair<TensorFormat, double> bounds[] = {
      {TensorFormat::Q8_0, 2.7e-5},  {TensorFormat::Q4_0, 7.0e-3},
      {TensorFormat::Q4_1, 5.2e-3},  {TensorFormat::Q5_0, 1.75e-3},
      {TensorFormat::Q5_1, 1.2e-3},  {TensorFormat::Q2_K, 7.2e-2},
      {TensorFormat::Q3_K, 2.2e-2},  {TensorFormat::Q4_K, 5.2e-3},
      {TensorFormat::Q5_K, 1.27e-3}, {TensorFormat::Q6_K, 3.0e-4},
      {TensorFormat::IQ4_NL, 6e-3},  {TensorFormat::IQ4_XS, 6e-3},
      {TensorFormat::TQ1_0, 0.2},    {TensorFormat::TQ2_0, 0.2},
      {TensorFormat::MXFP4, 1.3e-2}};
  for (auto [format, bound] : bounds) {
    double sum = 0;
    for (unsigned seed = 0; seed < 16; ++seed) {
      const std::vector<float> row = normalRow(seed);
      sum += errorOf(row, roundTrip(format, row));
    }
    EXPECT_LE(sum / 16, bound) << tensorFormatInfo(format).name;
  }
}

TEST(EncodeRowTest, WeightsReduceTheWeightedError) {
  for (TensorFormat format : blockFormats) {
    double plain = 0, weighted = 0;
    for (unsigned seed = 0; seed < 8; ++seed) {
      const std::vector<float> row = normalRow(seed), w = someWeights(99);
      plain += errorOf(row, roundTrip(format, row), w);
      weighted += errorOf(row, roundTrip(format, row, w), w);
    }
    EXPECT_LT(weighted, plain) << tensorFormatInfo(format).name;
  }
}

TEST(EncodeRowTest, ZerosStayZeros) {
  for (TensorFormat format : blockFormats)
    for (float value : roundTrip(format, std::vector<float>(kColumns, 0.0f)))
      EXPECT_EQ(value, 0.0f) << tensorFormatInfo(format).name;
}

TEST(EncodeRowTest, UnusualRowsStayFinite) {
  std::vector<float> spike(kColumns, 0.0f), equal(kColumns, 0.25f),
      positive = normalRow(5), tiny = normalRow(6, 1e-7f),
      large = normalRow(8, 8000.0f);
  spike[300] = -1.0f;
  for (float &value : positive)
    value = std::fabs(value) + 0.5f;
  for (TensorFormat format : blockFormats)
    for (const std::vector<float> &row :
         {spike, equal, positive, tiny, large}) {
      const std::vector<float> decoded = roundTrip(format, row);
      for (float value : decoded)
        EXPECT_TRUE(std::isfinite(value)) << tensorFormatInfo(format).name;
      EXPECT_LE(errorOf(row, decoded), 1.0) << tensorFormatInfo(format).name;
    }
}

TEST(EncodeRowTest, RefusesWhatCannotBeRepresented) {
  std::vector<uint8_t> bytes(8 * kColumns);
  for (float wrong : {std::numeric_limits<float>::quiet_NaN(),
                      std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity()}) {
    std::vector<float> row = normalRow(1);
    row[77] = wrong;
    for (TensorFormat format :
         {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16})
      EXPECT_FALSE(
          encodeTensorRow(format, row.data(), kColumns, nullptr, bytes.data()));
    for (TensorFormat format : blockFormats)
      EXPECT_FALSE(
          encodeTensorRow(format, row.data(), kColumns, nullptr, bytes.data()));
  }
  std::vector<float> row = normalRow(1);
  row[3] = 70000.0f;
  EXPECT_FALSE(encodeTensorRow(TensorFormat::F16, row.data(), kColumns, nullptr,
                               bytes.data()));
  EXPECT_TRUE(encodeTensorRow(TensorFormat::BF16, row.data(), kColumns, nullptr,
                              bytes.data()));
}

TEST(EncodeRowTest, PlainFormatsRoundToNearest) {
  const std::vector<float> row = normalRow(2);
  EXPECT_EQ(roundTrip(TensorFormat::F32, row), row);
  EXPECT_LT(errorOf(row, roundTrip(TensorFormat::F16, row)), 1e-7);
  EXPECT_LT(errorOf(row, roundTrip(TensorFormat::BF16, row)), 1e-5);
}

TEST(EncodeRowTest, GridsAreNotWritten) {
  EXPECT_FALSE(canEncode(TensorFormat::IQ2_XS));
  EXPECT_TRUE(canEncode(TensorFormat::IQ4_XS));
  EXPECT_TRUE(canEncode(TensorFormat::BF16));
}

} // namespace
