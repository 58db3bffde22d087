//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The block formats whose blocks hold points of a grid: the levels of 8 or 4
// values. A value's index in its codebook is its level, with the sign (or
// shift) as the top bit. Offsets are those of ggml's structures.
//
//===----------------------------------------------------------------------===//

#include "StoredGrids.h"

#include <iterator>

namespace llmir {

#define LLMIR_CODEBOOK_GRID(name, points, ...)                                 \
  static constexpr uint16_t grid##name[points] = {__VA_ARGS__};
#include "CodebookGrids.inc"

static uint16_t loadU16(const uint8_t *bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

static uint32_t loadU32(const uint8_t *bytes) {
  return loadU16(bytes) | static_cast<uint32_t>(loadU16(bytes + 2)) << 16;
}

/// Eight values of a point with two bits per level; bit j of `signs` is the top
/// bit of value j.
static void putEight(uint16_t point, int signs, uint8_t *q) {
  for (int j = 0; j < 8; ++j)
    q[j] = static_cast<uint8_t>((point >> (2 * j) & 3) | (signs >> j & 1) << 2);
}

/// Four values of a point with three bits per level.
static void putFour(uint16_t point, int signs, uint8_t *q) {
  for (int j = 0; j < 4; ++j)
    q[j] = static_cast<uint8_t>((point >> (3 * j) & 7) | (signs >> j & 1) << 3);
}

/// The eight signs of seven bits: the number of negative values is even.
static int evenSigns(int bits) {
  return bits | (__builtin_popcount(static_cast<unsigned>(bits)) & 1) << 7;
}

/// The sub-scale of a number s.
static uint8_t odd(int s) { return static_cast<uint8_t>(2 * s + 1); }

/// d; for each 32 values four points of 8 bits, then 7 bits of signs for each
/// point, and 4 bits of s.
static void readIQ2XXS(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  bytes += 2;
  for (int g = 0; g < 8; ++g, bytes += 8) {
    uint32_t more = loadU32(bytes + 4);
    block.subScales[g] = odd(static_cast<int>(more >> 28));
    for (int i = 0; i < 4; ++i)
      putEight(gridIQ2_XXS[bytes[i]], evenSigns(more >> (7 * i) & 127),
               block.q + 32 * g + 8 * i);
  }
}

/// d; 32 words of 9 bits for a point and 7 bits of signs; 16 nibbles of s.
static void readIQ2XS(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  for (int i = 0; i < 32; ++i) {
    int word = loadU16(bytes + 2 + 2 * i);
    putEight(gridIQ2_XS[word & 511], evenSigns(word >> 9), block.q + 8 * i);
  }
  for (int g = 0; g < 16; ++g)
    block.subScales[g] = odd(bytes[66 + g / 2] >> (g % 2 * 4) & 15);
}

/// d; the low 8 bits of 32 points; 32 bytes of signs; the high two bits of the
/// points; 16 nibbles of s.
static void readIQ2S(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  for (int i = 0; i < 32; ++i) {
    int high = bytes[66 + i / 4] >> (i % 4 * 2) & 3;
    putEight(gridIQ2_S[bytes[2 + i] | high << 8], bytes[34 + i],
             block.q + 8 * i);
  }
  for (int g = 0; g < 16; ++g)
    block.subScales[g] = odd(bytes[74 + g / 2] >> (g % 2 * 4) & 15);
}

/// d; 64 points of 8 bits; for each 32 values 7 bits of signs for each 8 of
/// them, and 4 bits of s.
static void readIQ3XXS(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  for (int g = 0; g < 8; ++g) {
    uint32_t more = loadU32(bytes + 66 + 4 * g);
    block.subScales[g] = odd(static_cast<int>(more >> 28));
    for (int i = 0; i < 8; ++i)
      putFour(gridIQ3_XXS[bytes[2 + 8 * g + i]],
              evenSigns(more >> (i / 2 * 7) & 127) >> (i % 2 * 4),
              block.q + 32 * g + 4 * i);
  }
}

/// d; the low 8 bits of 64 points; their ninth bits; 32 bytes of signs; 8
/// nibbles of s.
static void readIQ3S(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  for (int i = 0; i < 64; ++i) {
    int high = bytes[66 + i / 8] >> (i % 8) & 1;
    putFour(gridIQ3_S[bytes[2 + i] | high << 8],
            bytes[74 + i / 2] >> (i % 2 * 4), block.q + 4 * i);
  }
  for (int g = 0; g < 8; ++g)
    block.subScales[g] = odd(bytes[106 + g / 2] >> (g % 2 * 4) & 15);
}

/// d; the low 8 bits of 32 points; for each 32 values a word with the high
/// three bits of four points, three bits of s, and the sign of the shift.
static void readIQ1S(const uint8_t *bytes, StoredBlock &block) {
  block.d = loadU16(bytes);
  for (int g = 0; g < 8; ++g) {
    int word = loadU16(bytes + 34 + 2 * g);
    block.subScales[g] = odd(word >> 12 & 7);
    for (int i = 0; i < 4; ++i)
      putEight(gridIQ1_S[bytes[2 + 4 * g + i] | (word >> (3 * i) & 7) << 8],
               word >> 15 ? 255 : 0, block.q + 32 * g + 8 * i);
  }
}

/// The low 8 bits of 32 points; for each of them three high bits and the sign
/// of the shift; four words of four s of three bits, whose top bits are d.
static void readIQ1M(const uint8_t *bytes, StoredBlock &block) {
  block.d = 0;
  for (int w = 0; w < 4; ++w) {
    int word = loadU16(bytes + 48 + 2 * w);
    block.d |= static_cast<uint16_t>(word >> 12 << (4 * w));
    for (int i = 0; i < 4; ++i)
      block.subScales[4 * w + i] = odd(word >> (3 * i) & 7);
  }
  for (int i = 0; i < 32; ++i) {
    int more = bytes[32 + i / 2] >> (i % 2 * 4) & 15;
    putEight(gridIQ1_S[bytes[i] | (more & 7) << 8], more >> 3 ? 255 : 0,
             block.q + 8 * i);
  }
}

void readGridBlock(TensorFormat format, const uint8_t *bytes,
                   StoredBlock &block) {
  switch (format) {
  case TensorFormat::IQ1_S:
    return readIQ1S(bytes, block);
  case TensorFormat::IQ1_M:
    return readIQ1M(bytes, block);
  case TensorFormat::IQ2_XXS:
    return readIQ2XXS(bytes, block);
  case TensorFormat::IQ2_XS:
    return readIQ2XS(bytes, block);
  case TensorFormat::IQ2_S:
    return readIQ2S(bytes, block);
  case TensorFormat::IQ3_XXS:
    return readIQ3XXS(bytes, block);
  case TensorFormat::IQ3_S:
    return readIQ3S(bytes, block);
  default:
    return;
  }
}

Span<const uint16_t> gridOf(TensorFormat format) {
  switch (format) {
  case TensorFormat::IQ1_S:
  case TensorFormat::IQ1_M:
    return {gridIQ1_S, std::size(gridIQ1_S)};
  case TensorFormat::IQ2_XXS:
    return {gridIQ2_XXS, std::size(gridIQ2_XXS)};
  case TensorFormat::IQ2_XS:
    return {gridIQ2_XS, std::size(gridIQ2_XS)};
  case TensorFormat::IQ2_S:
    return {gridIQ2_S, std::size(gridIQ2_S)};
  case TensorFormat::IQ3_XXS:
    return {gridIQ3_XXS, std::size(gridIQ3_XXS)};
  case TensorFormat::IQ3_S:
    return {gridIQ3_S, std::size(gridIQ3_S)};
  default:
    return {};
  }
}

} // namespace llmir
