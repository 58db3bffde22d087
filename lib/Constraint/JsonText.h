//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of JSON texts, as nodes of a grammar.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_JSONTEXT_H
#define LLMIR_LIB_CONSTRAINT_JSONTEXT_H

#include "llmir/ChatTemplate/OrderedJson.h"
#include "llmir/Constraint/Grammar.h"

namespace llmir::constraint {

/// Characters as a JSON string has them: those that need it are escaped, each
/// in one way.
Grammar::Node charactersInString(Grammar &grammar,
                                 const std::vector<CodePoints> &ranges);

/// Any character of a JSON string, in any spelling.
Grammar::Node anyCharacterInString(Grammar &grammar);

/// Any number with at most 18 digits before and after the point, and two of an
/// exponent.
Grammar::Node anyNumber(Grammar &grammar);
Grammar::Node anyInteger(Grammar &grammar);

/// The shortest JSON text of a value.
std::string shortText(const OrderedJson &value);

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_JSONTEXT_H
