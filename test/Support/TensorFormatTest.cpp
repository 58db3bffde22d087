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

#include <gtest/gtest.h>

#include <array>
#include <limits>

using namespace llmir;

TEST(TensorFormat, NamesLeadBackToTheFormat) {
  for (TensorFormat format :
       {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16,
        TensorFormat::Q8_0, TensorFormat::Q4_0}) {
    const TensorFormatInfo &info = tensorFormatInfo(format);
    EXPECT_EQ(info.format, format);
    EXPECT_EQ(tensorFormatFromName(info.name), format);
    EXPECT_EQ(tensorFormatFromGGUF(static_cast<uint32_t>(info.ggufType)),
              format);
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
  EXPECT_FALSE(tensorRowBytes(TensorFormat::Q4_0, 40));
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
