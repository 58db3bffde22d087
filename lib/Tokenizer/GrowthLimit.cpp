//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrowthLimit.h"

#include <algorithm>
#include <string>

namespace llmir {

// The longest compatibility decomposition expands 3 bytes to 33, and the
// byte-level alphabet writes each of those as two.
static constexpr size_t maxGrowth = 32;
/// Allowance for short texts: a few replacements of maximum length.
static constexpr size_t freeBytes = 4096;
/// Pieces of a text are counted in 32 bits, and a stage may double it once.
static constexpr size_t maxBytes = size_t(1) << 30;

GrowthLimit::GrowthLimit(size_t textBytes)
    : textBytes(textBytes), limit(textBytes < maxBytes / maxGrowth - freeBytes
                                      ? freeBytes + textBytes * maxGrowth
                                      : maxBytes) {}

Status GrowthLimit::check(size_t bytes, const char *stage) const {
  if (bytes <= limit && finished <= limit - bytes)
    return Status::ok();
  return Status(StatusCode::OutOfRange,
                std::string(stage) + ": a text of " +
                    std::to_string(textBytes) + " bytes grows to " +
                    std::to_string(finished + bytes) + "; the limit is " +
                    std::to_string(limit),
                "use a tokenizer whose stages do not multiply the text");
}

} // namespace llmir
