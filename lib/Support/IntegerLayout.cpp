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
#include <charconv>
#include <cstring>
#include <numeric>
#include <vector>

namespace llmir {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string IntegerFormat::name() const {
  std::string text = "int" + std::to_string(bits);
  if (group > 0)
    text += ":g" + std::to_string(group);
  if (segment > 0)
    text += ":s" + std::to_string(segment);
  if (superGroup > 0)
    text += ":k" + std::to_string(superGroup);
  if (zeroPoints)
    text += ":asym";
  if (minima)
    text += ":min";
  if (scales != TensorFormat::F32)
    text += ":" + std::string(tensorFormatInfo(scales).name);
  return text;
}

/// False for a format that no matrix can be stored in.
static bool isConsistent(const IntegerFormat &format) {
  static constexpr int64_t knownBits[] = {4, 5, 6, 8, 16};
  auto has = [&](int64_t size, int64_t step) { return size % step == 0; };
  if (std::find(std::begin(knownBits), std::end(knownBits), format.bits) ==
          std::end(knownBits) ||
      (format.zeroPoints && format.minima))
    return false;
  if (format.segment > 0 && !has(format.group, format.segment))
    return false;
  // A line of high bits covers 32 elements of one block.
  if (format.superGroup == 0)
    return !format.hasHighLines() ||
           (has(format.group, 32) && format.segment == 0);
  // Sub-scales are bytes of whole words of K; zero points and minima exclude
  // each other.
  return has(format.superGroup, 32) && format.group > 0 &&
         has(format.superGroup, format.group) && has(format.group, 16) &&
         format.segment == 0 && !format.zeroPoints && format.bits <= 8 &&
         format.scales == TensorFormat::F16;
}

/// The positive number after `prefix`; nullopt otherwise.
static std::optional<int64_t> numberAfter(std::string_view text,
                                          std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return std::nullopt;
  text.remove_prefix(prefix.size());
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return std::nullopt;
  return value;
}

std::optional<IntegerFormat> IntegerFormat::fromName(std::string_view name) {
  IntegerFormat format;
  std::string_view rest = name;
  for (bool first = true; first || !rest.empty(); first = false) {
    size_t colon = rest.find(':');
    std::string_view part = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    if (first) {
      std::optional<int64_t> bits = numberAfter(part, "int");
      if (!bits)
        return std::nullopt;
      format.bits = *bits;
    } else if (std::optional<int64_t> group = numberAfter(part, "g")) {
      format.group = *group;
    } else if (std::optional<int64_t> segment = numberAfter(part, "s")) {
      format.segment = *segment;
    } else if (std::optional<int64_t> superGroup = numberAfter(part, "k")) {
      format.superGroup = *superGroup;
    } else if (part == "asym") {
      format.zeroPoints = true;
    } else if (part == "min") {
      format.minima = true;
    } else if (part == "f16") {
      format.scales = TensorFormat::F16;
    } else if (part == "bf16") {
      format.scales = TensorFormat::BF16;
    } else {
      return std::nullopt;
    }
  }
  // Accept only the canonical spelling.
  if (format.name() != name || !isConsistent(format))
    return std::nullopt;
  return format;
}

/// Integers with f16 scales, and with minima if `minima`.
static IntegerFormat blocksOf(int64_t bits, int64_t group, int64_t superGroup,
                              bool minima) {
  IntegerFormat format;
  format.bits = bits;
  format.group = group;
  format.superGroup = superGroup;
  format.minima = minima;
  format.scales = TensorFormat::F16;
  return format;
}

std::optional<IntegerFormat> IntegerFormat::ofBlocks(TensorFormat format) {
  switch (format) {
  case TensorFormat::F32:
  case TensorFormat::F16:
  case TensorFormat::BF16:
    break;
  case TensorFormat::Q8_0:
    return blocksOf(8, 32, 0, /*minima=*/false);
  case TensorFormat::Q4_0:
    return blocksOf(4, 32, 0, /*minima=*/false);
  case TensorFormat::Q4_1:
    return blocksOf(4, 32, 0, /*minima=*/true);
  case TensorFormat::Q4_K:
    return blocksOf(4, 32, 256, /*minima=*/true);
  case TensorFormat::Q5_K:
    return blocksOf(5, 32, 256, /*minima=*/true);
  case TensorFormat::Q6_K:
    return blocksOf(6, 16, 256, /*minima=*/false);
  }
  return std::nullopt;
}

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
  auto storeNibbles = [&](const uint8_t *eight) {
    storeWord((loadWord(eight) & 0x0f0f0f0f) |
              (loadWord(eight + 4) & 0x0f0f0f0f) << 4);
  };
  if (bits == 8 || bits == 4) {
    for (int64_t i = 0; i < bundles; ++i)
      bits == 8 ? storeWord(loadWord(stored + 4 * i))
                : storeNibbles(stored + 8 * i);
    return;
  }
  const int64_t high = bits - 4, perLine = 8 / high;
  const uint32_t mask = high == 1 ? 0x01010101 : 0x03030303;
  for (int64_t i = 0; i < bundles; ++i, stored += 32) {
    for (int64_t line = 0; line < 4; ++line)
      storeNibbles(stored + 8 * line);
    for (int64_t line = 0; line < high; ++line) {
      uint32_t word = 0;
      for (int64_t w = 0; w < perLine; ++w)
        word |= (loadWord(stored + 4 * (line * perLine + w)) >> 4 & mask)
                << (w * high);
      storeWord(word);
    }
  }
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
      auto number = static_cast<uint16_t>(q[from + i] + format.storedBias());
      std::memcpy(&stored[i * bytes], &number, bytes);
    }
    // Words of 16-bit integers are treated as bytes.
    packStored(std::min<int64_t>(format.bits, 8), stored.data(), bundles,
               words);
    words += bundles * layout.bundleLines() * kLineBytes;
  }
}

