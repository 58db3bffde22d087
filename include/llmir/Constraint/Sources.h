//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates what people constrain answers with into a grammar. Each function
// adds rules to the grammar and returns the node that matches. What cannot be
// translated exactly is refused by its name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONSTRAINT_SOURCES_H
#define LLMIR_CONSTRAINT_SOURCES_H

#include "llmir/ChatTemplate/OrderedJson.h"
#include "llmir/Constraint/Grammar.h"

#include <string_view>

namespace llmir {

/// Texts that match a regular expression from begin to end: characters, ., sets
/// with \d, \w and \s, groups, |, and the repetitions *, +, ? and {m,n}, all as
/// ECMA-262 has them; ^ and $ around it mean nothing. Unsupported, naming it,
/// for what is not regular (lookaround, references) or not translated (\b, \p,
/// flags); InvalidArgument for wrong syntax; OutOfRange for long or deeply
/// nested ones.
Expected<Grammar::Node> addRegex(Grammar &grammar, std::string_view pattern);

/// The JSON strings whose text has a part that matches, as `pattern` of JSON
/// Schema has it: ^ and $ tie it to the begin and end. Without the quotes.
Expected<Grammar::Node> addRegexInString(Grammar &grammar,
                                         std::string_view pattern);

/// A grammar in llama.cpp's GBNF; its rule `root` is matched. InvalidArgument,
/// with the line, for wrong syntax; OutOfRange for long or deeply nested ones.
Expected<Grammar::Node> addGBNF(Grammar &grammar, std::string_view source);

struct JsonStyle {
  /// Between the parts of values: nothing, a space, or a line end and up to 20
  /// spaces and tabs. Otherwise always nothing.
  bool hasSpace = true;
};

/// The JSON texts of the values that a schema describes, with their properties
/// in the schema's order. Where a schema has `properties` but does not mention
/// `additionalProperties`, there are no others. Numbers have at most 18 digits
/// before and after the point. Unsupported, naming keyword and place, for what
/// cannot be honored; InvalidArgument for what is no schema; OutOfRange if it
/// has too many parts.
Expected<Grammar::Node> addJsonSchema(Grammar &grammar,
                                      const OrderedJson &schema,
                                      const JsonStyle &style = {});

} // namespace llmir

#endif // LLMIR_CONSTRAINT_SOURCES_H
