//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Interpreter.h"

#include <algorithm>
#include <iterator>

namespace llmir::chat {
namespace {

/// The value of a test without arguments.
const Value &only(const CallArguments &arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty())
    raise(ErrorKind::Type, "this test takes no arguments");
  return arguments.positional[0];
}

bool hasRemainder(Interpreter &interpreter, const Value &value,
                  const Value &divisor, int64_t rest) {
  Value remainder = binary(interpreter, BinaryOp::Mod, value, divisor);
  return equal(interpreter.heap, remainder, Value::integer(rest));
}

bool odd(Interpreter &interpreter, CallArguments &arguments) {
  return hasRemainder(interpreter, only(arguments), Value::integer(2), 1);
}

bool even(Interpreter &interpreter, CallArguments &arguments) {
  return hasRemainder(interpreter, only(arguments), Value::integer(2), 0);
}

bool divisibleby(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("divisibleby", arguments, {"value", "num"}, 2);
  return hasRemainder(interpreter, bound[0], bound[1], 0);
}

template <Kind kind> bool isKind(Interpreter &, CallArguments &arguments) {
  return only(arguments).is(kind);
}

bool defined(Interpreter &, CallArguments &arguments) {
  return !only(arguments).isUndefined();
}

bool filter(Interpreter &interpreter, CallArguments &arguments) {
  const Value &name = only(arguments);
  hashValue(interpreter.heap, name);
  return name.isStr() && findFilter(name.text());
}

bool test(Interpreter &interpreter, CallArguments &arguments) {
  const Value &name = only(arguments);
  hashValue(interpreter.heap, name);
  return name.isStr() && findTest(name.text());
}

template <bool value> bool isBoolean(Interpreter &, CallArguments &arguments) {
  const Value &tested = only(arguments);
  return tested.is(Kind::Bool) && (tested.asInt() != 0) == value;
}

bool integer(Interpreter &, CallArguments &arguments) {
  const Value &value = only(arguments);
  return value.is(Kind::Int) || value.is(Kind::Big);
}

bool number(Interpreter &, CallArguments &arguments) {
  return only(arguments).isNumber();
}

bool hasCase(Interpreter &interpreter, const Value &value, const char *method) {
  Value text = makeStr(interpreter.heap, toText(interpreter.heap, value));
  CallArguments none;
  Value result = findTextMethod(method)->call(interpreter, text, none);
  return result.asInt() != 0;
}

bool lower(Interpreter &interpreter, CallArguments &arguments) {
  return hasCase(interpreter, only(arguments), "islower");
}

bool upper(Interpreter &interpreter, CallArguments &arguments) {
  return hasCase(interpreter, only(arguments), "isupper");
}

bool sequence(Interpreter &, CallArguments &arguments) {
  switch (only(arguments).kind()) {
  case Kind::Str:
  case Kind::List:
  case Kind::Tuple:
  case Kind::Dict:
  case Kind::Range:
  case Kind::Undefined:
    return true;
  default:
    return false;
  }
}

bool iterable(Interpreter &, CallArguments &arguments) {
  const Value &value = only(arguments);
  return isIterable(value) || value.is(Kind::Self);
}

bool callable(Interpreter &, CallArguments &arguments) {
  return isCallable(only(arguments));
}

bool sameas(Interpreter &, CallArguments &arguments) {
  Bound bound("sameas", arguments, {"value", "other"}, 2);
  return identical(bound[0], bound[1]);
}

bool escaped(Interpreter &, CallArguments &arguments) {
  const Value &value = only(arguments);
  return value.isStr() && value.as<Str>().isMarkup;
}

bool in(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("in", arguments, {"value", "seq"}, 2);
  return contains(interpreter.heap, bound[1], bound[0]);
}

template <bool isEqual>
bool equals(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("eq", arguments, {"", ""}, 2);
  return equal(interpreter.heap, bound[0], bound[1]) == isEqual;
}

template <Order order>
bool compares(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("comparison", arguments, {"", ""}, 2);
  return ordered(interpreter.heap, order, bound[0], bound[1]);
}

constexpr TestEntry table[] = {
    {"!=", equals<false>},
    {"<", compares<Order::Less>},
    {"<=", compares<Order::LessEqual>},
    {"==", equals<true>},
    {">", compares<Order::Greater>},
    {">=", compares<Order::GreaterEqual>},
    {"boolean", isKind<Kind::Bool>},
    {"callable", callable},
    {"defined", defined},
    {"divisibleby", divisibleby},
    {"eq", equals<true>},
    {"equalto", equals<true>},
    {"escaped", escaped},
    {"even", even},
    {"false", isBoolean<false>},
    {"filter", filter},
    {"float", isKind<Kind::Float>},
    {"ge", compares<Order::GreaterEqual>},
    {"greaterthan", compares<Order::Greater>},
    {"gt", compares<Order::Greater>},
    {"in", in},
    {"integer", integer},
    {"iterable", iterable},
    {"le", compares<Order::LessEqual>},
    {"lessthan", compares<Order::Less>},
    {"lower", lower},
    {"lt", compares<Order::Less>},
    {"mapping", isKind<Kind::Dict>},
    {"ne", equals<false>},
    {"none", isKind<Kind::None>},
    {"number", number},
    {"odd", odd},
    {"sameas", sameas},
    {"sequence", sequence},
    {"string", isKind<Kind::Str>},
    {"test", test},
    {"true", isBoolean<true>},
    {"undefined", isKind<Kind::Undefined>},
    {"upper", upper},
};

} // namespace

const TestEntry *findTest(std::string_view name) {
  const TestEntry *found =
      std::lower_bound(std::begin(table), std::end(table), name,
                       [](const TestEntry &entry, std::string_view name) {
                         return entry.name < name;
                       });
  return found != std::end(table) && found->name == name ? found : nullptr;
}

} // namespace llmir::chat
