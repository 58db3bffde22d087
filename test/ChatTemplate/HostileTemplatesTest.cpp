// RUN: llmir-chat-template-tests --gtest_filter='HostileTemplates*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ProcessorTime.h"
#include "TemplateChecks.h"

using namespace llmir;

static std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// The template ends soon, and with the code.
static void expectFailure(const std::string &source, StatusCode code) {
  const double begin = test::cpuSeconds();
  Expected<std::string> text = renderText(source);
  const double seconds = test::cpuSeconds() - begin;
  std::string shown = source.substr(0, 100);
  if (text)
    ADD_FAILURE() << shown << " gives " << text->size() << " bytes";
  else
    EXPECT_EQ(text.status().code(), code)
        << shown << ": " << text.status().message();
  EXPECT_LT(seconds, test::timeLimit) << shown;
}

TEST(HostileTemplates, AreLimitedInNesting) {
  const std::string nested =
      "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}"
      "{% set ns.x = [ns.x] %}{% endfor %}";
  for (const std::string &source : {
           std::string("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
           std::string("{% block a %}{{ self.a() }}{% endblock %}"),
           std::string("{% for x in [1] recursive %}{{ loop([1]) }}"
                       "{% endfor %}"),
           std::string("{% macro m() %}{{ caller() }}{% endmacro %}"
                       "{% macro n() %}{% call m() %}{{ n() }}{% endcall %}"
                       "{% endmacro %}{{ n() }}"),
           nested + "{{ ns.x }}",
           nested + "{{ ns.x|tojson }}",
           nested + "{% set y = ns.x %}{% set ns.x = 1 %}"
                    "{{ y == [y] }}",
           std::string("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}"),
           std::string("{% set ns = namespace(x=[1]) %}"
                       "{% for i in range(5000) %}"
                       "{% set ns.x = ns.x|map('int') %}{% endfor %}"
                       "{{ ns.x|list }}"),
       })
    expectFailure(source, StatusCode::OutOfRange);
  for (const std::string &source : {
           "{{ " + repeat("(", 10000) + "1" + repeat(")", 10000) + " }}",
           "{{ " + repeat("[", 10000) + repeat("]", 10000) + " }}",
           repeat("{% if 1 %}", 10000) + repeat("{% endif %}", 10000),
           "{{ " + repeat("-", 100000) + "1 }}",
           "{{ " + repeat("not ", 100000) + "1 }}",
           "{{ a" + repeat(".b", 100000) + " }}",
           "{{ a" + repeat("|upper", 100000) + " }}",
           "{{ 1" + repeat(" + 1", 100000) + " }}",
       })
    expectFailure(source, StatusCode::InvalidFile);
}

TEST(HostileTemplates, AreLimitedInWork) {
  for (const char *source : {
           "{% for a in range(100000) %}{% for b in range(100000) %}"
           "{% endfor %}{% endfor %}",
           "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}"
           "{{ s.find('ab') }}{% endfor %}",
           "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}"
           "{{ s.count('a' * 500000 ~ 'b') }}{% endfor %}",
           "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}"
           "{{ s[999999] }}{% endfor %}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}"
           "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
           "{% set x = 7 ** 20000 %}{% for i in range(100000) %}"
           "{{ x // (3 ** 10000) % 7}}{% endfor %}",
           "{{ ('f' * 1000000)|int(base=16) }}",
       })
    expectFailure(source, StatusCode::OutOfRange);
}

/// What each operation costs in steps must be in proportion to its time.
TEST(HostileTemplates, AreLimitedInTimeWhateverTheyDo) {
  const std::string loops =
      "{% for i in range(100000) %}{% for j in range(1000) %}";
  const std::string ends = "{% endfor %}{% endfor %}";
  const std::pair<const char *, const char *> cases[] = {
      {"s = 'a' * 300000", "s|upper"},
      {"s = 'ǆ' * 300000", "s|upper"},
      {"s = 'é a' * 300000", "s|title"},
      {"s = 'ß' * 300000", "s.casefold()"},
      {"s = 'é' * 300000", "s.isalpha()"},
      {"s = 'é' * 300000", "s.isidentifier()"},
      {"s = 'a ' * 300000", "s.split()"},
      {"s = 'a ' * 300000", "s.split(' ')"},
      {"s = 'a\\n' * 300000", "s.splitlines()"},
      {"s = ' ' * 300000", "s.strip()"},
      {"s = 'ab' * 300000", "s.strip('cba')"},
      {"s = 'a' * 300000", "s.count('a')"},
      {"s = 'a ' * 300000", "s|wordcount"},
      {"s = 'a ' * 300000", "s|truncate(500000)"},
      {"s = '<a' * 300000", "s|striptags"},
      {"s = '<' * 300000", "s|escape"},
      {"s = {'a': '<' * 100000}", "s|xmlattr"},
      {"s = 'é' * 300000", "s|urlencode"},
      {"s = 'é\\n' * 300000", "s|tojson"},
      {"s = ['é\\n' * 300000]", "s|string"},
      {"s = 'é' * 300000", "s|list"},
      {"s = range(100000)|list", "s|sort(reverse=true)"},
      {"s = ['a' * 100000 ~ 'b', 'a' * 100000 ~ 'a'] * 1000", "s|sort"},
      {"s = range(100000)|list", "s|unique|list"},
      {"s = range(100000)|list", "s|map('string')|list"},
      {"s = range(100000)|list", "s|batch(1)|list"},
      {"s = range(100000)|list", "s|slice(100000)|list"},
      {"s = [{'a': 1}] * 100000", "s|groupby('a')"},
      {"s = dict(range(100000)|batch(2))", "s|dictsort"},
      {"s = dict(range(100000)|batch(2))", "s.items()|list"},
      // Hashes of numbers with one remainder.
      {"s = range(0, 2 ** 39, 107897 * 101)|list", "dict(s|batch(2))"},
      {"s = 7 ** 20000", "s == s + 1"},
      {"s = 7 ** 20000", "-s"},
      {"s = 7 ** 300", "s / 3"},
      {"s = 7 ** 20000", "{s: 1}"},
      {"s = 10 ** 4000", "s|round(-3)"},
      {"s = '9' * 4000", "s|float"},
      {"s = '9' * 4000", "s|int"},
      {"s = 1.23456", "s|round(300)"},
      {"s = 1e300", "'%.1000f' % s"},
      {"s = '%c' * 100", "strftime_now(s)"},
  };
  ChatTemplateLimits fifth;
  fifth.steps /= 5;
  const OrderedJson none = OrderedJson::object();
  for (const auto &[set, expression] : cases) {
    SCOPED_TRACE(std::string(set) + ": " + expression);
    Expected<ChatTemplate> chat =
        ChatTemplate::parse(std::string("{% set ") + set + " %}" + loops +
                                "{% set x = " + expression + " %}" + ends,
                            "t", fifth);
    ASSERT_TRUE(chat) << chat.status().message();
    const double begin = test::cpuSeconds();
    Expected<std::string> text = chat->render(none);
    EXPECT_LT(test::cpuSeconds() - begin, test::timeLimit / 3);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.status().code(), StatusCode::OutOfRange)
        << text.status().message();
  }
}

