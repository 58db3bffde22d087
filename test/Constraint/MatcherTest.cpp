// RUN: llmir-constraint-tests --gtest_filter='Matcher.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tokens are allowed, where an answer may end, and that what is kept does
// not change either.
//
//===----------------------------------------------------------------------===//

#include "ConstraintChecks.h"

#include <random>
#include <thread>

using namespace llmir;
using namespace llmir::test;

namespace {

/// Tokens that cross the parts of JSON, and characters in pieces.
const std::vector<std::string> pieces = {
    "{\"",  "\":",      "\": ",     "\",\"",    "\"}",  "true",  "tr",   "ue",
    "null", "false",    "},",       "[[",       "]]",   "12",    "-1",   ".5",
    "e+",   "name",     "\\n",      "\\u00",    "\\\"", " ",     "\n  ", "\xc3",
    "\xa9", "\xf0\x9f", "\x98\x80", "\xc3\xa9", "",     "abc\"", "\"\"", "0"};

/// Each token alone, byte by byte, through copies.
void expectSameAsBruteForce(const ConstraintMatcher &matcher, size_t size) {
  ConstraintMatcher copy = matcher;
  const auto mask = copy.allowed();
  ASSERT_TRUE(mask) << mask.status().message();
  for (size_t token = 0; token < size; ++token) {
    ConstraintMatcher other = matcher;
    EXPECT_EQ(isAllowed(*mask, token),
              bool(other.accept(static_cast<int32_t>(token))))
        << token;
  }
}

TEST(Matcher, MasksAreThoseOfBruteForce) {
  const std::string any = "{}";
  const std::string object =
      R"({"type":"object","properties":{"name":{"type":"string","maxLength":5},
          "n":{"type":"integer"},"list":{"type":"array","items":{"$ref":"#"}}},
          "required":["name"],"additionalProperties":{"type":"boolean"}})";
  std::mt19937 random(7);
  for (const Source &source :
       {schema(any), schema(object), schema(object, false),
        regex("(tr|true|ab+c)*\xc3\xa9[^\"]{0,3}"),
        gbnf("root ::= \"[\" (root (\",\" root)*)? \"]\" | [0-9]+")})
    for (int walk = 0; walk < 4; ++walk) {
      auto constraint = compile(source, pieces);
      ASSERT_TRUE(constraint) << constraint.status().message();
      const size_t size = (*constraint)->vocabulary().size();
      ConstraintMatcher matcher(*constraint);
      for (int step = 0; step < 12; ++step) {
        expectSameAsBruteForce(matcher, size);
        const auto mask = matcher.allowed();
        std::vector<int32_t> allowed;
        for (size_t token = 0; token < size; ++token)
          if (isAllowed(*mask, token))
            allowed.push_back(static_cast<int32_t>(token));
        if (allowed.empty()) {
          EXPECT_TRUE(matcher.mustEnd());
          break;
        }
        ASSERT_TRUE(matcher.accept(allowed[random() % allowed.size()]));
      }
    }
}