static void packScale(TensorFormat format, float scale, int64_t lane,
                      uint8_t *scales) {
  if (format == TensorFormat::F32) {
    std::memcpy(scales + 4 * lane, &scale, 4);
    return;
  }
  uint16_t bits =
      format == TensorFormat::F16 ? floatToF16(scale) : floatToBf16(scale);
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
      at[layout.subScalesAt(count) + place] =
          static_cast<uint8_t>(values.subScales[group]);
      if (values.subMins)
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
  BitPlace low{line, inLine % 4, inLine / 4 * 4, 0, 4};
  if (bits == 4)
    return {{low, {}}};
  int64_t high = bits - 4, word = inBundle / 4, perByte = 8 / high;
  int64_t highLine = line - inBundle / perLine + 4 + word / perByte;
  return {{low, {highLine, inBundle % 4, word % perByte * high, 4, high}}};
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
  if (bits >= 8 && layout.format.isSigned() && (q >> (bits - 1)))
    q -= int64_t(1) << bits;
  return q - layout.format.storedBias();
}

static float unpackScale(TensorFormat format, int64_t lane,
                         const uint8_t *scales) {
  float scale;
  decodeTensorRow(format,
                  scales + lane * tensorFormatInfo(format).bytesPerBlock, 1,
                  &scale);
  return scale;
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
    float d = unpackScale(format.scales, lane, at + layout.scalesAt(count));
    float dmin = 0;
    if (format.minima)
      dmin = unpackScale(format.scales, lane, at + layout.minsAt(count));
    int64_t zeroPoint = 0;
    if (format.zeroPoints)
      zeroPoint =
          unpackZeroPoint(layout, lane, at + layout.zeroPointsAt(count));
    for (int64_t i = 0; i < count; ++i) {
      float scale = d, min = dmin;
      if (format.superGroup > 0) {
        int64_t place = kTileRows * (i / layout.group()) + lane;
        auto byteAt = [&](int64_t offset) {
          return static_cast<float>(static_cast<int8_t>(at[offset + place]));
        };
        scale *= byteAt(layout.subScalesAt(count));
        if (format.minima)
          min *= -byteAt(layout.subMinsAt(count));
      }
      int64_t q = unpackValue(layout, i, at + lane * 4) - zeroPoint;
      out[first + i] = scale * static_cast<float>(q) + min;
    }
    at += layout.blockBytes(count);
  }
}

} // namespace llmir
