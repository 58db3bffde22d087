//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::property;
using reference::Shape;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string llmir::property::typeOf(const Value &value) {
  std::string text = "tensor<";
  for (int64_t size : value.shape)
    text += std::to_string(size) + "x";
  return text + value.element + ">";
}

std::string Program::argumentOfType(const std::string &type,
                                    const std::string &attributes) {
  std::string name = "%a" + std::to_string(next++);
  arguments += (arguments.empty() ? "\n    " : ",\n    ") + name + ": " + type;
  if (!attributes.empty())
    arguments += " {" + attributes + "}";
  return name;
}

property::Value Program::argument(Shape shape, const std::string &element,
                                  const std::string &attributes) {
  Value value{"", std::move(shape), element};
  value.name = argumentOfType(typeOf(value), attributes);
  return value;
}

property::Value Program::emit(const std::string &text, Shape shape,
                              const std::string &element) {
  return {emitMany(1, text)[0], std::move(shape), element};
}

std::vector<std::string> Program::emitMany(size_t results,
                                           const std::string &text) {
  std::vector<std::string> names;
  body += "  ";
  for (size_t i = 0; i < results; ++i) {
    names.push_back("%v" + std::to_string(next++));
    body += (i == 0 ? "" : ", ") + names.back();
  }
  body += (results == 0 ? "" : " = ") + text + "\n";
  return names;
}

static std::string listOf(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

property::Value Program::integers(const std::vector<int64_t> &values) {
  Value value{"", {int64_t(values.size())}, "i32"};
  return emit("arith.constant dense<" + listOf(values) + "> : " + typeOf(value),
              value.shape, "i32");
}

property::Value
Program::integerTable(const std::vector<std::vector<int64_t>> &rows) {
  Value value{"", {int64_t(rows.size()), int64_t(rows[0].size())}, "i32"};
  std::string text = "[";
  for (size_t i = 0; i < rows.size(); ++i)
    text += (i == 0 ? "" : ", ") + listOf(rows[i]);
  return emit("arith.constant dense<" + text + "]> : " + typeOf(value),
              value.shape, "i32");
}

property::Value Program::constant(double number, Shape shape,
                                  const std::string &element) {
  Value value{"", std::move(shape), element};
  return emit("arith.constant dense<" + std::to_string(number) +
                  "> : " + typeOf(value),
              value.shape, element);
}

std::string Program::indexConstant(int64_t value) {
  return emitMany(1, "arith.constant " + std::to_string(value) + " : index")[0];
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

property::Value Program::rows() {
  if (rowValues.empty())
    rowValues.push_back(argument({tokens, columns}, element));
  return chance(70) ? rowValues.back() : among(rowValues);
}

property::Value Program::another(const Value &value) {
  for (const Value &other : rowValues)
    if (other.name != value.name && other.shape == value.shape &&
        other.element == value.element && chance(50))
      return other;
  return argument(value.shape, value.element);
}

bool Program::isUsed(const std::string &name) const {
  for (size_t at = body.find(name); at != std::string::npos;
       at = body.find(name, at + 1)) {
    const char after = body[at + name.size()];
    const bool isDefinition = body.compare(at + name.size(), 3, " = ") == 0;
    if (!isDefinition && (after < '0' || after > '9'))
      return true;
  }
  return false;
}

std::string Program::text(const std::string &functionAttributes) const {
  std::vector<Result> all = results;
  for (const Value &value : rowValues)
    if (!isUsed(value.name))
      all.push_back({value.name, typeOf(value), ""});
  std::string types, names, plainTypes;
  for (const Result &result : all) {
    const char *comma = types.empty() ? "" : ", ";
    types += comma + result.type;
    if (!result.attributes.empty())
      types += " {" + result.attributes + "}";
    names += comma + result.name;
    plainTypes += comma + result.type;
  }
  std::string text = functions + "func.func @main(" + arguments + ")";
  if (!all.empty())
    text += "\n    -> (" + types + ")";
  if (!functionAttributes.empty())
    text += "\n    attributes {" + functionAttributes + "}";
  return text + " {\n" + body + "  return" +
         (all.empty() ? "" : " " + names + " : " + plainTypes) + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::string llmir::property::generateProgram(uint64_t seed) {
  Program program(seed);
  program.element = program.chance(70)   ? "f32"
                    : program.chance(60) ? "bf16"
                                         : "f16";
  program.tokens = program.among<int64_t>({1, 1, 2, 3, 4});
  program.columns = program.among<int64_t>({8, 8, 16, 32});
  if (program.chance(12)) {
    const int64_t ranks = program.among<int64_t>({2, 4});
    for (int64_t i = program.number(1, 3); i > 0; --i)
      addRankPiece(program, ranks);
    return program.text("llm.num_ranks = " + std::to_string(ranks) + " : i64");
  }
  if (program.chance(50))
    addCacheChain(program);
  if (program.chance(15))
    addOwnCache(program);
  for (int64_t i = program.number(2, 9); i > 0; --i) {
    const int64_t kind = program.number(0, 99);
    if (kind < 50)
      addRowPiece(program);
    else if (kind < 65)
      addAttentionPiece(program);
    else if (kind < 82)
      addQuantPiece(program);
    else if (kind < 90)
      addExpertPiece(program);
    else
      addControlPiece(program);
  }
  return program.text("");
}
