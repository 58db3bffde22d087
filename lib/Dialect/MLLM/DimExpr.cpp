//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/DimExpr.h"

#include <cctype>

namespace llmir::shapes {

DimExpr DimExpr::unknown() {
  DimExpr result;
  result.known = false;
  return result;
}

DimExpr DimExpr::symbol(std::string name) {
  DimExpr result;
  result.symbols.push_back({std::move(name), 1});
  return result;
}

std::optional<int64_t> DimExpr::constant() const {
  return isConstant() ? std::optional<int64_t>(offset) : std::nullopt;
}

/// Adds a term to sorted terms; false if a coefficient overflows.
static bool addTerm(std::vector<DimExpr::Term> &terms,
                    const DimExpr::Term &term) {
  auto at = terms.begin();
  while (at != terms.end() && at->first < term.first)
    ++at;
  if (at == terms.end() || at->first != term.first) {
    terms.insert(at, term);
    return true;
  }
  if (__builtin_add_overflow(at->second, term.second, &at->second))
    return false;
  if (at->second == 0)
    terms.erase(at);
  return true;
}

DimExpr DimExpr::operator+(const DimExpr &other) const {
  if (!known || !other.known)
    return unknown();
  DimExpr result = *this;
  if (__builtin_add_overflow(offset, other.offset, &result.offset))
    return unknown();
  for (const Term &term : other.symbols)
    if (!addTerm(result.symbols, term))
      return unknown();
  return result;
}

DimExpr DimExpr::operator-(const DimExpr &other) const {
  return *this + other * DimExpr(-1);
}

DimExpr DimExpr::operator*(const DimExpr &other) const {
  if (constant() == 0 || other.constant() == 0)
    return 0;
  if (!isConstant() && !other.isConstant())
    return unknown();
  DimExpr result = isConstant() ? other : *this;
  const int64_t factor = isConstant() ? offset : other.offset;
  if (!result.known ||
      __builtin_mul_overflow(result.offset, factor, &result.offset))
    return unknown();
  for (Term &term : result.symbols)
    if (__builtin_mul_overflow(term.second, factor, &term.second))
      return unknown();
  return result;
}

DimExpr DimExpr::floorDiv(int64_t divisor) const {
  if (!known || divisor < 1)
    return unknown();
  DimExpr result = *this;
  for (Term &term : result.symbols) {
    if (term.second % divisor != 0)
      return unknown();
    term.second /= divisor;
  }
  result.offset /= divisor;
  if (offset % divisor < 0)
    --result.offset;
  return result;
}

DimExpr DimExpr::exactDiv(const DimExpr &divisor) const {
  if (!known || !divisor.known)
    return unknown();
  if (std::optional<int64_t> number = divisor.constant()) {
    const bool divides = *number > 0 && offset % *number == 0;
    return divides ? floorDiv(*number) : unknown();
  }
  // A multiple of the divisor, for example (2 * seq + 4) / (seq + 2).
  const Term &first = divisor.symbols.front();
  for (const Term &term : symbols)
    if (term.first == first.first && term.second % first.second == 0) {
      const DimExpr quotient(term.second / first.second);
      return divisor * quotient == *this ? quotient : unknown();
    }
  return unknown();
}

bool DimExpr::operator==(const DimExpr &other) const {
  return known && other.known && offset == other.offset &&
         symbols == other.symbols;
}

bool DimExpr::mayEqual(const DimExpr &a, const DimExpr &b) {
  const DimExpr difference = a - b;
  return !difference.isConstant() || difference.offset == 0;
}

std::optional<int64_t>
DimExpr::evaluate(const std::map<std::string, int64_t> &values) const {
  if (!known)
    return std::nullopt;
  int64_t sum = offset;
  for (const auto &[name, factor] : symbols) {
    auto found = values.find(name);
    int64_t product = 0;
    if (found == values.end() ||
        __builtin_mul_overflow(found->second, factor, &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Parsing and printing
//===----------------------------------------------------------------------===//

/// The absolute value as text; that of INT64_MIN overflows int64_t.
static std::string magnitude(int64_t value) {
  return std::to_string(value < 0 ? 0 - static_cast<uint64_t>(value)
                                  : static_cast<uint64_t>(value));
}

std::string DimExpr::str() const {
  if (!known)
    return "?";
  if (symbols.empty())
    return std::to_string(offset);
  std::string text;
  for (const auto &[name, factor] : symbols) {
    if (text.empty())
      text += factor < 0 ? "-" : "";
    else
      text += factor < 0 ? " - " : " + ";
    if (factor != 1 && factor != -1)
      text += magnitude(factor) + " * ";
    text += name;
  }
  if (offset != 0)
    text += (offset < 0 ? " - " : " + ") + magnitude(offset);
  return text;
}

namespace {
/// Parses a linear combination of symbols with integer coefficients.
class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  std::optional<DimExpr> sum() {
    bool isNegative = take('-');
    DimExpr result = 0;
    do {
      std::optional<DimExpr> next = term();
      if (!next)
        return std::nullopt;
      result = isNegative ? result - *next : result + *next;
      isNegative = take('-');
    } while (isNegative || take('+'));
    skipSpaces();
    return at == text.size() && result.isKnown()
               ? std::optional<DimExpr>(result)
               : std::nullopt;
  }

private:
  void skipSpaces() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool take(char c) {
    skipSpaces();
    const bool found = at < text.size() && text[at] == c;
    at += found;
    return found;
  }
  bool isNext(int (*kind)(int)) const {
    return at < text.size() && kind(static_cast<unsigned char>(text[at]));
  }
  std::optional<DimExpr> factor() {
    skipSpaces();
    if (isNext(std::isdigit)) {
      int64_t value = 0;
      for (; isNext(std::isdigit); ++at)
        if (__builtin_mul_overflow(value, int64_t(10), &value) ||
            __builtin_add_overflow(value, int64_t(text[at] - '0'), &value))
          return std::nullopt;
      return DimExpr(value);
    }
    const size_t begin = at;
    if (isNext(std::isalpha) || (at < text.size() && text[at] == '_'))
      while (isNext(std::isalnum) ||
             (at < text.size() && (text[at] == '_' || text[at] == '.')))
        ++at;
    if (at == begin)
      return std::nullopt;
    return DimExpr::symbol(text.substr(begin, at - begin));
  }
  std::optional<DimExpr> term() {
    std::optional<DimExpr> result = factor();
    while (result && take('*')) {
      std::optional<DimExpr> next = factor();
      if (!next)
        return std::nullopt;
      result = *result * *next;
    }
    return result;
  }

  const std::string &text;
  size_t at = 0;
};
} // namespace

std::optional<DimExpr> DimExpr::parse(const std::string &text) {
  if (text == "?")
    return unknown();
  return Reader(text).sum();
}

std::string str(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + shape[i].str();
  return text + "]";
}

} // namespace llmir::shapes
