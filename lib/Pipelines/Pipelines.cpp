//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/Pipelines.h"

#include "llmir/Codegen/Passes.h"
#include "llmir/Conversion/Passes.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/LLM/Transforms/Pipelines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace llmir {

void buildLLMStage(OpPassManager &pm, const LLMStageOptions &options) {
  ConvertMLLMToLLMOptions conversion;
  conversion.kvElementType = options.kvElementType;
  conversion.blockSize = options.blockSize;
  conversion.contextLength = options.contextLength;
  pm.addPass(createConvertMLLMToLLM(conversion));
}

void buildOptimizeStage(OpPassManager &pm) {
  mlir::llm::buildLLMOptimizationPipeline(
      pm, mlir::llm::OptimizationPipelineOptions());
}

void buildFunctionStage(OpPassManager &pm) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  // A program has a single pool, updated in place.
  pm.addNestedPass<func::FuncOp>(mlir::llm::createCheckCacheUse());
  pm.addNestedPass<func::FuncOp>(mlir::llm::createLowerKVCacheOps());
  pm.addPass(mlir::llm::createLLMLowering());
}

void buildProgramStage(OpPassManager &pm, const LowerStageOptions &options) {
  ConvertLLMToProgramOptions conversion;
  conversion.tokenBudget = options.tokenBudget;
  conversion.maxLogitRows = options.maxLogitRows;
  pm.addPass(createConvertLLMToProgram(conversion));
  pm.addPass(mllm::createSynchronizeProgram());
  pm.addPass(createPlanProgramMemory());
}

void buildKernelStage(OpPassManager &pm, const LowerStageOptions &options) {
  EmitKernelsOptions emission;
  emission.level = options.level;
  pm.addPass(createEmitKernels(emission));
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(createVectorizeRowTiles());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

void buildLLVMStage(OpPassManager &pm) {
  // Passes that look at one kernel at a time are nested, so that kernels are
  // lowered side by side.
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  // Subviews become offset arithmetic, which is lowered with the affine ops.
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  // Kernels take bare pointers as arguments.
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(functions));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addNestedPass<LLVM::LLVMFuncOp>(createReconcileUnrealizedCastsPass());
  pm.addPass(createConvertProgramToLLVM());
  OpPassManager &lowered = pm.nest<LLVM::LLVMFuncOp>();
  lowered.addPass(createCanonicalizerPass());
  lowered.addPass(createCSEPass());
}

void registerLLMIRPipelines() {
  PassPipelineRegistration<LLMStageOptions>(
      "llmir-llm-stage", "mllm to llm: ragged batch, paged KV cache",
      buildLLMStage);
  PassPipelineRegistration<>("llmir-optimize-stage",
                             "Merge equal layers into one function",
                             buildOptimizeStage);
  PassPipelineRegistration<>(
      "llmir-function-stage",
      "Decompose and fuse the ops of a function for kernels",
      buildFunctionStage);
  PassPipelineRegistration<LowerStageOptions>(
      "llmir-program-stage", "llm to program with planned memory",
      buildProgramStage);
  PassPipelineRegistration<LowerStageOptions>(
      "llmir-kernel-stage", "Kernels to loops and vectors", buildKernelStage);
  PassPipelineRegistration<>("llmir-llvm-stage", "Everything to LLVM",
                             buildLLVMStage);
}

} // namespace llmir
