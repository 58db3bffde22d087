//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Renders a template: walks the syntax tree.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_INTERPRETER_H
#define LLMIR_LIB_CHATTEMPLATE_INTERPRETER_H

#include "AST.h"
#include "Operators.h"

#include <unordered_map>

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Objects of the interpreter
//===----------------------------------------------------------------------===//

/// Variables by name: of the template, or those that a scoped block sees.
struct Context : Object {
  Context() : Object(Kind::Context) {}
  void clear() override {
    variables.clear();
    outer = Value();
  }
  std::unordered_map<std::string, Value> variables;
  Value outer; ///< Missing, or the Context in which other names are found.
};

/// The variables of a function that runs, or whose macros exist.
struct Activation : Object {
  Activation(Value outer, Value context, size_t slots)
      : Object(Kind::Activation), outer(std::move(outer)),
        context(std::move(context)), slots(slots) {}
  void clear() override {
    outer = context = Value();
    slots.clear();
  }
  Value outer;
  Value context;
  Values slots;
};

struct Macro : Object {
  Macro(const MacroInfo &info, Value closure)
      : Object(Kind::Macro), info(info), closure(std::move(closure)) {}
  void clear() override { closure = Value(); }
  const MacroInfo &info;
  Value closure; ///< The Activation in which it was defined.
};

/// `loop`.
struct Loop : Object {
  Loop(Heap &heap, Value iterable, const Stmt &stmt, Value closure,
       int64_t depth)
      : Object(Kind::Loop), iterable(iterable), cursor(heap, iterable),
        stmt(stmt), closure(std::move(closure)), depth0(depth) {}
  void clear() override {
    iterable = current = before = after = changed = closure = Value();
    cursor.clear();
  }
  bool next(Value &item);
  int64_t size(Heap &heap);
  const Value &peek();

  Value iterable;
  Cursor cursor;
  const Stmt &stmt;
  Value closure; ///< The Activation around a recursive loop.
  const int64_t depth0;
  int64_t index0 = -1;
  int64_t length = -1;
  Value current, before, after;
  Value changed; ///< The arguments of the last call of `changed`.
};

/// `self.name` or `super`.
struct BlockReference : Object {
  BlockReference(const Stmt &block, Value context)
      : Object(Kind::Block), block(block), context(std::move(context)) {}
  void clear() override { context = Value(); }
  const Stmt &block;
  Value context;
};

struct SelfReference : Object {
  explicit SelfReference(Value context)
      : Object(Kind::Self), context(std::move(context)) {}
  void clear() override { context = Value(); }
  Value context;
};

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

/// How a statement ended.
enum class Flow : uint8_t { Normal, Break, Continue };

/// One rendering.
class Interpreter {
public:
  explicit Interpreter(const Template &source)
      : source(source), heap(source.limits) {}

  std::string render(const OrderedJson &variables);

  /// obj.name and obj[index] with the rules of the sandbox; an undefined value
  /// where there is none.
  Value attribute(const Value &object, const std::string &name);
  Value item(const Value &object, const Value &index);
  /// obj.name without the items of a mapping.
  Value attributeOnly(const Value &object, const std::string &name);
  Value call(const Value &callee, CallArguments &arguments);
  Value callFilter(const Value &name, CallArguments &arguments);
  bool callTest(const Value &name, CallArguments &arguments);

  const Template &source;
  Heap heap;
  /// Where evaluation stands; a failure is reported there.
  Position here;

private:
  /// Runs code in another activation.
  class InActivation;

  // Statements.
  Flow run(const Body &body);
  Flow run(const Stmt &stmt);
  void runOutput(const Stmt &stmt);
  Flow runIf(const Stmt &stmt);
  Flow runFor(const Stmt &stmt);
  Flow runLoop(const Stmt &stmt, const Value &iterable, int64_t depth);
  std::string runRecursiveLoop(const Stmt &stmt, const Value &iterable,
                               const Value &closure, int64_t depth);
  Value filteredItems(const Stmt &stmt, const Value &iterable);
  void runSet(const Stmt &stmt);
  Flow runSetBlock(const Stmt &stmt);
  Flow runFilterBlock(const Stmt &stmt);
  Flow runWith(const Stmt &stmt);
  void runMacro(const Stmt &stmt);
  void runCallBlock(const Stmt &stmt);
  void runBlock(const Stmt &stmt);
  std::string renderBlock(const Stmt &block, const Value &context);
  void enter(const Scope &scope);
  void leave(const Scope &scope);
  void assign(const Expr &target, const Value &value, bool isTopLevel);
  Flow capture(const Body &body, std::string &text);
  void write(std::string_view text);
  void writeResult(const Value &value);

  // Expressions.
  Value evaluate(const Expr &expr);
  Value evaluateName(const Expr &expr);
  Value evaluateItems(const Expr &expr);
  Value evaluateDict(const Expr &expr);
  Value evaluateBinary(const Expr &expr);
  Value evaluateConcat(const Expr &expr);
  Value evaluateCompare(const Expr &expr);
  Value evaluateCondition(const Expr &expr);
  Value evaluateAttribute(const Expr &expr);
  Value evaluateSubscript(const Expr &expr);
  Value evaluateSlice(const Expr &expr);
  Value evaluateCall(const Expr &expr, const Value *caller = nullptr);
  Value evaluateFilter(const Expr &expr, const Value *input = nullptr);
  Value evaluateTest(const Expr &expr);
  void evaluateArguments(const ArgumentList &list, CallArguments &arguments);
  bool compare(Comparison comparison, const Value &a, const Value &b);

  // Calls.
  Value callMacro(const Macro &macro, CallArguments &arguments);
  void bindMacro(const Macro &macro, CallArguments &arguments,
                 Activation &frame);
  Value callJoiner(Joiner &joiner, CallArguments &arguments);
  Value callLoop(Loop &loop, CallArguments &arguments);

  Value &slot(const SlotRef &reference);
  Value resolve(const std::string &name);
  Activation &frame() { return activation.as<Activation>(); }
  void defineGlobals(Context &globals);
  std::optional<Value> objectAttribute(const Value &object,
                                       const std::string &name);
  Value undefinedOf(const Value &object, const Value &name);

  Value activation;
  TextBuilder *output = nullptr;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

struct FilterEntry {
  const char *name;
  Builtin call; ///< The first argument is the value.
};

struct TestEntry {
  const char *name;
  bool (*call)(Interpreter &, CallArguments &);
};

struct MethodEntry {
  const char *name;
  MethodCall call;
};

/// Null if there is none.
const FilterEntry *findFilter(std::string_view name);
const TestEntry *findTest(std::string_view name);
/// A method of the value's type.
const MethodEntry *findMethod(const Value &value, std::string_view name);
const MethodEntry *findTextMethod(std::string_view name);
const MethodEntry *findContainerMethod(const Value &value,
                                       std::string_view name);
/// A property of the value that is not a method: `loop.index`.
std::optional<Value> findProperty(Interpreter &interpreter, const Value &value,
                                  std::string_view name);

std::string reprOfMacro(const Value &macro);
std::string reprOfLoop(const Value &loop);

/// text % values.
Value formatPercent(Interpreter &interpreter, const Value &text,
                    const Value &values);
/// text.format(…)
Value formatBraces(Interpreter &interpreter, const Value &text,
                   const CallArguments &arguments);
Value formatMap(Interpreter &interpreter, const Value &text,
                const Value &mapping);
/// format(value, spec)
std::string formatSpec(Interpreter &interpreter, const Value &value,
                       const std::string &spec);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_INTERPRETER_H
