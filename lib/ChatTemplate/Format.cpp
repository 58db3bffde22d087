//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// text % values and text.format(…).
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "FormatNumber.h"
#include "Unicode.h"

#include <cmath>

namespace llmir::chat {

/// ascii(): repr() with other characters escaped.
static std::string toAscii(Heap &heap, const Value &value) {
  std::string repr = toRepr(heap, value), result;
  char buffer[16];
  for (size_t at = 0; at < repr.size();) {
    uint32_t c = nextCharacter(repr, at);
    if (c < 0x80) {
      result += static_cast<char>(c);
      continue;
    }
    std::snprintf(buffer, sizeof buffer,
                  c < 0x100     ? "\\x%02x"
                  : c < 0x10000 ? "\\u%04x"
                                : "\\U%08x",
                  c);
    result += buffer;
  }
  return result;
}

/// A number up to 2^31, which is limited again where it is used.
static int64_t parseCount(const std::string &text, size_t &at) {
  int64_t count = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    count = count * 10 + (text[at] - '0');
    if (count > INT32_MAX)
      raise(ErrorKind::Value, "Too many decimal digits in format string");
  }
  return count;
}

//===----------------------------------------------------------------------===//
// %
//===----------------------------------------------------------------------===//

namespace {

class PercentFormatter {
public:
  PercentFormatter(Interpreter &interpreter, const Value &text,
                   const Value &values)
      : heap(interpreter.heap), interpreter(interpreter), format(text.text()),
        isMarkup(text.as<Str>().isMarkup), values(values), result(heap) {
    isTuple = values.is(Kind::Tuple);
    isMapping = values.is(Kind::Dict) || values.is(Kind::List) ||
                values.is(Kind::Range) || values.isUndefined();
  }
  Value run();

private:
  Value next();
  Value keyed();
  void formatOne();
  std::string convert(const Value &value, FormatSpec &spec, char type);
  std::string convertInteger(const Value &value, FormatSpec &spec, char type);
  Value toInteger(const Value &value, char type);

  Heap &heap;
  Interpreter &interpreter;
  const std::string &format;
  const bool isMarkup;
  const Value &values;
  TextBuilder result;
  size_t at = 0;
  size_t used = 0; ///< Values taken by position.
  bool isTuple, isMapping;
};

} // namespace

Value PercentFormatter::next() {
  if (isTuple && used < values.as<Sequence>().items.size())
    return values.as<Sequence>().items[used++];
  if (!isTuple && used == 0) {
    ++used;
    return values;
  }
  raise(ErrorKind::Type, "not enough arguments for format string");
}

/// The value of %(key)s.
Value PercentFormatter::keyed() {
  size_t begin = ++at;
  for (int depth = 1; at < format.size(); ++at) {
    depth += format[at] == '(' ? 1 : format[at] == ')' ? -1 : 0;
    if (depth == 0)
      break;
  }
  if (at >= format.size())
    raise(ErrorKind::Value, "incomplete format key");
  std::string key = format.substr(begin, at++ - begin);
  if (!isMapping)
    raise(ErrorKind::Type, "format requires a mapping");
  if (values.isUndefined())
    failUndefined(values);
  Value name = makeStr(heap, key);
  std::optional<Value> found = subscript(heap, values, name);
  if (!found)
    raise(ErrorKind::Lookup, "the format needs the key " + reprOfText(key));
  return *found;
}

Value PercentFormatter::toInteger(const Value &value, char type) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.isInteger())
    return value;
  if (!value.is(Kind::Float) || type != 'd')
    raise(ErrorKind::Type,
          std::string("%") + type +
              (type == 'd' ? " format: a real number is required"
                           : " format: an integer is required") +
              ", not " + typeName(value));
  if (!std::isfinite(value.asDouble()))
    raise(ErrorKind::Overflow, "cannot convert float infinity or NaN to "
                               "integer");
  return makeInteger(heap, BigInt::fromDouble(value.asDouble()));
}

std::string PercentFormatter::convertInteger(const Value &value,
                                             FormatSpec &spec, char type) {
  int64_t precision = spec.precision;
  spec.precision = -1;
  spec.type = type;
  Value number = toInteger(value, type);
  if (precision <= 0)
    return formatInteger(heap, number, spec);
  // A precision is the least number of digits.
  FormatSpec plain;
  plain.type = type;
  Value magnitude =
      toBigInt(number).isNegative() ? negate(heap, number) : number;
  std::string digits = formatInteger(heap, magnitude, plain);
  auto missing = precision - static_cast<int64_t>(digits.size());
  if (missing > 0) {
    heap.reserve(static_cast<size_t>(missing));
    digits.insert(0, static_cast<size_t>(missing), '0');
  }
  std::string prefix = !spec.isAlternate ? ""
                       : type == 'o'     ? "0o"
                       : type == 'd'     ? ""
                                         : std::string("0") + type;
  return formatDigits(heap, spec, toBigInt(number).isNegative(), prefix,
                      std::move(digits));
}

