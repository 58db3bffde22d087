//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include <algorithm>

namespace llmir::chat {

Value Interpreter::call(const Value &callee, CallArguments &arguments) {
  DepthGuard guard(heap);
  switch (callee.kind()) {
  case Kind::Undefined:
    failUndefined(callee);
  case Kind::Function:
    return callee.as<Function>().call(*this, arguments);
  case Kind::Method: {
    const Method &method = callee.as<Method>();
    return method.call(*this, method.self, arguments);
  }
  case Kind::Macro:
    return callMacro(callee.as<Macro>(), arguments);
  case Kind::Joiner:
    return callJoiner(callee.as<Joiner>(), arguments);
  case Kind::Loop:
    return callLoop(callee.as<Loop>(), arguments);
  case Kind::Block: {
    const auto &reference = callee.as<BlockReference>();
    return makeStr(heap, renderBlock(reference.block, reference.context));
  }
  default:
    raise(ErrorKind::Type, "'" + typeName(callee) + "' object is not callable");
  }
}

Value Interpreter::callJoiner(Joiner &joiner, CallArguments &) {
  if (joiner.isUsed)
    return joiner.separator;
  joiner.isUsed = true;
  return makeStr(heap, "");
}

Value Interpreter::callLoop(Loop &loop, CallArguments &arguments) {
  if (!loop.stmt.isRecursive)
    raise(ErrorKind::Type, "the loop must be marked 'recursive' to be called");
  if (arguments.positional.size() != 1 || !arguments.keywords.empty())
    raise(ErrorKind::Type, "loop() takes one argument");
  return makeStr(heap, runRecursiveLoop(loop.stmt, arguments.positional[0],
                                        loop.closure, loop.depth0 + 1));
}

//===----------------------------------------------------------------------===//
// Macros
//===----------------------------------------------------------------------===//

/// Stores the arguments in the frame; parameters without one stay Missing.
void Interpreter::bindMacro(const Macro &macro, CallArguments &arguments,
                            Activation &frame) {
  const MacroInfo &info = macro.info;
  const std::string shown = info.name.empty() ? "None" : "'" + info.name + "'";
  auto &keywords = arguments.keywords;
  auto take = [&](const std::string &name, Value &value) {
    auto found =
        std::find_if(keywords.begin(), keywords.end(),
                     [&](const auto &entry) { return entry.first == name; });
    if (found == keywords.end())
      return false;
    value = std::move(found->second);
    keywords.erase(found);
    return true;
  };
  const size_t count = info.parameters.size();
  const size_t given = std::min(arguments.positional.size(), count);
  for (size_t i = 0; i < given; ++i)
    frame.slots[info.slots[i]] = arguments.positional[i];
  bool foundCaller = given == count && info.hasExplicitCaller;
  for (size_t i = given; i < count; ++i) {
    take(info.parameters[i], frame.slots[info.slots[i]]);
    foundCaller |= info.parameters[i] == "caller";
  }
  if (info.usesCaller && !foundCaller) {
    Value caller;
    if (!take("caller", caller) || caller.isNone())
      caller = makeUndefined(heap, "No caller defined");
    // With an explicit parameter of this name, all arguments were consumed.
    if (!info.hasExplicitCaller)
      frame.slots[info.callerSlot] = caller;
  }
  if (info.usesKeywords) {
    Value rest = heap.make<Dict>(0);
    for (auto &[name, value] : keywords)
      dictSet(heap, rest.as<Dict>(), makeStr(heap, name), value);
    frame.slots[info.keywordsSlot] = rest;
  } else if (!keywords.empty()) {
    raise(ErrorKind::Type,
          "macro " + shown +
              (keywords[0].first == "caller"
                   ? " was invoked with two values for the special caller "
                     "argument"
                   : " takes no keyword argument '" + keywords[0].first + "'"));
  }
  if (info.usesVariadic) {
    auto begin = arguments.positional.begin() + static_cast<ptrdiff_t>(given);
    frame.slots[info.variadicSlot] =
        makeTuple(heap, Values(begin, arguments.positional.end()));
  } else if (arguments.positional.size() > count) {
    raise(ErrorKind::Type, "macro " + shown + " takes not more than " +
                               std::to_string(count) + " argument(s)");
  }
}

Value Interpreter::callMacro(const Macro &macro, CallArguments &arguments) {
  DepthGuard guard(heap);
  const MacroInfo &info = macro.info;
  Value callee(const_cast<Macro *>(&macro)); // Lives during the call.
  Value inner = heap.make<Activation>(
      info.function->slotCount * sizeof(Value), macro.closure,
      macro.closure.as<Activation>().context, info.function->slotCount);
  bindMacro(macro, arguments, inner.as<Activation>());

  Value outer = activation;
  activation = inner;
  std::string text;
  try {
    enter(info.scope);
    const size_t required = info.parameters.size() - info.defaults.size();
    for (size_t i = 0; i < info.parameters.size(); ++i) {
      Value &value = frame().slots[info.slots[i]];
      if (!value.isMissing())
        continue;
      value = i < required
                  ? makeUndefined(heap, "parameter '" + info.parameters[i] +
                                            "' was not provided")
                  : evaluate(*info.defaults[i - required]);
    }
    capture(*info.body, text);
  } catch (...) {
    activation = outer;
    throw;
  }
  activation = outer;
  return makeStr(heap, std::move(text));
}

std::string reprOfMacro(const Value &macro) {
  const std::string &name = macro.as<Macro>().info.name;
  return name.empty() ? "<Macro anonymous>"
                      : "<Macro " + reprOfText(name) + ">";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool Loop::next(Value &item) {
  if (!after.isMissing())
    item = std::move(after);
  else if (!cursor.next(item))
    return false;
  after = Value();
  ++index0;
  before = std::move(current);
  current = item;
  return true;
}

/// The next item, or Missing at the end.
const Value &Loop::peek() {
  if (after.isMissing() && !cursor.next(after))
    after = Value();
  return after;
}

int64_t Loop::size(Heap &heap) {
  if (length >= 0)
    return length;
  if (auto known = lengthOf(heap, iterable))
    return length = *known;
  // A generator: what is left becomes a list.
  Values rest;
  for (Value item; cursor.next(item);)
    rest.push_back(item);
  length = static_cast<int64_t>(rest.size()) + index0 + 1 +
           (after.isMissing() ? 0 : 1);
  cursor.restart(makeList(heap, std::move(rest)));
  return length;
}

std::string reprOfLoop(const Value &loop) {
  return "<LoopContext " + std::to_string(loop.as<Loop>().index0 + 1) + ">";
}

} // namespace llmir::chat
