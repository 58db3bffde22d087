//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// UTF-8: validation, decoding and repair; and the Unicode normalization forms.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_UNICODE_H
#define LLMIR_LIB_TOKENIZER_UNICODE_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir {

/// Length of the valid UTF-8 at the start of the text; its size if all of it is
/// valid. Overlong forms and surrogates are invalid.
size_t validUtf8Length(std::string_view text);

/// The normalization forms of Unicode's Annex 15.
enum class UnicodeForm : uint8_t { NFC, NFD, NFKC, NFKD };

/// Converts valid UTF-8 to a normalization form. O(n log n) for any text,
/// including a base character with any number of marks in any order.
Status toUnicodeForm(std::string &text, UnicodeForm form);

/// A character of valid UTF-8 and its length in bytes (1 to 4).
struct Utf8Char {
  uint32_t codePoint;
  uint32_t bytes;
};
/// `text` must not be empty and must start with a complete valid character.
inline Utf8Char firstUtf8Char(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint32_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1};
  if (lead < 0xe0)
    return {(lead & 0x1fu) << 6 | (byte(1) & 0x3fu), 2};
  if (lead < 0xf0)
    return {(lead & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu),
            3};
  return {(lead & 0x07u) << 18 | (byte(1) & 0x3fu) << 12 |
              (byte(2) & 0x3fu) << 6 | (byte(3) & 0x3fu),
          4};
}

/// Appends the UTF-8 of a code point (below 0x110000, not a surrogate).
void appendUtf8(std::string &out, uint32_t codePoint);

/// Unicode's White_Space property.
bool isWhiteSpace(uint32_t codePoint);
/// Whether a regular expression's \w matches: letters, marks, decimal digits,
/// connectors, joiners.
bool isWordCharacter(uint32_t codePoint);

/// The replacement character, U+FFFD.
constexpr std::string_view replacementCharacter = "\xEF\xBF\xBD";

/// Converts a stream of bytes to valid UTF-8. Every maximal prefix of a
/// character that the next byte does not continue becomes one U+FFFD, as
/// Unicode recommends; an incomplete character waits for its next byte.
class Utf8Repair {
public:
  void feed(uint8_t byte, std::string &out);
  void feed(std::string_view bytes, std::string &out) {
    for (char byte : bytes)
      feed(static_cast<uint8_t>(byte), out);
  }
  /// Appends U+FFFD for an incomplete character, if any.
  void finish(std::string &out);

private:
  uint8_t pending[4] = {};
  uint8_t have = 0;
  uint8_t need = 0; ///< Length of the character that `pending` starts.
  uint8_t low = 0x80, high = 0xbf; ///< Range of its next byte.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_UNICODE_H
