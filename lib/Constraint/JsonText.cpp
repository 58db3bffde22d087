//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"

#include <algorithm>

namespace llmir::constraint {

using Node = Grammar::Node;

static const std::vector<CodePoints> escaped = {
    {0, 0x1f}, {'"', '"'}, {'\\', '\\'}};

/// The one way in which a character is escaped.
static std::string escapeOf(uint32_t character) {
  switch (character) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\b':
    return "\\b";
  case '\f':
    return "\\f";
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    constexpr const char *digits = "0123456789abcdef";
    return std::string("\\u00") + digits[character >> 4] +
           digits[character & 15];
  }
}

Node charactersInString(Grammar &grammar,
                        const std::vector<CodePoints> &ranges) {
  std::vector<CodePoints> others = complement(ranges); // And those escaped.
  others.insert(others.end(), escaped.begin(), escaped.end());
  const std::vector<CodePoints> plain = complement(std::move(others));
  std::vector<Node> alternatives;
  for (const CodePoints &range : normalized(ranges))
    for (const CodePoints &special : escaped)
      for (uint32_t c = std::max(range.first, special.first);
           c <= std::min(range.last, special.last); ++c)
        alternatives.push_back(grammar.text(escapeOf(c)));
  if (!plain.empty() || alternatives.empty())
    alternatives.push_back(grammar.characters(plain));
  return grammar.choice(alternatives);
}

Node anyCharacterInString(Grammar &grammar) {
  const Node hex = grammar.characters({{'0', '9'}, {'a', 'f'}, {'A', 'F'}});
  const Node two = grammar.sequence({hex, hex}),
             three = grammar.sequence({hex, hex, hex});
  const Node d = grammar.characters({{'d', 'd'}, {'D', 'D'}});
  // No half of a pair of surrogates alone.
  const Node unit = grammar.choice(
      {grammar.sequence(
           {grammar.characters(
                {{'0', '9'}, {'a', 'c'}, {'e', 'f'}, {'A', 'C'}, {'E', 'F'}}),
            three}),
       grammar.sequence({d, grammar.range('0', '7'), two}),
       grammar.sequence(
           {d, grammar.characters({{'8', '9'}, {'a', 'b'}, {'A', 'B'}}), two,
            grammar.text("\\u"), d,
            grammar.characters({{'c', 'f'}, {'C', 'F'}}), two})});
  const Node escape =
      grammar.choice({grammar.characters({{'"', '"'},
                                          {'\\', '\\'},
                                          {'/', '/'},
                                          {'b', 'b'},
                                          {'f', 'f'},
                                          {'n', 'n'},
                                          {'r', 'r'},
                                          {'t', 't'}}),
                      grammar.sequence({grammar.text("u"), unit})});
  return grammar.choice({grammar.characters(complement(escaped)),
                         grammar.sequence({grammar.text("\\"), escape})});
}

Node anyInteger(Grammar &grammar) {
  return grammar.sequence(
      {grammar.optional(grammar.text("-")),
       grammar.choice({grammar.text("0"),
                       grammar.sequence({grammar.range('1', '9'),
                                         grammar.repeat(grammar.range('0', '9'),
                                                        0, 17)})})});
}

Node anyNumber(Grammar &grammar) {
  const Node digit = grammar.range('0', '9');
  const Node fraction =
      grammar.sequence({grammar.text("."), grammar.repeat(digit, 1, 18)});
  const Node exponent = grammar.sequence(
      {grammar.characters({{'e', 'e'}, {'E', 'E'}}),
       grammar.optional(grammar.characters({{'+', '+'}, {'-', '-'}})),
       grammar.repeat(digit, 1, 2)});
  return grammar.sequence({anyInteger(grammar), grammar.optional(fraction),
                           grammar.optional(exponent)});
}

std::string shortText(const OrderedJson &value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

} // namespace llmir::constraint
