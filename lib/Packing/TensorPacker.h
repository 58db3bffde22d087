//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs ranges of a tensor's tiles: copies words of plain formats, unpacks
// blocks of block formats, and quantizes rows otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_PACKING_TENSORPACKER_H
#define LLMIR_LIB_PACKING_TENSORPACKER_H

#include "llmir/Packing/PackWeights.h"

#include <array>

namespace llmir {

class TensorPacker {
public:
  /// Fails with InvalidFile if the size of the tensor does not match its shape,
  /// and with Unsupported for unsupported formats.
  static Expected<TensorPacker> create(const CheckpointTensor &tensor,
                                       const PackJob &job);

  /// Number of tiles of all matrices; a vector is one tile.
  int64_t numTiles() const {
    return job.isVector ? 1 : job.matrices * tilesPerMatrix();
  }
  /// The offset of a tile in the packed tensor; that of numTiles() is the end.
  int64_t tileAt(int64_t tile) const;
  /// Approximately the stored bytes of the tiles [first, end): rows permuted
  /// within a head may be outside.
  Span<const uint8_t> storedBytes(int64_t first, int64_t end) const;
  /// Packs tile `tile` to `out`, up to the start of the next one.
  void packTile(int64_t tile, uint8_t *out) const;

private:
  enum class Method { Vector, Words, Blocks, Quantize };

  TensorPacker(const CheckpointTensor &tensor, TensorFormat format,
               const PackJob &job);
  int64_t tilesPerMatrix() const { return ceilDiv(job.rows, kTileRows); }
  /// The index of row r of a tile in the stored matrices.
  int64_t storedRowAt(int64_t tile, int64_t r) const;
  int64_t rowsOf(int64_t tile) const;
  /// Whether rows are converted or collected before they are packed.
  bool mayCopyRows() const {
    return job.isTransposed || job.slicesColumns ||
           format == TensorFormat::F64 || stored.rows;
  }
  /// Row r of a tile, as it is packed: in the file or in `scratch`.
  const uint8_t *rowAt(int64_t tile, int64_t r, uint8_t *scratch) const;
  /// Copies row r of a tile to `out` if the stored matrix is [columns, rows].
  void copyColumn(int64_t tile, int64_t r, uint8_t *out) const;
  /// Collects the rows of a tile from the columns of a stored matrix of a
  /// stack.
  void collectColumns(int64_t tile, int64_t rows, uint8_t *out) const;

  /// The stored bytes of a tile's rows.
  using Rows = std::array<const uint8_t *, kTileRows>;

  void packVector(uint8_t *out) const;
  void packWords(const Rows &row, int64_t rows, uint8_t *out) const;
  void packBlocks(const Rows &row, int64_t rows, uint8_t *out) const;
  void quantize(const Rows &row, int64_t rows, uint8_t *out) const;

  PackJob job;
  TensorFormat format;
  Method method;
  IntegerMatrixLayout layout; ///< Format for Blocks and Quantize.
  CheckpointTensor stored;
  int64_t storedRows; ///< Rows of a stored matrix, of which the packed one may
                      ///< be a slice.
  int64_t rowBytes;   ///< Bytes of a row, or of a whole vector.
  int64_t storedRowBytes; ///< Bytes of a row of the stored tensor.
  int64_t wordBytes;      ///< Bytes of a row that is packed as words.
  int64_t tileBytes, matrixBytes;
};

} // namespace llmir

#endif // LLMIR_LIB_PACKING_TENSORPACKER_H
