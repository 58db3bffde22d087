//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regular expressions of tokenizer files, which are written for Oniguruma, on
// PCRE2. Meant for patterns that nobody vouches for: size, cost per match and
// time in total are bounded.
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

/// A compiled pattern; immutable, usable from any thread.
class Regex {
public:
  /// InvalidFile where the pattern is not one; Unsupported where PCRE2 would
  /// read it otherwise than Oniguruma (nested character classes, && in them,
  /// an interval followed by +).
  static Expected<Regex> compile(std::string_view pattern);

  /// Appends ranges that cover all of `text` (valid UTF-8, below 2^31 bytes) in
  /// order. An empty match leaves an empty range: a boundary. OutOfRange where
  /// the pattern needs too many steps.
  Status partition(std::string_view text, std::vector<TextRange> &ranges) const;

private:
  std::shared_ptr<const void> code;
  std::string source;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_REGEX_H
