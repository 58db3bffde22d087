//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which matrices of a model are quantized, and how, by their names:
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

/// How the numbers of one matrix are to be stored.
struct WeightScheme {
  int64_t bits = 0;  ///< 0: not quantized.
  int64_t block = 0; ///< Neighbours in a row with one scale; 0: all of them.
  bool perTensor = false;
  bool zeroPoints = false;
  bool byteInputs = false;            ///< Products take inputs of int8.
  std::optional<TensorFormat> format; ///< A block format, instead of the above.

  /// `none`, `q8` (Q8_0), `q4` (Q4_0), or `int2` to `int8` followed by
  /// `:gNUMBER` or `:tensor`, `:asym`, `:a8` (as by default) or `:a32`, in any
  /// order; InvalidArgument for anything else.
  static Expected<WeightScheme> parse(std::string_view text);

  bool isQuantized() const { return bits != 0; }
  /// Writes the annotations on a product; none where nothing is quantized.
  void annotate(mlir::Operation *op) const;
};

/// Rules, of which the first that fits a matrix counts.
class QuantizationRecipe {
public:
  /// The pattern that fits the projection to the vocabulary, whatever its
  /// matrix is called: the product that the entry returns.
  static constexpr std::string_view kHead = "head";

  struct Rule {
    std::string pattern; ///< `*` stands for any text.
    WeightScheme scheme;
    /// Whether somebody wrote it for this model: then it is a mistake that it
    /// counts for no matrix.
    bool isWritten = true;
  };

  /// Reads `PATTERN=SCHEME`, with commas or ends of lines between; `#` begins a
  /// comment. Fails with InvalidArgument.
  static Expected<QuantizationRecipe> parse(std::string_view text);
  /// What `--quantize SCHEME` stands for: the scheme for all projections but
  /// the one to the vocabulary, which has q8, or stays as it is with
  /// `:plain-head` or with inputs of f32 (`:a32`); a model may have only that
  /// one. "none" is an empty recipe.
  /// Fails with InvalidArgument for what the compiler does not store.
  static Expected<QuantizationRecipe>
  forAllProjections(std::string_view scheme);

  bool empty() const { return rules.empty(); }

  /// What applying it came to.
  struct Outcome {
    int64_t matrices = 0; ///< That are to be quantized.
    int64_t left = 0;     ///< Wanted ones whose rows are not whole blocks.
  };
  /// Writes `mllm.quant.weights` and `mllm.quant.inputs` on the products of the
  /// module. Fails, with a diagnostic, where there is no matrix, a written rule
  /// counts for none, or integers are wanted of one that is a table of
  /// embeddings too. Matrices that are stored in few bits stay as they are.
  mlir::FailureOr<Outcome> apply(mlir::ModuleOp module) const;

private:
  std::vector<Rule> rules;
};

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_QUANTIZATIONRECIPE_H
