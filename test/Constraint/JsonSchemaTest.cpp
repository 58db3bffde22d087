// RUN: llmir-constraint-tests --gtest_filter='JsonSchema.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which texts a schema matches, and which schemas are refused.
//
//===----------------------------------------------------------------------===//

#include "ConstraintChecks.h"

#include <chrono>

using namespace llmir;
using namespace llmir::test;

namespace {

TEST(JsonSchema, Strings) {
  expectMatches(schema(R"({"type":"string"})"),
                {R"("")", R"("a\"\\\/\b\u00e9é\ud83d\ude00")"},
                {"a", "\"", R"("\x")", R"("\ud83d")", R"("\ude00\ud83d")",
                 "\"\n\"", "\"a\" "});
  expectMatches(schema(R"({"type":"string","minLength":1,"maxLength":3})"),
                {R"("a")", R"("éé😀")", R"("\ud83d\ude00ab")"},
                {R"("")", R"("abcd")"});
  expectMatches(schema(R"({"type":"string","pattern":"b[\"\\n]c"})"),
                {R"("ab\"cd")", R"("b\nc")"}, {R"("bc")", "\"b\nc\""});
  expectMatches(schema(R"({"pattern":"^a|b$"})"), {R"("ax")", R"("xb")"},
                {R"("xax")", R"("bx")"});
  expectMatches(schema(R"({"type":"string","pattern":"^\\d{2}-\\d$"})"),
                {R"("12-3")"}, {R"("12-34")", R"("a12-3")"});
}

