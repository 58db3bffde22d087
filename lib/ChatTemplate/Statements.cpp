//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

namespace llmir::chat {

/// Restores the activation that was current before.
class Interpreter::InActivation {
public:
  InActivation(Interpreter &interpreter, Value activation)
      : interpreter(interpreter), saved(std::move(interpreter.activation)) {
    interpreter.activation = std::move(activation);
  }
  InActivation(const InActivation &) = delete;
  InActivation &operator=(const InActivation &) = delete;
  ~InActivation() { interpreter.activation = std::move(saved); }

private:
  Interpreter &interpreter;
  Value saved;
};

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Value &Interpreter::slot(const SlotRef &reference) {
  Activation *current = &frame();
  for (uint32_t i = 0; i < reference.hops; ++i)
    current = &current->outer.as<Activation>();
  return current->slots[reference.slot];
}

/// A variable by name; Missing if there is none.
Value Interpreter::resolve(const std::string &name) {
  for (const Value *context = &frame().context; !context->isMissing();
       context = &context->as<Context>().outer) {
    const auto &variables = context->as<Context>().variables;
    if (auto found = variables.find(name); found != variables.end())
      return found->second;
  }
  return Value();
}

void Interpreter::enter(const Scope &scope) {
  for (const Load &load : scope.loads) {
    Value &target = frame().slots[load.slot];
    switch (load.action) {
    case Load::Resolve:
      target = resolve(load.name);
      break;
    case Load::Alias:
      target = slot(load.from);
      break;
    case Load::Undefine:
      target = Value();
      break;
    case Load::Parameter:
      break;
    }
  }
}

void Interpreter::leave(const Scope &scope) {
  for (const Load &load : scope.loads)
    frame().slots[load.slot] = Value();
}

void Interpreter::assign(const Expr &target, const Value &value,
                         bool isTopLevel) {
  if (target.kind == ExprKind::Name) {
    slot(target.slot) = value;
    if (isTopLevel) {
      heap.reserve(sizeof(Value) * 8);
      frame().context.as<Context>().variables[target.name] = value;
    }
    return;
  }
  if (target.kind == ExprKind::Attribution) {
    Value &object = slot(target.slot);
    here = target.position;
    if (!object.is(Kind::Namespace))
      raise(ErrorKind::Runtime,
            "cannot assign attribute on non-namespace object");
    Value name = makeStr(heap, target.attribute);
    dictSet(heap, object.as<Namespace>().attributes.as<Dict>(), name, value);
    return;
  }
  here = target.position;
  if (!isIterable(value))
    raise(ErrorKind::Type,
          "cannot unpack non-iterable " + typeName(value) + " object");
  Values items;
  Cursor cursor(heap, value);
  Value item;
  while (items.size() <= target.operands.size() && cursor.next(item))
    items.push_back(item);
  if (items.size() > target.operands.size())
    raise(ErrorKind::Value, "too many values to unpack (expected " +
                                std::to_string(target.operands.size()) + ")");
  if (items.size() < target.operands.size())
    raise(ErrorKind::Value, "not enough values to unpack (expected " +
                                std::to_string(target.operands.size()) +
                                ", got " + std::to_string(items.size()) + ")");
  for (size_t i = 0; i < items.size(); ++i)
    assign(*target.operands[i], items[i], isTopLevel);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

void Interpreter::write(std::string_view text) {
  if (output->size() + text.size() > source.limits.outputBytes)
    raise(ErrorKind::Limit,
          "the output exceeds " +
              std::to_string(source.limits.outputBytes >> 20) + " MiB");
  output->append(text);
}

/// The result of a statement, which unlike that of an expression must be text.
void Interpreter::writeResult(const Value &value) {
  if (!value.isStr())
    raise(ErrorKind::Type,
          "expected a text, but the result is of type " + typeName(value));
  write(value.text());
}

void Interpreter::runOutput(const Stmt &stmt) {
  for (const Expr *expr : stmt.expressions) {
    if (expr->kind == ExprKind::Constant && expr->value.isStr()) {
      write(expr->value.text());
      continue;
    }
    Value value = evaluate(*expr);
    here = expr->position;
    if (value.isStr())
      write(value.text());
    else
      write(toText(heap, value));
  }
}

/// Runs statements whose output becomes `text`.
Flow Interpreter::capture(const Body &body, std::string &text) {
  TextBuilder buffer(heap);
  TextBuilder *outer = output;
  output = &buffer;
  Flow flow = Flow::Normal;
  try {
    flow = run(body);
  } catch (...) {
    output = outer;
    throw;
  }
  output = outer;
  text = buffer.take();
  return flow;
}

std::string Interpreter::render(const OrderedJson &variables) {
  Value globals = heap.make<Context>(0);
  defineGlobals(globals.as<Context>());
  if (variables.is_object())
    for (const auto &[name, value] :
         variables.get_ref<const OrderedJson::object_t &>())
      globals.as<Context>().variables[name] = fromJson(heap, value);
  Value context = heap.make<Context>(0);
  context.as<Context>().outer = globals;

  activation =
      heap.make<Activation>(source.function->slotCount * sizeof(Value), Value(),
                            context, source.function->slotCount);
  TextBuilder text(heap);
  output = &text;
  if (source.selfSlot != UINT32_MAX)
    frame().slots[source.selfSlot] = heap.make<SelfReference>(0, context);
  enter(source.scope);
  run(source.body);
  return text.take();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Flow Interpreter::run(const Body &body) {
  for (const Stmt *stmt : body)
    if (Flow flow = run(*stmt); flow != Flow::Normal)
      return flow;
  return Flow::Normal;
}

Flow Interpreter::run(const Stmt &stmt) {
  DepthGuard guard(heap);
  heap.step();
  here = stmt.position;
  switch (stmt.kind) {
  case StmtKind::Output:
    runOutput(stmt);
    return Flow::Normal;
  case StmtKind::If:
    return runIf(stmt);
  case StmtKind::For:
    return runFor(stmt);
  case StmtKind::Set:
    runSet(stmt);
    return Flow::Normal;
  case StmtKind::SetBlock:
    return runSetBlock(stmt);
  case StmtKind::FilterBlock:
    return runFilterBlock(stmt);
  case StmtKind::With:
    return runWith(stmt);
  case StmtKind::Macro:
    runMacro(stmt);
    return Flow::Normal;
  case StmtKind::CallBlock:
    runCallBlock(stmt);
    return Flow::Normal;
  case StmtKind::Block:
    runBlock(stmt);
    return Flow::Normal;
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  }
  return Flow::Normal;
}

Flow Interpreter::runIf(const Stmt &stmt) {
  for (const Branch &branch : stmt.branches)
    if (truth(heap, evaluate(*branch.test)))
      return run(branch.body);
  return run(stmt.elseBody);
}

void Interpreter::runSet(const Stmt &stmt) {
  // The target's object is checked before its value is computed.
  if (stmt.target->kind == ExprKind::Attribution &&
      !slot(stmt.target->slot).is(Kind::Namespace))
    raise(ErrorKind::Runtime,
          "cannot assign attribute on non-namespace object");
  assign(*stmt.target, evaluate(*stmt.value), stmt.isTopLevel);
}

Flow Interpreter::runSetBlock(const Stmt &stmt) {
  enter(stmt.scope);
  std::string text;
  if (Flow flow = capture(stmt.body, text); flow != Flow::Normal)
    return flow;
  Value value = makeStr(heap, std::move(text));
  if (stmt.value)
    value = evaluateFilter(*stmt.value, &value);
  assign(*stmt.target, value, stmt.isTopLevel);
  leave(stmt.scope);
  return Flow::Normal;
}

Flow Interpreter::runFilterBlock(const Stmt &stmt) {
  enter(stmt.scope);
  std::string text;
  if (Flow flow = capture(stmt.body, text); flow != Flow::Normal)
    return flow;
  Value value = makeStr(heap, std::move(text));
  writeResult(evaluateFilter(*stmt.value, &value));
  leave(stmt.scope);
  return Flow::Normal;
}

Flow Interpreter::runWith(const Stmt &stmt) {
  enter(stmt.scope);
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    assign(*stmt.targets[i], evaluate(*stmt.expressions[i]), false);
  Flow flow = run(stmt.body);
  if (flow == Flow::Normal)
    leave(stmt.scope);
  return flow;
}

void Interpreter::runMacro(const Stmt &stmt) {
  assign(*stmt.target, heap.make<Macro>(0, *stmt.macro, activation),
         stmt.isTopLevel);
}

void Interpreter::runCallBlock(const Stmt &stmt) {
  Value caller = heap.make<Macro>(0, *stmt.macro, activation);
  CallArguments none;
  Value value = stmt.value ? evaluateCall(*stmt.value, &caller)
                           : callMacro(caller.as<Macro>(), none);
  writeResult(value);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The items for which the test of a loop holds.
Value Interpreter::filteredItems(const Stmt &stmt, const Value &iterable) {
  auto cursor = std::make_shared<Cursor>(heap, iterable);
  bool isEntered = false;
  return makeIterator(heap, "generator",
                      [this, &stmt, cursor, isEntered,
                       scope = activation](Value &item) mutable {
                        InActivation inside(*this, scope);
                        if (!isEntered)
                          enter(stmt.testScope);
                        isEntered = true;
                        while (cursor->next(item)) {
                          assign(*stmt.testTarget, item, false);
                          if (truth(heap, evaluate(*stmt.test)))
                            return true;
                        }
                        return false;
                      });
}

Flow Interpreter::runFor(const Stmt &stmt) {
  Value iterable = evaluate(*stmt.value);
  here = stmt.value->position;
  if (!stmt.isRecursive)
    return runLoop(stmt, iterable, 0);
  write(runRecursiveLoop(stmt, iterable, activation, 0));
  return Flow::Normal;
}

/// The text of a recursive loop, a function of its own.
std::string Interpreter::runRecursiveLoop(const Stmt &stmt,
                                          const Value &iterable,
                                          const Value &closure, int64_t depth) {
  DepthGuard guard(heap);
  InActivation inside(
      *this, heap.make<Activation>(stmt.function->slotCount * sizeof(Value),
                                   closure, closure.as<Activation>().context,
                                   stmt.function->slotCount));
  TextBuilder buffer(heap);
  TextBuilder *outer = output;
  output = &buffer;
  try {
    runLoop(stmt, iterable, depth);
  } catch (...) {
    output = outer;
    throw;
  }
  output = outer;
  return buffer.take();
}

Flow Interpreter::runLoop(const Stmt &stmt, const Value &iterable,
                          int64_t depth) {
  Value items = stmt.test ? filteredItems(stmt, iterable) : iterable;
  Value loop;
  std::optional<Cursor> cursor;
  if (stmt.usesLoop) {
    Value closure = stmt.isRecursive ? frame().outer : Value();
    loop = heap.make<Loop>(0, heap, items, stmt, closure, depth);
  } else {
    cursor.emplace(heap, items);
  }
  bool isEmpty = true;
  Value item;
  while (cursor ? cursor->next(item) : loop.as<Loop>().next(item)) {
    assign(*stmt.target, item, false);
    if (stmt.usesLoop)
      frame().slots[stmt.loopSlot] = loop;
    enter(stmt.scope);
    Flow flow = run(stmt.body);
    if (flow == Flow::Break)
      break;
    // As in Jinja, `else` also follows if every iteration was cut short.
    if (flow == Flow::Normal)
      isEmpty = false;
  }
  leave(stmt.scope);
  if (!isEmpty || stmt.elseBody.empty())
    return Flow::Normal;
  enter(stmt.elseScope);
  Flow flow = run(stmt.elseBody);
  leave(stmt.elseScope);
  return flow;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Interpreter::runBlock(const Stmt &stmt) {
  if (stmt.isRequired)
    raise(ErrorKind::Runtime, "required block '" + stmt.name + "' not found");
  Value context = frame().context;
  if (stmt.isScoped) {
    Value derived = heap.make<Context>(stmt.visible.size() * 64);
    for (const auto &[name, reference] : stmt.visible)
      if (const Value &value = slot(reference); !value.isMissing())
        derived.as<Context>().variables[name] = value;
    derived.as<Context>().outer = context;
    context = derived;
  }
  write(renderBlock(stmt, context));
}

std::string Interpreter::renderBlock(const Stmt &block, const Value &context) {
  DepthGuard guard(heap);
  InActivation inside(*this, heap.make<Activation>(
                                 block.function->slotCount * sizeof(Value),
                                 Value(), context, block.function->slotCount));
  if (block.selfSlot != UINT32_MAX)
    frame().slots[block.selfSlot] = heap.make<SelfReference>(0, context);
  if (block.superSlot != UINT32_MAX)
    frame().slots[block.superSlot] = makeUndefined(
        heap, "there is no parent block called '" + block.name + "'.");
  enter(block.scope);
  std::string text;
  capture(block.body, text);
  return text;
}

} // namespace llmir::chat
