//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/TensorFormat.h"
#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/SmallFloat.h"
#include "llmir/Support/StoredBlock.h"

#include <cstring>

namespace llmir {

static constexpr TensorFormatInfo formatTable[] = {
#define LLMIR_TENSOR_FORMAT(Enum, name, st, gguf, values, bytes)               \
  {TensorFormat::Enum, name, st, gguf, values, bytes},
#include "llmir/Support/TensorFormats.def"
};

const TensorFormatInfo &tensorFormatInfo(TensorFormat format) {
  return formatTable[static_cast<size_t>(format)];
}

std::optional<TensorFormat> tensorFormatFromName(std::string_view name) {
  for (const TensorFormatInfo &info : formatTable)
    if (info.name == name)
      return info.format;
  return std::nullopt;
}

std::optional<TensorFormat> tensorFormatFromSafetensors(std::string_view name) {
  for (const TensorFormatInfo &info : formatTable)
    if (!info.safetensorsName.empty() && info.safetensorsName == name)
      return info.format;
  return std::nullopt;
}

std::optional<TensorFormat> tensorFormatFromGGUF(uint32_t type) {
  for (const TensorFormatInfo &info : formatTable)
    if (info.ggufType >= 0 && static_cast<uint32_t>(info.ggufType) == type)
      return info.format;
  return std::nullopt;
}

std::optional<int64_t> tensorRowBytes(TensorFormat format, int64_t columns) {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  int64_t bytes;
  if (columns < 0 || columns % info.valuesPerBlock != 0 ||
      __builtin_mul_overflow(columns / info.valuesPerBlock, info.bytesPerBlock,
                             &bytes))
    return std::nullopt;
  return bytes;
}

static uint16_t loadU16(const uint8_t *bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

static float loadDouble(const uint8_t *bytes) {
  double value;
  std::memcpy(&value, bytes, 8);
  return static_cast<float>(value);
}

static void decodeBlock(TensorFormat format, const IntegerFormat &integers,
                        const uint8_t *bytes, float *out) {
  StoredBlock block;
  readStoredBlock(format, bytes, block);
  const int64_t values = tensorFormatInfo(format).valuesPerBlock;
  uint8_t stored[4];
  auto scaleOf = [&](uint32_t bits) {
    std::memcpy(stored, &bits, 4);
    return decodeScale(integers.scales, stored);
  };
  const float d = integers.unit() * scaleOf(block.d);
  const float dmin = integers.minima ? scaleOf(block.dmin) : 0;
  for (int64_t g = 0; g < values / integers.group; ++g) {
    // Products of f16 values and few bits are exact in f32; a sum rounds once.
    float scale = d, min = dmin;
    if (integers.superGroup > 0) {
      scale = d * static_cast<float>(static_cast<int8_t>(block.subScales[g]));
      if (integers.minima)
        min = -dmin * static_cast<float>(block.subMins[g]);
    }
    for (int64_t k = g * integers.group; k < (g + 1) * integers.group; ++k) {
      auto q = static_cast<float>(integers.numberOf(block.q[k]));
      out[k] = integers.minima ? scale * q + min : scale * q;
    }
  }
}

void decodeTensorRow(TensorFormat format, const uint8_t *row, int64_t columns,
                     float *out) {
  switch (format) {
  case TensorFormat::F32:
    std::memcpy(out, row, columns * sizeof(float));
    return;
  case TensorFormat::F16:
    for (int64_t j = 0; j < columns; ++j)
      out[j] = f16ToFloat(loadU16(row + 2 * j));
    return;
  case TensorFormat::BF16:
    for (int64_t j = 0; j < columns; ++j)
      out[j] = bf16ToFloat(loadU16(row + 2 * j));
    return;
  case TensorFormat::F64:
    for (int64_t j = 0; j < columns; ++j)
      out[j] = loadDouble(row + 8 * j);
    return;
  default:
    break;
  }
  const TensorFormatInfo &info = tensorFormatInfo(format);
  const IntegerFormat integers = *IntegerFormat::ofBlocks(format);
  for (int64_t j = 0; j < columns;
       j += info.valuesPerBlock, row += info.bytesPerBlock)
    decodeBlock(format, integers, row, out + j);
}

} // namespace llmir
