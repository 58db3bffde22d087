//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "PyString.h"
#include "Unicode.h"

#include <cmath>
#include <cstdio>

namespace llmir::chat::filters {

/// The text of an argument of any type, and whether it is marked safe.
static Value soft(Interpreter &interpreter, const Value &value) {
  return softText(interpreter.heap, value);
}

static Value like(Interpreter &interpreter, const Value &source,
                  std::string text) {
  return makeStr(interpreter.heap, std::move(text),
                 source.isStr() && source.as<Str>().isMarkup);
}

static Value callMethod(Interpreter &interpreter, const Value &text,
                        const char *name, Values arguments = {}) {
  CallArguments list;
  list.positional = std::move(arguments);
  return findTextMethod(name)->call(interpreter, text, list);
}

//===----------------------------------------------------------------------===//
// Case and space
//===----------------------------------------------------------------------===//

Value upper(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("upper", arguments, {"s"}, 1);
  return callMethod(interpreter, soft(interpreter, bound[0]), "upper");
}

Value lower(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("lower", arguments, {"s"}, 1);
  return callMethod(interpreter, soft(interpreter, bound[0]), "lower");
}

Value capitalizeText(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("capitalize", arguments, {"s"}, 1);
  return callMethod(interpreter, soft(interpreter, bound[0]), "capitalize");
}

/// Capitalizes words, which begin after white space and ( { [ < and -.
Value title(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("title", arguments, {"s"}, 1);
  Value source = soft(interpreter, bound[0]);
  const std::string &text = source.text();
  interpreter.heap.stepCharacters(text.size());
  auto isBreak = [](uint32_t c) {
    return isSpace(c) || c == '-' || c == '(' || c == '{' || c == '[' ||
           c == '<';
  };
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t first = begin;
    bool inBreak = isBreak(nextCharacter(text, first));
    size_t end = first;
    while (end < text.size()) {
      size_t next = end;
      if (isBreak(nextCharacter(text, next)) != inBreak)
        break;
      end = next;
    }
    interpreter.heap.step(2);
    result += toUpper(std::string_view(text).substr(begin, first - begin));
    result += toLower(std::string_view(text).substr(first, end - first));
    begin = end;
  }
  return makeStr(interpreter.heap, std::move(result));
}

Value center(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("center", arguments, {"value", "width"}, 1);
  return callMethod(interpreter, soft(interpreter, bound[0]), "center",
                    {bound.valueOr(1, Value::integer(80))});
}

Value trim(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("trim", arguments, {"value", "chars"}, 1);
  return callMethod(interpreter, soft(interpreter, bound[0]), "strip",
                    {bound.valueOr(1, Value::none())});
}

Value indent(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("indent", arguments, {"s", "width", "first", "blank"}, 1);
  Heap &heap = interpreter.heap;
  if (bound[0].isUndefined())
    failUndefined(bound[0]);
  const std::string &text = bound.text(0);
  std::string indentation;
  if (bound.has(1) && bound[1].isStr()) {
    indentation = bound[1].text();
  } else {
    int64_t width = std::max<int64_t>(bound.integerOr(1, 4), 0);
    heap.reserve(static_cast<size_t>(width));
    indentation.assign(static_cast<size_t>(width), ' ');
  }
  const bool blank = bound.truthOr(heap, 3, false);
  std::string source = text + "\n"; // So that the last line has an end.
  TextBuilder result(heap);
  if (bound.truthOr(heap, 2, false))
    result.append(indentation);
  bool isFirst = true;
  for (std::string_view line : splitLines(heap, source, false)) {
    if (!isFirst) {
      result.append('\n');
      if (blank || !line.empty())
        result.append(indentation);
    }
    isFirst = false;
    result.append(line);
  }
  return like(interpreter, bound[0], result.take());
}

Value truncate(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("truncate", arguments,
              {"s", "length", "killwords", "end", "leeway"}, 1);
  Heap &heap = interpreter.heap;
  const int64_t length = bound.integerOr(1, 255);
  const std::string end = bound.has(3) ? bound.text(3) : "...";
  const int64_t leeway =
      bound.has(4) && !bound[4].isNone() ? bound.integer(4) : 5;
  auto endLength = static_cast<int64_t>(countCharacters(end));
  if (length < endLength || leeway < 0)
    raise(ErrorKind::Value, "expected a length of at least " +
                                std::to_string(endLength) +
                                " and a leeway of at least 0");
  if (requireLength(heap, bound[0]) - length <= leeway)
    return bound[0];
  const std::string &text = bound.text(0);
  heap.stepCharacters(text.size());
  std::string head =
      text.substr(0, byteOffset(text, static_cast<size_t>(length - endLength)));
  if (!bound.truthOr(heap, 2, false))
    if (size_t space = head.rfind(' '); space != std::string::npos)
      head.resize(space);
  return like(interpreter, bound[0], head + end);
}

