// RUN: llmir-support-tests --gtest_filter='TensorFormat*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/TensorFormat.h"
#include "llmir/Support/SmallFloat.h"
#include "llmir/Support/StoredBlock.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <vector>

using namespace llmir;

TEST(TensorFormat, NamesLeadBackToTheFormat) {
  for (TensorFormat format : {
#define LLMIR_TENSOR_FORMAT(Enum, ...) TensorFormat::Enum,
#include "llmir/Support/TensorFormats.def"
       }) {
    const TensorFormatInfo &info = tensorFormatInfo(format);
    EXPECT_EQ(info.format, format);
    EXPECT_EQ(tensorFormatFromName(info.name), format);
    if (info.ggufType >= 0) {
      EXPECT_EQ(tensorFormatFromGGUF(static_cast<uint32_t>(info.ggufType)),
                format);
    }
    if (!info.safetensorsName.empty()) {
      EXPECT_EQ(tensorFormatFromSafetensors(info.safetensorsName), format);
    }
  }
}

TEST(TensorFormat, UnknownNamesAreRefused) {
  EXPECT_FALSE(tensorFormatFromName("f31"));
  EXPECT_FALSE(tensorFormatFromSafetensors(""));
  EXPECT_FALSE(tensorFormatFromGGUF(0xffffffffu));
}

TEST(TensorFormat, RowsAreWholeBlocks) {
  EXPECT_EQ(tensorRowBytes(TensorFormat::F32, 5), 20);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q8_0, 64), 68);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q4_0, 64), 36);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q4_1, 64), 40);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q4_K, 512), 288);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q5_K, 256), 176);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q6_K, 256), 210);
  EXPECT_EQ(tensorRowBytes(TensorFormat::Q2_K, 512), 168);
  EXPECT_EQ(tensorRowBytes(TensorFormat::IQ2_XXS, 256), 66);
  EXPECT_EQ(tensorRowBytes(TensorFormat::MXFP4, 96), 51);
  EXPECT_EQ(tensorRowBytes(TensorFormat::F64, 3), 24);
  EXPECT_FALSE(tensorRowBytes(TensorFormat::Q4_0, 40));
  EXPECT_FALSE(tensorRowBytes(TensorFormat::Q6_K, 128));
  EXPECT_FALSE(tensorRowBytes(TensorFormat::F32, -1));
  EXPECT_FALSE(
      tensorRowBytes(TensorFormat::F32, std::numeric_limits<int64_t>::max()));
}

TEST(TensorFormat, BlocksDecodeExactly) {
  std::array<uint8_t, 34> q8{};
  uint16_t scale = floatToF16(0.5f);
  std::memcpy(q8.data(), &scale, 2);
  for (int i = 0; i < 32; ++i)
    q8[2 + i] = static_cast<uint8_t>(i * 8 - 128);
  float out[32];
  decodeTensorRow(TensorFormat::Q8_0, q8.data(), 32, out);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 0.5f * static_cast<float>(i * 8 - 128));

  // Byte j of a Q4_0 block holds value j (low nibble) and value j + 16.
  std::array<uint8_t, 18> q4{};
  std::memcpy(q4.data(), &scale, 2);
  for (int j = 0; j < 16; ++j)
    q4[2 + j] = static_cast<uint8_t>(j | ((15 - j) << 4));
  decodeTensorRow(TensorFormat::Q4_0, q4.data(), 32, out);
  for (int j = 0; j < 16; ++j) {
    EXPECT_EQ(out[j], 0.5f * static_cast<float>(j - 8));
    EXPECT_EQ(out[j + 16], 0.5f * static_cast<float>(15 - j - 8));
  }
}

//===----------------------------------------------------------------------===//
// Compared with ggml's loops, reimplemented here
//===----------------------------------------------------------------------===//

namespace {
float halfAt(const uint8_t *bytes) {
  return f16ToFloat(static_cast<uint16_t>(bytes[0] | bytes[1] << 8));
}

void ggmlQ4_1(const uint8_t *x, float *y) {
  float d = halfAt(x), m = halfAt(x + 2);
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>(x[4 + j] & 0x0F) * d + m;
    y[j + 16] = static_cast<float>(x[4 + j] >> 4) * d + m;
  }
}

/// get_scale_min_k4
void scaleAndMin(int j, const uint8_t *q, uint8_t *d, uint8_t *m) {
  if (j < 4) {
    *d = q[j] & 63;
    *m = q[j + 4] & 63;
  } else {
    *d = (q[j + 4] & 0xF) | ((q[j - 4] >> 6) << 4);
    *m = (q[j + 4] >> 4) | ((q[j - 0] >> 6) << 4);
  }
}

