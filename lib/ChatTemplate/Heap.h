//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of one rendering: who owns them, and what they may use.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_HEAP_H
#define LLMIR_LIB_CHATTEMPLATE_HEAP_H

#include "llmir/ChatTemplate/ChatTemplate.h"

#include <string>
#include <utility>

namespace llmir::chat {

/// A place in the template's source; both count from 1.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// The kinds of failure that templates and filters tell apart.
enum class ErrorKind {
  Syntax,
  Type,
  Value,
  Lookup,
  Overflow,
  Undefined,
  Security,
  Runtime,
  Unsupported,
  Limit,
};

/// Thrown inside the library only; ChatTemplate converts it to a Status.
struct TemplateError {
  ErrorKind kind;
  std::string message;
  Position position = {};
};

[[noreturn]] void raise(ErrorKind kind, std::string message);

class Heap;

enum class Kind : uint8_t {
  Missing, ///< No value: a variable before its first assignment.
  None,
  Bool,
  Int,
  Float,
  // The rest are objects.
  Big,
  Str,
  List,
  Tuple,
  Dict,
  View,
  Range,
  Iterator,
  Undefined,
  Function,
  Method,
  Macro,
  Namespace,
  Cycler,
  Joiner,
  Loop,
  Self,
  Block,
  Context,    ///< Internal: variables by name.
  Activation, ///< Internal: a function's slots.
};

/// A counted object. One without a heap is never counted or freed here.
class Object {
public:
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;
  /// Drops the references to other objects, so that cycles can be freed.
  virtual void clear() {}

  const Kind kind;

protected:
  explicit Object(Kind kind) : kind(kind) {}

private:
  friend class Heap;
  friend class Value;
  Heap *heap = nullptr;
  Object *previous = nullptr, *next = nullptr;
  size_t bytes = 0;
  uint32_t references = 0;
};

/// Owns the objects of one rendering, and counts its work. Not for threads.
class Heap {
public:
  explicit Heap(const ChatTemplateLimits &limits) : limits(limits) {}
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;
  ~Heap();

  /// Creates an object; `extra` is the memory that it owns besides itself.
  template <typename T, typename... Arguments>
  T *make(size_t extra, Arguments &&...arguments) {
    // About as long as three nodes take: it is freed again, too.
    step(3);
    reserve(sizeof(T) + extra);
    T *object = new T(std::forward<Arguments>(arguments)...);
    adopt(*object, sizeof(T) + extra);
    return object;
  }

  /// Fails if `more` bytes would exceed the limit.
  void reserve(size_t more) const;
  /// Counts memory that objects in construction own.
  void charge(size_t bytes) {
    reserve(bytes);
    live += bytes;
  }
  void discharge(size_t bytes) { live -= bytes; }
  /// Counts work; fails when there is too much. A step is some 30 ns, so that a
  /// template ends within a second whatever its steps are.
  void step(uint64_t count = 1) {
    steps += count;
    if (steps > limits.steps)
      tooManySteps();
  }
  /// Counts work on a text of that size as a whole: a copy, a search.
  void stepBytes(size_t bytes) { step(1 + bytes / 32); }
  /// Counts work on each character of a text of that size.
  void stepCharacters(size_t bytes) { step(1 + bytes / 2); }

  const ChatTemplateLimits limits;
  int depth = 0;

private:
  friend class Value;
  void adopt(Object &object, size_t bytes);
  void free(Object &object);
  [[noreturn]] static void tooManySteps();

  Object *first = nullptr; ///< All objects.
  Object *dead = nullptr;  ///< Those to be deleted, linked by `next`.
  bool isFreeing = false;
  uint64_t live = 0;
  uint64_t steps = 0;
};

/// Counts nested evaluation, so that no template exhausts the stack.
class DepthGuard {
public:
  explicit DepthGuard(Heap &heap);
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;
  ~DepthGuard() { --heap.depth; }

private:
  Heap &heap;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_HEAP_H
