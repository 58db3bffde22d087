//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Parser.h"

#include <cstdlib>

namespace llmir::chat {

/// Maximum depth of an expression's tree: operators and filters in a row count.
constexpr uint16_t kMaxTreeDepth = 500;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Expr *Parser::measured(Expr *expr) {
  uint16_t deepest = 0;
  auto count = [&](const Expr *child) {
    if (child)
      deepest = std::max(deepest, child->depth);
  };
  for (const Expr *child : expr->operands)
    count(child);
  for (const Expr *child : expr->arguments.positional)
    count(child);
  for (const auto &[name, child] : expr->arguments.keywords)
    count(child);
  count(expr->arguments.starred);
  count(expr->arguments.doubleStarred);
  expr->depth = static_cast<uint16_t>(deepest + 1);
  if (expr->depth > kMaxTreeDepth)
    fail("the expression has more than " + std::to_string(kMaxTreeDepth) +
             " levels",
         expr->position);
  return expr;
}

Expr *Parser::makeExpr(ExprKind kind, Position position,
                       std::vector<Expr *> operands) {
  Expr &expr = result.exprs.emplace_back();
  expr.kind = kind;
  expr.position = position;
  expr.operands = std::move(operands);
  return measured(&expr);
}

Expr *Parser::makeText(std::string text, Position position) {
  auto &str = result.texts.emplace_back(std::make_unique<Str>(std::move(text)));
  Expr *expr = makeExpr(ExprKind::Constant, position);
  expr->value = Value(str.get());
  textLength(expr->value); // Counted now: threads share constants.
  return expr;
}

Expr *Parser::clone(const Expr &expr) {
  Expr *copy = makeExpr(expr.kind, expr.position);
  copy->name = expr.name;
  copy->attribute = expr.attribute;
  for (const Expr *operand : expr.operands)
    copy->operands.push_back(clone(*operand));
  return copy;
}

//===----------------------------------------------------------------------===//
// Operators, from the weakest
//===----------------------------------------------------------------------===//

Expr *Parser::parseExpression(bool withCondition) {
  return withCondition ? parseCondition() : parseOr();
}

Expr *Parser::parseCondition() {
  Nesting nesting(*this);
  Expr *expr = parseOr();
  while (current().isName("if")) {
    Position position = current().position;
    advance();
    Expr *test = parseOr();
    Expr *otherwise = skipName("else") ? parseCondition() : nullptr;
    expr = makeExpr(ExprKind::Condition, position, {expr, test, otherwise});
  }
  return expr;
}

Expr *Parser::parseOr() {
  Expr *left = parseAnd();
  while (current().isName("or")) {
    Position position = current().position;
    advance();
    left = makeExpr(ExprKind::Or, position, {left, parseAnd()});
  }
  return left;
}

Expr *Parser::parseAnd() {
  Expr *left = parseNot();
  while (current().isName("and")) {
    Position position = current().position;
    advance();
    left = makeExpr(ExprKind::And, position, {left, parseNot()});
  }
  return left;
}

Expr *Parser::parseNot() {
  if (!current().isName("not"))
    return parseCompare();
  Nesting nesting(*this);
  Position position = current().position;
  advance();
  return makeExpr(ExprKind::Not, position, {parseNot()});
}

bool Parser::parseComparison(Comparison &comparison) {
  constexpr std::pair<std::string_view, Comparison> operators[] = {
      {"==", Comparison::Equal},  {"!=", Comparison::NotEqual},
      {"<", Comparison::Less},    {"<=", Comparison::LessEqual},
      {">", Comparison::Greater}, {">=", Comparison::GreaterEqual}};
  for (auto [text, kind] : operators)
    if (skipOperator(text)) {
      comparison = kind;
      return true;
    }
  if (skipName("in")) {
    comparison = Comparison::In;
    return true;
  }
  if (current().isName("not") && following().isName("in")) {
    advance();
    advance();
    comparison = Comparison::NotIn;
    return true;
  }
  return false;
}

Expr *Parser::parseCompare() {
  Expr *expr = parseSum();
  std::vector<Comparison> comparisons;
  std::vector<Expr *> operands{expr};
  Position position = current().position;
  for (Comparison comparison; parseComparison(comparison);) {
    comparisons.push_back(comparison);
    operands.push_back(parseSum());
  }
  if (comparisons.empty())
    return expr;
  Expr *compare = makeExpr(ExprKind::Compare, position, std::move(operands));
  compare->comparisons = std::move(comparisons);
  return compare;
}

Expr *Parser::parseSum() {
  Expr *left = parseConcat();
  while (isOperator("+") || isOperator("-")) {
    Position position = current().position;
    BinaryOp op = isOperator("+") ? BinaryOp::Add : BinaryOp::Sub;
    advance();
    left = makeExpr(ExprKind::Binary, position, {left, parseConcat()});
    left->binary = op;
  }
  return left;
}

Expr *Parser::parseConcat() {
  Position position = current().position;
  std::vector<Expr *> parts{parseProduct()};
  while (skipOperator("~"))
    parts.push_back(parseProduct());
  if (parts.size() == 1)
    return parts[0];
  return makeExpr(ExprKind::Concat, position, std::move(parts));
}

Expr *Parser::parseProduct() {
  Expr *left = parsePower();
  for (;;) {
    BinaryOp op;
    if (isOperator("*"))
      op = BinaryOp::Mul;
    else if (isOperator("/"))
      op = BinaryOp::Div;
    else if (isOperator("//"))
      op = BinaryOp::FloorDiv;
    else if (isOperator("%"))
      op = BinaryOp::Mod;
    else
      return left;
    Position position = current().position;
    advance();
    left = makeExpr(ExprKind::Binary, position, {left, parsePower()});
    left->binary = op;
  }
}

Expr *Parser::parsePower() {
  Expr *left = parseUnary();
  while (isOperator("**")) {
    Position position = current().position;
    advance();
    left = makeExpr(ExprKind::Binary, position, {left, parseUnary()});
    left->binary = BinaryOp::Pow;
  }
  return left;
}

Expr *Parser::parseUnary(bool withFilter) {
  Nesting nesting(*this);
  Position position = current().position;
  Expr *expr;
  if (skipOperator("-"))
    expr = makeExpr(ExprKind::Negate, position, {parseUnary(false)});
  else if (skipOperator("+"))
    expr = makeExpr(ExprKind::Plus, position, {parseUnary(false)});
  else
    expr = parsePrimary();
  expr = parsePostfix(expr);
  return withFilter ? parseFilterExpr(expr) : expr;
}

//===----------------------------------------------------------------------===//
// Primaries
//===----------------------------------------------------------------------===//

Expr *Parser::parsePrimary() {
  const Token &token = current();
  const Position position = token.position;
  auto constant = [&](Value value) {
    Expr *expr = makeExpr(ExprKind::Constant, position);
    expr->value = std::move(value);
    advance();
    return expr;
  };
  switch (token.kind) {
  case TokenKind::Name: {
    const std::string &name = token.text;
    if (name == "true" || name == "True")
      return constant(Value::boolean(true));
    if (name == "false" || name == "False")
      return constant(Value::boolean(false));
    if (name == "none" || name == "None")
      return constant(Value::none());
    Expr *expr = makeExpr(ExprKind::Name, position);
    expr->name = name;
    advance();
    return expr;
  }
  case TokenKind::String: {
    std::string text;
    for (; current().kind == TokenKind::String; advance())
      text += current().text;
    return makeText(std::move(text), position);
  }
  case TokenKind::Integer:
  case TokenKind::Float: {
    Expr *expr = parseNumber(token);
    advance();
    return expr;
  }
  default:
    break;
  }
  if (skipOperator("(")) {
    Expr *expr = parseTuple(false, true, {}, /*mayBeEmpty=*/true);
    expectOperator(")");
    return expr;
  }
  if (isOperator("["))
    return parseList();
  if (isOperator("{"))
    return parseDict();
  fail(token.kind == TokenKind::End || token.kind == TokenKind::BlockEnd ||
               token.kind == TokenKind::VariableEnd
           ? "an expression is missing"
           : "unexpected '" + token.text + "'");
}

Expr *Parser::parseNumber(const Token &token) {
  Expr *expr = makeExpr(ExprKind::Constant, token.position);
  if (token.kind == TokenKind::Float) {
    expr->value = Value::number(std::strtod(token.text.c_str(), nullptr));
    return expr;
  }
  std::string_view digits = token.text;
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0' && (digits[1] & 0x40)) {
    char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  if (digits.size() > BigInt::kMaxDigits)
    fail("the number is too large", token.position);
  BigInt number = BigInt::fromDigits(digits, base);
  if (auto small = number.toInt64())
    expr->value = Value::integer(*small);
  else
    expr->value = Value(
        result.integers.emplace_back(std::make_unique<Big>(number)).get());
  return expr;
}

bool Parser::isTupleEnd(std::string_view endName) const {
  const Token &token = current();
  return token.kind == TokenKind::VariableEnd ||
         token.kind == TokenKind::BlockEnd || token.isOperator(")") ||
         (!endName.empty() && token.isName(endName));
}

Expr *Parser::parseTuple(bool isSimple, bool withCondition,
                         std::string_view endName, bool mayBeEmpty) {
  Position position = current().position;
  std::vector<Expr *> items;
  bool isTuple = false;
  for (;;) {
    if (!items.empty())
      expectOperator(",");
    if (isTupleEnd(endName))
      break;
    items.push_back(isSimple ? parsePrimary() : parseExpression(withCondition));
    if (!isOperator(","))
      break;
    isTuple = true;
  }
  if (!isTuple) {
    if (!items.empty())
      return items[0];
    if (!mayBeEmpty)
      fail("an expression is missing");
  }
  return makeExpr(ExprKind::Tuple, position, std::move(items));
}

Expr *Parser::parseList() {
  Position position = current().position;
  expectOperator("[");
  std::vector<Expr *> items;
  while (!isOperator("]")) {
    if (!items.empty())
      expectOperator(",");
    if (isOperator("]"))
      break;
    items.push_back(parseExpression());
  }
  expectOperator("]");
  return makeExpr(ExprKind::List, position, std::move(items));
}

Expr *Parser::parseDict() {
  Position position = current().position;
  expectOperator("{");
  std::vector<Expr *> items;
  while (!isOperator("}")) {
    if (!items.empty())
      expectOperator(",");
    if (isOperator("}"))
      break;
    items.push_back(parseExpression());
    expectOperator(":");
    items.push_back(parseExpression());
  }
  expectOperator("}");
  return makeExpr(ExprKind::Dict, position, std::move(items));
}

//===----------------------------------------------------------------------===//
// Postfixes
//===----------------------------------------------------------------------===//

Expr *Parser::parsePostfix(Expr *expr) {
  for (;;) {
    if (isOperator(".") || isOperator("["))
      expr = parseSubscript(expr);
    else if (isOperator("("))
      expr = parseCall(expr);
    else
      return expr;
  }
}

Expr *Parser::parseFilterExpr(Expr *expr) {
  for (;;) {
    if (isOperator("|"))
      expr = parseFilter(expr);
    else if (current().isName("is"))
      expr = parseTest(expr);
    else if (isOperator("("))
      expr = parseCall(expr);
    else
      return expr;
  }
}

Expr *Parser::parseSubscript(Expr *value) {
  Position position = current().position;
  if (skipOperator(".")) {
    const Token &token = current();
    if (token.kind == TokenKind::Name) {
      Expr *expr = makeExpr(ExprKind::Attribute, token.position, {value});
      expr->name = token.text;
      advance();
      return expr;
    }
    if (token.kind != TokenKind::Integer)
      fail("expected a name or number after '.'");
    Expr *index = parseNumber(token);
    advance();
    return makeExpr(ExprKind::Subscript, position, {value, index});
  }
  expectOperator("[");
  std::vector<Expr *> indices;
  while (!isOperator("]")) {
    if (!indices.empty())
      expectOperator(",");
    indices.push_back(parseSubscribed());
  }
  expectOperator("]");
  if (indices.size() != 1) {
    for (const Expr *index : indices)
      if (index->kind == ExprKind::Slice)
        fail("a slice cannot be part of a tuple", index->position);
    return makeExpr(
        ExprKind::Subscript, position,
        {value, makeExpr(ExprKind::Tuple, position, std::move(indices))});
  }
  if (indices[0]->kind != ExprKind::Slice || indices[0]->operands[0])
    return makeExpr(ExprKind::Subscript, position, {value, indices[0]});
  indices[0]->operands[0] = value;
  indices[0]->position = position;
  return measured(indices[0]);
}

/// An index, or a Slice that still lacks its value.
Expr *Parser::parseSubscribed() {
  Position position = current().position;
  Expr *start = nullptr, *stop = nullptr, *step = nullptr;
  if (!isOperator(":")) {
    start = parseExpression();
    if (!isOperator(":"))
      return start;
  }
  expectOperator(":");
  auto isEnd = [&] { return isOperator("]") || isOperator(","); };
  if (!isOperator(":") && !isEnd())
    stop = parseExpression();
  if (skipOperator(":") && !isEnd())
    step = parseExpression();
  return makeExpr(ExprKind::Slice, position, {nullptr, start, stop, step});
}

ArgumentList Parser::parseArguments() {
  ArgumentList list;
  Position position = current().position;
  expectOperator("(");
  auto ensure = [&](bool isValid) {
    if (!isValid)
      fail("invalid order of the arguments", position);
  };
  for (bool isFirst = true; !isOperator(")"); isFirst = false) {
    if (!isFirst) {
      expectOperator(",");
      if (isOperator(")"))
        break;
    }
    if (skipOperator("*")) {
      ensure(!list.starred && !list.doubleStarred);
      list.starred = parseExpression();
    } else if (skipOperator("**")) {
      ensure(!list.doubleStarred);
      list.doubleStarred = parseExpression();
    } else if (current().kind == TokenKind::Name &&
               following().isOperator("=")) {
      ensure(!list.doubleStarred);
      std::string name = current().text;
      for (const auto &keyword : list.keywords)
        if (keyword.first == name)
          fail("the argument '" + name + "' is given twice");
      advance();
      advance();
      list.keywords.emplace_back(std::move(name), parseExpression());
    } else {
      ensure(!list.starred && !list.doubleStarred && list.keywords.empty());
      list.positional.push_back(parseExpression());
    }
  }
  expectOperator(")");
  return list;
}

Expr *Parser::parseCall(Expr *callee) {
  Expr *call = makeExpr(ExprKind::Call, current().position, {callee});
  call->arguments = parseArguments();
  return measured(call);
}

std::string Parser::parseDottedName() {
  std::string name = expectAnyName();
  while (skipOperator("."))
    name += "." + expectAnyName();
  return name;
}

Expr *Parser::parseFilter(Expr *value, bool isFirstInline) {
  while (isFirstInline || isOperator("|")) {
    if (!isFirstInline)
      advance();
    isFirstInline = false;
    Expr *filter = makeExpr(ExprKind::Filter, current().position, {value});
    filter->name = parseDottedName();
    filter->filter = findFilter(filter->name);
    if (isOperator("("))
      filter->arguments = parseArguments();
    value = measured(filter);
  }
  return value;
}

Expr *Parser::parseTest(Expr *value) {
  Position position = current().position;
  expectName("is");
  bool isNegated = skipName("not");
  Expr *test = makeExpr(ExprKind::Test, position, {value});
  test->name = parseDottedName();
  test->test = findTest(test->name);
  const Token &token = current();
  bool startsArgument =
      token.kind == TokenKind::String || token.kind == TokenKind::Integer ||
      token.kind == TokenKind::Float || token.isOperator("[") ||
      token.isOperator("{") ||
      (token.kind == TokenKind::Name && token.text != "else" &&
       token.text != "or" && token.text != "and");
  if (token.isOperator("(")) {
    test->arguments = parseArguments();
  } else if (startsArgument) {
    if (token.isName("is"))
      fail("tests with 'is' cannot be chained");
    test->arguments.positional.push_back(parsePostfix(parsePrimary()));
  }
  measured(test);
  return isNegated ? makeExpr(ExprKind::Not, position, {test}) : test;
}

} // namespace llmir::chat