Value wordcount(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("wordcount", arguments, {"s"}, 1);
  Value text = soft(interpreter, bound[0]);
  interpreter.heap.stepCharacters(text.text().size());
  int64_t count = 0;
  bool inWord = false;
  for (size_t at = 0; at < text.text().size();) {
    uint32_t c = nextCharacter(text.text(), at);
    bool isPart = c == '_' || isAlpha(c) || isNumeric(c);
    count += isPart && !inWord;
    inWord = isPart;
  }
  return Value::integer(count);
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

Value string(Interpreter &interpreter, CallArguments &arguments) {
  return soft(interpreter, Bound("string", arguments, {"s"}, 1)[0]);
}

Value replace(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("replace", arguments, {"s", "old", "new", "count"}, 3);
  Heap &heap = interpreter.heap;
  int64_t limit = bound.has(3) && !bound[3].isNone() ? bound.integer(3) : -1;
  return makeStr(heap, replaceText(heap, toText(heap, bound[0]),
                                   toText(heap, bound[1]),
                                   toText(heap, bound[2]), limit));
}

Value format(Interpreter &interpreter, CallArguments &arguments) {
  Heap &heap = interpreter.heap;
  if (arguments.positional.empty())
    raise(ErrorKind::Type, "format() lacks its value");
  if (arguments.positional.size() > 1 && !arguments.keywords.empty())
    raise(ErrorKind::Runtime, "can't handle positional and keyword arguments "
                              "at the same time");
  Value text = soft(interpreter, arguments.positional[0]);
  if (arguments.keywords.empty())
    return formatPercent(
        interpreter, text,
        makeTuple(heap, Values(arguments.positional.begin() + 1,
                               arguments.positional.end())));
  Value dict = heap.make<Dict>(0);
  for (const auto &[name, value] : arguments.keywords)
    dictSet(heap, dict.as<Dict>(), makeStr(heap, name), value);
  return formatPercent(interpreter, text, dict);
}

Value tojson(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("tojson", arguments,
              {"x", "ensure_ascii", "indent", "separators", "sort_keys"}, 1);
  Heap &heap = interpreter.heap;
  JsonStyle style;
  style.asciiOnly = bound.truthOr(heap, 1, false);
  style.sortKeys = bound.truthOr(heap, 4, false);
  if (bound.has(2) && !bound[2].isNone()) {
    if (bound[2].isStr()) {
      style.indent = bound[2].text();
    } else {
      int64_t width = std::max<int64_t>(bound.integer(2), 0);
      heap.reserve(static_cast<size_t>(width));
      style.indent = std::string(static_cast<size_t>(width), ' ');
    }
    style.itemSeparator = ",";
  }
  if (bound.has(3) && !bound[3].isNone()) {
    Values parts = collect(heap, bound[3]);
    if (parts.size() != 2 || !parts[0].isStr() || !parts[1].isStr())
      raise(ErrorKind::Value, "separators must be two texts");
    style.itemSeparator = parts[0].text();
    style.keySeparator = parts[1].text();
  }
  return makeStr(heap, toJson(heap, bound[0], style));
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

Value escape(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("escape", arguments, {""}, 1);
  Value text = soft(interpreter, bound[0]);
  if (text.as<Str>().isMarkup)
    return text;
  return makeStr(interpreter.heap, escapeHtml(interpreter.heap, text.text()),
                 true);
}

Value forceescape(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("forceescape", arguments, {"value"}, 1);
  Value text = soft(interpreter, bound[0]);
  return makeStr(interpreter.heap, escapeHtml(interpreter.heap, text.text()),
                 true);
}

Value safe(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("safe", arguments, {"value"}, 1);
  return makeStr(interpreter.heap, toText(interpreter.heap, bound[0]), true);
}

/// The text without what lies between `open` and `close`.
static std::string without(const std::string &text, std::string_view open,
                           std::string_view close) {
  std::string result;
  size_t at = 0;
  for (;;) {
    size_t begin = text.find(open, at);
    size_t end = begin == std::string::npos
                     ? begin
                     : text.find(close, begin + open.size());
    if (end == std::string::npos)
      return result + text.substr(at);
    result += text.substr(at, begin - at);
    at = end + close.size();
  }
}

static std::string unescapeHtml(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> entities[] = {
      {"&lt;", "<"},  {"&gt;", ">"},   {"&quot;", "\""},     {"&#34;", "\""},
      {"&#39;", "'"}, {"&apos;", "'"}, {"&nbsp;", "\u00a0"}, {"&amp;", "&"}};
  std::string result;
  for (size_t at = 0; at < text.size();) {
    bool found = false;
    for (auto [entity, character] : entities)
      if (text.compare(at, entity.size(), entity) == 0) {
        result += character;
        at += entity.size();
        found = true;
        break;
      }
    if (!found)
      result += text[at++];
  }
  return result;
}

Value striptags(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("striptags", arguments, {"value"}, 1);
  Heap &heap = interpreter.heap;
  const std::string source = toText(heap, bound[0]);
  heap.stepCharacters(source.size() * 4); // Several passes.
  std::string text = without(source, "<!--", "-->");
  text = without(text, "<", ">");
  std::string result;
  for (std::string_view word : splitText(heap, text, nullptr, -1, false)) {
    if (!result.empty())
      result += ' ';
    result += word;
  }
  return makeStr(heap, unescapeHtml(std::move(result)));
}

Value xmlattr(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("xmlattr", arguments, {"d", "autospace"}, 1);
  Heap &heap = interpreter.heap;
  if (bound[0].isUndefined())
    failUndefined(bound[0]);
  if (!bound[0].is(Kind::Dict))
    raise(ErrorKind::Type, "xmlattr needs a mapping");
  TextBuilder result(heap);
  for (const auto &[key, value] : bound[0].as<Dict>().entries) {
    if (value.isNone() || value.isUndefined())
      continue;
    if (!key.isStr())
      raise(ErrorKind::Type, "expected string or bytes-like object");
    if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      raise(ErrorKind::Value,
            "Invalid character in attribute name: " + reprOfText(key.text()));
    if (result.size() > 0)
      result.append(' ');
    Value text = soft(interpreter, value);
    result.append(escapeHtml(heap, key.text()) + "=\"" +
                  (text.as<Str>().isMarkup ? text.text()
                                           : escapeHtml(heap, text.text())) +
                  "\"");
  }
  std::string text = result.take();
  if (!text.empty() && bound.truthOr(heap, 1, true))
    text.insert(text.begin(), ' ');
  return makeStr(heap, std::move(text));
}

//===----------------------------------------------------------------------===//
// URLs and sizes
//===----------------------------------------------------------------------===//

static std::string quoteUrl(Heap &heap, const Value &value, bool isQuery) {
  const std::string text = toText(heap, value);
  // Up to three times as long.
  heap.stepCharacters(text.size() * 5);
  heap.reserve(text.size() * 3);
  std::string result;
  char buffer[8];
  for (char c : text) {
    bool isPlain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                   (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' ||
                   c == '~' || (c == '/' && !isQuery);
    if (isPlain) {
      result += c;
    } else if (c == ' ' && isQuery) {
      result += '+';
    } else {
      std::snprintf(buffer, sizeof buffer, "%%%02X",
                    static_cast<unsigned char>(c));
      result += buffer;
    }
  }
  return result;
}

Value urlencode(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("urlencode", arguments, {"value"}, 1);
  Heap &heap = interpreter.heap;
  const Value &value = bound[0];
  if (value.isStr() || !isIterable(value))
    return makeStr(heap, quoteUrl(heap, value, false));
  TextBuilder result(heap);
  auto add = [&](const Value &key, const Value &item) {
    if (result.size() > 0)
      result.append('&');
    result.append(quoteUrl(heap, key, true) + "=" + quoteUrl(heap, item, true));
  };
  if (value.is(Kind::Dict)) {
    for (const auto &[key, item] : value.as<Dict>().entries)
      add(key, item);
    return makeStr(heap, result.take());
  }
  Cursor cursor(heap, value);
  for (Value item; cursor.next(item);) {
    Values pair = collect(heap, item);
    if (pair.size() != 2)
      raise(ErrorKind::Value, "urlencode needs pairs");
    add(pair[0], pair[1]);
  }
  return makeStr(heap, result.take());
}

} // namespace llmir::chat::filters
