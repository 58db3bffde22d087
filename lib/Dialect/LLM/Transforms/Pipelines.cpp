//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Transforms/Pipelines.h"

#include "llmir/Dialect/CheckOption.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::llm;

/// Equal ops once, in their canonical form.
static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// What each level does beyond the one below it.
static void addOptimizations(OpPassManager &pm, int64_t level) {
  if (level < 1)
    return;
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createFoldConstants());
  pm.addNestedPass<func::FuncOp>(createOptimizeKVCache());
  if (level >= 2)
    pm.addNestedPass<func::FuncOp>(createFuseAttention());
  if (level >= 3)
    pm.addNestedPass<func::FuncOp>(createOptimizeBlockSize());
  addCleanup(pm);
}

void mlir::llm::buildLLMOptimizationPipeline(
    OpPassManager &pm, const OptimizationPipelineOptions &options) {
  bool isDivided = options.numRanks != 1 || options.numStages != 1;
  if (options.level >= 2 || isDivided) {
    // Inlining first leaves each layer flat, so that equality and the plan of
    // the ranks see whole layers. It stands before the division only: stages
    // are functions that are called once, and must stay.
    pm.addPass(createInlineModules());
    pm.addPass(createDeduplicateFunctions());
  }
  if (isDivided) {
    // The plan knows the cache in its ragged form.
    pm.addNestedPass<func::FuncOp>(createLowerKVCacheOps());
    ShardOptions sharding;
    sharding.numRanks = options.numRanks;
    sharding.numStages = options.numStages;
    pm.addPass(createShard(sharding));
  }
  // Parts are cut from plain weights and quantized afterwards, so that each
  // rank's scales are its own.
  if (!options.quantize.empty()) {
    LLMQuantizeOptions quantization;
    quantization.scheme = options.quantize;
    quantization.activations = options.activations;
    pm.addPass(createLLMQuantize(quantization));
  }
  addOptimizations(pm, options.level);
  if (options.lower) {
    pm.addNestedPass<func::FuncOp>(createLowerKVCacheOps());
    pm.addNestedPass<func::FuncOp>(createLLMLowering());
    if (options.level >= 1)
      addCleanup(pm);
  }
  // Programs write the cache in place: a second use would see the new tokens.
  pm.addNestedPass<func::FuncOp>(createCheckCacheUse());
}

void mlir::llm::registerLLMOptimizationPipeline() {
  // Not a PassPipelineRegistration: its function cannot refuse a level.
  registerPassPipeline(
      "llm-optimization-pipeline",
      "The passes of the llm dialect, in the order in which they help each "
      "other",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> refuse) {
        OptimizationPipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        const std::string wrong = llmir::whyNotOption(
            options.level.ArgStr, options.level, /*least=*/0, /*most=*/3);
        if (!wrong.empty())
          return refuse(wrong);
        buildLLMOptimizationPipeline(pm, options);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> visit) {
        visit(OptimizationPipelineOptions());
      });
}
