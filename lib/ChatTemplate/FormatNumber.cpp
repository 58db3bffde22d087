//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatNumber.h"
#include "PyString.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>

namespace llmir::chat {

/// Maximum precision of a number; doubles have at most 1074 digits after the
/// point.
constexpr int64_t kMaxPrecision = 100'000;

static std::string align(Heap &heap, const FormatSpec &spec,
                         const std::string &text, char usual) {
  auto length = static_cast<int64_t>(countCharacters(text));
  if (spec.width <= length)
    return text;
  int64_t missing = spec.width - length;
  switch (spec.align ? spec.align : usual) {
  case '<':
    return padText(heap, text, 0, missing, spec.fill);
  case '^':
    return padText(heap, text, missing / 2, missing - missing / 2, spec.fill);
  default:
    return padText(heap, text, missing, 0, spec.fill);
  }
}

/// Inserts separators into the digits before the point. `width`: zeros are
/// added up to it.
static std::string group(const std::string &digits, char separator,
                         size_t every, int64_t width) {
  size_t whole = 0;
  while (whole < digits.size() &&
         ((digits[whole] >= '0' && digits[whole] <= '9') ||
          (every == 4 && digits[whole] != '.')))
    ++whole;
  std::string result = digits.substr(whole), head;
  size_t count = 0;
  for (size_t i = whole; i-- > 0; ++count) {
    if (count && count % every == 0)
      head += separator;
    head += digits[i];
  }
  while (static_cast<int64_t>(head.size() + result.size()) < width) {
    if (count && count % every == 0)
      head += separator;
    head += '0';
    ++count;
  }
  return std::string(head.rbegin(), head.rend()) + result;
}

std::string formatDigits(Heap &heap, const FormatSpec &spec, bool isNegative,
                         const std::string &prefix, std::string digits) {
  std::string sign = isNegative         ? "-"
                     : spec.sign == '-' ? ""
                                        : std::string(1, spec.sign);
  sign += prefix;
  auto missing = spec.width - static_cast<int64_t>(sign.size());
  bool fillsZeros = spec.align == '=' && spec.fill == "0";
  if (fillsZeros && missing > 0)
    heap.reserve(static_cast<size_t>(missing) * 2);
  if (spec.grouping) {
    heap.step(
        static_cast<uint64_t>(fillsZeros ? std::max<int64_t>(missing, 0) : 0));
    bool byFour = spec.type == 'x' || spec.type == 'X' || spec.type == 'b' ||
                  spec.type == 'o';
    digits =
        group(digits, spec.grouping, byFour ? 4 : 3, fillsZeros ? missing : 0);
  }
  if (spec.align == '=') {
    auto length = static_cast<int64_t>(digits.size());
    return sign + padText(heap, digits, missing - length, 0, spec.fill);
  }
  return align(heap, spec, sign + digits, '>');
}

std::string formatInteger(Heap &heap, const Value &value,
                          const FormatSpec &spec) {
  if (spec.precision >= 0)
    raise(ErrorKind::Value,
          "Precision not allowed in integer format specifier");
  BigInt number = toBigInt(value);
  heap.step(number.size() * number.size());
  const bool isNegative = number.isNegative();
  if (isNegative)
    number = -number;
  if (spec.type == 'c') {
    std::optional<int64_t> code = number.toInt64();
    if (isNegative || !code || *code > 0x10ffff)
      raise(ErrorKind::Overflow, "%c arg not in range(0x110000)");
    std::string text;
    appendCharacter(text, static_cast<uint32_t>(*code));
    return align(heap, spec, text, '<');
  }
  int base = spec.type == 'b'                       ? 2
             : spec.type == 'o'                     ? 8
             : spec.type == 'x' || spec.type == 'X' ? 16
                                                    : 10;
  std::string digits = number.toString(base), prefix;
  if (base == 10 && digits.size() > BigInt::kMaxDigits)
    raise(ErrorKind::Value, "Exceeds the limit (4300 digits) for integer "
                            "string conversion");
  if (spec.isAlternate && base != 10)
    prefix = base == 2 ? "0b" : base == 8 ? "0o" : "0x";
  if (spec.type == 'X') {
    digits = toUpper(digits);
    prefix = toUpper(prefix);
  }
  return formatDigits(heap, spec, isNegative, prefix, std::move(digits));
}

/// Digits of a finite, non-negative number by printf's conversion.
static std::string printDouble(Heap &heap, double value, char type,
                               int64_t precision, bool isAlternate) {
  if (precision > kMaxPrecision)
    raise(ErrorKind::Limit, "the precision of a number is too large");
  heap.step(128 + static_cast<uint64_t>(precision) / 2);
  char format[8];
  std::snprintf(format, sizeof format, isAlternate ? "%%#.*%c" : "%%.*%c",
                type);
  std::string text(static_cast<size_t>(precision) + 330, '\0');
  int size = std::snprintf(text.data(), text.size(), format,
                           static_cast<int>(precision), value);
  text.resize(static_cast<size_t>(size));
  return text;
}

/// Without a type, a precision counts as for g, but a fraction is shown.
static std::string generalDigits(Heap &heap, double value, int64_t precision) {
  std::string text =
      printDouble(heap, value, 'g', std::max<int64_t>(precision, 1), false);
  if (text.find_first_of(".e") != std::string::npos)
    return text;
  // Python switches to an exponent one digit earlier here.
  if (static_cast<int64_t>(text.size()) >= std::max<int64_t>(precision, 1)) {
    std::string scientific = printDouble(
        heap, value, 'e', std::max<int64_t>(precision, 1) - 1, false);
    size_t e = scientific.find('e');
    std::string mantissa = scientific.substr(0, e);
    if (mantissa.find('.') != std::string::npos) {
      mantissa.erase(mantissa.find_last_not_of('0') + 1);
      if (mantissa.back() == '.')
        mantissa.pop_back();
    }
    return mantissa + scientific.substr(e);
  }
  return text + ".0";
}

std::string formatDouble(Heap &heap, double value, const FormatSpec &spec) {
  const bool isNegative = std::signbit(value) && !std::isnan(value);
  value = std::fabs(value);
  const bool isUpper = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
  std::string digits;
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
  } else if (spec.type == '\0' || spec.type == 'n') {
    if (spec.type == 'n')
      digits = printDouble(heap, value, 'g',
                           spec.precision < 0 ? 6 : spec.precision, false);
    else if (spec.precision < 0)
      digits = reprOfDouble(value);
    else
      digits = generalDigits(heap, value, spec.precision);
  } else if (spec.type == '%') {
    digits =
        printDouble(heap, value * 100, 'f',
                    spec.precision < 0 ? 6 : spec.precision, spec.isAlternate);
  } else {
    char lower = static_cast<char>(spec.type | 0x20);
    int64_t precision = spec.precision < 0 ? 6 : spec.precision;
    digits = printDouble(heap, value, lower, precision, spec.isAlternate);
  }
  if (spec.type == '%')
    digits += '%';
  if (isUpper)
    digits = toUpper(digits);
  return formatDigits(heap, spec, isNegative, {}, std::move(digits));
}

std::string formatString(Heap &heap, const std::string &text,
                         const FormatSpec &spec) {
  if (spec.precision < 0)
    return align(heap, spec, text, '<');
  heap.stepBytes(text.size());
  size_t size = byteOffset(text, static_cast<size_t>(spec.precision));
  return align(heap, spec, text.substr(0, size), '<');
}

} // namespace llmir::chat