TEST(Matcher, EndsWhereTheGrammarMayEnd) {
  auto constraint = compile(regex("ab?c*"), {"ab"});
  ConstraintMatcher matcher(*constraint);
  EXPECT_FALSE(matcher.mayEnd());
  ASSERT_TRUE(matcher.accept(256));
  EXPECT_TRUE(matcher.mayEnd());
  EXPECT_FALSE(matcher.mustEnd());
  const Status refused = matcher.accept('b');
  EXPECT_EQ(refused.code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(matcher.mayEnd()); // As before.
  EXPECT_FALSE(matcher.accept(-1));
  EXPECT_FALSE(matcher.accept(100000));
  auto fixed = compile(regex("ab"));
  ConstraintMatcher other(*fixed);
  ASSERT_TRUE(other.accept('a'));
  EXPECT_FALSE(other.mayEnd());
  ASSERT_TRUE(other.accept('b'));
  EXPECT_TRUE(other.mustEnd());
}

TEST(Matcher, TokensThatAreNoText) {
  Grammar grammar; // <5> text </5>, where 5 and 6 are tokens.
  grammar.define(
      grammar.root(),
      grammar.sequence(
          {grammar.token({256, 257}),
           grammar.repeat(grammar.range('a', 'z'), 0, Grammar::noLimit),
           grammar.choice({grammar.token({258}), grammar.text("!")})}));
  auto constraint = Constraint::create(grammar, makeVocabulary({"", "", "x!"}));
  ASSERT_TRUE(constraint) << constraint.status().message();
  ConstraintMatcher matcher(*constraint);
  auto mask = matcher.allowed();
  EXPECT_TRUE(isAllowed(*mask, 256) && isAllowed(*mask, 257));
  EXPECT_FALSE(isAllowed(*mask, 258) || isAllowed(*mask, 'a'));
  ASSERT_TRUE(matcher.accept(257));
  ASSERT_TRUE(matcher.accept('b'));
  mask = matcher.allowed();
  EXPECT_TRUE(isAllowed(*mask, 258) && isAllowed(*mask, '!'));
  EXPECT_FALSE(isAllowed(*mask, 256));
  // As the token and as its text.
  ASSERT_TRUE(matcher.accept(258));
  EXPECT_TRUE(matcher.mustEnd());
}

TEST(Matcher, UntilEndsAtTheFirstOccurrence) {
  Grammar grammar;
  grammar.define(grammar.root(), grammar.sequence({grammar.until("</a></a"),
                                                   grammar.text("b")}));
  auto constraint = Constraint::create(grammar, makeVocabulary());
  ASSERT_TRUE(constraint);
  EXPECT_TRUE(matches(*constraint, "x</a</a></ab"));
  EXPECT_TRUE(matches(*constraint, "</a><</a></ab"));
  EXPECT_FALSE(matches(*constraint, "</a></a></ab"));
  EXPECT_TRUE(matches(*constraint, "\xff</a></ab"));
  EXPECT_FALSE(matches(*constraint, "</a></a"));
  EXPECT_FALSE(matches(*constraint, "</a></ax</a></ab"));
}

TEST(Matcher, DeepTextsNeedNoDeepStack) {
  auto constraint = compile(schema("{}"));
  ConstraintMatcher matcher(*constraint);
  const int depth = 100000; // What is kept is thrown away in between.
  for (int i = 0; i < depth; ++i) {
    ASSERT_TRUE(matcher.accept('['));
    if (i % 1000 == 0)
      ASSERT_TRUE(matcher.allowed());
  }
  for (int i = 0; i < depth; ++i) {
    ASSERT_FALSE(matcher.mayEnd());
    ASSERT_TRUE(matcher.accept(']'));
    if (i % 1000 == 0)
      ASSERT_TRUE(matcher.allowed());
  }
  EXPECT_TRUE(matcher.mustEnd());
  // Calls at the end of a rule are not kept.
  auto list = compile(gbnf("root ::= \"a\" root | \"b\""));
  ConstraintMatcher tail(*list);
  for (int i = 0; i < depth; ++i)
    ASSERT_TRUE(tail.accept('a'));
  ASSERT_TRUE(tail.accept('b'));
  EXPECT_TRUE(tail.mustEnd());
}

TEST(Matcher, MasksAreSharedAndForgotten) {
  // More masks than are kept, in threads, each as if it were alone.
  std::vector<std::string> more;
  for (int i = 0; i < 30000; ++i)
    more.push_back("t" + std::to_string(i));
  auto shared = compile(schema(R"({"type":"string","maxLength":900})"), more);
  ASSERT_TRUE(shared) << shared.status().message();
  const auto run = [&](const std::shared_ptr<const Constraint> &constraint) {
    ConstraintMatcher matcher(constraint);
    size_t sum = 0;
    (void)matcher.accept('"');
    for (int step = 0; step < 890; ++step) {
      const auto mask = matcher.allowed();
      for (size_t i = 0; mask && i < mask->size(); ++i)
        sum = sum * 31 + (*mask)[i];
      if (!mask || !matcher.accept('x'))
        return size_t(0);
    }
    return sum;
  };
  const size_t alone =
      run(*compile(schema(R"({"type":"string","maxLength":900})"), more));
  std::vector<size_t> sums(3);
  std::vector<std::thread> threads;
  for (size_t &sum : sums)
    threads.emplace_back([&] { sum = run(*shared); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_NE(alone, 0u);
  for (size_t sum : sums)
    EXPECT_EQ(sum, alone);
}

TEST(Matcher, LimitsDoNotDependOnWhatIsKept) {
  // What is too ambiguous for one is so for all that follow.
  auto constraint = compile(regex("((a{0,60}){0,60}){0,60}b"));
  ASSERT_TRUE(constraint) << constraint.status().message();
  std::vector<int> failures;
  for (int run = 0; run < 3; ++run) {
    ConstraintMatcher matcher(*constraint);
    int step = 0;
    while (step < 60 && matcher.allowed() && matcher.accept('a'))
      ++step;
    failures.push_back(step);
  }
  EXPECT_EQ(failures[0], failures[1]);
  EXPECT_EQ(failures[0], failures[2]);
}

TEST(Matcher, CopiesGoOnAlone) {
  auto constraint = compile(schema("{\"enum\":[\"ab\",\"ac\"]}"));
  ConstraintMatcher first(*constraint);
  ASSERT_TRUE(first.accept('"'));
  ASSERT_TRUE(first.accept('a'));
  ConstraintMatcher second = first;
  ASSERT_TRUE(first.accept('b'));
  EXPECT_FALSE(first.accept('c'));
  ASSERT_TRUE(second.accept('c'));
  ASSERT_TRUE(second.accept('"'));
  EXPECT_TRUE(second.mustEnd());
  EXPECT_FALSE(first.mayEnd());
}

} // namespace
