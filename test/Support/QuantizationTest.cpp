// RUN: llmir-support-tests --gtest_filter='IntegerFormat*:IntegerLayout*:Quantization*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers with scales: their names, their place in memory, and how floats
// become them.
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Quantization.h"
#include "llmir/Reference/Quant.h"
#include "llmir/Support/SmallFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace llmir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(IntegerFormat, NamesAreReadAsTheyAreWritten) {
  for (const char *name :
       {"int8", "int4:g32", "int4:g128:asym", "int16:asym",
        "int8:g30:s10:asym:f16", "int4:s10:bf16", "int4:g32:min:f16",
        "int5:g32", "int6", "int4:g32:k256:min:f16", "int6:g16:k256:f16"}) {
    std::optional<IntegerFormat> format = IntegerFormat::fromName(name);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(format->name(), name);
  }
  IntegerFormat format = *IntegerFormat::fromName("int4:g128:asym");
  EXPECT_EQ(format, (IntegerFormat{4, 128, 0, true, ScaleFormat::F32}));
  EXPECT_EQ(format.lowest(), -8);
  EXPECT_EQ(format.highest(), 7);
}

TEST(IntegerFormat, OtherNamesAreRefused) {
  for (const char *name :
       {"", "int", "int7", "int8:", ":int8", "int8:g0", "int8:g-32", "int8:g",
        "int8:g32x", "int8:asym:g32", "int8:sym", "int8:f32", "int08",
        "int8:g32:s12", "q8_0", "int8:g99999999999999999999",
        // No zero points with minima, and sizes that do not fit into lines.
        "int8:asym:min", "int5:g16", "int6:g48", "int5:g64:s32",
        "int4:g32:k256", "int4:g32:k100:f16", "int4:g24:k192:f16",
        "int4:k256:f16", "int4:g32:k256:asym:f16", "int16:g32:k256:f16",
        "int4:g32:s16:k256:f16",
        // Codebooks of other bits, with minima, and pairs without minima.
        "int4:g32:iq2:f16", "int4:g32:min:iq4:f16", "int2:g16:k256:sub4:f16",
        "int4:g32:sub4:min:f16", "int3:g16:f16"})
    EXPECT_FALSE(IntegerFormat::fromName(name)) << name;
}

TEST(IntegerFormat, BlockFormatsHaveNames) {
  const std::pair<TensorFormat, const char *> names[] = {
      {TensorFormat::Q8_0, "int8:g32:f16"},
      {TensorFormat::Q4_0, "int4:g32:f16"},
      {TensorFormat::Q4_1, "int4:g32:min:f16"},
      {TensorFormat::Q4_K, "int4:g32:k256:min:f16"},
      {TensorFormat::Q5_K, "int5:g32:k256:min:f16"},
      {TensorFormat::Q6_K, "int6:g16:k256:f16"},
      {TensorFormat::Q5_0, "int5:g32:f16"},
      {TensorFormat::Q5_1, "int5:g32:min:f16"},
      {TensorFormat::Q2_K, "int2:g16:k256:sub4:min:f16"},
      {TensorFormat::Q3_K, "int3:g16:k256:f16"},
      {TensorFormat::IQ4_NL, "int4:g32:iq4:f16"},
      {TensorFormat::IQ4_XS, "int4:g32:k256:iq4:f16"},
      {TensorFormat::MXFP4, "int4:g32:e2m1:e8m0"},
      {TensorFormat::TQ1_0, "int2:g256:ternary:f16"},
      {TensorFormat::TQ2_0, "int2:g256:ternary:f16"},
      {TensorFormat::IQ1_S, "int3:g32:k256:iq1:f16"},
      {TensorFormat::IQ1_M, "int3:g16:k256:iq1:f16"},
      {TensorFormat::IQ2_XXS, "int3:g32:k256:iq2:f16"},
      {TensorFormat::IQ2_XS, "int3:g16:k256:iq2:f16"},
      {TensorFormat::IQ2_S, "int3:g16:k256:iq2:f16"},
      {TensorFormat::IQ3_XXS, "int4:g32:k256:iq3:f16"},
      {TensorFormat::IQ3_S, "int4:g32:k256:odd:f16"}};
  for (auto [format, name] : names) {
    std::optional<IntegerFormat> integers = IntegerFormat::ofBlocks(format);
    ASSERT_TRUE(integers) << name;
    EXPECT_EQ(integers->name(), name);
    EXPECT_EQ(IntegerFormat::fromName(name), integers);
  }
  EXPECT_FALSE(IntegerFormat::ofBlocks(TensorFormat::BF16));
  EXPECT_EQ(IntegerFormat::fromName("int4:g32:min:f16")->lowest(), 0);
  EXPECT_EQ(IntegerFormat::fromName("int4:g32:min:f16")->highest(), 15);
  EXPECT_EQ(IntegerFormat::fromName("int6:g16:k256:f16")->lowest(), -32);
  EXPECT_EQ(IntegerFormat::fromName("int6:g16:k256:f16")->storedBias(), 32);
  IntegerFormat iq4 = *IntegerFormat::fromName("int4:g32:iq4:f16");
  EXPECT_EQ(iq4.lowest(), -127);
  EXPECT_EQ(iq4.highest(), 113);
  EXPECT_EQ(iq4.numberOf(0), -127);
  // A codebook of consecutive numbers is a bias.
  IntegerFormat ternary = *IntegerFormat::fromName("int2:g256:ternary:f16");
  EXPECT_FALSE(ternary.usesTable());
  EXPECT_EQ(ternary.storedBias(), 1);
  EXPECT_EQ(ternary.numberOf(0), -1);
}

