//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"
#include "Utf8Ranges.h"
#include "llmir/Constraint/Sources.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <optional>

namespace llmir {

using Node = Grammar::Node;
using Ranges = std::vector<CodePoints>;

static constexpr size_t mostPatternBytes = 16384;
static constexpr int mostGroups = 64; ///< Within each other.

namespace {
class RegexReader {
public:
  RegexReader(Grammar &grammar, std::string_view pattern, bool inString)
      : grammar(grammar), pattern(pattern), inString(inString) {}

  Expected<Node> read();

private:
  /// A part of an alternative, or why it cannot be read.
  using Part = Expected<Node>;

  Part alternatives(int depth);
  Part alternative(int depth);
  Part atom(int depth);
  Part group(int depth);
  Part repeated(Node node);
  Part escape();
  Expected<Ranges> set();
  Expected<Ranges> setMember();
  /// The characters of \d, \w and \s, as ECMA-262 has them, and their
  /// opposites.
  std::optional<Ranges> shorthand(char letter) const;
  Expected<uint32_t> escapedCharacter();
  Expected<uint32_t> hexadecimal(size_t digits);
  uint32_t character();
  std::optional<uint32_t> number();

  bool atEnd() const { return at == pattern.size(); }
  char peek() const { return atEnd() ? '\0' : pattern[at]; }
  bool startsWith(std::string_view text) const {
    return llmir::startsWith(pattern.substr(at), text);
  }
  bool take(std::string_view text) {
    if (!startsWith(text))
      return false;
    at += text.size();
    return true;
  }
  Status wrong(const std::string &problem) const {
    return Status(StatusCode::InvalidArgument,
                  "regular expression, byte " + std::to_string(at + 1) + ": " +
                      problem,
                  "correct it");
  }
  Status unsupported(const std::string &what) const {
    return Status(StatusCode::Unsupported,
                  "regular expression, byte " + std::to_string(at + 1) + ": " +
                      what + " not supported",
                  "use characters, sets, groups, | and repetitions");
  }
  Node characters(const Ranges &ranges) {
    return inString ? constraint::charactersInString(grammar, ranges)
                    : grammar.characters(ranges);
  }
  Node anything() {
    const Node any = inString ? constraint::anyCharacterInString(grammar)
                              : grammar.characters(complement({}));
    return grammar.repeat(any, 0, Grammar::noLimit);
  }

  Grammar &grammar;
  const std::string_view pattern;
  const bool inString; ///< As text of a JSON string, and not from its begin.
  size_t at = 0;
};
} // namespace

/// The next character; the pattern is UTF-8.
uint32_t RegexReader::character() {
  const auto lead = static_cast<uint8_t>(pattern[at++]);
  if (lead < 0x80)
    return lead;
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  uint32_t result = lead & (0x3fu >> more);
  for (int i = 0; i < more; ++i)
    result = (result << 6) | (static_cast<uint8_t>(pattern[at++]) & 0x3fu);
  return result;
}

std::optional<uint32_t> RegexReader::number() {
  const size_t begin = at;
  uint32_t value = 0;
  for (; peek() >= '0' && peek() <= '9'; ++at)
    value = std::min(value * 10 + static_cast<uint32_t>(peek() - '0'),
                     uint32_t(10'000'000)); // Too many in any case.
  return at == begin ? std::nullopt : std::optional<uint32_t>(value);
}

Expected<uint32_t> RegexReader::hexadecimal(size_t digits) {
  uint32_t character = 0;
  if (const char *problem =
          constraint::readCharacterCode(pattern, at, digits, character))
    return wrong(problem);
  return character;
}

std::optional<Ranges> RegexReader::shorthand(char letter) const {
  const Ranges digits = {{'0', '9'}},
               words = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
               spaces = {{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},
                         {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029},
                         {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
                         {0xfeff, 0xfeff}};
  switch (letter) {
  case 'd':
    return digits;
  case 'D':
    return complement(digits);
  case 'w':
    return words;
  case 'W':
    return complement(words);
  case 's':
    return spaces;
  case 'S':
    return complement(spaces);
  default:
    return std::nullopt;
  }
}

/// After a backslash, a single character.
Expected<uint32_t> RegexReader::escapedCharacter() {
  if (atEnd())
    return wrong("the backslash has nothing after it");
  const char letter = peek();
  switch (letter) {
  case 'n':
    return ++at, '\n';
  case 't':
    return ++at, '\t';
  case 'r':
    return ++at, '\r';
  case 'f':
    return ++at, '\f';
  case 'v':
    return ++at, '\v';
  case '0':
    return ++at, 0;
  case 'x':
    ++at;
    return hexadecimal(2);
  case 'u': {
    ++at;
    if (peek() != '{')
      return hexadecimal(4);
    const size_t end = pattern.find('}', ++at);
    if (end == std::string_view::npos || end == at || end - at > 6)
      return wrong("expected a number in braces");
    Expected<uint32_t> value = hexadecimal(end - at);
    ++at;
    return value;
  }
  default:
    break;
  }
  if (letter >= '1' && letter <= '9')
    return unsupported("references to groups are");
  if (letter == 'b' || letter == 'B')
    return unsupported("word boundaries are");
  if (letter == 'p' || letter == 'P')
    return unsupported("properties of Unicode are");
  if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))
    return unsupported(std::string("\\") + letter + " is");
  return character();
}

