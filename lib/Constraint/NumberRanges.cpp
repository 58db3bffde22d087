//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberRanges.h"

#include <algorithm>

namespace llmir::constraint {

using Node = Grammar::Node;

static Node digits(Grammar &grammar, char first, char last) {
  return grammar.range(static_cast<uint32_t>(first),
                       static_cast<uint32_t>(last));
}

static Node anyDigits(Grammar &grammar, size_t count) {
  const auto times = static_cast<uint32_t>(count);
  return grammar.repeat(digits(grammar, '0', '9'), times, times);
}

/// As many digits as the text, from its number on or up to it.
static Node fromDigits(Grammar &grammar, std::string_view text, bool goesUp) {
  if (text.empty())
    return grammar.empty();
  const char digit = text[0];
  std::vector<Node> alternatives = {
      grammar.sequence({digits(grammar, digit, digit),
                        fromDigits(grammar, text.substr(1), goesUp)})};
  if (goesUp ? digit < '9' : digit > '0')
    alternatives.push_back(
        grammar.sequence({goesUp ? digits(grammar, digit + 1, '9')
                                 : digits(grammar, '0', digit - 1),
                          anyDigits(grammar, text.size() - 1)}));
  return grammar.choice(alternatives);
}

/// The numbers between two with the same number of digits.
static Node sameLength(Grammar &grammar, std::string_view least,
                       std::string_view most) {
  size_t common = 0;
  while (common < least.size() && least[common] == most[common])
    ++common;
  const Node begin = grammar.text(least.substr(0, common));
  if (common == least.size())
    return begin;
  const char low = least[common], high = most[common];
  const std::string_view lowRest = least.substr(common + 1),
                         highRest = most.substr(common + 1);
  std::vector<Node> alternatives = {
      grammar.sequence({digits(grammar, low, low),
                        fromDigits(grammar, lowRest, /*goesUp=*/true)}),
      grammar.sequence({digits(grammar, high, high),
                        fromDigits(grammar, highRest, /*goesUp=*/false)})};
  if (high - low > 1)
    alternatives.push_back(
        grammar.sequence({digits(grammar, static_cast<char>(low + 1),
                                 static_cast<char>(high - 1)),
                          anyDigits(grammar, lowRest.size())}));
  return grammar.sequence({begin, grammar.choice(alternatives)});
}

/// 0 <= least; nothing if most is less.
static Node naturalsBetween(Grammar &grammar, int64_t least, int64_t most) {
  std::vector<Node> alternatives;
  while (least <= most) {
    const std::string from = std::to_string(least);
    const int64_t nines = std::stoll(std::string(from.size(), '9'));
    const int64_t last = std::min(most, nines);
    alternatives.push_back(sameLength(grammar, from, std::to_string(last)));
    least = last + 1;
  }
  return grammar.choice(alternatives);
}

namespace {
/// Limits of a magnitude; with `most`, of one that may have a fraction.
struct Magnitudes {
  int64_t least = 0, most = greatestInteger;
  bool excludesLeast = false, excludesMost = false;
};
} // namespace

/// The magnitudes of the positive numbers (and 0) or the negative ones.
static Magnitudes magnitudesOf(const NumberLimits &limits, bool negative) {
  Magnitudes result;
  const auto &low = negative ? limits.most : limits.least;
  const auto &high = negative ? limits.least : limits.most;
  const bool lowExcluded =
      negative ? limits.excludesMost : limits.excludesLeast;
  const bool highExcluded =
      negative ? limits.excludesLeast : limits.excludesMost;
  const int64_t sign = negative ? -1 : 1;
  if (low && sign * *low >= 0) {
    result.least = sign * *low;
    result.excludesLeast = lowExcluded;
  }
  if (high) {
    result.most = sign * *high;
    result.excludesMost = highExcluded;
  }
  return result;
}

Node integersBetween(Grammar &grammar, const NumberLimits &limits) {
  auto naturals = [&](bool negative) {
    const Magnitudes range = magnitudesOf(limits, negative);
    const int64_t least = range.least + (range.excludesLeast ? 1 : 0);
    return naturalsBetween(grammar,
                           negative ? std::max<int64_t>(least, 1) : least,
                           range.most - (range.excludesMost ? 1 : 0));
  };
  return grammar.choice(
      {naturals(false), grammar.sequence({grammar.text("-"), naturals(true)})});
}

/// A decimal fraction of a magnitude within the limits.
static Node magnitudes(Grammar &grammar, const Magnitudes &range) {
  const Node digit = digits(grammar, '0', '9'), zero = grammar.text("0");
  const Node point = grammar.text(".");
  const Node fraction = grammar.sequence({point, grammar.repeat(digit, 1, 18)});
  // Neither the least nor the greatest whole number.
  std::vector<Node> alternatives = {grammar.sequence(
      {naturalsBetween(grammar, range.least + (range.excludesLeast ? 1 : 0),
                       range.most - 1),
       grammar.optional(fraction)})};
  if (range.excludesLeast && range.least < range.most) {
    const Node notZero =
        grammar.sequence({grammar.repeat(zero, 0, 8), digits(grammar, '1', '9'),
                          grammar.repeat(digit, 0, 9)});
    alternatives.push_back(grammar.sequence(
        {grammar.text(std::to_string(range.least)), point, notZero}));
  }
  const bool isOne = range.least == range.most && range.excludesLeast;
  if (!range.excludesMost && range.least <= range.most && !isOne)
    alternatives.push_back(
        grammar.sequence({grammar.text(std::to_string(range.most)),
                          grammar.optional(grammar.sequence(
                              {point, grammar.repeat(zero, 1, 18)}))}));
  return grammar.choice(alternatives);
}

Node numbersBetween(Grammar &grammar, const NumberLimits &limits) {
  return grammar.choice(
      {magnitudes(grammar, magnitudesOf(limits, false)),
       grammar.sequence({grammar.text("-"),
                         magnitudes(grammar, magnitudesOf(limits, true))})});
}

} // namespace llmir::constraint
