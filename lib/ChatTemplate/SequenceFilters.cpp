//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "Sort.h"
#include "Unicode.h"

#include <algorithm>
#include <random>

namespace llmir::chat::filters {

//===----------------------------------------------------------------------===//
// Attributes by path
//===----------------------------------------------------------------------===//

namespace {

/// Looks up "a.b.0" in items; without a path, the item itself.
class AttributeGetter {
public:
  AttributeGetter(Interpreter &interpreter, const Value &path,
                  bool ignoresCase = false, Value otherwise = Value())
      : interpreter(interpreter), ignoresCase(ignoresCase),
        otherwise(std::move(otherwise)) {
    if (path.isMissing() || path.isNone())
      return;
    if (path.isStr())
      addParts(path.text());
    else
      parts.push_back(path);
  }

  Value operator()(Value item) const {
    Heap &heap = interpreter.heap;
    for (const Value &part : parts) {
      item = interpreter.item(item, part);
      if (item.isUndefined() && !otherwise.isMissing() && !otherwise.isNone())
        item = otherwise;
    }
    if (!ignoresCase || !item.isStr())
      return item;
    heap.stepCharacters(item.text().size());
    return makeStr(heap, toLower(item.text()));
  }

private:
  void addParts(const std::string &path) {
    for (size_t begin = 0; begin <= path.size();) {
      size_t end = std::min(path.find('.', begin), path.size());
      std::string part = path.substr(begin, end - begin);
      bool isNumber = !part.empty() && part.size() < 19 &&
                      part.find_first_not_of("0123456789") == std::string::npos;
      parts.push_back(isNumber ? Value::integer(std::stoll(part))
                               : makeStr(interpreter.heap, part));
      begin = end + 1;
    }
  }

