//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/SmallFloat.h"

#include <cassert>
#include <charconv>
#include <cstring>
#include <numeric>

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
  if (zeroPoints)
    text += ":asym";
  if (scales != TensorFormat::F32)
    text += ":" + std::string(tensorFormatInfo(scales).name);
  return text;
}

/// The positive number after `prefix`; nullopt for anything else.
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
      if (!bits || (*bits != 4 && *bits != 8 && *bits != 16))
        return std::nullopt;
      format.bits = *bits;
    } else if (std::optional<int64_t> group = numberAfter(part, "g")) {
      format.group = *group;
    } else if (std::optional<int64_t> segment = numberAfter(part, "s")) {
      format.segment = *segment;
    } else if (part == "asym") {
      format.zeroPoints = true;
    } else if (part == "f16") {
      format.scales = TensorFormat::F16;
    } else if (part == "bf16") {
      format.scales = TensorFormat::BF16;
    } else {
      return std::nullopt;
    }
  }
  // One spelling only, and segments that divide a group.
  if (format.name() != name ||
      (format.segment > 0 && format.group % format.segment != 0))
    return std::nullopt;
  return format;
}

std::optional<IntegerFormat> IntegerFormat::ofBlocks(TensorFormat format) {
  switch (format) {
  case TensorFormat::Q8_0:
    return IntegerFormat{8, 32, 0, false, TensorFormat::F16};
  case TensorFormat::Q4_0:
    return IntegerFormat{4, 32, 0, false, TensorFormat::F16};
  case TensorFormat::F32:
  case TensorFormat::F16:
  case TensorFormat::BF16:
    break;
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

/// Writes value `i` of a line into the four bytes that the row has in it.
static void packValue(int64_t bits, int64_t i, int16_t q, uint8_t *word) {
  switch (bits) {
  case 4:
    word[i % 4] |= static_cast<uint8_t>(((q + 8) & 15) << (i < 4 ? 0 : 4));
    break;
  case 8:
    word[i] = static_cast<uint8_t>(q);
    break;
  default:
    std::memcpy(word + 2 * i, &q, 2);
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
                    const int16_t *q, const float *scales,
                    const int16_t *zeroPoints, uint8_t *out) {
  assert(layout.format.zeroPoints == (zeroPoints != nullptr) &&
         "zero points belong to asymmetric formats");
  int64_t lane = row % kTileRows, bits = layout.format.bits;
  int64_t perLine = layout.valuesPerLine(), segment = layout.segment();
  int64_t segmentLines = ceilDiv(segment, perLine);
  uint8_t *at = out + row / kTileRows * layout.tileBytes();
  for (int64_t g = 0; g < layout.numGroups(); ++g) {
    int64_t values =
        g + 1 < layout.numGroups() ? layout.group() : layout.lastGroup();
    for (int64_t i = 0; i < values; ++i) {
      int64_t line = i / segment * segmentLines + i % segment / perLine;
      packValue(bits, i % segment % perLine, q[g * layout.group() + i],
                at + line * kLineBytes + lane * 4);
    }
    uint8_t *tail = at + layout.numLines(values) * kLineBytes;
    packScale(layout.format.scales, scales[g], lane, tail);
    if (zeroPoints) {
      int64_t size = layout.zeroPointBytes() / kTileRows;
      // Little-endian: the low byte comes first.
      std::memcpy(tail + layout.scaleBytes() + lane * size, &zeroPoints[g],
                  size);
    }
    at += layout.groupBytes(values);
  }
}

} // namespace llmir
