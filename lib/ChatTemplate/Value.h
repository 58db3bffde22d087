//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of templates: Python's, as far as templates can have them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_VALUE_H
#define LLMIR_LIB_CHATTEMPLATE_VALUE_H

#include "BigInt.h"
#include "Heap.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmir::chat {

class Interpreter;
class Value;
struct Str;

using Values = std::vector<Value>;

/// A number, or a counted reference to an object.
class Value {
public:
  Value() : tag(Kind::Missing) { payload.integer = 0; }
  static Value none() { return simple(Kind::None); }
  static Value boolean(bool value) {
    Value result = simple(Kind::Bool);
    result.payload.integer = value;
    return result;
  }
  static Value integer(int64_t value) {
    Value result = simple(Kind::Int);
    result.payload.integer = value;
    return result;
  }
  static Value number(double value) {
    Value result = simple(Kind::Float);
    result.payload.number = value;
    return result;
  }
  Value(Object *object) : tag(object->kind) {
    payload.object = object;
    retain();
  }
  Value(const Value &other) : tag(other.tag), payload(other.payload) {
    retain();
  }
  Value(Value &&other) noexcept : tag(other.tag), payload(other.payload) {
    other.tag = Kind::Missing;
  }
  Value &operator=(const Value &other) {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value &operator=(Value &&other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Value() { release(); }
  void swap(Value &other) noexcept {
    std::swap(tag, other.tag);
    std::swap(payload, other.payload);
  }

  Kind kind() const { return tag; }
  bool is(Kind kind) const { return tag == kind; }
  bool isMissing() const { return tag == Kind::Missing; }
  bool isNone() const { return tag == Kind::None; }
  bool isUndefined() const { return tag == Kind::Undefined; }
  bool isStr() const { return tag == Kind::Str; }
  /// bool is a subclass of int.
  bool isInteger() const {
    return tag == Kind::Int || tag == Kind::Bool || tag == Kind::Big;
  }
  bool isSmallInteger() const { return tag == Kind::Int || tag == Kind::Bool; }
  bool isNumber() const { return isInteger() || tag == Kind::Float; }
  bool isObject() const { return tag >= Kind::Big; }

  /// Of a Bool or Int.
  int64_t asInt() const { return payload.integer; }
  double asDouble() const { return payload.number; }
  Object *object() const { return payload.object; }
  template <typename T> T &as() const {
    return *static_cast<T *>(payload.object);
  }
  inline const std::string &text() const;

private:
  static Value simple(Kind kind) {
    Value result;
    result.tag = kind;
    return result;
  }
  void retain() {
    // Constants of the template are shared by threads and are not counted.
    if (isObject() && payload.object->heap)
      ++payload.object->references;
  }
  void release() {
    if (isObject() && payload.object->heap && --payload.object->references == 0)
      payload.object->heap->free(*payload.object);
  }

  Kind tag;
  union {
    int64_t integer;
    double number;
    Object *object;
  } payload;
};

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

struct Big : Object {
  explicit Big(BigInt value) : Object(Kind::Big), value(std::move(value)) {}
  const BigInt value;
};

struct Str : Object {
  explicit Str(std::string text, bool isMarkup = false)
      : Object(Kind::Str), text(std::move(text)), isMarkup(isMarkup) {}
  const std::string text; ///< UTF-8.
  const bool isMarkup;    ///< Was marked safe: what is appended is escaped.
  int64_t length = -1;    ///< In characters; -1: not yet counted.
};

inline const std::string &Value::text() const { return as<Str>().text; }

/// A list or tuple; immutable once a template can see it.
struct Sequence : Object {
  Sequence(Kind kind, Values items) : Object(kind), items(std::move(items)) {}
  void clear() override { items.clear(); }
  Values items;
  bool isGroup = false; ///< Of groupby: has the fields grouper and list.
};

/// Keys in the order of their insertion.
struct Dict : Object {
  Dict() : Object(Kind::Dict) {}
  void clear() override { entries.clear(); }
  std::vector<std::pair<Value, Value>> entries;
  /// Entry numbers by hash, once there are more than a few.
  std::unordered_multimap<size_t, uint32_t> index;
};

enum class ViewPart : uint8_t { Keys, Values, Items };

struct View : Object {
  View(Value dict, ViewPart part)
      : Object(Kind::View), dict(std::move(dict)), part(part) {}
  void clear() override { dict = Value(); }
  Value dict;
  const ViewPart part;
};

struct Range : Object {
  Range(int64_t start, int64_t stop, int64_t step, int64_t size)
      : Object(Kind::Range), start(start), stop(stop), step(step), size(size) {}
  int64_t at(int64_t i) const { return start + i * step; }
  const int64_t start, stop, step, size;
};

/// A generator: values once, when they are asked for.
struct Iterator : Object {
  using Next = std::function<bool(Value &)>;
  Iterator(std::string type, Next next)
      : Object(Kind::Iterator), type(std::move(type)), next(std::move(next)) {}
  void clear() override { next = nullptr; }
  const std::string type; ///< The name of the Python type.
  Next next;              ///< Empty once exhausted.
};

struct Undefined : Object {
  explicit Undefined(std::string hint, bool isUnsafe = false)
      : Object(Kind::Undefined), hint(std::move(hint)), isUnsafe(isUnsafe) {}
  const std::string hint; ///< The message of the failure on use.
  const bool isUnsafe;    ///< Stands for an attribute that is not allowed.
};

struct CallArguments {
  Values positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

using Builtin = Value (*)(Interpreter &, CallArguments &);

/// A global function.
struct Function : Object {
  Function(const char *name, Builtin call)
      : Object(Kind::Function), name(name), call(call) {}
  const char *const name;
  const Builtin call;
};

using MethodCall = Value (*)(Interpreter &, const Value &self, CallArguments &);

struct Method : Object {
  Method(Value self, const char *name, MethodCall call)
      : Object(Kind::Method), self(std::move(self)), name(name), call(call) {}
  void clear() override { self = Value(); }
  Value self;
  const char *const name;
  const MethodCall call;
};

struct Namespace : Object {
  explicit Namespace(Value attributes)
      : Object(Kind::Namespace), attributes(std::move(attributes)) {}
  void clear() override { attributes = Value(); }
  Value attributes; ///< A Dict that only this namespace refers to.
};

struct Cycler : Object {
  explicit Cycler(Value items)
      : Object(Kind::Cycler), items(std::move(items)) {}
  void clear() override { items = Value(); }
  Value items; ///< A tuple.
  size_t position = 0;
};

struct Joiner : Object {
  explicit Joiner(Value separator)
      : Object(Kind::Joiner), separator(std::move(separator)) {}
  void clear() override { separator = Value(); }
  Value separator;
  bool isUsed = false;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_VALUE_H
