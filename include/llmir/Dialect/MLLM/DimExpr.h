//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size of one dimension: a number, a linear expression of named symbols
// such as `seq + past`, or not known. Links neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_DIMEXPR_H
#define LLMIR_DIALECT_MLLM_DIMEXPR_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmir::shapes {

/// One size. What is not linear, and what overflows 64 bits, is not known:
/// such a size fits every other and is found out when the model runs.
class DimExpr {
public:
  /// A symbol with its factor; factors are not 0.
  using Term = std::pair<std::string, int64_t>;

  /// A number; negative ones arise only in between, no tensor has them.
  DimExpr(int64_t value = 0) : offset(value) {}
  static DimExpr unknown();
  /// A name of letters, digits, `_` and `.`, not starting with a digit.
  static DimExpr symbol(std::string name);

  bool isKnown() const { return known; }
  bool isConstant() const { return known && symbols.empty(); }
  /// The number, where it is one.
  std::optional<int64_t> constant() const;
  /// Sorted by name; empty for a number and for what is not known.
  const std::vector<Term> &terms() const { return symbols; }
  /// What is added to the terms.
  int64_t constantTerm() const { return offset; }

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator-(const DimExpr &other) const;
  /// Known where one factor is a number.
  DimExpr operator*(const DimExpr &other) const;
  /// Rounded down; known where every term divides, or for two numbers.
  DimExpr floorDiv(int64_t divisor) const;
  /// Known only where the division leaves no rest whatever the symbols are.
  DimExpr exactDiv(const DimExpr &divisor) const;

  /// The same expression; two unknown sizes are not the same.
  bool operator==(const DimExpr &other) const;
  bool operator!=(const DimExpr &other) const { return !(*this == other); }

  /// False where the two differ whatever the symbols are.
  static bool mayEqual(const DimExpr &a, const DimExpr &b);
  /// The number for given symbols; nullopt where one is missing, where it is
  /// not known, or where it overflows.
  std::optional<int64_t>
  evaluate(const std::map<std::string, int64_t> &values) const;

  /// "128", "seq", "2 * seq + past - 1", "?".
  std::string str() const;
  /// Reads what str() writes; nullopt for anything else.
  static std::optional<DimExpr> parse(const std::string &text);

private:
  bool known = true;
  int64_t offset = 0;
  std::vector<Term> symbols;
};

/// The sizes of a tensor, outermost first.
using Shape = std::vector<DimExpr>;

/// "[1, seq, 64]".
std::string str(const Shape &shape);

} // namespace llmir::shapes

#endif // LLMIR_DIALECT_MLLM_DIMEXPR_H
