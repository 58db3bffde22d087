//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes texts of programs at the level of tokens: most results can still be
// parsed, so that the code after the parser is tried.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROGRAMMUTATOR_H
#define LLMIR_TEST_PROGRAMMUTATOR_H

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace llmir::test {

/// What a token of the text is, and where.
enum class TokenKind { Number, Value, Symbol, Text, Word };
struct Token {
  TokenKind kind;
  size_t begin, end;
};

inline bool isNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

inline std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i++;
    char c = text[begin];
    auto take = [&](auto holds) {
      while (i < text.size() && holds(text[i]))
        ++i;
    };
    if (c == '"') {
      take([](char each) { return each != '"'; });
      tokens.push_back({TokenKind::Text, begin, ++i});
    } else if (c == '%' || c == '@') {
      take(isNamePart);
      tokens.push_back(
          {c == '%' ? TokenKind::Value : TokenKind::Symbol, begin, i});
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      take([](char each) {
        return std::isdigit(static_cast<unsigned char>(each));
      });
      tokens.push_back({TokenKind::Number, begin, i});
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      take(isNamePart);
      tokens.push_back({TokenKind::Word, begin, i});
    }
  }
  return tokens;
}

class Mutator {
public:
  Mutator(std::string original, unsigned seed)
      : text(std::move(original)), random(seed) {}

  std::string mutant() {
    // One change as a rule; some mutants have several.
    int changes = pick(4) == 0 ? 1 + pick(4) : 1;
    for (int i = 0; i < changes; ++i)
      change();
    return text;
  }

private:
  int pick(size_t count) { return static_cast<int>(random() % count); }

  /// The start of the program, after the properties of the model; 0 in other
  /// modules.
  size_t start() const {
    const size_t fragment = text.find("mllm.program.fragment");
    return fragment == std::string::npos ? 0 : fragment;
  }

  /// Most changes leave a text that can be parsed: the code after the parser is
  /// to be tried.
  void change() {
    if (start() == 0)
      return pick(3) == 0 ? changeLines() : changeToken();
    switch (pick(10)) {
    case 0:
      return changeToken();
    case 1:
    case 2:
      return changeLines();
    case 3:
    case 4:
      return changeType();
    case 5:
    case 6:
      return changeOperand();
    default:
      return changeParameter();
    }
  }

  struct Range {
    size_t begin, end;
  };
  /// The text between the two, including the first one.
  std::vector<Range> pieces(const std::string &first, const std::string &last) {
    std::vector<Range> found;
    for (size_t i = text.find(first, start()); i != std::string::npos;
         i = text.find(first, i + 1)) {
      size_t end = text.find(last, i + first.size());
      if (end != std::string::npos)
        found.push_back({i, end});
    }
    return found;
  }
  std::string textOf(Range range) const {
    return text.substr(range.begin, range.end - range.begin);
  }

  /// A buffer type is replaced everywhere.
  void changeType() {
    std::vector<Range> types = pieces("memref<", ">");
    if (types.empty())
      return;
    const std::string old =
        textOf(types[static_cast<size_t>(pick(types.size()))]);
    std::string changed =
        textOf(types[static_cast<size_t>(pick(types.size()))]);
    if (pick(2) == 0) { // One of its sizes.
      changed = old;
      std::vector<Token> sizes = tokensOf(changed);
      if (sizes.size() < 2)
        return;
      const Token token =
          sizes[1 + static_cast<size_t>(pick(2)) % (sizes.size() - 1)];
      const std::string size =
          changed.substr(token.begin, token.end - token.begin);
      if (token.kind == TokenKind::Number)
        changed.replace(token.begin, size.size(), number(size));
    }
    for (size_t i = text.find(old, start()); i != std::string::npos;
         i = text.find(old, i + changed.size()))
      text.replace(i, old.size(), changed);
  }

  /// An operand becomes another value of its type.
  void changeOperand() {
    std::map<std::string, std::string> types;
    std::istringstream stream(text.substr(start()));
    for (std::string line; std::getline(stream, line);)
      if (size_t value = line.find('%'); value != std::string::npos)
        if (line.find(" = mllm.program.") != std::string::npos)
          types[line.substr(value, line.find(' ', value) - value)] =
              line.substr(line.rfind(": "));
    std::vector<Token> operands;
    for (const Token &token : tokensOf(text))
      if (token.kind == TokenKind::Value && token.begin >= start() &&
          (text[token.begin - 1] == '(' || text[token.begin - 2] == ',') &&
          types.count(text.substr(token.begin, token.end - token.begin)))
        operands.push_back(token);
    if (operands.empty())
      return;
    const Token token = operands[static_cast<size_t>(pick(operands.size()))];
    const std::string old = text.substr(token.begin, token.end - token.begin);
    std::vector<std::string> others;
    for (const auto &[name, type] : types)
      if (type == types[old])
        others.push_back(name);
    text.replace(token.begin, old.size(),
                 others[static_cast<size_t>(pick(others.size()))]);
  }