std::string PercentFormatter::convert(const Value &value, FormatSpec &spec,
                                      char type) {
  bool isNumeric = true;
  std::string text;
  switch (type) {
  case 's':
    text = toText(heap, value);
    if (isMarkup && !(value.isStr() && value.as<Str>().isMarkup))
      text = escapeHtml(heap, text);
    isNumeric = false;
    break;
  case 'r':
    text = toRepr(heap, value);
    isNumeric = false;
    break;
  case 'a':
    text = toAscii(heap, value);
    isNumeric = false;
    break;
  case 'c':
    if (value.isStr() && textLength(value) != 1)
      raise(ErrorKind::Type, "%c requires int or char");
    if (value.isStr())
      text = value.text();
    else
      text = formatInteger(heap, toInteger(value, 'c'), [] {
        FormatSpec plain;
        plain.type = 'c';
        return plain;
      }());
    isNumeric = false;
    break;
  case 'd':
  case 'i':
  case 'u':
    return convertInteger(value, spec, 'd');
  case 'x':
  case 'X':
  case 'o':
    return convertInteger(value, spec, type);
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    if (value.isUndefined())
      failUndefined(value);
    if (!value.isNumber())
      raise(ErrorKind::Type, "must be real number, not " + typeName(value));
    spec.type = type;
    return formatDouble(heap, toDouble(value), spec);
  default:
    raise(ErrorKind::Value,
          std::string("unsupported format character '") + type + "'");
  }
  (void)isNumeric;
  if (spec.align == '=' || !spec.align)
    spec.align = '>';
  spec.fill = " ";
  if (type == 'c')
    spec.precision = -1;
  return formatString(heap, text, spec);
}

/// Formats the conversion at `at`, after its %.
void PercentFormatter::formatOne() {
  FormatSpec spec;
  std::optional<Value> value;
  auto current = [&]() -> char {
    if (at >= format.size())
      raise(ErrorKind::Value, "incomplete format");
    return format[at];
  };
  if (current() == '(')
    value = keyed();
  bool hasMinus = false, hasZero = false;
  for (;; ++at) {
    char flag = current();
    if (flag == '-')
      hasMinus = true;
    else if (flag == '0')
      hasZero = true;
    else if (flag == '+')
      spec.sign = '+';
    else if (flag == ' ')
      spec.sign = spec.sign == '+' ? '+' : ' ';
    else if (flag == '#')
      spec.isAlternate = true;
    else
      break;
  }
  auto starred = [&]() -> int64_t {
    Value width = next();
    ++at;
    if (!width.isSmallInteger())
      raise(ErrorKind::Type, "* wants int");
    if (std::abs(width.asInt()) > INT32_MAX)
      raise(ErrorKind::Overflow, "a width is too large");
    return width.asInt();
  };
  spec.width = current() == '*' ? starred() : parseCount(format, at);
  if (spec.width < 0) {
    hasMinus = true;
    spec.width = -spec.width;
  }
  if (current() == '.') {
    ++at;
    spec.precision = std::max<int64_t>(
        current() == '*' ? starred() : parseCount(format, at), 0);
  }
  while (current() == 'l' || current() == 'h' || current() == 'L')
    ++at;
  char type = current();
  ++at;
  if (type == '%') {
    result.append('%');
    return;
  }
  spec.align = hasMinus ? '<' : hasZero ? '=' : '>';
  if (hasZero && !hasMinus)
    spec.fill = "0";
  result.append(convert(value ? *value : next(), spec, type));
}

Value PercentFormatter::run() {
  while (at < format.size()) {
    size_t percent = format.find('%', at);
    if (percent == std::string::npos) {
      result.append(std::string_view(format).substr(at));
      break;
    }
    result.append(std::string_view(format).substr(at, percent - at));
    at = percent + 1;
    formatOne();
  }
  bool isUsedUp =
      isTuple ? used == values.as<Sequence>().items.size() : used == 1;
  if (!isUsedUp && !isMapping)
    raise(ErrorKind::Type,
          "not all arguments converted during string formatting");
  (void)interpreter;
  return makeStr(heap, result.take(), isMarkup);
}

Value formatPercent(Interpreter &interpreter, const Value &text,
                    const Value &values) {
  return PercentFormatter(interpreter, text, values).run();
}

//===----------------------------------------------------------------------===//
// format(value, spec)
//===----------------------------------------------------------------------===//

static bool isAlign(std::string_view text) {
  return text == "<" || text == ">" || text == "=" || text == "^";
}