Expected<Ranges> RegexReader::setMember() {
  if (take("\\")) {
    if (auto ranges = shorthand(peek())) {
      ++at;
      return *ranges;
    }
    if (take("b"))
      return Ranges{{'\b', '\b'}};
    Expected<uint32_t> value = escapedCharacter();
    if (!value)
      return value.takeStatus();
    return Ranges{{*value, *value}};
  }
  if (startsWith("[:"))
    return unsupported("classes with names are");
  const uint32_t value = character();
  return Ranges{{value, value}};
}

/// After [.
Expected<Ranges> RegexReader::set() {
  const bool isNegated = take("^");
  Ranges ranges;
  while (!take("]")) {
    if (atEnd())
      return wrong("the set has no end");
    Expected<Ranges> member = setMember();
    if (!member)
      return member;
    const bool isSingle =
        member->size() == 1 && member->front().first == member->front().last;
    if (isSingle && peek() == '-' && !startsWith("-]")) {
      ++at;
      if (atEnd())
        return wrong("the set has no end");
      Expected<Ranges> last = setMember();
      if (!last)
        return last;
      if (last->size() != 1 || last->front().first != last->front().last ||
          last->front().first < member->front().first)
        return wrong("the range of the set has no end after its begin");
      member->front().last = last->front().last;
    }
    ranges.insert(ranges.end(), member->begin(), member->end());
  }
  return isNegated ? complement(std::move(ranges)) : normalized(ranges);
}

Expected<Node> RegexReader::escape() {
  if (auto ranges = shorthand(peek())) {
    ++at;
    return characters(*ranges);
  }
  Expected<uint32_t> value = escapedCharacter();
  if (!value)
    return value.takeStatus();
  return characters({{*value, *value}});
}

/// After (.
Expected<Node> RegexReader::group(int depth) {
  if (depth >= mostGroups)
    return Status(StatusCode::OutOfRange,
                  "regular expression: more than " +
                      std::to_string(mostGroups) +
                      " groups are within each other",
                  "simplify it");
  if (startsWith("?=") || startsWith("?!") || startsWith("?<=") ||
      startsWith("?<!"))
    return unsupported("lookahead and lookbehind are");
  if (startsWith("?P=") || startsWith("?P>"))
    return unsupported("references to groups are");
  if (startsWith("?>"))
    return unsupported("atomic groups are");
  if (take("?P<") || take("?<")) { // The name means nothing.
    const size_t end = pattern.find('>', at);
    if (end == std::string_view::npos)
      return wrong("the name of the group has no end");
    at = end + 1;
  } else if (!take("?:") && startsWith("?")) {
    return unsupported("flags are");
  }
  Expected<Node> inner = alternatives(depth + 1);
  if (!inner)
    return inner;
  if (!take(")"))
    return wrong("the group has no end");
  return inner;
}

