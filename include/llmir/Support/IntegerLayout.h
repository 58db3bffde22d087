//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a matrix of integers with scales beside them lies in memory: the tiles
// and lines of PackedLayout.h, a block of K after the other, each with what its
// 16 rows need to become numbers behind its lines. A block is a group, or a
// super-group, whose groups have small scales of their own:
//
//   tile:  block 0 | block 1 | … | last block, with what is left of K
//
//   group:        lines | 16 scales | 16 zero points or 16 minima
//   super-group:  lines of all its groups | 16 sub-scales of group 0 | … |
//                 16 sub-minima of group 0 | … | 16 scales d | 16 scales dmin
//
// A row has four bytes in each line; byte i of them is in line
//
//   int8:  `line` value 4 * line + i.
//   int4:  `line` values 8 * line + i (low nibble) and 8 * line + 4 + i (high).
//   int16: `line` value 2 * line + i / 2, low byte first.
//   int5:  of 32 values, the four low bits in four lines as those of int4, then
//          a line where bit w is the fifth bit of value 4 * w + i.
//   int6:  likewise, then two lines: bits 2 * (w % 4) and the next one of line
//          w / 4 are the two high bits of value 4 * w + i.
//
// Integers of fewer than 8 bits are stored without a sign: 2^(bits - 1) is
// added to signed ones (storedBias). Sub-scales and sub-minima are signed
// bytes. What a tile has beyond the matrix is zero.
//
// The block formats of GGUF are such formats (ofBlocks); packed, their values
// and scales are those of the file, in another order.
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

/// What the integers q of a matrix mean:
///
///   value = scale * (q - zero point)             as a rule
///   value = scale * q + min                      with minima
///   value = d * sub-scale * q                    in super-groups
///   value = d * sub-scale * q - dmin * sub-min   in super-groups with minima
struct IntegerFormat {
  int64_t bits = 8;  ///< 4, 5, 6, 8 or 16.
  int64_t group = 0; ///< Neighbours in K with one scale; 0: all of K.
  /// Lines begin anew after so many values of a group, which it divides; 0:
  /// with the group. Where activations are quantized in groups that are not
  /// whole lines, a line must not hold values of two.
  int64_t segment = 0;
  bool zeroPoints = false;
  TensorFormat scales = TensorFormat::F32; ///< F32, F16 or BF16.
  /// Something is added to each group; q has no sign then. Never together with
  /// zero points.
  bool minima = false;
  /// Neighbours in K with one d (and dmin), a multiple of the group; 0: groups
  /// have scales of their own.
  int64_t superGroup = 0;

  bool operator==(const IntegerFormat &other) const {
    return bits == other.bits && group == other.group &&
           segment == other.segment && zeroPoints == other.zeroPoints &&
           scales == other.scales && minima == other.minima &&
           superGroup == other.superGroup;
  }

  /// "int4:g128:asym", "int8", "int8:g30:s10:f16", "int4:g32:min:f16",
  /// "int4:g32:k256:min:f16".
  std::string name() const;
  /// The format of that name; nullopt for a name that name() does not give, and
  /// for one that no matrix can be stored in.
  static std::optional<IntegerFormat> fromName(std::string_view name);
  /// The stored block formats as what they are; nullopt for plain formats.
  static std::optional<IntegerFormat> ofBlocks(TensorFormat format);

  bool isSigned() const { return !minima; }
  int64_t lowest() const {
    return isSigned() ? -(int64_t(1) << (bits - 1)) : 0;
  }
  int64_t highest() const {
    return (int64_t(1) << (isSigned() ? bits - 1 : bits)) - 1;
  }
  /// What is added to an integer where it is stored.
  int64_t storedBias() const {
    return bits < 8 && isSigned() ? int64_t(1) << (bits - 1) : 0;
  }
  /// Integers of 5 and 6 bits have their high bits in lines of their own.
  bool hasHighLines() const { return bits == 5 || bits == 6; }
};

/// The packed form of one matrix [rows, columns] of integers.
struct IntegerMatrixLayout {
  IntegerFormat format;
  int64_t rows, columns;

  /// The fewest values of K that have lines of their own, and how many.
  int64_t bundleValues() const {
    return format.hasHighLines() ? 32 : 32 / format.bits;
  }
  int64_t bundleLines() const {
    return format.hasHighLines() ? format.bits : 1;
  }
  /// Values of K that one row has in one line; in one of low bits, where there
  /// are others.
  int64_t valuesPerLine() const {
    return format.hasHighLines() ? 8 : 32 / format.bits;
  }

