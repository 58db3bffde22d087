// RUN: llmir-chat-template-tests --gtest_filter='HostileTemplates*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemplateChecks.h"

#include <chrono>

using namespace llmir;

static std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// The template ends soon, and with the code.
static void expectFailure(const std::string &source, StatusCode code) {
  auto begin = std::chrono::steady_clock::now();
  Expected<std::string> text = renderText(source);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  std::string shown = source.substr(0, 100);
  if (text)
    ADD_FAILURE() << shown << " gives " << text->size() << " bytes";
  else
    EXPECT_EQ(text.status().code(), code)
        << shown << ": " << text.status().message();
  // Seconds on a slow machine with sanitizers; what it guards against is hours.
  EXPECT_LT(seconds.count(), 30) << shown;
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
