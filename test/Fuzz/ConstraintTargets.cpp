//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What clients may constrain answers with: JSON schemas, regular expressions
// and grammars.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "llmir/Constraint/Constraint.h"
#include "llmir/Constraint/Sources.h"

#include <random>

using namespace llmir;
using namespace llmir::fuzz;

/// Tokens are bytes and a few texts.
static const std::shared_ptr<const TokenVocabulary> &vocabulary() {
  static const auto made = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte)
      texts.emplace_back(1, static_cast<char>(byte));
    for (const char *text : {"{\"", "\": ", "true", "  ", "", "\xC3\xA9", "12"})
      texts.emplace_back(text);
    return std::make_shared<const TokenVocabulary>(std::move(texts));
  }();
  return made;
}

/// A token of the mask, which has `count`; random ones, so that lists end.
static int32_t chooseToken(Span<const uint64_t> mask, size_t count,
                           std::minstd_rand &random) {
  size_t skipped = random() % count;
  for (size_t token = 0; token < vocabulary()->size(); ++token)
    if ((mask[token / 64] >> (token % 64)) & 1 && skipped-- == 0)
      return static_cast<int32_t>(token);
  expect(false, "the mask has as many tokens as it had");
  return 0;
}

static size_t countTokens(Span<const uint64_t> mask) {
  size_t count = 0;
  for (size_t token = 0; token < vocabulary()->size(); ++token)
    count += (mask[token / 64] >> (token % 64)) & 1;
  return count;
}

/// Writes the beginning of an answer, as a model with random logits would.
static void use(const Grammar &source, Expected<Grammar::Node> root) {
  if (!root)
    return checkStatus(root.status());
  Grammar grammar = source;
  grammar.define(grammar.root(), *root);
  auto constraint = Constraint::create(grammar, vocabulary());
  if (!constraint)
    return checkStatus(constraint.status());
  ConstraintMatcher matcher(*constraint);
  std::minstd_rand random(static_cast<unsigned>(grammar.numNodes()));
  for (int length = 0; length < 32; ++length) {
    auto mask = matcher.allowed();
    if (!mask)
      return checkStatus(mask.status());
    const size_t count = countTokens(*mask);
    expect(count > 0 || matcher.mayEnd(), "an answer can be completed");
    expect((count == 0) == matcher.mustEnd(), "no token is allowed at the end");
    if (count == 0)
      return;
    const int32_t token = chooseToken(*mask, count, random);
    ConstraintMatcher copy = matcher;
    Status status = matcher.accept(token);
    if (!status) {
      expect(status.code() == StatusCode::OutOfRange,
             "tokens of the mask are accepted");
      return checkStatus(status);
    }
    expect(copy.accept(token).isOk(), "copies are equal");
  }
}

static void readSchema(std::string_view input) {
  auto schema = parseOrderedJson(input, "schema");
  if (!schema)
    return checkStatus(schema.status());
  for (bool hasSpace : {true, false}) {
    Grammar grammar;
    auto root = addJsonSchema(grammar, *schema, {hasSpace});
    use(grammar, std::move(root));
  }
}

static void readPattern(std::string_view input) {
  for (auto add : {addRegex, addRegexInString}) {
    Grammar grammar;
    auto root = add(grammar, input);
    use(grammar, std::move(root));
  }
}

static void readGBNF(std::string_view input) {
  Grammar grammar;
  auto root = addGBNF(grammar, input);
  use(grammar, std::move(root));
}

