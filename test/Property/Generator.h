//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random small programs of the llm dialect: well-typed, with all ops and forms,
// composed of parts to which passes apply.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROPERTY_GENERATOR_H
#define LLMIR_TEST_PROPERTY_GENERATOR_H

#include "llmir/Reference/Cache.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace llmir::property {

/// A value of the program's text.
struct Value {
  std::string name; ///< "%7"
  reference::Shape shape;
  std::string element; ///< "f32"
};

/// "tensor<2x4xf32>"
std::string typeOf(const Value &value);

/// The text of one function while it grows.
class Program {
public:
  explicit Program(uint64_t seed) : random(seed) {}

  //===--------------------------------------------------------------------===//
  // Chance
  //===--------------------------------------------------------------------===//

  bool chance(int percent) { return int(random() % 100) < percent; }
  int64_t number(int64_t least, int64_t most) {
    return least + int64_t(random() % uint64_t(most - least + 1));
  }
  template <typename T> T among(std::vector<T> list) {
    return list[random() % list.size()];
  }

  //===--------------------------------------------------------------------===//
  // Text
  //===--------------------------------------------------------------------===//

  /// A new argument; `attributes` without braces.
  Value argument(reference::Shape shape, const std::string &element,
                 const std::string &attributes = "");
  /// An argument of a type that is not a tensor.
  std::string argumentOfType(const std::string &type,
                             const std::string &attributes = "");
  /// "%n = " + text; the op's only result.
  Value emit(const std::string &text, reference::Shape shape,
             const std::string &element);
  /// An op with several results: the text after their names; their types are
  /// the caller's.
  std::vector<std::string> emitMany(size_t results, const std::string &text);
  Value integers(const std::vector<int64_t> &values);
  Value integerTable(const std::vector<std::vector<int64_t>> &rows);
  Value constant(double value, reference::Shape shape,
                 const std::string &element);
  std::string indexConstant(int64_t value);

  //===--------------------------------------------------------------------===//
  // Values used by later parts
  //===--------------------------------------------------------------------===//

  /// Rows [T, K] of the program's element type; the latest one by preference.
  Value rows();
  /// A value of the type of `value` that is another one.
  Value another(const Value &value);
  void addRows(const Value &value) { rowValues.push_back(value); }
  /// What the function returns.
  void addResult(const std::string &name, const std::string &type,
                 const std::string &attributes = "") {
    results.push_back({name, type, attributes});
  }
  void addResult(const Value &value) { addResult(value.name, typeOf(value)); }
  void addFunction(const std::string &text) { functions += text; }

  /// The module; every unused row value is returned.
  std::string text(const std::string &functionAttributes) const;

  std::string element; ///< Of activations.
  int64_t tokens = 1;  ///< T
  int64_t columns = 8; ///< K
  std::mt19937_64 random;

private:
  struct Result {
    std::string name, type, attributes;
  };
  bool isUsed(const std::string &name) const;

  int next = 0;
  std::string arguments, body, functions;
  std::vector<Value> rowValues;
  std::vector<Result> results;
};

using Piece = void (*)(Program &);
/// Adds one of the parts.
inline void choose(Program &p, const std::vector<Piece> &pieces) {
  p.among(pieces)(p);
}

/// An op whose operands and result have the same type.
inline Value unary(Program &p, const std::string &text, const Value &x) {
  return p.emit(text + " : " + typeOf(x), x.shape, x.element);
}
inline Value binary(Program &p, const std::string &op, const Value &x,
                    const Value &y) {
  return unary(p, op + " " + x.name + ", " + y.name, x);
}

/// What norms have in their text.
inline constexpr char eps[] = " {eps = 1.0e-3 : f64} : ";

/// The program of a seed.
std::string generateProgram(uint64_t seed);

/// The parts, by topic.
void addRowPiece(Program &program);
void addAttentionPiece(Program &program);
void addQuantPiece(Program &program);
void addExpertPiece(Program &program);
void addControlPiece(Program &program);
/// A chain of ops on one cache.
void addCacheChain(Program &program);
/// A cache that is local to the function.
void addOwnCache(Program &program);
/// Work that ranks share, in a function of `numRanks` ranks.
void addRankPiece(Program &program, int64_t numRanks);

} // namespace llmir::property

#endif // LLMIR_TEST_PROPERTY_GENERATOR_H
