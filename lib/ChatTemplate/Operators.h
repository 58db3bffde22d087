//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python's operators and conversions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_OPERATORS_H
#define LLMIR_LIB_CHATTEMPLATE_OPERATORS_H

#include "Value.h"

#include <optional>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Value makeStr(Heap &heap, std::string text, bool isMarkup = false);
Value makeList(Heap &heap, Values items);
Value makeTuple(Heap &heap, Values items);
Value makeUndefined(Heap &heap, std::string hint, bool isUnsafe = false);
/// An Int if it fits, otherwise a Big.
Value makeInteger(Heap &heap, BigInt value);
Value makeIterator(Heap &heap, const char *type, Iterator::Next next);

/// Sets an entry during the construction of a dict; an existing key keeps its
/// place. Fails for keys that cannot be hashed.
void dictSet(Heap &heap, Dict &dict, const Value &key, Value value);
/// The value of a key, or null. Fails for keys that cannot be hashed.
const Value *dictFind(Heap &heap, const Dict &dict, const Value &key);
const Value *dictFind(Heap &heap, const Dict &dict, std::string_view key);

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// Python's name of the type, for messages.
std::string typeName(const Value &value);
bool truth(Heap &heap, const Value &value);
size_t hashValue(Heap &heap, const Value &value);
size_t hashText(std::string_view text);
bool equal(Heap &heap, const Value &a, const Value &b);
/// Python's `is`.
bool identical(const Value &a, const Value &b);
enum class Order { Less, LessEqual, Greater, GreaterEqual };
/// a < b and so on; fails for types without an order.
bool ordered(Heap &heap, Order order, const Value &a, const Value &b);
bool contains(Heap &heap, const Value &container, const Value &item);
/// len(), or nothing for types without one.
std::optional<int64_t> lengthOf(Heap &heap, const Value &value);
/// len(), or a TypeError.
int64_t requireLength(Heap &heap, const Value &value);
/// Characters in a text.
int64_t textLength(const Value &str);
bool isIterable(const Value &value);
bool isCallable(const Value &value);

/// Fails with the message of an undefined value.
[[noreturn]] void failUndefined(const Value &value);

/// Goes through the items of a value; fails if it is not iterable.
class Cursor {
public:
  Cursor(Heap &heap, Value source);
  bool next(Value &item);
  /// Continues with another source, which is iterable.
  void restart(Value other) {
    source = std::move(other);
    index = 0;
  }
  /// Drops the reference to the source.
  void clear() { source = Value(); }

private:
  Heap &heap;
  Value source;
  size_t index = 0; ///< Of the next item; the next byte in a text.
};

/// All items of an iterable.
Values collect(Heap &heap, const Value &iterable);
/// The number of elements of a view, and the i-th one.
size_t viewSize(const Value &view);
Value viewItem(Heap &heap, const View &view, size_t i);

//===----------------------------------------------------------------------===//
// Arithmetic and subscripts
//===----------------------------------------------------------------------===//

enum class BinaryOp { Add, Sub, Mul, Div, FloorDiv, Mod, Pow };

Value binary(Interpreter &interpreter, BinaryOp op, const Value &a,
             const Value &b);
Value negate(Heap &heap, const Value &value);
Value unaryPlus(Heap &heap, const Value &value);

/// value[index]: nothing where Python raises TypeError or LookupError.
std::optional<Value> subscript(Heap &heap, const Value &value,
                               const Value &index);
/// value[start:stop:step]; an omitted part is Missing.
Value slice(Heap &heap, const Value &value, const Value &start,
            const Value &stop, const Value &step);

/// Conversion of an index, of a bool or integer; fails for other types.
int64_t requireIndex(const Value &value, const char *what);
BigInt toBigInt(const Value &value);
/// Of any number; fails with OverflowError.
double toDouble(const Value &value);

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A text under construction, whose size counts.
class TextBuilder {
public:
  explicit TextBuilder(Heap &heap) : heap(heap) {}
  TextBuilder(const TextBuilder &) = delete;
  TextBuilder &operator=(const TextBuilder &) = delete;
  ~TextBuilder() { heap.discharge(charged); }
  void append(std::string_view text);
  void append(char c) { append(std::string_view(&c, 1)); }
  void append(size_t count, char c);
  size_t size() const { return content.size(); }
  const std::string &text() const { return content; }
  std::string take();

private:
  Heap &heap;
  std::string content;
  size_t charged = 0;
};

/// str(value).
std::string toText(Heap &heap, const Value &value);
void appendText(Heap &heap, TextBuilder &to, const Value &value);
/// repr(value).
std::string toRepr(Heap &heap, const Value &value);
void appendRepr(Heap &heap, TextBuilder &to, const Value &value);
std::string reprOfText(std::string_view text);
/// Python's shortest form of a number: "0.1", "1e+16", "nan".
std::string reprOfDouble(double value);
/// HTML-escapes &, <, >, " and '.
std::string escapeHtml(Heap &heap, std::string_view text);

/// json.dumps.
struct JsonStyle {
  bool asciiOnly = false;
  bool sortKeys = false;
  std::optional<std::string> indent; ///< One level of indentation.
  std::string itemSeparator = ", ";
  std::string keySeparator = ": ";
};
std::string toJson(Heap &heap, const Value &value, const JsonStyle &style);
Value fromJson(Heap &heap, const OrderedJson &json);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_OPERATORS_H