static FormatSpec parseSpec(const std::string &text, const Value &value) {
  FormatSpec spec;
  size_t at = 0;
  auto is = [&](char c) { return at < text.size() && text[at] == c; };
  size_t first = text.empty() ? 0 : characterSize(text[0]);
  if (text.size() > first && isAlign(std::string_view(text).substr(first, 1))) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    at = first + 1;
  } else if (isAlign(std::string_view(text).substr(0, 1))) {
    spec.align = text[0];
    at = 1;
  }
  if (is('+') || is('-') || is(' ')) {
    if (value.isStr())
      raise(ErrorKind::Value, "Sign not allowed in string format specifier");
    spec.sign = text[at++];
  }
  if (is('z'))
    raise(ErrorKind::Unsupported, "the format option 'z' is not supported");
  if (is('#')) {
    if (value.isStr())
      raise(ErrorKind::Value,
            "Alternate form (#) not allowed in string format specifier");
    spec.isAlternate = true;
    ++at;
  }
  if (is('0')) {
    if (!spec.align) {
      spec.fill = "0";
      spec.align = value.isStr() ? '<' : '=';
    }
    ++at;
  }
  if (at < text.size() && text[at] >= '0' && text[at] <= '9')
    spec.width = parseCount(text, at);
  if (is(',') || is('_'))
    spec.grouping = text[at++];
  if (is('.')) {
    size_t begin = ++at;
    spec.precision = parseCount(text, at);
    if (at == begin)
      raise(ErrorKind::Value, "Format specifier missing precision");
  }
  if (at < text.size())
    spec.type = text[at++];
  if (at < text.size())
    raise(ErrorKind::Value, "Invalid format specifier");
  return spec;
}

std::string formatSpec(Interpreter &interpreter, const Value &value,
                       const std::string &text) {
  Heap &heap = interpreter.heap;
  if (text.empty())
    return toText(heap, value);
  FormatSpec spec = parseSpec(text, value);
  auto isType = [&](std::string_view types) {
    return types.find(spec.type) != std::string_view::npos;
  };
  auto unknown = [&]() {
    raise(ErrorKind::Value, std::string("Unknown format code '") + spec.type +
                                "' for object of type '" + typeName(value) +
                                "'");
  };
  if (value.isStr()) {
    if (spec.type && spec.type != 's')
      unknown();
    if (spec.align == '=')
      raise(ErrorKind::Value,
            "'=' alignment not allowed in string format specifier");
    if (spec.grouping)
      raise(ErrorKind::Value, "Cannot specify ',' with 's'.");
    return formatString(heap, value.text(), spec);
  }
  if (!value.isNumber())
    raise(ErrorKind::Type, "unsupported format string passed to " +
                               typeName(value) + ".__format__");
  if (value.isInteger() && (!spec.type || isType("bcdoxXn"))) {
    if (spec.grouping == ',' && spec.type && spec.type != 'd')
      raise(ErrorKind::Value,
            std::string("Cannot specify ',' with '") + spec.type + "'.");
    return formatInteger(heap, value, spec);
  }
  if (spec.type && !isType("eEfFgGn%"))
    unknown();
  return formatDouble(heap, toDouble(value), spec);
}

//===----------------------------------------------------------------------===//
// str.format()
//===----------------------------------------------------------------------===//

namespace {

class BraceFormatter {
public:
  BraceFormatter(Interpreter &interpreter, const CallArguments *arguments,
                 const Value *mapping, bool isMarkup)
      : interpreter(interpreter), heap(interpreter.heap), arguments(arguments),
        mapping(mapping), isMarkup(isMarkup) {}

  std::string format(const std::string &text, int depth);

private:
  Value field(const std::string &text);
  Value firstValue(const std::string &name);
  std::string replacement(const std::string &body, int depth);

  Interpreter &interpreter;
  Heap &heap;
  const CallArguments *arguments;
  const Value *mapping; ///< Of format_map().
  const bool isMarkup;
  int64_t automatic = 0; ///< The next number of `{}`; -1: numbers are explicit.
};

} // namespace

