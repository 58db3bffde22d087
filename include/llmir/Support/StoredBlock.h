//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block of a block format, as GGUF stores it, taken apart: integers and
// scales as IntegerFormat::ofBlocks says. Whoever decodes or repacks blocks
// reads them here.
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

  /// Without a sign, as packed layouts store them; bytes of q8_0 are signed
  /// ones.
  uint8_t q[kMaxValues];
  uint16_t d, dmin; ///< Bits of f16; dmin is 0 in formats without minima.
  uint8_t subScales[kMaxGroups], subMins[kMaxGroups]; ///< Signed bytes.
};

/// Takes a block of a block format apart; what the format does not have is left
/// as it was.
void readStoredBlock(TensorFormat format, const uint8_t *bytes,
                     StoredBlock &block);

} // namespace llmir

#endif // LLMIR_SUPPORT_STOREDBLOCK_H
