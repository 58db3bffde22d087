//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How fast this machine reads memory, measured: the limit of decoding.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H
#define LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H

#include "llmir/Support/Status.h"

#include <cstdint>

namespace llmir::cli {

struct ReadBandwidth {
  double bytesPerSecond = 0; ///< Of the best reader.
  const char *reader = "";   ///< Its name.
  int64_t bytes = 0;         ///< Size of what was read over and over.
};

/// Reads `bytes` (at least 1 MiB, at most a quarter of the memory that is free)
/// with `threads` threads and several readers, each for `seconds`, and returns
/// the best reader's mean. Fails when the memory cannot be had.
Expected<ReadBandwidth> measureReadBandwidth(int64_t bytes, int64_t threads,
                                             double seconds, bool pin = false);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MEMORYBANDWIDTH_H
