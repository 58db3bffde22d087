//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "Unicode.h"

#include <algorithm>
#include <random>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Value makeStr(Heap &heap, std::string text, bool isMarkup) {
  size_t size = text.size();
  return heap.make<Str>(size, std::move(text), isMarkup);
}

Value makeList(Heap &heap, Values items) {
  size_t size = items.size() * sizeof(Value);
  heap.step(items.size() / 4);
  return heap.make<Sequence>(size, Kind::List, std::move(items));
}

Value makeTuple(Heap &heap, Values items) {
  size_t size = items.size() * sizeof(Value);
  return heap.make<Sequence>(size, Kind::Tuple, std::move(items));
}

Value makeUndefined(Heap &heap, std::string hint, bool isUnsafe) {
  size_t size = hint.size();
  return heap.make<Undefined>(size, std::move(hint), isUnsafe);
}

Value makeInteger(Heap &heap, BigInt value) {
  if (std::optional<int64_t> small = value.toInt64())
    return Value::integer(*small);
  heap.step(value.size() / 2);
  size_t size = value.size() * 4;
  return heap.make<Big>(size, std::move(value));
}

Value makeIterator(Heap &heap, const char *type, Iterator::Next next) {
  return heap.make<Iterator>(128, type, std::move(next));
}

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

/// Dicts up to this size are searched without an index.
constexpr size_t kLinearDict = 8;

/// The key of a dict's index. The hash of a number is the number, and numbers
/// with equal remainders would all be in one bucket: a seed that no template
/// knows scatters them.
static size_t scattered(size_t hash) {
  static const uint64_t seed =
      uint64_t(std::random_device()()) << 32 | std::random_device()();
  uint64_t x = (hash ^ seed) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  return static_cast<size_t>(x ^ x >> 32);
}

static std::pair<Value, Value> *findEntry(Heap &heap, Dict &dict,
                                          const Value &key) {
  if (dict.entries.size() <= kLinearDict) {
    hashValue(heap, key); // Fails for lists.
    for (auto &entry : dict.entries)
      if (identical(entry.first, key) || equal(heap, entry.first, key))
        return &entry;
    return nullptr;
  }
  heap.step(2);
  auto [begin, end] = dict.index.equal_range(scattered(hashValue(heap, key)));
  for (auto found = begin; found != end; ++found) {
    heap.step();
    auto &entry = dict.entries[found->second];
    if (identical(entry.first, key) || equal(heap, entry.first, key))
      return &entry;
  }
  return nullptr;
}

void dictSet(Heap &heap, Dict &dict, const Value &key, Value value) {
  if (auto *entry = findEntry(heap, dict, key)) {
    entry->second = std::move(value);
    return;
  }
  heap.step(6); // The index is rarely in a cache.
  heap.reserve(sizeof(Value) * 8);
  dict.entries.emplace_back(key, std::move(value));
  if (dict.entries.size() <= kLinearDict)
    return;
  size_t first =
      dict.entries.size() == kLinearDict + 1 ? 0 : dict.entries.size() - 1;
  for (size_t i = first; i < dict.entries.size(); ++i)
    dict.index.emplace(scattered(hashValue(heap, dict.entries[i].first)),
                       static_cast<uint32_t>(i));
}

const Value *dictFind(Heap &heap, const Dict &dict, const Value &key) {
  auto *entry = findEntry(heap, const_cast<Dict &>(dict), key);
  return entry ? &entry->second : nullptr;
}