TEST(JsonSchema, Formats) {
  const auto format = [](const std::string &name) {
    return schema("{\"type\":\"string\",\"format\":\"" + name + "\"}");
  };
  expectMatches(format("date"), {R"("2024-02-29")", R"("1999-12-31")"},
                {R"("2023-02-29")", R"("1900-02-29")", R"("2024-13-01")",
                 R"("2024-04-31")"});
  expectMatches(format("time"), {R"("23:59:59Z")", R"("00:00:00.5+01:30")"},
                {R"("24:00:00Z")", R"("00:00:00")"});
  expectMatches(format("date-time"), {R"("2024-02-29T01:02:03Z")"},
                {R"("2024-02-29 01:02:03Z")", R"("2024-02-29")"});
  expectMatches(format("duration"),
                {R"("P1Y2M3DT4H5M6S")", R"("PT5M")", R"("P3W")"},
                {R"("P")", R"("PT")", R"("P1S")"});
  expectMatches(format("uuid"), {R"("123e4567-e89b-12d3-a456-426614174000")"},
                {R"("123e4567-e89b-12d3-a456-42661417400")"});
  expectMatches(format("email"), {R"("a.b@example.com")"}, {R"("a.b")"});
  expectMatches(format("ipv4"), {R"("255.1.0.99")"},
                {R"("256.1.1.1")", R"("1.1.1")", R"("01.1.1.1")"});
  expectMatches(format("ipv6"),
                {R"("::")", R"("1:2:3:4:5:6:7:8")", R"("fe80::1")",
                 R"("1:2:3:4:5:6::7")"},
                {R"("1:2:3:4:5:6:7")", R"(":1")", R"("1::2::3")"});
  expectMatches(format("uri"), {R"("https://a.b/c?d=%20#e")"},
                {R"("a b")", R"("https://a.b/%zz")"});
}

TEST(JsonSchema, Numbers) {
  expectMatches(schema(R"({"type":"integer"})"), {"0", "-12", "123456789"},
                {"01", "1.0", "-", "", "1e3", std::string(19, '1')});
  expectMatches(schema(R"({"type":"number"})"),
                {"0", "-1.5", "1e3", "1.25E-10"}, {"1.", ".5", "1e", "+1"});
  expectMatches(schema(R"({"type":"integer","minimum":-5,"maximum":120})"),
                {"-5", "-1", "0", "7", "99", "100", "120"},
                {"-6", "121", "-05", "1000", "-10", "007"});
  expectMatches(
      schema(R"({"type":"integer","minimum":98,"exclusiveMaximum":103})"),
      {"98", "99", "100", "102"}, {"97", "103", "9"});
  expectMatches(
      schema(R"({"type":"integer","exclusiveMinimum":-1.5,"maximum":2.5})"),
      {"-1", "0", "2"}, {"-2", "3"});
  expectMatches(schema(R"({"type":"integer","minimum":-20,"maximum":-13})"),
                {"-20", "-19", "-13"}, {"-21", "-12", "0", "13"});
  expectMatches(schema(R"({"type":"number","minimum":0,"maximum":1})"),
                {"0", "0.25", "1", "1.00", "0.0"}, {"1.01", "-0.1", "2"});
  expectMatches(schema(R"({"type":"number","exclusiveMinimum":0})"),
                {"0.5", "0.001", "12.5", "1"}, {"0", "0.0", "-1"});
  expectMatches(
      schema(R"({"type":"number","minimum":-2,"exclusiveMaximum":10})"),
      {"-2", "-2.0", "-1.5", "-0.5", "0", "9.99"},
      {"-2.1", "10", "10.0", "-3"});
  expectMatches(schema(R"({"type":"integer","minimum":999999999999999998})"),
                {"999999999999999998", "999999999999999999"},
                {"999999999999999997", "1"});
  expectMatches(schema(R"({"type":"integer","format":"int32"})"),
                {"2147483647", "-2147483648"}, {"2147483648", "-2147483649"});
}

TEST(JsonSchema, Constants) {
  expectMatches(schema(R"({"enum":["a","ab",1,null,{"x":[1.5]}]})"),
                {R"("a")", R"("ab")", "1", "null", R"({"x":[1.5]})"},
                {R"("b")", "2"});
  expectMatches(schema(R"({"type":["string","null"],"enum":["a",1,null]})"),
                {R"("a")", "null"}, {"1"});
  expectMatches(schema(R"({"const":"é\n"})"), {R"("é\n")"}, {R"("é")"});
  expectMatches(schema(R"({"type":"boolean"})"), {"true", "false"}, {"null"});
}

TEST(JsonSchema, Objects) {
  const std::string text =
      R"({"type":"object","properties":{"a":{"type":"integer"},
          "b":{"type":"boolean"},"c":{"type":"null"}},"required":["b"]})";
  expectMatches(schema(text),
                {R"({"b":true})", R"({"a":1,"b":true})",
                 R"({ "a": 1, "b": true, "c": null })",
                 "{\n  \"b\": true,\n\t\"c\":null\n}"},
                {"{}", R"({"b":true,"a":1})", R"({"a":1})",
                 R"({"b":true,"d":1})", R"({"b":true,})", R"({"b":  true})"});
  expectMatches(schema(text, false), {R"({"a":1,"b":true})"},
                {R"({"a": 1,"b":true})"});
  expectMatches(schema(R"({"properties":{"a":{"const":1}}})"),
                {"{}", R"({"a":1})"}, {"1", R"({"b":1})"});
  expectMatches(
      schema(R"({"properties":{"a":{"const":1},"ab":{"const":2}},
                 "additionalProperties":{"type":"boolean"}})"),
      {"{}", R"({"a":1})", R"({"b":true})",
       R"({"a":1,"ab":2,"abc":true,"":false})", R"({"é":true})"},
      {R"({"a":true})", R"({"ab":true})", R"({"b":1})", R"({"\u0061":true})"});
  expectMatches(schema(R"({"type":"object","additionalProperties":false})"),
                {"{}", "{ }"}, {R"({"a":1})"});
  expectMatches(schema(R"({"type":"object","required":["x"]})"),
                {R"({"x":[{}]})"}, {"{}", R"({"y":1})"});
  expectMatches(
      schema(R"({"type":"object","additionalProperties":{"type":"integer"},
                 "propertyNames":{"pattern":"^[a-z]$"},"minProperties":1,
                 "maxProperties":2})"),
      {R"({"a":1})", R"({"a":1,"b":2})"},
      {"{}", R"({"A":1})", R"({"a":1,"b":2,"c":3})"});
  expectMatches(schema(R"({"properties":{"a":false,"b":true}})"),
                {"{}", R"({"b":[1,{"x":"y"}]})"}, {R"({"a":1})"});
}

