//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory layout of a matrix of integers with scales: the tiles and lines of
// PackedLayout.h, divided along K into blocks. Each block stores its lines
// followed by the scales (and zero points or minima) of the tile's 16 rows. A
// block is a group, or a super-group whose groups have small scales of their
// own:
//   tile:  block 0 | block 1 | … | last block, with the rest of K
//
//   group:        lines | 16 scales | 16 zero points or 16 minima
//   super-group:  lines of all its groups | 16 sub-scales of group 0 | … |
//                 16 sub-minima of group 0 | … | 16 scales d | 16 scales dmin
//
// A row has four bytes in each line; byte i of them holds, in line `line`:
//
//   int8:  value 4 * line + i.
//   int4:  values 8 * line + i (low nibble) and 8 * line + 4 + i (high nibble).
//   int16: value 2 * line + i / 2, low byte first.
//   int2:  values 16 * line + 4 * w + i (bits 2 * w and 2 * w + 1).
//   int3:  for each 32 values, the two low bits in two lines as in int2, then a
//          line whose bit w is the third bit of value 4 * w + i.
//   int5:  for each 32 values, the four low bits in four lines as in int4, then
//          a line whose bit w is the fifth bit of value 4 * w + i.
//   int6:  likewise, then two lines: bits 2 * (w % 4) and 2 * (w % 4) + 1 of
//          line w / 4 are the two high bits of value 4 * w + i.
//
// Integers of fewer than 8 bits are stored unsigned: signed ones are biased by
// 2^(bits - 1) (storedBias), or are indexes of a codebook. Sub-scales and
// sub-minima are signed bytes, or one byte for both (pairedSubScales).
// Padding of a tile beyond the matrix is zero.
//
// The block formats of GGUF map to such formats (ofBlocks): packing reorders
// the values and scales of the file without changing them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_INTEGERLAYOUT_H
#define LLMIR_SUPPORT_INTEGERLAYOUT_H

#include "llmir/Support/IntegerFormat.h"
#include "llmir/Support/PackedLayout.h"

#include <algorithm>

namespace llmir {

/// The packed form of one matrix [rows, columns] of integers.
struct IntegerMatrixLayout {
  IntegerFormat format;
  int64_t rows, columns;

  /// The minimum number of elements of K with lines of their own, and the
  /// number of those lines.
  int64_t bundleValues() const {
    return format.hasHighLines() ? 32 : 32 / format.bits;
  }
  int64_t bundleLines() const { return bundleValues() * format.bits / 32; }
  /// Elements of K per row and line; for formats with high lines, per line of
  /// low bits.
  int64_t valuesPerLine() const { return 32 / format.lowBits(); }

  /// Elements of a whole group; the last one may have fewer.
  int64_t group() const {
    return format.group > 0 ? std::min(format.group, columns) : columns;
  }
  int64_t segment() const {
    return format.segment > 0 ? std::min(format.segment, group()) : group();
  }
  int64_t numGroups() const { return ceilDiv(columns, group()); }
  int64_t lastGroup() const { return columns - (numGroups() - 1) * group(); }

  /// Elements of a whole block (super-group or group).
  int64_t block() const {
    return format.superGroup > 0 ? std::min(format.superGroup, columns)
                                 : group();
  }
  int64_t numBlocks() const { return ceilDiv(columns, block()); }
  int64_t lastBlock() const { return columns - (numBlocks() - 1) * block(); }

  /// Elements after which lines are padded; in a super-group, lines run through
  /// the groups.
  int64_t run() const { return format.superGroup > 0 ? block() : segment(); }
  /// Lines of a block, or of a part of one, of `values` elements.
  int64_t numLines(int64_t values) const {
    return (values / run() * ceilDiv(run(), bundleValues()) +
            ceilDiv(values % run(), bundleValues())) *
           bundleLines();
  }
  /// Bytes of 16 values in the format of the scales.
  int64_t scaleBytes() const {
    return kTileRows * scaleFormatBytes(format.scales);
  }
  /// Zero points are signed bytes, or i16 for 16-bit integers.
  int64_t zeroPointBytes() const {
    return format.zeroPoints ? kTileRows * (format.bits > 8 ? 2 : 1) : 0;
  }
  int64_t minBytes() const { return format.minima ? scaleBytes() : 0; }
  /// Groups of a super-group of `values` elements; 0 without super-groups.
  int64_t numSubScales(int64_t values) const {
    return format.superGroup > 0 ? ceilDiv(values, group()) : 0;
  }

