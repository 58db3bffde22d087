//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaMerge.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace llmir::constraint {

bool isAnnotation(std::string_view keyword) {
  static constexpr std::string_view all[] = {
      "title",          "description", "default",       "examples",
      "example",        "$schema",     "$id",           "$comment",
      "$defs",          "definitions", "deprecated",    "readOnly",
      "writeOnly",      "$anchor",     "discriminator", "contentMediaType",
      "contentEncoding"};
  return std::find(std::begin(all), std::end(all), keyword) != std::end(all);
}

bool hasAssertionsBeside(const OrderedJson &schema, std::string_view keyword) {
  for (const auto &[key, value] : schema.items())
    if (key != keyword && !isAnnotation(key))
      return true;
  return false;
}

OrderedJson withoutAnnotations(const OrderedJson &schema) {
  OrderedJson result = OrderedJson::object();
  for (const auto &[key, value] : schema.items())
    if (!isAnnotation(key))
      result[key] = value;
  return result;
}

static OrderedJson listOf(const OrderedJson &value) {
  return value.is_array() ? value : OrderedJson::array({value});
}

/// Lists are compared element by element.
static constexpr size_t mostListed = 1000;

static bool contains(const OrderedJson &list, const OrderedJson &value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The types of both; an integer is a number.
static OrderedJson commonTypes(const OrderedJson &first,
                               const OrderedJson &second) {
  OrderedJson result = OrderedJson::array();
  const OrderedJson a = listOf(first), b = listOf(second);
  for (const OrderedJson &type : a)
    if (contains(b, type) || (type == "integer" && contains(b, "number")))
      result.push_back(type);
    else if (type == "number" && contains(b, "integer"))
      result.push_back("integer");
  return result;
}

static OrderedJson commonValues(const OrderedJson &first,
                                const OrderedJson &second) {
  OrderedJson result = OrderedJson::array();
  for (const OrderedJson &value : first)
    if (contains(second, value))
      result.push_back(value);
  return result;
}

static OrderedJson unionOf(OrderedJson first, const OrderedJson &second) {
  for (const OrderedJson &value : second)
    if (!contains(first, value))
      first.push_back(value);
  return first;
}

static OrderedJson mergeProperties(OrderedJson first,
                                   const OrderedJson &second) {
  std::unordered_map<std::string, OrderedJson *> known;
  for (const auto &[name, schema] : first.items())
    known.emplace(name, &schema);
  OrderedJson::object_t added;
  for (const auto &[name, schema] : second.items()) {
    const auto found = known.find(name);
    if (found == known.end()) // Does not look for the name again.
      added.OrderedJson::object_t::Container::emplace_back(name, schema);
    else if (*found->second != schema)
      *found->second = {
          {"allOf", OrderedJson::array({*found->second, schema})}};
  }
  auto &properties = first.get_ref<OrderedJson::object_t &>();
  for (auto &[name, schema] : added)
    properties.OrderedJson::object_t::Container::emplace_back(
        name, std::move(schema));
  return first;
}

/// Whether `schema` restricts properties that only `other` has.
static bool closesProperties(const OrderedJson &schema,
                             const OrderedJson &other) {
  const auto more = schema.find("additionalProperties");
  if (more == schema.end() || *more == true || !other.contains("properties"))
    return false;
  const OrderedJson none = OrderedJson::object();
  const OrderedJson &own =
      schema.contains("properties") ? schema["properties"] : none;
  std::unordered_set<std::string_view> names;
  for (const auto &[name, value] : own.items())
    names.insert(name);
  for (const auto &[name, value] : other["properties"].items())
    if (names.count(name) == 0)
      return true;
  return false;
}

/// The value of a keyword that both have; null if they cannot be combined.
static OrderedJson mergeKeyword(const std::string &key, const OrderedJson &a,
                                const OrderedJson &b) {
  if (a == b)
    return a;
  if ((a.is_array() && a.size() > mostListed) ||
      (b.is_array() && b.size() > mostListed))
    return nullptr;
  if (key == "type")
    return commonTypes(a, b);
  if (key == "enum" && a.is_array() && b.is_array())
    return commonValues(a, b);
  if (key == "required" && a.is_array() && b.is_array())
    return unionOf(a, b);
  if (key == "allOf" && a.is_array() && b.is_array())
    return unionOf(a, b);
  if (key == "properties" && a.is_object() && b.is_object())
    return mergeProperties(a, b);
  if (!a.is_number() || !b.is_number())
    return nullptr;
  const bool isLeast = key == "minimum" || key == "exclusiveMinimum" ||
                       key == "minLength" || key == "minItems" ||
                       key == "minProperties";
  const bool isMost = key == "maximum" || key == "exclusiveMaximum" ||
                      key == "maxLength" || key == "maxItems" ||
                      key == "maxProperties";
  if (!isLeast && !isMost)
    return nullptr;
  return (a < b) == isLeast ? b : a;
}

Expected<OrderedJson> mergeSchemas(const OrderedJson &first,
                                   const OrderedJson &second,
                                   const std::string &place) {
  auto refuse = [&](const std::string &key) {
    return Status(StatusCode::Unsupported,
                  place + ": schemas that must hold together both have '" +
                      key + "', which cannot be combined",
                  "write it as one schema");
  };
  if (closesProperties(first, second) || closesProperties(second, first))
    return refuse("additionalProperties");
  OrderedJson result = withoutAnnotations(first);
  for (const auto &[key, value] : second.items()) {
    if (isAnnotation(key))
      continue;
    if (!result.contains(key)) {
      result[key] = value;
      continue;
    }
    OrderedJson merged = mergeKeyword(key, result[key], value);
    if (merged.is_null() && !value.is_null())
      return refuse(key);
    result[key] = std::move(merged);
  }
  return result;
}

} // namespace llmir::constraint
