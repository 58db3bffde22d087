//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/IntegerFormat.h"
#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace llmir {

//===----------------------------------------------------------------------===//
// Scales and codebooks
//===----------------------------------------------------------------------===//

static constexpr std::string_view scaleNames[] = {"f32", "f16", "bf16", "e8m0"};

std::string_view scaleFormatName(ScaleFormat format) {
  return scaleNames[static_cast<size_t>(format)];
}

static std::optional<ScaleFormat> scaleFormatFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(scaleNames); ++i)
    if (scaleNames[i] == name)
      return static_cast<ScaleFormat>(i);
  return std::nullopt;
}

int64_t scaleFormatBytes(ScaleFormat format) {
  switch (format) {
  case ScaleFormat::F32:
    return 4;
  case ScaleFormat::F16:
  case ScaleFormat::BF16:
    return 2;
  case ScaleFormat::E8M0:
    return 1;
  }
  return 0;
}

float decodeScale(ScaleFormat format, const uint8_t *bytes) {
  uint16_t half = 0;
  if (scaleFormatBytes(format) == 2)
    std::memcpy(&half, bytes, 2);
  switch (format) {
  case ScaleFormat::F32: {
    float value;
    std::memcpy(&value, bytes, 4);
    return value;
  }
  case ScaleFormat::F16:
    return f16ToFloat(half);
  case ScaleFormat::BF16:
    return bf16ToFloat(half);
  case ScaleFormat::E8M0: {
    // 2^-128 and 2^-127 are denormal.
    uint32_t bits = bytes[0] < 2 ? uint32_t(0x200000) << bytes[0]
                                 : uint32_t(bytes[0] - 1) << 23;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  }
  return 0;
}

static constexpr Codebook codebooks[] = {
#define LLMIR_CODEBOOK(name, bits, unit, ...) {name, bits, unit, {__VA_ARGS__}},
#include "llmir/Support/Codebooks.def"
};

const Codebook *findCodebook(std::string_view name) {
  for (const Codebook &codebook : codebooks)
    if (codebook.name == name)
      return &codebook;
  return nullptr;
}

int64_t Codebook::lowest() const {
  return *std::min_element(entries.begin(), entries.begin() + size());
}

int64_t Codebook::highest() const {
  return *std::max_element(entries.begin(), entries.begin() + size());
}

bool Codebook::isRange() const {
  for (int64_t i = 0; i < size(); ++i)
    if (entries[i] != entries[0] + i)
      return false;
  return true;
}

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
  if (pairedSubScales)
    text += ":sub4";
  if (minima)
    text += ":min";
  if (codebook)
    text += ":" + std::string(codebook->name);
  if (scales != ScaleFormat::F32)
    text += ":" + std::string(scaleFormatName(scales));
  return text;
}

/// False for a format that no matrix can be stored in.
static bool isConsistent(const IntegerFormat &format) {
  static constexpr int64_t knownBits[] = {2, 3, 4, 5, 6, 8, 16};
  auto has = [&](int64_t size, int64_t step) { return size % step == 0; };
  if (std::find(std::begin(knownBits), std::end(knownBits), format.bits) ==
          std::end(knownBits) ||
      (format.zeroPoints && format.minima))
    return false;
  if (format.codebook && (format.codebook->bits != format.bits ||
                          format.zeroPoints || format.minima))
    return false;
  if (format.pairedSubScales && (!format.minima || format.superGroup == 0))
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
         format.scales == ScaleFormat::F16;
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
    } else if (part == "sub4") {
      format.pairedSubScales = true;
    } else if (part == "min") {
      format.minima = true;
    } else if (const Codebook *codebook = findCodebook(part)) {
      format.codebook = codebook;
    } else if (std::optional<ScaleFormat> scales = scaleFormatFromName(part)) {
      format.scales = *scales;
    } else {
      return std::nullopt;
    }
  }
  // Accept only the canonical spelling.
  if (format.name() != name || !isConsistent(format))
    return std::nullopt;
  return format;
}

/// Integers with f16 scales.
static IntegerFormat blocksOf(int64_t bits, int64_t group,
                              int64_t superGroup = 0) {
  IntegerFormat format;
  format.bits = bits;
  format.group = group;
  format.superGroup = superGroup;
  format.scales = ScaleFormat::F16;
  return format;
}

static IntegerFormat withMinima(IntegerFormat format) {
  format.minima = true;
  return format;
}

static IntegerFormat withFloatScales(IntegerFormat format) {
  format.scales = ScaleFormat::F32;
  return format;
}

/// Indexes of a codebook with f16 scales.
static IntegerFormat indexesOf(std::string_view name, int64_t group,
                               int64_t superGroup = 0) {
  const Codebook *codebook = findCodebook(name);
  IntegerFormat format = blocksOf(codebook->bits, group, superGroup);
  format.codebook = codebook;
  return format;
}

std::optional<IntegerFormat> IntegerFormat::ofBlocks(TensorFormat format) {
  IntegerFormat result;
  switch (format) {
  case TensorFormat::F32:
  case TensorFormat::F16:
  case TensorFormat::BF16:
  case TensorFormat::F64:
    return std::nullopt;
  case TensorFormat::Q8_0:
    return blocksOf(8, 32);
  case TensorFormat::Q4_0:
    return blocksOf(4, 32);
  case TensorFormat::Q4_1:
    return withMinima(blocksOf(4, 32));
  case TensorFormat::Q5_0:
    return blocksOf(5, 32);
  case TensorFormat::Q5_1:
    return withMinima(blocksOf(5, 32));
  case TensorFormat::Q2_K:
    result = withMinima(blocksOf(2, 16, 256));
    result.pairedSubScales = true;
    return result;
  case TensorFormat::Q3_K:
    return blocksOf(3, 16, 256);
  case TensorFormat::Q4_K:
    return withMinima(blocksOf(4, 32, 256));
  case TensorFormat::Q5_K:
    return withMinima(blocksOf(5, 32, 256));
  case TensorFormat::Q6_K:
    return blocksOf(6, 16, 256);
  case TensorFormat::IQ1_S:
    return indexesOf("iq1", 32, 256);
  case TensorFormat::IQ1_M:
    return indexesOf("iq1", 16, 256);
  case TensorFormat::IQ2_XXS:
    return indexesOf("iq2", 32, 256);
  case TensorFormat::IQ2_XS:
  case TensorFormat::IQ2_S:
    return indexesOf("iq2", 16, 256);
  case TensorFormat::IQ3_XXS:
    return indexesOf("iq3", 32, 256);
  case TensorFormat::IQ3_S:
    return indexesOf("odd", 32, 256);
  case TensorFormat::IQ4_NL:
    return indexesOf("iq4", 32);
  case TensorFormat::IQ4_XS:
    return indexesOf("iq4", 32, 256);
  case TensorFormat::TQ1_0:
  case TensorFormat::TQ2_0:
    return indexesOf("ternary", 256);
  case TensorFormat::MXFP4:
    result = indexesOf("e2m1", 32);
    result.scales = ScaleFormat::E8M0;
    return result;
  case TensorFormat::Int4G32:
    return withMinima(withFloatScales(blocksOf(4, 32)));
  case TensorFormat::Int4G128:
    return withMinima(withFloatScales(blocksOf(4, 128)));
  case TensorFormat::Int8G32:
    return withFloatScales(blocksOf(8, 32));
  case TensorFormat::Int8G128:
    return withFloatScales(blocksOf(8, 128));
  }
  return std::nullopt;
}

} // namespace llmir
