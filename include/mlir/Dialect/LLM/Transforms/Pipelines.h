//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline of `llm` dialect passes.
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
      llvm::cl::desc("0: only what lowering needs; 1: canonicalization, CSE "
                     "and cache op cleanup; 2: also function merging and "
                     "fusion; 3: also the block size"),
      llvm::cl::init(2)};
  Option<std::string> quantize{
      *this, "quantize",
      llvm::cl::desc("scheme of -llm-quantize; empty: no quantization")};
  Option<std::string> activations{
      *this, "activations",
      llvm::cl::desc("quantization of inputs by -llm-quantize: none or int8"),
      llvm::cl::init("none")};
  Option<int64_t> numRanks{
      *this, "num-ranks",
      llvm::cl::desc("number of ranks that each layer is sharded among"),
      llvm::cl::init(1)};
  Option<int64_t> numStages{*this, "num-stages",
                            llvm::cl::desc("number of pipeline stages"),
                            llvm::cl::init(1)};
  Option<bool> lower{*this, "lower",
                     llvm::cl::desc("decompose ops without kernels at the end"),
                     llvm::cl::init(true)};
};

/// Adds the passes of the pipeline. A level outside 0 to 3 is clamped; the
/// registered pipeline rejects it.
void buildLLMOptimizationPipeline(OpPassManager &pm,
                                  const OptimizationPipelineOptions &options);

/// Registers `-llm-optimization-pipeline`.
void registerLLMOptimizationPipeline();

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_TRANSFORMS_PIPELINES_H