TEST(IntegerFormat, SegmentsSatisfyBothGroups) {
  EXPECT_EQ(commonSegment(256, 64, 32), 32);
  EXPECT_EQ(commonSegment(256, 32, 64), 32);
  EXPECT_EQ(commonSegment(96, 48, 32), 16);
  EXPECT_EQ(commonSegment(100, 0, 32), 32);
  EXPECT_EQ(commonSegment(100, 32, 0), 32);
  EXPECT_EQ(commonSegment(100, 128, 256), 100);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

namespace {
/// One number per row and column, and one per row and group.
int16_t integerAt(int64_t bits, int64_t n, int64_t k) {
  int64_t range = int64_t(1) << bits;
  return static_cast<int16_t>((n * 31 + k * 7) % range - range / 2);
}
float scaleAt(int64_t n, int64_t g) { return 0.25f * (n + 1) + 8.0f * g; }
int16_t zeroAt(int64_t n, int64_t g) {
  return static_cast<int16_t>((n + 3 * g) % 16 - 8);
}

/// A packed matrix with those elements.
std::vector<uint8_t> packed(const IntegerMatrixLayout &layout) {
  std::vector<uint8_t> bytes(layout.bytes());
  for (int64_t n = 0; n < layout.rows; ++n) {
    std::vector<int16_t> q, zeros;
    std::vector<float> scales;
    for (int64_t k = 0; k < layout.columns; ++k)
      q.push_back(integerAt(layout.format.bits, n, k));
    for (int64_t g = 0; g < layout.numGroups(); ++g) {
      scales.push_back(scaleAt(n, g));
      zeros.push_back(zeroAt(n, g));
    }
    packIntegerRow(layout, n,
                   {q.data(), scales.data(),
                    layout.format.zeroPoints ? zeros.data() : nullptr},
                   bytes.data());
  }
  return bytes;
}

/// The integer whose line starts at `line`, value `i` of it, row `r`.
int readInteger(int64_t bits, const uint8_t *line, int64_t i, int64_t r) {
  const uint8_t *word = line + 4 * r;
  if (bits == 8)
    return static_cast<int8_t>(word[i]);
  if (bits == 16)
    return static_cast<int16_t>(word[2 * i] | (word[2 * i + 1] << 8));
  return (i < 4 ? word[i] & 15 : word[i - 4] >> 4) - 8;
}
} // namespace

TEST(IntegerLayout, NumbersLieWhereTheHeaderSays) {
  for (const char *name : {"int8", "int8:g32:asym", "int4:g32", "int4:asym",
                           "int16:g12:asym:bf16", "int4:g20:s10:f16"}) {
    IntegerMatrixLayout layout{*IntegerFormat::fromName(name), 19, 70};
    std::vector<uint8_t> bytes = packed(layout);
    const int64_t bits = layout.format.bits, perLine = 32 / bits;
    const int64_t group = layout.format.group ? layout.format.group : 70;
    const int64_t segment =
        layout.format.segment ? layout.format.segment : group;
    const int64_t scaleSize = scaleFormatBytes(layout.format.scales);
    int64_t at = 0; // Read from front to back, as a kernel does.
    for (int64_t tile = 0; tile < 2; ++tile) {
      for (int64_t first = 0, g = 0; first < 70; first += group, ++g) {
        const int64_t end = std::min<int64_t>(first + group, 70);
        for (int64_t k = first; k < end;) {
          const int64_t segmentEnd =
              std::min(end, first + ((k - first) / segment + 1) * segment);
          const int64_t values = std::min(perLine, segmentEnd - k);
          for (int64_t i = 0; i < values; ++i)
            for (int64_t r = 0; tile * 16 + r < 19 && r < 16; ++r)
              ASSERT_EQ(readInteger(bits, &bytes[at], i, r),
                        integerAt(bits, tile * 16 + r, k + i))
                  << name << ", row " << tile * 16 + r << ", k " << k + i;
          k += values;
          at += 64;
        }
        for (int64_t r = 0; tile * 16 + r < 19 && r < 16; ++r) {
          uint32_t stored = 0;
          std::memcpy(&stored, &bytes[at + r * scaleSize], scaleSize);
          float scale = layout.format.scales == ScaleFormat::F16
                            ? f16ToFloat(static_cast<uint16_t>(stored))
                        : scaleSize == 2
                            ? bf16ToFloat(static_cast<uint16_t>(stored))
                            : bitsToFloat(stored);
          ASSERT_EQ(scale, scaleAt(tile * 16 + r, g)) << name;
        }
        at += 16 * scaleSize;
        if (!layout.format.zeroPoints)
          continue;
        const int64_t zeroSize = bits == 16 ? 2 : 1;
        for (int64_t r = 0; tile * 16 + r < 19 && r < 16; ++r)
          ASSERT_EQ(static_cast<int8_t>(bytes[at + r * zeroSize]),
                    zeroAt(tile * 16 + r, g))
              << name;
        at += 16 * zeroSize;
      }
      EXPECT_EQ(at, (tile + 1) * layout.tileBytes()) << name;
    }
    EXPECT_EQ(layout.bytes(), roundUpTo(at, 64)) << name;
    // Rows that the matrix does not have are zero: their scales too.
    for (int64_t lastScale = 0; lastScale < scaleSize; ++lastScale)
      EXPECT_EQ(bytes[layout.tileBytes() + layout.blockBytes(group) -
                      layout.zeroPointBytes() - 1 - lastScale],
                0)
          << name;
  }
}

TEST(IntegerLayout, RowsOfActivationsFollowTheLines) {
  IntegerMatrixLayout weights{*IntegerFormat::fromName("int4:g32"), 16, 100};
  auto row = QuantizedRowLayout::forWeights(weights, 32);
  EXPECT_EQ(row.padded, 32);
  EXPECT_EQ(row.numSegments(), 4);
  EXPECT_EQ(row.scalesAt(), 32);
  EXPECT_EQ(row.sumsAt(), 36);
  EXPECT_EQ(row.scaledSumsAt(), 40);
  EXPECT_EQ(row.words(), 44);
  weights.format = *IntegerFormat::fromName("int4:g10");
  EXPECT_EQ(QuantizedRowLayout::forWeights(weights, 10).padded, 16);
  weights.format = *IntegerFormat::fromName("int8:g10");
  EXPECT_EQ(QuantizedRowLayout::forWeights(weights, 10).padded, 12);
  EXPECT_EQ(QuantizedRowLayout::forWeights(weights, 128).segment, 100);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

TEST(Quantization, SymmetricRangesReachTheLargestNumber) {
  const float values[] = {0.5f, -2.0f, 1.0f, 0.0f};
  QuantizedRange range = quantizedRange(values, 4, 4, true);
  EXPECT_EQ(range.scale, 2.0f / 7.0f);
  EXPECT_EQ(range.zeroPoint, 0);
  EXPECT_EQ(quantizeValue(-2.0f, range, 4, true), -7);
  EXPECT_EQ(quantizeValue(0.5f, range, 4, true), 2); // 1.75
  EXPECT_EQ(quantizeValue(9.0f, range, 4, true), 7);
  EXPECT_EQ(quantizeValue(-9.0f, range, 4, true), -7);
}

TEST(Quantization, AsymmetricRangesHoldZeroExactly) {
  const float values[] = {1.0f, 4.0f, 2.5f};
  QuantizedRange range = quantizedRange(values, 3, 8, false);
  EXPECT_EQ(range.scale, 4.0f / 255.0f);
  EXPECT_EQ(range.zeroPoint, -128);
  EXPECT_EQ(quantizeValue(4.0f, range, 8, false), 127);
  EXPECT_EQ(quantizeValue(0.0f, range, 8, false), -128);
  const float both[] = {-1.0f, 2.0f};
  range = quantizedRange(both, 2, 8, false);
  EXPECT_EQ(range.scale, 3.0f / 255.0f);
  EXPECT_EQ(range.zeroPoint, -128 + 85);
  EXPECT_EQ(quantizeValue(0.0f, range, 8, false), range.zeroPoint);
  EXPECT_EQ(quantizeValue(-1.0f, range, 8, false), -128);
}

TEST(Quantization, HalvesGoToTheEvenNumber) {
  QuantizedRange range{1.0f, 0};
  EXPECT_EQ(quantizeValue(0.5f, range, 8, true), 0);
  EXPECT_EQ(quantizeValue(1.5f, range, 8, true), 2);
  EXPECT_EQ(quantizeValue(-2.5f, range, 8, true), -2);
}

TEST(Quantization, WhatHasNoRangeIsTheZeroPoint) {
  const float zeros[] = {0.0f, 0.0f};
  EXPECT_EQ(quantizedRange(zeros, 2, 8, true).scale, 0.0f);
  EXPECT_EQ(quantizedRange(zeros, 2, 8, false).zeroPoint, 0);
  EXPECT_EQ(quantizeValue(3.0f, {0.0f, 5}, 8, false), 5);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantizeValue(infinity, {1.0f, 0}, 8, true), 127);
  EXPECT_EQ(quantizeValue(std::nanf(""), {1.0f, 0}, 8, true), -127);
}

// ggml's rounding: the scale of the larger magnitude, -3, is f16(-3 / -8),
// which is mapped to the lowest integer; halves are rounded up. With 8 bits the
// scale is f16(3 / 127), and halves are rounded away from zero.
TEST(Quantization, BlocksAreThoseOfGGUF) {
  std::vector<float> row(32, 0.0f);
  row[0] = -3.0f, row[1] = 2.0f, row[2] = 0.1875f, row[3] = -0.1875f;
  for (TensorFormat format : {TensorFormat::Q4_0, TensorFormat::Q8_0}) {
    IntegerMatrixLayout layout{*IntegerFormat::ofBlocks(format), 1, 32};
    std::vector<uint8_t> bytes(layout.bytes());
    quantizeAndPackRow(layout, 0, row.data(), bytes.data());
    std::vector<float> values(32);
    unpackIntegerRow(layout, 0, bytes.data(), values.data());
    const bool isQ4 = format == TensorFormat::Q4_0;
    const float scale =
        f16ToFloat(floatToF16(isQ4 ? 3.0f / 8.0f : 3.0f / 127.0f));
    const float steps[] = {isQ4 ? -8.0f : -127.0f, isQ4 ? 5.0f : 85.0f,
                           isQ4 ? 1.0f : 8.0f, isQ4 ? 0.0f : -8.0f};
    for (int64_t k = 0; k < 32; ++k)
      EXPECT_EQ(values[k], k < 4 ? scale * steps[k] : 0.0f) << k;
  }
}

TEST(Quantization, RowsArePackedGroupByGroup) {
  IntegerMatrixLayout layout{*IntegerFormat::fromName("int8:g4:asym"), 2, 6};
  const float row[] = {-1.0f, 2.0f, 0.5f, 0.0f, 8.0f, 4.0f};
  std::vector<uint8_t> bytes(layout.bytes());
  quantizeAndPackRow(layout, 1, row, bytes.data());
  for (int64_t k = 0; k < 6; ++k) {
    QuantizedRange range = k < 4 ? quantizedRange(row, 4, 8, false)
                                 : quantizedRange(row + 4, 2, 8, false);
    const uint8_t *group = bytes.data() + (k < 4 ? 0 : layout.blockBytes(4));
    EXPECT_EQ(static_cast<int8_t>(group[4 + k % 4]),
              quantizeValue(row[k], range, 8, false));
    float scale;
    std::memcpy(&scale, group + 64 + 4, 4);
    EXPECT_EQ(scale, range.scale);
    EXPECT_EQ(static_cast<int8_t>(group[64 + 64 + 1]), range.zeroPoint);
  }
}

// Packing and the interpreter must compute the same integers, so that both can
// be compared.
TEST(Quantization, AgreesWithTheReferenceBitForBit) {
  constexpr int64_t rows = 9, columns = 128, group = 32;
  uint32_t state = 7;
  auto uniform = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) * 0x1p-24f;
  };
  reference::Tensor x(reference::ElementKind::F32, {rows, columns});
  std::vector<float> values;
  for (int64_t i = 0; i < rows * columns; ++i) {
    // Of both signs, then only positive, then only negative.
    float shift = i % 96 < 32 ? 0.5f : i % 96 < 64 ? 0.0f : 1.0f;
    values.push_back((uniform() - shift) * 3.0f);
    x[i] = values.back();
  }
  for (int bits : {4, 8, 16})
    for (bool symmetric : {true, false}) {
      reference::QuantSpec spec{bits, symmetric, /*axis=*/0, group};
      auto params = reference::quantParams(x, spec);
      auto q = reference::quantize(
          x, params.scales, symmetric ? nullptr : &params.zeroPoints, spec);
      for (int64_t g = 0; g < rows * columns / group; ++g) {
        QuantizedRange range =
            quantizedRange(&values[g * group], group, bits, symmetric);
        ASSERT_EQ(range.scale, params.scales[g]) << bits << ", group " << g;
        ASSERT_EQ(range.zeroPoint, symmetric ? 0 : params.zeroPoints[g])
            << bits;
        for (int64_t i = g * group; i < (g + 1) * group; ++i)
          ASSERT_EQ(quantizeValue(values[i], range, bits, symmetric), q[i])
              << bits << ", number " << i;
      }
    }
}

