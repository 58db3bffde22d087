//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "Unicode.h"

#include <algorithm>
#include <cstdio>

namespace llmir::chat {
namespace {

class Lexer {
public:
  explicit Lexer(std::string_view text);
  std::vector<Token> run();

private:
  void lexData();
  void lexComment();
  void lexRaw();
  void lexTag(bool isBlock);
  bool lexTagEnd(bool isBlock);
  void lexToken();
  bool lexNumber();
  bool lexName();
  bool lexString();
  void lexOperator();

  void addData(size_t begin, size_t end, char sign, bool mayStrip);
  void add(TokenKind kind, std::string text, size_t at);
  Position positionOf(size_t offset);
  [[noreturn]] void fail(size_t offset, const std::string &message);

  bool startsWith(std::string_view what, size_t at) const {
    return std::string_view(source).substr(at, what.size()) == what;
  }
  char charAt(size_t i) const { return i < source.size() ? source[i] : '\0'; }
  size_t skipSpace(size_t at) const;
  void finish(size_t end);

  std::string source; ///< With \n as the only line end.
  size_t at = 0;
  bool isLineStart = true; ///< What was read last ended a line.
  std::vector<char> open;  ///< The closing brackets that are expected.
  std::vector<Token> tokens;
  // The last place whose position was computed.
  size_t knownOffset = 0;
  Position known{1, 1};
};

Lexer::Lexer(std::string_view text) {
  source.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r')
      source += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      source += '\n';
  }
  if (!source.empty() && source.back() == '\n')
    source.pop_back();
}

Position Lexer::positionOf(size_t offset) {
  if (offset < knownOffset) {
    knownOffset = 0;
    known = {1, 1};
  }
  for (; knownOffset < offset; ++knownOffset) {
    if (source[knownOffset] == '\n') {
      ++known.line;
      known.column = 1;
    } else if ((source[knownOffset] & 0xc0) != 0x80) {
      ++known.column;
    }
  }
  return known;
}

void Lexer::fail(size_t offset, const std::string &message) {
  throw TemplateError{ErrorKind::Syntax, message, positionOf(offset)};
}

void Lexer::add(TokenKind kind, std::string text, size_t offset) {
  tokens.push_back({kind, positionOf(offset), std::move(text)});
}

size_t Lexer::skipSpace(size_t from) const {
  while (from < source.size()) {
    size_t next = from;
    if (!isSpace(nextCharacter(source, next)))
      break;
    from = next;
  }
  return from;
}

/// Continues at `end`, where a rule of the lexer ended.
void Lexer::finish(size_t end) {
  isLineStart = end > at && source[end - 1] == '\n';
  at = end;
}

//===----------------------------------------------------------------------===//
// Data, comments and raw blocks
//===----------------------------------------------------------------------===//

/// Adds the data before a tag, stripped as the tag's sign says. `mayStrip`:
/// without a sign, white space between a line's begin and the tag is dropped.
void Lexer::addData(size_t begin, size_t end, char sign, bool mayStrip) {
  if (sign == '-') {
    while (end > begin) {
      size_t previous = end;
      if (!isSpace(previousCharacter(source, previous)))
        break;
      end = previous;
    }
  } else if (sign != '+' && mayStrip) {
    size_t line = begin;
    for (size_t i = begin; i < end; ++i)
      if (source[i] == '\n')
        line = i + 1;
    if ((line > begin || isLineStart) && line < end && skipSpace(line) >= end)
      end = line;
  }
  if (end > begin)
    add(TokenKind::Data, source.substr(begin, end - begin), begin);
}

void Lexer::lexData() {
  size_t tag = at;
  for (;; ++tag) {
    tag = source.find('{', tag);
    if (tag == std::string::npos)
      break;
    char kind = charAt(tag + 1);
    if (kind == '%' || kind == '{' || kind == '#')
      break;
  }
  if (tag == std::string::npos) {
    add(TokenKind::Data, source.substr(at), at);
    at = source.size();
    return;
  }
  const char kind = source[tag + 1];
  char sign = charAt(tag + 2);
  if (sign != '-' && sign != '+')
    sign = '\0';
  addData(at, tag, sign, kind != '{');
  size_t inside = tag + 2 + (sign != '\0');
  if (kind == '%') {
    size_t name = skipSpace(inside);
    size_t end = skipSpace(std::min(name + 3, source.size()));
    if (startsWith("raw", name) &&
        (startsWith("-%}", end) || startsWith("%}", end))) {
      finish(charAt(end) == '-' ? skipSpace(end + 3) : end + 2);
      lexRaw();
      return;
    }
    add(TokenKind::BlockBegin, "{%", tag);
  } else if (kind == '{') {
    add(TokenKind::VariableBegin, "{{", tag);
  }
  finish(inside);
  if (kind == '#')
    lexComment();
  else
    lexTag(kind == '%');
}

void Lexer::lexComment() {
  size_t end = source.find("#}", at);
  if (end == std::string::npos)
    fail(at, "missing end of comment tag");
  char sign = end > at ? source[end - 1] : '\0';
  end += 2;
  if (sign == '-')
    end = skipSpace(end);
  else if (sign != '+' && charAt(end) == '\n')
    ++end;
  finish(end);
}

void Lexer::lexRaw() {
  for (size_t tag = at;; tag += 2) {
    tag = source.find("{%", tag);
    if (tag == std::string::npos)
      fail(at, "missing end of raw directive");
    char sign = charAt(tag + 2);
    if (sign != '-' && sign != '+')
      sign = '\0';
    size_t name = skipSpace(tag + 2 + (sign != '\0'));
    if (!startsWith("endraw", name))
      continue;
    size_t end = skipSpace(name + 6);
    char endSign = charAt(end);
    if (endSign == '-' || endSign == '+')
      ++end;
    if (!startsWith("%}", end))
      continue;
    addData(at, tag, sign, /*mayStrip=*/true);
    end += 2;
    if (endSign == '-')
      end = skipSpace(end);
    else if (endSign != '+' && charAt(end) == '\n')
      ++end;
    finish(end);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

bool Lexer::lexTagEnd(bool isBlock) {
  if (!open.empty())
    return false;
  const std::string_view close = isBlock ? "%}" : "}}";
  const char sign = source[at];
  size_t begin = at;
  if ((sign == '-' || (isBlock && sign == '+')) && startsWith(close, at + 1)) {
    size_t end = at + 3;
    finish(sign == '-' ? skipSpace(end) : end);
  } else if (startsWith(close, at)) {
    size_t end = at + 2;
    finish(isBlock && charAt(end) == '\n' ? end + 1 : end);
  } else {
    return false;
  }
  add(isBlock ? TokenKind::BlockEnd : TokenKind::VariableEnd,
      std::string(close), begin);
  return true;
}

void Lexer::lexTag(bool isBlock) {
  for (;;) {
    at = skipSpace(at);
    // The parser reports the missing end.
    if (at >= source.size() || lexTagEnd(isBlock))
      return;
    lexToken();
  }
}

void Lexer::lexToken() {
  if (lexNumber() || lexName() || lexString())
    return;
  lexOperator();
}

static bool isAsciiDigit(char c) { return c >= '0' && c <= '9'; }

/// The end of digits with single underscores between them; `begin` if there
/// are none.
template <typename IsDigit>
static size_t skipDigits(const std::string &text, size_t begin,
                         IsDigit isDigit) {
  size_t i = begin;
  while (i < text.size() && isDigit(text[i])) {
    ++i;
    if (i + 1 < text.size() && text[i] == '_' && isDigit(text[i + 1]))
      ++i;
  }
  return i;
}

static std::string withoutUnderscores(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return c != '_'; });
  return result;
}

bool Lexer::lexNumber() {
  if (!isAsciiDigit(source[at]))
    return false;
  auto take = [&](TokenKind kind, size_t end) {
    add(kind, withoutUnderscores(std::string_view(source).substr(at, end - at)),
        at);
    at = end;
    return true;
  };
  // A float: a fraction, an exponent, or both; not after a dot.
  size_t whole = skipDigits(source, at, isAsciiDigit), end = whole;
  if (at == 0 || source[at - 1] != '.') {
    if (charAt(whole) == '.' && isAsciiDigit(charAt(whole + 1)))
      end = skipDigits(source, whole + 1, isAsciiDigit);
    if ((charAt(end) | 0x20) == 'e') {
      size_t digits = end + 1;
      if (charAt(digits) == '+' || charAt(digits) == '-')
        ++digits;
      if (isAsciiDigit(charAt(digits)))
        end = skipDigits(source, digits, isAsciiDigit);
    }
    if (end > whole)
      return take(TokenKind::Float, end);
  }
  if (source[at] != '0')
    return take(TokenKind::Integer, whole);
  // 0b, 0o and 0x; otherwise only zeros may follow a zero.
  char base = static_cast<char>(charAt(at + 1) | 0x20);
  auto isDigitOfBase = [base](char c) {
    if (base == 'x')
      return isAsciiDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    return c >= '0' && c <= (base == 'b' ? '1' : '7');
  };
  if (base == 'b' || base == 'o' || base == 'x') {
    size_t digits = at + 2 + (charAt(at + 2) == '_');
    if (digits < source.size() && isDigitOfBase(source[digits]))
      return take(TokenKind::Integer,
                  skipDigits(source, digits, isDigitOfBase));
  }
  return take(TokenKind::Integer,
              skipDigits(source, at, [](char c) { return c == '0'; }));
}

bool Lexer::lexName() {
  size_t end = at;
  while (end < source.size()) {
    size_t next = end;
    uint32_t c = nextCharacter(source, next);
    bool isAscii = c < 0x80;
    if (isAscii ? !(isAsciiDigit(static_cast<char>(c)) || c == '_' ||
                    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
                : !isIdentifierPart(c) && !isNumeric(c))
      break;
    end = next;
  }
  if (end == at)
    return false;
  size_t next = at;
  bool isValid = isIdentifierStart(nextCharacter(source, next));
  while (next < end && isValid)
    isValid = isIdentifierPart(nextCharacter(source, next));
  if (!isValid)
    fail(at, "invalid character in identifier");
  add(TokenKind::Name, source.substr(at, end - at), at);
  at = end;
  return true;
}

/// The value of up to `count` hexadecimal digits, or of fewer if `isExact` is
/// false; -1 if there are not enough.
static int64_t hexValue(std::string_view text, size_t at, size_t count) {
  int64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at + i >= text.size())
      return -1;
    char c = text[at + i];
    char lower = static_cast<char>(c | 0x20);
    if (isAsciiDigit(c))
      value = value * 16 + (c - '0');
    else if (lower >= 'a' && lower <= 'f')
      value = value * 16 + (lower - 'a' + 10);
    else
      return -1;
  }
  return value;
}

