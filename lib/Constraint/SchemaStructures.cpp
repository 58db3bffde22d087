//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"
#include "SchemaReader.h"
#include "Utf8Ranges.h"
#include "llmir/Support/Json.h"

#include <algorithm>

namespace llmir::constraint {

using Node = Grammar::Node;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// The named properties in order; those that are only required come last.
Expected<std::vector<SchemaReader::Property>>
SchemaReader::properties(const Schema &schema) {
  std::vector<Property> result;
  std::map<std::string, size_t> numbers;
  if (const OrderedJson *named = schema.find("properties")) {
    if (!named->is_object())
      return malformed(schema, "properties", "an object of schemas");
    for (const auto &[name, part] : named->items())
      result.push_back({name, &part, false});
  }
  for (size_t i = 0; i < result.size(); ++i)
    numbers.emplace(result[i].name, i);
  const OrderedJson *required = schema.find("required");
  if (!required)
    return result;
  if (!required->is_array())
    return malformed(schema, "required", "a list of names");
  const OrderedJson *more = schema.find("additionalProperties");
  for (const OrderedJson &each : *required) {
    if (!each.is_string())
      return malformed(schema, "required", "a list of names");
    const auto &name = each.get_ref<const std::string &>();
    const auto found = numbers.find(name);
    if (found != numbers.end()) {
      result[found->second].isRequired = true;
      continue;
    }
    if (more && *more == false)
      return refuse(StatusCode::InvalidArgument, schema, "required",
                    "has " + describeJson(Json(each)) +
                        ", which is no property",
                    "add it to the properties");
    numbers.emplace(name, result.size());
    result.push_back({name, more ? more : &anything, true});
  }
  return result;
}

/// A key of an additional property: not one that has a name, nor one that is
/// written with escapes and could be one.
Expected<Node> SchemaReader::keyOutside(const std::vector<Property> &named) {
  struct Branch {
    std::map<uint32_t, size_t> next;
    bool isName = false;
  };
  std::vector<Branch> tree(1);
  std::vector<Grammar::Rule> rules = {grammar.addRule("key")};
  for (const Property &property : named) {
    size_t at = 0;
    std::string_view rest = property.name;
    while (!rest.empty()) {
      const auto lead = static_cast<uint8_t>(rest[0]);
      const size_t length = lead < 0x80   ? 1
                            : lead < 0xe0 ? 2
                            : lead < 0xf0 ? 3
                                          : 4;
      uint32_t character = length == 1 ? lead : lead & (0x3fu >> (length - 1));
      for (size_t i = 1; i < length; ++i)
        character = (character << 6) | (static_cast<uint8_t>(rest[i]) & 0x3fu);
      rest.remove_prefix(length);
      const auto [entry, isNew] =
          tree[at].next.try_emplace(character, tree.size());
      at = entry->second;
      if (isNew) {
        tree.emplace_back();
        rules.push_back(grammar.addRule("key"));
        LLMIR_RETURN_IF_ERROR(grammar.checkSize());
      }
    }
    tree[at].isName = true;
  }
  const std::vector<CodePoints> special = {{0, 0x1f}, {'"', '"'}, {'\\', '\\'}};
  const Node rest = grammar.repeat(grammar.characters(complement(special)), 0,
                                   Grammar::noLimit);
  for (size_t i = 0; i < tree.size(); ++i) {
    std::vector<CodePoints> known = special;
    std::vector<Node> all;
    for (const auto &[character, next] : tree[i].next) {
      known.push_back({character, character});
      if (character >= 0x20 && character != '"' && character != '\\')
        all.push_back(grammar.sequence({grammar.range(character, character),
                                        grammar.reference(rules[next])}));
    }
    all.push_back(
        grammar.sequence({grammar.characters(complement(known)), rest}));
    if (!tree[i].isName)
      all.push_back(grammar.empty());
    grammar.define(rules[i], grammar.choice(all));
  }
  return grammar.reference(rules[0]);
}

/// A member with another key than the named ones; nullopt if there are none.
Expected<std::optional<Node>>
SchemaReader::additionalMember(const Schema &schema,
                               const std::vector<Property> &named) {
  const OrderedJson *more = schema.find("additionalProperties");
  if (!more || *more == false)
    return std::optional<Node>();
  Expected<Node> key = keyOutside(named);
  if (!key)
    return key.takeStatus();
  Expected<Node> content = value(schema.at(*more, "additionalProperties"));
  if (!content)
    return content.takeStatus();
  return std::optional<Node>(member(quoted(*key), *content));
}

/// An object of which no property has a name.
Expected<Node> SchemaReader::freeObject(const Schema &schema) {
  const OrderedJson *more = schema.find("additionalProperties"),
                    *names = schema.find("propertyNames");
  auto least = count(schema, "minProperties", 0);
  auto most = count(schema, "maxProperties", Grammar::noLimit);
  if (!least || !most)
    return (!least ? least : most).takeStatus();
  if (*least > 1) // Keys may occur twice.
    return unsupported(schema, "minProperties", "give 0 or 1");
  if (*least > *most)
    return grammar.choice({});
  Node key = quoted(grammar.repeat(anyStringCharacter(), 0, Grammar::noLimit));
  if (names) {
    OrderedJson text = *names;
    if (text == true)
      text = OrderedJson::object();
    if (!text.is_object() ||
        (text.contains("type") && text["type"] != "string"))
      return malformed(schema, "propertyNames", "a schema of strings");
    LLMIR_RETURN_IF_ERROR(countMade(text));
    text["type"] = "string";
    const OrderedJson *made = keep(std::move(text));
    Expected<Node> described = kept(made, schema.at(*made, "propertyNames"));
    if (!described)
      return described;
    key = *described;
  }
  Expected<Node> content =
      value(schema.at(more ? *more : anything, "additionalProperties"));
  if (!content)
    return content;
  if (*most == 0)
    return grammar.text("{}");
  const Node one = member(key, *content);
  const uint32_t others = *most == Grammar::noLimit ? *most : *most - 1;
  const Node all = grammar.sequence(
      {one, grammar.repeat(grammar.sequence({separator(), one}), 0, others)});
  return bracketed("{", all, *least == 0, "}");
}

Expected<Node> SchemaReader::object(const Schema &schema) {
  auto named = properties(schema);
  if (!named)
    return named.takeStatus();
  if (named->empty() && !schema.find("properties"))
    return freeObject(schema);
  for (const char *key : {"propertyNames", "minProperties", "maxProperties"})
    if (schema.find(key))
      return unsupported(schema, key,
                         "use it in objects without properties only");
  auto additional = additionalMember(schema, *named);
  if (!additional)
    return additional.takeStatus();
  // What follows from each property on, as the first member and after others.
  // They are rules, so that each is written once.
  Node first = grammar.choice({}), later = grammar.empty();
  if (*additional) {
    const Node more = grammar.repeat(
        grammar.sequence({separator(), **additional}), 0, Grammar::noLimit);
    first = grammar.sequence({**additional, more});
    later = more;
  }
  auto asRule = [&](Node body) {
    const Grammar::Rule rule = grammar.addRule("members");
    grammar.define(rule, body);
    return grammar.reference(rule);
  };
  bool mayBeEmpty = true;
  for (size_t i = named->size(); i-- > 0;) {
    const Property &property = (*named)[i];
    Expected<Node> content =
        value(schema.at(*property.schema, "properties/" + property.name));
    if (!content)
      return content;
    const Node one = asRule(
        member(grammar.text(shortText(OrderedJson(property.name))), *content));
    const Node begins = grammar.sequence({one, later});
    first =
        asRule(property.isRequired ? begins : grammar.choice({begins, first}));
    const Node another = grammar.sequence({separator(), one});
    later = asRule(grammar.sequence(
        {property.isRequired ? another : grammar.optional(another), later}));
    mayBeEmpty &= !property.isRequired;
  }
  return bracketed("{", first, mayBeEmpty, "}");
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// `first` has the schemas of the first elements or is null; `rest` is an
/// element after them, if there may be any.
Expected<Node> SchemaReader::elements(const Schema &schema,
                                      const OrderedJson *first,
                                      std::optional<Node> rest) {
  auto least = count(schema, "minItems", 0);
  auto most = count(schema, "maxItems", Grammar::noLimit);
  if (!least || !most)
    return (!least ? least : most).takeStatus();
  const auto given = static_cast<uint32_t>(first ? first->size() : 0);
  const uint32_t numFirst = std::min(given, *most);
  if (!rest)
    *most = std::min(*most, given);
  if (*least > *most)
    return grammar.choice({});
  if (*most == 0)
    return grammar.text("[]");
  Node later = grammar.empty();
  if (*most > numFirst) {
    const uint32_t taken = std::max(numFirst, uint32_t(1));
    const uint32_t fewest = *least > taken ? *least - taken : 0;
    const uint32_t others = *most == Grammar::noLimit ? *most : *most - taken;
    later =
        grammar.repeat(grammar.sequence({separator(), *rest}), fewest, others);
  }
  if (numFirst == 0)
    return bracketed("[", grammar.sequence({*rest, later}), *least == 0, "]");
  for (uint32_t i = numFirst; i-- > 0;) {
    Expected<Node> one =
        value(schema.at((*first)[i], "prefixItems/" + std::to_string(i)));
    if (!one)
      return one;
    if (i == 0)
      return bracketed("[", grammar.sequence({*one, later}), *least == 0, "]");
    const Node tail = grammar.sequence({separator(), *one, later});
    const Grammar::Rule rule = grammar.addRule("elements");
    grammar.define(rule, i < *least ? tail : grammar.optional(tail));
    later = grammar.reference(rule);
  }
  return grammar.choice({});
}

Expected<Node> SchemaReader::array(const Schema &schema) {
  if (const OrderedJson *unique = schema.find("uniqueItems");
      unique && *unique != false)
    return unsupported(schema, "uniqueItems", "remove it");
  const OrderedJson *first = schema.find("prefixItems"),
                    *others = schema.find("items");
  if (!first && others && others->is_array()) { // Of older drafts.
    first = others;
    others = schema.find("additionalItems");
  } else if (schema.find("additionalItems")) {
    return unsupported(schema, "additionalItems",
                       "use it beside a list of items only");
  }
  if (first && !first->is_array())
    return malformed(schema, "prefixItems", "a list of schemas");
  if (others && *others == false)
    return elements(schema, first, std::nullopt);
  // As with properties: there are no others than those that are described.
  if (first && !others) {
    auto least = count(schema, "minItems", 0);
    if (least && *least <= first->size())
      return elements(schema, first, std::nullopt);
  }
  Expected<Node> rest = value(schema.at(others ? *others : anything, "items"));
  if (!rest)
    return rest;
  return elements(schema, first, *rest);
}

} // namespace llmir::constraint
