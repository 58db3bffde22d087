//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regular expressions of tokenizer files, which are written for Oniguruma,
// implemented with PCRE2. Patterns are untrusted: size, cost per match and
// total time are limited.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_REGEX_H
#define LLMIR_LIB_TOKENIZER_REGEX_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// Bytes [begin, end) of a text, and whether the pattern matched them.
struct TextRange {
  uint32_t begin, end;
  bool isMatch;
};

/// A compiled pattern; immutable and thread-safe.
class Regex {
public:
  /// InvalidFile if the pattern is malformed; Unsupported if PCRE2 would
  /// interpret it differently than Oniguruma (nested character classes, && in
  /// them, an interval followed by +).
  static Expected<Regex> compile(std::string_view pattern);

  /// Appends ranges that cover all of `text` (valid UTF-8, below 2^31 bytes) in
  /// order. An empty match results in an empty range: a boundary. OutOfRange if
  /// the pattern takes too many steps.
  Status partition(std::string_view text, std::vector<TextRange> &ranges) const;

private:
  std::shared_ptr<const void> code;
  std::string source;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_REGEX_H
