//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses templates into syntax trees.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_PARSER_H
#define LLMIR_LIB_CHATTEMPLATE_PARSER_H

#include "AST.h"
#include "Lexer.h"

#include <initializer_list>

namespace llmir::chat {

/// Recursive descent over the tokens, with the grammar and the precedences of
/// Jinja. Throws TemplateError.
class Parser {
public:
  Parser(Template &result, std::string_view source)
      : result(result), tokens(tokenize(source)) {}

  /// Fills the template's body.
  void run();

private:
  using Names = std::initializer_list<std::string_view>;

  // Statements.
  Body parseBody(Names ends);
  Body parseBlockBody(Names ends);
  Stmt *parseStatement();
  Stmt *parseFor();
  Stmt *parseIf();
  Stmt *parseSet();
  Stmt *parseWith();
  Stmt *parseMacro();
  Stmt *parseCallBlock();
  Stmt *parseGeneration();
  Stmt *parseFilterBlock();
  Stmt *parseBlock();
  Stmt *parsePrint();
  Stmt *parseLoopControl(StmtKind kind);
  void parseSignature(MacroInfo &macro);
  void endStatement(std::string_view keyword);

  // Expressions.
  Expr *parseExpression(bool withCondition = true);
  Expr *parseCondition();
  Expr *parseOr();
  Expr *parseAnd();
  Expr *parseNot();
  Expr *parseCompare();
  bool parseComparison(Comparison &comparison);
  Expr *parseSum();
  Expr *parseConcat();
  Expr *parseProduct();
  Expr *parsePower();
  Expr *parseUnary(bool withFilter = true);
  Expr *parsePrimary();
  Expr *parseNumber(const Token &token);
  /// One expression, or a tuple if there are commas.
  Expr *parseTuple(bool isSimple = false, bool withCondition = true,
                   std::string_view endName = {}, bool mayBeEmpty = false);
  Expr *parseList();
  Expr *parseDict();
  Expr *parsePostfix(Expr *expr);
  Expr *parseFilterExpr(Expr *expr);
  Expr *parseSubscript(Expr *value);
  Expr *parseSubscribed();
  Expr *parseCall(Expr *callee);
  Expr *parseFilter(Expr *value, bool isFirstInline = false);
  Expr *parseTest(Expr *value);
  ArgumentList parseArguments();
  Expr *parseTarget(bool withNamespace, std::string_view endName = {});
  void checkTarget(const Expr &target);
  std::string parseDottedName();

  // Nodes.
  Stmt *makeStmt(StmtKind kind);
  Expr *makeExpr(ExprKind kind, Position position,
                 std::vector<Expr *> operands = {});
  Expr *makeText(std::string text, Position position);
  Expr *clone(const Expr &expr);
  /// Accounts for operands and arguments that were added later.
  Expr *measured(Expr *expr);

  // Tokens.
  const Token &current() const { return tokens[at]; }
  const Token &following() const {
    return tokens[std::min(at + 1, tokens.size() - 1)];
  }
  void advance() {
    if (at + 1 < tokens.size())
      ++at;
  }
  bool isOperator(std::string_view text) const {
    return current().isOperator(text);
  }
  bool skipOperator(std::string_view text);
  bool skipName(std::string_view name);
  void expectOperator(std::string_view text);
  void expectName(std::string_view name);
  std::string expectAnyName();
  void expect(TokenKind kind, const char *what);
  bool isTupleEnd(std::string_view endName) const;
  [[noreturn]] void fail(const std::string &message);
  [[noreturn]] void fail(const std::string &message, Position position);

  /// Counts nested statements and expressions.
  struct Nesting {
    explicit Nesting(Parser &parser);
    ~Nesting() { --parser.depth; }
    Parser &parser;
  };

  Template &result;
  std::vector<Token> tokens;
  size_t at = 0;
  int depth = 0;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_PARSER_H
