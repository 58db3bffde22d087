//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of matrices whose integers, scales and zero points are tensors of their
// own in a safetensors file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_QUANTIZEDROWS_H
#define LLMIR_LIB_CHECKPOINT_QUANTIZEDROWS_H

#include "llmir/Checkpoint/CheckpointTensor.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace llmir {

/// Floats of a tensor in F32, F16 or BF16, as stored; 1 without a tensor.
class FloatPart {
public:
  FloatPart() = default;
  explicit FloatPart(const CheckpointTensor &tensor)
      : format(*tensor.format), bytes(tensor.bytes.data()) {}

  float at(int64_t index) const {
    if (!bytes)
      return 1.0f;
    float value;
    const int64_t size = format == TensorFormat::F32 ? 4 : 2;
    decodeTensorRow(format, bytes + index * size, 1, &value);
    return value;
  }

private:
  TensorFormat format = TensorFormat::F32;
  const uint8_t *bytes = nullptr;
};

/// Integers of 2, 3, 4 or 8 bits in little-endian words of 32 bits, which
/// follow one another along one dimension of a matrix: integer `along` has the
/// bits [along * bits, (along + 1) * bits) of that sequence of words.
struct PackedPart {
  const uint8_t *bytes = nullptr;
  int64_t bits = 4;
  /// Words between neighboring words of a sequence, and between sequences.
  int64_t wordStride = 1, lineStride = 0;
  /// Of eight integers in a word, number i has nibble `nibbles[i]` (AWQ).
  bool isInterleaved = false;

  uint32_t at(int64_t along, int64_t line) const;

private:
  uint32_t word(int64_t index) const;
};

/// A matrix [rows, columns] of integers with scales, and zero points, for
/// groups of a row: value = scale * (q - zero point), in f32.
struct GroupedIntegers {
  int64_t rows = 0, columns = 0;
  int64_t bits = 4;
  int64_t group = 0; ///< Consecutive elements of a row with one scale.
  /// True if a sequence of `packed` has the elements of a row, false if it has
  /// those of a column.
  bool isPackedAlongRow = true;
  PackedPart packed;
  const uint8_t *signedBytes =
      nullptr; ///< In place of `packed`: [rows, columns].

  /// Scale (row, group) is element row * scaleRow + group * scaleGroup, times
  /// `scaleFactor`.
  FloatPart scales;
  int64_t scaleRow = 0, scaleGroup = 0;
  float scaleFactor = 1.0f;

  /// The zero points: `zeroPoint`, plus those packed along the rows, modulo
  /// 2^bits; or those of `signedZeroPoints`, which lie as the scales do.
  int64_t zeroPoint = 0;
  std::optional<PackedPart> zeroPoints;
  const uint8_t *signedZeroPoints = nullptr;

  /// The group of each column if they are not consecutive (GPTQ's act-order);
  /// empty otherwise.
  std::vector<int32_t> groupOf;

  /// q of an element: unsigned for packed integers.
  int32_t integerAt(int64_t row, int64_t column) const;
  int64_t zeroPointAt(int64_t row, int64_t groupIndex) const;
  float scaleAt(int64_t row, int64_t groupIndex) const;
  /// The block format with the same values; BF16, or F16 if scales are F16,
  /// where there is none. Values are then rounded once.
  TensorFormat format(TensorFormat scaleFormat) const;
};

std::unique_ptr<AssembledRows> assembleIntegers(GroupedIntegers integers,
                                                TensorFormat format);

/// A matrix of bytes of which each is a float (FP8), times scales of blocks of
/// `blockRows` x `blockColumns` elements. Rows are BF16.
struct ScaledBytes {
  int64_t columns = 0;
  const uint8_t *bytes = nullptr;
  std::array<float, 256> values = {}; ///< Of each byte.
  FloatPart scales;
  int64_t blockRows = 1, blockColumns = 1;
  int64_t scaleRow = 0; ///< Scales from one row of blocks to the next.
};

/// The values of F8_E4M3 (no infinity; NaN as all ones) or F8_E5M2.
std::array<float, 256> valuesOfF8(bool isE5M2);

std::unique_ptr<AssembledRows> assembleBytes(const ScaledBytes &matrix);

/// A matrix of nibbles, the first of two elements in the high one, which are
/// indexes of `table`, with a scale for each `block` consecutive elements of
/// the whole matrix (bitsandbytes).
struct TableNibbles {
  int64_t columns = 0;
  const uint8_t *bytes = nullptr;
  std::array<float, 16> table = {};
  int64_t block = 64;
  std::vector<float> scales;
  TensorFormat format = TensorFormat::BF16; ///< To which values are rounded.
};

std::unique_ptr<AssembledRows> assembleNibbles(TableNibbles matrix);

/// Blocks of 16 bytes, of which the low nibble is the earlier element, and
/// their E8M0 scales, as rows of MXFP4.
std::unique_ptr<AssembledRows>
assembleMXFP4(const uint8_t *blocks, const uint8_t *scales, int64_t columns);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_QUANTIZEDROWS_H
