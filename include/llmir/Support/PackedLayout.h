//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory layout of a weight matrix of a plain format (f32, f16, bf16) in an
// artifact; integer matrices, including block formats, use IntegerLayout.h. The
// layout depends on the weight format, not on the instruction set: tiles of 16
// rows, each tile a sequence of 64-byte lines of 16 rows x 4 bytes in order of
// ascending K.
//
//   tile:  line 0 | line 1 | …
//
// The four bytes at 4 * r of a line belong to row r of the tile:
//   f32: value k = line.           f16, bf16: values 2 * line, 2 * line + 1.
// Packing reorders values without changing them. Padding of a tile or line
// beyond the matrix is zero.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_PACKEDLAYOUT_H
#define LLMIR_SUPPORT_PACKEDLAYOUT_H

#include "llmir/Support/TensorFormat.h"

#include <cstdint>

namespace llmir {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t roundUpTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Rows of a tile, which is also the number of f32 lanes of a line.
constexpr int64_t kTileRows = 16;
constexpr int64_t kLineBytes = 64;

/// The packed form of one matrix [rows, columns] of a plain format.
struct PackedMatrixLayout {
  TensorFormat format;
  int64_t rows, columns;

  /// Elements of K per row and line.
  int64_t valuesPerLine() const {
    return 4 / tensorFormatInfo(format).bytesPerBlock;
  }
  int64_t linesPerTile() const { return ceilDiv(columns, valuesPerLine()); }
  int64_t tileBytes() const { return linesPerTile() * kLineBytes; }
  int64_t numTiles() const { return ceilDiv(rows, kTileRows); }
  /// Whole matrix, padded so that the next one is line-aligned.
  int64_t bytes() const {
    return roundUpTo(numTiles() * tileBytes(), kLineBytes);
  }
};

/// Bytes of a rank-1 weight: f32, zero-padded to a multiple of 16 elements.
inline int64_t packedVectorBytes(int64_t size) {
  return roundUpTo(size, kTileRows) * 4;
}

} // namespace llmir

#endif // LLMIR_SUPPORT_PACKEDLAYOUT_H
