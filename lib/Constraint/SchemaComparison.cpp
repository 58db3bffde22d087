//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaComparison.h"
#include "JsonText.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace llmir::constraint {

static constexpr size_t mostWork = 300000;
static constexpr int mostDepth = 8;

bool hasType(const OrderedJson &value, const std::string &type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number() &&
            value.get<double>() == std::floor(value.get<double>()));
  return type == "number"
             ? value.is_number()
             : type == (value.is_boolean() ? "boolean" : value.type_name());
}

static const OrderedJson *find(const OrderedJson &schema, const char *key) {
  const auto found = schema.find(key);
  return found == schema.end() ? nullptr : &*found;
}

/// The values of `const` or `enum`; nullopt if there may be others.
static std::optional<std::vector<const OrderedJson *>>
valuesOf(const OrderedJson &schema) {
  if (!schema.is_object())
    return std::nullopt;
  if (const OrderedJson *one = find(schema, "const"))
    return std::vector<const OrderedJson *>{one};
  const OrderedJson *list = find(schema, "enum");
  if (!list || !list->is_array())
    return std::nullopt;
  std::vector<const OrderedJson *> values;
  for (const OrderedJson &value : *list)
    values.push_back(&value);
  return values;
}

/// The types that a schema names. Without `type`: for a value that is
/// generated, those about which the schema says something; otherwise all.
static std::vector<std::string> typesOf(const OrderedJson &schema,
                                        bool isGenerated) {
  std::vector<std::string> types;
  if (const OrderedJson *given = find(schema, "type")) {
    if (given->is_string())
      types.push_back(given->get<std::string>());
    else
      for (const OrderedJson &type : *given)
        if (type.is_string())
          types.push_back(type.get<std::string>());
    return types;
  }
  const bool isObject =
      isGenerated && (find(schema, "properties") || find(schema, "required"));
  return isObject ? std::vector<std::string>{"object"}
                  : std::vector<std::string>{"object", "array",   "string",
                                             "number", "boolean", "null"};
}

static bool isNumber(const std::string &type) {
  return type == "number" || type == "integer";
}

const OrderedJson &SchemaComparison::target(const OrderedJson &schema) const {
  const OrderedJson *at = &schema;
  for (int i = 0; i < mostDepth && at->is_object(); ++i) {
    const OrderedJson *reference = find(*at, "$ref");
    const OrderedJson *next = reference && reference->is_string()
                                  ? resolver(reference->get<std::string>())
                                  : nullptr;
    if (!next)
      break;
    at = next; // What stands beside it would only match less.
  }
  return *at;
}

/// Whether the parts of a combination show that the schemas are apart.
bool SchemaComparison::isApartByParts(const OrderedJson &whole,
                                      const OrderedJson &other,
                                      bool wholeIsGenerated, int depth) {
  const auto isApart = [&](const OrderedJson &part) {
    return wholeIsGenerated ? areApart(part, other, depth + 1)
                            : areApart(other, part, depth + 1);
  };
  for (const char *key : {"anyOf", "oneOf"})
    if (const OrderedJson *list = find(whole, key);
        list && list->is_array() &&
        std::all_of(list->begin(), list->end(), isApart))
      return true;
  const OrderedJson *list = find(whole, "allOf");
  // Together with others, a part generates other values than alone.
  return list && list->is_array() && !wholeIsGenerated &&
         std::any_of(list->begin(), list->end(), isApart);
}

/// Whether properties show that the schemas are apart: one that is required
/// and has different values, or that the generated object does not have.
bool SchemaComparison::objectsAreApart(const OrderedJson &generated,
                                       const OrderedJson &described,
                                       int depth) {
  const OrderedJson *own = find(generated, "properties"),
                    *others = find(described, "properties"),
                    *more = find(generated, "additionalProperties");
  const bool isClosed = own && own->is_object() && (!more || *more == false);
  const auto shows = [&](const OrderedJson &name, bool isRequiredThere) {
    if (!name.is_string() || ++work > mostWork)
      return false;
    const char *key = name.get_ref<const std::string &>().c_str();
    const OrderedJson *mine = own ? find(*own, key) : nullptr;
    const OrderedJson *theirs = others ? find(*others, key) : nullptr;
    const OrderedJson *required = find(generated, "required");
    const bool isOwn = mine || (required && required->is_array() &&
                                std::find(required->begin(), required->end(),
                                          name) != required->end());
    if (isRequiredThere && isClosed && !isOwn)
      return true;
    return mine && theirs && areApart(*mine, *theirs, depth + 1);
  };
  for (const OrderedJson *schema : {&generated, &described})
    if (const OrderedJson *required = find(*schema, "required");
        required && required->is_array())
      for (const OrderedJson &name : *required)
        if (shows(name, schema == &described))
          return true;
  return false;
}

