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
#include <cmath>
#include <iterator>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// Names that every Python object has, or every function: never given out.
static bool isInternalName(std::string_view name) {
  constexpr std::string_view names[] = {
      "__class__",   "__doc__",          "__init__",         "__new__",
      "__repr__",    "__str__",          "__eq__",           "__ne__",
      "__lt__",      "__le__",           "__gt__",           "__ge__",
      "__hash__",    "__dir__",          "__format__",       "__getattribute__",
      "__setattr__", "__delattr__",      "__reduce__",       "__reduce_ex__",
      "__sizeof__",  "__subclasshook__", "__init_subclass__"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Methods that would change their object.
static bool isMutation(const Value &value, std::string_view name) {
  constexpr std::string_view ofLists[] = {"append", "reverse", "insert",
                                          "sort",   "extend",  "remove"};
  constexpr std::string_view ofDicts[] = {"clear", "pop", "popitem",
                                          "setdefault", "update"};
  auto isIn = [&](const auto &names) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  return value.is(Kind::List)   ? isIn(ofLists)
         : value.is(Kind::Dict) ? isIn(ofDicts)
                                : false;
}

static Value unsafeAttribute(Heap &heap, const Value &object,
                             const std::string &name) {
  return makeUndefined(heap,
                       "access to attribute '" + name + "' of '" +
                           typeName(object) + "' object is unsafe.",
                       /*isUnsafe=*/true);
}

const MethodEntry *findMethod(const Value &value, std::string_view name) {
  return value.isStr() ? findTextMethod(name)
                       : findContainerMethod(value, name);
}

/// Python's getattr(), checked by the sandbox; nothing for AttributeError.
std::optional<Value> Interpreter::objectAttribute(const Value &object,
                                                  const std::string &name) {
  if (object.isUndefined() && !isInternalName(name))
    failUndefined(object);
  if (object.is(Kind::Namespace)) {
    const Value *found =
        dictFind(heap, object.as<Namespace>().attributes.as<Dict>(), name);
    if (!found)
      return std::nullopt;
    return name[0] == '_' ? unsafeAttribute(heap, object, name) : *found;
  }
  if (const MethodEntry *method = findMethod(object, name))
    return Value(heap.make<Method>(0, object, method->name, method->call));
  if (isMutation(object, name) || isInternalName(name))
    return unsafeAttribute(heap, object, name);
  return findProperty(*this, object, name);
}

Value Interpreter::undefinedOf(const Value &object, const Value &name) {
  std::string type = object.isNone() ? "None" : typeName(object) + " object";
  return makeUndefined(
      heap, name.isStr()
                ? "'" + type + "' has no attribute " + toRepr(heap, name)
                : type + " has no element " + toRepr(heap, name));
}

Value Interpreter::attribute(const Value &object, const std::string &name) {
  if (std::optional<Value> found = objectAttribute(object, name))
    return std::move(*found);
  if (object.is(Kind::Dict)) {
    if (const Value *found = dictFind(heap, object.as<Dict>(), name))
      return *found;
  } else if (object.is(Kind::Self)) {
    if (auto block = source.blocks.find(name); block != source.blocks.end())
      return heap.make<BlockReference>(0, *block->second,
                                       object.as<SelfReference>().context);
  }
  return undefinedOf(object, makeStr(heap, name));
}

Value Interpreter::attributeOnly(const Value &object, const std::string &name) {
  std::optional<Value> found = objectAttribute(object, name);
  return found ? *found : undefinedOf(object, makeStr(heap, name));
}

Value Interpreter::item(const Value &object, const Value &index) {
  if (std::optional<Value> found = subscript(heap, object, index))
    return std::move(*found);
  if (index.isStr() && object.is(Kind::Self))
    return attribute(object, index.text());
  if (index.isStr())
    if (std::optional<Value> found = objectAttribute(object, index.text()))
      return std::move(*found);
  return undefinedOf(object, index);
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static Value cycleLoop(Interpreter &, const Value &self,
                       CallArguments &arguments) {
  const Values &values = arguments.positional;
  if (values.empty() || !arguments.keywords.empty())
    raise(ErrorKind::Type, "no items for cycling given");
  return values[static_cast<size_t>(self.as<Loop>().index0) % values.size()];
}

static Value changedLoop(Interpreter &interpreter, const Value &self,
                         CallArguments &arguments) {
  Loop &loop = self.as<Loop>();
  Value values = makeTuple(interpreter.heap, arguments.positional);
  if (!loop.changed.isMissing() &&
      equal(interpreter.heap, loop.changed, values))
    return Value::boolean(false);
  loop.changed = values;
  return Value::boolean(true);
}

static std::optional<Value> loopProperty(Interpreter &interpreter,
                                         const Value &value,
                                         std::string_view name) {
  Heap &heap = interpreter.heap;
  Loop &loop = value.as<Loop>();
  if (name == "index0")
    return Value::integer(loop.index0);
  if (name == "index")
    return Value::integer(loop.index0 + 1);
  if (name == "first")
    return Value::boolean(loop.index0 == 0);
  if (name == "last")
    return Value::boolean(loop.peek().isMissing());
  if (name == "length")
    return Value::integer(loop.size(heap));
  if (name == "revindex0")
    return Value::integer(loop.size(heap) - loop.index0 - 1);
  if (name == "revindex")
    return Value::integer(loop.size(heap) - loop.index0);
  if (name == "depth")
    return Value::integer(loop.depth0 + 1);
  if (name == "depth0")
    return Value::integer(loop.depth0);
  if (name == "previtem")
    return loop.index0 == 0 ? makeUndefined(heap, "there is no previous item")
                            : loop.before;
  if (name == "nextitem")
    return loop.peek().isMissing()
               ? makeUndefined(heap, "there is no next item")
               : loop.peek();
  if (name == "cycle")
    return Value(heap.make<Method>(0, value, "cycle", cycleLoop));
  if (name == "changed")
    return Value(heap.make<Method>(0, value, "changed", changedLoop));
  return std::nullopt;
}

static Value nextOfCycler(Interpreter &, const Value &self, CallArguments &) {
  Cycler &cycler = self.as<Cycler>();
  const Values &items = cycler.items.as<Sequence>().items;
  Value item = items[cycler.position];
  cycler.position = (cycler.position + 1) % items.size();
  return item;
}

static Value resetCycler(Interpreter &, const Value &self, CallArguments &) {
  self.as<Cycler>().position = 0;
  return Value::none();
}

static std::optional<Value> cyclerProperty(Interpreter &interpreter,
                                           const Value &value,
                                           std::string_view name) {
  Heap &heap = interpreter.heap;
  const Cycler &cycler = value.as<Cycler>();
  if (name == "current")
    return cycler.items.as<Sequence>().items[cycler.position];
  if (name == "items")
    return cycler.items;
  if (name == "pos")
    return Value::integer(static_cast<int64_t>(cycler.position));
  if (name == "next")
    return Value(heap.make<Method>(0, value, "next", nextOfCycler));
  if (name == "reset")
    return Value(heap.make<Method>(0, value, "reset", resetCycler));
  return std::nullopt;
}

static std::optional<Value> macroProperty(Interpreter &interpreter,
                                          const Value &value,
                                          std::string_view name) {
  const MacroInfo &info = value.as<Macro>().info;
  Heap &heap = interpreter.heap;
  if (name == "name")
    return info.name.empty() ? Value::none() : makeStr(heap, info.name);
  if (name == "arguments") {
    Values names;
    for (const std::string &parameter : info.parameters)
      names.push_back(makeStr(heap, parameter));
    return makeTuple(heap, std::move(names));
  }
  if (name == "catch_kwargs")
    return Value::boolean(info.usesKeywords);
  if (name == "catch_varargs")
    return Value::boolean(info.usesVariadic);
  if (name == "caller")
    return Value::boolean(info.usesCaller);
  if (name == "explicit_caller")
    return Value::boolean(info.hasExplicitCaller);
  return std::nullopt;
}

static std::optional<Value> numberProperty(Heap &heap, const Value &value,
                                           std::string_view name) {
  if (name == "real" || (name == "numerator" && value.isInteger()))
    return unaryPlus(heap, value);
  if (name == "imag")
    return value.is(Kind::Float) ? Value::number(0) : Value::integer(0);
  if (name == "denominator" && value.isInteger())
    return Value::integer(1);
  return std::nullopt;
}

std::optional<Value> findProperty(Interpreter &interpreter, const Value &value,
                                  std::string_view name) {
  Heap &heap = interpreter.heap;
  switch (value.kind()) {
  case Kind::Loop:
    return loopProperty(interpreter, value, name);
  case Kind::Cycler:
    return cyclerProperty(interpreter, value, name);
  case Kind::Macro:
    return macroProperty(interpreter, value, name);
  case Kind::Bool:
  case Kind::Int:
  case Kind::Big:
  case Kind::Float:
    return numberProperty(heap, value, name);
  case Kind::Joiner:
    if (name == "sep")
      return value.as<Joiner>().separator;
    if (name == "used")
      return Value::boolean(value.as<Joiner>().isUsed);
    return std::nullopt;
  case Kind::Range:
    if (name == "start")
      return Value::integer(value.as<Range>().start);
    if (name == "stop")
      return Value::integer(value.as<Range>().stop);
    if (name == "step")
      return Value::integer(value.as<Range>().step);
    return std::nullopt;
  case Kind::Tuple:
    if (value.as<Sequence>().isGroup && name == "grouper")
      return value.as<Sequence>().items[0];
    if (value.as<Sequence>().isGroup && name == "list")
      return value.as<Sequence>().items[1];
    return std::nullopt;
  case Kind::Block:
    if (name == "name")
      return makeStr(heap, value.as<BlockReference>().block.name);
    if (name == "super")
      return makeUndefined(heap, "there is no parent block called '" +
                                     value.as<BlockReference>().block.name +
                                     "'.");
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace llmir::chat
