//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedRows.h"

#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace llmir;

//===----------------------------------------------------------------------===//
// Integers with scales
//===----------------------------------------------------------------------===//

uint32_t PackedPart::word(int64_t index) const {
  const uint8_t *at = bytes + 4 * index;
  return at[0] | static_cast<uint32_t>(at[1]) << 8 |
         static_cast<uint32_t>(at[2]) << 16 |
         static_cast<uint32_t>(at[3]) << 24;
}

uint32_t PackedPart::at(int64_t along, int64_t line) const {
  static constexpr int64_t nibbles[] = {0, 4, 1, 5, 2, 6, 3, 7};
  if (isInterleaved)
    along = along / 8 * 8 + nibbles[along % 8];
  const int64_t bit = along * bits, first = bit / 32;
  const int64_t place = first * wordStride + line * lineStride;
  uint64_t both = word(place);
  if (bit % 32 + bits > 32) // Integers of 3 bits can lie in two words.
    both |= static_cast<uint64_t>(word(place + wordStride)) << 32;
  return static_cast<uint32_t>(both >> (bit % 32)) &
         ((uint32_t(1) << bits) - 1);
}

int32_t GroupedIntegers::integerAt(int64_t row, int64_t column) const {
  if (signedBytes)
    return static_cast<int8_t>(signedBytes[row * columns + column]);
  return static_cast<int32_t>(isPackedAlongRow ? packed.at(column, row)
                                               : packed.at(row, column));
}

int64_t GroupedIntegers::zeroPointAt(int64_t row, int64_t groupIndex) const {
  if (signedZeroPoints)
    return static_cast<int8_t>(
        signedZeroPoints[row * scaleRow + groupIndex * scaleGroup]);
  if (!zeroPoints)
    return zeroPoint;
  // Stored zero points wrap: GPTQ stores 0, minus 1, as the largest integer.
  const int64_t limit = int64_t(1) << bits;
  return (zeroPoint + zeroPoints->at(row, groupIndex)) % limit;
}

float GroupedIntegers::scaleAt(int64_t row, int64_t groupIndex) const {
  return scales.at(row * scaleRow + groupIndex * scaleGroup) * scaleFactor;
}

TensorFormat GroupedIntegers::format(TensorFormat scaleFormat) const {
  const TensorFormat rounded =
      scaleFormat == TensorFormat::F16 ? TensorFormat::F16 : TensorFormat::BF16;
  if (!groupOf.empty())
    return rounded;
  auto hasBlocks = [&](int64_t size) {
    return columns % size == 0 && (group % size == 0 || group >= columns);
  };
  // Signed bytes have no minima there.
  const bool isBytes = bits == 8;
  if (isBytes &&
      (zeroPoints || signedZeroPoints || zeroPoint != (signedBytes ? 0 : 128)))
    return rounded;
  if (hasBlocks(128))
    return isBytes ? TensorFormat::Int8G128 : TensorFormat::Int4G128;
  if (hasBlocks(32))
    return isBytes ? TensorFormat::Int8G32 : TensorFormat::Int4G32;
  return rounded;
}

/// Stores a float as F16 or BF16.
static void storeRounded(TensorFormat format, float value, uint8_t *out) {
  const uint16_t bits =
      format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
  std::memcpy(out, &bits, 2);
}

namespace {

class IntegerRows : public AssembledRows {
public:
  IntegerRows(GroupedIntegers integers, TensorFormat format)
      : integers(std::move(integers)), format(format) {}

  void assemble(int64_t row, uint8_t *out) const override {
    if (!isBlockFormat(format))
      return assembleRounded(row, out);
    const TensorFormatInfo &info = tensorFormatInfo(format);
    for (int64_t k = 0; k < integers.columns; k += info.valuesPerBlock) {
      if (integers.bits == 8)
        assembleBytes(row, k, info.valuesPerBlock, out);
      else
        assembleNibbles(row, k, info.valuesPerBlock, out);
      out += info.bytesPerBlock;
    }
  }

private:
  void assembleRounded(int64_t row, uint8_t *out) const {
    for (int64_t k = 0; k < integers.columns; ++k) {
      const int64_t group =
          integers.groupOf.empty() ? k / integers.group : integers.groupOf[k];
      const float value = integers.scaleAt(row, group) *
                          static_cast<float>(integers.integerAt(row, k) -
                                             integers.zeroPointAt(row, group));
      storeRounded(format, value, out + 2 * k);
    }
  }
  void assembleBytes(int64_t row, int64_t first, int64_t count,
                     uint8_t *out) const {
    const float scale = integers.scaleAt(row, first / integers.group);
    std::memcpy(out, &scale, 4);
    for (int64_t i = 0; i < count; ++i)
      out[4 + i] = static_cast<uint8_t>(integers.integerAt(row, first + i) -
                                        integers.zeroPoint);
  }
  void assembleNibbles(int64_t row, int64_t first, int64_t count,
                       uint8_t *out) const {
    const int64_t group = first / integers.group, half = count / 2;
    const float scale = integers.scaleAt(row, group);
    const float minimum =
        -scale * static_cast<float>(integers.zeroPointAt(row, group));
    std::memcpy(out, &scale, 4);
    std::memcpy(out + 4, &minimum, 4);
    for (int64_t i = 0; i < half; ++i)
      out[8 + i] =
          static_cast<uint8_t>(integers.integerAt(row, first + i) |
                               integers.integerAt(row, first + half + i) << 4);
  }

