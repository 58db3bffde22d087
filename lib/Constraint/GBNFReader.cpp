//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utf8Ranges.h"
#include "llmir/Constraint/Sources.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <map>
#include <optional>

namespace llmir {

using Node = Grammar::Node;

static constexpr size_t mostSourceBytes = size_t(1) << 18;
static constexpr int mostParentheses = 64; ///< Within each other.

namespace {
class GBNFReader {
public:
  GBNFReader(Grammar &grammar, std::string_view source)
      : grammar(grammar), source(source) {}

  Expected<Node> read();

private:
  Status readRule();
  Expected<Node> alternatives(int depth);
  Expected<Node> sequence(int depth);
  Expected<Node> element(int depth);
  Expected<Node> repeated(Node node);
  Expected<Node> literal();
  Expected<Node> set();
  Expected<uint32_t> character(char end);
  std::string_view name();
  std::optional<uint32_t> number();
  Grammar::Rule rule(std::string_view name);
  bool beginsRule();

  void skipSpace();
  bool atEnd() const { return at == source.size(); }
  char peek() const { return atEnd() ? '\0' : source[at]; }
  bool take(std::string_view text) {
    if (source.substr(at, text.size()) != text)
      return false;
    at += text.size();
    return true;
  }
  Status wrong(const std::string &problem) const;

  Grammar &grammar;
  const std::string_view source;
  size_t at = 0;
  std::map<std::string, Grammar::Rule, std::less<>> names;
};

bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_';
}
} // namespace

Status GBNFReader::wrong(const std::string &problem) const {
  const auto line =
      1 + std::count(source.begin(),
                     source.begin() + static_cast<ptrdiff_t>(at), '\n');
  return Status(StatusCode::InvalidArgument,
                "grammar, line " + std::to_string(line) + ": " + problem,
                "write it in llama.cpp's GBNF: root ::= \"yes\" | \"no\"");
}

void GBNFReader::skipSpace() {
  while (!atEnd()) {
    if (peek() == '#')
      at = std::min(source.find('\n', at), source.size());
    else if (peek() == ' ' || peek() == '\t' || peek() == '\n' ||
             peek() == '\r')
      ++at;
    else
      return;
  }
}

std::string_view GBNFReader::name() {
  const size_t begin = at;
  while (isOfName(peek()))
    ++at;
  return source.substr(begin, at - begin);
}

std::optional<uint32_t> GBNFReader::number() {
  const size_t begin = at;
  uint32_t value = 0;
  for (; peek() >= '0' && peek() <= '9'; ++at)
    value = std::min(value * 10 + static_cast<uint32_t>(peek() - '0'),
                     uint32_t(10'000'000)); // Too many in any case.
  return at == begin ? std::nullopt : std::optional<uint32_t>(value);
}

Grammar::Rule GBNFReader::rule(std::string_view name) {
  const auto found = names.find(name);
  if (found != names.end())
    return found->second;
  const Grammar::Rule added = grammar.addRule(std::string(name));
  names.emplace(name, added);
  return added;
}

/// Whether a name and ::= follow.
bool GBNFReader::beginsRule() {
  const size_t begin = at;
  const bool hasName = !name().empty();
  skipSpace();
  const bool result = hasName && source.substr(at, 3) == "::=";
  at = begin;
  return result;
}

/// A character of a literal or set that ends with `end`, perhaps escaped.
Expected<uint32_t> GBNFReader::character(char end) {
  if (atEnd() || peek() == '\n')
    return wrong(std::string("there is no ") + end);
  const auto lead = static_cast<uint8_t>(source[at++]);
  if (lead != '\\') {
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    uint32_t result = more ? lead & (0x3fu >> more) : lead;
    for (int i = 0; i < more; ++i)
      result = (result << 6) | (static_cast<uint8_t>(source[at++]) & 0x3fu);
    return result;
  }
  const char letter = peek();
  ++at;
  const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
  switch (letter) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case '"':
  case '\\':
  case '[':
  case ']':
  case '-':
  case '^':
  case '/':
    return static_cast<uint32_t>(letter);
  case 'x':
  case 'u':
  case 'U':
    break;
  default:
    at = std::min(at, source.size());
    return wrong("there is no such escape");
  }
  uint32_t character = 0;
  if (const char *problem =
          constraint::readCharacterCode(source, at, digits, character))
    return wrong(problem);
  return character;
}

