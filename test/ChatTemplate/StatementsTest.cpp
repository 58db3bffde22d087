// RUN: llmir-chat-template-tests --gtest_filter='Statements*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemplateChecks.h"

#include <cstdlib>
#include <thread>
#include <vector>

using namespace llmir;

TEST(Statements, TrimWhiteSpaceAroundTags) {
  constexpr Case cases[] = {
      {"a\n  {% if true %}\n  b\n  {% endif %}\nc", "a\n  b\nc"},
      {"a\n  {%+ if true %}\nb{% endif %}", "a\n  b"},
      {"a {%- if true -%} b {%- endif -%} c", "abc"},
      {"a {{- 1 -}} b", "a1b"},
      {"  {# x #}\nb\n", "b"},
      {"  {#+ x +#}\nb", "  \nb"},
      {"{% if true +%}\nb{% endif %}", "\nb"},
      {"{% raw %}\n {{ x }} {% endraw %}\ny", "\n {{ x }} y"},
      {"a\r\nb\rc\n\n", "a\nb\nc\n"},
  };
  expectAll(cases);
}

TEST(Statements, KeepAssignmentsInTheirScope) {
  constexpr Case cases[] = {
      {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}"
       "{{ x }}",
       "21"},
      {"{% if true %}{% set x = 1 %}{% endif %}{{ x }}", "1"},
      {"{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n "
       "+ i %}{% endfor %}{{ ns.n }}",
       "3"},
      // A variable that the template sets later is not the caller's.
      {"{% for i in [1] %}{{ v }}{% endfor %}{% set v = 1 %}|", "|"},
      {"{% for i in [1, 2] %}{% if i == 1 %}{% set v = 'x' %}{% endif %}{{ v "
       "}}{% endfor %}",
       "xV"},
      {"{% set x %}a{{ 1 }}{% endset %}{{ x }} {% set y | upper %}b{% endset "
       "%}{{ y }}",
       "a1 B"},
      {"{% with a = 1, b = v %}{{ a }}{{ b }}{% endwith %}{{ a }}", "1V"},
      {"{% set a, b = 1, [2] %}{{ a }}{{ b }}", "1[2]"},
      {"{% set x.y = 1 %}",
       "error: t:1:4: cannot assign attribute on non-namespace object"},
  };
  expectAll(cases, R"({"v": "V"})");
}

TEST(Statements, Loop) {
  constexpr Case cases[] = {
      {"{% for x in 'abc' %}{{ loop.index }}{{ x }}{{ ',' if not loop.last "
       "}}{% endfor %}",
       "1a,2b,3c"},
      {"{% for x in [] %}x{% else %}none{% endfor %}", "none"},
      {"{% for x in [1, 2, 3, 4] if x % 2 == 0 %}{{ loop.length }}{{ x }} {% "
       "endfor %}",
       "22 24 "},
      {"{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x "
       "}}{% if x == 3 %}{% break %}{% endif %}{% endfor %}",
       "13"},
      {"{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
       "123"},
      {"{% for x in [1, 2] %}{{ loop.previtem }}|{{ loop.nextitem }}|{% "
       "endfor %}",
       "|2|1||"},
      {"{% for x in [1, [2]] recursive %}{{ loop.depth }}{{ loop(x) if x is "
       "iterable else x }}{% endfor %}",
       "11122"},
      {"{% for x in 5 %}{% endfor %}",
       "error: t:1:13: 'int' object is not iterable"},
      {"{% break %}", "error: t:1:4: 'break' is outside of a loop"},
  };
  expectAll(cases);
}

TEST(Statements, CallMacros) {
  constexpr Case cases[] = {
      {"{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, "
       "b=3) }}{{ m(b=1, a=0) }}",
       "121301"},
      {"{% macro m(a) %}{{ a }}|{{ varargs }}|{{ kwargs }}{% endmacro %}{{ "
       "m(1, 2, x=3) }}",
       "1|(2,)|{'x': 3}"},
      {"{% macro m() %}<{{ caller('x') }}>{% endmacro %}{% call(y) m() %}{{ y "
       "}}!{% endcall %}",
       "<x!>"},
      {"{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}", "False"},
      {"{% macro m() %}{% endmacro %}{{ m(1) }}",
       "error: t:1:34: macro 'm' takes not more than 0 argument(s)"},
      {"{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ "
       "m() }}",
       "2"},
      {"{% filter upper %}a{{ 'b' }}{% endfilter %}", "AB"},
      {"{% generation %}{% set x = 1 %}a{{ x }}{% endgeneration %}{{ x }}",
       "a1"},
      {"{% block q %}[{{ x }}]{% endblock %}{{ self.q() }}", "[][]"},
  };
  expectAll(cases);
}

TEST(Statements, OfferGlobals) {
  constexpr Case cases[] = {
      {"{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() "
       "}}{{ c.current }}",
       "abab"},
      {"{% set j = joiner('|') %}{{ j() }}a{{ j() }}b", "a|b"},
      {"{{ dict([('a', 1)], b=2) }} {{ range(5, 0, -2)|list }}",
       "{'a': 1, 'b': 2} [5, 3, 1]"},
  };
  expectAll(cases);
  ::setenv("SOURCE_DATE_EPOCH", "1735787045", 1);
  EXPECT_EQ(shown("{{ strftime_now('%d %B %Y %H:%M:%S.%f%z') }}"),
            "02 January 2025 03:04:05.000000");
  ::unsetenv("SOURCE_DATE_EPOCH");
}

TEST(Statements, RefuseWhatIsNotATemplate) {
  constexpr Case cases[] = {
      {"{% if %}", "error: t:1:7: an expression is missing"},
      {"{% if x %}", "error: t:1:11: unexpected end of the template; expected "
                     "'endif'"},
      {"{% for x %}{% endfor %}",
       "error: t:1:10: expected 'in', found the end of the tag"},
      {"{% nope %}", "error: t:1:4: unknown tag 'nope'"},
      {"{{ 'a }}", "error: t:1:4: the string has no end"},
      {"{{ (1] }}", "error: t:1:6: unexpected ']', expected ')'"},
      {"{# a", "error: t:1:3: missing end of comment tag"},
      {"{{ 1 is odd is even }}", "error: t:1:13: tests with 'is' cannot be "
                                 "chained"},
      {"\n{% set 1 = 2 %}", "error: t:2:8: this cannot be assigned to"},
  };
  expectAll(cases);
}

TEST(Statements, RenderConcurrently) {
  Expected<ChatTemplate> chat = ChatTemplate::parse(
      "{% for m in ms %}{{ 'role: ' ~ m.r }}{{ m.c|upper }}{% endfor %}");
  ASSERT_TRUE(chat);
  Expected<OrderedJson> variables =
      parseOrderedJson(R"({"ms": [{"r": "u", "c": "x"}]})", "v");
  ASSERT_TRUE(variables);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        Expected<std::string> text = chat->render(*variables);
        EXPECT_TRUE(text && *text == "role: uX");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
