//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass pipelines of the compiler's stages: one function and one options
// struct each, also registered by name for llmir-opt.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PIPELINES_PIPELINES_H
#define LLMIR_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace llmir {

/// Options of the llm stage.
struct LLMStageOptions : mlir::PassPipelineOptions<LLMStageOptions> {
  Option<std::string> kvElementType{*this, "kv-element-type",
                                    llvm::cl::desc("f32, f16 or bf16"),
                                    llvm::cl::init("f32")};
  Option<int64_t> blockSize{
      *this, "block-size",
      llvm::cl::desc("tokens per KV block; 'llmir compile' has 64"),
      llvm::cl::init(16)};
  Option<int64_t> contextLength{
      *this, "context-length",
      llvm::cl::desc("longest sequence; 0 = the model's own"),
      llvm::cl::init(0)};
};

/// Options of the lower stage.
struct LowerStageOptions : mlir::PassPipelineOptions<LowerStageOptions> {
  Option<int64_t> tokenBudget{*this, "token-budget",
                              llvm::cl::desc("most tokens of a step"),
                              llvm::cl::init(512)};
  Option<int64_t> maxLogitRows{*this, "max-logit-rows",
                               llvm::cl::desc("most logits rows of a step"),
                               llvm::cl::init(64)};
  Option<std::string> level{*this, "level",
                            llvm::cl::desc("CPU level of CPULevels.def"),
                            llvm::cl::init("x86-64-v4")};
};

/// mllm → llm.
void buildLLMStage(mlir::OpPassManager &pm, const LLMStageOptions &options);
/// llm → llm: merges equal layers into one function and checks cache uses.
void buildOptimizeStage(mlir::OpPassManager &pm);
/// llm → llm, for functions other than steps: inlines calls and decomposes
/// batched and fused ops, so that all ops have kernels.
void buildFunctionStage(mlir::OpPassManager &pm);
/// llm → program with planned memory.
void buildProgramStage(mlir::OpPassManager &pm,
                       const LowerStageOptions &options);
/// Kernels → loops and vectors.
void buildKernelStage(mlir::OpPassManager &pm,
                      const LowerStageOptions &options);
/// Everything → the LLVM dialect.
void buildLLVMStage(mlir::OpPassManager &pm);

/// Registers the pipelines as llmir-llm-stage, llmir-optimize-stage,
/// llmir-function-stage, llmir-program-stage, llmir-kernel-stage and
/// llmir-llvm-stage.
void registerLLMIRPipelines();

} // namespace llmir

#endif // LLMIR_PIPELINES_PIPELINES_H
