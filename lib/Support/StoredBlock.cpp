//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks the block formats, laid out as ggml's structures.
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/StoredBlock.h"
#include "StoredGrids.h"
#include "llmir/Support/IntegerFormat.h"
#include "llmir/Support/SmallFloat.h"

#include <cmath>
#include <cstring>

namespace llmir {

static uint16_t loadU16(const uint8_t *bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

static uint32_t loadU32(const uint8_t *bytes) {
  return loadU16(bytes) | static_cast<uint32_t>(loadU16(bytes + 2)) << 16;
}

/// Low nibbles are the first half of the elements, high nibbles the second.
static void readNibbles(const uint8_t *bytes, uint8_t *q, int64_t half = 16) {
  for (int64_t j = 0; j < half; ++j) {
    q[j] = bytes[j] & 15;
    q[j + half] = bytes[j] >> 4;
  }
}

/// Bit j of a little-endian u32 is the fifth bit of element j; then nibbles.
static void readFiveBits(const uint8_t *bytes, uint8_t *q) {
  readNibbles(bytes + 4, q);
  for (int j = 0; j < 32; ++j)
    q[j] |= static_cast<uint8_t>((bytes[j / 8] >> (j % 8) & 1) << 4);
}

/// 64 bytes, 32 for each half of 128 elements: bits 2 * n and 2 * n + 1 of byte
/// j belong to element 32 * n + j of the half.
static void readTwoBits(const uint8_t *bytes, uint8_t *q) {
  for (int half = 0; half < 2; ++half, bytes += 32)
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 32; ++j)
        *q++ = bytes[j] >> (2 * n) & 3;
}

/// 16 bytes of sub-scales (low nibbles) and sub-minima, two bits of each
/// element, d and dmin.
static void readQ2K(const uint8_t *bytes, StoredBlock &block) {
  for (int g = 0; g < 16; ++g) {
    block.subScales[g] = bytes[g] & 15;
    block.subMins[g] = bytes[g] >> 4;
  }
  readTwoBits(bytes + 16, block.q);
  block.d = loadU16(bytes + 80);
  block.dmin = loadU16(bytes + 82);
}

/// 32 bytes of third bits (bit n of byte j belongs to element 32 * n + j), two
/// bits of each element, 12 bytes of sub-scales plus 32, and d. Sub-scale g has
/// its low four bits in byte g % 8, and its high two bits in byte 8 + g % 4.
static void readQ3K(const uint8_t *bytes, StoredBlock &block) {
  readTwoBits(bytes + 32, block.q);
  for (int k = 0; k < 256; ++k)
    block.q[k] |= static_cast<uint8_t>((bytes[k % 32] >> (k / 32) & 1) << 2);
  const uint8_t *scales = bytes + 96;
  for (int g = 0; g < 16; ++g) {
    int low = scales[g % 8] >> (g / 8 * 4) & 15;
    int high = scales[8 + g % 4] >> (g / 4 * 2) & 3;
    block.subScales[g] = static_cast<uint8_t>((low | high << 4) - 32);
  }
  block.d = loadU16(bytes + 108);
}

/// d, 16 bits and four bytes of sub-scales plus 32 (two high bits, four low
/// bits), and nibbles.
static void readIQ4XS(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  uint16_t high = loadU16(bytes + 2);
  for (int g = 0; g < 8; ++g) {
    int low = bytes[4 + g / 2] >> (g % 2 * 4) & 15;
    block.subScales[g] =
        static_cast<uint8_t>((low | (high >> (2 * g) & 3) << 4) - 32);
    readNibbles(bytes + 8 + 16 * g, block.q + 32 * g);
  }
}

/// Each byte is a fraction of 256, of whose ternary digits after the point the
/// first five (in the last four bytes, four) are elements. 32 bytes have the
/// first digits of all of them, then the second digits, and so on; 16 and 4
/// bytes follow in the same way, then d.
static void readTQ1(const uint8_t *bytes, StoredBlock &block) {
  uint8_t *q = block.q;
  auto readDigits = [&](int count, int digits) {
    uint8_t power = 1;
    for (int n = 0; n < digits; ++n, power = static_cast<uint8_t>(power * 3))
      for (int j = 0; j < count; ++j) {
        auto rest = static_cast<uint8_t>(bytes[j] * power);
        *q++ = static_cast<uint8_t>(rest * 3 >> 8);
      }
    bytes += count;
  };
  readDigits(32, 5);
  readDigits(16, 5);
  readDigits(4, 4);
  block.d = loadU16(bytes);
}

/// The 6-bit sub-scales and sub-minima of eight groups in 12 bytes: those of
/// groups 0 to 3 are the low bits of bytes 0 to 3 and 4 to 7, those of groups 4
/// to 7 have their low four bits in bytes 8 to 11 and their high two bits above
/// the former.
static void readSixBitScales(const uint8_t *bytes, StoredBlock &block) {
  for (int g = 0; g < 4; ++g) {
    block.subScales[g] = bytes[g] & 63;
    block.subMins[g] = bytes[g + 4] & 63;
    block.subScales[g + 4] =
        static_cast<uint8_t>((bytes[g + 8] & 15) | (bytes[g] >> 6 << 4));
    block.subMins[g + 4] =
        static_cast<uint8_t>((bytes[g + 8] >> 4) | (bytes[g + 4] >> 6 << 4));
  }
}

/// d, dmin, 12 bytes of scales; for q5_k, then the fifth bits (bit g of byte j
/// belongs to element j of group g); then 32 bytes for each pair of groups, the
/// first group in the low nibbles.
static void readQ4KOrQ5K(const uint8_t *bytes, bool hasFifthBits,
                         StoredBlock &block) {
  block.d = loadU16(bytes);
  block.dmin = loadU16(bytes + 2);
  readSixBitScales(bytes + 4, block);
  const uint8_t *fifth = bytes + 16;
  const uint8_t *nibbles = fifth + (hasFifthBits ? 32 : 0);
  for (int pair = 0; pair < 4; ++pair, nibbles += 32) {
    uint8_t *q = block.q + 64 * pair;
    for (int j = 0; j < 32; ++j) {
      q[j] = nibbles[j] & 15;
      q[j + 32] = nibbles[j] >> 4;
    }
    if (!hasFifthBits)
      continue;
    for (int j = 0; j < 32; ++j) {
      q[j] |= static_cast<uint8_t>((fifth[j] >> (2 * pair) & 1) << 4);
      q[j + 32] |= static_cast<uint8_t>((fifth[j] >> (2 * pair + 1) & 1) << 4);
    }
  }
}

/// Two halves of 128 elements: 64 bytes each of nibbles (element j low, element
/// 64 + j high), then 32 bytes each of pairs of high bits (pair n of byte j
/// belongs to element 32 n + j), then the scales.
static void readQ6K(const uint8_t *bytes, StoredBlock &block) {
  const uint8_t *low = bytes, *high = bytes + 128;
  uint8_t *q = block.q;
  for (int half = 0; half < 2; ++half, low += 64, high += 32, q += 128) {
    for (int j = 0; j < 64; ++j) {
      q[j] = low[j] & 15;
      q[j + 64] = low[j] >> 4;
    }
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 32; ++j)
        q[32 * n + j] |= static_cast<uint8_t>((high[j] >> (2 * n) & 3) << 4);
  }
  std::memcpy(block.subScales, bytes + 192, 16);
  block.d = loadU16(bytes + 208);
}