TEST(JsonSchema, Arrays) {
  expectMatches(schema(R"({"type":"array","items":{"type":"integer"}})"),
                {"[]", "[1]", "[ 1, 2,3 ]"}, {"[1,]", "[true]", "[,1]"});
  expectMatches(schema(R"({"items":{"const":1},"minItems":2,"maxItems":3})"),
                {"[1,1]", "[1,1,1]"}, {"[]", "[1]", "[1,1,1,1]"});
  expectMatches(schema(R"({"items":{"const":1},"minItems":1})"),
                {"[1]", "[1,1,1]"}, {"[]"});
  expectMatches(schema(R"({"prefixItems":[{"const":1},{"const":2}]})"),
                {"[]", "[1]", "[1,2]"}, {"[2]", "[1,2,3]"});
  expectMatches(schema(R"({"prefixItems":[{"const":1},{"const":2}],"minItems":2,
                 "items":{"const":3},"maxItems":4})"),
                {"[1,2]", "[1,2,3]", "[1,2,3,3]"}, {"[1]", "[1,2,3,3,3]"});
  expectMatches(
      schema(
          R"({"prefixItems":[{"const":1}],"items":{"const":3},"minItems":3})"),
      {"[1,3,3]", "[1,3,3,3]"}, {"[1,3]", "[3,3,3]"});
  expectMatches(schema(R"({"items":[{"const":1}],"additionalItems":false})"),
                {"[]", "[1]"}, {"[1,1]"});
  expectMatches(schema(R"({"type":"array","maxItems":0})"), {"[]"}, {"[1]"});
}

TEST(JsonSchema, Combinations) {
  expectMatches(schema(R"({"anyOf":[{"type":"integer"},{"type":"null"}]})"),
                {"1", "null"}, {"true"});
  expectMatches(schema(R"({"type":"object","properties":{"k":{"type":"string"}},
                 "required":["k"],"oneOf":[
                   {"properties":{"a":{"const":1}},"required":["a"]},
                   {"properties":{"b":{"const":2}},"required":["b"]}]})"),
                {R"({"k":"x","a":1})", R"({"k":"x","b":2})"},
                {R"({"k":"x"})", R"({"k":"x","a":1,"b":2})"});
  expectMatches(schema(R"({"allOf":[{"minimum":1,"type":"number"},
                          {"maximum":5,"type":["integer","string"]}]})"),
                {"1", "5"}, {"0", "6", "1.5", "\"a\""});
  expectMatches(schema(R"({"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],
                 "$defs":{"a":{"properties":{"x":{"minimum":1}}},
                          "b":{"properties":{"x":{"type":"integer"}},
                               "required":["x"]}}})"),
                {R"({"x":1})"}, {R"({"x":0})", "{}", R"({"x":1.5})"});
  expectMatches(schema("true"), {"1", R"([{"a":null}])"}, {"", "[1"});
}

TEST(JsonSchema, References) {
  expectMatches(
      schema(R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object",
               "properties":{"next":{"anyOf":[{"$ref":"#/$defs/node"},
               {"type":"null"}]}},"required":["next"]}}})"),
      {R"({"next":null})", R"({"next":{"next":{"next":null}}})"},
      {"{}", R"({"next":{}})"});
  expectMatches(schema(R"({"type":"array","items":{"$ref":"#"}})"),
                {"[]", "[[],[[]]]"}, {"[1]"});
  expectMatches(schema(R"({"items":{"$ref":"#/definitions/a~1b~0c"},
                 "definitions":{"a/b~c":{"const":1}}})"),
                {"[1]"}, {"[2]"});
  expectMatches(
      schema(R"({"properties":{"a":{"$ref":"#/$defs/p","description":"x"}},
                 "$defs":{"p":{"const":1}}})"),
      {R"({"a":1})"}, {R"({"a":2})"});
}

