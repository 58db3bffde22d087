//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers between limits, as nodes of a grammar.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_NUMBERRANGES_H
#define LLMIR_LIB_CONSTRAINT_NUMBERRANGES_H

#include "llmir/Constraint/Grammar.h"

#include <optional>

namespace llmir::constraint {

/// Numbers of more digits are not generated.
constexpr int64_t greatestInteger = 999'999'999'999'999'999;

/// Limits of a number, as whole numbers of at most 18 digits.
struct NumberLimits {
  std::optional<int64_t> least, most;
  bool excludesLeast = false, excludesMost = false;
};

/// Whole numbers within the limits, in decimal digits; nothing, if there are
/// none.
Grammar::Node integersBetween(Grammar &grammar, const NumberLimits &limits);

/// Numbers within the limits, with at most 18 digits after the point and
/// without an exponent.
Grammar::Node numbersBetween(Grammar &grammar, const NumberLimits &limits);

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_NUMBERRANGES_H
