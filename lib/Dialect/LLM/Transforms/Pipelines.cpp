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

/// Canonicalize and merge equal ops.
static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Passes that each level adds.
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
    // Inline first, so that function merging and the sharding plan see whole
    // layers, but only before sharding: stages are functions with a single call
    // that must not be inlined.
    pm.addPass(createInlineModules());
    pm.addPass(createDeduplicateFunctions());
  }
  if (isDivided) {
    // The sharding plan handles the ragged form of cache ops only.
    pm.addNestedPass<func::FuncOp>(createLowerKVCacheOps());
    ShardOptions sharding;
    sharding.numRanks = options.numRanks;
    sharding.numStages = options.numStages;
    pm.addPass(createShard(sharding));
  }
  // Shard plain weights and quantize afterwards, so that each rank has its own
  // scales.
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
  // Programs update the cache in place: another use would see the new tokens.
  pm.addNestedPass<func::FuncOp>(createCheckCacheUse());
}

void mlir::llm::registerLLMOptimizationPipeline() {
  // Not a PassPipelineRegistration, whose builder function cannot reject a
  // level.
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
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(OptimizationPipelineOptions());
      });
}
