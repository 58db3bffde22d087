//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds the arguments of a call to the parameters of a builtin function.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_ARGUMENTS_H
#define LLMIR_LIB_CHATTEMPLATE_ARGUMENTS_H

#include "Interpreter.h"

#include <initializer_list>

namespace llmir::chat {

/// The arguments by parameter. A parameter that is named "" takes positional
/// arguments only; the first `required` ones must be given.
class Bound {
public:
  Bound(const char *function, const CallArguments &arguments,
        std::initializer_list<const char *> parameters, size_t required);

  const Value &operator[](size_t i) const { return values[i]; }
  bool has(size_t i) const { return !values[i].isMissing(); }
  /// The argument, or a default.
  Value valueOr(size_t i, Value otherwise) const {
    return has(i) ? values[i] : std::move(otherwise);
  }
  bool truthOr(Heap &heap, size_t i, bool otherwise) const {
    return has(i) ? truth(heap, values[i]) : otherwise;
  }
  /// An integer; fails for other types.
  int64_t integer(size_t i) const;
  int64_t integerOr(size_t i, int64_t otherwise) const {
    return has(i) ? integer(i) : otherwise;
  }
  /// A text; fails for other types.
  const std::string &text(size_t i) const;

private:
  const char *function;
  Values values;
};

/// A text from any value, as soft_str() of MarkupSafe: str(), but what is
/// marked safe stays so.
Value softText(Heap &heap, const Value &value);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_ARGUMENTS_H
