//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ways to quantize a matrix of weights [N, K], by name: `int8` has a scale for
// each of the N rows, `int4:g32` one for each 32 neighbours of a row, and with
// `:asym` there are zero points.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_TRANSFORMS_QUANTSCHEME_H
#define MLIR_DIALECT_LLM_TRANSFORMS_QUANTSCHEME_H

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::llm {

struct QuantScheme {
  int64_t bits = 8;
  int64_t groupSize = -1; ///< Neighbours in a row with one scale; -1: the row.
  bool symmetric = true;

  /// The scheme of that name: `int8` or `int4`, then perhaps `:g32`, `:g64` or
  /// `:g128`, then perhaps `:asym`; nullopt for another name.
  static std::optional<QuantScheme> fromName(StringRef name);
  std::string name() const;

  /// True where rows of `inputs` numbers are whole groups.
  bool fits(int64_t inputs) const {
    return groupSize == -1 || inputs % groupSize == 0;
  }
  /// Neighbours in a row of inputs that share a scale, where inputs are int8:
  /// each of them costs a conversion and a product for every output, and more
  /// of them are rounded worse. On the demo model, 64 beside int8 with a scale
  /// for each row are as close to the reference as 32 beside Q8_0.
  int64_t inputGroup() const { return groupSize == 32 ? 32 : 64; }
  /// What a number of a row of `inputs` takes in memory, with its share of an
  /// f32 scale and an i8 zero point.
  double bitsPerNumber(int64_t inputs) const {
    double shared = symmetric ? 32 : 40;
    return double(bits) + shared / double(groupSize == -1 ? inputs : groupSize);
  }
};

/// x * transposed(weight) + bias (may be null) with the weight quantized, where
/// `builder` stands: quant_params and quantize right behind the weight, unless
/// they are there already, and quantized_matmul. `activationBits` is 8, or 0
/// for inputs of floats. The weight's rows are whole groups of the scheme.
QuantizedMatmulOp createQuantizedProduct(OpBuilder &builder, Location loc,
                                         Value x, Value weight, Value bias,
                                         const QuantScheme &scheme,
                                         int64_t activationBits);

/// What -llm-quantize's and -llm-analyze-quantization's messages say of names
/// that are none.
constexpr llvm::StringLiteral kSchemeSpelling =
    "int8 or int4, optionally followed by :g32, :g64 or :g128 and by :asym";

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_QUANTSCHEME_H
