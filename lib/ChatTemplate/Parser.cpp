//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <algorithm>

namespace llmir::chat {

/// Maximum nesting of statements and parentheses.
constexpr int kMaxNesting = 200;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void Parser::fail(const std::string &message) {
  fail(message, current().position);
}

void Parser::fail(const std::string &message, Position position) {
  throw TemplateError{ErrorKind::Syntax, message, position};
}

Parser::Nesting::Nesting(Parser &parser) : parser(parser) {
  if (parser.depth >= kMaxNesting)
    parser.fail("the nesting is deeper than " + std::to_string(kMaxNesting) +
                " levels");
  ++parser.depth;
}

bool Parser::skipOperator(std::string_view text) {
  if (!isOperator(text))
    return false;
  advance();
  return true;
}

bool Parser::skipName(std::string_view name) {
  if (!current().isName(name))
    return false;
  advance();
  return true;
}

static std::string describe(const Token &token) {
  switch (token.kind) {
  case TokenKind::End:
    return "the end of the template";
  case TokenKind::BlockEnd:
    return "the end of the tag";
  case TokenKind::VariableEnd:
    return "the end of the expression";
  case TokenKind::Data:
    return "text";
  default:
    return "'" + token.text + "'";
  }
}

void Parser::expectOperator(std::string_view text) {
  if (!skipOperator(text))
    fail("expected '" + std::string(text) + "', found " + describe(current()));
}

void Parser::expectName(std::string_view name) {
  if (!skipName(name))
    fail("expected '" + std::string(name) + "', found " + describe(current()));
}

std::string Parser::expectAnyName() {
  if (current().kind != TokenKind::Name)
    fail("expected a name, found " + describe(current()));
  std::string name = current().text;
  advance();
  return name;
}

void Parser::expect(TokenKind kind, const char *what) {
  if (current().kind != kind)
    fail(std::string("expected ") + what + ", found " + describe(current()));
  advance();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void Parser::run() { result.body = parseBody({}); }

/// Statements up to a tag named in `ends`, which is then current, or up to the
/// template's end if there are none.
Body Parser::parseBody(Names ends) {
  Nesting nesting(*this);
  Body body;
  Stmt *output = nullptr; // Data and expressions in a row.
  auto add = [&](Expr *expr) {
    if (!output) {
      output = makeStmt(StmtKind::Output);
      output->position = expr->position;
      body.push_back(output);
    }
    output->expressions.push_back(expr);
  };
  for (;;) {
    switch (current().kind) {
    case TokenKind::Data:
      add(makeText(current().text, current().position));
      advance();
      break;
    case TokenKind::VariableBegin:
      advance();
      add(parseTuple());
      expect(TokenKind::VariableEnd, "'}}'");
      break;
    case TokenKind::BlockBegin: {
      advance();
      output = nullptr;
      auto isEnd = [&](std::string_view end) { return current().isName(end); };
      if (std::any_of(ends.begin(), ends.end(), isEnd))
        return body;
      body.push_back(parseStatement());
      expect(TokenKind::BlockEnd, "'%}'");
      break;
    }
    default:
      if (ends.size() > 0)
        fail("unexpected end of the template; expected '" +
             std::string(*(ends.end() - 1)) + "'");
      return body;
    }
  }
}

/// The body of a statement, from the end of its tag.
Body Parser::parseBlockBody(Names ends) {
  skipOperator(":");
  expect(TokenKind::BlockEnd, "'%}'");
  return parseBody(ends);
}

/// Skips the name of the tag that ends a statement.
void Parser::endStatement(std::string_view keyword) { expectName(keyword); }

Stmt *Parser::makeStmt(StmtKind kind) {
  Stmt &stmt = result.stmts.emplace_back();
  stmt.kind = kind;
  stmt.position = current().position;
  return &stmt;
}

Stmt *Parser::parseStatement() {
  if (current().kind != TokenKind::Name)
    fail("expected the name of a tag, found " + describe(current()));
  const std::string &name = current().text;
  if (name == "for")
    return parseFor();
  if (name == "if")
    return parseIf();
  if (name == "set")
    return parseSet();
  if (name == "with")
    return parseWith();
  if (name == "macro")
    return parseMacro();
  if (name == "call")
    return parseCallBlock();
  if (name == "generation")
    return parseGeneration();
  if (name == "filter")
    return parseFilterBlock();
  if (name == "block")
    return parseBlock();
  if (name == "print")
    return parsePrint();
  if (name == "break")
    return parseLoopControl(StmtKind::Break);
  if (name == "continue")
    return parseLoopControl(StmtKind::Continue);
  for (const char *other : {"include", "import", "from", "extends"})
    if (name == other)
      throw TemplateError{ErrorKind::Unsupported,
                          "'" + name +
                              "' would load another template; chat templates "
                              "have none",
                          current().position};
  if (name == "autoescape")
    throw TemplateError{ErrorKind::Unsupported, "'autoescape' is not supported",
                        current().position};
  fail("unknown tag '" + name + "'");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Stmt *Parser::parseLoopControl(StmtKind kind) {
  Stmt *stmt = makeStmt(kind);
  advance();
  return stmt;
}

Stmt *Parser::parsePrint() {
  Stmt *stmt = makeStmt(StmtKind::Output);
  advance();
  while (current().kind != TokenKind::BlockEnd) {
    if (!stmt->expressions.empty())
      expectOperator(",");
    stmt->expressions.push_back(parseExpression());
  }
  return stmt;
}

void Parser::checkTarget(const Expr &target) {
  if (target.kind == ExprKind::Tuple) {
    for (const Expr *item : target.operands)
      checkTarget(*item);
    return;
  }
  if (target.kind != ExprKind::Name && target.kind != ExprKind::Attribution)
    fail("this cannot be assigned to", target.position);
}

Expr *Parser::parseTarget(bool withNamespace, std::string_view endName) {
  if (withNamespace && following().isOperator(".")) {
    Expr *target = makeExpr(ExprKind::Attribution, current().position);
    target->name = expectAnyName();
    expectOperator(".");
    target->attribute = expectAnyName();
    return target;
  }
  Expr *target = parseTuple(/*isSimple=*/true, true, endName);
  checkTarget(*target);
  return target;
}

Stmt *Parser::parseFor() {
  Stmt *stmt = makeStmt(StmtKind::For);
  advance();
  stmt->target = parseTarget(false, "in");
  expectName("in");
  stmt->value = parseTuple(false, /*withCondition=*/false, "recursive");
  if (skipName("if")) {
    stmt->test = parseExpression();
    stmt->testTarget = clone(*stmt->target);
  }
  stmt->isRecursive = skipName("recursive");
  stmt->body = parseBlockBody({"else", "endfor"});
  if (skipName("else"))
    stmt->elseBody = parseBlockBody({"endfor"});
  endStatement("endfor");
  return stmt;
}

Stmt *Parser::parseIf() {
  Stmt *stmt = makeStmt(StmtKind::If);
  advance();
  do {
    Expr *test = parseTuple(false, /*withCondition=*/false);
    stmt->branches.push_back({test, {}});
    stmt->branches.back().body = parseBlockBody({"elif", "else", "endif"});
  } while (skipName("elif"));
  if (skipName("else"))
    stmt->elseBody = parseBlockBody({"endif"});
  endStatement("endif");
  return stmt;
}

Stmt *Parser::parseSet() {
  Stmt *stmt = makeStmt(StmtKind::Set);
  advance();
  stmt->target = parseTarget(/*withNamespace=*/true);
  if (skipOperator("=")) {
    stmt->value = parseTuple();
    return stmt;
  }
  stmt->kind = StmtKind::SetBlock;
  stmt->value = parseFilter(nullptr);
  stmt->body = parseBlockBody({"endset"});
  endStatement("endset");
  return stmt;
}

Stmt *Parser::parseWith() {
  Stmt *stmt = makeStmt(StmtKind::With);
  advance();
  while (current().kind != TokenKind::BlockEnd) {
    if (!stmt->targets.empty())
      expectOperator(",");
    stmt->targets.push_back(parseTarget(false));
    expectOperator("=");
    stmt->expressions.push_back(parseExpression());
  }
  stmt->body = parseBlockBody({"endwith"});
  endStatement("endwith");
  return stmt;
}

void Parser::parseSignature(MacroInfo &macro) {
  expectOperator("(");
  while (!isOperator(")")) {
    if (!macro.parameters.empty())
      expectOperator(",");
    std::string name = expectAnyName();
    if (std::count(macro.parameters.begin(), macro.parameters.end(), name))
      fail("the parameter '" + name + "' is given twice");
    macro.parameters.push_back(std::move(name));
    if (skipOperator("="))
      macro.defaults.push_back(parseExpression());
    else if (!macro.defaults.empty())
      fail("a parameter without default follows one with a default");
  }
  expectOperator(")");
}

Stmt *Parser::parseMacro() {
  Stmt *stmt = makeStmt(StmtKind::Macro);
  advance();
  stmt->name = expectAnyName();
  stmt->macro = std::make_unique<MacroInfo>();
  stmt->macro->name = stmt->name;
  parseSignature(*stmt->macro);
  stmt->body = parseBlockBody({"endmacro"});
  endStatement("endmacro");
  return stmt;
}

Stmt *Parser::parseCallBlock() {
  Stmt *stmt = makeStmt(StmtKind::CallBlock);
  advance();
  stmt->macro = std::make_unique<MacroInfo>();
  if (isOperator("("))
    parseSignature(*stmt->macro);
  stmt->value = parseExpression();
  if (stmt->value->kind != ExprKind::Call)
    fail("expected a call", stmt->value->position);
  stmt->body = parseBlockBody({"endcall"});
  endStatement("endcall");
  return stmt;
}

/// Marks what the assistant said; for rendering it is a call of its own body.
Stmt *Parser::parseGeneration() {
  Stmt *stmt = makeStmt(StmtKind::CallBlock);
  advance();
  stmt->macro = std::make_unique<MacroInfo>();
  stmt->body = parseBlockBody({"endgeneration"});
  endStatement("endgeneration");
  return stmt;
}

Stmt *Parser::parseFilterBlock() {
  Stmt *stmt = makeStmt(StmtKind::FilterBlock);
  advance();
  stmt->value = parseFilter(nullptr, /*isFirstInline=*/true);
  stmt->body = parseBlockBody({"endfilter"});
  endStatement("endfilter");
  return stmt;
}

Stmt *Parser::parseBlock() {
  Stmt *stmt = makeStmt(StmtKind::Block);
  advance();
  stmt->name = expectAnyName();
  stmt->isScoped = skipName("scoped");
  stmt->isRequired = skipName("required");
  stmt->body = parseBlockBody({"endblock"});
  endStatement("endblock");
  skipName(stmt->name);
  if (!result.blocks.emplace(stmt->name, stmt).second)
    fail("the block '" + stmt->name + "' is defined twice", stmt->position);
  return stmt;
}

} // namespace llmir::chat
