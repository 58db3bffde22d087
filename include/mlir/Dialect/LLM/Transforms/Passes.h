//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the `llm` dialect; Passes.td says what each does.
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

/// Registers all passes of this folder by their flags (registerLLMPasses).
#define GEN_PASS_REGISTRATION
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"

/// Where passes find the numbers of parameters, which IR only names.
class ParameterValues {
public:
  virtual ~ParameterValues();
  /// The numbers of the parameter of that symbol, in order; nullopt where they
  /// are not known.
  virtual std::optional<std::vector<double>> read(StringRef symbol) = 0;
};

/// -llm-analyze-quantization of constants and of the parameters that
/// `parameters` knows.
std::unique_ptr<Pass>
createAnalyzeQuantization(const AnalyzeQuantizationOptions &options,
                          std::shared_ptr<ParameterValues> parameters);

/// How often each pattern of these passes has fired in this process, by name;
/// 0 for one that was tried in vain.
std::map<std::string, uint64_t> getPatternCounts();

/// Makes `--llm-print-pattern-counts` an option of the tool; the tool calls
/// printPatternCountsIfAsked when its passes have run. A line is a count and
/// the name of a pattern.
void registerPatternCountsOption();
void printPatternCountsIfAsked(llvm::raw_ostream &os);

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_PASSES_H
