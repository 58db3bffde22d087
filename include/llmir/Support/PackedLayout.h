//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a weight matrix lies in an artifact. The layout belongs to the weight
// format, not to the instruction set: tiles of 16 rows, in each tile 64-byte
// lines of 16 rows x 4 bytes of K in ascending K. A block format groups the
// lines of a block of K and puts the block's 16 f16 scales after them.
//
//   tile:  line 0 | line 1 | …                          f32, f16, bf16
//   tile:  block 0 lines, 16 scales | block 1 lines, …  Q8_0, Q4_0
//
// Byte 4 * r + i of a line belongs to row r of the tile:
//   f32: value k = line.           f16, bf16: values 2 * line, 2 * line + 1.
//   Q8_0: values 4 * line + i.     Q4_0: low nibble of byte i is value
//   8 * line + i, high nibble value 8 * line + 4 + i.
// Values do not change: only their order does. Rows and K that a tile or line
// has beyond the matrix are zero.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_PACKEDLAYOUT_H
#define LLMIR_SUPPORT_PACKEDLAYOUT_H

#include "llmir/Support/TensorFormat.h"

#include <cstdint>

namespace llmir {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t roundUpTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Rows of a tile and f32 lanes of a line.
constexpr int64_t kTileRows = 16;
constexpr int64_t kLineBytes = 64;

/// The packed form of one matrix [rows, columns].
struct PackedMatrixLayout {
  TensorFormat format;
  int64_t rows, columns;

  bool hasBlocks() const { return isBlockFormat(format); }
  /// Values of K that one row has in one line.
  int64_t valuesPerLine() const {
    switch (format) {
    case TensorFormat::F32:
      return 1;
    case TensorFormat::F16:
    case TensorFormat::BF16:
      return 2;
    case TensorFormat::Q8_0:
      return 4;
    case TensorFormat::Q4_0:
      return 8;
    default:
      return 0;
    }
  }
  /// Values of K per block; one line is a block of a plain format.
  int64_t valuesPerBlock() const {
    return hasBlocks() ? tensorFormatInfo(format).valuesPerBlock
                       : valuesPerLine();
  }
  int64_t linesPerBlock() const { return valuesPerBlock() / valuesPerLine(); }
  int64_t blockBytes() const {
    return linesPerBlock() * kLineBytes + (hasBlocks() ? kTileRows * 2 : 0);
  }
  int64_t blocksPerTile() const { return ceilDiv(columns, valuesPerBlock()); }
  int64_t tileBytes() const { return blocksPerTile() * blockBytes(); }
  int64_t numTiles() const { return ceilDiv(rows, kTileRows); }
  /// Whole matrix, padded so that the next one starts on a line.
  int64_t bytes() const {
    return roundUpTo(numTiles() * tileBytes(), kLineBytes);
  }
};

/// Bytes of a rank-1 weight: f32, padded to 16 values with zero.
inline int64_t packedVectorBytes(int64_t size) {
  return roundUpTo(size, kTileRows) * 4;
}

} // namespace llmir

#endif // LLMIR_SUPPORT_PACKEDLAYOUT_H