/// Decodes one escape after its backslash, at `i`, which is advanced. Returns
/// the problem, or null.
static const char *decodeEscape(std::string_view text, size_t &i,
                                std::string &to) {
  const char c = text[i++];
  switch (c) {
  case '\n':
    return nullptr;
  case '\\':
  case '\'':
  case '"':
    to += c;
    return nullptr;
  case 'a':
    to += '\a';
    return nullptr;
  case 'b':
    to += '\b';
    return nullptr;
  case 'f':
    to += '\f';
    return nullptr;
  case 'n':
    to += '\n';
    return nullptr;
  case 'r':
    to += '\r';
    return nullptr;
  case 't':
    to += '\t';
    return nullptr;
  case 'v':
    to += '\v';
    return nullptr;
  case 'N':
    return "names of characters (\\N{…}) are not supported";
  case 'x':
  case 'u':
  case 'U': {
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    int64_t value = hexValue(text, i, digits);
    if (value < 0 || value > 0x10ffff)
      return "invalid or truncated escape in a string";
    appendCharacter(to, static_cast<uint32_t>(value));
    i += digits;
    return nullptr;
  }
  default:
    break;
  }
  if (c >= '0' && c <= '7') {
    uint32_t value = static_cast<uint32_t>(c - '0');
    for (int more = 0;
         more < 2 && i < text.size() && text[i] >= '0' && text[i] <= '7';
         ++more)
      value = value * 8 + static_cast<uint32_t>(text[i++] - '0');
    appendCharacter(to, value);
    return nullptr;
  }
  to += '\\';
  if ((c & 0x80) == 0) {
    to += c;
    return nullptr;
  }
  // Jinja spells other characters as escapes before it decodes escapes.
  --i;
  uint32_t character = nextCharacter(text, i);
  char buffer[16];
  std::snprintf(buffer, sizeof buffer,
                character < 0x100     ? "x%02x"
                : character < 0x10000 ? "u%04x"
                                      : "U%08x",
                character);
  to += buffer;
  return nullptr;
}

