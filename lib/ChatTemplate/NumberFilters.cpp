//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "FormatNumber.h"
#include "PyString.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace llmir::chat::filters {

Value abs(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("abs", arguments, {""}, 1);
  const Value &value = bound[0];
  if (value.is(Kind::Float))
    return Value::number(std::fabs(value.asDouble()));
  if (!value.isInteger())
    raise(ErrorKind::Type,
          "bad operand type for abs(): '" + typeName(value) + "'");
  return toBigInt(value).isNegative() ? negate(interpreter.heap, value)
                                      : unaryPlus(interpreter.heap, value);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The text in ASCII, without surrounding space and with ASCII digits.
static std::string plainNumber(std::string_view text) {
  std::string result;
  text = stripText(text, Sides::Both);
  for (size_t at = 0; at < text.size();) {
    uint32_t c = nextCharacter(text, at);
    int digit = decimalValue(c);
    result += digit >= 0 ? static_cast<char>('0' + digit)
              : c < 0x80 ? static_cast<char>(c)
                         : '?';
  }
  return result;
}

static int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/// int(text, base); nothing for ValueError.
static std::optional<BigInt> parseInteger(Heap &heap, std::string_view source,
                                          int64_t base) {
  if (base != 0 && (base < 2 || base > 36))
    return std::nullopt;
  heap.stepCharacters(source.size());
  std::string text = plainNumber(source);
  size_t at = 0;
  bool isNegative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-'))
    isNegative = text[at++] == '-';
  bool mayHaveUnderscore = false;
  if (at + 1 < text.size() && text[at] == '0') {
    char letter = static_cast<char>(text[at + 1] | 0x20);
    int64_t prefixed = letter == 'x'   ? 16
                       : letter == 'o' ? 8
                       : letter == 'b' ? 2
                                       : 0;
    if (prefixed && (base == 0 || base == prefixed)) {
      base = prefixed;
      at += 2;
      mayHaveUnderscore = true;
    }
  }
  bool isZeroOnly = base == 0 && at < text.size() && text[at] == '0';
  if (base == 0)
    base = 10;
  std::string digits;
  bool lastWasDigit = mayHaveUnderscore;
  for (; at < text.size(); ++at) {
    if (text[at] == '_' && lastWasDigit) {
      lastWasDigit = false;
      continue;
    }
    if (digitOf(text[at]) >= base)
      return std::nullopt;
    digits += text[at];
    lastWasDigit = true;
  }
  if (digits.empty() || !lastWasDigit)
    return std::nullopt;
  if (isZeroOnly && digits.find_first_not_of('0') != std::string::npos)
    return std::nullopt;
  bool isPowerOfTwo = (base & (base - 1)) == 0;
  if (digits.size() > BigInt::kMaxDigits && !isPowerOfTwo)
    return std::nullopt;
  heap.step(1 + digits.size() * digits.size() / 64);
  BigInt value = BigInt::fromDigits(digits, static_cast<int>(base));
  return isNegative ? -value : value;
}

/// float(text); nothing for ValueError.
static std::optional<double> parseFloat(Heap &heap, std::string_view source) {
  heap.stepCharacters(source.size() * 2);
  std::string text = plainNumber(source), number;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '_') {
      bool between = i > 0 && i + 1 < text.size() &&
                     digitOf(text[i - 1]) < 10 && digitOf(text[i + 1]) < 10;
      if (!between)
        return std::nullopt;
      continue;
    }
    number += c;
  }
  std::string word = toLower(number);
  size_t sign = !word.empty() && (word[0] == '+' || word[0] == '-');
  std::string_view bare = std::string_view(word).substr(sign);
  if (bare != "inf" && bare != "infinity" && bare != "nan") {
    // strtod also takes hexadecimal numbers and "nan(…)".
    if (word.empty() ||
        word.find_first_not_of("0123456789+-.e") != std::string::npos)
      return std::nullopt;
  }
  char *end = nullptr;
  double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() + number.size() || number.empty())
    return std::nullopt;
  return value;
}

/// float(value): nothing for TypeError and ValueError.
static std::optional<double> floatOf(Heap &heap, const Value &value) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.isNumber())
    return toDouble(value);
  if (value.isStr())
    return parseFloat(heap, value.text());
  return std::nullopt;
}

Value toFloat(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("float", arguments, {"value", "default"}, 1);
  std::optional<double> value = floatOf(interpreter.heap, bound[0]);
  return value ? Value::number(*value) : bound.valueOr(1, Value::number(0));
}

static std::optional<Value> truncated(Heap &heap, double value) {
  if (std::isnan(value))
    return std::nullopt;
  if (std::isinf(value))
    raise(ErrorKind::Overflow, "cannot convert float infinity to integer");
  return makeInteger(heap, BigInt::fromDouble(value));
}

