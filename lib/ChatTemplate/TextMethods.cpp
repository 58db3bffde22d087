//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "PyString.h"
#include "Unicode.h"

#include <algorithm>
#include <iterator>

namespace llmir::chat {
namespace {

bool isMarkup(const Value &self) { return self.as<Str>().isMarkup; }

/// A text of the same kind as `self`.
Value like(Interpreter &interpreter, const Value &self, std::string text) {
  return makeStr(interpreter.heap, std::move(text), isMarkup(self));
}

/// An argument as it becomes part of `self`: escaped for a safe text.
std::string part(Heap &heap, const Value &self, const Value &argument) {
  const Str &str = argument.as<Str>();
  return isMarkup(self) && !str.isMarkup ? escapeHtml(heap, str.text)
                                         : str.text;
}

void noArguments(const char *name, const CallArguments &arguments) {
  Bound(name, arguments, {}, 0);
}

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

template <std::string (*change)(std::string_view)>
Value changeCase(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  noArguments("str method", arguments);
  interpreter.heap.stepCharacters(self.text().size());
  interpreter.heap.reserve(self.text().size() * 3);
  return like(interpreter, self, change(self.text()));
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// Whether the text is not empty and all its characters have the property.
template <bool (*has)(uint32_t)>
Value allCharacters(Interpreter &interpreter, const Value &self,
                    CallArguments &arguments) {
  noArguments("str method", arguments);
  const std::string &text = self.text();
  interpreter.heap.stepCharacters(text.size());
  for (size_t at = 0; at < text.size();)
    if (!has(nextCharacter(text, at)))
      return Value::boolean(false);
  return Value::boolean(!text.empty());
}

bool isAlphanumeric(uint32_t c) { return isAlpha(c) || isNumeric(c); }
bool isAscii(uint32_t c) { return c < 0x80; }

/// islower() and isupper(): no cased character of another kind, and one of
/// this.
template <bool (*is)(uint32_t), bool (*isOther)(uint32_t)>
Value hasCase(Interpreter &interpreter, const Value &self,
              CallArguments &arguments) {
  noArguments("str method", arguments);
  interpreter.heap.stepCharacters(self.text().size());
  bool any = false;
  for (size_t at = 0; at < self.text().size();) {
    uint32_t c = nextCharacter(self.text(), at);
    if (isOther(c) || isTitle(c))
      return Value::boolean(false);
    any |= is(c);
  }
  return Value::boolean(any);
}

Value istitle(Interpreter &interpreter, const Value &self,
              CallArguments &arguments) {
  noArguments("istitle", arguments);
  interpreter.heap.stepCharacters(self.text().size());
  bool inWord = false, any = false;
  for (size_t at = 0; at < self.text().size();) {
    uint32_t c = nextCharacter(self.text(), at);
    if (isUpper(c) || isTitle(c)) {
      if (inWord)
        return Value::boolean(false);
      inWord = any = true;
    } else if (isLower(c)) {
      if (!inWord)
        return Value::boolean(false);
    } else {
      inWord = false;
    }
  }
  return Value::boolean(any);
}

Value isidentifier(Interpreter &interpreter, const Value &self,
                   CallArguments &arguments) {
  noArguments("isidentifier", arguments);
  const std::string &text = self.text();
  interpreter.heap.stepCharacters(text.size());
  if (text.empty())
    return Value::boolean(false);
  size_t at = 0;
  bool result = isIdentifierStart(nextCharacter(text, at));
  while (result && at < text.size())
    result = isIdentifierPart(nextCharacter(text, at));
  return Value::boolean(result);
}

/// These hold for the empty text, too.
template <bool (*has)(uint32_t)>
Value allOrEmpty(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  if (self.text().empty()) {
    noArguments("str method", arguments);
    return Value::boolean(true);
  }
  return allCharacters<has>(interpreter, self, arguments);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// The part of a text that optional bounds in characters select.
struct Window {
  std::string_view text;
  int64_t start; ///< In characters.
  bool isValid;  ///< False if it starts after the end.
};

int64_t bound(const Value &value, int64_t otherwise) {
  if (value.isMissing() || value.isNone())
    return otherwise;
  if (!value.isInteger())
    raise(ErrorKind::Type, "slice indices must be integers or None or have an "
                           "__index__ method");
  return requireIndex(value, "slice indices");
}

Window window(Heap &heap, const Value &self, const Value &start,
              const Value &stop) {
  const std::string &text = self.text();
  heap.stepBytes(text.size() * 4);
  int64_t length = textLength(self);
  int64_t from = bound(start, 0), to = bound(stop, INT64_MAX);
  auto fix = [&](int64_t i) {
    return i < 0 ? std::max<int64_t>(i < -length ? 0 : i + length, 0) : i;
  };
  from = fix(from);
  to = std::min(fix(to), length);
  if (from > to)
    return {{}, from, false};
  auto offset = [&](int64_t i) {
    auto at = static_cast<size_t>(i);
    return static_cast<size_t>(length) == text.size() ? at
                                                      : byteOffset(text, at);
  };
  size_t begin = offset(from), end = offset(to);
  return {std::string_view(text).substr(begin, end - begin), from, true};
}

/// The place of a text in characters, or -1.
int64_t findIn(const Window &in, std::string_view what, bool fromRight) {
  if (!in.isValid)
    return -1;
  size_t found =
      fromRight ? findLastText(in.text, what) : findText(in.text, what);
  if (found == std::string_view::npos)
    return -1;
  return in.start +
         static_cast<int64_t>(countCharacters(in.text.substr(0, found)));
}

template <bool fromRight, bool mustExist>
Value find(Interpreter &interpreter, const Value &self,
           CallArguments &arguments) {
  Bound bound("find", arguments, {"", "", ""}, 1);
  int64_t found = findIn(window(interpreter.heap, self, bound[1], bound[2]),
                         bound.text(0), fromRight);
  if (mustExist && found < 0)
    raise(ErrorKind::Value, "substring not found");
  return Value::integer(found);
}

Value count(Interpreter &interpreter, const Value &self,
            CallArguments &arguments) {
  Bound bound("count", arguments, {"", "", ""}, 1);
  const std::string &what = bound.text(0);
  Window in = window(interpreter.heap, self, bound[1], bound[2]);
  if (!in.isValid)
    return Value::integer(0);
  if (what.empty())
    return Value::integer(static_cast<int64_t>(countCharacters(in.text)) + 1);
  int64_t count = 0;
  for (size_t at = 0;
       (at = findText(in.text, what, at)) != std::string_view::npos;
       at += what.size()) {
    interpreter.heap.step();
    ++count;
  }
  return Value::integer(count);
}

template <bool atEnd>
Value startsOrEnds(Interpreter &interpreter, const Value &self,
                   CallArguments &arguments) {
  Bound bound(atEnd ? "endswith" : "startswith", arguments, {"", "", ""}, 1);
  Window in = window(interpreter.heap, self, bound[1], bound[2]);
  auto matches = [&](const Value &affix) {
    if (!affix.isStr())
      raise(ErrorKind::Type,
            std::string(atEnd ? "endswith" : "startswith") +
                " first arg must be str or a tuple of str, not " +
                typeName(affix));
    const std::string &text = affix.text();
    return in.isValid && in.text.size() >= text.size() &&
           in.text.substr(atEnd ? in.text.size() - text.size() : 0,
                          text.size()) == text;
  };
  if (!bound[0].is(Kind::Tuple))
    return Value::boolean(matches(bound[0]));
  for (const Value &affix : bound[0].as<Sequence>().items)
    if (matches(affix))
      return Value::boolean(true);
  return Value::boolean(false);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

template <Sides sides>
Value strip(Interpreter &interpreter, const Value &self,
            CallArguments &arguments) {
  Bound bound("strip", arguments, {""}, 0);
  interpreter.heap.stepCharacters(self.text().size());
  const std::string *chars = nullptr;
  if (bound.has(0) && !bound[0].isNone()) {
    if (!bound[0].isStr())
      raise(ErrorKind::Type, "strip arg must be None or str");
    chars = &bound[0].text();
    interpreter.heap.step(chars->size() * self.text().size() / 32);
  }
  return like(interpreter, self,
              std::string(stripText(self.text(), sides, chars)));
}

Value listOf(Interpreter &interpreter, const Value &self,
             const std::vector<std::string_view> &pieces) {
  Values items;
  items.reserve(pieces.size());
  for (std::string_view piece : pieces)
    items.push_back(like(interpreter, self, std::string(piece)));
  return makeList(interpreter.heap, std::move(items));
}

template <bool fromRight>
Value split(Interpreter &interpreter, const Value &self,
            CallArguments &arguments) {
  Bound bound("split", arguments, {"sep", "maxsplit"}, 0);
  const std::string *separator =
      bound.has(0) && !bound[0].isNone() ? &bound.text(0) : nullptr;
  return listOf(interpreter, self,
                splitText(interpreter.heap, self.text(), separator,
                          bound.integerOr(1, -1), fromRight));
}

Value splitlines(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  Bound bound("splitlines", arguments, {"keepends"}, 0);
  return listOf(interpreter, self,
                splitLines(interpreter.heap, self.text(),
                           bound.truthOr(interpreter.heap, 0, false)));
}

template <bool fromRight>
Value partition(Interpreter &interpreter, const Value &self,
                CallArguments &arguments) {
  Bound bound("partition", arguments, {""}, 1);
  const std::string &text = self.text(), &separator = bound.text(0);
  if (separator.empty())
    raise(ErrorKind::Value, "empty separator");
  interpreter.heap.stepBytes(text.size());
  size_t found =
      fromRight ? findLastText(text, separator) : findText(text, separator);
  std::string parts[3];
  if (found != std::string::npos) {
    parts[0] = text.substr(0, found);
    parts[1] = separator;
    parts[2] = text.substr(found + separator.size());
  } else {
    parts[fromRight ? 2 : 0] = text;
  }
  Values items;
  for (std::string &each : parts)
    items.push_back(like(interpreter, self, std::move(each)));
  return makeTuple(interpreter.heap, std::move(items));
}

template <bool atEnd>
Value removeAffix(Interpreter &interpreter, const Value &self,
                  CallArguments &arguments) {
  Bound bound("removeprefix", arguments, {""}, 1);
  const std::string &text = self.text(), &affix = bound.text(0);
  if (text.size() < affix.size())
    return self;
  size_t at = atEnd ? text.size() - affix.size() : 0;
  if (text.compare(at, affix.size(), affix) != 0)
    return self;
  return like(interpreter, self,
              atEnd ? text.substr(0, at) : text.substr(affix.size()));
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Value replace(Interpreter &interpreter, const Value &self,
              CallArguments &arguments) {
  Bound bound("replace", arguments, {"", "", ""}, 2);
  bound.text(0);
  bound.text(1);
  return like(interpreter, self,
              replaceText(interpreter.heap, self.text(),
                          part(interpreter.heap, self, bound[0]),
                          part(interpreter.heap, self, bound[1]),
                          bound.integerOr(2, -1)));
}

Value join(Interpreter &interpreter, const Value &self,
           CallArguments &arguments) {
  Bound bound("join", arguments, {""}, 1);
  Heap &heap = interpreter.heap;
  if (!isIterable(bound[0]))
    raise(ErrorKind::Type, "can only join an iterable");
  TextBuilder text(heap);
  Cursor cursor(heap, bound[0]);
  Value item;
  for (int64_t i = 0; cursor.next(item); ++i) {
    if (i > 0)
      text.append(self.text());
    if (!item.isStr())
      raise(ErrorKind::Type, "sequence item " + std::to_string(i) +
                                 ": expected str instance, " + typeName(item) +
                                 " found");
    text.append(part(heap, self, item));
  }
  return like(interpreter, self, text.take());
}

enum class Alignment : uint8_t { Left, Center, Right };

template <Alignment alignment>
Value align(Interpreter &interpreter, const Value &self,
            CallArguments &arguments) {
  Bound bound("align", arguments, {"", ""}, 1);
  std::string fill = " ";
  if (bound.has(1)) {
    fill = bound.text(1);
    if (countCharacters(fill) != 1)
      raise(ErrorKind::Type,
            "The fill character must be exactly one character long");
  }
  const int64_t width = bound.integer(0);
  const std::string &text = self.text();
  Heap &heap = interpreter.heap;
  if (alignment == Alignment::Center)
    return like(interpreter, self, centerText(heap, text, width, fill));
  int64_t length = textLength(self);
  int64_t missing = width > length ? width - length : 0;
  bool isLeft = alignment == Alignment::Left;
  return like(
      interpreter, self,
      padText(heap, text, isLeft ? 0 : missing, isLeft ? missing : 0, fill));
}

Value zfill(Interpreter &interpreter, const Value &self,
            CallArguments &arguments) {
  Bound bound("zfill", arguments, {""}, 1);
  const std::string &text = self.text();
  int64_t width = bound.integer(0), length = textLength(self);
  if (width <= length)
    return self;
  size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  return like(interpreter, self,
              text.substr(0, sign) + padText(interpreter.heap,
                                             text.substr(sign), width - length,
                                             0, "0"));
}

Value expandtabs(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  Bound bound("expandtabs", arguments, {"tabsize"}, 0);
  const int64_t size = bound.integerOr(0, 8);
  TextBuilder text(interpreter.heap);
  int64_t column = 0;
  const std::string &source = self.text();
  for (size_t at = 0; at < source.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(source, at);
    if (c != '\t') {
      text.append(std::string_view(source).substr(begin, at - begin));
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    } else if (size > 0) {
      int64_t count = size - column % size;
      if (static_cast<uint64_t>(count) > interpreter.heap.limits.memoryBytes)
        interpreter.heap.reserve(SIZE_MAX);
      text.append(static_cast<size_t>(count), ' ');
      column += count;
    }
  }
  return like(interpreter, self, text.take());
}

Value translate(Interpreter &interpreter, const Value &self,
                CallArguments &arguments) {
  Bound bound("translate", arguments, {""}, 1);
  Heap &heap = interpreter.heap;
  TextBuilder text(heap);
  const std::string &source = self.text();
  for (size_t at = 0; at < source.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(source, at);
    std::optional<Value> found = subscript(heap, bound[0], Value::integer(c));
    if (!found) {
      text.append(std::string_view(source).substr(begin, at - begin));
    } else if (found->isStr()) {
      text.append(found->text());
    } else if (found->isSmallInteger() && found->asInt() >= 0 &&
               found->asInt() <= 0x10ffff) {
      std::string character;
      appendCharacter(character, static_cast<uint32_t>(found->asInt()));
      text.append(character);
    } else if (!found->isNone()) {
      raise(ErrorKind::Type,
            "character mapping must return integer, None or str");
    }
  }
  return like(interpreter, self, text.take());
}

Value maketrans(Interpreter &interpreter, const Value &,
                CallArguments &arguments) {
  Bound bound("maketrans", arguments, {"", "", ""}, 1);
  Heap &heap = interpreter.heap;
  Value result = heap.make<Dict>(0);
  auto set = [&](uint32_t c, Value value) {
    dictSet(heap, result.as<Dict>(), Value::integer(c), std::move(value));
  };
  if (!bound.has(1)) {
    if (!bound[0].is(Kind::Dict))
      raise(ErrorKind::Type,
            "if you give only one argument to maketrans it must be a dict");
    for (const auto &[key, value] : bound[0].as<Dict>().entries) {
      if (key.isInteger()) {
        dictSet(heap, result.as<Dict>(), key, value);
        continue;
      }
      if (!key.isStr() || textLength(key) != 1)
        raise(ErrorKind::Value,
              "string keys in translate table must be of length 1");
      size_t at = 0;
      set(nextCharacter(key.text(), at), value);
    }
    return result;
  }
  const std::string &from = bound.text(0), &to = bound.text(1);
  if (countCharacters(from) != countCharacters(to))
    raise(ErrorKind::Value,
          "the first two maketrans arguments must have equal length");
  for (size_t i = 0, j = 0; i < from.size();) {
    uint32_t c = nextCharacter(from, i);
    set(c, Value::integer(nextCharacter(to, j)));
  }
  if (bound.has(2))
    for (size_t i = 0; i < bound.text(2).size();)
      set(nextCharacter(bound.text(2), i), Value::none());
  return result;
}

Value encode(Interpreter &, const Value &, CallArguments &) {
  raise(ErrorKind::Unsupported, "bytes are not supported: str.encode()");
}

Value format(Interpreter &interpreter, const Value &self,
             CallArguments &arguments) {
  return formatBraces(interpreter, self, arguments);
}

Value format_map(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  Bound bound("format_map", arguments, {""}, 1);
  return formatMap(interpreter, self, bound[0]);
}

constexpr MethodEntry methods[] = {
    {"capitalize", changeCase<capitalize>},
    {"casefold", changeCase<caseFold>},
    {"center", align<Alignment::Center>},
    {"count", count},
    {"encode", encode},
    {"endswith", startsOrEnds<true>},
    {"expandtabs", expandtabs},
    {"find", find<false, false>},
    {"format", format},
    {"format_map", format_map},
    {"index", find<false, true>},
    {"isalnum", allCharacters<isAlphanumeric>},
    {"isalpha", allCharacters<isAlpha>},
    {"isascii", allOrEmpty<isAscii>},
    {"isdecimal", allCharacters<isDecimal>},
    {"isdigit", allCharacters<isDigit>},
    {"isidentifier", isidentifier},
    {"islower", hasCase<isLower, isUpper>},
    {"isnumeric", allCharacters<isNumeric>},
    {"isprintable", allOrEmpty<isPrintable>},
    {"isspace", allCharacters<isSpace>},
    {"istitle", istitle},
    {"isupper", hasCase<isUpper, isLower>},
    {"join", join},
    {"ljust", align<Alignment::Left>},
    {"lower", changeCase<toLower>},
    {"lstrip", strip<Sides::Left>},
    {"maketrans", maketrans},
    {"partition", partition<false>},
    {"removeprefix", removeAffix<false>},
    {"removesuffix", removeAffix<true>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", align<Alignment::Right>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", strip<Sides::Right>},
    {"split", split<false>},
    {"splitlines", splitlines},
    {"startswith", startsOrEnds<false>},
    {"strip", strip<Sides::Both>},
    {"swapcase", changeCase<swapCase>},
    {"title", changeCase<toTitle>},
    {"translate", translate},
    {"upper", changeCase<toUpper>},
    {"zfill", zfill},
};

} // namespace

const MethodEntry *findTextMethod(std::string_view name) {
  const MethodEntry *found =
      std::lower_bound(std::begin(methods), std::end(methods), name,
                       [](const MethodEntry &entry, std::string_view name) {
                         return entry.name < name;
                       });
  return found != std::end(methods) && found->name == name ? found : nullptr;
}

} // namespace llmir::chat