  /// Replaces an attribute of a kernel or a jump by another value or another
  /// kernel's dictionary, or removes it.
  void changeParameter() {
    std::vector<Range> values = pieces(" = ", ",");
    for (const char *before : {" below ", "set_layer ", "decode_tokens = "})
      for (Range each : pieces(before, "\n"))
        values.push_back({each.begin, each.begin + std::strlen(before) + 1});
    if (values.empty())
      return;
    const Range chosen = values[static_cast<size_t>(pick(values.size()))];
    std::string value = textOf(chosen);
    std::vector<Token> tokens = tokensOf(value);
    if (tokens.empty())
      return;
    const Token token = tokens.front();
    const std::string old = value.substr(token.begin, token.end - token.begin);
    if (token.kind == TokenKind::Number)
      value.replace(token.begin, old.size(), number(old));
    else if (old == "true" || old == "false")
      value.replace(token.begin, old.size(), old == "true" ? "false" : "true");
    else
      value = textOf(values[static_cast<size_t>(pick(values.size()))]);
    text.replace(chosen.begin, chosen.end - chosen.begin, value);
  }

  void changeToken() {
    std::vector<Token> tokens = tokensOf(text);
    tokens.erase(std::remove_if(
                     tokens.begin(), tokens.end(),
                     [&](const Token &token) { return token.begin < start(); }),
                 tokens.end());
    if (tokens.empty())
      return;
    Token token = tokens[static_cast<size_t>(pick(tokens.size()))];
    std::string old = text.substr(token.begin, token.end - token.begin);
    std::string changed = token.kind == TokenKind::Number && pick(3) != 0
                              ? number(old)
                              : another(tokens, token);
    text.replace(token.begin, old.size(), changed);
  }

  /// A number near the old one, or at the end of a range.
  std::string number(const std::string &old) {
    const auto value = static_cast<int64_t>(
        std::strtoull(old.substr(0, 18).c_str(), nullptr, 10));
    const int64_t choices[] = {0,
                               1,
                               value + 1,
                               value - 1,
                               value * 2,
                               value / 2,
                               value + 16,
                               -1,
                               int64_t(1) << 31,
                               (int64_t(1) << 28) - 1,
                               INT64_MAX};
    return std::to_string(
        choices[static_cast<size_t>(pick(std::size(choices)))]);
  }

  /// The text of another token of that kind.
  std::string another(const std::vector<Token> &tokens, const Token &token) {
    std::vector<Token> same;
    for (const Token &other : tokens)
      if (other.kind == token.kind)
        same.push_back(other);
    Token chosen = same[static_cast<size_t>(pick(same.size()))];
    return text.substr(chosen.begin, chosen.end - chosen.begin);
  }

  /// Removes a line, repeats it, or swaps two lines.
  void changeLines() {
    // Every other time an instruction is one line.
    const bool whole = pick(2) == 0;
    bool inside = false;
    std::vector<std::string> lines;
    std::istringstream stream(text.substr(start()));
    for (std::string line; std::getline(stream, line);) {
      if (inside)
        lines.back() += "\n" + line;
      else
        lines.push_back(line);
      if (whole && line.rfind("    mllm.program.instruction", 0) == 0)
        inside = true;
      else if (line == "    }")
        inside = false;
    }
    if (lines.empty())
      return;
    const std::string head = text.substr(0, start());
    auto at = [&] { return static_cast<size_t>(pick(lines.size())); };
    size_t one = at(), other = at();
    switch (pick(4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(one));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(other), lines[one]);
      break;
    case 2:
      std::swap(lines[one], lines[other]);
      break;
    default:
      std::swap(lines[one], lines[std::min(one + 1, lines.size() - 1)]);
    }
    text = head;
    for (const std::string &line : lines)
      text += line + "\n";
  }

  std::string text;
  std::mt19937 random;
};

} // namespace llmir::test

#endif // LLMIR_TEST_PROGRAMMUTATOR_H
