//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToolSchemas.h"
#include "ValueScanner.h"

#include "llmir/Support/Text.h"

namespace llmir::chatoutput {

bool ValueTypes::allows(const Json &value) const {
  if (any)
    return true;
  switch (value.type()) {
  case Json::value_t::null:
    return null;
  case Json::value_t::object:
    return object;
  case Json::value_t::array:
    return array;
  case Json::value_t::string:
    return text;
  case Json::value_t::boolean:
    return boolean;
  case Json::value_t::number_float:
    return number;
  default:
    return integer || number;
  }
}

ToolSchemas::ToolSchemas(const Json &tools) {
  if (!tools.is_array())
    return;
  for (const Json &tool : tools) {
    const Json *function = &tool;
    if (tool.is_object() && tool.contains("function"))
      function = &tool["function"];
    if (!function->is_object() || !function->contains("name") ||
        !(*function)["name"].is_string())
      continue;
    const Json none;
    schemas[(*function)["name"].get<std::string>()] =
        function->value("parameters", none);
  }
}

bool ToolSchemas::has(std::string_view tool) const {
  return schemas.contains(std::string(tool));
}

/// A reference within the schema of a tool, "#/$defs/NAME"; null if it leads
/// nowhere.
static const Json *resolve(const Json &root, const std::string &reference) {
  const Json *place = &root;
  if (!startsWith(reference, "#") || reference.size() > 1024)
    return nullptr;
  size_t at = 1;
  while (at < reference.size()) {
    const size_t end = std::min(reference.find('/', at + 1), reference.size());
    const std::string key = reference.substr(at + 1, end - at - 1);
    if (!place->is_object() || !place->contains(key))
      return nullptr;
    place = &(*place)[key];
    at = end;
  }
  return place;
}

static void addType(const std::string &name, ValueTypes &types) {
  const std::string type = lowerCase(name);
  if (type == "string" || type == "str" || type == "text")
    types.text = true;
  else if (type == "integer" || type == "int")
    types.integer = true;
  else if (type == "number" || type == "float" || type == "double")
    types.number = true;
  else if (type == "boolean" || type == "bool")
    types.boolean = true;
  else if (type == "null" || type == "none")
    types.null = true;
  else if (type == "object" || type == "dict")
    types.object = true;
  else if (type == "array" || type == "list")
    types.array = true;
  else
    types.any = true;
}

static void addTypeOf(const Json &value, ValueTypes &types) {
  types.null |= value.is_null();
  types.text |= value.is_string();
  types.boolean |= value.is_boolean();
  types.integer |= value.is_number_integer();
  types.number |= value.is_number_float();
  types.object |= value.is_object();
  types.array |= value.is_array();
}

/// Schemas and values that are looked at for one argument; references may name
/// the same ones again and again.
static constexpr size_t mostParts = 4096;

/// Adds what `schema`, a part of `root`, allows. `parts` counts.
static void addTypes(const Json &schema, const Json &root, int depth,
                     size_t &parts, ValueTypes &types) {
  if (types.any)
    return;
  if (!schema.is_object() || depth > 8 || ++parts > mostParts) {
    types.any = true;
    return;
  }
  auto find = [&](const char *key) -> const Json * {
    auto found = schema.find(key);
    return found == schema.end() ? nullptr : &*found;
  };
  const Json *reference = find("$ref");
  if (reference && reference->is_string()) {
    const Json *target =
        resolve(root, reference->get_ref<const std::string &>());
    return addTypes(target ? *target : Json(), root, depth + 1, parts, types);
  }
  bool isKnown = false;
  if (const Json *nullable = find("nullable"))
    types.null |= *nullable == true;
  if (const Json *type = find("type")) {
    isKnown = true;
    if (type->is_string())
      addType(type->get<std::string>(), types);
    else if (type->is_array() && (parts += type->size()) <= mostParts)
      for (const Json &one : *type)
        addType(one.is_string() ? one.get<std::string>() : "", types);
    else
      types.any = true;
  } else if (const Json *values = find("enum"); values && values->is_array()) {
    isKnown = (parts += values->size()) <= mostParts;
    for (size_t i = 0; isKnown && i < values->size(); ++i)
      addTypeOf((*values)[i], types);
  } else if (const Json *value = find("const")) {
    isKnown = true;
    addTypeOf(*value, types);
  }
  for (const char *key : {"anyOf", "oneOf"})
    if (const Json *choices = find(key);
        !isKnown && choices && choices->is_array()) {
      isKnown = true;
      for (const Json &one : *choices)
        addTypes(one, root, depth + 1, parts, types);
    }
  types.any |= !isKnown;
}

ValueTypes ToolSchemas::types(const std::string &tool,
                              const std::string &argument) const {
  ValueTypes types;
  const auto found = schemas.find(tool);
  if (found == schemas.end() || !found->is_object() ||
      !found->contains("properties") || !(*found)["properties"].is_object() ||
      !(*found)["properties"].contains(argument)) {
    types.any = true;
    return types;
  }
  size_t parts = 0;
  addTypes((*found)["properties"][argument], *found, 0, parts, types);
  return types;
}

std::string jsonOfText(std::string_view text, const ValueTypes &types) {
  if (types.isOnlyText())
    return quotedJson(text);
  const std::string_view value = trimmed(text);
  for (Notation notation : {Notation::Json, Notation::Python}) {
    const std::string json = wholeValue(value, notation);
    if (json.empty())
      continue;
    const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    // Quotes belong to the text where a string may be written without them.
    if (!parsed.is_discarded() && !parsed.is_string() && types.allows(parsed))
      return json;
  }
  if (types.boolean) {
    const std::string word = lowerCase(value);
    if (word == "true" || word == "false")
      return word;
  }
  return quotedJson(text);
}

} // namespace llmir::chatoutput
