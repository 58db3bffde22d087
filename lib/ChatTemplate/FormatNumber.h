//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats numbers and texts as format specifications say, for both `%` and
// str.format().
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_FORMATNUMBER_H
#define LLMIR_LIB_CHATTEMPLATE_FORMATNUMBER_H

#include "Operators.h"

#include <string>

namespace llmir::chat {

/// [[fill]align][sign][z][#][0][width][grouping][.precision][type]
struct FormatSpec {
  std::string fill = " ";
  char align = '\0'; ///< <, >, ^ or =; none: the type's own.
  char sign = '-';
  bool isAlternate = false;
  int64_t width = -1;
  char grouping = '\0';
  int64_t precision = -1;
  char type = '\0';
};

/// A sign, a prefix ("0x") and digits, padded and grouped.
std::string formatDigits(Heap &heap, const FormatSpec &spec, bool isNegative,
                         const std::string &prefix, std::string digits);
/// d, b, o, x, X, c or none.
std::string formatInteger(Heap &heap, const Value &value,
                          const FormatSpec &spec);
/// e, E, f, F, g, G, % or none.
std::string formatDouble(Heap &heap, double value, const FormatSpec &spec);
/// s or none.
std::string formatString(Heap &heap, const std::string &text,
                         const FormatSpec &spec);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_FORMATNUMBER_H
