//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/SmallFloat.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace llmir {

int64_t commonSegment(int64_t columns, int64_t group, int64_t activationGroup) {
  auto whole = [&](int64_t size) { return size <= 0 || size >= columns; };
  if (whole(group))
    return whole(activationGroup) ? columns : activationGroup;
  return whole(activationGroup) ? group : std::gcd(group, activationGroup);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static uint32_t loadWord(const uint8_t *bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, 4);
  return word;
}

void packStored(int64_t bits, const uint8_t *stored, int64_t bundles,
                uint8_t *words) {
  auto storeWord = [&](uint32_t word) {
    std::memcpy(words, &word, 4);
    words += kLineBytes;
  };
  // Bits [from, from + width) of the bytes of consecutive words, side by side.
  auto storePart = [&](const uint8_t *bytes, int64_t from, int64_t width) {
    const uint32_t mask = ((1u << width) - 1) * 0x01010101u;
    uint32_t word = 0;
    for (int64_t w = 0; w < 8 / width; ++w)
      word |= (loadWord(bytes + 4 * w) >> from & mask) << (w * width);
    storeWord(word);
  };
  if (bits == 8) {
    for (int64_t i = 0; i < bundles; ++i)
      storeWord(loadWord(stored + 4 * i));
    return;
  }
  IntegerFormat format;
  format.bits = bits;
  const int64_t low = format.lowBits(), high = format.highBits();
  const int64_t values = IntegerMatrixLayout{format, 0, 0}.bundleValues();
  for (int64_t i = 0; i < bundles; ++i, stored += values) {
    for (int64_t k = 0; k < values; k += 32 / low)
      storePart(stored + k, 0, low);
    for (int64_t k = 0; high > 0 && k < values; k += 32 / high)
      storePart(stored + k, low, high);
  }
}

/// The index of a number in the codebook.
static uint8_t indexOf(const Codebook &codebook, int64_t number) {
  const auto *end = codebook.entries.begin() + codebook.size();
  const auto *at = std::find(codebook.entries.begin(), end, number);
  assert(at != end && "a number of the codebook");
  return static_cast<uint8_t>(at - codebook.entries.begin());
}

/// Packs `count` integers of a block; lines are padded at the end of each run.
static void packRuns(const IntegerMatrixLayout &layout, const int16_t *q,
                     int64_t count, uint8_t *words) {
  const IntegerFormat &format = layout.format;
  const int64_t bundle = layout.bundleValues();
  std::vector<uint8_t> stored;
  for (int64_t from = 0; from < count; from += layout.run()) {
    int64_t values = std::min(layout.run(), count - from);
    int64_t bundles = ceilDiv(values, bundle);
    int64_t bytes = format.bits == 16 ? 2 : 1;
    stored.assign(bundles * bundle * bytes, 0);
    for (int64_t i = 0; i < values; ++i) {
      // Little-endian: the low byte comes first.
      auto number =
          format.usesTable()
              ? indexOf(*format.codebook, q[from + i])
              : static_cast<uint16_t>(q[from + i] + format.storedBias());
      std::memcpy(&stored[i * bytes], &number, bytes);
    }
    // Words of 16-bit integers are treated as bytes.
    packStored(std::min<int64_t>(format.bits, 8), stored.data(), bundles,
               words);
    words += bundles * layout.bundleLines() * kLineBytes;
  }
}

static void packScale(ScaleFormat format, float scale, int64_t lane,
                      uint8_t *scales) {
  uint16_t bits = 0;
  switch (format) {
  case ScaleFormat::F32:
    std::memcpy(scales + 4 * lane, &scale, 4);
    return;
  case ScaleFormat::E8M0:
    scales[lane] = static_cast<uint8_t>(std::ilogb(scale) + 128);
    return;
  case ScaleFormat::F16:
    bits = floatToF16(scale);
    break;
  case ScaleFormat::BF16:
    bits = floatToBf16(scale);
    break;
  }
  std::memcpy(scales + 2 * lane, &bits, 2);
}

void packIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                    const IntegerRow &values, uint8_t *out) {
  const IntegerFormat &format = layout.format;
  assert(format.zeroPoints == (values.zeroPoints != nullptr) &&
         format.minima == (values.mins != nullptr) &&
         (format.superGroup > 0) == (values.subScales != nullptr) &&
         (format.superGroup > 0 && format.minima) ==
             (values.subMins != nullptr) &&
         "a row has the fields of its format");
  int64_t lane = row % kTileRows;
  uint8_t *at = out + row / kTileRows * layout.tileBytes();
  for (int64_t b = 0; b < layout.numBlocks(); ++b) {
    int64_t first = b * layout.block();
    int64_t count = std::min(layout.block(), layout.columns - first);
    packRuns(layout, values.q + first, count, at + lane * 4);
    for (int64_t g = 0; g < layout.numSubScales(count); ++g) {
      int64_t group = first / layout.group() + g;
      int64_t place = kTileRows * g + lane;
      auto &subScale = at[layout.subScalesAt(count) + place];
      subScale = static_cast<uint8_t>(values.subScales[group]);
      if (format.pairedSubScales)
        subScale |= static_cast<uint8_t>(values.subMins[group] << 4);
      else if (values.subMins)
        at[layout.subMinsAt(count) + place] =
            static_cast<uint8_t>(values.subMins[group]);
    }
    packScale(format.scales, values.scales[b], lane,
              at + layout.scalesAt(count));
    if (values.zeroPoints) {
      int64_t size = layout.zeroPointBytes() / kTileRows;
      // Little-endian: the low byte comes first.
      std::memcpy(at + layout.zeroPointsAt(count) + lane * size,
                  &values.zeroPoints[b], size);
    }
    if (values.mins)
      packScale(format.scales, values.mins[b], lane, at + layout.minsAt(count));
    at += layout.blockBytes(count);
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Location of some bits of an integer: its bits [from, from + bits) are stored
/// at bit `shift` of byte `byte` of the row's word in line `line`.
namespace {
struct BitPlace {
  int64_t line, byte, shift, from, bits;
};
} // namespace

/// The locations of element `i` of a block, low bits first; the second is empty
/// if the first has all bits.
static std::array<BitPlace, 2> placesOf(const IntegerMatrixLayout &layout,
                                        int64_t i) {
  int64_t bits = layout.format.bits, perLine = layout.valuesPerLine();
  int64_t runLines =
      ceilDiv(layout.run(), layout.bundleValues()) * layout.bundleLines();
  int64_t inRun = i % layout.run(), inBundle = inRun % layout.bundleValues();
  int64_t line = i / layout.run() * runLines +
                 inRun / layout.bundleValues() * layout.bundleLines() +
                 inBundle / perLine;
  int64_t inLine = inBundle % perLine;
  if (bits >= 8)
    return {{{line, inLine * bits / 8, 0, 0, bits}, {}}};
  int64_t lowBits = layout.format.lowBits();
  BitPlace low{line, inLine % 4, inLine / 4 * lowBits, 0, lowBits};
  int64_t high = layout.format.highBits();
  if (high == 0)
    return {{low, {}}};
  int64_t word = inBundle / 4, perByte = 8 / high;
  int64_t highLine = line - inBundle / perLine + lowBits + word / perByte;
  return {
      {low, {highLine, inBundle % 4, word % perByte * high, lowBits, high}}};
}

static int64_t unpackValue(const IntegerMatrixLayout &layout, int64_t i,
                           const uint8_t *words) {
  int64_t q = 0, bits = layout.format.bits;
  for (const BitPlace &place : placesOf(layout, i)) {
    const uint8_t *at = words + place.line * kLineBytes + place.byte;
    for (int64_t done = 0; done < place.bits; done += 8) {
      int64_t mask = (int64_t(1) << std::min<int64_t>(place.bits, 8)) - 1;
      q |= ((*at++ >> place.shift) & mask) << (place.from + done);
    }
  }
  if (bits <= 8)
    return layout.format.numberOf(static_cast<uint8_t>(q));
  return layout.format.isSigned() && (q >> (bits - 1))
             ? q - (int64_t(1) << bits)
             : q;
}

/// The zero point of a row's block.
static int64_t unpackZeroPoint(const IntegerMatrixLayout &layout, int64_t lane,
                               const uint8_t *zeroPoints) {
  if (layout.format.bits <= 8)
    return static_cast<int8_t>(zeroPoints[lane]);
  int16_t wide;
  std::memcpy(&wide, zeroPoints + 2 * lane, 2);
  return wide;
}

void unpackIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                      const uint8_t *packed, float *out) {
  const IntegerFormat &format = layout.format;
  int64_t lane = row % kTileRows;
  const uint8_t *at = packed + row / kTileRows * layout.tileBytes();
  for (int64_t b = 0; b < layout.numBlocks(); ++b) {
    int64_t first = b * layout.block();
    int64_t count = std::min(layout.block(), layout.columns - first);
    const int64_t scaleAt = lane * scaleFormatBytes(format.scales);
    float d = format.unit() *
              decodeScale(format.scales, at + layout.scalesAt(count) + scaleAt);
    float dmin = 0;
    if (format.minima)
      dmin = decodeScale(format.scales, at + layout.minsAt(count) + scaleAt);
    int64_t zeroPoint = 0;
    if (format.zeroPoints)
      zeroPoint =
          unpackZeroPoint(layout, lane, at + layout.zeroPointsAt(count));
    for (int64_t i = 0; i < count; ++i) {
      float scale = d, min = dmin;
      if (format.superGroup > 0) {
        int64_t place = kTileRows * (i / layout.group()) + lane;
        uint8_t subScale = at[layout.subScalesAt(count) + place];
        uint8_t subMin =
            format.minima ? at[layout.subMinsAt(count) + place] : 0;
        if (format.pairedSubScales) {
          subScale &= 15;
          subMin >>= 4;
        }
        scale *= static_cast<float>(static_cast<int8_t>(subScale));
        if (format.minima)
          min *= -static_cast<float>(static_cast<int8_t>(subMin));
      }
      int64_t q = unpackValue(layout, i, at + lane * 4) - zeroPoint;
      out[first + i] = scale * static_cast<float>(q) + min;
    }
    at += layout.blockBytes(count);
  }
}

} // namespace llmir
