//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a weight matrix of a plain format (f32, f16, bf16) lies in an artifact;
// those of integers, block formats among them, are IntegerLayout.h's. The
// layout belongs to the weight format, not to the instruction set: tiles of 16
// rows, in each tile 64-byte lines of 16 rows x 4 bytes of K in ascending K.
//
//   tile:  line 0 | line 1 | …
//
// The four bytes from 4 * r on of a line belong to row r of the tile:
//   f32: value k = line.           f16, bf16: values 2 * line, 2 * line + 1.
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

/// The packed form of one matrix [rows, columns] of a plain format.
struct PackedMatrixLayout {
  TensorFormat format;
  int64_t rows, columns;

  /// Values of K that one row has in one line.
  int64_t valuesPerLine() const {
    return 4 / tensorFormatInfo(format).bytesPerBlock;
  }
  int64_t linesPerTile() const { return ceilDiv(columns, valuesPerLine()); }
  int64_t tileBytes() const { return linesPerTile() * kLineBytes; }
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
