//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks one block of a block format, as stored by GGUF, into integers and
// scales as described by IntegerFormat::ofBlocks, and packs them. All code that
// decodes, repacks or makes blocks uses it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_STOREDBLOCK_H
#define LLMIR_SUPPORT_STOREDBLOCK_H

#include "llmir/Support/Span.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>

namespace llmir {

/// value = d * sub-scale * number - dmin * sub-minimum, where number is
/// IntegerFormat::numberOf(q); without super-groups d * number + dmin.
struct StoredBlock {
  static constexpr int64_t kMaxValues = 256;
  static constexpr int64_t kMaxGroups = 16;

  /// Unsigned, as stored in packed layouts; except q8_0, whose bytes are
  /// signed.
  uint8_t q[kMaxValues];
  uint32_t d, dmin; ///< Bits of f16 or f32, or the byte of E8M0; dmin is 0
                    ///< in formats without minima.
  uint8_t subScales[kMaxGroups], subMins[kMaxGroups]; ///< Signed bytes.
};

/// Unpacks a block of a block format; fields that the format does not have are
/// left unchanged.
void readStoredBlock(TensorFormat format, const uint8_t *bytes,
                     StoredBlock &block);

/// The inverse of readStoredBlock(), for block formats without a grid. Numbers
/// and scales must be in the format's range; other fields are ignored.
void writeStoredBlock(TensorFormat format, const StoredBlock &block,
                      uint8_t *bytes);

/// The grid of IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S: the
/// levels of each point, as in CodebookGrids.inc; empty for other formats.
Span<const uint16_t> gridOf(TensorFormat format);

/// Replaces d, and dmin if the format has minima, of a block of a block format.
/// A scale of MXFP4 becomes a power of two. For random blocks.
void setBlockScales(TensorFormat format, uint8_t *bytes, float d, float dmin);

} // namespace llmir

#endif // LLMIR_SUPPORT_STOREDBLOCK_H
