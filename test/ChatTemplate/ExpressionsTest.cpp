// RUN: llmir-chat-template-tests --gtest_filter='Expressions*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemplateChecks.h"

using namespace llmir;

TEST(Expressions, FollowPythonsArithmetic) {
  constexpr Case cases[] = {
      {"{{ 7 // -2 }} {{ 7 % -2 }} {{ -7 // 2 }} {{ -7 % 2 }}", "-4 -1 -4 1"},
      {"{{ 7 / 2 }} {{ 6 / 2 }} {{ 7.5 // 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }}",
       "3.5 3.0 3.0 1024 0.5"},
      {"{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}", "64 4"},
      {"{{ 9223372036854775807 + 1 }} {{ 10 ** 30 }}",
       "9223372036854775808 1000000000000000000000000000000"},
      {"{{ (10 ** 30) // 7 % 1000 }} {{ -(10 ** 20) }}",
       "857 -100000000000000000000"},
      {"{{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e15 }} {{ 1e-5 }} {{ 2.0 * 3 }}",
       "0.30000000000000004 1e+16 1000000000000000.0 1e-05 6.0"},
      {"{{ true + true }} {{ 'ab' * 3 }} {{ [1] * 2 + [2] }}",
       "2 ababab [1, 1, 2]"},
      {"{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 1 == 1.0 == true }}",
       "True False True"},
      {"{{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1_000 }} {{ 1_0.5e1 }}",
       "31 5 15 1000 105.0"},
      {"{{ 1 / 0 }}", "error: t:1:6: division by zero"},
      {"{{ [1] * 2 ** 70 }}",
       "error: t:1:8: cannot fit 'int' into an index-sized integer"},
  };
  expectAll(cases);
}

TEST(Expressions, ShowValuesAsPythonDoes) {
  constexpr Case cases[] = {
      {"{{ none }} {{ true }} {{ [none, true, 1.5, 'a'] }}",
       "None True [None, True, 1.5, 'a']"},
      {"{{ (1,) }} {{ () }} {{ (1, 2) }} {{ {'a': [1], 'b': {}} }}",
       "(1,) () (1, 2) {'a': [1], 'b': {}}"},
      {"{{ [\"it's\", 'say \"x\"', 'a\\nb', 'é\\x00'] }}",
       "[\"it's\", 'say \"x\"', 'a\\nb', 'é\\x00']"},
      {"{{ [missing, ''] }}|{{ missing }}|", "[Undefined, '']||"},
      {"{{ range(3) }} {{ {'a': 1}.items() }} {{ namespace(a=1) }}",
       "range(0, 3) dict_items([('a', 1)]) <Namespace {'a': 1}>"},
  };
  expectAll(cases);
}

TEST(Expressions, CountCharactersNotBytes) {
  constexpr Case cases[] = {
      {"{{ s|length }} {{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[::-1] }}",
       "4 é 🦙 本x 🦙x本é"},
      {"{{ s.find('x') }} {{ s.rjust(6, '日') }} {{ s.upper() }}",
       "2 日日é本x🦙 É本X🦙"},
      {"{{ 'straße'.upper() }} {{ 'ΑΣ'.lower() }} {{ 'ǆ'.title() }}",
       "STRASSE ας ǅ"},
  };
  expectAll(cases, R"({"s": "é本x🦙"})");
}

TEST(Expressions, FindAttributesAndItems) {
  const std::string variables =
      R"({"d": {"a": 1, "items": 2, "x y": 3, "_p": 4}, "l": [1, 2, 3]})";
  constexpr Case cases[] = {
      {"{{ d.a }} {{ d['x y'] }} {{ d['items'] }} {{ d._p }}", "1 3 2 4"},
      {"{{ d.items()|list }}", "[('a', 1), ('items', 2), ('x y', 3), ('_p', "
                               "4)]"},
      {"{{ l[0] }} {{ l[-1] }} {{ l.2 }} {{ l[9] }}|", "1 3 3 |"},
      {"{{ l[1:] }} {{ l[::-1] }} {{ l[:-1] }} {{ l[-9:9] }}",
       "[2, 3] [3, 2, 1] [1, 2] [1, 2, 3]"},
      {"{{ d.zz }}|{{ d.zz is defined }}", "|False"},
      {"{{ d.zz.y }}", "error: t:1:9: 'dict object' has no attribute 'zz'"},
      {"{{ zz.y }}", "error: t:1:7: 'zz' is undefined"},
      {"{{ none.x }}|", "|"},
      {"{{ d.update({}) }}",
       "error: t:1:12: access to attribute 'update' of 'dict' object is "
       "unsafe."},
      {"{{ l.append(1) }}",
       "error: t:1:12: access to attribute 'append' of 'list' object is "
       "unsafe."},
  };
  expectAll(cases, variables);
}

