//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The artifact's checksum: XXH3, 64 bits (header-only).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_ARTIFACT_CHECKSUM_H
#define LLMIR_LIB_ARTIFACT_CHECKSUM_H

#include "llmir/Support/Span.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>

namespace llmir {

inline uint64_t checksum(Span<const uint8_t> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

/// Computes the checksum of data given in pieces.
class RunningChecksum {
public:
  RunningChecksum() { restart(); }
  void restart() { XXH3_64bits_reset(&state); }
  void add(Span<const uint8_t> bytes) {
    if (!bytes.empty())
      XXH3_64bits_update(&state, bytes.data(), bytes.size());
  }
  uint64_t value() const { return XXH3_64bits_digest(&state); }

private:
  XXH3_state_t state; // Declares the alignment that it needs.
};

} // namespace llmir

#endif // LLMIR_LIB_ARTIFACT_CHECKSUM_H
