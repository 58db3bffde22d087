//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads values as models write them, a byte at a time, and writes them as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATOUTPUT_VALUESCANNER_H
#define LLMIR_LIB_CHATOUTPUT_VALUESCANNER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir::chatoutput {

enum class Notation {
  Json,   ///< Kept as written; only control characters in texts are escaped.
  Python, ///< Literals: 'text', True, None, (1, 2).
  Gemma,  ///< Bare keys, texts within <|"|> or <escape>, other texts bare.
};

inline bool isBlank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
bool isBlank(std::string_view text);
std::string_view trimmed(std::string_view text);

/// Appends a byte of a text to a JSON string.
void appendEscaped(char byte, std::string &json);
/// A JSON string with its quotes.
std::string quotedJson(std::string_view text);

class ValueScanner {
public:
  enum class Result {
    More,
    Done,       ///< The value is complete with this byte.
    DoneBefore, ///< It was complete before this byte, which is not part of it.
    Malformed,
  };

  explicit ValueScanner(Notation notation = Notation::Json)
      : notation(notation) {}
  /// Reads what follows "f(": the arguments up to ")" become an object.
  static ValueScanner keywordArguments();

  /// Reads one byte and appends to `json` what it makes certain. Values may be
  /// nested 64 deep.
  Result take(char byte, std::string &json);
  /// The text ends: whether the value is complete.
  bool finish(std::string &json);

private:
  enum class Expect { Value, FirstValue, Key, FirstKey, Colon, Comma };
  enum class Token { None, Text, Word };

  Result structure(char byte, std::string &json);
  Result close(std::string &json);
  Result beginKey(char byte, std::string &json);
  Result beginValue(char byte, std::string &json);
  void beginItem(std::string &json);
  Result open(char container, std::string &json);
  void beginText(std::string_view end, std::string &json);
  Result textByte(char byte, std::string &json);
  Result endText(std::string &json);
  Result endItem();
  Result jsonTextByte(char byte, std::string &json);
  bool escapeByte(char byte, std::string &json);
  bool endCodePoint(std::string &json);
  bool isWordByte(char byte) const;
  bool endWord(std::string &json);

  Notation notation;
  Expect expect = Expect::Value;
  Token token = Token::None;
  std::string containers; ///< "{", "[", "(" for tuples, "=" for arguments.
  bool isKey = false;     ///< Of the token.
  bool owesComma = false; ///< Written before the next item.
  std::string word;       ///< The token so far.
  std::string textEnd;    ///< What ends the text.
  size_t endMatched = 0;  ///< Bytes of it that were read.
  bool isEscape = false;  ///< The last byte was a backslash.
  int hexDigits = 0;      ///< Digits that are to follow.
  uint32_t codePoint = 0, highSurrogate = 0;
};

/// The JSON of a text that is one value as a whole; empty if it is none.
std::string wholeValue(std::string_view text, Notation notation);

} // namespace llmir::chatoutput

#endif // LLMIR_LIB_CHATOUTPUT_VALUESCANNER_H
