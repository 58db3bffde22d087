//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks one block of a block format, as stored by GGUF, into integers and
// scales as described by IntegerFormat::ofBlocks. All code that decodes or
// repacks blocks uses it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_STOREDBLOCK_H
#define LLMIR_SUPPORT_STOREDBLOCK_H

#include "llmir/Support/TensorFormat.h"

#include <cstdint>

namespace llmir {

/// value = d * sub-scale * (q - bias) - dmin * sub-minimum; without
/// super-groups d * (q - bias) + dmin.
struct StoredBlock {
  static constexpr int64_t kMaxValues = 256;
  static constexpr int64_t kMaxGroups = 16;

  /// Unsigned, as stored in packed layouts; except q8_0, whose bytes are
  /// signed.
  uint8_t q[kMaxValues];
  uint16_t d, dmin; ///< Bits of f16; dmin is 0 in formats without minima.
  uint8_t subScales[kMaxGroups], subMins[kMaxGroups]; ///< Signed bytes.
};

/// Unpacks a block of a block format; fields that the format does not have are
/// left unchanged.
void readStoredBlock(TensorFormat format, const uint8_t *bytes,
                     StoredBlock &block);

} // namespace llmir

#endif // LLMIR_SUPPORT_STOREDBLOCK_H