bool Lexer::lexString() {
  const char quote = source[at];
  if (quote != '\'' && quote != '"')
    return false;
  size_t end = at + 1;
  while (end < source.size() && source[end] != quote)
    end += source[end] == '\\' ? 2 : 1;
  if (end >= source.size())
    fail(at, "the string has no end");
  std::string_view body = std::string_view(source).substr(at + 1, end - at - 1);
  std::string value;
  value.reserve(body.size());
  for (size_t i = 0; i < body.size();) {
    if (body[i] != '\\') {
      value += body[i++];
      continue;
    }
    size_t escape = at + 1 + i++;
    if (const char *problem = decodeEscape(body, i, value))
      fail(escape, problem);
  }
  add(TokenKind::String, std::move(value), at);
  at = end + 1;
  return true;
}

void Lexer::lexOperator() {
  for (std::string_view two : {"//", "**", "==", "!=", ">=", "<="})
    if (startsWith(two, at)) {
      add(TokenKind::Operator, std::string(two), at);
      at += 2;
      return;
    }
  const char c = source[at];
  if (c == '\0' || std::string_view("+-/*%~[](){}><=.:|,;").find(c) ==
                       std::string_view::npos)
    fail(at,
         "unexpected character '" + source.substr(at, characterSize(c)) + "'");
  if (c == '(' || c == '[' || c == '{')
    open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
  if (c == ')' || c == ']' || c == '}') {
    if (open.empty())
      fail(at, std::string("unexpected '") + c + "'");
    if (open.back() != c)
      fail(at, std::string("unexpected '") + c + "', expected '" + open.back() +
                   "'");
    open.pop_back();
  }
  add(TokenKind::Operator, std::string(1, c), at);
  ++at;
}

std::vector<Token> Lexer::run() {
  while (at < source.size())
    lexData();
  add(TokenKind::End, {}, source.size());
  return std::move(tokens);
}

} // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

} // namespace llmir::chat
