//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits the growth of a text in the stages. Even a short tokenizer file may
// have enough steps that double their input to turn a byte into gigabytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H
#define LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H

#include "llmir/Support/Status.h"

#include <cstddef>

namespace llmir {

/// Tracks the size that the stages produce for one text, segment by segment.
class GrowthLimit {
public:
  /// `textBytes` is the size of the whole text, all segments together.
  explicit GrowthLimit(size_t textBytes);

  /// OutOfRange if `stage` ("normalizer Replace") would expand the current
  /// segment to too many `bytes`.
  Status check(size_t bytes, const char *stage) const;
  /// Ends a segment for which the stages produced `bytes`.
  void finishSegment(size_t bytes) { finished += bytes; }

private:
  size_t textBytes, limit;
  size_t finished = 0; ///< Bytes of the preceding segments.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H
