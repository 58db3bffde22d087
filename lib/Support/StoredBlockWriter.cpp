//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/StoredBlock.h"

#include <cassert>
#include <cstring>

namespace llmir {

static void storeU16(uint16_t value, uint8_t *bytes) {
  bytes[0] = static_cast<uint8_t>(value);
  bytes[1] = static_cast<uint8_t>(value >> 8);
}

/// 32 values of 4 bits: low nibbles first.
static void writeNibbles(const uint8_t *q, uint8_t *bytes) {
  for (int j = 0; j < 16; ++j)
    bytes[j] = static_cast<uint8_t>((q[j] & 15) | (q[j + 16] & 15) << 4);
}

/// 32 values of 5 bits: a bit mask of the fifth bits, then nibbles.
static void writeFiveBits(const uint8_t *q, uint8_t *bytes) {
  std::memset(bytes, 0, 4);
  for (int j = 0; j < 32; ++j)
    bytes[j / 8] |= static_cast<uint8_t>((q[j] >> 4 & 1) << (j % 8));
  writeNibbles(q, bytes + 4);
}

/// 256 values of 2 bits: per half, a byte has those of 4 values 32 apart.
static void writeTwoBits(const uint8_t *q, uint8_t *bytes) {
  std::memset(bytes, 0, 64);
  for (int half = 0; half < 2; ++half, bytes += 32)
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 32; ++j)
        bytes[j] |= static_cast<uint8_t>((*q++ & 3) << (2 * n));
}

static void writeQ2K(const StoredBlock &block, uint8_t *bytes) {
  for (int g = 0; g < 16; ++g)
    bytes[g] =
        static_cast<uint8_t>((block.subScales[g] & 15) | block.subMins[g] << 4);
  writeTwoBits(block.q, bytes + 16);
  storeU16(block.d, bytes + 80);
  storeU16(block.dmin, bytes + 82);
}

static void writeQ3K(const StoredBlock &block, uint8_t *bytes) {
  std::memset(bytes, 0, 110);
  writeTwoBits(block.q, bytes + 32);
  for (int k = 0; k < 256; ++k)
    bytes[k % 32] |= static_cast<uint8_t>((block.q[k] >> 2 & 1) << (k / 32));
  uint8_t *scales = bytes + 96;
  for (int g = 0; g < 16; ++g) {
    const int biased = static_cast<int8_t>(block.subScales[g]) + 32;
    scales[g % 8] |= static_cast<uint8_t>((biased & 15) << (g / 8 * 4));
    scales[8 + g % 4] |= static_cast<uint8_t>(biased >> 4 << (g / 4 * 2));
  }
  storeU16(block.d, bytes + 108);
}

/// The 6-bit scales and minima of Q4_K and Q5_K: 12 bytes.
static void writeSixBitScales(const StoredBlock &block, uint8_t *bytes) {
  for (int g = 0; g < 4; ++g) {
    const int scale = block.subScales[g + 4], min = block.subMins[g + 4];
    bytes[g] =
        static_cast<uint8_t>((block.subScales[g] & 63) | scale >> 4 << 6);
    bytes[g + 4] =
        static_cast<uint8_t>((block.subMins[g] & 63) | min >> 4 << 6);
    bytes[g + 8] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
  }
}

static void writeQ4KOrQ5K(const StoredBlock &block, bool hasFifthBits,
                          uint8_t *bytes) {
  storeU16(block.d, bytes);
  storeU16(block.dmin, bytes + 2);
  writeSixBitScales(block, bytes + 4);
  uint8_t *fifth = bytes + 16;
  uint8_t *nibbles = fifth + (hasFifthBits ? 32 : 0);
  if (hasFifthBits)
    std::memset(fifth, 0, 32);
  for (int pair = 0; pair < 4; ++pair, nibbles += 32) {
    const uint8_t *q = block.q + 64 * pair;
    for (int j = 0; j < 32; ++j)
      nibbles[j] = static_cast<uint8_t>((q[j] & 15) | (q[j + 32] & 15) << 4);
    if (!hasFifthBits)
      continue;
    for (int j = 0; j < 32; ++j)
      fifth[j] |= static_cast<uint8_t>((q[j] >> 4 & 1) << (2 * pair) |
                                       (q[j + 32] >> 4 & 1) << (2 * pair + 1));
  }
}

