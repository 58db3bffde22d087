//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/TensorFormat.h"
#include "llmir/Support/SmallFloat.h"

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

/// Q8_0: f16 scale, then 32 signed bytes.
static void decodeQ8_0(const uint8_t *block, float *out) {
  float scale = f16ToFloat(loadU16(block));
  for (int j = 0; j < 32; ++j)
    out[j] = scale * static_cast<float>(static_cast<int8_t>(block[2 + j]));
}

/// Q4_0: f16 scale, then 16 bytes; low nibbles are values 0-15, high 16-31.
static void decodeQ4_0(const uint8_t *block, float *out) {
  float scale = f16ToFloat(loadU16(block));
  for (int j = 0; j < 16; ++j) {
    uint8_t pair = block[2 + j];
    out[j] = scale * static_cast<float>((pair & 15) - 8);
    out[j + 16] = scale * static_cast<float>((pair >> 4) - 8);
  }
}

void decodeTensorRow(TensorFormat format, const uint8_t *row, int64_t columns,
                     float *out) {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  for (int64_t j = 0; j < columns;
       j += info.valuesPerBlock, row += info.bytesPerBlock) {
    switch (format) {
    case TensorFormat::F32:
      std::memcpy(out + j, row, sizeof(float));
      break;
    case TensorFormat::F16:
      out[j] = f16ToFloat(loadU16(row));
      break;
    case TensorFormat::BF16:
      out[j] = bf16ToFloat(loadU16(row));
      break;
    case TensorFormat::Q8_0:
      decodeQ8_0(row, out + j);
      break;
    case TensorFormat::Q4_0:
      decodeQ4_0(row, out + j);
      break;
    }
  }
}

} // namespace llmir
