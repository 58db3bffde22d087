//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "PyString.h"

#include <cmath>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static size_t hashNumber(const Value &value) {
  if (value.isSmallInteger())
    return std::hash<int64_t>()(value.asInt());
  double number =
      value.is(Kind::Big) ? value.as<Big>().value.toDouble() : value.asDouble();
  if (number >= -9.2e18 && number <= 9.2e18 && number == std::floor(number))
    return std::hash<int64_t>()(static_cast<int64_t>(number));
  return std::hash<double>()(number);
}

size_t hashValue(Heap &heap, const Value &value) {
  switch (value.kind()) {
  case Kind::Bool:
  case Kind::Int:
  case Kind::Float:
  case Kind::Big:
    return hashNumber(value);
  case Kind::Str:
    heap.stepBytes(value.text().size());
    return hashText(value.text());
  case Kind::Tuple: {
    DepthGuard guard(heap);
    size_t hash = 0x345678;
    for (const Value &item : value.as<Sequence>().items) {
      heap.step();
      hash = hash * 1000003 ^ hashValue(heap, item);
    }
    return hash;
  }
  case Kind::List:
  case Kind::Dict:
    break;
  case Kind::View:
    if (value.as<View>().part == ViewPart::Values)
      return std::hash<const void *>()(value.object());
    break;
  case Kind::Missing:
  case Kind::None:
  case Kind::Undefined: // All are equal.
    return static_cast<size_t>(value.kind());
  case Kind::Range:
    return std::hash<int64_t>()(value.as<Range>().size);
  default:
    return std::hash<const void *>()(value.object());
  }
  raise(ErrorKind::Type, "unhashable type: '" + typeName(value) + "'");
}

/// Counts the work of comparing numbers, which copies large ones.
static void stepNumbers(Heap &heap, const Value &a, const Value &b) {
  for (const Value *value : {&a, &b})
    if (value->is(Kind::Big))
      heap.step(4 + value->as<Big>().value.size() / 4);
}

/// Negative, zero or positive; nothing if one is NaN.
static std::optional<int> compareNumbers(const Value &a, const Value &b) {
  auto sign = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.isSmallInteger() && b.isSmallInteger())
    return sign(a.asInt(), b.asInt());
  if (a.isInteger() && b.isInteger())
    return BigInt::compare(toBigInt(a), toBigInt(b));
  if (a.is(Kind::Float) && b.is(Kind::Float)) {
    if (std::isnan(a.asDouble()) || std::isnan(b.asDouble()))
      return std::nullopt;
    return sign(a.asDouble(), b.asDouble());
  }
  if (!a.is(Kind::Float)) {
    std::optional<int> reversed = compareNumbers(b, a);
    return reversed ? std::optional<int>(-*reversed) : std::nullopt;
  }
  // A float and an integer are compared exactly.
  double number = a.asDouble();
  if (std::isnan(number))
    return std::nullopt;
  if (std::isinf(number))
    return number < 0 ? -1 : 1;
  double whole = std::floor(number);
  int order = BigInt::compare(BigInt::fromDouble(whole), toBigInt(b));
  return order == 0 && number > whole ? 1 : order;
}

bool identical(const Value &a, const Value &b) {
  if (a.kind() != b.kind())
    return false;
  if (a.isObject()) {
    if (a.object() == b.object())
      return true;
    // Python shares the empty text and texts of one Latin-1 character.
    return a.isStr() && a.text() == b.text() && a.text().size() <= 1;
  }
  if (a.is(Kind::Float))
    return a.asDouble() == b.asDouble();
  if (a.is(Kind::Int) || a.is(Kind::Bool))
    return a.asInt() == b.asInt();
  return true;
}

static bool equalItems(Heap &heap, const Values &a, const Values &b) {
  if (a.size() != b.size())
    return false;
  DepthGuard guard(heap);
  for (size_t i = 0; i < a.size(); ++i) {
    heap.step();
    if (!identical(a[i], b[i]) && !equal(heap, a[i], b[i]))
      return false;
  }
  return true;
}

static bool equalDicts(Heap &heap, const Dict &a, const Dict &b) {
  if (a.entries.size() != b.entries.size())
    return false;
  DepthGuard guard(heap);
  for (const auto &[key, value] : a.entries) {
    heap.step();
    const Value *other = dictFind(heap, b, key);
    if (!other || (!identical(*other, value) && !equal(heap, *other, value)))
      return false;
  }
  return true;
}

static bool equalRanges(const Range &a, const Range &b) {
  return a.size == b.size &&
         (a.size == 0 ||
          (a.start == b.start && (a.size == 1 || a.step == b.step)));
}

static bool equalViews(Heap &heap, const Value &a, const Value &b) {
  const View &left = a.as<View>();
  if (left.part == ViewPart::Values || b.as<View>().part == ViewPart::Values)
    return a.object() == b.object();
  if (viewSize(a) != viewSize(b))
    return false;
  for (size_t i = 0; i < viewSize(a); ++i)
    if (!contains(heap, b, viewItem(heap, left, i)))
      return false;
  return true;
}

