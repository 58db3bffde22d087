//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

namespace llmir::chat {

Bound::Bound(const char *function, const CallArguments &arguments,
             std::initializer_list<const char *> parameters, size_t required)
    : function(function), values(parameters.size()) {
  if (arguments.positional.size() > parameters.size())
    raise(ErrorKind::Type,
          std::string(function) + "() takes at most " +
              std::to_string(parameters.size()) + " arguments (" +
              std::to_string(arguments.positional.size()) + " given)");
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    values[i] = arguments.positional[i];
  for (const auto &[name, value] : arguments.keywords) {
    size_t i = 0;
    for (const char *parameter : parameters) {
      if (*parameter && name == parameter)
        break;
      ++i;
    }
    if (i == parameters.size())
      raise(ErrorKind::Type, std::string(function) +
                                 "() got an unexpected keyword argument '" +
                                 name + "'");
    if (has(i))
      raise(ErrorKind::Type, std::string(function) +
                                 "() got multiple values for argument '" +
                                 name + "'");
    values[i] = value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!has(i))
      raise(ErrorKind::Type,
            std::string(function) + "() lacks a required argument" +
                (**(parameters.begin() + i)
                     ? std::string(": '") + *(parameters.begin() + i) + "'"
                     : std::string()));
}

int64_t Bound::integer(size_t i) const {
  if (values[i].isUndefined())
    failUndefined(values[i]);
  if (!values[i].isInteger())
    raise(ErrorKind::Type, "'" + typeName(values[i]) +
                               "' object cannot be interpreted as an integer");
  return requireIndex(values[i], function);
}

const std::string &Bound::text(size_t i) const {
  if (values[i].isStr())
    return values[i].text();
  raise(ErrorKind::Type, std::string(function) +
                             "() argument must be str, not " +
                             typeName(values[i]));
}

Value softText(Heap &heap, const Value &value) {
  return value.isStr() ? value : makeStr(heap, toText(heap, value));
}

} // namespace llmir::chat