  /// Byte offsets within a block of `values` elements. The sub-scales (and
  /// sub-minima) of group g are the 16 bytes at 16 * g from there; minima, and
  /// the dmin of a super-group, are at minsAt.
  int64_t subScalesAt(int64_t values) const {
    return numLines(values) * kLineBytes;
  }
  int64_t subMinsAt(int64_t values) const {
    return subScalesAt(values) +
           (format.pairedSubScales ? 0 : kTileRows * numSubScales(values));
  }
  int64_t scalesAt(int64_t values) const {
    int64_t bytes = kTileRows * numSubScales(values);
    return subScalesAt(values) +
           (format.minima && !format.pairedSubScales ? 2 * bytes : bytes);
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
  /// Whole matrix, padded so that the next one is line-aligned.
  int64_t bytes() const {
    return roundUpTo(numTiles() * tileBytes(), kLineBytes);
  }
};

/// A row of activations quantized to int8, as read by the matmul kernels. K is
/// cut into segments that each have one activation scale and one weight scale.
/// In 4-byte words:
///   bytes of all segments | f32 scale of each | negated i32 sum of each |
///   f32 scale * sum of each
/// A segment's bytes are zero-padded to whole lines of the weights.
struct QuantizedRowLayout {
  int64_t columns; ///< K.
  int64_t segment; ///< Elements of a whole segment, at most K.
  int64_t padded;  ///< Bytes of each segment: a multiple of 4.

  int64_t numSegments() const { return ceilDiv(columns, segment); }
  int64_t wordsPerSegment() const { return padded / 4; }
  int64_t scalesAt() const { return numSegments() * wordsPerSegment(); }
  int64_t sumsAt() const { return scalesAt() + numSegments(); }
  int64_t scaledSumsAt() const { return sumsAt() + numSegments(); }
  int64_t words() const { return scaledSumsAt() + numSegments(); }

  /// The layout of the row that multiplies `weights`, whose lines are padded at
  /// each segment.
  static QuantizedRowLayout forWeights(const IntegerMatrixLayout &weights,
                                       int64_t segment) {
    int64_t used = std::min(segment, weights.columns);
    return {weights.columns, used,
            roundUpTo(roundUpTo(used, weights.valuesPerLine()), 4)};
  }
};

/// The longest stretch of K that crosses neither a group boundary of the
/// weights
/// (`group`) nor of the activations (`activationGroup`); 0 means all of K.
int64_t commonSegment(int64_t columns, int64_t group, int64_t activationGroup);

/// One row of a matrix. Pointers that the format does not use are null.
struct IntegerRow {
  const int16_t *q;                    ///< One per column.
  const float *scales;                 ///< One per block: d in super-groups.
  const int16_t *zeroPoints = nullptr; ///< One per group.
  const float *mins = nullptr;         ///< One per block: dmin in super-groups.
  const int8_t *subScales = nullptr;   ///< One per group of a super-group.
  const int8_t *subMins = nullptr;
};

/// Writes one row into a zero-initialized packed matrix. The integers must be
/// in the format's range; scales and minima must be exactly representable.
void packIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                    const IntegerRow &values, uint8_t *out);

/// Writes stored integers, given as one byte each, into the lines of `bundles`
/// bundles: one word per line, `kLineBytes` apart, starting at `words`.
void packStored(int64_t bits, const uint8_t *stored, int64_t bundles,
                uint8_t *words);

/// Decodes one packed row to f32: the reference for all readers of the layout.
void unpackIntegerRow(const IntegerMatrixLayout &layout, int64_t row,
                      const uint8_t *packed, float *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_INTEGERLAYOUT_H
