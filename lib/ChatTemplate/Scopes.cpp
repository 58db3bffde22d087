//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scopes.h"
#include "Symbols.h"

#include <algorithm>

namespace llmir::chat {
namespace {

/// Where a statement stands.
struct Frame {
  Symbols &symbols;
  bool isTopLevel = false;
  /// Directly within `if`: unknown filters only fail when they are reached.
  bool isSoft = false;
  bool isInLoop = false; ///< `break` and `continue` have a target.
  bool isInFor = false;  ///< `loop` cannot be assigned.

  Frame inner(Symbols &scope) const {
    return {scope, false, false, isInLoop, isInFor};
  }
};

class Resolver {
public:
  explicit Resolver(Template &result) : result(result) {}
  void run();

private:
  void resolve(Body &body, const Frame &frame);
  void resolve(Stmt &stmt, const Frame &frame);
  void resolve(Expr *expr, const Frame &frame);
  void resolveTarget(Expr &target, const Frame &frame);
  void resolveFor(Stmt &stmt, const Frame &frame);
  void resolveWith(Stmt &stmt, const Frame &frame);
  void resolveSetBlock(Stmt &stmt, const Frame &frame);
  void resolveFilterBlock(Stmt &stmt, const Frame &frame);
  void resolveMacro(Stmt &stmt, const Frame &frame);
  void resolveBlock(Stmt &stmt, const Frame &frame);
  void resolveBlockBody(Stmt &block);

  FunctionInfo *makeFunction(FunctionInfo *parent);
  /// A scope within the frame's, in the same function.
  static Symbols inside(const Frame &frame, uint32_t levels = 1) {
    Symbols &outer = frame.symbols;
    return Symbols(&outer, outer.function, outer.slots, outer.level + levels);
  }
  SlotRef slotOf(const std::string &name, const Frame &frame);
  [[noreturn]] static void fail(const std::string &message, Position position) {
    throw TemplateError{ErrorKind::Syntax, message, position};
  }

