//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

namespace llmir::chat {

Value Interpreter::evaluate(const Expr &expr) {
  DepthGuard guard(heap);
  heap.step();
  switch (expr.kind) {
  case ExprKind::Constant:
    return expr.value;
  case ExprKind::Name:
    return evaluateName(expr);
  case ExprKind::Tuple:
  case ExprKind::List:
    return evaluateItems(expr);
  case ExprKind::Dict:
    return evaluateDict(expr);
  case ExprKind::Binary:
    return evaluateBinary(expr);
  case ExprKind::And: {
    Value left = evaluate(*expr.operands[0]);
    return truth(heap, left) ? evaluate(*expr.operands[1]) : left;
  }
  case ExprKind::Or: {
    Value left = evaluate(*expr.operands[0]);
    return truth(heap, left) ? left : evaluate(*expr.operands[1]);
  }
  case ExprKind::Not:
    return Value::boolean(!truth(heap, evaluate(*expr.operands[0])));
  case ExprKind::Negate: {
    Value value = evaluate(*expr.operands[0]);
    here = expr.position;
    return negate(heap, value);
  }
  case ExprKind::Plus: {
    Value value = evaluate(*expr.operands[0]);
    here = expr.position;
    return unaryPlus(heap, value);
  }
  case ExprKind::Concat:
    return evaluateConcat(expr);
  case ExprKind::Compare:
    return evaluateCompare(expr);
  case ExprKind::Condition:
    return evaluateCondition(expr);
  case ExprKind::Attribute:
    return evaluateAttribute(expr);
  case ExprKind::Subscript:
    return evaluateSubscript(expr);
  case ExprKind::Slice:
    return evaluateSlice(expr);
  case ExprKind::Call:
    return evaluateCall(expr);
  case ExprKind::Filter:
    return evaluateFilter(expr);
  case ExprKind::Test:
    return evaluateTest(expr);
  case ExprKind::Attribution:
    break;
  }
  return Value::none();
}

Value Interpreter::evaluateName(const Expr &expr) {
  const Value &value = slot(expr.slot);
  if (!value.isMissing())
    return value;
  here = expr.position;
  return makeUndefined(heap, "'" + expr.name + "' is undefined");
}

Value Interpreter::evaluateItems(const Expr &expr) {
  Values items;
  items.reserve(expr.operands.size());
  for (const Expr *operand : expr.operands)
    items.push_back(evaluate(*operand));
  return expr.kind == ExprKind::List ? makeList(heap, std::move(items))
                                     : makeTuple(heap, std::move(items));
}

Value Interpreter::evaluateDict(const Expr &expr) {
  Value dict = heap.make<Dict>(expr.operands.size() * 2 * sizeof(Value));
  for (size_t i = 0; i < expr.operands.size(); i += 2) {
    Value key = evaluate(*expr.operands[i]);
    Value value = evaluate(*expr.operands[i + 1]);
    here = expr.position;
    dictSet(heap, dict.as<Dict>(), key, std::move(value));
  }
  return dict;
}

Value Interpreter::evaluateBinary(const Expr &expr) {
  Value left = evaluate(*expr.operands[0]);
  Value right = evaluate(*expr.operands[1]);
  here = expr.position;
  return binary(*this, expr.binary, left, right);
}

Value Interpreter::evaluateConcat(const Expr &expr) {
  Values parts;
  parts.reserve(expr.operands.size());
  for (const Expr *operand : expr.operands)
    parts.push_back(evaluate(*operand));
  here = expr.position;
  TextBuilder text(heap);
  for (const Value &part : parts)
    appendText(heap, text, part);
  return makeStr(heap, text.take());
}

bool Interpreter::compare(Comparison comparison, const Value &a,
                          const Value &b) {
  switch (comparison) {
  case Comparison::Equal:
    return equal(heap, a, b);
  case Comparison::NotEqual:
    return !equal(heap, a, b);
  case Comparison::Less:
    return ordered(heap, Order::Less, a, b);
  case Comparison::LessEqual:
    return ordered(heap, Order::LessEqual, a, b);
  case Comparison::Greater:
    return ordered(heap, Order::Greater, a, b);
  case Comparison::GreaterEqual:
    return ordered(heap, Order::GreaterEqual, a, b);
  case Comparison::In:
    return contains(heap, b, a);
  case Comparison::NotIn:
    return !contains(heap, b, a);
  }
  return false;
}

Value Interpreter::evaluateCompare(const Expr &expr) {
  Value left = evaluate(*expr.operands[0]);
  for (size_t i = 0; i < expr.comparisons.size(); ++i) {
    Value right = evaluate(*expr.operands[i + 1]);
    here = expr.position;
    if (!compare(expr.comparisons[i], left, right))
      return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluateCondition(const Expr &expr) {
  if (truth(heap, evaluate(*expr.operands[1])))
    return evaluate(*expr.operands[0]);
  if (expr.operands[2])
    return evaluate(*expr.operands[2]);
  return makeUndefined(heap, "the inline if-expression on line " +
                                 std::to_string(expr.position.line) +
                                 " evaluated to false and no else section was "
                                 "defined.");
}

Value Interpreter::evaluateAttribute(const Expr &expr) {
  Value object = evaluate(*expr.operands[0]);
  here = expr.position;
  return attribute(object, expr.name);
}

Value Interpreter::evaluateSubscript(const Expr &expr) {
  Value object = evaluate(*expr.operands[0]);
  Value index = evaluate(*expr.operands[1]);
  here = expr.position;
  return item(object, index);
}

Value Interpreter::evaluateSlice(const Expr &expr) {
  Value parts[4];
  for (size_t i = 0; i < 4; ++i)
    if (expr.operands[i])
      parts[i] = evaluate(*expr.operands[i]);
  here = expr.position;
  return slice(heap, parts[0], parts[1], parts[2], parts[3]);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Interpreter::evaluateArguments(const ArgumentList &list,
                                    CallArguments &arguments) {
  for (const Expr *expr : list.positional)
    arguments.positional.push_back(evaluate(*expr));
  for (const auto &[name, expr] : list.keywords)
    arguments.keywords.emplace_back(name, evaluate(*expr));
  if (list.starred) {
    Value values = evaluate(*list.starred);
    here = list.starred->position;
    for (Value &value : collect(heap, values))
      arguments.positional.push_back(std::move(value));
  }
  if (!list.doubleStarred)
    return;
  Value values = evaluate(*list.doubleStarred);
  here = list.doubleStarred->position;
  if (!values.is(Kind::Dict))
    raise(ErrorKind::Type,
          "the argument after ** must be a mapping, not " + typeName(values));
  for (const auto &[key, value] : values.as<Dict>().entries) {
    heap.step();
    if (!key.isStr())
      raise(ErrorKind::Type, "keywords must be strings");
    for (const auto &keyword : list.keywords)
      if (keyword.first == key.text())
        raise(ErrorKind::Type,
              "got multiple values for keyword argument '" + key.text() + "'");
    arguments.keywords.emplace_back(key.text(), value);
  }
}

Value Interpreter::evaluateCall(const Expr &expr, const Value *caller) {
  const Expr &callee = *expr.operands[0];
  CallArguments arguments;
  auto addArguments = [&] {
    evaluateArguments(expr.arguments, arguments);
    if (caller) {
      for (const auto &keyword : arguments.keywords)
        if (keyword.first == "caller")
          raise(ErrorKind::Type,
                "got multiple values for keyword argument 'caller'");
      arguments.keywords.emplace_back("caller", *caller);
    }
    here = expr.position;
  };
  if (callee.kind != ExprKind::Attribute) {
    Value function = evaluate(callee);
    addArguments();
    return call(function, arguments);
  }
  // A method is called without a value for it.
  Value object = evaluate(*callee.operands[0]);
  here = callee.position;
  const MethodEntry *method = findMethod(object, callee.name);
  if (method) {
    addArguments();
    return method->call(*this, object, arguments);
  }
  Value function = attribute(object, callee.name);
  addArguments();
  return call(function, arguments);
}

Value Interpreter::evaluateFilter(const Expr &expr, const Value *input) {
  CallArguments arguments;
  const Expr *inner = expr.operands[0];
  if (!inner)
    arguments.positional.push_back(*input);
  else if (input && inner->kind == ExprKind::Filter)
    arguments.positional.push_back(evaluateFilter(*inner, input));
  else
    arguments.positional.push_back(evaluate(*inner));
  evaluateArguments(expr.arguments, arguments);
  here = expr.position;
  if (!expr.filter)
    raise(ErrorKind::Runtime, "there is no filter '" + expr.name + "'");
  return expr.filter->call(*this, arguments);
}

Value Interpreter::evaluateTest(const Expr &expr) {
  CallArguments arguments;
  arguments.positional.push_back(evaluate(*expr.operands[0]));
  evaluateArguments(expr.arguments, arguments);
  here = expr.position;
  if (!expr.test)
    raise(ErrorKind::Runtime, "there is no test '" + expr.name + "'");
  return Value::boolean(expr.test->call(*this, arguments));
}

static std::string missingName(Heap &heap, const char *what,
                               const Value &name) {
  std::string message =
      std::string("there is no ") + what + " " + toRepr(heap, name);
  if (name.isUndefined())
    message += " (" + name.as<Undefined>().hint + ")";
  return message;
}

Value Interpreter::callFilter(const Value &name, CallArguments &arguments) {
  DepthGuard guard(heap);
  heap.step(4); // The search for the name, and the arguments.
  const FilterEntry *filter = name.isStr() ? findFilter(name.text()) : nullptr;
  if (!filter)
    raise(ErrorKind::Runtime, missingName(heap, "filter", name));
  return filter->call(*this, arguments);
}

bool Interpreter::callTest(const Value &name, CallArguments &arguments) {
  DepthGuard guard(heap);
  heap.step(4); // The search for the name, and the arguments.
  const TestEntry *test = name.isStr() ? findTest(name.text()) : nullptr;
  if (!test)
    raise(ErrorKind::Runtime, missingName(heap, "test", name));
  return test->call(*this, arguments);
}

} // namespace llmir::chat