Value toInt(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("int", arguments, {"value", "default", "base"}, 1);
  Heap &heap = interpreter.heap;
  const Value &value = bound[0];
  const Value otherwise = bound.valueOr(1, Value::integer(0));
  if (value.isInteger())
    return unaryPlus(heap, value);
  if (value.isStr()) {
    int64_t base =
        bound.has(2) && !bound[2].isInteger() ? 1 : bound.integerOr(2, 10);
    if (auto parsed = parseInteger(heap, value.text(), base))
      return makeInteger(heap, std::move(*parsed));
  }
  std::optional<double> number = floatOf(heap, value);
  std::optional<Value> result;
  if (number)
    result = truncated(heap, *number);
  return result ? *result : otherwise;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Rounds decimal digits, half to even, to a multiple of 10^count. `hasMore`:
/// a fraction follows.
static BigInt roundDigits(const std::string &digits, size_t count,
                          bool hasMore) {
  if (count > digits.size())
    return BigInt(0);
  std::string head = digits.substr(0, digits.size() - count);
  std::string tail = digits.substr(digits.size() - count);
  hasMore |= tail.find_first_not_of('0', 1) != std::string::npos;
  bool isOdd = !head.empty() && (head.back() - '0') % 2 == 1;
  bool isUp = tail[0] > '5' || (tail[0] == '5' && (hasMore || isOdd));
  BigInt result = BigInt::fromDigits(head);
  if (isUp)
    result = result + BigInt(1);
  return result * BigInt::fromDigits("1" + std::string(count, '0'));
}

static Value roundInteger(Heap &heap, const Value &value, int64_t precision) {
  if (precision >= 0)
    return unaryPlus(heap, value);
  BigInt number = toBigInt(value);
  heap.step(number.size() * number.size());
  const bool isNegative = number.isNegative();
  std::string digits = (isNegative ? -number : number).toString();
  if (-precision > static_cast<int64_t>(digits.size()))
    return Value::integer(0);
  BigInt rounded = roundDigits(digits, static_cast<size_t>(-precision), false);
  return makeInteger(heap, isNegative ? -rounded : rounded);
}

static double roundDouble(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 330)
    return value;
  if (precision < -310)
    return std::copysign(0.0, value);
  if (precision >= 0) {
    std::string text(700, '\0');
    std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(precision),
                  value);
    return std::strtod(text.c_str(), nullptr);
  }
  double magnitude = std::fabs(value), whole = std::floor(magnitude);
  BigInt rounded =
      roundDigits(BigInt::fromDouble(whole).toString(),
                  static_cast<size_t>(-precision), magnitude > whole);
  return std::copysign(rounded.toDouble(), value);
}

static Value roundToward(Interpreter &interpreter, const Value &value,
                         const Value &precision, bool isUp) {
  Heap &heap = interpreter.heap;
  Value scale =
      binary(interpreter, BinaryOp::Pow, Value::integer(10), precision);
  Value scaled = binary(interpreter, BinaryOp::Mul, value, scale);
  if (!scaled.isNumber())
    raise(ErrorKind::Type, "must be real number, not " + typeName(scaled));
  if (scaled.is(Kind::Float)) {
    double number = scaled.asDouble();
    if (!std::isfinite(number))
      raise(ErrorKind::Overflow, "cannot convert float infinity or NaN to "
                                 "integer");
    scaled = makeInteger(heap, BigInt::fromDouble(isUp ? std::ceil(number)
                                                       : std::floor(number)));
  }
  return binary(interpreter, BinaryOp::Div, scaled, scale);
}

Value round(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("round", arguments, {"value", "precision", "method"}, 1);
  const Value &value = bound[0];
  const std::string method = bound.has(2) && bound[2].isStr() ? bound[2].text()
                             : bound.has(2)                   ? ""
                                                              : "common";
  if (method == "ceil" || method == "floor")
    return roundToward(interpreter, value, bound.valueOr(1, Value::integer(0)),
                       method == "ceil");
  if (method != "common")
    raise(ErrorKind::Runtime, "method must be common, ceil or floor");
  const bool isPlain = bound.has(1) && bound[1].isNone();
  const int64_t precision = isPlain ? 0 : bound.integerOr(1, 0);
  if (value.isInteger())
    return roundInteger(interpreter.heap, value, precision);
  if (!value.is(Kind::Float))
    raise(ErrorKind::Type,
          "type " + typeName(value) + " doesn't define __round__ method");
  interpreter.heap.step(200); // Hundreds of digits are written and read.
  double rounded = roundDouble(value.asDouble(), precision);
  if (!isPlain)
    return Value::number(rounded);
  if (!std::isfinite(rounded))
    raise(ErrorKind::Overflow, "cannot convert float infinity or NaN to "
                               "integer");
  return makeInteger(interpreter.heap, BigInt::fromDouble(rounded));
}

Value filesizeformat(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("filesizeformat", arguments, {"value", "binary"}, 1);
  Heap &heap = interpreter.heap;
  std::optional<double> parsed = floatOf(heap, bound[0]);
  if (!parsed)
    raise(ErrorKind::Value, "could not convert a value to float");
  const double bytes = *parsed;
  const bool isBinary = bound.truthOr(heap, 1, false);
  const double base = isBinary ? 1024 : 1000;
  if (bytes == 1)
    return makeStr(heap, "1 Byte");
  if (bytes < base) {
    std::optional<Value> whole = truncated(heap, bytes);
    return makeStr(heap, toText(heap, *whole) + " Bytes");
  }
  const char letters[] = "kMGTPEZY";
  double unit = base;
  size_t i = 0;
  do
    unit *= base;
  while (bytes >= unit && ++i < 8);
  if (i == 8)
    --i;
  FormatSpec spec;
  spec.precision = 1;
  spec.type = 'f';
  std::string name(1, isBinary && i == 0 ? 'K' : letters[i]);
  return makeStr(heap, formatDouble(heap, base * bytes / unit, spec) + " " +
                           name + (isBinary ? "iB" : "B"));
}

} // namespace llmir::chat::filters