/// Whether `least` of one is above `most` of the other.
static bool isAbove(const OrderedJson &one, const char *least,
                    const char *exclusiveLeast, const OrderedJson &other,
                    const char *most, const char *exclusiveMost) {
  for (const char *low : {least, exclusiveLeast})
    for (const char *high : {most, exclusiveMost}) {
      const OrderedJson *a = find(one, low), *b = find(other, high);
      if (!a || !b || !a->is_number() || !b->is_number())
        continue;
      const bool excludes = low == exclusiveLeast || high == exclusiveMost;
      if (*a > *b || (excludes && least != exclusiveLeast && *a == *b))
        return true;
    }
  return false;
}

bool SchemaComparison::areApartAs(const std::string &type,
                                  const OrderedJson &generated,
                                  const OrderedJson &described, int depth) {
  if (type == "object")
    return objectsAreApart(generated, described, depth);
  for (const auto &[one, other] :
       {std::pair(&generated, &described), std::pair(&described, &generated)}) {
    if (isNumber(type) && isAbove(*one, "minimum", "exclusiveMinimum", *other,
                                  "maximum", "exclusiveMaximum"))
      return true;
    if (type == "string" && isAbove(*one, "minLength", "minLength", *other,
                                    "maxLength", "maxLength"))
      return true;
    if (type == "array" &&
        isAbove(*one, "minItems", "minItems", *other, "maxItems", "maxItems"))
      return true;
  }
  return false;
}

/// Whether no value that is generated for one schema matches the other.
bool SchemaComparison::areApart(const OrderedJson &first,
                                const OrderedJson &second, int depth) {
  if (++work > mostWork || depth > mostDepth)
    return false;
  const OrderedJson &generated = target(first), &described = target(second);
  if (generated == false || described == false)
    return true;
  if (!generated.is_object() || !described.is_object())
    return false;
  if (isApartByParts(generated, described, true, depth) ||
      isApartByParts(described, generated, false, depth))
    return true;
  const auto values = valuesOf(generated), others = valuesOf(described);
  if (values && others) {
    work += values->size() * others->size();
    return work <= mostWork &&
           std::none_of(values->begin(), values->end(), [&](const auto *a) {
             return std::any_of(others->begin(), others->end(),
                                [&](const auto *b) { return *a == *b; });
           });
  }
  const auto types = typesOf(generated, true),
             otherTypes = typesOf(described, false);
  if (values || others) {
    work += (values ? values : others)->size();
    const auto &possible = values ? otherTypes : types;
    return std::none_of((values ? values : others)->begin(),
                        (values ? values : others)->end(),
                        [&](const OrderedJson *value) {
                          return std::any_of(possible.begin(), possible.end(),
                                             [&](const std::string &type) {
                                               return hasType(*value, type);
                                             });
                        });
  }
  for (const std::string &type : types)
    for (const std::string &other : otherTypes)
      if ((type == other || (isNumber(type) && isNumber(other))) &&
          !areApartAs(type, generated, described, depth))
        return false;
  return true;
}

std::optional<std::pair<size_t, size_t>> SchemaComparison::firstOverlap(
    const std::vector<const OrderedJson *> &schemas) {
  // Constants are many, and are compared by their texts.
  std::map<std::string, size_t> constants;
  std::vector<char> hasConstants;
  for (size_t i = 0; i < schemas.size(); ++i) {
    const auto values = valuesOf(target(*schemas[i]));
    hasConstants.push_back(values.has_value());
    if (!values)
      continue;
    for (const OrderedJson *value : *values) {
      const bool isFloat = value->is_number_float();
      const auto [found, isNew] = constants.emplace(
          isFloat && hasType(*value, "integer") &&
                  std::abs(value->get<double>()) < 1e18
              ? std::to_string(static_cast<int64_t>(value->get<double>()))
              : shortText(*value),
          i);
      if (!isNew && found->second != i)
        return std::pair(found->second, i);
    }
  }
  for (size_t i = 0; i < schemas.size(); ++i)
    for (size_t k = 0; k < schemas.size(); ++k)
      if (i != k && !(hasConstants[i] && hasConstants[k]) &&
          !areApart(*schemas[i], *schemas[k], 0))
        return std::pair(std::min(i, k), std::max(i, k));
  return std::nullopt;
}

} // namespace llmir::constraint
