//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"
#include "NumberRanges.h"
#include "SchemaReader.h"
#include "StringFormats.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>

namespace llmir::constraint {

using Node = Grammar::Node;

Expected<Node> SchemaReader::string(const Schema &schema) {
  const OrderedJson *pattern = schema.find("pattern"),
                    *format = schema.find("format");
  const bool hasLength = schema.find("minLength") || schema.find("maxLength");
  if ((pattern != nullptr) + (format != nullptr) + hasLength > 1)
    return refuse(StatusCode::Unsupported, schema,
                  format ? "format" : "pattern",
                  "is not supported beside lengths or another pattern",
                  "put the lengths into the pattern: \"^[a-z]{1,8}$\"");
  if (pattern || format) {
    const OrderedJson &given = pattern ? *pattern : *format;
    if (!given.is_string())
      return malformed(schema, pattern ? "pattern" : "format", "a text");
    std::optional<std::string> regex = given.get<std::string>();
    if (format) {
      regex = patternOfFormat(*regex);
      if (!regex)
        return refuse(StatusCode::Unsupported, schema, "format",
                      "is " + describeJson(Json(given)) +
                          ", which is not supported",
                      "use one of " + knownFormats() + ", or a pattern");
      regex = "^(" + *regex + ")$";
    }
    Expected<Node> text = addRegexInString(grammar, *regex);
    if (!text)
      return text.takeStatus().withContext(
          "schema, " + printable(schema.place, 200) + ": 'pattern'");
    return quoted(*text);
  }
  auto least = count(schema, "minLength", 0);
  auto most = count(schema, "maxLength", Grammar::noLimit);
  if (!least || !most)
    return (!least ? least : most).takeStatus();
  if (*least > *most)
    return grammar.choice({});
  return quoted(grammar.repeat(anyStringCharacter(), *least, *most));
}

Expected<Node> SchemaReader::number(const Schema &schema, bool isInteger) {
  NumberLimits limits;
  struct Keyword {
    const char *key;
    bool isLeast, excludes;
  };
  if (const OrderedJson *step = schema.find("multipleOf");
      step && !(isInteger && *step == 1))
    return unsupported(schema, "multipleOf", "remove it");
  if (const OrderedJson *format = schema.find("format")) {
    if (*format == "int32")
      limits.least = INT32_MIN, limits.most = INT32_MAX;
    else if (*format != "int64" && *format != "double" && *format != "float")
      return unsupported(schema, "format", "remove it");
  }
  for (const Keyword &each : {Keyword{"minimum", true, false},
                              {"exclusiveMinimum", true, true},
                              {"maximum", false, false},
                              {"exclusiveMaximum", false, true}}) {
    const OrderedJson *value = schema.find(each.key);
    if (!value)
      continue;
    if (!value->is_number())
      return malformed(schema, each.key, "a number");
    double bound = value->get<double>();
    bool excludes = each.excludes;
    if (bound != std::floor(bound)) {
      if (!isInteger)
        return refuse(StatusCode::Unsupported, schema, each.key,
                      "is not a whole number, which is not supported for "
                      "numbers that are not whole",
                      "give a whole number");
      bound = each.isLeast ? std::ceil(bound) : std::floor(bound);
      excludes = false;
    }
    const double most = 2e18; // Not more than an int64_t holds.
    const int64_t whole =
        value->is_number_integer() && std::abs(bound) < most
            ? value->get<int64_t>()
            : static_cast<int64_t>(std::clamp(bound, -most, most));
    if (whole > greatestInteger || whole < -greatestInteger) {
      if ((whole > 0) == each.isLeast)
        return refuse(StatusCode::Unsupported, schema, each.key,
                      "has more than 18 digits", "give a smaller number");
      continue;
    }
    auto &limit = each.isLeast ? limits.least : limits.most;
    auto &excluded = each.isLeast ? limits.excludesLeast : limits.excludesMost;
    const bool isTighter = !limit ||
                           (each.isLeast ? whole > *limit : whole < *limit) ||
                           (whole == *limit && excludes);
    if (isTighter) {
      limit = whole;
      excluded = excludes;
    }
  }
  if (!limits.least && !limits.most)
    return isInteger ? anyInteger(grammar) : anyNumber(grammar);
  return isInteger ? integersBetween(grammar, limits)
                   : numbersBetween(grammar, limits);
}

} // namespace llmir::constraint