static std::vector<std::string> schemaSeeds() {
  std::vector<std::string> seeds = {
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":)"
      R"("boolean"},"c":{"type":"null"},"d":{"type":"number"}},"required":)"
      R"(["b"],"title":"t","description":"x"})",
      R"({"properties":{"a":{"const":1},"ab":{"const":2},"e":false,"f":true},)"
      R"("additionalProperties":{"type":"boolean"}})",
      R"({"type":"object","additionalProperties":{"type":"integer"},)"
      R"("propertyNames":{"pattern":"^[a-z]$"},"minProperties":1,)"
      R"("maxProperties":2})",
      R"({"type":"string","minLength":1,"maxLength":3})",
      R"({"type":"string","pattern":"^\\d{2}-[b\"\\n]+$"})",
      R"({"type":"integer","minimum":-20,"maximum":120})",
      R"({"type":"integer","exclusiveMinimum":-1.5,"exclusiveMaximum":1000})",
      R"({"type":"number","minimum":-2,"exclusiveMaximum":10})",
      R"({"type":"integer","minimum":999999999999999998})",
      R"({"type":"integer","format":"int32"})",
      R"({"type":["string","null"],"enum":["a","ab",1,null,{"x":[1.5]}]})",
      R"({"prefixItems":[{"const":1},{"const":2}],"minItems":2,"items":)"
      R"({"const":3},"maxItems":4})",
      R"({"items":[{"const":1}],"additionalItems":false})",
      R"({"type":"array","items":{"$ref":"#"}})",
      R"({"type":"object","properties":{"k":{"type":"string"}},"required":)"
      R"(["k"],"oneOf":[{"properties":{"a":{"const":1}},"required":["a"]},)"
      R"({"properties":{"b":{"const":2}},"required":["b"]}]})",
      R"({"allOf":[{"minimum":1,"type":"number"},{"maximum":5,"type":)"
      R"(["integer","string"]}],"anyOf":[{"type":"integer"},true]})",
      R"({"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{"a":)"
      R"({"properties":{"x":{"minimum":1}}},"b":{"properties":{"x":{"type":)"
      R"("integer"}},"required":["x"]}}})",
      R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":)"
      R"({"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}})",
      R"({"items":{"$ref":"#/definitions/a~1b~0c"},"definitions":{"a/b~c":)"
      R"({"const":"\u00e9\n"}}})",
      R"({"type":"number","multipleOf":0.5})",
      R"({"properties":{"a":{"not":{}}},"if":{},"nullable":true})",
      "true"};
  for (const char *format : {"date", "time", "date-time", "duration", "uuid",
                             "email", "ipv4", "ipv6", "uri", "hostname"})
    seeds.push_back(R"({"type":"string","format":")" + std::string(format) +
                    "\"}");
  return seeds;
}

static std::vector<std::string> patternSeeds() {
  return {"^abc$",
          "(ab)+c?|[a-c]{2,3}|",
          "a{2}b{1,}c{,2}d{0}",
          "(?:x|(?<n>y)|(?P<m>z))*?",
          "\\d\\w\\s[^\\d\\s]\\D\\W\\S",
          "a.c",
          "[\\u00e0-\\u00ff]\\x41\\u{1F600}\\.\\n\\t\\r\\f\\v\\0",
          "[-a\\]^\\d]+$",
          "((a*)*b|(.*)*x){1,50}",
          "a(?=b)|(?<!a)b|(a)\\1|\\bword|\\p{L}|(?i)a|(?>a)|a++",
          "[[:alpha:]]a**",
          "\xC3\xA9+\\ud83d\\ude00"};
}

static std::vector<std::string> gbnfSeeds() {
  return {"root ::= \"yes\" | \"no\"\n",
          "# Sums.\nroot  ::= sum\nsum   ::= term ((\"+\" | \"-\") term)*   # "
          "Left.\nterm  ::= ([0-9]+ | \"(\" ws sum\n          ws \")\")\nws    "
          "::= [ \\t]{0,2}\n",
          "root ::= a\na ::= \"x\" a | \"\\u00e9\" | [^\\n\\x41-C]",
          "root ::= .{2} \"\\\"\"? b+ c{3} d{1,}\r\nb ::= \"\\U0001F600\"\n"
          "c ::= []-a]\nd ::= \"\\\\\\r\\t\"",
          "root ::= \"a\" b | \"c\"\nb ::= \"x\" b"};
}

std::vector<Target> fuzz::constraintTargets() {
  return {
      {"json-schema", "a JSON schema for answers", readSchema, schemaSeeds},
      {"regex", "a regular expression for answers", readPattern, patternSeeds},
      {"gbnf", "a grammar for answers", readGBNF, gbnfSeeds}};
}
