//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The storage formats of tensors (TensorFormats.def) as an enum with
// properties.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_TENSORFORMAT_H
#define LLMIR_SUPPORT_TENSORFORMAT_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmir {

enum class TensorFormat : uint8_t {
#define LLMIR_TENSOR_FORMAT(Enum, ...) Enum,
#include "llmir/Support/TensorFormats.def"
};

/// Properties of a format.
struct TensorFormatInfo {
  TensorFormat format;
  std::string_view name;            ///< As printed and as `format = …` in IR.
  std::string_view safetensorsName; ///< Empty if safetensors has no such type.
  int ggufType;                     ///< -1 if GGUF has no such type.
  int64_t valuesPerBlock;           ///< 1 for plain element types.
  int64_t bytesPerBlock;
};

const TensorFormatInfo &tensorFormatInfo(TensorFormat format);
std::optional<TensorFormat> tensorFormatFromName(std::string_view name);
std::optional<TensorFormat> tensorFormatFromSafetensors(std::string_view name);
std::optional<TensorFormat> tensorFormatFromGGUF(uint32_t type);

/// True for formats whose elements share a scale per block.
inline bool isBlockFormat(TensorFormat format) {
  return tensorFormatInfo(format).valuesPerBlock > 1;
}

/// Bytes of one row of `columns` elements; nullopt if the row does not consist
/// of whole blocks or the product overflows.
std::optional<int64_t> tensorRowBytes(TensorFormat format, int64_t columns);

/// Decodes `columns` elements of one stored row to f32, exactly.
void decodeTensorRow(TensorFormat format, const uint8_t *row, int64_t columns,
                     float *out);

} // namespace llmir

#endif // LLMIR_SUPPORT_TENSORFORMAT_H
