//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a matrix of integers with scales beside them lies in memory: the tiles
// and lines of PackedLayout.h, a group of K after the other, each with the
// scales (and zero points) of its 16 rows behind its lines.
//
//   tile:  group 0 lines, 16 scales, 16 zero points | group 1 … | last group
//
//   int8:  byte 4 * r + i of a line is value 4 * line + i of row r.
//   int4:  the low nibble of that byte is value 8 * line + i, the high nibble
//          value 8 * line + 4 + i, both stored as value + 8.
//   int16: half i of the row's four bytes is value 2 * line + i.
//
// The last group holds what is left of K. With groups of 32 and f16 scales this
// is what Q8_0 and Q4_0 pack to, byte for byte.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_INTEGERLAYOUT_H
#define LLMIR_SUPPORT_INTEGERLAYOUT_H

#include "llmir/Support/PackedLayout.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// What the integers of a matrix mean: value = scale * (q - zero point).
struct IntegerFormat {
  int64_t bits = 8;  ///< 4, 8 or 16; q is signed.
  int64_t group = 0; ///< Neighbours in K with one scale; 0: all of K.
  /// Lines begin anew after so many values of a group, which it divides; 0:
  /// with the group. Where activations are quantized in groups that are not
  /// whole lines, a line must not hold values of two.
  int64_t segment = 0;
  bool zeroPoints = false;
  TensorFormat scales = TensorFormat::F32; ///< F32, F16 or BF16.

  bool operator==(const IntegerFormat &other) const {
    return bits == other.bits && group == other.group &&
           segment == other.segment && zeroPoints == other.zeroPoints &&
           scales == other.scales;
  }

  /// "int4:g128:asym", "int8", "int8:g30:s10:f16".
  std::string name() const;
  /// The format of that name; nullopt for a name that name() does not give.
  static std::optional<IntegerFormat> fromName(std::string_view name);
  /// The stored block formats as what they are; nullopt for plain formats.
  static std::optional<IntegerFormat> ofBlocks(TensorFormat format);

  int64_t lowest() const { return -(int64_t(1) << (bits - 1)); }
  int64_t highest() const { return (int64_t(1) << (bits - 1)) - 1; }
};

/// The packed form of one matrix [rows, columns] of integers.
struct IntegerMatrixLayout {
  IntegerFormat format;
  int64_t rows, columns;

  /// Values of K that one row has in one line.
  int64_t valuesPerLine() const { return 32 / format.bits; }
  /// Values of a whole group; the last one may have fewer.
  int64_t group() const {
    return format.group > 0 ? std::min(format.group, columns) : columns;
  }
  int64_t segment() const {
    return format.segment > 0 ? std::min(format.segment, group()) : group();
  }
  int64_t numGroups() const { return ceilDiv(columns, group()); }
  int64_t lastGroup() const { return columns - (numGroups() - 1) * group(); }
  /// Lines of a group, or of a part of one, that has so many values.
  int64_t numLines(int64_t values) const {
    return values / segment() * ceilDiv(segment(), valuesPerLine()) +
           ceilDiv(values % segment(), valuesPerLine());
  }
  int64_t scaleBytes() const {
    return kTileRows * tensorFormatInfo(format.scales).bytesPerBlock;
  }
  /// Zero points are signed bytes, or i16 beside 16-bit integers.
  int64_t zeroPointBytes() const {
    return format.zeroPoints ? kTileRows * (format.bits > 8 ? 2 : 1) : 0;
  }
  /// Lines, scales and zero points of a group of so many values.
  int64_t groupBytes(int64_t values) const {
    return numLines(values) * kLineBytes + scaleBytes() + zeroPointBytes();
  }
  int64_t tileBytes() const {
    return (numGroups() - 1) * groupBytes(group()) + groupBytes(lastGroup());
  }
  int64_t numTiles() const { return ceilDiv(rows, kTileRows); }
  /// Whole matrix, padded so that the next one starts on a line.
  int64_t bytes() const {
    return roundUpTo(numTiles() * tileBytes(), kLineBytes);
  }
};

/// A row of activations quantized to int8, as the matmul kernels read it. The
/// row is K cut into segments, within each of which one activation scale and
/// one weight scale hold; in 4-byte words:
///   all segments' bytes | f32 scale of each | i32 sum of each
/// A segment's bytes are padded with zero to the weights' lines.
struct QuantizedRowLayout {
  int64_t columns; ///< K.
  int64_t segment; ///< Values of a whole segment, at most K.
  int64_t padded;  ///< Bytes of each segment: a multiple of 4.

  int64_t numSegments() const { return ceilDiv(columns, segment); }
  int64_t wordsPerSegment() const { return padded / 4; }
  int64_t scalesAt() const { return numSegments() * wordsPerSegment(); }
  int64_t sumsAt() const { return scalesAt() + numSegments(); }
  int64_t words() const { return sumsAt() + numSegments(); }

  /// The row that multiplies `weights`, whose lines respect `segment`.
  static QuantizedRowLayout forWeights(const IntegerMatrixLayout &weights,
                                       int64_t segment) {
    int64_t used = std::min(segment, weights.columns);
    return {weights.columns, used,
            roundUpTo(roundUpTo(used, weights.valuesPerLine()), 4)};
  }
};

/// The longest stretches of K within which both a group of `group` weights and
/// one of `activationGroup` activations hold; 0 stands for all of K.
int64_t commonSegment(int64_t columns, int64_t group, int64_t activationGroup);

/// Writes the integers of one row into a packed matrix of zeros: `q` has
/// `columns` values, `scales` and `zeroPoints` (null without) one per group.
/// Values and zero points lie in the format's range, scales are exact in it.
void packIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                    const int16_t *q, const float *scales,
                    const int16_t *zeroPoints, uint8_t *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTEGERLAYOUT_H