TEST(JsonSchema, RefusesByNameAndPlace) {
  const auto unsupported = [](const char *text, const char *words) {
    expectRefused(schema(text), StatusCode::Unsupported, words);
  };
  unsupported(R"({"properties":{"a":{"not":{}}}})",
              "schema, #/properties/a: 'not' is not supported");
  unsupported(R"({"if":{}})", "'if'");
  unsupported(R"({"patternProperties":{}})", "'patternProperties'");
  unsupported(R"({"type":"array","uniqueItems":true})", "'uniqueItems'");
  unsupported(R"({"type":"array","contains":{}})", "'contains'");
  unsupported(R"({"type":"number","multipleOf":0.5})", "'multipleOf'");
  unsupported(R"({"type":"number","minimum":0.5})", "'minimum'");
  unsupported(R"({"type":"string","format":"idn-email"})", "'format'");
  unsupported(R"({"type":"string","pattern":"a","maxLength":3})", "'pattern'");
  unsupported(R"x({"type":"string","pattern":"(?=a)"})x", "lookahead");
  unsupported(R"({"$ref":"http://example.com/x.json"})", "'$ref'");
  unsupported(R"({"const":1,"minimum":0})",
              "'minimum' is not supported beside");
  unsupported(R"({"properties":{"a":{}},"maxProperties":1})",
              "'maxProperties'");
  unsupported(R"({"type":"object","minProperties":2})", "'minProperties'");
  unsupported(R"({"allOf":[{"pattern":"a"},{"pattern":"b"}]})", "'pattern'");
  unsupported(R"({"allOf":[{"properties":{"a":{}},"additionalProperties":false},
                           {"properties":{"b":{}}}]})",
              "'additionalProperties'");
  unsupported(R"({"nullable":true})", "'nullable'");
  const auto wrong = [](const char *text, const char *words) {
    expectRefused(schema(text), StatusCode::InvalidArgument, words);
  };
  wrong("3", "3 is no schema");
  wrong(R"({"type":"text"})", "'type' is \"text\"");
  wrong(R"({"properties":[]})", "'properties'");
  wrong(R"({"required":"a"})", "'required'");
  wrong(R"({"required":["a"],"additionalProperties":false})", "no property");
  wrong(R"({"minLength":-1})", "'minLength'");
  wrong(R"({"enum":[]})", "no text of finite length");
  wrong("false", "no text of finite length");
  wrong(R"({"allOf":[{"type":"string"},{"type":"null"}]})", "no text");
  wrong(R"({"$ref":"#/$defs/a"})", "refers to #/$defs/a, which does not exist");
  wrong(R"({"$ref":"#"})", "no text of finite length");
  wrong(R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},
            "b":{"anyOf":[{"$ref":"#/$defs/a"}]}}})",
        "no text of finite length");
  wrong(R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},
            {"const":1}]}}})",
        "the rule '#/$defs/a' refers to itself");
  wrong(R"({"$ref":"#/$defs/a","$defs":{"a":{"required":["b"],
            "properties":{"b":{"$ref":"#/$defs/a"}}}}})",
        "no text of finite length");
  wrong(R"({"minimum":1,"$ref":"#"})", "refers to itself");
}