size_t hashText(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

const Value *dictFind(Heap &heap, const Dict &dict, std::string_view key) {
  if (dict.entries.size() <= kLinearDict) {
    for (const auto &entry : dict.entries)
      if (entry.first.isStr() && entry.first.text() == key)
        return &entry.second;
    return nullptr;
  }
  auto [begin, end] = dict.index.equal_range(scattered(hashText(key)));
  for (auto found = begin; found != end; ++found) {
    heap.step();
    const auto &entry = dict.entries[found->second];
    if (entry.first.isStr() && entry.first.text() == key)
      return &entry.second;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

std::string typeName(const Value &value) {
  switch (value.kind()) {
  case Kind::Missing:
    return "missing";
  case Kind::None:
    return "NoneType";
  case Kind::Bool:
    return "bool";
  case Kind::Int:
  case Kind::Big:
    return "int";
  case Kind::Float:
    return "float";
  case Kind::Str:
    return value.as<Str>().isMarkup ? "Markup" : "str";
  case Kind::List:
    return "list";
  case Kind::Tuple:
    return "tuple";
  case Kind::Dict:
    return "dict";
  case Kind::View:
    switch (value.as<View>().part) {
    case ViewPart::Keys:
      return "dict_keys";
    case ViewPart::Values:
      return "dict_values";
    case ViewPart::Items:
      return "dict_items";
    }
    return "dict_items";
  case Kind::Range:
    return "range";
  case Kind::Iterator:
    return value.as<Iterator>().type;
  case Kind::Undefined:
    return "Undefined";
  case Kind::Function:
    return "function";
  case Kind::Method:
    return "builtin_function_or_method";
  case Kind::Macro:
    return "Macro";
  case Kind::Namespace:
    return "Namespace";
  case Kind::Cycler:
    return "Cycler";
  case Kind::Joiner:
    return "Joiner";
  case Kind::Loop:
    return "LoopContext";
  case Kind::Self:
    return "TemplateReference";
  case Kind::Block:
    return "BlockReference";
  case Kind::Context:
  case Kind::Activation:
    break;
  }
  return "object";
}

void failUndefined(const Value &value) {
  const auto &undefined = value.as<Undefined>();
  raise(undefined.isUnsafe ? ErrorKind::Security : ErrorKind::Undefined,
        undefined.hint);
}

int64_t textLength(const Value &str) {
  Str &text = str.as<Str>();
  if (text.length < 0)
    text.length = static_cast<int64_t>(countCharacters(text.text));
  return text.length;
}

size_t viewSize(const Value &view) {
  return view.as<View>().dict.as<Dict>().entries.size();
}

Value viewItem(Heap &heap, const View &view, size_t i) {
  const auto &entry = view.dict.as<Dict>().entries[i];
  switch (view.part) {
  case ViewPart::Keys:
    return entry.first;
  case ViewPart::Values:
    return entry.second;
  case ViewPart::Items:
    break;
  }
  return makeTuple(heap, {entry.first, entry.second});
}

std::optional<int64_t> lengthOf(Heap &heap, const Value &value) {
  switch (value.kind()) {
  case Kind::Str:
    if (value.as<Str>().length < 0)
      heap.stepBytes(value.text().size());
    return textLength(value);
  case Kind::List:
  case Kind::Tuple:
    return static_cast<int64_t>(value.as<Sequence>().items.size());
  case Kind::Dict:
    return static_cast<int64_t>(value.as<Dict>().entries.size());
  case Kind::View:
    return static_cast<int64_t>(viewSize(value));
  case Kind::Range:
    return value.as<Range>().size;
  case Kind::Undefined:
    return 0;
  default:
    return std::nullopt;
  }
}

int64_t requireLength(Heap &heap, const Value &value) {
  if (auto length = lengthOf(heap, value))
    return *length;
  raise(ErrorKind::Type,
        "object of type '" + typeName(value) + "' has no len()");
}

bool truth(Heap &heap, const Value &value) {
  switch (value.kind()) {
  case Kind::Missing:
  case Kind::None:
  case Kind::Undefined:
    return false;
  case Kind::Bool:
  case Kind::Int:
    return value.asInt() != 0;
  case Kind::Float:
    return value.asDouble() != 0;
  case Kind::Str:
    return !value.text().empty();
  default:
    return lengthOf(heap, value).value_or(1) != 0;
  }
}

bool isIterable(const Value &value) {
  switch (value.kind()) {
  case Kind::Str:
  case Kind::List:
  case Kind::Tuple:
  case Kind::Dict:
  case Kind::View:
  case Kind::Range:
  case Kind::Iterator:
  case Kind::Undefined:
  case Kind::Loop:
    return true;
  default:
    return false;
  }
}

bool isCallable(const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
  case Kind::Function:
  case Kind::Method:
  case Kind::Macro:
  case Kind::Joiner:
  case Kind::Loop:
  case Kind::Block:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Iteration
//===----------------------------------------------------------------------===//

Cursor::Cursor(Heap &heap, Value source)
    : heap(heap), source(std::move(source)) {
  if (!isIterable(this->source) || this->source.is(Kind::Loop))
    raise(ErrorKind::Type,
          "'" + typeName(this->source) + "' object is not iterable");
}

bool Cursor::next(Value &item) {
  heap.step();
  switch (source.kind()) {
  case Kind::Str: {
    const std::string &text = source.text();
    if (index >= text.size())
      return false;
    size_t size = std::min(characterSize(text[index]), text.size() - index);
    item = makeStr(heap, text.substr(index, size));
    index += size;
    return true;
  }
  case Kind::List:
  case Kind::Tuple: {
    const Values &items = source.as<Sequence>().items;
    if (index >= items.size())
      return false;
    item = items[index++];
    return true;
  }
  case Kind::Dict: {
    const auto &entries = source.as<Dict>().entries;
    if (index >= entries.size())
      return false;
    item = entries[index++].first;
    return true;
  }
  case Kind::View:
    if (index >= viewSize(source))
      return false;
    item = viewItem(heap, source.as<View>(), index++);
    return true;
  case Kind::Range: {
    const Range &range = source.as<Range>();
    if (static_cast<int64_t>(index) >= range.size)
      return false;
    item = Value::integer(range.at(static_cast<int64_t>(index++)));
    return true;
  }
  case Kind::Iterator: {
    Iterator &iterator = source.as<Iterator>();
    if (!iterator.next)
      return false;
    DepthGuard guard(heap);
    if (iterator.next(item))
      return true;
    iterator.next = nullptr;
    return false;
  }
  default:
    return false;
  }
}

Values collect(Heap &heap, const Value &iterable) {
  Values items;
  Cursor cursor(heap, iterable);
  Value item;
  while (cursor.next(item)) {
    if (items.size() == items.capacity())
      heap.reserve(items.size() * 3 * sizeof(Value));
    items.push_back(std::move(item));
  }
  return items;
}

} // namespace llmir::chat