void readStoredBlock(TensorFormat format, const uint8_t *bytes,
                     StoredBlock &block) {
  switch (format) {
  case TensorFormat::F32:
  case TensorFormat::F16:
  case TensorFormat::BF16:
  case TensorFormat::F64:
    return; // Not a block format.
  case TensorFormat::Q8_0:
    block.d = loadU16(bytes);
    std::memcpy(block.q, bytes + 2, 32);
    return;
  case TensorFormat::Q4_0:
    block.d = loadU16(bytes);
    return readNibbles(bytes + 2, block.q);
  case TensorFormat::Q4_1:
    block.d = loadU16(bytes);
    block.dmin = loadU16(bytes + 2);
    return readNibbles(bytes + 4, block.q);
  case TensorFormat::Q5_0:
    block.d = loadU16(bytes);
    return readFiveBits(bytes + 2, block.q);
  case TensorFormat::Q5_1:
    block.d = loadU16(bytes);
    block.dmin = loadU16(bytes + 2);
    return readFiveBits(bytes + 4, block.q);
  case TensorFormat::Q2_K:
    return readQ2K(bytes, block);
  case TensorFormat::Q3_K:
    return readQ3K(bytes, block);
  case TensorFormat::Q4_K:
    return readQ4KOrQ5K(bytes, /*hasFifthBits=*/false, block);
  case TensorFormat::Q5_K:
    return readQ4KOrQ5K(bytes, /*hasFifthBits=*/true, block);
  case TensorFormat::Q6_K:
    return readQ6K(bytes, block);
  case TensorFormat::IQ4_NL:
    block.d = loadU16(bytes);
    return readNibbles(bytes + 2, block.q);
  case TensorFormat::IQ4_XS:
    return readIQ4XS(bytes, block);
  case TensorFormat::TQ1_0:
    return readTQ1(bytes, block);
  case TensorFormat::TQ2_0:
    readTwoBits(bytes, block.q);
    block.d = loadU16(bytes + 64);
    return;
  case TensorFormat::MXFP4:
    block.d = bytes[0];
    return readNibbles(bytes + 1, block.q);
  case TensorFormat::Int4G32:
  case TensorFormat::Int4G128:
    block.d = loadU32(bytes);
    block.dmin = loadU32(bytes + 4);
    return readNibbles(bytes + 8, block.q,
                       tensorFormatInfo(format).valuesPerBlock / 2);
  case TensorFormat::Int8G32:
  case TensorFormat::Int8G128:
    block.d = loadU32(bytes);
    std::memcpy(block.q, bytes + 4, tensorFormatInfo(format).valuesPerBlock);
    return;
  case TensorFormat::IQ1_S:
  case TensorFormat::IQ1_M:
  case TensorFormat::IQ2_XXS:
  case TensorFormat::IQ2_XS:
  case TensorFormat::IQ2_S:
  case TensorFormat::IQ3_XXS:
  case TensorFormat::IQ3_S:
    return readGridBlock(format, bytes, block);
  }
}