TEST(JsonSchema, IsLimited) {
  std::string deep = "{}";
  for (int i = 0; i < 300; ++i)
    deep = "{\"items\":" + deep + "}";
  expectRefused(schema(deep), StatusCode::OutOfRange, "100 within each other");
  std::string many;
  for (int i = 0; i < 20000; ++i)
    many += (i ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  expectRefused(schema("{\"properties\":{" + many + "}}"),
                StatusCode::OutOfRange, "10000 parts");
  std::string values;
  for (int i = 0; i < 20000; ++i)
    values += (i ? ",\"" : "\"") + std::to_string(i * 7919) + "xyz\"";
  expectRefused(schema("{\"enum\":[" + values + "]}"), StatusCode::OutOfRange,
                "states");
  expectRefused(schema("{\"const\":\"" + std::string(2000000, 'x') + "\"}"),
                StatusCode::OutOfRange, "bytes of text");
  expectRefused(schema(R"({"type":"string","maxLength":10000000})"),
                StatusCode::OutOfRange, "states");
  // Each level doubles what is combined.
  std::string doubled = R"({"type":"object"})";
  for (int i = 0; i < 14; ++i)
    doubled =
        "{\"minProperties\":0,\"anyOf\":[" + doubled + "," + doubled + "]}";
  expectRefused(schema(doubled), StatusCode::OutOfRange, "parts");
  std::string chain; // Of references, which need no stack.
  for (int i = 0; i < 300; ++i)
    chain += "\"" + std::to_string(i) + "\":{\"items\":{\"$ref\":\"#/$defs/" +
             std::to_string((i + 1) % 300) + "\"}},";
  auto cycle = compile(
      schema("{\"$defs\":{" + chain + "\"x\":{}},\"$ref\":\"#/$defs/0\"}"));
  ASSERT_TRUE(cycle) << cycle.status().message();
  EXPECT_TRUE(matches(*cycle, "[[[]]]"));
}

TEST(JsonSchema, OneOfIsExact) {
  expectMatches(schema(R"({"oneOf":[{"type":"integer","maximum":3},{"minimum":5,
                 "type":"number"},{"type":"string","maxLength":1},
                 {"type":"string","minLength":2},{"const":null}]})"),
                {"3", "5.5", R"("a")", R"("ab")", "null"}, {"4", "true"});
  // Told apart by a property, through references.
  const std::string cats = R"({"$defs":{
      "cat":{"type":"object","properties":{"kind":{"const":"cat"}}KIND},
      "dog":{"type":"object","properties":{"kind":{"enum":["dog","wolf"]},
             "name":{"type":"string"}}KIND}},
      "oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}]MORE})";
  const auto pets = [&](const std::string &kind, const std::string &more) {
    std::string text = cats;
    for (size_t at; (at = text.find("KIND")) != std::string::npos;)
      text.replace(at, 4, kind);
    text.replace(text.find("MORE"), 4, more);
    return schema(text);
  };
  const std::vector<std::string> matching = {R"({"kind":"cat"})",
                                             R"({"kind":"wolf","name":"a"})"};
  const std::vector<std::string> others = {"{}", R"({"kind":"cat","name":"a"})",
                                           R"({"name":"a"})"};
  expectMatches(pets(R"(,"required":["kind"])", ""), matching, others);
  expectMatches(pets("", R"(,"discriminator":{"propertyName":"kind"})"),
                matching, others);
  expectRefused(pets("", ""), StatusCode::Unsupported,
                "schema, #: 'oneOf' has alternatives 0 and 1");
  expectRefused(pets("", R"(,"discriminator":{"propertyName":3})"),
                StatusCode::InvalidArgument, "'discriminator'");
  for (const char *text :
       {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})",
        R"({"oneOf":[{"const":1},{"const":1.0}]})",
        R"({"oneOf":[{"const":"a"},{"type":["string","null"]}]})",
        R"({"oneOf":[{"minimum":1},{"type":"string"}]})",
        R"({"oneOf":[{"type":"integer","maximum":3},
                     {"type":"integer","minimum":3}]})",
        R"({"oneOf":[{"pattern":"^a$"},{"pattern":"^b$"}]})",
        R"({"oneOf":[{"properties":{"a":{"type":"null"}}},
                     {"properties":{"a":{"const":1}}}]})",
        R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", // Others may
                                                                // be.
        R"({"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],
            "$defs":{"a":{"type":"null"}}})",
        R"({"oneOf":[{"type":"object"},{},{"type":"null"}]})"})
    expectRefused(schema(text), StatusCode::Unsupported, "'oneOf'");
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += (i ? ",{\"const\":" : "{\"const\":") + std::to_string(i) + "}";
  expectMatches(schema("{\"oneOf\":[" + many + "]}"), {"0", "1999"}, {"2000"});
}

TEST(JsonSchema, BoundsOfManyDigits) {
  const auto refused = [](const char *text) {
    expectRefused(schema(text), StatusCode::Unsupported, "18 digits");
  };
  refused(R"({"type":"integer","minimum":1000000000000000000})");
  refused(R"({"type":"integer","minimum":1e18})");
  refused(R"({"type":"integer","maximum":-1000000000000000001})");
  refused(R"({"type":"number","minimum":1e300})");
  refused(R"({"type":"integer","minimum":18446744073709551615})");
  for (const char *most : {"1000000000000000000", "1e300",
                           "18446744073709551615", "9223372036854775807"})
    expectMatches(schema(R"({"type":"integer","minimum":7,"maximum":)" +
                         std::string(most) + "}"),
                  {"7", "999999999999999999"}, {"6"});
}

