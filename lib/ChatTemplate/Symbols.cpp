//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Symbols.h"

namespace llmir::chat {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::optional<Variable> Symbols::find(const std::string &name) const {
  for (const Symbols *scope = this; scope; scope = scope->parent)
    if (auto found = scope->refs.find(name); found != scope->refs.end())
      return Variable{scope->function, found->second};
  return std::nullopt;
}

uint32_t Symbols::define(const std::string &name, LoadInfo load) {
  auto [place, isNew] = slots->try_emplace({level, name}, function->slotCount);
  if (isNew)
    ++function->slotCount;
  refs[name] = place->second;
  loads[place->second] = std::move(load);
  return place->second;
}

void Symbols::load(const std::string &name) {
  if (!find(name))
    define(name, {Load::Resolve, {nullptr, 0}, name});
}

void Symbols::store(const std::string &name) {
  stores.insert(name);
  if (refs.count(name))
    return;
  std::optional<Variable> outer;
  if (parent)
    outer = parent->find(name);
  if (outer)
    define(name, {Load::Alias, *outer, {}});
  else
    define(name, {Load::Undefine, {nullptr, 0}, {}});
}

uint32_t Symbols::declareParameter(const std::string &name) {
  stores.insert(name);
  return define(name, {Load::Parameter, {nullptr, 0}, {}});
}

/// After the branches of an `if`: what only some of them assign keeps its outer
/// value otherwise.
void Symbols::mergeBranches(const std::vector<Symbols> &branches) {
  std::map<std::string, size_t> counts;
  for (const Symbols &branch : branches)
    for (const std::string &name : branch.stores)
      if (!stores.count(name))
        ++counts[name];
  for (const Symbols &branch : branches) {
    for (const auto &[name, slot] : branch.refs)
      refs[name] = slot;
    for (const auto &[slot, load] : branch.loads)
      loads[slot] = load;
    stores.insert(branch.stores.begin(), branch.stores.end());
  }
  for (const auto &[name, count] : counts) {
    if (count == branches.size())
      continue;
    uint32_t slot = refs.at(name);
    std::optional<Variable> outer;
    if (parent)
      outer = parent->find(name);
    loads[slot] = outer ? LoadInfo{Load::Alias, *outer, {}}
                        : LoadInfo{Load::Resolve, {nullptr, 0}, name};
  }
}

Scope Symbols::scope() const {
  Scope result;
  for (const auto &[slot, load] : loads) {
    SlotRef from;
    if (load.from.function)
      from = reference(load.from);
    result.loads.push_back({load.action, slot, from, load.name});
  }
  return result;
}

std::set<std::string> Symbols::allStores() const {
  std::set<std::string> names;
  for (const Symbols *scope = this; scope; scope = scope->parent)
    names.insert(scope->stores.begin(), scope->stores.end());
  return names;
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

void Symbols::analyze(const Body &body) {
  for (const Stmt *stmt : body)
    analyze(*stmt);
}

void Symbols::analyzeArguments(const ArgumentList &arguments) {
  for (const Expr *expr : arguments.positional)
    analyze(expr);
  for (const auto &keyword : arguments.keywords)
    analyze(keyword.second);
  analyze(arguments.starred);
  analyze(arguments.doubleStarred);
}

void Symbols::analyze(const Expr *expr) {
  if (!expr)
    return;
  if (expr->kind == ExprKind::Name)
    load(expr->name);
  for (const Expr *operand : expr->operands)
    analyze(operand);
  analyzeArguments(expr->arguments);
}

void Symbols::analyzeTarget(const Expr &target, bool asParameter) {
  if (target.kind == ExprKind::Attribution)
    load(target.name);
  else if (target.kind == ExprKind::Name && asParameter)
    declareParameter(target.name);
  else if (target.kind == ExprKind::Name)
    store(target.name);
  for (const Expr *item : target.operands)
    analyzeTarget(*item, asParameter);
}

/// Each of the `elif` branches is an `if` of its own within one branch.
void Symbols::analyzeIf(const Stmt &stmt, size_t branch) {
  analyze(stmt.branches[branch].test);
  std::vector<Symbols> parts(3, *this);
  parts[0].analyze(stmt.branches[branch].body);
  if (branch == 0) {
    for (size_t i = 1; i < stmt.branches.size(); ++i)
      parts[1].analyzeIf(stmt, i);
    parts[2].analyze(stmt.elseBody);
  }
  mergeBranches(parts);
}

/// What a nested scope does with its names is not part of this one.
void Symbols::analyze(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Output:
  case StmtKind::With:
    for (const Expr *expr : stmt.expressions)
      analyze(expr);
    break;
  case StmtKind::If:
    analyzeIf(stmt, 0);
    break;
  case StmtKind::For:
  case StmtKind::FilterBlock:
  case StmtKind::CallBlock:
    analyze(stmt.value);
    break;
  case StmtKind::Set:
    analyze(stmt.value);
    analyzeTarget(*stmt.target, false);
    break;
  case StmtKind::SetBlock:
    analyzeTarget(*stmt.target, false);
    break;
  case StmtKind::Macro:
    store(stmt.name);
    break;
  case StmtKind::Block:
  case StmtKind::Break:
  case StmtKind::Continue:
    break;
  }
}

//===----------------------------------------------------------------------===//
// UndeclaredNames
//===----------------------------------------------------------------------===//

void UndeclaredNames::visit(const Body &body) {
  for (const Stmt *stmt : body)
    visit(*stmt);
}

void UndeclaredNames::visit(const Expr *expr) {
  if (!expr)
    return;
  if (expr->kind == ExprKind::Name && names.count(expr->name))
    found.insert(expr->name);
  for (const Expr *operand : expr->operands)
    visit(operand);
  for (const Expr *argument : expr->arguments.positional)
    visit(argument);
  for (const auto &keyword : expr->arguments.keywords)
    visit(keyword.second);
  visit(expr->arguments.starred);
  visit(expr->arguments.doubleStarred);
}

void UndeclaredNames::visitTarget(const Expr &target) {
  if (target.kind == ExprKind::Name)
    declare(target.name);
  for (const Expr *item : target.operands)
    visitTarget(*item);
}

void UndeclaredNames::visit(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Block:
    return;
  case StmtKind::Set:
    visitTarget(*stmt.target);
    visit(stmt.value);
    return;
  case StmtKind::With:
    for (const Expr *target : stmt.targets)
      visitTarget(*target);
    for (const Expr *expr : stmt.expressions)
      visit(expr);
    visit(stmt.body);
    return;
  case StmtKind::If:
    for (const Branch &branch : stmt.branches) {
      visit(branch.test);
      visit(branch.body);
    }
    visit(stmt.elseBody);
    return;
  default:
    break;
  }
  if (stmt.target)
    visitTarget(*stmt.target);
  visit(stmt.value);
  if (stmt.macro) {
    for (const std::string &parameter : stmt.macro->parameters)
      declare(parameter);
    for (const Expr *value : stmt.macro->defaults)
      visit(value);
  }
  for (const Expr *expr : stmt.expressions)
    visit(expr);
  visit(stmt.body);
  visit(stmt.elseBody);
  visit(stmt.test);
}

} // namespace llmir::chat