TEST(HostileTemplates, AreLimitedInMemory) {
  for (const char *source : {
           "{{ 'x' * 1000000000 }}",
           "{{ ([1] * 1000000000)|length }}",
           "{{ 10 ** 10000000000 }}",
           "{{ '%1000000000d' % 1 }}",
           "{{ '%.1000000000f' % 1.0 }}",
           "{{ '{:1000000000}'.format(1) }}",
           "{{ 'x'.center(10000000000) }}",
           "{{ 'x'.ljust(100000000000, 'é') }}",
           "{{ '\\t'.expandtabs(10000000000) }}",
           "{{ 'x\\ny'|indent(10000000000) }}",
           "{{ {'a': 1}|tojson(indent=10000000000) }}",
           "{{ [1]|batch(10000000000, 1)|list }}",
           "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
           "{{ ('a' * 100000).join('b' * 100000) }}",
           "{{ ('a' * 1000000).translate({97: 'b' * 1000000}) }}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}"
           "{% set ns.x = ns.x + ns.x %}{% endfor %}",
           "{% for i in range(100000) %}{{ 'x' * 10000 }}{% endfor %}",
       })
    expectFailure(source, StatusCode::OutOfRange);
  expectFailure("{{ range(1000000000) }}", StatusCode::InvalidArgument);
}

TEST(HostileTemplates, ReachNothingInternal) {
  for (const char *source : {
           "{{ ''.__class__.__mro__[1].__subclasses__() }}",
           "{{ cycler.__init__.__globals__.os }}",
           "{{ '{0.__class__.__mro__}'.format(1) }}",
           "{{ ([]|attr('__class__')).x }}",
           "{{ [].append(1) }}",
           "{{ {}.update(a=1) }}",
           "{{ {}['pop']('a') }}",
       })
    expectFailure(source, StatusCode::InvalidArgument);
  for (const char *source :
       {"{% include '/etc/passwd' %}", "{% import 'os' as os %}",
        "{% from 'os' import x %}", "{% extends 'base' %}"})
    expectFailure(source, StatusCode::Unsupported);
}

TEST(HostileTemplates, AreUtf8) {
  EXPECT_EQ(renderText("a\xff").status().code(), StatusCode::InvalidFile);
  EXPECT_EQ(renderText("{{ '\\ud800' }}").status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(renderText(repeat(" ", 5 << 20)).status().code(),
            StatusCode::OutOfRange);
}