static void storeF16(float value, uint8_t *bytes) {
  const uint16_t half = floatToF16(value);
  std::memcpy(bytes, &half, 2);
}

static void storeF32(float value, uint8_t *bytes) {
  std::memcpy(bytes, &value, 4);
}

void setBlockScales(TensorFormat format, uint8_t *bytes, float d, float dmin) {
  uint8_t *end = bytes + tensorFormatInfo(format).bytesPerBlock;
  switch (format) {
  case TensorFormat::MXFP4:
    bytes[0] = static_cast<uint8_t>(std::ilogb(d) + 128);
    return;
  case TensorFormat::IQ1_M: // The top bits of the last four words.
    for (int w = 0; w < 4; ++w) {
      uint8_t &high = end[2 * w - 7];
      high = static_cast<uint8_t>((high & 15) | (floatToF16(d) >> (4 * w) & 15)
                                                    << 4);
    }
    return;
  case TensorFormat::Int4G32:
  case TensorFormat::Int4G128:
    storeF32(dmin, bytes + 4);
    return storeF32(d, bytes);
  case TensorFormat::Int8G32:
  case TensorFormat::Int8G128:
    return storeF32(d, bytes);
  case TensorFormat::Q3_K:
  case TensorFormat::Q6_K:
  case TensorFormat::TQ1_0:
  case TensorFormat::TQ2_0:
    return storeF16(d, end - 2);
  case TensorFormat::Q2_K:
    storeF16(d, end - 4);
    return storeF16(dmin, end - 2);
  default:
    storeF16(d, bytes);
    if (IntegerFormat::ofBlocks(format)->minima)
      storeF16(dmin, bytes + 2);
  }
}

} // namespace llmir