TEST(Expressions, WriteJsonAsTransformersDoes) {
  const std::string variables =
      R"({"x": {"b": "é\"\n<", "a": [1, 2.0, null, true], "e": {}, "f": []}})";
  constexpr Case cases[] = {
      {"{{ x|tojson }}",
       "{\"b\": \"é\\\"\\n<\", \"a\": [1, 2.0, null, true], \"e\": {}, \"f\": "
       "[]}"},
      {"{{ x.a|tojson(indent=2) }}", "[\n  1,\n  2.0,\n  null,\n  true\n]"},
      {"{{ x|tojson(ensure_ascii=true, separators=(',', ':'), "
       "sort_keys=true) }}",
       "{\"a\":[1,2.0,null,true],\"b\":\"\\u00e9\\\"\\n<\",\"e\":{},\"f\":[]}"},
      {"{{ missing|tojson }}",
       "error: t:1:12: Object of type Undefined is not JSON serializable"},
  };
  expectAll(cases, variables);
}

TEST(Expressions, ApplyFilters) {
  constexpr Case cases[] = {
      {"{{ 'hello big world'|title }} {{ 'it-is (so)'|title }}",
       "Hello Big World It-Is (So)"},
      {"{{ 'a\nb'|indent(2) }}|{{ 'a\n\nb'|indent(2, true, true) }}",
       "a\n  b|  a\n  \n  b"},
      {"{{ [3, 1, 2]|sort|join('-') }} {{ ['b', 'A']|sort|join }}", "1-2-3 Ab"},
      {"{{ [1, 2, 3]|map('string')|join('+') }} {{ [0, 1]|select|list }}",
       "1+2+3 [1]"},
      {"{{ ms|selectattr('r', 'equalto', 'u')|map(attribute='c')|list }}",
       "['x']"},
      {"{{ ms|groupby('r')|map('first')|list }} {{ ms|sum('n') }}",
       "['a', 'u'] 3"},
      {"{{ '42.7'|int }} {{ 'x'|int(5) }} {{ 'ff'|int(base=16) }}", "42 5 255"},
      {"{{ 2.5|round }} {{ 2.675|round(2) }} {{ 1234|round(-2) }} "
       "{{ 2.1|round(0, 'ceil') }}",
       "2.0 2.67 1200 3.0"},
      {"{{ 'abc'|first }}{{ 'abc'|last }} {{ ''|first }}|", "ac |"},
      {"{{ missing|default('d') }} {{ ''|default('d', true) }}", "d d"},
      {"{{ '%s-%03d'|format('a', 7) }} {{ '%(x)s' % {'x': 1} }}", "a-007 1"},
      {"{{ '{0}{1!r:>5}{n:.2f}'.format(1, 'a', n=2.0) }}", "1  'a'2.00"},
      {"{{ '<a>'|e }} {{ ('<'|e) + '<' }} {{ '<'|safe ~ '<' }}",
       "&lt;a&gt; &lt;&lt; <<"},
      {"{{ {'b': 1, 'a': 2}|dictsort }} {{ {'a': 1}|items|list }}",
       "[('a', 2), ('b', 1)] [('a', 1)]"},
      {"{{ [1, 2, 3, 4, 5]|batch(2)|list }} {{ [1, 2, 3]|slice(2)|list }}",
       "[[1, 2], [3, 4], [5]] [[1, 2], [3]]"},
      {"{{ x|nope }}", "error: t:1:6: there is no filter 'nope'"},
      {"{% if false %}{{ x|nope }}{% endif %}ok", "ok"},
  };
  expectAll(cases, R"({"ms": [{"r": "u", "c": "x", "n": 1},
                              {"r": "a", "c": "y", "n": 2}]})");
}

TEST(Expressions, ReportTheKindOfFailure) {
  EXPECT_EQ(renderText("{{ 1 + }}").status().code(), StatusCode::InvalidFile);
  EXPECT_EQ(renderText("{{ x.y }}").status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(renderText("{{ 'a' * 10 ** 10 }}").status().code(),
            StatusCode::OutOfRange);
  EXPECT_EQ(renderText("{% include 'x' %}").status().code(),
            StatusCode::Unsupported);
  EXPECT_EQ(shown("{{ 1 }}\n\n  {{ raise_exception('no ' ~ 1) }}"),
            "error: t:3:21: no 1");
}

TEST(Expressions, KeepIntegersOfJson) {
  EXPECT_EQ(
      shown("{{ x }}", R"({"x": [18446744073709551615, -0.0, 1E2, "\u0000"]})"),
      "[18446744073709551615, -0.0, 100.0, '\\x00']");
}
