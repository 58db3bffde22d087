//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"
#include "JsonText.h"
#include "SchemaComparison.h"
#include "SchemaMerge.h"
#include "Utf8Ranges.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>

namespace llmir::constraint {

using Node = Grammar::Node;

SchemaReader::SchemaReader(Grammar &grammar, const OrderedJson &document,
                           const JsonStyle &style)
    : grammar(grammar), document(document), style(style) {}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Status SchemaReader::refuse(StatusCode code, const Schema &schema,
                            const std::string &key, const std::string &problem,
                            const std::string &advice) const {
  return Status(code,
                "schema, " + printable(schema.place, 200) + ": '" +
                    printable(key) + "' " + problem,
                advice);
}

Status SchemaReader::malformed(const Schema &schema, const std::string &key,
                               const std::string &expected) const {
  const OrderedJson *value = schema.find(key.c_str());
  return refuse(StatusCode::InvalidArgument, schema, key,
                "is " + (value ? describeJson(Json(*value)) : "missing"),
                "give " + expected);
}

/// Unknown keywords could say anything.
Status SchemaReader::checkKeywords(const Schema &schema) const {
  static constexpr std::string_view known[] = {"$ref",
                                               "type",
                                               "enum",
                                               "const",
                                               "anyOf",
                                               "oneOf",
                                               "allOf",
                                               "properties",
                                               "required",
                                               "items",
                                               "prefixItems",
                                               "additionalItems",
                                               "minItems",
                                               "maxItems",
                                               "uniqueItems",
                                               "minLength",
                                               "maxLength",
                                               "pattern",
                                               "format",
                                               "minimum",
                                               "maximum",
                                               "multipleOf",
                                               "exclusiveMinimum",
                                               "exclusiveMaximum",
                                               "minProperties",
                                               "maxProperties",
                                               "propertyNames",
                                               "additionalProperties"};
  for (const auto &[key, value] : schema.json.items())
    if (!isAnnotation(key) &&
        std::find(std::begin(known), std::end(known), key) == std::end(known))
      return unsupported(schema, key, "remove it");
  return Status::ok();
}

/// The value of a keyword that counts something.
Expected<uint32_t> SchemaReader::count(const Schema &schema, const char *key,
                                       uint32_t otherwise) const {
  const OrderedJson *value = schema.find(key);
  if (!value)
    return otherwise;
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!(number >= 0 && number == std::floor(number)))
    return malformed(schema, key, "a whole number from 0");
  return static_cast<uint32_t>(std::min(number, 1e7)); // Too many anyway.
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Node SchemaReader::space() {
  if (!spaceNode && !style.hasSpace)
    spaceNode = grammar.empty();
  if (!spaceNode)
    spaceNode = grammar.optional(grammar.choice(
        {grammar.text(" "),
         grammar.sequence(
             {grammar.text("\n"),
              grammar.repeat(grammar.characters({{' ', ' '}, {'\t', '\t'}}), 0,
                             20)})}));
  return *spaceNode;
}

Node SchemaReader::anyStringCharacter() {
  if (!characterNode) {
    const Grammar::Rule rule = grammar.addRule("character");
    grammar.define(rule, anyCharacterInString(grammar));
    characterNode = grammar.reference(rule);
  }
  return *characterNode;
}

Node SchemaReader::bracketed(const char *open, Node parts, bool mayBeEmpty,
                             const char *close) {
  const Node inner = grammar.sequence({parts, space()});
  return grammar.sequence({grammar.text(open), space(),
                           mayBeEmpty ? grammar.optional(inner) : inner,
                           grammar.text(close)});
}

Node SchemaReader::anyValue() {
  if (anyNode)
    return *anyNode;
  const Grammar::Rule rule = grammar.addRule("value");
  anyNode = grammar.reference(rule);
  const Node text =
      quoted(grammar.repeat(anyStringCharacter(), 0, Grammar::noLimit));
  auto list = [&](Node part) {
    return grammar.sequence(
        {part, grammar.repeat(grammar.sequence({separator(), part}), 0,
                              Grammar::noLimit)});
  };
  grammar.define(
      rule,
      grammar.choice({text, anyNumber(grammar), grammar.text("true"),
                      grammar.text("false"), grammar.text("null"),
                      bracketed("{", list(member(text, *anyNode)), true, "}"),
                      bracketed("[", list(*anyNode), true, "]")}));
  return *anyNode;
}

Expected<Node> SchemaReader::value(const Schema &schema) {
  if (++parts > mostParts || schema.depth > mostDepth)
    return Status(StatusCode::OutOfRange,
                  "schema, " + printable(schema.place, 200) +
                      ": there are more than " + std::to_string(mostParts) +
                      " parts, or " + std::to_string(mostDepth) +
                      " within each other",
                  "simplify it");
  LLMIR_RETURN_IF_ERROR(grammar.checkSize());
  if (schema.json.is_boolean())
    return schema.json.get<bool>() ? anyValue() : grammar.choice({});
  if (!schema.json.is_object())
    return Status(StatusCode::InvalidArgument,
                  "schema, " + printable(schema.place, 200) + ": " +
                      describeJson(Json(schema.json)) + " is no schema",
                  "give an object, true or false");
  LLMIR_RETURN_IF_ERROR(checkKeywords(schema));
  if (schema.find("$ref"))
    return reference(schema);
  if (schema.find("allOf"))
    return allOf(schema);
  if (schema.find("anyOf"))
    return alternatives(schema, "anyOf");
  if (schema.find("oneOf"))
    return alternatives(schema, "oneOf");
  if (schema.find("const"))
    return constants(schema, "const");
  if (schema.find("enum"))
    return constants(schema, "enum");
  auto types = typesOf(schema);
  if (!types)
    return types.takeStatus();
  if (types->empty())
    return anyValue();
  std::vector<Node> all;
  for (const std::string &type : *types) {
    Expected<Node> one = ofType(schema, type);
    if (!one)
      return one;
    all.push_back(*one);
  }
  return grammar.choice(all);
}

Expected<Node> SchemaReader::read() {
  LLMIR_RETURN_IF_ERROR(checkNumberOfValues());
  Expected<Node> root = value({document, "#", 0});
  if (!root)
    return root;
  while (!pending.empty()) {
    const std::string pointer = pending.front();
    pending.pop_front();
    const Schema none{anything, pointer, 0};
    Expected<const OrderedJson *> target = resolve(none, pointer);
    if (!target)
      return target.takeStatus();
    Expected<Node> body = value({**target, pointer, 0});
    if (!body)
      return body;
    grammar.define(references[pointer], *body);
  }
  LLMIR_RETURN_IF_ERROR(grammar.checkSize());
  return root;
}

//===----------------------------------------------------------------------===//
// Constants and types
//===----------------------------------------------------------------------===//

/// `enum`, `const` or both, with `type` at most.
Expected<Node> SchemaReader::constants(const Schema &schema, const char *key) {
  const OrderedJson *list = schema.find("enum"), *one = schema.find("const");
  if (list && !list->is_array())
    return malformed(schema, "enum", "a list of values");
  for (const auto &[other, ignored] : schema.json.items())
    if (other != "enum" && other != "const" && other != "type" &&
        !isAnnotation(other))
      return refuse(StatusCode::Unsupported, schema, other,
                    std::string("is not supported beside '") + key + "'",
                    "remove it");
  auto types = typesOf(schema);
  if (!types)
    return types.takeStatus();
  std::vector<Node> all;
  const auto add = [&](const OrderedJson &value) {
    const bool hasItsType =
        types->empty() ||
        std::any_of(types->begin(), types->end(), [&](const std::string &type) {
          return hasType(value, type);
        });
    if (hasItsType && (!one || value == *one))
      all.push_back(grammar.text(shortText(value)));
  };
  if (list)
    std::for_each(list->begin(), list->end(), add);
  else
    add(*one);
  return grammar.choice(all);
}

/// The types of `type`, or those about which the schema says something. Empty:
/// all of them.
Expected<std::vector<std::string>>
SchemaReader::typesOf(const Schema &schema) const {
  std::vector<std::string> types;
  if (const OrderedJson *given = schema.find("type")) {
    const OrderedJson list =
        given->is_array() ? *given : OrderedJson::array({*given});
    for (const OrderedJson &type : list) {
      static constexpr std::string_view known[] = {
          "object", "array", "string", "integer", "number", "boolean", "null"};
      if (!type.is_string() ||
          std::find(std::begin(known), std::end(known),
                    type.get_ref<const std::string &>()) == std::end(known))
        return malformed(schema, "type", "types of JSON, such as \"string\"");
      if (std::find(types.begin(), types.end(), type) == types.end())
        types.push_back(type.get<std::string>());
    }
    if (types.empty())
      types.push_back("nothing"); // Of schemas that contradict each other.
    return types;
  }
  struct Implied {
    std::string_view type;
    std::vector<const char *> keywords;
  };
  static const Implied all[] = {
      {"object",
       {"properties", "required", "additionalProperties", "propertyNames",
        "minProperties", "maxProperties"}},
      {"array",
       {"items", "prefixItems", "additionalItems", "minItems", "maxItems",
        "uniqueItems"}},
      {"string", {"minLength", "maxLength", "pattern", "format"}},
      {"number",
       {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf"}}};
  for (const Implied &each : all)
    for (const char *keyword : each.keywords)
      if (schema.find(keyword)) {
        types.emplace_back(each.type);
        break;
      }
  return types;
}

Expected<Node> SchemaReader::ofType(const Schema &schema,
                                    const std::string &type) {
  if (type == "object")
    return object(schema);
  if (type == "array")
    return array(schema);
  if (type == "string")
    return string(schema);
  if (type == "integer" || type == "number")
    return number(schema, type == "integer");
  if (type == "boolean")
    return grammar.choice({grammar.text("true"), grammar.text("false")});
  if (type == "null")
    return grammar.text("null");
  return grammar.choice({});
}

} // namespace llmir::constraint

llmir::Expected<llmir::Grammar::Node>
llmir::addJsonSchema(Grammar &grammar, const OrderedJson &schema,
                     const JsonStyle &style) {
  return constraint::SchemaReader(grammar, schema, style).read();
}
