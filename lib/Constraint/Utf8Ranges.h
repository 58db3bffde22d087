//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranges of characters as ranges of bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_UTF8RANGES_H
#define LLMIR_LIB_CONSTRAINT_UTF8RANGES_H

#include "llmir/Constraint/Grammar.h"

#include <string>
#include <string_view>

namespace llmir::constraint {

struct ByteRange {
  uint8_t first = 0, last = 0;
};

/// Byte sequences of the same length: the product of the ranges.
using ByteSequence = std::vector<ByteRange>;

/// Adds the sequences that encode exactly the characters of a range in UTF-8.
/// Surrogates are left out.
void addUtf8(CodePoints range, std::vector<ByteSequence> &sequences);

/// Reads the character whose code `digits` hexadecimal digits of `source` give,
/// from `at` on, which moves past those that were read. Returns null, or what
/// is wrong.
const char *readCharacterCode(std::string_view source, size_t &at,
                              size_t digits, uint32_t &character);

/// Appends a character in UTF-8.
void appendUtf8(uint32_t character, std::string &text);

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_UTF8RANGES_H
