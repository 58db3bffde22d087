//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"
#include "JsonText.h"
#include "SchemaMerge.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>

namespace llmir::constraint {

using Node = Grammar::Node;

/// JSON values of a schema, and of those that are made of it.
static constexpr size_t mostValues = 100000;

/// Parts of a schema, those of schemas that are combined counted again; and how
/// many may be within each other.
static constexpr size_t mostParts = 10000;
static constexpr int mostDepth = 100;

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

static size_t countValues(const OrderedJson &value) {
  size_t count = 1; // The depth of parsed JSON is limited.
  if (value.is_structured())
    for (const OrderedJson &part : value)
      count += countValues(part);
  return count;
}

static Status tooManyValues() {
  return Status(StatusCode::OutOfRange,
                "schema: it has more than " + std::to_string(mostValues) +
                    " values, those of combined parts counted again",
                "simplify it");
}

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
  if (countValues(document) > mostValues)
    return tooManyValues();
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
// References and combinations
//===----------------------------------------------------------------------===//

Expected<const OrderedJson *> SchemaReader::keep(OrderedJson schema) {
  madeValues += countValues(schema);
  if (madeValues > mostValues)
    return tooManyValues();
  made.push_back(std::move(schema));
  return &made.back();
}

/// What "#/a/b" refers to.
Expected<const OrderedJson *>
SchemaReader::resolve(const Schema &schema,
                      const std::string &reference) const {
  if (reference.empty() || reference[0] != '#')
    return refuse(StatusCode::Unsupported, schema, "$ref",
                  "refers to " + printable(reference) +
                      ", which is outside of the schema",
                  "put it into $defs");
  const OrderedJson *at = &document;
  for (size_t begin = 1; begin < reference.size();) {
    const size_t end =
        std::min(reference.find('/', begin + 1), reference.size());
    std::string key = reference.substr(begin + 1, end - begin - 1);
    for (const auto &[escape, character] :
         {std::pair<const char *, const char *>("~1", "/"), {"~0", "~"}})
      for (size_t found = 0;
           (found = key.find(escape, found)) != std::string::npos; ++found)
        key.replace(found, 2, character);
    const bool isObject = at->is_object() && at->contains(key);
    const bool isIndex =
        at->is_array() && !key.empty() && key.size() < 6 &&
        key.find_first_not_of("0123456789") == std::string::npos &&
        std::stoul(key) < at->size();
    if (reference[begin] != '/' || (!isObject && !isIndex))
      return refuse(StatusCode::InvalidArgument, schema, "$ref",
                    "refers to " + printable(reference) +
                        ", which does not exist",
                    "correct it");
    at = isObject ? &(*at)[key] : &(*at)[std::stoul(key)];
    begin = end;
  }
  return at;
}

Expected<Node> SchemaReader::reference(const Schema &schema) {
  const OrderedJson &target = *schema.find("$ref");
  if (!target.is_string())
    return malformed(schema, "$ref", "a text");
  if (hasAssertionsBeside(schema.json, "$ref")) {
    Expected<OrderedJson> whole = withoutReference(schema);
    if (!whole)
      return whole.takeStatus();
    auto kept = keep(std::move(*whole));
    if (!kept)
      return kept.takeStatus();
    return value({**kept, schema.place, schema.depth + 1});
  }
  const std::string pointer = target.get<std::string>();
  if (auto resolved = resolve(schema, pointer); !resolved)
    return resolved.takeStatus();
  const auto found = references.find(pointer);
  if (found != references.end())
    return grammar.reference(found->second);
  const Grammar::Rule rule = grammar.addRule(printable(pointer));
  references.emplace(pointer, rule);
  pending.push_back(pointer);
  return grammar.reference(rule);
}

/// The schema with that to which it refers, which may refer to others.
Expected<OrderedJson> SchemaReader::withoutReference(const Schema &schema) {
  OrderedJson result = schema.json;
  for (int i = 0; result.is_object() && result.contains("$ref"); ++i) {
    if (i == mostDepth || !result["$ref"].is_string())
      return refuse(StatusCode::InvalidArgument, schema, "$ref",
                    "refers to itself", "correct it");
    auto target = resolve(schema, result["$ref"].get<std::string>());
    if (!target)
      return target.takeStatus();
    result.erase("$ref");
    if ((*target)->is_boolean() && **target == true)
      break;
    if (!(*target)->is_object())
      return refuse(StatusCode::Unsupported, schema, "$ref",
                    "refers to " + describeJson(Json(**target)) +
                        " beside other keywords",
                    "refer to an object");
    Expected<OrderedJson> both = mergeSchemas(result, **target, schema.place);
    if (!both)
      return both;
    result = std::move(*both);
  }
  return result;
}

/// The node of a schema without its keyword `key`, and another schema.
Expected<Node> SchemaReader::merged(const Schema &schema,
                                    const OrderedJson &other,
                                    const std::string &key) {
  const Schema part = schema.at(other, key);
  if (!hasAssertionsBeside(schema.json, key.substr(0, key.find('/'))))
    return value(part);
  if (other.is_boolean() && other == false)
    return grammar.choice({});
  OrderedJson base = schema.json;
  base.erase(key.substr(0, key.find('/')));
  OrderedJson more = other == true ? OrderedJson::object() : other;
  if (!more.is_object())
    return value(part); // Which refuses it.
  for (OrderedJson *each : {&base, &more}) {
    Expected<OrderedJson> whole =
        withoutReference({*each, part.place, part.depth});
    if (!whole)
      return whole.takeStatus();
    *each = std::move(*whole);
  }
  Expected<OrderedJson> both = mergeSchemas(base, more, part.place);
  if (!both)
    return both.takeStatus();
  auto kept = keep(std::move(*both));
  if (!kept)
    return kept.takeStatus();
  return value({**kept, part.place, part.depth});
}

Expected<Node> SchemaReader::alternatives(const Schema &schema,
                                          const char *key) {
  const OrderedJson &list = *schema.find(key);
  if (!list.is_array() || list.empty())
    return malformed(schema, key, "a list of schemas");
  std::vector<Node> all;
  for (size_t i = 0; i < list.size(); ++i) {
    Expected<Node> one =
        merged(schema, list[i], std::string(key) + "/" + std::to_string(i));
    if (!one)
      return one;
    all.push_back(*one);
  }
  return grammar.choice(all);
}

Expected<Node> SchemaReader::allOf(const Schema &schema) {
  const OrderedJson &list = *schema.find("allOf");
  if (!list.is_array() || list.empty())
    return malformed(schema, "allOf", "a list of schemas");
  if (list.size() == 1)
    return merged(schema, list[0], "allOf/0");
  OrderedJson all = schema.json;
  all.erase("allOf");
  for (size_t i = 0; i < list.size(); ++i) {
    const Schema part = schema.at(list[i], "allOf/" + std::to_string(i));
    if (++parts > mostParts)
      break; // value() refuses it.
    if (list[i] == true)
      continue;
    if (!list[i].is_object())
      return unsupported(part, "allOf", "use objects in it");
    const OrderedJson *both[2] = {&all, &list[i]};
    for (const OrderedJson *&each : both) {
      Expected<OrderedJson> whole =
          withoutReference({*each, part.place, part.depth});
      if (!whole)
        return whole.takeStatus();
      auto kept = keep(std::move(*whole));
      if (!kept)
        return kept.takeStatus();
      each = *kept;
    }
    Expected<OrderedJson> combined =
        mergeSchemas(*both[0], *both[1], part.place);
    if (!combined)
      return combined.takeStatus();
    all = std::move(*combined);
  }
  auto kept = keep(std::move(all));
  if (!kept)
    return kept.takeStatus();
  return value({**kept, schema.place, schema.depth + 1});
}

static bool hasType(const OrderedJson &value, const std::string &type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number() &&
            value.get<double>() == std::floor(value.get<double>()));
  return type == "number"
             ? value.is_number()
             : type == (value.is_boolean() ? "boolean" : value.type_name());
}

/// `enum` or `const`, with `type` at most.
Expected<Node> SchemaReader::constants(const Schema &schema, const char *key) {
  const OrderedJson &given = *schema.find(key);
  const bool isList = std::string_view(key) == "enum";
  if (isList && !given.is_array())
    return malformed(schema, key, "a list of values");
  for (const auto &[other, ignored] : schema.json.items())
    if (other != key && other != "type" && !isAnnotation(other))
      return refuse(StatusCode::Unsupported, schema, other,
                    std::string("is not supported beside '") + key + "'",
                    "remove it");
  auto types = typesOf(schema);
  if (!types)
    return types.takeStatus();
  std::vector<Node> all;
  for (const OrderedJson &value : isList ? given : OrderedJson::array({given}))
    if (types->empty() ||
        std::any_of(types->begin(), types->end(),
                    [&, &each = value](const std::string &type) {
                      return hasType(each, type);
                    }))
      all.push_back(grammar.text(shortText(value)));
  return grammar.choice(all);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

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
