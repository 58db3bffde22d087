//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size of one dimension: an integer, a linear expression of symbols such as
// `seq + past`, or unknown. Links neither MLIR nor LLVM.
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

/// A size. Sizes that are not linear or overflow 64 bits are unknown: an
/// unknown size is compatible with any size and determined at run time.
class DimExpr {
public:
  /// A symbol with its nonzero coefficient.
  using Term = std::pair<std::string, int64_t>;

  /// An integer; negative values occur as intermediate results only.
  DimExpr(int64_t value = 0) : offset(value) {}
  static DimExpr unknown();
  /// A name of letters, digits, `_` and `.`, not starting with a digit.
  static DimExpr symbol(std::string name);

  bool isKnown() const { return known; }
  bool isConstant() const { return known && symbols.empty(); }
  /// The value, if the size is an integer.
  std::optional<int64_t> constant() const;
  /// Sorted by name; empty for an integer and for an unknown size.
  const std::vector<Term> &terms() const { return symbols; }
  /// The constant term.
  int64_t constantTerm() const { return offset; }

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator-(const DimExpr &other) const;
  /// Known if one factor is an integer.
  DimExpr operator*(const DimExpr &other) const;
  /// Rounded down; known for integers and if every term is divisible.
  DimExpr floorDiv(int64_t divisor) const;
  /// Known only if the division is exact for all values of the symbols.
  DimExpr exactDiv(const DimExpr &divisor) const;

  /// Equality of expressions; unknown sizes are not equal.
  bool operator==(const DimExpr &other) const;
  bool operator!=(const DimExpr &other) const { return !(*this == other); }

  /// Returns false if the sizes differ for all values of the symbols.
  static bool mayEqual(const DimExpr &a, const DimExpr &b);
  /// Evaluates the size for given symbols; nullopt if a symbol is missing, the
  /// size is unknown, or it overflows.
  std::optional<int64_t>
  evaluate(const std::map<std::string, int64_t> &values) const;

  /// "128", "seq", "2 * seq + past - 1", "?".
  std::string str() const;
  /// Parses the output of str(); nullopt for anything else.
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
