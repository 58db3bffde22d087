//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The syntax tree of a template. Nodes refer to each other by pointer; the
// Template owns them all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_AST_H
#define LLMIR_LIB_CHATTEMPLATE_AST_H

#include "Operators.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llmir::chat {

/// Where a variable is kept: the slot of a function, `hops` functions outward
/// from the one that refers to it.
struct SlotRef {
  uint32_t hops = 0;
  uint32_t slot = 0;
};

struct FilterEntry;
struct TestEntry;

enum class ExprKind : uint8_t {
  Constant,
  Name,        ///< name, slot
  Tuple,       ///< operands
  List,        ///< operands
  Dict,        ///< operands: key, value, …
  Binary,      ///< binary, operands[0], operands[1]
  And,         ///< operands[0], operands[1]
  Or,          ///< operands[0], operands[1]
  Not,         ///< operands[0]
  Negate,      ///< operands[0]
  Plus,        ///< operands[0]
  Concat,      ///< operands
  Compare,     ///< operands[0], then comparisons[i] with operands[i + 1]
  Condition,   ///< operands: then, test, else (may be null)
  Attribute,   ///< operands[0], name
  Subscript,   ///< operands[0], operands[1]
  Slice,       ///< operands: value, start, stop, step; null: omitted
  Call,        ///< operands[0], arguments
  Filter,      ///< operands[0] (null in blocks), name, arguments
  Test,        ///< operands[0], name, arguments
  Attribution, ///< As a target only: name.attribute of a namespace
};

enum class Comparison : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn,
};

struct Expr;

struct ArgumentList {
  std::vector<Expr *> positional;
  std::vector<std::pair<std::string, Expr *>> keywords;
  Expr *starred = nullptr;       ///< *expression
  Expr *doubleStarred = nullptr; ///< **expression
};

struct Expr {
  ExprKind kind = ExprKind::Constant;
  BinaryOp binary = BinaryOp::Add;
  uint16_t depth = 1; ///< Of the tree below.
  Position position;
  SlotRef slot;
  std::string name;      ///< Of a variable, attribute, filter or test.
  std::string attribute; ///< Of an Attribution.
  Value value;           ///< Of a Constant; a Str in it has no heap.
  std::vector<Expr *> operands;
  std::vector<Comparison> comparisons;
  ArgumentList arguments;
  const FilterEntry *filter = nullptr; ///< Null: there is no such filter.
  const TestEntry *test = nullptr;
};

/// What happens to a variable when its scope is entered.
struct Load {
  enum Action : uint8_t { Resolve, Alias, Undefine, Parameter };
  Action action;
  uint32_t slot;
  SlotRef from;     ///< Of an Alias.
  std::string name; ///< To Resolve.
};

/// A scope's variables.
struct Scope {
  std::vector<Load> loads;
};

/// Code with its own variables: the template, a block, a macro, the body of a
/// call block or of a recursive loop.
struct FunctionInfo {
  FunctionInfo *parent = nullptr;
  uint32_t depth = 0;
  uint32_t slotCount = 0;
};

enum class StmtKind : uint8_t {
  Output,      ///< expressions
  If,          ///< branches, elseBody
  For,         ///< target, value, test, body, elseBody
  Set,         ///< target, value
  SetBlock,    ///< target, value (a Filter or null), body
  FilterBlock, ///< value, body
  With,        ///< targets, expressions, body
  Macro,       ///< name, macro, body
  CallBlock,   ///< value (the call; null for `generation`), macro, body
  Block,       ///< name, body
  Break,
  Continue,
};

struct Stmt;
using Body = std::vector<Stmt *>;

/// The signature of a macro or call block, and its code.
struct MacroInfo {
  std::string name; ///< Empty for call blocks.
  std::vector<std::string> parameters;
  std::vector<Expr *> defaults; ///< Of the last parameters.
  std::vector<uint32_t> slots;  ///< Of the parameters.
  bool usesCaller = false, usesKeywords = false, usesVariadic = false;
  bool hasExplicitCaller = false;
  uint32_t callerSlot = 0, keywordsSlot = 0, variadicSlot = 0;
  FunctionInfo *function = nullptr;
  Scope scope;
  Body *body = nullptr;
};

struct Branch {
  Expr *test;
  Body body;
};

struct Stmt {
  StmtKind kind = StmtKind::Output;
  Position position;
  std::string name;
  Expr *target = nullptr;
  Expr *testTarget = nullptr; ///< Of a loop with a test: a second target.
  Expr *value = nullptr;
  Expr *test = nullptr;
  std::vector<Expr *> targets;
  std::vector<Expr *> expressions;
  std::vector<Branch> branches;
  Body body, elseBody;
  Scope scope, elseScope, testScope;
  std::unique_ptr<MacroInfo> macro;
  bool isRecursive = false;
  bool isScoped = false;   ///< A block that sees the variables around it.
  bool isRequired = false; ///< A block without contents.
  bool isTopLevel = false; ///< Assignments also set the template's variables.
  bool usesLoop = false;
  uint32_t loopSlot = 0;
  FunctionInfo *function = nullptr; ///< Of a recursive loop or block.
  /// Of a scoped block: the variables around it.
  std::vector<std::pair<std::string, SlotRef>> visible;
  uint32_t selfSlot = UINT32_MAX, superSlot = UINT32_MAX; ///< Of a block.
};

struct Template {
  std::string name;
  ChatTemplateLimits limits;
  Body body;
  Scope scope;
  FunctionInfo *function = nullptr;
  uint32_t selfSlot = UINT32_MAX;
  std::map<std::string, Stmt *> blocks;
  // Everything that the tree refers to.
  std::deque<std::unique_ptr<Str>> texts;
  std::deque<std::unique_ptr<Big>> integers;
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  std::deque<FunctionInfo> functions;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_AST_H
