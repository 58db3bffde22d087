//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the `llm` dialect; Passes.td describes them.
//
//   PassManager pm(module->getName());
//   pm.addPass(llm::createDeduplicateFunctions());
//   pm.addPass(llm::createInlineModules());
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_TRANSFORMS_PASSES_H
#define MLIR_DIALECT_LLM_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <map>
#include <string>

namespace mlir::llm {

#define GEN_PASS_DECL
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"

/// Registers all passes declared here (registerLLMPasses).
#define GEN_PASS_REGISTRATION
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"

/// Source of parameter values, which the IR references by symbol only.
class ParameterValues {
public:
  virtual ~ParameterValues();
  /// Returns the elements of the parameter `symbol` in row-major order, or
  /// nullopt if they are not known.
  virtual std::optional<std::vector<double>> read(StringRef symbol) = 0;
};

/// Creates -llm-analyze-quantization for constants and the parameters that
/// `parameters` provides.
std::unique_ptr<Pass>
createAnalyzeQuantization(const AnalyzeQuantizationOptions &options,
                          std::shared_ptr<ParameterValues> parameters);

/// Returns, by name, how often each pattern of these passes was applied in this
/// process; 0 for a pattern that never matched.
std::map<std::string, uint64_t> getPatternCounts();

/// Registers the option `--llm-print-pattern-counts` of a tool, which calls
/// printPatternCountsIfAsked after its passes have run. Each line holds a count
/// and the name of a pattern.
void registerPatternCountsOption();
void printPatternCountsIfAsked(llvm::raw_ostream &os);

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_PASSES_H
