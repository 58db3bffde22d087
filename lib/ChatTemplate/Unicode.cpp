//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unicode.h"

#include <algorithm>
#include <iterator>
#include <utf8proc.h>

namespace llmir::chat {
namespace {

#include "UnicodeTables.inc"

template <size_t N>
const char *findMapping(const CaseMapping (&table)[N], uint32_t c) {
  const CaseMapping *found = std::lower_bound(
      std::begin(table), std::end(table), c,
      [](const CaseMapping &row, uint32_t c) { return row.character < c; });
  return found != std::end(table) && found->character == c ? found->text
                                                           : nullptr;
}

template <size_t N> bool isInRanges(const uint32_t (&table)[N][2], uint32_t c) {
  const auto *found = std::lower_bound(
      std::begin(table), std::end(table), c,
      [](const uint32_t (&row)[2], uint32_t c) { return row[1] < c; });
  return found != std::end(table) && (*found)[0] <= c;
}

utf8proc_category_t category(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isCased(uint32_t c) { return isUpper(c) || isLower(c) || isTitle(c); }

/// Characters that do not end a word for the rule of the final sigma.
bool isCaseIgnorable(uint32_t c) {
  switch (category(c)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_SK:
    return true;
  default:
    return c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2018 ||
           c == 0x2019 || c == 0x2024 || c == 0x2027 || c == 0x387;
  }
}

/// Whether the sigma that ends at `end` ends a word.
bool isFinalSigma(std::string_view text, size_t begin, size_t end) {
  bool cased = false;
  for (size_t at = begin; at > 0;) {
    uint32_t c = previousCharacter(text, at);
    if (isCaseIgnorable(c))
      continue;
    cased = isCased(c);
    break;
  }
  if (!cased)
    return false;
  for (size_t at = end; at < text.size();) {
    uint32_t c = nextCharacter(text, at);
    if (!isCaseIgnorable(c))
      return !isCased(c);
  }
  return true;
}

void appendUpper(std::string &to, uint32_t c) {
  if (const char *special = findMapping(kSpecialUpper, c))
    to += special;
  else
    appendCharacter(
        to, static_cast<uint32_t>(utf8proc_toupper(static_cast<int32_t>(c))));
}

void appendTitle(std::string &to, uint32_t c) {
  if (const char *special = findMapping(kSpecialTitle, c))
    to += special;
  else
    appendCharacter(
        to, static_cast<uint32_t>(utf8proc_totitle(static_cast<int32_t>(c))));
}

/// Lowercases the character of `text` from `begin` to `end`.
void appendLower(std::string &to, std::string_view text, size_t begin,
                 size_t end, uint32_t c) {
  if (c == 0x130) // The only one that becomes two characters.
    to += "i\u0307";
  else if (c == 0x3a3)
    to += isFinalSigma(text, begin, end) ? "\u03c2" : "\u03c3";
  else
    appendCharacter(
        to, static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(c))));
}

} // namespace

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

size_t characterSize(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

uint32_t nextCharacter(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  uint32_t first = byte(at);
  size_t size = characterSize(text[at]);
  uint32_t c = first;
  if (size == 2)
    c = (first & 0x1f) << 6 | (byte(at + 1) & 0x3f);
  else if (size == 3)
    c = (first & 0x0f) << 12 | (byte(at + 1) & 0x3f) << 6 |
        (byte(at + 2) & 0x3f);
  else if (size == 4)
    c = (first & 0x07) << 18 | (byte(at + 1) & 0x3f) << 12 |
        (byte(at + 2) & 0x3f) << 6 | (byte(at + 3) & 0x3f);
  at = std::min(at + size, text.size());
  return c;
}

uint32_t previousCharacter(std::string_view text, size_t &end) {
  size_t begin = end - 1;
  while (begin > 0 && (text[begin] & 0xc0) == 0x80)
    --begin;
  size_t at = begin;
  uint32_t c = nextCharacter(text, at);
  end = begin;
  return c;
}

void appendCharacter(std::string &text, uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      text += static_cast<char>(0xe0 | c >> 12);
    } else {
      text += static_cast<char>(0xf0 | c >> 18);
      text += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    }
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
  }
  text += static_cast<char>(0x80 | (c & 0x3f));
}

size_t countCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

size_t byteOffset(std::string_view text, size_t character) {
  size_t at = 0;
  while (character-- > 0 && at < text.size())
    at = std::min(at + characterSize(text[at]), text.size());
  return at;
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

bool isSpace(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 ||
         c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

bool isPrintable(uint32_t c) {
  switch (category(c)) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  case UTF8PROC_CATEGORY_ZS:
    return c == ' ';
  default:
    return true;
  }
}

bool isAlpha(uint32_t c) {
  switch (category(c)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
    return true;
  default:
    return false;
  }
}

bool isDecimal(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool isDigit(uint32_t c) {
  return isDecimal(c) || isInRanges(kDigitsNotDecimal, c);
}

bool isNumeric(uint32_t c) {
  utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
         kind == UTF8PROC_CATEGORY_NO || isInRanges(kNumericLetters, c);
}

bool isUpper(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU || isInRanges(kOtherUpper, c);
}

bool isLower(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL || isInRanges(kOtherLower, c);
}

bool isTitle(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

bool isIdentifierStart(uint32_t c) {
  if (c == '_' || c == 0x1885 || c == 0x1886 || c == 0x2118 || c == 0x212e)
    return true;
  return (isAlpha(c) || category(c) == UTF8PROC_CATEGORY_NL) &&
         !isInRanges(kNotIdentifierStart, c);
}

bool isIdentifierPart(uint32_t c) {
  if (isIdentifierStart(c))
    return true;
  switch (category(c)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return c == 0xb7 || c == 0x387 || (c >= 0x1369 && c <= 0x1371) ||
           c == 0x19da;
  }
}

/// The decimal digits of a script are ten consecutive characters.
int decimalValue(uint32_t c) {
  if (c < 0x80)
    return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  if (!isDecimal(c))
    return -1;
  uint32_t first = c;
  while (isDecimal(first - 1))
    --first;
  return static_cast<int>((c - first) % 10);
}

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

std::string toUpper(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();)
    appendUpper(result, nextCharacter(text, at));
  return result;
}

std::string toLower(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(text, at);
    appendLower(result, text, begin, at, c);
  }
  return result;
}

std::string toTitle(std::string_view text) {
  std::string result;
  bool inWord = false;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(text, at);
    if (inWord)
      appendLower(result, text, begin, at, c);
    else
      appendTitle(result, c);
    inWord = isCased(c);
  }
  return result;
}

std::string capitalize(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(text, at);
    if (begin == 0)
      appendTitle(result, c);
    else
      appendLower(result, text, begin, at, c);
  }
  return result;
}

std::string swapCase(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(text, at);
    if (isUpper(c))
      appendLower(result, text, begin, at, c);
    else if (isLower(c))
      appendUpper(result, c);
    else
      appendCharacter(result, c);
  }
  return result;
}

std::string caseFold(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    uint32_t c = nextCharacter(text, at);
    if (const char *special = findMapping(kSpecialFold, c))
      result += special;
    else
      appendCharacter(result, static_cast<uint32_t>(
                                  utf8proc_tolower(static_cast<int32_t>(c))));
  }
  return result;
}

} // namespace llmir::chat
