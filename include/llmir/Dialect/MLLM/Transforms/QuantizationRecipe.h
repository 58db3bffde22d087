//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization recipes, which select schemes for matrices by name:
//
//   head = q8                    # the projection to the vocabulary
//   *.mlp.*_proj.weight = int4:g128
//   *.layers.0.* = none, * = int8
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_QUANTIZATIONRECIPE_H
#define LLMIR_DIALECT_MLLM_TRANSFORMS_QUANTIZATIONRECIPE_H

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Support/Status.h"
#include "llmir/Support/TensorFormat.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir::mllm {

/// The storage scheme of a matrix.
struct WeightScheme {
  int64_t bits = 0;  ///< 0: not quantized.
  int64_t block = 0; ///< Elements of a row per scale; 0: all.
  bool perTensor = false;
  bool zeroPoints = false;
  bool byteInputs = false;            ///< Products take int8 inputs.
  std::optional<TensorFormat> format; ///< Block format instead of the above.

  /// `none`, `q8` (Q8_0), `q4` (Q4_0), or `int2` to `int8` followed by
  /// `:gNUMBER` or `:tensor`, `:asym`, `:a8` (as by default) or `:a32`, in any
  /// order; InvalidArgument otherwise.
  static Expected<WeightScheme> parse(std::string_view text);

  bool isQuantized() const { return bits != 0; }
  /// The value of `mllm.quant.weights`; `raw` without quantization.
  QuantAttr annotation(mlir::MLIRContext *context) const;
};

/// A list of rules; the first rule that matches a matrix applies.
class QuantizationRecipe {
public:
  /// The pattern that matches the output projection to the vocabulary (the
  /// product that the entry returns), independent of its name.
  static constexpr std::string_view kHead = "head";

  struct Rule {
    std::string pattern; ///< `*` matches any text.
    WeightScheme scheme;
    /// True for user-written rules, which must match at least one matrix.
    bool isWritten = true;
  };

  /// Parses a list of `PATTERN=SCHEME` separated by commas or newlines; `#`
  /// starts a comment. Fails with InvalidArgument.
  static Expected<QuantizationRecipe> parse(std::string_view text);
  /// Returns the recipe of `--quantize SCHEME`: the scheme for all projections
  /// except the output projection, which is q8, or not quantized with
  /// `:plain-head` or with f32 inputs (`:a32`); a model may have only that one.
  /// "none" is an empty recipe. Fails with InvalidArgument for schemes that the
  /// compiler does not support.
  static Expected<QuantizationRecipe>
  forAllProjections(std::string_view scheme);

  bool empty() const { return rules.empty(); }

  /// Result of apply().
  struct Outcome {
    int64_t matrices = 0; ///< Annotated matrices.
    int64_t left = 0;     ///< Selected ones with partial blocks.
    /// Selected ones of experts, which do not support integers.
    int64_t experts = 0;
  };
  /// Sets `mllm.quant.weights` and `mllm.quant.inputs` on the products and the
  /// experts of the module. Fails, with a diagnostic, if there is no matrix, a
  /// user-written rule applies to none, or an embedding table or, by a
  /// user-written rule, experts would be quantized to integers. Matrices that
  /// are stored quantized are not changed.
  mlir::FailureOr<Outcome> apply(mlir::ModuleOp module) const;

private:
  std::vector<Rule> rules;
};

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_QUANTIZATIONRECIPE_H