  Interpreter &interpreter;
  Values parts;
  const bool ignoresCase;
  const Value otherwise;
};

struct Keyed {
  Value key, item;
};

} // namespace

/// Sorts items by their keys; a stable sort in either direction.
static void sortByKey(Heap &heap, std::vector<Keyed> &items, bool isReversed) {
  mergeSort(items, [&](const Keyed &a, const Keyed &b) {
    return isReversed ? ordered(heap, Order::Less, b.key, a.key)
                      : ordered(heap, Order::Less, a.key, b.key);
  });
}

static Value itemsOf(Heap &heap, std::vector<Keyed> keyed) {
  Values items;
  items.reserve(keyed.size());
  for (Keyed &each : keyed)
    items.push_back(std::move(each.item));
  return makeList(heap, std::move(items));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Value sort(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("sort", arguments,
              {"value", "reverse", "case_sensitive", "attribute"}, 1);
  Heap &heap = interpreter.heap;
  const bool ignoresCase = !bound.truthOr(heap, 2, false);
  // Several attributes, with commas between them, give a list as key.
  std::vector<AttributeGetter> getters;
  if (bound.has(3) && bound[3].isStr()) {
    const std::string &paths = bound[3].text();
    for (size_t begin = 0; begin <= paths.size();) {
      size_t end = std::min(paths.find(',', begin), paths.size());
      getters.emplace_back(interpreter,
                           makeStr(heap, paths.substr(begin, end - begin)),
                           ignoresCase);
      begin = end + 1;
    }
  } else {
    getters.emplace_back(interpreter, bound[3], ignoresCase);
  }
  std::vector<Keyed> keyed;
  for (Value &item : collect(heap, bound[0])) {
    Values keys;
    for (const AttributeGetter &get : getters)
      keys.push_back(get(item));
    keyed.push_back({makeList(heap, std::move(keys)), std::move(item)});
  }
  sortByKey(heap, keyed, bound.truthOr(heap, 1, false));
  return itemsOf(heap, std::move(keyed));
}

Value dictsort(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("dictsort", arguments,
              {"value", "case_sensitive", "by", "reverse"}, 1);
  Heap &heap = interpreter.heap;
  const std::string by = !bound.has(2)      ? "key"
                         : bound[2].isStr() ? bound[2].text()
                                            : "";
  if (by != "key" && by != "value")
    raise(ErrorKind::Runtime,
          "You can only sort by either \"key\" or \"value\"");
  if (bound[0].isUndefined())
    failUndefined(bound[0]);
  if (!bound[0].is(Kind::Dict))
    raise(ErrorKind::Type,
          "'" + typeName(bound[0]) + "' object has no attribute 'items'");
  AttributeGetter key(interpreter, Value(), !bound.truthOr(heap, 1, false));
  std::vector<Keyed> keyed;
  for (const auto &[name, value] : bound[0].as<Dict>().entries)
    keyed.push_back(
        {key(by == "key" ? name : value), makeTuple(heap, {name, value})});
  sortByKey(heap, keyed, bound.truthOr(heap, 3, false));
  return itemsOf(heap, std::move(keyed));
}

template <Order order>
static Value best(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("min or max", arguments, {"value", "case_sensitive", "attribute"},
              1);
  Heap &heap = interpreter.heap;
  AttributeGetter get(interpreter, bound[2], !bound.truthOr(heap, 1, false));
  Cursor cursor(heap, bound[0]);
  Value result, resultKey, item;
  while (cursor.next(item)) {
    Value key = get(item);
    if (!result.isMissing() && !ordered(heap, order, key, resultKey))
      continue;
    result = item;
    resultKey = key;
  }
  return result.isMissing()
             ? makeUndefined(heap, "No aggregated item, sequence was empty.")
             : result;
}

Value min(Interpreter &interpreter, CallArguments &arguments) {
  return best<Order::Less>(interpreter, arguments);
}

Value max(Interpreter &interpreter, CallArguments &arguments) {
  return best<Order::Greater>(interpreter, arguments);
}

static Value makeGroup(Heap &heap, Value key, Values items) {
  Value group =
      makeTuple(heap, {std::move(key), makeList(heap, std::move(items))});
  group.as<Sequence>().isGroup = true;
  return group;
}

Value groupby(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("groupby", arguments,
              {"value", "attribute", "default", "case_sensitive"}, 2);
  Heap &heap = interpreter.heap;
  const bool ignoresCase = !bound.truthOr(heap, 3, false);
  AttributeGetter get(interpreter, bound[1], ignoresCase, bound[2]);
  AttributeGetter getShown(interpreter, bound[1], false, bound[2]);
  std::vector<Keyed> keyed;
  for (Value &item : collect(heap, bound[0]))
    keyed.push_back({get(item), item});
  sortByKey(heap, keyed, false);
  Values groups;
  for (size_t i = 0; i < keyed.size();) {
    Value key = keyed[i].key;
    Values items;
    for (; i < keyed.size() && equal(heap, keyed[i].key, key); ++i)
      items.push_back(keyed[i].item);
    if (items.empty()) // NaN equals nothing.
      items.push_back(keyed[i++].item);
    Value shown = ignoresCase ? getShown(items[0]) : key;
    groups.push_back(makeGroup(heap, shown, std::move(items)));
  }
  return makeList(heap, std::move(groups));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

Value first(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("first", arguments, {"seq"}, 1);
  Cursor cursor(interpreter.heap, bound[0]);
  Value item;
  return cursor.next(item)
             ? item
             : makeUndefined(interpreter.heap,
                             "No first item, sequence was empty.");
}

static void requireReversible(const Value &value) {
  if (!isIterable(value) || value.is(Kind::Iterator) || value.is(Kind::Loop))
    raise(ErrorKind::Type,
          "'" + typeName(value) + "' object is not reversible");
}

Value last(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("last", arguments, {"seq"}, 1);
  Heap &heap = interpreter.heap;
  requireReversible(bound[0]);
  int64_t length = requireLength(heap, bound[0]);
  if (length == 0)
    return makeUndefined(heap, "No last item, sequence was empty.");
  if (auto item = subscript(heap, bound[0], Value::integer(length - 1));
      item && !bound[0].is(Kind::Dict))
    return *item;
  return collect(heap, bound[0]).back();
}

Value random(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("random", arguments, {"seq"}, 1);
  Heap &heap = interpreter.heap;
  int64_t length = requireLength(heap, bound[0]);
  if (length == 0)
    return makeUndefined(heap, "No random item, sequence was empty.");
  auto i = static_cast<int64_t>(std::random_device()()) % length;
  if (auto item = subscript(heap, bound[0], Value::integer(i)))
    return *item;
  raise(ErrorKind::Type,
        "'" + typeName(bound[0]) + "' object is not subscriptable");
}

/// The arguments after the first `count` ones, and a place for the item.
static CallArguments restOf(const CallArguments &arguments, size_t count) {
  CallArguments rest;
  rest.positional.emplace_back();
  for (size_t i = count; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  rest.keywords = arguments.keywords;
  return rest;
}

template <bool isSelected, bool byAttribute>
static Value choose(Interpreter &interpreter, CallArguments &arguments) {
  if (arguments.positional.empty())
    raise(ErrorKind::Type, "select() lacks its value");
  Heap &heap = interpreter.heap;
  const Value value = arguments.positional[0];
  auto all = std::make_shared<CallArguments>(arguments);
  std::shared_ptr<Cursor> cursor;
  return makeIterator(
      heap, "generator",
      [&interpreter, &heap, value, all, cursor](Value &item) mutable {
        if (!cursor && !truth(heap, value))
          return false;
        const Values &given = all->positional;
        size_t test = byAttribute ? 2 : 1;
        if (byAttribute && given.size() < 2)
          raise(ErrorKind::Runtime, "Missing parameter for attribute name");
        if (!cursor)
          cursor = std::make_shared<Cursor>(heap, value);
        AttributeGetter get(interpreter, byAttribute ? given[1] : Value());
        while (cursor->next(item)) {
          Value tested = get(item);
          bool holds = false;
          if (test < given.size()) {
            CallArguments call = restOf(*all, test + 1);
            call.positional[0] = tested;
            holds = interpreter.callTest(given[test], call);
          } else {
            holds = truth(heap, tested);
          }
          if (holds == isSelected)
            return true;
        }
        return false;
      });
}

Value select(Interpreter &interpreter, CallArguments &arguments) {
  return choose<true, false>(interpreter, arguments);
}

Value reject(Interpreter &interpreter, CallArguments &arguments) {
  return choose<false, false>(interpreter, arguments);
}

Value selectattr(Interpreter &interpreter, CallArguments &arguments) {
  return choose<true, true>(interpreter, arguments);
}

Value rejectattr(Interpreter &interpreter, CallArguments &arguments) {
  return choose<false, true>(interpreter, arguments);
}

Value unique(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("unique", arguments, {"value", "case_sensitive", "attribute"}, 1);
  Heap &heap = interpreter.heap;
  auto get = std::make_shared<AttributeGetter>(interpreter, bound[2],
                                               !bound.truthOr(heap, 1, false));
  Value seen = heap.make<Dict>(0);
  std::shared_ptr<Cursor> cursor;
  return makeIterator(
      heap, "generator",
      [&heap, get, seen, cursor, value = bound[0]](Value &item) mutable {
        if (!cursor)
          cursor = std::make_shared<Cursor>(heap, value);
        while (cursor->next(item)) {
          Value key = (*get)(item);
          if (dictFind(heap, seen.as<Dict>(), key))
            continue;
          dictSet(heap, seen.as<Dict>(), key, Value::none());
          return true;
        }
        return false;
      });
}

//===----------------------------------------------------------------------===//
// Transformation
//===----------------------------------------------------------------------===//

/// map(attribute=…, default=…)
static AttributeGetter attributeOfMap(Interpreter &interpreter,
                                      const CallArguments &arguments) {
  Value path, otherwise;
  for (const auto &[name, value] : arguments.keywords) {
    if (name == "attribute")
      path = value;
    else if (name == "default")
      otherwise = value;
    else
      raise(ErrorKind::Runtime, "Unexpected keyword argument '" + name + "'");
  }
  return AttributeGetter(interpreter, path, false, otherwise);
}

Value map(Interpreter &interpreter, CallArguments &arguments) {
  if (arguments.positional.empty())
    raise(ErrorKind::Type, "map() lacks its value");
  Heap &heap = interpreter.heap;
  const Value value = arguments.positional[0];
  auto all = std::make_shared<CallArguments>(arguments);
  bool byAttribute =
      arguments.positional.size() == 1 &&
      std::any_of(
          arguments.keywords.begin(), arguments.keywords.end(),
          [](const auto &keyword) { return keyword.first == "attribute"; });
  std::shared_ptr<Cursor> cursor;
  std::shared_ptr<AttributeGetter> get;
  return makeIterator(heap, "generator",
                      [&interpreter, &heap, value, all, byAttribute, cursor,
                       get](Value &item) mutable {
                        if (!cursor) {
                          if (!truth(heap, value))
                            return false;
                          if (byAttribute)
                            get = std::make_shared<AttributeGetter>(
                                attributeOfMap(interpreter, *all));
                          else if (all->positional.size() < 2)
                            raise(ErrorKind::Runtime,
                                  "map requires a filter argument");
                          cursor = std::make_shared<Cursor>(heap, value);
                        }
                        if (!cursor->next(item))
                          return false;
                        if (get) {
                          item = (*get)(item);
                          return true;
                        }
                        CallArguments call = restOf(*all, 2);
                        call.positional[0] = item;
                        item = interpreter.callFilter(all->positional[1], call);
                        return true;
                      });
}

Value list(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("list", arguments, {"value"}, 1);
  return makeList(interpreter.heap, collect(interpreter.heap, bound[0]));
}

Value items(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("items", arguments, {"value"}, 1);
  Heap &heap = interpreter.heap;
  size_t i = 0;
  return makeIterator(
      heap, "generator", [&heap, i, value = bound[0]](Value &item) mutable {
        if (value.isUndefined())
          return false;
        if (!value.is(Kind::Dict))
          raise(ErrorKind::Type, "Can only get item pairs from a mapping.");
        const auto &entries = value.as<Dict>().entries;
        if (i >= entries.size())
          return false;
        item = makeTuple(heap, {entries[i].first, entries[i].second});
        ++i;
        return true;
      });
}

Value reverse(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("reverse", arguments, {"value"}, 1);
  Heap &heap = interpreter.heap;
  const Value &value = bound[0];
  if (value.isStr())
    return slice(heap, value, Value(), Value(), Value::integer(-1));
  if (!isIterable(value) || value.is(Kind::Loop))
    raise(ErrorKind::Runtime, "argument must be iterable");
  Values items = collect(heap, value);
  std::reverse(items.begin(), items.end());
  Value list = makeList(heap, std::move(items));
  if (value.is(Kind::Iterator))
    return list;
  auto cursor = std::make_shared<Cursor>(heap, list);
  const char *type = value.is(Kind::List)   ? "list_reverseiterator"
                     : value.is(Kind::Dict) ? "dict_reversekeyiterator"
                                            : "reversed";
  return makeIterator(heap, type,
                      [cursor](Value &item) { return cursor->next(item); });
}

Value join(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("join", arguments, {"value", "d", "attribute"}, 1);
  Heap &heap = interpreter.heap;
  AttributeGetter get(interpreter, bound[2]);
  std::string separator = bound.has(1) ? toText(heap, bound[1]) : "";
  TextBuilder text(heap);
  Cursor cursor(heap, bound[0]);
  bool isFirst = true;
  for (Value item; cursor.next(item); isFirst = false) {
    if (!isFirst)
      text.append(separator);
    appendText(heap, text, get(item));
  }
  return makeStr(heap, text.take());
}

Value sum(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("sum", arguments, {"iterable", "attribute", "start"}, 1);
  AttributeGetter get(interpreter, bound[1]);
  Value total = bound.valueOr(2, Value::integer(0));
  if (total.isStr())
    raise(ErrorKind::Type,
          "sum() can't sum strings [use ''.join(seq) instead]");
  Cursor cursor(interpreter.heap, bound[0]);
  for (Value item; cursor.next(item);)
    total = binary(interpreter, BinaryOp::Add, total, get(item));
  return total;
}

Value batch(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("batch", arguments, {"value", "linecount", "fill_with"}, 2);
  Heap &heap = interpreter.heap;
  const Value fill = bound.valueOr(2, Value::none());
  std::shared_ptr<Cursor> cursor;
  return makeIterator(
      heap, "generator",
      [&heap, value = bound[0], size = bound[1], fill,
       cursor](Value &row) mutable {
        if (!cursor)
          cursor = std::make_shared<Cursor>(heap, value);
        Values items;
        auto isFull = [&] {
          return equal(heap, Value::integer(static_cast<int64_t>(items.size())),
                       size);
        };
        // A size of zero is reached only before the first item.
        for (Value item; (items.empty() || !isFull()) && cursor->next(item);)
          items.push_back(item);
        if (items.empty())
          return false;
        if (!fill.isNone() &&
            ordered(heap, Order::Less,
                    Value::integer(static_cast<int64_t>(items.size())), size)) {
          int64_t wanted = requireIndex(size, "the size of a batch");
          if (wanted >
              static_cast<int64_t>(heap.limits.memoryBytes / sizeof(Value)))
            heap.reserve(SIZE_MAX);
          heap.step(static_cast<uint64_t>(wanted));
          items.resize(static_cast<size_t>(wanted), fill);
        }
        row = makeList(heap, std::move(items));
        return true;
      });
}

Value sliceColumns(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("slice", arguments, {"value", "slices", "fill_with"}, 2);
  Heap &heap = interpreter.heap;
  const Value fill = bound.valueOr(2, Value::none());
  bool isStarted = false;
  Values items;
  int64_t number = 0, slices = 0, offset = 0;
  return makeIterator(
      heap, "generator",
      [&heap, value = bound[0], count = bound[1], fill, isStarted, items,
       number, slices, offset](Value &column) mutable {
        if (!isStarted) {
          items = collect(heap, value);
          slices = requireIndex(count, "slices");
          if (slices == 0)
            raise(ErrorKind::Value, "integer division or modulo by zero");
          isStarted = true;
        }
        if (number >= slices)
          return false;
        auto length = static_cast<int64_t>(items.size());
        int64_t each = length / slices, extra = length % slices;
        int64_t start = offset + number * each;
        if (number < extra)
          ++offset;
        int64_t end = offset + (number + 1) * each;
        Values part(items.begin() + start, items.begin() + end);
        if (!fill.isNone() && number >= extra)
          part.push_back(fill);
        ++number;
        column = makeList(heap, std::move(part));
        return true;
      });
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Value length(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("len", arguments, {""}, 1);
  if (bound[0].is(Kind::Loop))
    return Value::integer(bound[0].as<Loop>().size(interpreter.heap));
  return Value::integer(requireLength(interpreter.heap, bound[0]));
}

Value defaultValue(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("default", arguments, {"value", "default_value", "boolean"}, 1);
  Heap &heap = interpreter.heap;
  if (bound[0].isUndefined() ||
      (bound.truthOr(heap, 2, false) && !truth(heap, bound[0])))
    return bound.has(1) ? bound[1] : makeStr(heap, "");
  return bound[0];
}

Value attr(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("attr", arguments, {"obj", "name"}, 2);
  return interpreter.attributeOnly(bound[0], bound.text(1));
}

} // namespace llmir::chat::filters