Expected<Node> RegexReader::atom(int depth) {
  if (take("("))
    return group(depth);
  if (take("[")) {
    Expected<Ranges> ranges = set();
    if (!ranges)
      return ranges.takeStatus();
    return characters(*ranges);
  }
  if (take("."))
    return characters(
        complement({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}));
  if (take("\\"))
    return escape();
  if (peek() == '^' || peek() == '$')
    return unsupported("anchors within the expression are");
  if (peek() == '*' || peek() == '+' || peek() == '?')
    return wrong("there is nothing to repeat");
  const uint32_t value = character();
  return characters({{value, value}});
}

/// What follows an atom: *, +, ?, {m}, {m,} or {m,n}; a ? after it only says
/// which match is preferred.
Expected<Node> RegexReader::repeated(Node node) {
  for (bool isFirst = true;; isFirst = false) {
    uint32_t least = 0, most = Grammar::noLimit;
    const size_t begin = at;
    if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (take("{")) {
      const auto from = number();
      const bool hasComma = from && take(",");
      const auto to = hasComma ? number() : from;
      if (!from || !take("}")) { // An ordinary character, as in most dialects.
        at = begin;
        return node;
      }
      least = *from;
      most = to.value_or(Grammar::noLimit);
      if (most < least)
        return wrong("the limits of the repetition are in the wrong order");
    } else if (!take("*")) {
      return node;
    }
    if (!isFirst)
      return unsupported("a repetition of a repetition is");
    if (peek() == '+')
      return unsupported("possessive repetitions are");
    (void)take("?");
    node = grammar.repeat(node, least, most);
  }
}

Expected<Node> RegexReader::alternative(int depth) {
  std::vector<Node> parts;
  const bool isTop = depth == 0;
  bool fromBegin = false, toEnd = false;
  while (isTop && take("^"))
    fromBegin = true;
  while (!atEnd() && peek() != '|' && peek() != ')') {
    if (isTop && peek() == '$' &&
        (at + 1 == pattern.size() || pattern[at + 1] == '|')) {
      ++at;
      toEnd = true;
      break;
    }
    Expected<Node> part = atom(depth);
    if (part)
      part = repeated(*part);
    if (!part)
      return part;
    parts.push_back(*part);
  }
  if (isTop && inString && !fromBegin)
    parts.insert(parts.begin(), anything());
  if (isTop && inString && !toEnd)
    parts.push_back(anything());
  return grammar.sequence(parts);
}

Expected<Node> RegexReader::alternatives(int depth) {
  std::vector<Node> all;
  do {
    Expected<Node> one = alternative(depth);
    if (!one)
      return one;
    all.push_back(*one);
  } while (take("|"));
  return grammar.choice(all);
}

Expected<Node> RegexReader::read() {
  if (pattern.size() > mostPatternBytes)
    return Status(StatusCode::OutOfRange,
                  "the regular expression has " +
                      std::to_string(pattern.size()) + " bytes",
                  "give at most " + std::to_string(mostPatternBytes));
  if (!isValidUtf8(pattern))
    return wrong("it is not UTF-8");
  Expected<Node> node = alternatives(0);
  if (node && !atEnd())
    return wrong("there is no group to end");
  return node;
}

Expected<Node> addRegex(Grammar &grammar, std::string_view pattern) {
  return RegexReader(grammar, pattern, /*inString=*/false).read();
}

Expected<Node> addRegexInString(Grammar &grammar, std::string_view pattern) {
  return RegexReader(grammar, pattern, /*inString=*/true).read();
}

} // namespace llmir
