//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Operators.h"
#include "Unicode.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// TextBuilder
//===----------------------------------------------------------------------===//

void TextBuilder::append(std::string_view text) {
  heap.stepBytes(text.size());
  if (content.size() + text.size() > content.capacity()) {
    size_t capacity =
        std::max(content.size() + text.size(), content.capacity() * 2);
    heap.charge(capacity - charged);
    charged = capacity;
    content.reserve(capacity);
  }
  content += text;
}

void TextBuilder::append(size_t count, char c) {
  char block[64];
  std::fill(std::begin(block), std::end(block), c);
  for (; count >= sizeof block; count -= sizeof block)
    append(std::string_view(block, sizeof block));
  append(std::string_view(block, count));
}

std::string TextBuilder::take() {
  heap.discharge(charged);
  charged = 0;
  if (content.capacity() > content.size() * 2)
    content.shrink_to_fit();
  return std::move(content);
}

//===----------------------------------------------------------------------===//
// repr of texts and numbers
//===----------------------------------------------------------------------===//

static void appendEscape(std::string &to, uint32_t c) {
  char buffer[16];
  const char *format = c < 0x100     ? "\\x%02x"
                       : c < 0x10000 ? "\\u%04x"
                                     : "\\U%08x";
  std::snprintf(buffer, sizeof buffer, format, c);
  to += buffer;
}

std::string reprOfText(std::string_view text) {
  const bool hasSingle = text.find('\'') != std::string_view::npos;
  const bool hasDouble = text.find('"') != std::string_view::npos;
  const char quote = hasSingle && !hasDouble ? '"' : '\'';
  std::string result(1, quote);
  result.reserve(text.size() + 2);
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(text, at);
    if (c == static_cast<uint32_t>(quote) || c == '\\')
      (result += '\\') += static_cast<char>(c);
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (c < 0x20 || c == 0x7f || (c > 0x7f && !isPrintable(c)))
      appendEscape(result, c);
    else
      result += text.substr(begin, at - begin);
  }
  return result += quote;
}

std::string reprOfDouble(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value,
                                    std::chars_format::scientific);
  (void)error; // The buffer is large enough for any double.
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  size_t mark = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + mark + 1 + (text[mark + 1] == '+'), end,
                  exponent);
  std::string sign, digits;
  for (char c : text.substr(0, mark)) {
    if (c == '-')
      sign = "-";
    else if (c != '.')
      digits += c;
  }
  auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string result = sign + digits.substr(0, 1);
    if (count > 1)
      result += "." + digits.substr(1);
    std::snprintf(buffer, sizeof buffer, "e%c%02d", exponent < 0 ? '-' : '+',
                  std::abs(exponent));
    return result + buffer;
  }
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') +
           digits;
  if (count <= exponent + 1)
    return sign + digits +
           std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  auto point = static_cast<size_t>(exponent + 1);
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

static std::string reprOfBig(Heap &heap, const BigInt &value) {
  heap.step(value.size() * value.size() / 4);
  std::string text = value.toString();
  if (text.size() - (text[0] == '-') > BigInt::kMaxDigits)
    raise(ErrorKind::Value, "Exceeds the limit (4300 digits) for integer "
                            "string conversion");
  return text;
}

std::string escapeHtml(Heap &heap, std::string_view text) {
  heap.stepCharacters(text.size());
  std::string result;
  result.reserve(text.size());
  for (char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&#34;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// repr of values
//===----------------------------------------------------------------------===//

static void appendItems(Heap &heap, TextBuilder &to, const Values &items) {
  bool isFirst = true;
  for (const Value &item : items) {
    if (!isFirst)
      to.append(", ");
    isFirst = false;
    appendRepr(heap, to, item);
  }
}

static void appendDict(Heap &heap, TextBuilder &to, const Dict &dict) {
  to.append('{');
  bool isFirst = true;
  for (const auto &[key, value] : dict.entries) {
    if (!isFirst)
      to.append(", ");
    isFirst = false;
    appendRepr(heap, to, key);
    to.append(": ");
    appendRepr(heap, to, value);
  }
  to.append('}');
}

static void appendView(Heap &heap, TextBuilder &to, const Value &value) {
  const View &view = value.as<View>();
  to.append(typeName(value) + "([");
  for (size_t i = 0; i < view.dict.as<Dict>().entries.size(); ++i) {
    if (i > 0)
      to.append(", ");
    appendRepr(heap, to, viewItem(heap, view, i));
  }
  to.append("])");
}

static std::string reprOfRange(const Range &range) {
  std::string text = "range(" + std::to_string(range.start) + ", " +
                     std::to_string(range.stop);
  if (range.step != 1)
    text += ", " + std::to_string(range.step);
  return text + ")";
}

/// Python shows addresses here, so no rendering depends on these.
static std::string reprOfObject(const Value &value) {
  switch (value.kind()) {
  case Kind::Function:
    return std::string("<function ") + value.as<Function>().name + ">";
  case Kind::Method:
    return std::string("<built-in method ") + value.as<Method>().name + " of " +
           typeName(value.as<Method>().self) + " object>";
  case Kind::Macro:
    return reprOfMacro(value);
  case Kind::Loop:
    return reprOfLoop(value);
  case Kind::Self:
    return "<TemplateReference None>";
  default:
    return "<" + typeName(value) + " object>";
  }
}

void appendRepr(Heap &heap, TextBuilder &to, const Value &value) {
  DepthGuard guard(heap);
  switch (value.kind()) {
  case Kind::Missing:
    to.append("missing");
    return;
  case Kind::None:
    to.append("None");
    return;
  case Kind::Bool:
    to.append(value.asInt() ? "True" : "False");
    return;
  case Kind::Int:
    to.append(std::to_string(value.asInt()));
    return;
  case Kind::Float:
    to.append(reprOfDouble(value.asDouble()));
    return;
  case Kind::Big:
    to.append(reprOfBig(heap, value.as<Big>().value));
    return;
  case Kind::Str:
    heap.stepCharacters(value.text().size());
    heap.reserve(value.text().size() * 4);
    if (value.as<Str>().isMarkup)
      to.append("Markup(" + reprOfText(value.text()) + ")");
    else
      to.append(reprOfText(value.text()));
    return;
  case Kind::List:
    to.append('[');
    appendItems(heap, to, value.as<Sequence>().items);
    to.append(']');
    return;
  case Kind::Tuple:
    to.append('(');
    appendItems(heap, to, value.as<Sequence>().items);
    to.append(value.as<Sequence>().items.size() == 1 ? ",)" : ")");
    return;
  case Kind::Dict:
    appendDict(heap, to, value.as<Dict>());
    return;
  case Kind::View:
    appendView(heap, to, value);
    return;
  case Kind::Range:
    to.append(reprOfRange(value.as<Range>()));
    return;
  case Kind::Undefined:
    to.append("Undefined");
    return;
  case Kind::Namespace:
    to.append("<Namespace ");
    appendRepr(heap, to, value.as<Namespace>().attributes);
    to.append('>');
    return;
  default:
    to.append(reprOfObject(value));
  }
}

void appendText(Heap &heap, TextBuilder &to, const Value &value) {
  if (value.isStr())
    to.append(value.text());
  else if (!value.isUndefined())
    appendRepr(heap, to, value);
}

std::string toText(Heap &heap, const Value &value) {
  TextBuilder text(heap);
  appendText(heap, text, value);
  return text.take();
}

std::string toRepr(Heap &heap, const Value &value) {
  TextBuilder text(heap);
  appendRepr(heap, text, value);
  return text.take();
}

} // namespace llmir::chat
