//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <cmath>
#include <cstdio>
#include <iterator>

namespace llmir::chat {
namespace {

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

Value get(Interpreter &interpreter, const Value &self,
          CallArguments &arguments) {
  Bound bound("get", arguments, {"", ""}, 1);
  const Value *found = dictFind(interpreter.heap, self.as<Dict>(), bound[0]);
  return found ? *found : bound.valueOr(1, Value::none());
}

template <ViewPart part>
Value view(Interpreter &interpreter, const Value &self,
           CallArguments &arguments) {
  Bound("dict method", arguments, {}, 0);
  return interpreter.heap.make<View>(0, self, part);
}

Value copyDict(Interpreter &interpreter, const Value &self,
               CallArguments &arguments) {
  Bound("copy", arguments, {}, 0);
  Value copy = interpreter.heap.make<Dict>(self.as<Dict>().entries.size() * 4 *
                                           sizeof(Value));
  for (const auto &[key, value] : self.as<Dict>().entries)
    dictSet(interpreter.heap, copy.as<Dict>(), key, value);
  return copy;
}

Value fromkeys(Interpreter &interpreter, const Value &,
               CallArguments &arguments) {
  Bound bound("fromkeys", arguments, {"", ""}, 1);
  Value result = interpreter.heap.make<Dict>(0);
  Cursor cursor(interpreter.heap, bound[0]);
  for (Value key; cursor.next(key);)
    dictSet(interpreter.heap, result.as<Dict>(), key,
            bound.valueOr(1, Value::none()));
  return result;
}

Value isdisjoint(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  Bound bound("isdisjoint", arguments, {""}, 1);
  Cursor cursor(interpreter.heap, bound[0]);
  for (Value item; cursor.next(item);)
    if (contains(interpreter.heap, self, item))
      return Value::boolean(false);
  return Value::boolean(true);
}

//===----------------------------------------------------------------------===//
// Lists, tuples and ranges
//===----------------------------------------------------------------------===//

Value countItems(Interpreter &interpreter, const Value &self,
                 CallArguments &arguments) {
  Bound bound("count", arguments, {""}, 1);
  int64_t count = 0;
  Cursor cursor(interpreter.heap, self);
  for (Value item; cursor.next(item);)
    count +=
        identical(item, bound[0]) || equal(interpreter.heap, item, bound[0]);
  return Value::integer(count);
}

Value indexOf(Interpreter &interpreter, const Value &self,
              CallArguments &arguments) {
  Bound bound("index", arguments, {"", "", ""}, 1);
  Heap &heap = interpreter.heap;
  int64_t length = requireLength(heap, self);
  auto limit = [&](size_t i, int64_t otherwise) {
    int64_t value = bound.integerOr(i, otherwise);
    return value < 0
               ? std::max<int64_t>(value < -length ? 0 : value + length, 0)
               : value;
  };
  int64_t start = limit(1, 0), stop = limit(2, INT64_MAX);
  Cursor cursor(heap, self);
  Value item;
  for (int64_t i = 0; i < stop && cursor.next(item); ++i)
    if (i >= start &&
        (identical(item, bound[0]) || equal(heap, item, bound[0])))
      return Value::integer(i);
  raise(ErrorKind::Value,
        toRepr(heap, bound[0]) + " is not in " + typeName(self));
}

Value copyList(Interpreter &interpreter, const Value &self,
               CallArguments &arguments) {
  Bound("copy", arguments, {}, 0);
  return makeList(interpreter.heap, self.as<Sequence>().items);
}

/// The sandbox of Jinja 3.1 lets templates call these two; they change only
/// this rendering's copy of the variables.
Value popItem(Interpreter &, const Value &self, CallArguments &arguments) {
  Bound bound("pop", arguments, {""}, 0);
  Values &items = self.as<Sequence>().items;
  auto size = static_cast<int64_t>(items.size());
  if (size == 0)
    raise(ErrorKind::Lookup, "pop from empty list");
  int64_t i = bound.integerOr(0, -1);
  i = i < 0 ? i + size : i;
  if (i < 0 || i >= size)
    raise(ErrorKind::Lookup, "pop index out of range");
  Value item = items[static_cast<size_t>(i)];
  items.erase(items.begin() + i);
  return item;
}

Value clearList(Interpreter &, const Value &self, CallArguments &arguments) {
  Bound("clear", arguments, {}, 0);
  Values().swap(self.as<Sequence>().items);
  return Value::none();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value conjugate(Interpreter &interpreter, const Value &self,
                CallArguments &arguments) {
  Bound("conjugate", arguments, {}, 0);
  return unaryPlus(interpreter.heap, self);
}

static size_t bitCount(const BigInt &value) {
  size_t bits = 0;
  BigInt rest = value.isNegative() ? -value : value;
  std::string digits = rest.toString(16);
  if (rest.isZero())
    return 0;
  int first = digits[0] <= '9' ? digits[0] - '0' : digits[0] - 'a' + 10;
  for (; first; first >>= 1)
    ++bits;
  return bits + (digits.size() - 1) * 4;
}

Value bit_length(Interpreter &, const Value &self, CallArguments &arguments) {
  Bound("bit_length", arguments, {}, 0);
  return Value::integer(static_cast<int64_t>(bitCount(toBigInt(self))));
}

Value is_integer(Interpreter &, const Value &self, CallArguments &arguments) {
  Bound("is_integer", arguments, {}, 0);
  double value = self.asDouble();
  return Value::boolean(std::isfinite(value) && value == std::floor(value));
}

struct TypedMethod {
  Kind kind;
  MethodEntry entry;
};

constexpr TypedMethod methods[] = {
    {Kind::Dict, {"copy", copyDict}},
    {Kind::Dict, {"fromkeys", fromkeys}},
    {Kind::Dict, {"get", get}},
    {Kind::Dict, {"items", view<ViewPart::Items>}},
    {Kind::Dict, {"keys", view<ViewPart::Keys>}},
    {Kind::Dict, {"values", view<ViewPart::Values>}},
    {Kind::View, {"isdisjoint", isdisjoint}},
    {Kind::List, {"clear", clearList}},
    {Kind::List, {"copy", copyList}},
    {Kind::List, {"count", countItems}},
    {Kind::List, {"index", indexOf}},
    {Kind::List, {"pop", popItem}},
    {Kind::Tuple, {"count", countItems}},
    {Kind::Tuple, {"index", indexOf}},
    {Kind::Range, {"count", countItems}},
    {Kind::Range, {"index", indexOf}},
    {Kind::Int, {"bit_length", bit_length}},
    {Kind::Int, {"conjugate", conjugate}},
    {Kind::Float, {"conjugate", conjugate}},
    {Kind::Float, {"is_integer", is_integer}},
};

} // namespace

const MethodEntry *findContainerMethod(const Value &value,
                                       std::string_view name) {
  Kind kind = value.isInteger() ? Kind::Int : value.kind();
  if (kind == Kind::View && value.as<View>().part == ViewPart::Values)
    return nullptr;
  for (const TypedMethod &method : methods)
    if (method.kind == kind && name == method.entry.name)
      return &method.entry;
  return nullptr;
}

} // namespace llmir::chat