//===----------------------------------------------------------------------===//
// Minima, super-groups and lines of high bits
//===----------------------------------------------------------------------===//

namespace {
/// What a matrix of a format may hold, and the packed form.
struct RandomMatrix {
  IntegerMatrixLayout layout;
  std::vector<int16_t> q, zeroPoints;
  std::vector<float> scales, mins;
  std::vector<int8_t> subScales, subMins;
  std::vector<uint8_t> packed;

  explicit RandomMatrix(const IntegerMatrixLayout &layout)
      : layout(layout), packed(layout.bytes()) {
    std::mt19937 random(static_cast<uint32_t>(layout.columns));
    const IntegerFormat &format = layout.format;
    auto between = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % (high - low + 1));
    };
    auto number = [&] {
      if (const Codebook *codebook = format.codebook)
        return static_cast<int64_t>(
            codebook->entries[between(0, codebook->size() - 1)]);
      return between(format.lowest(), format.highest());
    };
    for (int64_t n = 0; n < layout.rows; ++n) {
      for (int64_t k = 0; k < layout.columns; ++k)
        q.push_back(static_cast<int16_t>(number()));
      for (int64_t b = 0; b < layout.numBlocks(); ++b) {
        auto scale = static_cast<float>(between(1, 64)) / 256;
        if (format.scales == ScaleFormat::E8M0)
          scale = std::ldexp(1.0f, static_cast<int>(between(-128, 127)));
        scales.push_back(scale);
        mins.push_back(static_cast<float>(between(-64, 64)) / 128);
      }
      for (int64_t g = 0; g < layout.numGroups(); ++g) {
        const bool isPair = format.pairedSubScales;
        subScales.push_back(
            static_cast<int8_t>(isPair ? between(0, 15) : between(-128, 127)));
        subMins.push_back(static_cast<int8_t>(between(0, isPair ? 15 : 63)));
        zeroPoints.push_back(static_cast<int16_t>(between(-8, 7)));
      }
    }
    for (int64_t n = 0; n < layout.rows; ++n)
      packIntegerRow(layout, n, row(n), packed.data());
  }

  IntegerRow row(int64_t n) const {
    const IntegerFormat &format = layout.format;
    int64_t blocks = n * layout.numBlocks(), groups = n * layout.numGroups();
    bool isSuper = format.superGroup > 0;
    return {&q[n * layout.columns],
            &scales[blocks],
            format.zeroPoints ? &zeroPoints[groups] : nullptr,
            format.minima ? &mins[blocks] : nullptr,
            isSuper ? &subScales[groups] : nullptr,
            isSuper && format.minima ? &subMins[groups] : nullptr};
  }

  /// By the definition of the format.
  float valueAt(int64_t n, int64_t k) const {
    const IntegerFormat &format = layout.format;
    IntegerRow r = row(n);
    int64_t b = k / layout.block(), g = k / layout.group();
    float number = r.q[k];
    number *= format.unit();
    if (format.superGroup > 0)
      return r.scales[b] * r.subScales[g] * number -
             (format.minima ? r.mins[b] * r.subMins[g] : 0);
    if (format.minima)
      return r.scales[b] * number + r.mins[b];
    return r.scales[b] * (number - (r.zeroPoints ? r.zeroPoints[g] : 0));
  }
};
} // namespace