  /// Values of a whole group; the last one may have fewer.
  int64_t group() const {
    return format.group > 0 ? std::min(format.group, columns) : columns;
  }
  int64_t segment() const {
    return format.segment > 0 ? std::min(format.segment, group()) : group();
  }
  int64_t numGroups() const { return ceilDiv(columns, group()); }
  int64_t lastGroup() const { return columns - (numGroups() - 1) * group(); }

  /// Values of a whole block: of a super-group or a group.
  int64_t block() const {
    return format.superGroup > 0 ? std::min(format.superGroup, columns)
                                 : group();
  }
  int64_t numBlocks() const { return ceilDiv(columns, block()); }
  int64_t lastBlock() const { return columns - (numBlocks() - 1) * block(); }

  /// Values after which lines begin anew; in a super-group they run through the
  /// groups.
  int64_t run() const { return format.superGroup > 0 ? block() : segment(); }
  /// Lines of a block, or of a part of one, that has so many values.
  int64_t numLines(int64_t values) const {
    return (values / run() * ceilDiv(run(), bundleValues()) +
            ceilDiv(values % run(), bundleValues())) *
           bundleLines();
  }
  /// Bytes of 16 numbers in the format of scales.
  int64_t scaleBytes() const {
    return kTileRows * tensorFormatInfo(format.scales).bytesPerBlock;
  }
  /// Zero points are signed bytes, or i16 beside 16-bit integers.
  int64_t zeroPointBytes() const {
    return format.zeroPoints ? kTileRows * (format.bits > 8 ? 2 : 1) : 0;
  }
  int64_t minBytes() const { return format.minima ? scaleBytes() : 0; }
  /// Groups of a super-group of so many values; none without super-groups.
  int64_t numSubScales(int64_t values) const {
    return format.superGroup > 0 ? ceilDiv(values, group()) : 0;
  }

  /// Where things begin in a block of so many values. Sub-scales (and
  /// sub-minima) of group g are 16 bytes at 16 * g from there; minima and the
  /// dmin of a super-group are at minsAt.
  int64_t subScalesAt(int64_t values) const {
    return numLines(values) * kLineBytes;
  }
  int64_t subMinsAt(int64_t values) const {
    return subScalesAt(values) + kTileRows * numSubScales(values);
  }
  int64_t scalesAt(int64_t values) const {
    return subMinsAt(values) +
           (format.minima ? kTileRows * numSubScales(values) : 0);
  }
  int64_t zeroPointsAt(int64_t values) const {
    return scalesAt(values) + scaleBytes();
  }
  int64_t minsAt(int64_t values) const {
    return scalesAt(values) + scaleBytes();
  }
  int64_t blockBytes(int64_t values) const {
    return scalesAt(values) + scaleBytes() + zeroPointBytes() + minBytes();
  }

  int64_t tileBytes() const {
    return (numBlocks() - 1) * blockBytes(block()) + blockBytes(lastBlock());
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
///   all segments' bytes | f32 scale of each | minus the i32 sum of each |
///   f32 scale * sum of each
/// A segment's bytes are padded with zero to the weights' lines.
struct QuantizedRowLayout {
  int64_t columns; ///< K.
  int64_t segment; ///< Values of a whole segment, at most K.
  int64_t padded;  ///< Bytes of each segment: a multiple of 4.

  int64_t numSegments() const { return ceilDiv(columns, segment); }
  int64_t wordsPerSegment() const { return padded / 4; }
  int64_t scalesAt() const { return numSegments() * wordsPerSegment(); }
  int64_t sumsAt() const { return scalesAt() + numSegments(); }
  int64_t scaledSumsAt() const { return sumsAt() + numSegments(); }
  int64_t words() const { return scaledSumsAt() + numSegments(); }

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

/// What one row of a matrix consists of. Whatever the format has no use for is
/// null.
struct IntegerRow {
  const int16_t *q;                    ///< One per column.
  const float *scales;                 ///< One per block: d in super-groups.
  const int16_t *zeroPoints = nullptr; ///< One per group.
  const float *mins = nullptr;         ///< One per block: dmin in super-groups.
  const int8_t *subScales = nullptr;   ///< One per group of a super-group.
  const int8_t *subMins = nullptr;
};

/// Writes one row into a packed matrix of zeros. Integers lie in the format's
/// range, scales and minima are exact in it.
void packIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                    const IntegerRow &values, uint8_t *out);

/// Writes integers as they are stored, a byte each, into the lines of bundles:
/// a word in each, `kLineBytes` apart, from `words` on.
void packStored(int64_t bits, const uint8_t *stored, int64_t bundles,
                uint8_t *words);

/// What the values of one packed row are, in f32: the reference of whoever
/// reads the layout.
void unpackIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                      const uint8_t *packed, float *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTEGERLAYOUT_H
