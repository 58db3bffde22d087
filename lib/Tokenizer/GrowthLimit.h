//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How much stages may make of a text. A tokenizer file is a few steps long, and
// steps that double what they get turn a byte into gigabytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H
#define LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H

#include "llmir/Support/Status.h"

#include <cstddef>

namespace llmir {

/// Counts what the stages have made of one text, which comes in segments.
class GrowthLimit {
public:
  /// `textBytes` is the size of the whole text, all segments together.
  explicit GrowthLimit(size_t textBytes);

  /// Whether `stage` ("normalizer Replace") may make `bytes` of the segment
  /// under way. OutOfRange where that is too much.
  Status check(size_t bytes, const char *stage) const;
  /// Ends a segment, of which the stages made `bytes`.
  void finishSegment(size_t bytes) { finished += bytes; }

private:
  size_t textBytes, limit;
  size_t finished = 0; ///< Bytes of the segments before.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_GROWTHLIMIT_H
