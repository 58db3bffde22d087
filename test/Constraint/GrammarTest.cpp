// RUN: llmir-constraint-tests --gtest_filter='Regex.*:GBNF.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regular expressions, GBNF, and what both are refused for.
//
//===----------------------------------------------------------------------===//

#include "ConstraintChecks.h"

using namespace llmir;
using namespace llmir::test;

namespace {

TEST(Regex, MatchesWholeTexts) {
  expectMatches(regex("abc"), {"abc"}, {"", "ab", "abcd", "xabc"});
  expectMatches(regex("^abc$"), {"abc"}, {"abcd"});
  expectMatches(regex("a|bc|"), {"a", "bc", ""}, {"b", "abc"});
  expectMatches(regex("(ab)+c?"), {"ab", "abab", "ababc"}, {"", "c", "abcc"});
  expectMatches(regex("[a-c]{2,3}"), {"ab", "abc"}, {"a", "abca", "ad"});
  expectMatches(regex("a{2}b{1,}c{,2}"), {"aabc{,2}", "aabbc{,2}"}, {"aab"});
  expectMatches(regex("a{0}b"), {"b"}, {"ab"});
  expectMatches(regex("(?:x|(?<n>y)|(?P<m>z))*?"), {"", "xyzzy"}, {"n"});
  expectMatches(regex("\\d\\w\\s[^\\d\\s]"), {"1_ a", "0z\tB"},
                {"1_ 1", "a_ a", "1- a"});
  expectMatches(regex("a.c"),
                {"abc",
                 "a\xc3\xa9"
                 "c",
                 "a\xf0\x9f\x98\x80"
                 "c"},
                {"a\nc", "ac",
                 "a\xc3"
                 "c"});
  expectMatches(regex("[\\u00e0-\\u00ff]\\x41\\u{1F600}\\."),
                {"\xc3\xa9"
                 "A\xf0\x9f\x98\x80."},
                {"eA\xf0\x9f\x98\x80."});
  expectMatches(regex("[-a\\]^]+"), {"-", "a]^"}, {"b"});
  // The spaces and line ends of ECMA-262, of which no-break space is one.
  expectMatches(regex("\\s[^\\s]\\S."),
                {" abc", "\xc2\xa0"
                         "abc"},
                {" a\xe3\x80\x80"
                 "c",
                 " \xc2\xa0"
                 "bc",
                 " ab\xe2\x80\xa8"});
}

TEST(Regex, EveryCharacterIsOneRange) {
  // All of them, and no surrogate or overlong form.
  expectMatches(regex("[^x]"),
                {std::string(1, '\0'), "\x7f", "\xc2\x80", "\xdf\xbf",
                 "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                 "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"},
                {"x", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
                 "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
                 "\xff"});
}

TEST(Regex, RefusesByName) {
  const auto unsupported = [](const char *pattern, const char *words) {
    expectRefused(regex(pattern), StatusCode::Unsupported, words);
  };
  unsupported("a(?=b)", "byte 3: lookahead and lookbehind are not supported");
  unsupported("(?<!a)b", "lookahead and lookbehind");
  unsupported("(a)\\1", "references to groups");
  unsupported("\\bword", "word boundaries");
  unsupported("\\p{L}", "properties of Unicode");
  unsupported("(?i)a", "flags");
  unsupported("(?>a)", "atomic groups");
  unsupported("a++", "possessive");
  unsupported("a**", "a repetition of a repetition");
  unsupported("a^b", "anchors within");
  unsupported("[[:alpha:]]", "classes with names");
  const auto wrong = [](const char *pattern, const char *words) {
    expectRefused(regex(pattern), StatusCode::InvalidArgument, words);
  };
  wrong("(a", "the group has no end");
  wrong("a)", "there is no group to end");
  wrong("[a", "the set has no end");
  wrong("[b-a]", "the range of the set");
  wrong("*a", "there is nothing to repeat");
  wrong("a{3,2}", "wrong order");
  wrong("a\\", "the backslash has nothing after it");
  wrong("\\ud800", "this is no character");
  wrong("\xff", "not UTF-8");
  wrong("[]", "no text of finite length");
}

TEST(Regex, IsLimited) {
  expectRefused(regex(std::string(20000, 'a')), StatusCode::OutOfRange,
                "20000 bytes; give at most 16384");
  expectRefused(regex(std::string(200, '(') + std::string(200, ')')),
                StatusCode::OutOfRange, "64 groups are within each other");
  expectRefused(regex("a{100000}"), StatusCode::OutOfRange,
                "more than 32768 states");
  expectRefused(regex("a{99999999999999}"), StatusCode::OutOfRange, "states");
  // Repetitions within each other add up.
  auto nested = compile(regex("(((a{1,50}b){1,50}c){1,50}d){1,50}"));
  ASSERT_TRUE(nested) << nested.status().message();
  EXPECT_TRUE(matches(*nested, "aabcd"));
  EXPECT_FALSE(matches(*nested, "aabc"));
}

TEST(Regex, CatastrophicOnesAreQuickOrRefused) {
  for (const char *pattern : {"(a*)*b", "(a+)+b", "(a|a)*b", "(a|aa)+b",
                              "(.*)*x", "((a?){50}a{50})*b"}) {
    auto constraint = compile(regex(pattern));
    ASSERT_TRUE(constraint) << pattern;
    ConstraintMatcher matcher(*constraint);
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(matcher.accept('a')) << pattern;
    ASSERT_TRUE(matcher.allowed()) << pattern;
  }
  auto ambiguous = compile(regex("((a{0,100}){0,100}){0,100}"));
  Status status = ambiguous.status();
  if (ambiguous) {
    ConstraintMatcher matcher(*ambiguous);
    for (int i = 0; i < 100 && status; ++i)
      status = matcher.accept('a');
  }
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_NE(status.message().find("too many ways"), std::string::npos);
}

TEST(GBNF, MatchesItsRoot) {
  expectMatches(gbnf("root ::= \"yes\" | \"no\""), {"yes", "no"},
                {"", "y", "yesno"});
  const std::string arithmetic = R"x(
# Sums and products.
root  ::= sum
sum   ::= term (("+" | "-") term)*   # From the left.
term  ::= ([0-9]+ | "(" ws sum
          ws ")")
ws    ::= [ \t]{0,2}
)x";
  expectMatches(gbnf(arithmetic), {"1", "12+3", "(1+( 2-3))", "((1))"},
                {"", "1+", "(1", "1)", "(   1)"});
  expectMatches(gbnf("root ::= a\na ::= \"x\" a | \"\\u00e9\" | [^\\n\\x41-C]"),
                {"x\xc3\xa9", "xxz", "x"}, {"xB", "x\n"});
  expectMatches(gbnf("root ::= .{2} \"\\\"\"?\n"), {"ab", "\xc3\xa9z\""},
                {"a"});
}

TEST(GBNF, RefusesByLine) {
  const auto wrong = [](const std::string &text, const char *words) {
    expectRefused(gbnf(text), StatusCode::InvalidArgument, words);
  };
  wrong("", "there is no rule 'root'");
  wrong("a ::= \"x\"", "there is no rule 'root'");
  wrong("root ::= b", "the rule 'b' is not defined");
  wrong("root ::= \"a", "line 1: there is no \"");
  wrong("root ::= [a", "there is no ]");
  wrong("root ::= (\"a\"", "there is no )");
  wrong("root ::= \"a\"\nroot ::= \"b\"", "line 2: the rule 'root' is defined");
  wrong("root ::= \"\\q\"", "there is no such escape");
  wrong("root ::= \"a\"{", "expected numbers");
  wrong("root ::= %ignore", "unexpected %");
  wrong("start: \"a\"", "expected a rule");
  wrong("root ::= root \"a\" | \"b\"", "the rule 'root' refers to itself");
  wrong("root ::= a\na ::= b? a \"x\" | \"y\"\nb ::= \"z\"?",
        "the rule 'a' refers to itself");
  wrong("root ::= \"a\" root", "no text of finite length");
  expectRefused(gbnf("root ::= " + std::string(100, '(') + "\"a\"" +
                     std::string(100, ')')),
                StatusCode::OutOfRange, "64 parentheses");
  expectRefused(gbnf("root ::= \"" + std::string(300000, 'a') + "\""),
                StatusCode::OutOfRange, "give at most 262144");
}

TEST(GBNF, RulesThatMatchNothingAreLeftOut) {
  expectMatches(gbnf("root ::= \"a\" b | \"c\"\nb ::= \"x\" b"), {"c"},
                {"a", "ax"});
  auto constraint = compile(gbnf("root ::= \"a\" b | \"c\"\nb ::= \"x\" b"));
  ConstraintMatcher matcher(*constraint);
  const auto mask = matcher.allowed();
  EXPECT_FALSE(isAllowed(*mask, 'a')); // Nothing would lead to an end.
  EXPECT_TRUE(isAllowed(*mask, 'c'));
}

} // namespace