TEST(IntegerLayout, WhatIsPackedIsReadBack) {
  for (const char *name : {"int4",
                           "int5",
                           "int6",
                           "int8",
                           "int16",
                           "int4:g32:asym",
                           "int16:asym",
                           "int8:g64:min",
                           "int4:g32:min:f16",
                           "int5:g32:min",
                           "int6:g64:f16",
                           "int4:g30:s10",
                           "int4:g32:k256:min:f16",
                           "int5:g32:k256:min:f16",
                           "int6:g16:k256:f16",
                           "int8:g16:k64:f16",
                           "int6:g32:k128:min:f16",
                           "int2",
                           "int3",
                           "int2:g32:asym",
                           "int3:g64:min:f16",
                           "int2:g16:k256:sub4:min:f16",
                           "int3:g16:k256:f16",
                           "int4:g32:k256:iq4:f16",
                           "int4:g32:e2m1:e8m0",
                           "int2:g256:ternary:f16",
                           "int3:g16:k256:iq2:f16"})
    for (int64_t columns : {256, 512, 300, 40, 7}) {
      RandomMatrix matrix(
          {*IntegerFormat::fromName(name), /*rows=*/19, columns});
      std::vector<float> values(columns);
      for (int64_t n = 0; n < matrix.layout.rows; ++n) {
        unpackIntegerRow(matrix.layout, n, matrix.packed.data(), values.data());
        for (int64_t k = 0; k < columns; ++k)
          ASSERT_EQ(values[k], matrix.valueAt(n, k))
              << name << " row " << n << " column " << k << " of " << columns;
      }
    }
}

