//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a pass keeps the meaning of a program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROPERTY_CHECKER_H
#define LLMIR_TEST_PROPERTY_CHECKER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llmir::property {

/// What a pipeline promises of results.
enum class Promise {
  Bits, ///< The same bits, caches among them.
  /// As Bits, but a product with a dequantized weight no longer rounds the
  /// weight: then as Sums.
  Canonical,
  Sums, ///< Sums in another order, or rounded at fewer places: nmse ≤ 1e-10 of
        ///< f32, 1e-3 of f16 and bf16.
  /// Weights of int4 and inputs of int8: nmse ≤ 0.2, of results of 16 numbers
  /// or more (of few all may happen to be near 0), where there is one
  /// projection (the errors of several multiply).
  Int4,
};

struct Pipeline {
  const char *text; ///< As of --pass-pipeline, without builtin.module(…).
  Promise promise;
  /// It ends with -llm-check-cache-use but does not merge equal appends, so
  /// programs that use a cache twice are not for it.
  bool needsLinearCaches = false;
  /// It refuses functions that ranks share already.
  bool divides = false;
  /// A pass that the program is taken through before it is asked what it means,
  /// for pipelines that change the meaning in a known way.
  const char *first = "";
};

/// All passes and pipelines whose results are compared.
const std::vector<Pipeline> &getPipelines();

/// How often each pattern fired, by pipeline, and how many programs changed.
using Firings = std::map<std::string, std::map<std::string, uint64_t>>;

/// One program.
class Checker {
public:
  /// The semantics of the program; `failure` is the error if evaluation fails.
  Checker(mlir::ModuleOp module, uint64_t seed);
  ~Checker();

  const std::optional<std::string> &failure() const { return problem; }
  /// What is wrong after the pipeline, or nothing. Adds to `firings`.
  std::optional<std::string> check(const Pipeline &pipeline, Firings &firings);

private:
  struct State;
  std::optional<std::string> evaluate(const char *first);

  std::optional<std::string> problem;
  std::unique_ptr<State> state;
};

/// Registers `property-break`, which turns sums into products: an error that
/// the test has to find; and `property-round-weights-int8` and `-int4`, what
/// quantization means.
void registerPropertyPasses();

} // namespace llmir::property

#endif // LLMIR_TEST_PROPERTY_CHECKER_H
