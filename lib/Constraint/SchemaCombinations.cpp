//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"
#include "SchemaComparison.h"
#include "SchemaMerge.h"
#include "SchemaReader.h"
#include "Utf8Ranges.h"
#include "llmir/Support/Json.h"

#include <algorithm>

namespace llmir::constraint {

using Node = Grammar::Node;

/// JSON values of a schema, and of those that are made of it.
static constexpr size_t mostValues = 100000;

//===----------------------------------------------------------------------===//
// Schemas that are made
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

Status SchemaReader::checkNumberOfValues() const {
  return countValues(document) > mostValues ? tooManyValues() : Status::ok();
}

Status SchemaReader::countMade(const OrderedJson &schema) {
  madeValues += countValues(schema);
  return madeValues > mostValues ? tooManyValues() : Status::ok();
}

const OrderedJson *SchemaReader::keep(OrderedJson schema) {
  const auto [found, isNew] = madeTexts.try_emplace(shortText(schema), nullptr);
  if (isNew) {
    made.push_back(std::move(schema));
    found->second = &made.back();
  }
  return found->second;
}

/// A rule, since it may refer to itself.
Expected<Node> SchemaReader::kept(const OrderedJson *made,
                                  const Schema &schema) {
  const auto found = madeRules.find(made);
  if (found != madeRules.end())
    return grammar.reference(found->second);
  const Grammar::Rule rule = grammar.addRule(printable(schema.place));
  madeRules.emplace(made, rule);
  Expected<Node> body = value({*made, schema.place, schema.depth + 1});
  if (!body)
    return body;
  grammar.define(rule, *body);
  return grammar.reference(rule);
}

/// A schema for what matches both, which have no references.
Expected<OrderedJson> SchemaReader::combine(const OrderedJson &first,
                                            const OrderedJson &second,
                                            const Schema &schema) {
  for (const OrderedJson *each : {&first, &second}) {
    LLMIR_RETURN_IF_ERROR(countMade(*each));
    LLMIR_RETURN_IF_ERROR(checkKeywords({*each, schema.place, schema.depth}));
  }
  return mergeSchemas(first, second, "schema, " + printable(schema.place, 200));
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

/// A member or element; null if there is none.
const OrderedJson *SchemaReader::part(const OrderedJson &value,
                                      const std::string &key) {
  if (value.is_object()) {
    const auto [index, isNew] = members.try_emplace(&value);
    if (isNew)
      for (const auto &[name, member] : value.items())
        index->second.emplace(name, &member);
    const auto found = index->second.find(key);
    return found == index->second.end() ? nullptr : found->second;
  }
  const bool isIndex =
      value.is_array() && !key.empty() && key.size() < 6 &&
      key.find_first_not_of("0123456789") == std::string::npos &&
      std::stoul(key) < value.size();
  return isIndex ? &value[std::stoul(key)] : nullptr;
}

/// A part of a JSON pointer, as a fragment of a URI has it.
static std::string keyOfPointer(std::string_view text) {
  std::string key;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t code = 0;
    size_t at = i + 1;
    if (text[i] == '%' && !readCharacterCode(text, at, 2, code)) {
      key += static_cast<char>(code);
      i = at - 1;
    } else {
      key += text[i];
    }
  }
  for (const auto &[escape, character] :
       {std::pair<const char *, const char *>("~1", "/"), {"~0", "~"}})
    for (size_t found = 0;
         (found = key.find(escape, found)) != std::string::npos; ++found)
      key.replace(found, 2, character);
  return key;
}

/// What "#/a/b" refers to.
Expected<const OrderedJson *>
SchemaReader::resolve(const Schema &schema, const std::string &reference) {
  if (reference.empty() || reference[0] != '#')
    return refuse(StatusCode::Unsupported, schema, "$ref",
                  "refers to " + printable(reference) +
                      ", which is outside of the schema",
                  "put it into $defs");
  const OrderedJson *at = &document;
  for (size_t begin = 1; begin < reference.size();) {
    const size_t end =
        std::min(reference.find('/', begin + 1), reference.size());
    at = part(*at, keyOfPointer(std::string_view(reference).substr(
                       begin + 1, end - begin - 1)));
    if (reference[begin] != '/' || !at)
      return refuse(StatusCode::InvalidArgument, schema, "$ref",
                    "refers to " + printable(reference) +
                        ", which does not exist",
                    "correct it");
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
    return kept(keep(std::move(*whole)), schema);
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
  OrderedJson result = withoutAnnotations(schema.json);
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
    Expected<OrderedJson> both = combine(result, **target, schema);
    if (!both)
      return both;
    result = std::move(*both);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Combinations
//===----------------------------------------------------------------------===//

/// A schema without its keyword `key`, and another schema; if there is nothing
/// else, `other` itself.
Expected<const OrderedJson *> SchemaReader::merged(const Schema &schema,
                                                   const OrderedJson &other,
                                                   const std::string &key) {
  const Schema part = schema.at(other, key);
  if (other == false ||
      !hasAssertionsBeside(schema.json, key.substr(0, key.find('/'))))
    return &other;
  OrderedJson base = withoutAnnotations(schema.json);
  base.erase(key.substr(0, key.find('/')));
  OrderedJson more = other == true ? OrderedJson::object() : other;
  if (!more.is_object())
    return &other; // value() refuses it.
  for (OrderedJson *each : {&base, &more}) {
    Expected<OrderedJson> whole =
        withoutReference({*each, part.place, part.depth});
    if (!whole)
      return whole.takeStatus();
    *each = std::move(*whole);
  }
  Expected<OrderedJson> both = combine(base, more, part);
  if (!both)
    return both.takeStatus();
  return keep(std::move(*both));
}

/// The schema, in which what tells the alternatives apart is required.
Expected<OrderedJson>
SchemaReader::withDiscriminator(const Schema &schema) const {
  const OrderedJson &given = *schema.find("discriminator");
  const auto name = given.find("propertyName");
  if (!given.is_object() || name == given.end() || !name->is_string())
    return malformed(schema, "discriminator", "an object with propertyName");
  OrderedJson result = withoutAnnotations(schema.json);
  OrderedJson &required = result["required"];
  if (required.is_null())
    required = OrderedJson::array();
  if (!required.is_array())
    return malformed(schema, "required", "a list of names");
  if (std::find(required.begin(), required.end(), *name) == required.end())
    required.push_back(*name);
  return result;
}

/// Whether at most one of the alternatives matches, whatever the value.
Status
SchemaReader::checkExclusive(const Schema &schema,
                             const std::vector<const OrderedJson *> &list) {
  SchemaComparison comparison([&](const std::string &pointer) {
    Expected<const OrderedJson *> target = resolve(schema, pointer);
    return target ? *target : nullptr;
  });
  const auto overlap = comparison.firstOverlap(list);
  if (!overlap)
    return Status::ok();
  return refuse(StatusCode::Unsupported, schema, "oneOf",
                "has alternatives " + std::to_string(overlap->first) + " and " +
                    std::to_string(overlap->second) +
                    ", of which it is not clear that only one matches",
                "use 'anyOf', or require a property whose values differ");
}

Expected<Node> SchemaReader::alternatives(const Schema &schema,
                                          const char *key) {
  const OrderedJson &list = *schema.find(key);
  if (!list.is_array() || list.empty())
    return malformed(schema, key, "a list of schemas");
  const bool isExclusive = std::string_view(key) == "oneOf";
  std::optional<OrderedJson> extended;
  if (isExclusive && schema.find("discriminator")) {
    Expected<OrderedJson> required = withDiscriminator(schema);
    if (!required)
      return required.takeStatus();
    extended = std::move(*required);
  }
  const OrderedJson &base = extended ? *extended : schema.json;
  std::vector<Node> all;
  std::vector<const OrderedJson *> wholes;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = std::string(key) + "/" + std::to_string(i);
    auto whole = merged({base, schema.place, schema.depth}, list[i], name);
    if (!whole)
      return whole.takeStatus();
    const Schema part = schema.at(**whole, name);
    Expected<Node> one = *whole == &list[i] ? value(part) : kept(*whole, part);
    if (!one)
      return one;
    wholes.push_back(*whole);
    all.push_back(*one);
  }
  if (isExclusive)
    LLMIR_RETURN_IF_ERROR(checkExclusive(schema, wholes));
  return grammar.choice(all);
}

Expected<Node> SchemaReader::allOf(const Schema &schema) {
  const OrderedJson &list = *schema.find("allOf");
  if (!list.is_array() || list.empty())
    return malformed(schema, "allOf", "a list of schemas");
  if (list.size() == 1 && !hasAssertionsBeside(schema.json, "allOf"))
    return value(schema.at(list[0], "allOf/0"));
  OrderedJson all = withoutAnnotations(schema.json);
  all.erase("allOf");
  for (size_t i = 0; i < list.size(); ++i) {
    const Schema part = schema.at(list[i], "allOf/" + std::to_string(i));
    if (++parts > mostParts)
      break; // value() refuses it.
    if (list[i] == true)
      continue;
    if (!list[i].is_object())
      return unsupported(part, "allOf", "use objects in it");
    Expected<OrderedJson> both[2] = {
        withoutReference({all, part.place, part.depth}),
        withoutReference(part)};
    for (Expected<OrderedJson> &each : both)
      if (!each)
        return each.takeStatus();
    Expected<OrderedJson> combined = combine(*both[0], *both[1], part);
    if (!combined)
      return combined.takeStatus();
    all = std::move(*combined);
  }
  return kept(keep(std::move(all)), schema);
}

} // namespace llmir::constraint