  GroupedIntegers integers;
  TensorFormat format;
};

} // namespace

std::unique_ptr<AssembledRows> llmir::assembleIntegers(GroupedIntegers integers,
                                                       TensorFormat format) {
  return std::make_unique<IntegerRows>(std::move(integers), format);
}

//===----------------------------------------------------------------------===//
// FP8
//===----------------------------------------------------------------------===//

std::array<float, 256> llmir::valuesOfF8(bool isE5M2) {
  const int mantissaBits = isE5M2 ? 2 : 3, bias = isE5M2 ? 15 : 7;
  std::array<float, 256> values{};
  for (int code = 0; code < 256; ++code) {
    const int exponent = (code & 127) >> mantissaBits,
              mantissa = code & ((1 << mantissaBits) - 1);
    const float fraction =
        static_cast<float>(mantissa) / static_cast<float>(1 << mantissaBits);
    float value = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                : std::ldexp(1.0f + fraction, exponent - bias);
    if (isE5M2 && exponent == 31)
      value = mantissa ? std::numeric_limits<float>::quiet_NaN()
                       : std::numeric_limits<float>::infinity();
    if (!isE5M2 && (code & 127) == 127)
      value = std::numeric_limits<float>::quiet_NaN();
    values[static_cast<size_t>(code)] = code & 128 ? -value : value;
  }
  return values;
}

namespace {

class ByteRows : public AssembledRows {
public:
  explicit ByteRows(const ScaledBytes &matrix) : matrix(matrix) {}

  void assemble(int64_t row, uint8_t *out) const override {
    const uint8_t *codes = matrix.bytes + row * matrix.columns;
    const int64_t scaleRow = row / matrix.blockRows * matrix.scaleRow;
    for (int64_t k = 0; k < matrix.columns;) {
      const float scale = matrix.scales.at(scaleRow + k / matrix.blockColumns);
      const int64_t end = std::min(
          matrix.columns, (k / matrix.blockColumns + 1) * matrix.blockColumns);
      for (; k < end; ++k)
        storeRounded(TensorFormat::BF16, matrix.values[codes[k]] * scale,
                     out + 2 * k);
    }
  }

private:
  ScaledBytes matrix;
};

} // namespace

std::unique_ptr<AssembledRows> llmir::assembleBytes(const ScaledBytes &matrix) {
  return std::make_unique<ByteRows>(matrix);
}

//===----------------------------------------------------------------------===//
// Tables of four bits
//===----------------------------------------------------------------------===//

namespace {

class NibbleRows : public AssembledRows {
public:
  explicit NibbleRows(TableNibbles matrix) : matrix(std::move(matrix)) {}

  void assemble(int64_t row, uint8_t *out) const override {
    const int64_t size = matrix.format == TensorFormat::F32 ? 4 : 2;
    for (int64_t k = 0; k < matrix.columns; ++k) {
      const int64_t i = row * matrix.columns + k;
      const int code = matrix.bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
      const float value = matrix.table[static_cast<size_t>(code)] *
                          matrix.scales[static_cast<size_t>(i / matrix.block)];
      if (matrix.format == TensorFormat::F32)
        std::memcpy(out + size * k, &value, 4);
      else
        storeRounded(matrix.format, value, out + size * k);
    }
  }

private:
  TableNibbles matrix;
};

class MXFP4Rows : public AssembledRows {
public:
  MXFP4Rows(const uint8_t *blocks, const uint8_t *scales, int64_t columns)
      : blocks(blocks), scales(scales), perRow(columns / 32) {}

  void assemble(int64_t row, uint8_t *out) const override {
    for (int64_t b = row * perRow; b < (row + 1) * perRow; ++b) {
      const uint8_t *from = blocks + 16 * b;
      *out++ = scales[b];
      // Elements i and i + 16 share a byte there.
      for (int64_t i = 0; i < 16; ++i) {
        const int shift = i % 2 * 4;
        *out++ = static_cast<uint8_t>((from[i / 2] >> shift & 15) |
                                      (from[8 + i / 2] >> shift & 15) << 4);
      }
    }
  }

private:
  const uint8_t *blocks, *scales;
  int64_t perRow;
};

} // namespace

std::unique_ptr<AssembledRows> llmir::assembleNibbles(TableNibbles matrix) {
  return std::make_unique<NibbleRows>(std::move(matrix));
}

std::unique_ptr<AssembledRows> llmir::assembleMXFP4(const uint8_t *blocks,
                                                    const uint8_t *scales,
                                                    int64_t columns) {
  return std::make_unique<MXFP4Rows>(blocks, scales, columns);
}
