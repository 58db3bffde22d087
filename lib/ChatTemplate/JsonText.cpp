//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion from and to JSON.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "Sort.h"
#include "Unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// From JSON
//===----------------------------------------------------------------------===//

Value fromJson(Heap &heap, const OrderedJson &json) {
  DepthGuard guard(heap);
  switch (json.type()) {
  case OrderedJson::value_t::boolean:
    return Value::boolean(json.get<bool>());
  case OrderedJson::value_t::number_integer:
    return Value::integer(json.get<int64_t>());
  case OrderedJson::value_t::number_unsigned: {
    auto number = json.get<uint64_t>();
    if (number <= static_cast<uint64_t>(INT64_MAX))
      return Value::integer(static_cast<int64_t>(number));
    return makeInteger(heap, BigInt::fromDigits(std::to_string(number)));
  }
  case OrderedJson::value_t::number_float:
    return Value::number(json.get<double>());
  case OrderedJson::value_t::string:
    return makeStr(heap, json.get_ref<const std::string &>());
  case OrderedJson::value_t::array: {
    Values items;
    items.reserve(json.size());
    for (const OrderedJson &item : json)
      items.push_back(fromJson(heap, item));
    return makeList(heap, std::move(items));
  }
  case OrderedJson::value_t::object: {
    Value dict = heap.make<Dict>(json.size() * 4 * sizeof(Value));
    for (const auto &[key, value] :
         json.get_ref<const OrderedJson::object_t &>())
      dictSet(heap, dict.as<Dict>(), makeStr(heap, key), fromJson(heap, value));
    return dict;
  }
  default:
    return Value::none();
  }
}

//===----------------------------------------------------------------------===//
// To JSON
//===----------------------------------------------------------------------===//

namespace {

class JsonWriter {
public:
  JsonWriter(Heap &heap, const JsonStyle &style)
      : heap(heap), style(style), text(heap) {}

  void write(const Value &value);
  std::string take() { return text.take(); }

private:
  void writeString(std::string_view value);
  void writeSequence(const Values &items);
  void writeDict(const Dict &dict);
  void writeKey(const Value &key);
  void beginItem(bool isFirst);
  void endItems();

  Heap &heap;
  const JsonStyle &style;
  TextBuilder text;
  size_t level = 0;
};

} // namespace

static std::string jsonOfDouble(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value < 0 ? "-Infinity" : "Infinity";
  return reprOfDouble(value);
}

static void appendJsonEscape(std::string &to, uint32_t c) {
  char buffer[16];
  if (c >= 0x10000) {
    c -= 0x10000;
    std::snprintf(buffer, sizeof buffer, "\\u%04x\\u%04x", 0xd800 | c >> 10,
                  0xdc00 | (c & 0x3ff));
  } else {
    std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
  }
  to += buffer;
}

void JsonWriter::writeString(std::string_view value) {
  heap.stepCharacters(value.size());
  heap.reserve(value.size() * 2);
  std::string result = "\"";
  result.reserve(value.size() + 2);
  for (size_t at = 0; at < value.size();) {
    size_t begin = at;
    uint32_t c = nextCharacter(value, at);
    switch (c) {
    case '"':
      result += "\\\"";
      break;
    case '\\':
      result += "\\\\";
      break;
    case '\n':
      result += "\\n";
      break;
    case '\r':
      result += "\\r";
      break;
    case '\t':
      result += "\\t";
      break;
    case '\f':
      result += "\\f";
      break;
    case '\b':
      result += "\\b";
      break;
    default:
      if (c < 0x20 || (style.asciiOnly && c >= 0x7f))
        appendJsonEscape(result, c);
      else
        result += value.substr(begin, at - begin);
    }
  }
  text.append(result += '"');
}

/// The separator and indentation before an item.
void JsonWriter::beginItem(bool isFirst) {
  if (!isFirst)
    text.append(style.itemSeparator);
  if (!style.indent)
    return;
  text.append('\n');
  for (size_t i = 0; i < level; ++i)
    text.append(*style.indent);
}

void JsonWriter::endItems() {
  --level;
  beginItem(/*isFirst=*/true);
}

void JsonWriter::writeSequence(const Values &items) {
  if (items.empty()) {
    text.append("[]");
    return;
  }
  text.append('[');
  ++level;
  for (size_t i = 0; i < items.size(); ++i) {
    beginItem(i == 0);
    write(items[i]);
  }
  endItems();
  text.append(']');
}

void JsonWriter::writeKey(const Value &key) {
  switch (key.kind()) {
  case Kind::Str:
    writeString(key.text());
    return;
  case Kind::None:
    text.append("\"null\"");
    return;
  case Kind::Bool:
    text.append(key.asInt() ? "\"true\"" : "\"false\"");
    return;
  case Kind::Float:
    writeString(jsonOfDouble(key.asDouble()));
    return;
  case Kind::Int:
  case Kind::Big:
    writeString(toRepr(heap, key));
    return;
  default:
    raise(ErrorKind::Type,
          "keys must be str, int, float, bool or None, not " + typeName(key));
  }
}

void JsonWriter::writeDict(const Dict &dict) {
  if (dict.entries.empty()) {
    text.append("{}");
    return;
  }
  std::vector<const std::pair<Value, Value> *> entries;
  for (const auto &entry : dict.entries)
    entries.push_back(&entry);
  if (style.sortKeys)
    mergeSort(entries, [&](const auto *a, const auto *b) {
      return ordered(heap, Order::Less, a->first, b->first);
    });
  text.append('{');
  ++level;
  for (const auto *entry : entries) {
    beginItem(entry == entries.front());
    writeKey(entry->first);
    text.append(style.keySeparator);
    write(entry->second);
  }
  endItems();
  text.append('}');
}

void JsonWriter::write(const Value &value) {
  DepthGuard guard(heap);
  switch (value.kind()) {
  case Kind::None:
    text.append("null");
    return;
  case Kind::Bool:
    text.append(value.asInt() ? "true" : "false");
    return;
  case Kind::Int:
  case Kind::Big:
    appendRepr(heap, text, value);
    return;
  case Kind::Float:
    text.append(jsonOfDouble(value.asDouble()));
    return;
  case Kind::Str:
    writeString(value.text());
    return;
  case Kind::List:
  case Kind::Tuple:
    writeSequence(value.as<Sequence>().items);
    return;
  case Kind::Dict:
    writeDict(value.as<Dict>());
    return;
  default:
    raise(ErrorKind::Type,
          "Object of type " + typeName(value) + " is not JSON serializable");
  }
}

std::string toJson(Heap &heap, const Value &value, const JsonStyle &style) {
  JsonWriter writer(heap, style);
  writer.write(value);
  return writer.take();
}

} // namespace llmir::chat