TEST(JsonSchema, ConstantsAreCombined) {
  // As older versions of pydantic write them.
  expectMatches(schema(R"({"const":"a","enum":["a"],"type":"string"})"),
                {R"("a")"}, {R"("b")"});
  expectRefused(schema(R"({"const":"a","enum":["b"]})"),
                StatusCode::InvalidArgument, "no text of finite length");
  expectMatches(schema(R"({"type":["null","null","null"]})"), {"null"}, {});
}

TEST(JsonSchema, NumbersOfProperties) {
  expectRefused(
      schema(R"({"type":"object","minProperties":1,"maxProperties":0})"),
      StatusCode::InvalidArgument, "no text of finite length");
  expectRefused(schema(R"({"type":"object","propertyNames":{"type":5}})"),
                StatusCode::InvalidArgument, "'propertyNames'");
}

TEST(JsonSchema, ReferencesAreFragmentsOfURIs) {
  expectMatches(schema(R"({"items":{"$ref":"#/$defs/A%3Cb%20c%3E"},
                 "$defs":{"A<b c>":{"const":1}}})"),
                {"[1]"}, {"[2]"});
  expectRefused(schema(R"({"$ref":"#/$defs/a%zz"})"),
                StatusCode::InvalidArgument, "does not exist");
}

TEST(JsonSchema, RecursionBesideOtherKeywords) {
  expectMatches(schema(R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object",
                 "properties":{"n":{"$ref":"#/$defs/n","type":"object"}}}}})"),
                {"{}", R"({"n":{"n":{}}})"}, {R"({"n":1})"});
  // Definitions are not copied with each alternative.
  std::string definitions, alternatives;
  for (int i = 0; i < 1000; ++i) {
    definitions += "\"" + std::to_string(i) + "\":{\"const\":1},";
    alternatives += ",{\"required\":[\"a" + std::to_string(i) + "\"]}";
  }
  auto many = compile(schema("{\"$defs\":{" + definitions +
                             "\"x\":{}},\"type\":\"object\",\"anyOf\":[{}" +
                             alternatives + "]}"));
  ASSERT_TRUE(many) << many.status().message();
}

/// Compiles, or is refused, within some seconds even under sanitizers.
void expectQuick(const std::string &text) {
  const auto start = std::chrono::steady_clock::now();
  (void)compile(schema(text));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20))
      << text.substr(0, 200);
}

TEST(JsonSchema, HostileOnesAreQuick) {
  // Chains of references into many definitions, each combined with more.
  std::string definitions, alternatives;
  for (int i = 0; i < 40000; ++i)
    definitions += "\"x" + std::to_string(i) + "\":1,";
  for (int i = 0; i < 99; ++i)
    definitions += "\"a" + std::to_string(i) + "\":{\"$ref\":\"#/$defs/a" +
                   std::to_string(i + 1) + "\"},";
  for (int i = 0; i < 5000; ++i)
    alternatives +=
        (i ? "," : "") + std::string(R"({"minimum":0,"$ref":"#/$defs/a0"})");
  expectQuick("{\"$defs\":{" + definitions + "\"a99\":{}},\"anyOf\":[" +
              alternatives + "]}");
  std::string properties, types;
  for (int i = 0; i < 20000; ++i)
    properties += (i ? ",\"p" : "\"p") + std::to_string(i) + "\":1";
  expectQuick("{\"allOf\":[{\"properties\":{" + properties +
              "}},{\"properties\":{\"q\":2," + properties + "}}]}");
  for (int i = 0; i < 40000; ++i)
    types += (i ? "," : "") + std::string("\"null\"");
  expectQuick("{\"type\":[" + types + "],\"enum\":[" + types + "]}");
  // Names of which much is made.
  const std::string name(1000000, 'n');
  expectQuick("{\"properties\":{\"" + name +
              "\":{}},\"additionalProperties\":{}}");
  std::string inner;
  for (int i = 0; i < 9000; ++i)
    inner += (i ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  expectQuick("{\"properties\":{\"" + name + "\":{\"properties\":{" + inner +
              "}}}}");
  std::string objects;
  for (int i = 0; i < 2000; ++i)
    objects += (i ? "," : "") +
               std::string(R"({"type":"object","required":["k)") +
               std::to_string(i) + R"("],"properties":{"k)" +
               std::to_string(i) + R"(":{"type":"null"}}})";
  expectQuick("{\"oneOf\":[" + objects + "]}");
}

} // namespace