  Template &result;
};

/// Test scopes are on levels of their own: the slots of a loop's test and of
/// its body are in use at the same time.
constexpr uint32_t kTestLevels = 1u << 20;

FunctionInfo *Resolver::makeFunction(FunctionInfo *parent) {
  FunctionInfo &function = result.functions.emplace_back();
  function.parent = parent;
  function.depth = parent ? parent->depth + 1 : 0;
  return &function;
}

SlotRef Resolver::slotOf(const std::string &name, const Frame &frame) {
  if (!frame.symbols.find(name)) // Only in the filter of a set block.
    frame.symbols.load(name);
  return frame.symbols.reference(*frame.symbols.find(name));
}

void Resolver::run() {
  result.function = makeFunction(nullptr);
  SlotTable slots;
  Symbols symbols(nullptr, result.function, &slots, 0);
  UndeclaredNames undeclared({"self"});
  undeclared.visit(result.body);
  if (undeclared.has("self"))
    result.selfSlot = symbols.declareParameter("self");
  symbols.analyze(result.body);
  Frame frame{symbols};
  frame.isTopLevel = true;
  resolve(result.body, frame);
  result.scope = symbols.scope();
  for (auto &[name, block] : result.blocks)
    resolveBlockBody(*block);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Resolver::resolve(Expr *expr, const Frame &frame) {
  if (!expr)
    return;
  if (expr->kind == ExprKind::Name)
    expr->slot = slotOf(expr->name, frame);
  if (expr->kind == ExprKind::Filter && !expr->filter && !frame.isSoft)
    fail("there is no filter '" + expr->name + "'", expr->position);
  if (expr->kind == ExprKind::Test && !expr->test && !frame.isSoft)
    fail("there is no test '" + expr->name + "'", expr->position);
  Frame inner = frame;
  inner.isSoft |= expr->kind == ExprKind::Condition;
  for (Expr *operand : expr->operands)
    resolve(operand, inner);
  for (Expr *argument : expr->arguments.positional)
    resolve(argument, inner);
  for (auto &keyword : expr->arguments.keywords)
    resolve(keyword.second, inner);
  resolve(expr->arguments.starred, inner);
  resolve(expr->arguments.doubleStarred, inner);
}

void Resolver::resolveTarget(Expr &target, const Frame &frame) {
  if (target.kind == ExprKind::Name && target.name == "loop" && frame.isInFor)
    fail("'loop' cannot be assigned in a loop", target.position);
  if (target.kind != ExprKind::Tuple)
    target.slot = slotOf(target.name, frame);
  for (Expr *item : target.operands)
    resolveTarget(*item, frame);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Resolver::resolve(Body &body, const Frame &frame) {
  for (Stmt *stmt : body)
    resolve(*stmt, frame);
}

void Resolver::resolve(Stmt &stmt, const Frame &frame) {
  stmt.isTopLevel = frame.isTopLevel;
  switch (stmt.kind) {
  case StmtKind::Output:
    for (Expr *expr : stmt.expressions)
      resolve(expr, frame);
    return;
  case StmtKind::If: {
    Frame soft = frame;
    soft.isSoft = true;
    for (Branch &branch : stmt.branches) {
      resolve(branch.test, soft);
      resolve(branch.body, soft);
    }
    resolve(stmt.elseBody, soft);
    return;
  }
  case StmtKind::For:
    return resolveFor(stmt, frame);
  case StmtKind::Set:
    resolve(stmt.value, frame);
    resolveTarget(*stmt.target, frame);
    return;
  case StmtKind::SetBlock:
    return resolveSetBlock(stmt, frame);
  case StmtKind::FilterBlock:
    return resolveFilterBlock(stmt, frame);
  case StmtKind::With:
    return resolveWith(stmt, frame);
  case StmtKind::Macro:
    return resolveMacro(stmt, frame);
  case StmtKind::CallBlock:
    resolveMacro(stmt, frame);
    resolve(stmt.value, frame);
    return;
  case StmtKind::Block:
    return resolveBlock(stmt, frame);
  case StmtKind::Break:
  case StmtKind::Continue:
    if (!frame.isInLoop)
      fail(stmt.kind == StmtKind::Break ? "'break' is outside of a loop"
                                        : "'continue' is outside of a loop",
           stmt.position);
    return;
  }
}

static bool hasScopedBlock(const Body &body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt *stmt) {
    if ((stmt->kind == StmtKind::Block && stmt->isScoped) ||
        hasScopedBlock(stmt->body) || hasScopedBlock(stmt->elseBody))
      return true;
    return std::any_of(
        stmt->branches.begin(), stmt->branches.end(),
        [](const Branch &branch) { return hasScopedBlock(branch.body); });
  });
}

void Resolver::resolveFor(Stmt &stmt, const Frame &frame) {
  UndeclaredNames undeclared({"loop"});
  undeclared.visit(stmt.body);
  stmt.usesLoop =
      stmt.isRecursive || undeclared.has("loop") || hasScopedBlock(stmt.body);

  // The body of a recursive loop is a function.
  Symbols &outer = frame.symbols;
  SlotTable ownSlots, *slots = outer.slots;
  FunctionInfo *function = outer.function;
  if (stmt.isRecursive) {
    function = makeFunction(function);
    stmt.function = function;
    slots = &ownSlots;
  }
  Symbols bodySymbols(&outer, function, slots, outer.level + 1);
  Symbols elseSymbols = bodySymbols;
  Symbols testSymbols(&outer, function, slots, outer.level + kTestLevels);

  if (stmt.usesLoop)
    stmt.loopSlot = bodySymbols.declareParameter("loop");
  bodySymbols.analyzeTarget(*stmt.target, /*asParameter=*/true);
  bodySymbols.analyze(stmt.body);
  elseSymbols.analyze(stmt.elseBody);

  Frame bodyFrame = frame.inner(bodySymbols);
  bodyFrame.isInLoop = bodyFrame.isInFor = true;
  Frame elseFrame = frame.inner(elseSymbols);
  elseFrame.isInFor = true;
  if (stmt.isRecursive)
    elseFrame.isInLoop = false;
  if (stmt.test) {
    testSymbols.analyzeTarget(*stmt.testTarget, /*asParameter=*/true);
    testSymbols.analyze(stmt.test);
    Frame testFrame = frame.inner(testSymbols);
    resolveTarget(*stmt.testTarget, testFrame);
    resolve(stmt.test, testFrame);
  }
  resolveTarget(*stmt.target, bodyFrame);
  resolve(stmt.value, frame);
  resolve(stmt.body, bodyFrame);
  resolve(stmt.elseBody, elseFrame);
  stmt.scope = bodySymbols.scope();
  stmt.elseScope = elseSymbols.scope();
  stmt.testScope = testSymbols.scope();
}

void Resolver::resolveWith(Stmt &stmt, const Frame &frame) {
  Symbols symbols = inside(frame);
  for (Expr *target : stmt.targets)
    symbols.analyzeTarget(*target, /*asParameter=*/true);
  symbols.analyze(stmt.body);
  Frame inner = frame.inner(symbols);
  for (Expr *target : stmt.targets) {
    Frame parameters = inner;
    parameters.isInFor = false; // Not an assignment to `loop`.
    resolveTarget(*target, parameters);
  }
  for (Expr *value : stmt.expressions)
    resolve(value, frame);
  resolve(stmt.body, inner);
  stmt.scope = symbols.scope();
}

void Resolver::resolveSetBlock(Stmt &stmt, const Frame &frame) {
  Symbols symbols = inside(frame);
  symbols.analyze(stmt.body);
  Frame inner = frame.inner(symbols);
  resolve(stmt.body, inner);
  resolveTarget(*stmt.target, frame);
  resolve(stmt.value, inner);
  stmt.scope = symbols.scope();
}

void Resolver::resolveFilterBlock(Stmt &stmt, const Frame &frame) {
  Symbols symbols = inside(frame);
  symbols.analyze(stmt.body);
  symbols.analyze(stmt.value);
  Frame inner = frame.inner(symbols);
  resolve(stmt.body, inner);
  resolve(stmt.value, inner);
  stmt.scope = symbols.scope();
}

void Resolver::resolveMacro(Stmt &stmt, const Frame &frame) {
  MacroInfo &macro = *stmt.macro;
  macro.body = &stmt.body;
  macro.function = makeFunction(frame.symbols.function);
  SlotTable slots;
  Symbols symbols(&frame.symbols, macro.function, &slots,
                  frame.symbols.level + 1);
  for (const std::string &parameter : macro.parameters)
    macro.slots.push_back(symbols.declareParameter(parameter));
  for (const Expr *value : macro.defaults)
    symbols.analyze(value);
  symbols.analyze(stmt.body);

  auto position = [&](const char *name) {
    return static_cast<size_t>(
        std::find(macro.parameters.begin(), macro.parameters.end(), name) -
        macro.parameters.begin());
  };
  auto isParameter = [&](const char *name) {
    return position(name) < macro.parameters.size();
  };
  UndeclaredNames undeclared({"caller", "kwargs", "varargs"});
  undeclared.visit(stmt.body);
  macro.hasExplicitCaller = isParameter("caller");
  if (undeclared.has("caller")) {
    macro.usesCaller = true;
    if (!macro.hasExplicitCaller)
      macro.callerSlot = symbols.declareParameter("caller");
    else if (position("caller") + macro.defaults.size() <
             macro.parameters.size())
      fail("the parameter 'caller' needs a default", stmt.position);
  }
  if (undeclared.has("kwargs") && !isParameter("kwargs")) {
    macro.usesKeywords = true;
    macro.keywordsSlot = symbols.declareParameter("kwargs");
  }
  if (undeclared.has("varargs") && !isParameter("varargs")) {
    macro.usesVariadic = true;
    macro.variadicSlot = symbols.declareParameter("varargs");
  }
  Frame inner = frame.inner(symbols);
  inner.isInLoop = false;
  for (Expr *value : macro.defaults)
    resolve(value, inner);
  resolve(stmt.body, inner);
  macro.scope = symbols.scope();
  if (stmt.kind == StmtKind::Macro) {
    Expr &target = result.exprs.emplace_back();
    target.kind = ExprKind::Name;
    target.position = stmt.position;
    target.name = stmt.name;
    target.slot = slotOf(stmt.name, frame);
    stmt.target = &target;
  }
}

void Resolver::resolveBlock(Stmt &stmt, const Frame &frame) {
  if (!stmt.isScoped)
    return;
  for (const std::string &name : frame.symbols.allStores())
    stmt.visible.emplace_back(name, slotOf(name, frame));
}

/// A block sees the template's variables by name, not those around it.
void Resolver::resolveBlockBody(Stmt &block) {
  block.function = makeFunction(nullptr);
  SlotTable slots;
  Symbols symbols(nullptr, block.function, &slots, 0);
  UndeclaredNames undeclared({"self", "super"});
  undeclared.visit(block.body);
  if (undeclared.has("self"))
    block.selfSlot = symbols.declareParameter("self");
  if (undeclared.has("super"))
    block.superSlot = symbols.declareParameter("super");
  symbols.analyze(block.body);
  Frame frame{symbols};
  resolve(block.body, frame);
  block.scope = symbols.scope();
}

} // namespace

void resolveScopes(Template &result) { Resolver(result).run(); }

} // namespace llmir::chat
