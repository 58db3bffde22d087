//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueScanner.h"

#include <algorithm>

using namespace std::string_view_literals;

namespace llmir::chatoutput {

static constexpr size_t mostContainers = 64;
/// Of a number or a bare word; longer ones are no values.
static constexpr size_t mostWordBytes = 1024;

bool isBlank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return isBlank(c); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back()))
    text.remove_suffix(1);
  return text;
}

void appendEscaped(char byte, std::string &json) {
  constexpr const char *hex = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  switch (byte) {
  case '"':
  case '\\':
    json += '\\';
    json += byte;
    return;
  case '\n':
    json += "\\n";
    return;
  case '\t':
    json += "\\t";
    return;
  case '\r':
    json += "\\r";
    return;
  default:
    if (value >= 0x20) {
      json += byte;
      return;
    }
    json += "\\u00";
    json += hex[value >> 4];
    json += hex[value & 15];
  }
}

std::string quotedJson(std::string_view text) {
  std::string json = "\"";
  for (char byte : text)
    appendEscaped(byte, json);
  return json += '"';
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Whether the text is a number of JSON.
static bool isNumber(std::string_view text) {
  auto digits = [&] {
    size_t count = 0;
    while (count < text.size() && isDigit(text[count]))
      ++count;
    text.remove_prefix(count);
    return count > 0;
  };
  auto skip = [&](std::string_view any) {
    const bool found =
        !text.empty() && any.find(text.front()) != std::string_view::npos;
    text.remove_prefix(found ? 1 : 0);
    return found;
  };
  skip("-");
  if (!skip("0") && !digits())
    return false;
  if (skip(".") && !digits())
    return false;
  if (skip("eE")) {
    skip("+-");
    if (!digits())
      return false;
  }
  return text.empty();
}

/// A number of Python in the form of JSON: "+1_000." becomes "1000.0".
static std::string numberOfPython(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  if (!text.empty() && text[0] == '+')
    text.erase(0, 1);
  const size_t point = text.find('.');
  if (point == std::string::npos)
    return text;
  if (point + 1 == text.size() || !isDigit(text[point + 1]))
    text.insert(point + 1, "0");
  if (point == 0 || !isDigit(text[point - 1]))
    text.insert(point, "0");
  return text;
}

ValueScanner ValueScanner::keywordArguments() {
  ValueScanner scanner(Notation::Python);
  scanner.containers = "=";
  scanner.expect = Expect::FirstKey;
  return scanner;
}

ValueScanner::Result ValueScanner::take(char byte, std::string &json) {
  if (token == Token::Text)
    return textByte(byte, json);
  if (token == Token::Word) {
    if (isWordByte(byte)) {
      word += byte;
      if (word.size() > mostWordBytes)
        return Result::Malformed;
      if (notation == Notation::Gemma &&
          (word == "<|\"|>" || word == "<escape>"))
        beginText(word, json);
      return Result::More;
    }
    if (!endWord(json))
      return Result::Malformed;
    if (containers.empty())
      return Result::DoneBefore;
  }
  return structure(byte, json);
}

bool ValueScanner::finish(std::string &json) {
  return token == Token::Word && containers.empty() && endWord(json);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

ValueScanner::Result ValueScanner::structure(char byte, std::string &json) {
  if (isBlank(byte)) {
    if (notation == Notation::Json && !containers.empty())
      json += byte;
    return Result::More;
  }
  const char container = containers.empty() ? 0 : containers.back();
  const bool closes = container != 0 && byte == (container == '{'   ? '}'
                                                 : container == '[' ? ']'
                                                                    : ')');
  switch (expect) {
  case Expect::Colon:
    if (byte != (container == '=' ? '=' : ':'))
      return Result::Malformed;
    json += notation == Notation::Json ? ":" : ": ";
    expect = Expect::Value;
    return Result::More;
  case Expect::Comma:
    if (closes)
      return close(json);
    if (byte != ',')
      return Result::Malformed;
    if (notation == Notation::Json)
      json += ',';
    else
      owesComma = true;
    expect = container == '{' || container == '=' ? Expect::Key : Expect::Value;
    return Result::More;
  case Expect::FirstKey:
  case Expect::Key:
    if (closes && (expect == Expect::FirstKey || owesComma))
      return close(json);
    return beginKey(byte, json);
  case Expect::FirstValue:
  case Expect::Value:
    if (closes && container != '{' && container != '=' &&
        (expect == Expect::FirstValue || owesComma))
      return close(json);
    return beginValue(byte, json);
  }
  return Result::Malformed;
}

ValueScanner::Result ValueScanner::close(std::string &json) {
  const char container = containers.back();
  if (container != '=') // Of whose object the caller writes the braces.
    json += container == '{' ? '}' : ']';
  owesComma = false;
  containers.pop_back();
  return endItem();
}

/// A value or key is complete.
ValueScanner::Result ValueScanner::endItem() {
  if (isKey) {
    isKey = false;
    expect = Expect::Colon;
    return Result::More;
  }
  expect = Expect::Comma;
  return containers.empty() ? Result::Done : Result::More;
}

void ValueScanner::beginItem(std::string &json) {
  if (owesComma)
    json += ", ";
  owesComma = false;
}

ValueScanner::Result ValueScanner::beginKey(char byte, std::string &json) {
  const bool isText =
      byte == '"' || (notation == Notation::Python && byte == '\'');
  const bool isArgument = containers.back() == '=';
  isKey = true;
  if (isText && !isArgument) {
    beginItem(json);
    beginText({&byte, 1}, json);
    return Result::More;
  }
  const bool isBare = isArgument ? isLetter(byte)
                                 : notation == Notation::Gemma && byte != ':' &&
                                       byte != ',' && byte != '}';
  if (!isBare)
    return Result::Malformed;
  beginItem(json);
  token = Token::Word;
  word = byte;
  return Result::More;
}

ValueScanner::Result ValueScanner::beginValue(char byte, std::string &json) {
  if (byte == '{' || byte == '[' ||
      (byte == '(' && notation == Notation::Python)) {
    beginItem(json);
    return open(byte, json);
  }
  if (byte == '"' || (byte == '\'' && notation == Notation::Python)) {
    beginItem(json);
    beginText({&byte, 1}, json);
    return Result::More;
  }
  if (!isWordByte(byte))
    return Result::Malformed;
  beginItem(json);
  token = Token::Word;
  word = byte;
  return Result::More;
}

ValueScanner::Result ValueScanner::open(char container, std::string &json) {
  if (containers.size() == mostContainers)
    return Result::Malformed;
  containers += container;
  json += container == '{' ? '{' : '[';
  expect = container == '{' ? Expect::FirstKey : Expect::FirstValue;
  return Result::More;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

void ValueScanner::beginText(std::string_view end, std::string &json) {
  textEnd = end;
  token = Token::Text;
  word.clear();
  json += '"';
}

ValueScanner::Result ValueScanner::endText(std::string &json) {
  json += '"';
  token = Token::None;
  endMatched = 0;
  return endItem();
}

ValueScanner::Result ValueScanner::textByte(char byte, std::string &json) {
  if (notation == Notation::Json)
    return jsonTextByte(byte, json);
  if (notation == Notation::Python && (isEscape || hexDigits > 0))
    return escapeByte(byte, json) ? Result::More : Result::Malformed;
  if (highSurrogate != 0 && byte != '\\')
    return Result::Malformed; // Half a character.
  if (notation == Notation::Python && byte == '\\') {
    isEscape = true;
    return Result::More;
  }
  if (byte == textEnd[endMatched]) {
    if (++endMatched == textEnd.size())
      return endText(json);
    return Result::More;
  }
  // What began like the end was text. Ends begin with a byte that they do not
  // repeat, so that the match can only begin again with this byte.
  for (size_t i = 0; i < endMatched; ++i)
    appendEscaped(textEnd[i], json);
  endMatched = byte == textEnd[0] ? 1 : 0;
  if (endMatched == 0)
    appendEscaped(byte, json);
  return Result::More;
}

/// Texts of JSON are written as they are read.
ValueScanner::Result ValueScanner::jsonTextByte(char byte, std::string &json) {
  if (hexDigits > 0) {
    json += byte;
    return escapeByte(byte, json) ? Result::More : Result::Malformed;
  }
  if (isEscape) {
    json += byte;
    isEscape = false;
    if (byte == 'u') {
      hexDigits = 4;
      codePoint = 0;
      return Result::More;
    }
    const bool isKnown =
        std::string_view("\"\\/bfnrt").find(byte) != std::string_view::npos;
    return isKnown && highSurrogate == 0 ? Result::More : Result::Malformed;
  }
  if (highSurrogate != 0 && byte != '\\')
    return Result::Malformed; // Half a character.
  if (byte == '"')
    return endText(json);
  isEscape = byte == '\\';
  if (isEscape)
    json += byte;
  else if (static_cast<unsigned char>(byte) < 0x20)
    appendEscaped(byte, json);
  else
    json += byte;
  return Result::More;
}

static void appendUtf8(uint32_t code, std::string &json) {
  if (code < 0x80)
    return appendEscaped(static_cast<char>(code), json);
  if (code >= 0x10000) {
    json += static_cast<char>(0xf0 | code >> 18);
    json += static_cast<char>(0x80 | (code >> 12 & 63));
  } else if (code >= 0x800) {
    json += static_cast<char>(0xe0 | code >> 12);
  }
  json += static_cast<char>(code >= 0x800 ? 0x80 | (code >> 6 & 63)
                                          : 0xc0 | code >> 6);
  json += static_cast<char>(0x80 | (code & 63));
}

/// A byte after a backslash; false if it is not allowed there.
bool ValueScanner::escapeByte(char byte, std::string &json) {
  if (hexDigits > 0) {
    const bool isSmall = byte >= 'a' && byte <= 'f';
    if (!isDigit(byte) && !isSmall && !(byte >= 'A' && byte <= 'F'))
      return false;
    const uint32_t digit =
        isDigit(byte) ? byte - '0' : byte - (isSmall ? 'a' : 'A') + 10;
    codePoint = codePoint << 4 | digit;
    return --hexDigits > 0 || endCodePoint(json);
  }
  isEscape = false;
  if (highSurrogate != 0 && byte != 'u')
    return false;
  constexpr std::string_view names = "nrtbf0'\"\\",
                             values = "\n\r\t\b\f\0'\"\\"sv;
  const size_t simple = names.find(byte);
  if (simple != std::string_view::npos) {
    appendEscaped(values[simple], json);
    return true;
  }
  hexDigits = byte == 'x' ? 2 : byte == 'u' ? 4 : byte == 'U' ? 8 : 0;
  codePoint = 0;
  if (hexDigits == 0 && byte != '\n') { // Python keeps what it does not know.
    appendEscaped('\\', json);
    appendEscaped(byte, json);
  }
  return true;
}

/// The digits of a character are complete; false if it is none.
bool ValueScanner::endCodePoint(std::string &json) {
  const bool isHigh = codePoint >= 0xd800 && codePoint < 0xdc00;
  const bool isLow = codePoint >= 0xdc00 && codePoint < 0xe000;
  if (isLow != (highSurrogate != 0) || codePoint > 0x10ffff)
    return false;
  if (isLow)
    codePoint = 0x10000 + ((highSurrogate - 0xd800) << 10) + codePoint - 0xdc00;
  highSurrogate = isHigh ? codePoint : 0;
  if (notation != Notation::Json && !isHigh)
    appendUtf8(codePoint, json);
  return true;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool ValueScanner::isWordByte(char byte) const {
  if (notation == Notation::Gemma)
    return byte != ',' && byte != '}' && byte != ']' && !(isKey && byte == ':');
  return isDigit(byte) || isLetter(byte) ||
         ((byte == '-' || byte == '+' || byte == '.') && !isKey);
}

bool ValueScanner::endWord(std::string &json) {
  std::string_view text = trimmed(word);
  token = Token::None;
  if (isKey) {
    json += quotedJson(text);
  } else if (text == "true" || text == "false" || text == "null" ||
             isNumber(text)) {
    json += text;
  } else if (notation == Notation::Json) {
    return false;
  } else if (text == "True" || text == "False") {
    json += text == "True" ? "true" : "false";
  } else if (text == "None") {
    json += "null";
  } else if (notation == Notation::Gemma) {
    json += quotedJson(text);
  } else {
    const std::string number = numberOfPython(std::string(text));
    if (!isNumber(number))
      return false;
    json += number;
  }
  (void)endItem();
  return true;
}

std::string wholeValue(std::string_view text, Notation notation) {
  ValueScanner scanner(notation);
  std::string json;
  for (size_t i = 0; i < text.size(); ++i) {
    const ValueScanner::Result result = scanner.take(text[i], json);
    if (result == ValueScanner::Result::Done)
      return i + 1 == text.size() ? json : "";
    if (result != ValueScanner::Result::More)
      return "";
  }
  return scanner.finish(json) ? json : "";
}

} // namespace llmir::chatoutput
