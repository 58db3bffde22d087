//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the `llm` dialect in the order in which they help each other.
//
//   OptimizationPipelineOptions options;
//   options.level = 2;
//   buildLLMOptimizationPipeline(pm, options);
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_TRANSFORMS_PIPELINES_H
#define MLIR_DIALECT_LLM_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::llm {

/// Options of `-llm-optimization-pipeline`.
struct OptimizationPipelineOptions
    : PassPipelineOptions<OptimizationPipelineOptions> {
  Option<int64_t> level{
      *this, "level",
      llvm::cl::desc("0: only what lowering needs; 1: canonical, each value "
                     "once, no dead or repeated cache ops; 2: also equal "
                     "functions as one, and fusion; 3: also the block size"),
      llvm::cl::init(2)};
  Option<std::string> quantize{
      *this, "quantize",
      llvm::cl::desc("scheme of -llm-quantize; empty: weights stay as they "
                     "are")};
  Option<std::string> activations{
      *this, "activations",
      llvm::cl::desc("what -llm-quantize does to inputs: none or int8"),
      llvm::cl::init("none")};
  Option<int64_t> numRanks{*this, "num-ranks",
                           llvm::cl::desc("ranks that share each layer"),
                           llvm::cl::init(1)};
  Option<int64_t> numStages{*this, "num-stages",
                            llvm::cl::desc("stages that share the layers"),
                            llvm::cl::init(1)};
  Option<bool> lower{*this, "lower",
                     llvm::cl::desc("end with the ops that have kernels"),
                     llvm::cl::init(true)};
};

/// Adds the passes of the pipeline. Levels and options mean what their
/// descriptions say; a level outside of 0 to 3, which the registered pipeline
/// refuses, means the nearest.
void buildLLMOptimizationPipeline(OpPassManager &pm,
                                  const OptimizationPipelineOptions &options);

/// Registers `-llm-optimization-pipeline`.
void registerLLMOptimizationPipeline();

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_PIPELINES_H