void ggmlQ4_KOrQ5_K(const uint8_t *x, bool isQ5, float *y) {
  const float d = halfAt(x), min = halfAt(x + 2);
  const uint8_t *scales = x + 4, *qh = x + 16, *ql = x + (isQ5 ? 48 : 16);
  int is = 0;
  uint8_t u1 = 1, u2 = 2;
  for (int j = 0; j < 256; j += 64) {
    uint8_t sc, m;
    scaleAndMin(is + 0, scales, &sc, &m);
    const float d1 = d * sc, m1 = min * m;
    scaleAndMin(is + 1, scales, &sc, &m);
    const float d2 = d * sc, m2 = min * m;
    for (int l = 0; l < 32; ++l)
      *y++ = d1 * ((ql[l] & 0xF) + (isQ5 && (qh[l] & u1) ? 16 : 0)) - m1;
    for (int l = 0; l < 32; ++l)
      *y++ = d2 * ((ql[l] >> 4) + (isQ5 && (qh[l] & u2) ? 16 : 0)) - m2;
    ql += 32;
    is += 2;
    u1 = static_cast<uint8_t>(u1 << 2);
    u2 = static_cast<uint8_t>(u2 << 2);
  }
}

void ggmlQ6_K(const uint8_t *x, float *y) {
  const uint8_t *ql = x, *qh = x + 128;
  const auto *sc = reinterpret_cast<const int8_t *>(x + 192);
  const float d = halfAt(x + 208);
  for (int n = 0; n < 256; n += 128) {
    for (int l = 0; l < 32; ++l) {
      int is = l / 16;
      int q1 = ((ql[l] & 0xF) | (((qh[l] >> 0) & 3) << 4)) - 32;
      int q2 = ((ql[l + 32] & 0xF) | (((qh[l] >> 2) & 3) << 4)) - 32;
      int q3 = ((ql[l] >> 4) | (((qh[l] >> 4) & 3) << 4)) - 32;
      int q4 = ((ql[l + 32] >> 4) | (((qh[l] >> 6) & 3) << 4)) - 32;
      y[l] = d * sc[is] * q1;
      y[l + 32] = d * sc[is + 2] * q2;
      y[l + 64] = d * sc[is + 4] * q3;
      y[l + 96] = d * sc[is + 6] * q4;
    }
    y += 128;
    ql += 64;
    qh += 32;
    sc += 8;
  }
}

/// Arbitrary bytes, with finite scales.
std::vector<uint8_t> randomBlock(std::mt19937 &random, TensorFormat format) {
  std::vector<uint8_t> block(tensorFormatInfo(format).bytesPerBlock);
  for (uint8_t &byte : block)
    byte = static_cast<uint8_t>(random());
  auto number = [&] { return static_cast<float>(random() % 4096) / 512 - 4; };
  const float d = number();
  setBlockScales(format, block.data(), d, number());
  return block;
}
} // namespace

TEST(TensorFormat, MinimaAndKQuantsDecodeAsInGgml) {
  std::mt19937 random(7);
  for (TensorFormat format : {TensorFormat::Q4_1, TensorFormat::Q4_K,
                              TensorFormat::Q5_K, TensorFormat::Q6_K}) {
    int64_t values = tensorFormatInfo(format).valuesPerBlock;
    std::vector<uint8_t> row;
    std::vector<float> expected;
    for (int block = 0; block < 50; ++block) {
      std::vector<uint8_t> bytes = randomBlock(random, format);
      row.insert(row.end(), bytes.begin(), bytes.end());
      expected.resize(expected.size() + values);
      float *y = expected.data() + expected.size() - values;
      if (format == TensorFormat::Q4_1)
        ggmlQ4_1(bytes.data(), y);
      else if (format == TensorFormat::Q6_K)
        ggmlQ6_K(bytes.data(), y);
      else
        ggmlQ4_KOrQ5_K(bytes.data(), format == TensorFormat::Q5_K, y);
    }
    std::vector<float> decoded(expected.size());
    decodeTensorRow(format, row.data(), decoded.size(), decoded.data());
    for (size_t i = 0; i < decoded.size(); ++i)
      ASSERT_EQ(decoded[i], expected[i])
          << tensorFormatInfo(format).name << " value " << i;
  }
}