TEST(IntegerLayout, HighBitsLieInLinesOfTheirOwn) {
  // Row 3 of a tile alone: value k is k modulo the range.
  for (const char *name : {"int5:min", "int6:min"}) {
    IntegerMatrixLayout layout{*IntegerFormat::fromName(name), 16, 64};
    int64_t bits = layout.format.bits;
    std::vector<uint8_t> packed(layout.bytes());
    std::vector<int16_t> q(64);
    for (int k = 0; k < 64; ++k)
      q[k] = static_cast<int16_t>((k * 11) % (1 << bits));
    float scale = 1, min = 0;
    packIntegerRow(layout, 3, {q.data(), &scale, nullptr, &min}, packed.data());
    for (int k = 0; k < 64; ++k) {
      const uint8_t *bundle = packed.data() + k / 32 * bits * 64 + 3 * 4;
      int v = k % 32, w = v / 4, i = v % 4;
      int low = bundle[v / 8 * 64 + i] >> (v % 8 / 4 * 4) & 15;
      int high = bits == 5 ? bundle[4 * 64 + i] >> w & 1
                           : bundle[(4 + w / 4) * 64 + i] >> (2 * (w % 4)) & 3;
      EXPECT_EQ(low + 16 * high, q[k]) << name << " value " << k;
    }
  }
}

