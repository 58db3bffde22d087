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

#include <cstring>

namespace llmir {

static uint16_t loadU16(const uint8_t *bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

/// 16 bytes: low nibbles are elements 0 to 15, high nibbles 16 to 31.
static void readNibbles(const uint8_t *bytes, uint8_t *q) {
  for (int j = 0; j < 16; ++j) {
    q[j] = bytes[j] & 15;
    q[j + 16] = bytes[j] >> 4;
  }
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
  case TensorFormat::Q4_K:
    return readQ4KOrQ5K(bytes, /*hasFifthBits=*/false, block);
  case TensorFormat::Q5_K:
    return readQ4KOrQ5K(bytes, /*hasFifthBits=*/true, block);
  case TensorFormat::Q6_K:
    return readQ6K(bytes, block);
  }
}

} // namespace llmir