bool equal(Heap &heap, const Value &a, const Value &b) {
  heap.step();
  if (a.isNumber() && b.isNumber()) {
    stepNumbers(heap, a, b);
    return compareNumbers(a, b) == 0;
  }
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Kind::Str:
    if (a.text().size() != b.text().size())
      return false;
    heap.stepBytes(a.text().size());
    return a.text() == b.text();
  case Kind::List:
  case Kind::Tuple:
    return equalItems(heap, a.as<Sequence>().items, b.as<Sequence>().items);
  case Kind::Dict:
    return equalDicts(heap, a.as<Dict>(), b.as<Dict>());
  case Kind::Range:
    return equalRanges(a.as<Range>(), b.as<Range>());
  case Kind::View:
    return equalViews(heap, a, b);
  case Kind::Undefined:
  case Kind::None:
  case Kind::Missing:
    return true;
  case Kind::Method:
    return a.as<Method>().call == b.as<Method>().call &&
           identical(a.as<Method>().self, b.as<Method>().self);
  default:
    return a.object() == b.object();
  }
}

static bool holds(Order order, int sign) {
  switch (order) {
  case Order::Less:
    return sign < 0;
  case Order::LessEqual:
    return sign <= 0;
  case Order::Greater:
    return sign > 0;
  case Order::GreaterEqual:
    return sign >= 0;
  }
  return false;
}

static const char *spelling(Order order) {
  switch (order) {
  case Order::Less:
    return "<";
  case Order::LessEqual:
    return "<=";
  case Order::Greater:
    return ">";
  case Order::GreaterEqual:
    return ">=";
  }
  return "<";
}

static bool orderedItems(Heap &heap, Order order, const Values &a,
                         const Values &b) {
  DepthGuard guard(heap);
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    heap.step();
    if (!identical(a[i], b[i]) && !equal(heap, a[i], b[i]))
      return ordered(heap, order, a[i], b[i]);
  }
  return holds(order, a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0);
}

/// Whether all items of `part` are in `whole`: the order of sets.
static bool isSubset(Heap &heap, const Value &part, const Value &whole) {
  Cursor cursor(heap, part);
  Value item;
  while (cursor.next(item))
    if (!contains(heap, whole, item))
      return false;
  return true;
}

static bool isSetLike(const Value &value) {
  return value.is(Kind::View) && value.as<View>().part != ViewPart::Values;
}

bool ordered(Heap &heap, Order order, const Value &a, const Value &b) {
  heap.step();
  if (a.isUndefined())
    failUndefined(a);
  if (b.isUndefined())
    failUndefined(b);
  if (a.isNumber() && b.isNumber()) {
    stepNumbers(heap, a, b);
    std::optional<int> sign = compareNumbers(a, b);
    return sign && holds(order, *sign);
  }
  if (a.isStr() && b.isStr()) {
    heap.stepBytes(std::min(a.text().size(), b.text().size()));
    // The order of UTF-8 is that of the characters.
    return holds(order, a.text().compare(b.text()));
  }
  if (a.kind() == b.kind() && (a.is(Kind::List) || a.is(Kind::Tuple)))
    return orderedItems(heap, order, a.as<Sequence>().items,
                        b.as<Sequence>().items);
  if (isSetLike(a) && isSetLike(b)) {
    bool reversed = order == Order::Greater || order == Order::GreaterEqual;
    bool strict = order == Order::Less || order == Order::Greater;
    const Value &part = reversed ? b : a, &whole = reversed ? a : b;
    return (strict ? viewSize(part) < viewSize(whole)
                   : viewSize(part) <= viewSize(whole)) &&
           isSubset(heap, part, whole);
  }
  raise(ErrorKind::Type, std::string("'") + spelling(order) +
                             "' not supported between instances of '" +
                             typeName(a) + "' and '" + typeName(b) + "'");
}

static bool viewContains(Heap &heap, const View &view, const Value &item) {
  const Dict &dict = view.dict.as<Dict>();
  if (view.part == ViewPart::Keys)
    return dictFind(heap, dict, item) != nullptr;
  if (view.part == ViewPart::Items) {
    if (!item.is(Kind::Tuple) || item.as<Sequence>().items.size() != 2)
      return false;
    const Values &pair = item.as<Sequence>().items;
    const Value *found = dictFind(heap, dict, pair[0]);
    return found && equal(heap, *found, pair[1]);
  }
  for (const auto &entry : dict.entries) {
    heap.step();
    if (identical(entry.second, item) || equal(heap, entry.second, item))
      return true;
  }
  return false;
}

bool contains(Heap &heap, const Value &container, const Value &item) {
  switch (container.kind()) {
  case Kind::Str:
    if (!item.isStr())
      raise(ErrorKind::Type,
            "'in <string>' requires string as left operand, not " +
                typeName(item));
    heap.stepBytes(container.text().size());
    return findText(container.text(), item.text()) != std::string::npos;
  case Kind::Dict:
    return dictFind(heap, container.as<Dict>(), item) != nullptr;
  case Kind::View:
    return viewContains(heap, container.as<View>(), item);
  default:
    break;
  }
  if (!isIterable(container))
    raise(ErrorKind::Type,
          "argument of type '" + typeName(container) + "' is not iterable");
  Cursor cursor(heap, container);
  Value candidate;
  while (cursor.next(candidate))
    if (identical(candidate, item) || equal(heap, candidate, item))
      return true;
  return false;
}

} // namespace llmir::chat