static void writeQ6K(const StoredBlock &block, uint8_t *bytes) {
  const uint8_t *q = block.q;
  uint8_t *low = bytes, *high = bytes + 128;
  std::memset(high, 0, 64);
  for (int half = 0; half < 2; ++half, low += 64, high += 32, q += 128) {
    for (int j = 0; j < 64; ++j)
      low[j] = static_cast<uint8_t>((q[j] & 15) | (q[j + 64] & 15) << 4);
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 32; ++j)
        high[j] |= static_cast<uint8_t>((q[32 * n + j] >> 4 & 3) << (2 * n));
  }
  std::memcpy(bytes + 192, block.subScales, 16);
  storeU16(block.d, bytes + 208);
}

static void writeIQ4XS(const StoredBlock &block, uint8_t *bytes) {
  std::memset(bytes, 0, 8);
  storeU16(block.d, bytes);
  unsigned high = 0;
  for (int g = 0; g < 8; ++g) {
    const int biased = static_cast<int8_t>(block.subScales[g]) + 32;
    bytes[4 + g / 2] |= static_cast<uint8_t>((biased & 15) << (g % 2 * 4));
    high |= static_cast<unsigned>(biased >> 4) << (2 * g);
    writeNibbles(block.q + 32 * g, bytes + 8 + 16 * g);
  }
  storeU16(static_cast<uint16_t>(high), bytes + 2);
}

/// A byte has the first five digits of a fraction in base 3, rounded up.
static void writeTQ1(const StoredBlock &block, uint8_t *bytes) {
  const uint8_t *q = block.q;
  auto writeDigits = [&](int count, int digits) {
    for (int j = 0; j < count; ++j) {
      int number = 0;
      for (int n = 0; n < 5; ++n)
        number = 3 * number + (n < digits ? q[n * count + j] : 0);
      bytes[j] = static_cast<uint8_t>((number * 256 + 242) / 243);
    }
    q += count * digits;
    bytes += count;
  };
  writeDigits(32, 5);
  writeDigits(16, 5);
  writeDigits(4, 4);
  storeU16(block.d, bytes);
}

void writeStoredBlock(TensorFormat format, const StoredBlock &block,
                      uint8_t *bytes) {
  switch (format) {
  case TensorFormat::Q8_0:
    storeU16(block.d, bytes);
    std::memcpy(bytes + 2, block.q, 32);
    return;
  case TensorFormat::Q4_0:
  case TensorFormat::IQ4_NL:
    storeU16(block.d, bytes);
    return writeNibbles(block.q, bytes + 2);
  case TensorFormat::Q4_1:
    storeU16(block.d, bytes);
    storeU16(block.dmin, bytes + 2);
    return writeNibbles(block.q, bytes + 4);
  case TensorFormat::Q5_0:
    storeU16(block.d, bytes);
    return writeFiveBits(block.q, bytes + 2);
  case TensorFormat::Q5_1:
    storeU16(block.d, bytes);
    storeU16(block.dmin, bytes + 2);
    return writeFiveBits(block.q, bytes + 4);
  case TensorFormat::Q2_K:
    return writeQ2K(block, bytes);
  case TensorFormat::Q3_K:
    return writeQ3K(block, bytes);
  case TensorFormat::Q4_K:
    return writeQ4KOrQ5K(block, /*hasFifthBits=*/false, bytes);
  case TensorFormat::Q5_K:
    return writeQ4KOrQ5K(block, /*hasFifthBits=*/true, bytes);
  case TensorFormat::Q6_K:
    return writeQ6K(block, bytes);
  case TensorFormat::IQ4_XS:
    return writeIQ4XS(block, bytes);
  case TensorFormat::TQ1_0:
    return writeTQ1(block, bytes);
  case TensorFormat::TQ2_0:
    writeTwoBits(block.q, bytes);
    return storeU16(block.d, bytes + 64);
  case TensorFormat::MXFP4:
    bytes[0] = static_cast<uint8_t>(block.d);
    return writeNibbles(block.q, bytes + 1);
  default:
    assert(false && "a plain format, or one with a grid");
  }
}

} // namespace llmir
