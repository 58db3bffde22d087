//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of K and V in a block of the KV pool, shared by the generated
// attention code and PagedKVCache.
//
// A block has, per KV head, a K tile followed by a V tile, made of 4-byte cells
// of e = 4 / sizeof(element) elements. The lanes of a dot product are tokens,
// so that no horizontal sum is needed:
//   K tile: [head dim / e][block size][e]   V tile: [block size / e][dim][e]
// with K's head size rounded up to e and V's to 16. Blocks are zeroed when they
// are allocated, so padding is zero.
//
// Values may be the first elements of their keys (valuesInKeys), as the latents
// of multi-head latent attention are; then there are no V tiles.
//
// Elements of one byte (KVFormat::Q8) are integers q with a scale for each
// token and KV head, value = scale * q: a head's V tile is followed by its
// scales of K, f32 [block size], and those of V.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_KVBLOCKLAYOUT_H
#define LLMIR_ABI_KVBLOCKLAYOUT_H

#include <optional>
#include <stdint.h>
#include <string_view>

namespace llmir {

/// Limit of the layers of a cache, and of a program whose layers share one.
inline constexpr int64_t kvMaxLayers = 65536;

/// The storage format of an element of K or V. F32, F16 and BF16 are rounded to
/// nearest even; Q8 is a signed byte, where the row of one head and token has
/// the scale max|x| / 127 (Support/ByteCode.h).
enum class KVFormat : uint8_t { F32, F16, BF16, Q8 };

/// "f32", "f16", "bf16", "q8".
constexpr const char *kvFormatName(KVFormat format) {
  constexpr const char *names[] = {"f32", "f16", "bf16", "q8"};
  return names[static_cast<int>(format)];
}
/// The format of that name; nullopt for other names.
inline std::optional<KVFormat> kvFormatFromName(std::string_view name) {
  for (KVFormat format :
       {KVFormat::F32, KVFormat::F16, KVFormat::BF16, KVFormat::Q8})
    if (name == kvFormatName(format))
      return format;
  return std::nullopt;
}
/// Size of an element in bytes, without scales.
constexpr int64_t kvStoredBytes(KVFormat format) {
  constexpr int64_t bytes[] = {4, 2, 2, 1};
  return bytes[static_cast<int>(format)];
}

/// Geometry of one block of one layer. Sizes are in elements unless the name
/// says bytes. `blockSize` is a multiple of cellElements().
struct KVBlockLayout {
  int64_t numKVHeads;
  int64_t headDim;          ///< Head size of K.
  int64_t blockSize;        ///< Tokens per block.
  int64_t elementBytes;     ///< 4 (f32), 2 (f16, bf16) or 1 (q8).
  int64_t valueHeadDim = 0; ///< Head size of V; 0: that of K.
  /// Each value is the first elements of its key and is not stored.
  bool valuesInKeys = false;

  int64_t cellElements() const { return 4 / elementBytes; }
  int64_t keyDim() const { return roundUp(headDim, cellElements()); }
  int64_t valueDim() const { return valueHeadDim ? valueHeadDim : headDim; }
  int64_t paddedValueDim() const { return roundUp(valueDim(), 16); }
  int64_t keyTileBytes() const { return keyDim() * blockSize * elementBytes; }
  int64_t valueTileBytes() const {
    return valuesInKeys ? 0 : paddedValueDim() * blockSize * elementBytes;
  }
  bool hasScales() const { return elementBytes == 1; }
  /// Size in bytes of a head's scales of K, and of those of V.
  int64_t scaleBytes() const { return hasScales() ? blockSize * 4 : 0; }
  int64_t headBytes() const {
    return keyTileBytes() + valueTileBytes() +
           (valuesInKeys ? 1 : 2) * scaleBytes();
  }
  int64_t blockBytes() const { return numKVHeads * headBytes(); }

  /// Byte offset inside the block of K[token][head][dim].
  int64_t keyOffset(int64_t token, int64_t head, int64_t dim) const {
    int64_t e = cellElements();
    int64_t element = ((dim / e) * blockSize + token) * e + dim % e;
    return head * headBytes() + element * elementBytes;
  }
  /// Byte offset inside the block of V[token][head][dim].
  int64_t valueOffset(int64_t token, int64_t head, int64_t dim) const {
    if (valuesInKeys)
      return keyOffset(token, head, dim);
    int64_t e = cellElements();
    int64_t element = ((token / e) * paddedValueDim() + dim) * e + token % e;
    return head * headBytes() + keyTileBytes() + element * elementBytes;
  }
  /// Byte offset inside the block of the scale of K[token][head], and of V's.
  int64_t keyScaleOffset(int64_t token, int64_t head) const {
    return head * headBytes() + keyTileBytes() + valueTileBytes() + token * 4;
  }
  int64_t valueScaleOffset(int64_t token, int64_t head) const {
    return keyScaleOffset(token, head) + (valuesInKeys ? 0 : scaleBytes());
  }

private:
  static int64_t roundUp(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
};

} // namespace llmir

#endif // LLMIR_ABI_KVBLOCKLAYOUT_H