static bool isNumber(const std::string &text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

Value BraceFormatter::firstValue(const std::string &name) {
  std::string shown = name;
  if (name.empty() || isNumber(name)) {
    if (name.empty() ? automatic < 0 : automatic > 0)
      raise(ErrorKind::Value, "cannot switch between manual field "
                              "specification and automatic field numbering");
    size_t at = 0;
    int64_t i = name.empty() ? automatic++ : parseCount(name, at);
    if (!name.empty())
      automatic = -1;
    if (!arguments || i >= static_cast<int64_t>(arguments->positional.size()))
      raise(ErrorKind::Lookup, "Replacement index " + std::to_string(i) +
                                   " out of range for positional args tuple");
    return arguments->positional[static_cast<size_t>(i)];
  }
  if (mapping) {
    std::optional<Value> found = subscript(heap, *mapping, makeStr(heap, name));
    if (found)
      return *found;
  } else {
    for (const auto &[keyword, value] : arguments->keywords)
      if (keyword == name)
        return value;
  }
  raise(ErrorKind::Lookup, "the format needs the argument " + reprOfText(name));
}

/// "name.attribute[item]"
Value BraceFormatter::field(const std::string &text) {
  size_t at = std::min(text.find_first_of(".["), text.size());
  Value value = firstValue(text.substr(0, at));
  while (at < text.size()) {
    if (text[at] == '.') {
      size_t end = std::min(text.find_first_of(".[", at + 1), text.size());
      if (end == at + 1)
        raise(ErrorKind::Value, "Empty attribute in format string");
      value = interpreter.attribute(value, text.substr(at + 1, end - at - 1));
      at = end;
    } else if (text[at] == '[') {
      size_t end = text.find(']', at);
      if (end == std::string::npos)
        raise(ErrorKind::Value, "Missing ']' in format string");
      std::string key = text.substr(at + 1, end - at - 1);
      if (key.empty())
        raise(ErrorKind::Value, "Empty attribute in format string");
      size_t digit = 0;
      value = interpreter.item(
          value, isNumber(key) ? Value::integer(parseCount(key, digit))
                               : makeStr(heap, key));
      at = end + 1;
    } else {
      raise(ErrorKind::Value, "Only '.' or '[' may follow ']' in format field "
                              "specifier");
    }
  }
  return value;
}

/// The text for the inside of a pair of braces: field[!conversion][:spec].
std::string BraceFormatter::replacement(const std::string &body, int depth) {
  size_t at = 0;
  for (bool inBrackets = false; at < body.size(); ++at) {
    if (body[at] == '[')
      inBrackets = true;
    else if (body[at] == ']')
      inBrackets = false;
    else if (!inBrackets && (body[at] == '!' || body[at] == ':'))
      break;
  }
  Value value = field(body.substr(0, at));
  if (at < body.size() && body[at] == '!') {
    char conversion = at + 1 < body.size() ? body[at + 1] : '\0';
    at += 2;
    if (at < body.size() && body[at] != ':')
      raise(ErrorKind::Value, "expected ':' after conversion specifier");
    if (conversion == 'r')
      value = makeStr(heap, toRepr(heap, value));
    else if (conversion == 's')
      value = makeStr(heap, toText(heap, value));
    else if (conversion == 'a')
      value = makeStr(heap, toAscii(heap, value));
    else
      raise(ErrorKind::Value, "Unknown conversion specifier in format string");
  }
  std::string spec =
      at < body.size() ? format(body.substr(at + 1), depth - 1) : std::string();
  std::string text = formatSpec(interpreter, value, spec);
  return isMarkup && !(value.isStr() && value.as<Str>().isMarkup)
             ? escapeHtml(heap, text)
             : text;
}

std::string BraceFormatter::format(const std::string &text, int depth) {
  if (depth < 0)
    raise(ErrorKind::Value, "Max string recursion exceeded");
  TextBuilder result(heap);
  for (size_t at = 0; at < text.size();) {
    size_t brace = text.find_first_of("{}", at);
    if (brace == std::string::npos) {
      result.append(std::string_view(text).substr(at));
      break;
    }
    result.append(std::string_view(text).substr(at, brace - at));
    at = brace + 1;
    if (at < text.size() && text[at] == text[brace]) {
      result.append(text[brace]);
      ++at;
      continue;
    }
    if (text[brace] == '}')
      raise(ErrorKind::Value, "Single '}' encountered in format string");
    size_t end = at;
    for (int nested = 1; end < text.size(); ++end) {
      nested += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (nested == 0)
        break;
    }
    if (end >= text.size())
      raise(ErrorKind::Value, "expected '}' before end of string");
    result.append(replacement(text.substr(at, end - at), depth));
    at = end + 1;
  }
  return result.take();
}

Value formatBraces(Interpreter &interpreter, const Value &text,
                   const CallArguments &arguments) {
  const Str &str = text.as<Str>();
  BraceFormatter formatter(interpreter, &arguments, nullptr, str.isMarkup);
  return makeStr(interpreter.heap, formatter.format(str.text, 2), str.isMarkup);
}

Value formatMap(Interpreter &interpreter, const Value &text,
                const Value &mapping) {
  const Str &str = text.as<Str>();
  BraceFormatter formatter(interpreter, nullptr, &mapping, str.isMarkup);
  return makeStr(interpreter.heap, formatter.format(str.text, 2), str.isMarkup);
}

} // namespace llmir::chat
