//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs any stretch of a tensor's tiles: plain formats word by word, block
// formats by taking their blocks apart, anything else by quantizing rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_PACKING_TENSORPACKER_H
#define LLMIR_LIB_PACKING_TENSORPACKER_H

#include "llmir/Packing/PackWeights.h"

#include <array>

namespace llmir {

class TensorPacker {
public:
  /// Fails with InvalidFile where the tensor's bytes are not those of its
  /// shape, and with Unsupported for a format that nothing computes with.
  static Expected<TensorPacker> create(const CheckpointTensor &tensor,
                                       const PackJob &job);

  /// Tiles of all matrices; a vector is one.
  int64_t numTiles() const {
    return job.isVector ? 1 : job.matrices * tilesPerMatrix();
  }
  /// Where a tile begins in the packed tensor; that of numTiles() is the end.
  int64_t tileAt(int64_t tile) const;
  /// The stored bytes of the tiles [first, end), about: what is permuted within
  /// a head may lie beside them.
  Span<const uint8_t> storedBytes(int64_t first, int64_t end) const;
  /// Packs tile number `tile` into `out`, up to where the next one begins.
  void packTile(int64_t tile, uint8_t *out) const;

private:
  enum class Way { Vector, Words, Blocks, Quantize };

  TensorPacker(const CheckpointTensor &tensor, TensorFormat format,
               const PackJob &job);
  int64_t tilesPerMatrix() const { return ceilDiv(job.rows, kTileRows); }
  /// The number of row r of a tile in the stored matrices.
  int64_t storedRowAt(int64_t tile, int64_t r) const;
  int64_t rowsOf(int64_t tile) const;
  /// Row r of a tile where the stored matrix is [columns, rows], copied to
  /// `out`.
  void copyColumn(int64_t tile, int64_t r, uint8_t *out) const;

  /// The bytes of a tile's rows.
  using Rows = std::array<const uint8_t *, kTileRows>;

  void packVector(uint8_t *out) const;
  void packWords(const Rows &row, int64_t rows, uint8_t *out) const;
  void packBlocks(const Rows &row, int64_t rows, uint8_t *out) const;
  void quantize(const Rows &row, int64_t rows, uint8_t *out) const;

  PackJob job;
  TensorFormat format;
  Way way;
  IntegerMatrixLayout layout; ///< Of Blocks and Quantize.
  const uint8_t *stored;
  int64_t storedRows; ///< Of a matrix, of which the packed one may be a part.
  int64_t rowBytes;   ///< Of a row; of a vector all of it.
  int64_t tileBytes, matrixBytes;
};

} // namespace llmir

#endif // LLMIR_LIB_PACKING_TENSORPACKER_H
