//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of a matrix of integers with scales: bits, groups, the formats of
// scales, and codebooks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_INTEGERFORMAT_H
#define LLMIR_SUPPORT_INTEGERFORMAT_H

#include "llmir/Support/TensorFormat.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// How scales and minima are stored.
enum class ScaleFormat : uint8_t {
  F32,
  F16,
  BF16,
  E8M0, ///< A byte e: 2^(e - 128).
};

std::string_view scaleFormatName(ScaleFormat format);
int64_t scaleFormatBytes(ScaleFormat format);
/// Decodes a stored scale, exactly.
float decodeScale(ScaleFormat format, const uint8_t *bytes);

/// A table of signed bytes, of which stored integers are the indexes. The rows
/// of Codebooks.def.
struct Codebook {
  std::string_view name;
  int64_t bits;                   ///< Of an index: 2, 3 or 4.
  float unit;                     ///< A power of two that scales are times.
  std::array<int8_t, 16> entries; ///< Of which 2^bits are used.

  int64_t size() const { return int64_t(1) << bits; }
  int64_t lowest() const;
  int64_t highest() const;
  /// True if entry i is lowest() + i.
  bool isRange() const;
};

/// The codebook of that name; null if there is none.
const Codebook *findCodebook(std::string_view name);

/// The meaning of the integers q of a matrix:
///
///   value = scale * (q - zero point)             by default
///   value = scale * q + min                      with minima
///   value = d * sub-scale * q                    in super-groups
///   value = d * sub-scale * q - dmin * sub-min   in super-groups with minima
///
/// With a codebook, the stored integers are indexes of it, q is the entry, and
/// scales are multiplied by its unit.
struct IntegerFormat {
  int64_t bits = 8; ///< 2 to 6, 8 or 16.
  int64_t group =
      0; ///< Consecutive elements of K sharing a scale; 0: all of K.
  /// Lines are padded after this many elements of a group, which it divides; 0:
  /// after each group. Needed if activations are quantized in groups that are
  /// not whole lines: a line must not span two of those.
  int64_t segment = 0;
  bool zeroPoints = false;
  ScaleFormat scales = ScaleFormat::F32;
  /// Each group has a minimum that is added; q is then unsigned. Excludes zero
  /// points.
  bool minima = false;
  /// Consecutive elements of K sharing a d (and dmin), a multiple of the group;
  /// 0: groups have scales of their own.
  int64_t superGroup = 0;
  /// A byte holds the sub-scale (low) and the sub-minimum (high) of a group, of
  /// 4 bits each and unsigned.
  bool pairedSubScales = false;
  const Codebook *codebook = nullptr; ///< Null: none.

  bool operator==(const IntegerFormat &other) const {
    return bits == other.bits && group == other.group &&
           segment == other.segment && zeroPoints == other.zeroPoints &&
           scales == other.scales && minima == other.minima &&
           superGroup == other.superGroup &&
           pairedSubScales == other.pairedSubScales &&
           codebook == other.codebook;
  }

  /// "int4:g128:asym", "int8", "int8:g30:s10:f16", "int4:g32:min:f16",
  /// "int4:g32:k256:min:f16", "int2:g16:k256:sub4:min:f16",
  /// "int4:g32:e2m1:e8m0".
  std::string name() const;
  /// The inverse of name(); nullopt for other names and for formats that no
  /// matrix can be stored in.
  static std::optional<IntegerFormat> fromName(std::string_view name);
  /// The format of a stored block format; nullopt for plain formats.
  static std::optional<IntegerFormat> ofBlocks(TensorFormat format);

  bool isSigned() const { return !minima; }
  /// The range of q.
  int64_t lowest() const {
    if (codebook)
      return codebook->lowest();
    return isSigned() ? -(int64_t(1) << (bits - 1)) : 0;
  }
  int64_t highest() const {
    if (codebook)
      return codebook->highest();
    return (int64_t(1) << (isSigned() ? bits - 1 : bits)) - 1;
  }
  /// Stored integers are looked up. (Those of a codebook that is a range are
  /// biased instead.)
  bool usesTable() const { return codebook && !codebook->isRange(); }
  /// The bias of an integer as stored; 0 for indexes of a table.
  int64_t storedBias() const {
    return bits < 8 && !usesTable() ? -lowest() : 0;
  }
  /// q of a stored integer of at most 8 bits.
  int64_t numberOf(uint8_t stored) const {
    if (usesTable())
      return codebook->entries[stored & (codebook->size() - 1)];
    return bits == 8 && isSigned() ? static_cast<int8_t>(stored)
                                   : stored - storedBias();
  }
  /// The factor of scales.
  float unit() const { return codebook ? codebook->unit : 1.0f; }

  /// Bits of an integer in the lines of low bits. Integers of 3, 5 and 6 bits
  /// store their high bits in separate lines.
  int64_t lowBits() const {
    return bits == 3 ? 2 : bits == 5 || bits == 6 ? 4 : bits;
  }
  int64_t highBits() const { return bits - lowBits(); }
  bool hasHighLines() const { return highBits() > 0; }
};

} // namespace llmir

#endif // LLMIR_SUPPORT_INTEGERFORMAT_H
