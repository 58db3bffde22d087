//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Named schemes to quantize a weight matrix [N, K]: `int8` has one scale per
// row, `int4:g32` one per 32 consecutive elements of a row, and `:asym` adds
// zero points.
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
  int64_t groupSize = -1; ///< Elements of a row per scale; -1: all.
  bool symmetric = true;

  /// Parses a name: `int8` or `int4`, optionally followed by `:g32`, `:g64` or
  /// `:g128` and by `:asym`; nullopt for any other name.
  static std::optional<QuantScheme> fromName(StringRef name);
  std::string name() const;

  /// True if rows of `inputs` elements consist of whole groups.
  bool fits(int64_t inputs) const {
    return groupSize == -1 || inputs % groupSize == 0;
  }
  /// Number of consecutive inputs that share a scale if inputs are int8. Each
  /// group costs a conversion and a multiplication per output; larger groups
  /// have a larger rounding error. On the demo model, 64 with int8 weights with
  /// one scale per row are as accurate as 32 with Q8_0.
  int64_t inputGroup() const { return groupSize == 32 ? 32 : 64; }
  /// Storage per element of a row of `inputs` elements in bits, including its
  /// share of an f32 scale and an i8 zero point.
  double bitsPerElement(int64_t inputs) const {
    double shared = symmetric ? 32 : 40;
    return double(bits) + shared / double(groupSize == -1 ? inputs : groupSize);
  }
};

/// Creates x * transposed(weight) + bias (which may be null) with a quantized
/// weight at the insertion point of `builder`: quant_params and quantize right
/// after the weight, unless they exist, and quantized_matmul. `activationBits`
/// is 8, or 0 for floating-point inputs. Requires scheme.fits().
QuantizedMatmulOp createQuantizedProduct(OpBuilder &builder, Location loc,
                                         Value x, Value weight, Value bias,
                                         const QuantScheme &scheme,
                                         int64_t activationBits);

/// The valid names, for diagnostics.
constexpr llvm::StringLiteral kSchemeSpelling =
    "int8 or int4, optionally followed by :g32, :g64 or :g128 and by :asym";

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_QUANTSCHEME_H