TEST(IntegerLayout, BlocksTakeAboutTheBytesOfTheFile) {
  const std::pair<TensorFormat, int64_t> tiles[] = {
      {TensorFormat::Q8_0, 8 * 544}, {TensorFormat::Q4_0, 8 * 288},
      {TensorFormat::Q4_1, 8 * 320}, {TensorFormat::Q4_K, 2368},
      {TensorFormat::Q5_K, 2880},    {TensorFormat::Q6_K, 3360},
      {TensorFormat::Q5_0, 8 * 352}, {TensorFormat::Q5_1, 8 * 384},
      {TensorFormat::Q2_K, 1344},    {TensorFormat::IQ4_NL, 8 * 288},
      {TensorFormat::IQ4_XS, 2208},  {TensorFormat::MXFP4, 8 * 272},
      {TensorFormat::TQ2_0, 1056}};
  for (auto [format, bytes] : tiles) {
    IntegerMatrixLayout layout{*IntegerFormat::ofBlocks(format), 16, 256};
    EXPECT_EQ(layout.tileBytes(), bytes) << tensorFormatInfo(format).name;
    EXPECT_LE(bytes * 100, 103 * 16 * *tensorRowBytes(format, 256));
  }
  // Those are larger: their sub-scales become bytes, their points integers.
  const std::pair<TensorFormat, int64_t> larger[] = {
      {TensorFormat::Q3_K, 16 * 114},    {TensorFormat::TQ1_0, 16 * 66},
      {TensorFormat::IQ1_S, 16 * 106},   {TensorFormat::IQ1_M, 16 * 114},
      {TensorFormat::IQ2_XXS, 16 * 106}, {TensorFormat::IQ2_XS, 16 * 114},
      {TensorFormat::IQ2_S, 16 * 114},   {TensorFormat::IQ3_XXS, 16 * 138},
      {TensorFormat::IQ3_S, 16 * 138}};
  for (auto [format, bytes] : larger)
    EXPECT_EQ((IntegerMatrixLayout{*IntegerFormat::ofBlocks(format), 16, 256}
                   .tileBytes()),
              bytes)
        << tensorFormatInfo(format).name;
  // Behind the lines of a super-group of q4_k: sub-scales, sub-minima, d, dmin.
  IntegerMatrixLayout layout{*IntegerFormat::ofBlocks(TensorFormat::Q4_K), 16,
                             512};
  EXPECT_EQ(layout.block(), 256);
  EXPECT_EQ(layout.group(), 32);
  EXPECT_EQ(layout.numLines(256), 32);
  EXPECT_EQ(layout.subScalesAt(256), 2048);
  EXPECT_EQ(layout.subMinsAt(256), 2048 + 128);
  EXPECT_EQ(layout.scalesAt(256), 2048 + 256);
  EXPECT_EQ(layout.minsAt(256), 2048 + 256 + 32);
}
