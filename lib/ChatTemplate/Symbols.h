//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variables of a scope, found by looking at all of its statements before
// any of them runs, as Jinja does: which of its reads see an outer variable
// follows from the order in which the scope mentions a name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_SYMBOLS_H
#define LLMIR_LIB_CHATTEMPLATE_SYMBOLS_H

#include "AST.h"

#include <map>
#include <optional>
#include <set>

namespace llmir::chat {

/// A variable: a slot of a function.
struct Variable {
  FunctionInfo *function;
  uint32_t slot;
};

/// The slots of a function by scope level and name: scopes that follow each
/// other on one level share them.
using SlotTable = std::map<std::pair<uint32_t, std::string>, uint32_t>;

class Symbols {
public:
  Symbols(Symbols *parent, FunctionInfo *function, SlotTable *slots,
          uint32_t level)
      : parent(parent), function(function), slots(slots), level(level) {}

  std::optional<Variable> find(const std::string &name) const;
  void load(const std::string &name);
  void store(const std::string &name);
  uint32_t declareParameter(const std::string &name);

  /// What the scope loads when it is entered.
  Scope scope() const;
  /// The names stored here and in the scopes around.
  std::set<std::string> allStores() const;
  SlotRef reference(const Variable &variable) const {
    return {function->depth - variable.function->depth, variable.slot};
  }

  // Analysis of the nodes that belong to this scope.
  void analyze(const Body &body);
  void analyze(const Stmt &stmt);
  void analyze(const Expr *expr);
  void analyzeTarget(const Expr &target, bool asParameter);

  Symbols *const parent;
  FunctionInfo *const function;
  SlotTable *const slots;
  const uint32_t level;

private:
  struct LoadInfo {
    Load::Action action;
    Variable from{nullptr, 0};
    std::string name;
  };

  uint32_t define(const std::string &name, LoadInfo load);
  void analyzeArguments(const ArgumentList &arguments);
  void analyzeIf(const Stmt &stmt, size_t branch);
  void mergeBranches(const std::vector<Symbols> &branches);

  std::map<std::string, uint32_t> refs;
  std::map<uint32_t, LoadInfo> loads; ///< By slot.
  std::set<std::string> stores;
};

/// Whether the nodes read one of the names without having assigned it.
class UndeclaredNames {
public:
  explicit UndeclaredNames(std::set<std::string> names)
      : names(std::move(names)) {}
  void visit(const Body &body);
  void visit(const Stmt &stmt);
  void visit(const Expr *expr);
  bool has(const std::string &name) const { return found.count(name) > 0; }

private:
  void visitTarget(const Expr &target);
  void declare(const std::string &name) { names.erase(name); }

  std::set<std::string> names, found;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_SYMBOLS_H