/// After ".
Expected<Node> GBNFReader::literal() {
  std::string text;
  while (!take("\"")) {
    Expected<uint32_t> value = character('"');
    if (!value)
      return value.takeStatus();
    constraint::appendUtf8(*value, text);
  }
  return grammar.text(text);
}

/// After [.
Expected<Node> GBNFReader::set() {
  const bool isNegated = take("^");
  std::vector<CodePoints> ranges;
  while (!take("]")) {
    Expected<uint32_t> first = character(']');
    if (!first)
      return first.takeStatus();
    uint32_t last = *first;
    if (peek() == '-' && source.substr(at, 2) != "-]") {
      ++at;
      Expected<uint32_t> end = character(']');
      if (!end)
        return end.takeStatus();
      last = *end;
    }
    if (last < *first)
      return wrong("the range of the set has no end after its begin");
    ranges.push_back({*first, last});
  }
  return grammar.characters(isNegated ? complement(std::move(ranges))
                                      : std::move(ranges));
}

Expected<Node> GBNFReader::repeated(Node node) {
  for (;;) {
    skipSpace();
    if (take("*")) {
      node = grammar.repeat(node, 0, Grammar::noLimit);
    } else if (take("+")) {
      node = grammar.repeat(node, 1, Grammar::noLimit);
    } else if (take("?")) {
      node = grammar.optional(node);
    } else if (take("{")) {
      skipSpace();
      const auto least = number();
      skipSpace();
      const bool hasComma = take(",");
      skipSpace();
      const auto most = hasComma ? number() : least;
      skipSpace();
      if ((!least && !most) || !take("}"))
        return wrong("expected numbers in braces");
      if (most && *most < least.value_or(0))
        return wrong("the limits of the repetition are in the wrong order");
      node = grammar.repeat(node, least.value_or(0),
                            most.value_or(Grammar::noLimit));
    } else {
      return node;
    }
  }
}

Expected<Node> GBNFReader::element(int depth) {
  if (take("\""))
    return literal();
  if (take("["))
    return set();
  if (take("."))
    return grammar.characters(complement({}));
  if (take("(")) {
    if (depth >= mostParentheses)
      return Status(StatusCode::OutOfRange,
                    "grammar: more than " + std::to_string(mostParentheses) +
                        " parentheses are within each other",
                    "simplify it");
    Expected<Node> inner = alternatives(depth + 1);
    if (inner && !take(")"))
      return wrong("there is no )");
    return inner;
  }
  const std::string_view referred = name();
  if (referred.empty())
    return wrong("unexpected " + printable(source.substr(at, 1)));
  return grammar.reference(rule(referred));
}

Expected<Node> GBNFReader::sequence(int depth) {
  std::vector<Node> parts;
  for (;;) {
    skipSpace();
    if (atEnd() || peek() == '|' || peek() == ')' || beginsRule())
      return grammar.sequence(parts);
    Expected<Node> part = element(depth);
    if (part)
      part = repeated(*part);
    if (!part)
      return part;
    parts.push_back(*part);
  }
}

Expected<Node> GBNFReader::alternatives(int depth) {
  std::vector<Node> all;
  do {
    Expected<Node> one = sequence(depth);
    if (!one)
      return one;
    all.push_back(*one);
  } while (take("|"));
  return grammar.choice(all);
}

Status GBNFReader::readRule() {
  if (!beginsRule())
    return wrong("expected a rule");
  const std::string_view defined = name();
  skipSpace();
  (void)take("::=");
  const Grammar::Rule number = rule(defined);
  if (grammar.rules()[number].isDefined)
    return wrong("the rule '" + std::string(defined) + "' is defined twice");
  Expected<Node> body = alternatives(0);
  if (!body)
    return body.takeStatus();
  grammar.define(number, *body);
  return Status::ok();
}

Expected<Node> GBNFReader::read() {
  if (source.size() > mostSourceBytes)
    return Status(StatusCode::OutOfRange,
                  "the grammar has " + std::to_string(source.size()) + " bytes",
                  "give at most " + std::to_string(mostSourceBytes));
  if (!isValidUtf8(source))
    return wrong("it is not UTF-8");
  for (skipSpace(); !atEnd(); skipSpace())
    LLMIR_RETURN_IF_ERROR(readRule());
  const auto root = names.find("root");
  if (root == names.end())
    return wrong("there is no rule 'root'");
  LLMIR_RETURN_IF_ERROR(grammar.checkSize());
  return grammar.reference(root->second);
}

Expected<Node> addGBNF(Grammar &grammar, std::string_view source) {
  return GBNFReader(grammar, source).read();
}

} // namespace llmir
