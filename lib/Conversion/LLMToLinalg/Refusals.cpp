//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that convert-llm-to-linalg rejects, and alternatives.
//
//===----------------------------------------------------------------------===//

#include "LLMToLinalg.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

static std::string ofRanks(int64_t groupSize) {
  if (groupSize == 1)
    return {};
  return "it exchanges values among " + std::to_string(groupSize) +
         " ranks; run the ranks with -convert-llm-to-program, or exchange the "
         "values between functions of one rank each";
}

static std::string ofShard(ShardOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (op.getShardIndex() || !function ||
      !function->hasAttr(LLMDialect::getNumRanksAttrName()))
    return {};
  return "it depends on the rank that runs the function; specify a "
         "shard_index";
}

static std::string ofSample(SampleOp op) {
  if (op.getTemperature().isZero())
    return {};
  return "it uses the random number generator of the runtime; use a "
         "temperature of 0, or convert a function that returns the logits and "
         "sample from its result";
}

/// Whether an op of another dialect may have values of `llm` types.
static bool passesValues(Operation *op) {
  return isa<FunctionOpInterface, CallOpInterface, func::ReturnOp,
             BranchOpInterface, UnrealizedConversionCastOp>(op) ||
         isa<scf::SCFDialect>(op->getDialect());
}

static bool isOfDialect(Type type) {
  return isa<LLMDialect>(type.getDialect());
}

static std::string ofOtherDialect(Operation *op, const LinalgOptions &options) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Type type : types) {
    if (!isOfDialect(type))
      continue;
    std::string name;
    llvm::raw_string_ostream(name) << type;
    if (isa<PagedKVCacheType>(type) && !options.callsRuntime)
      return "it has a value of type " + name +
             ", which is not a tensor; with cache=runtime it becomes a pointer "
             "of the C runtime (llmir-c/KVCache.h)";
    if (!passesValues(op))
      return "it has a value of type " + name +
             ", which it does not support after conversion; convert the op "
             "first";
  }
  return {};
}

std::string whyRefused(Operation *op, const LinalgOptions &options) {
  if (!isa_and_present<LLMDialect>(op->getDialect()))
    return ofOtherDialect(op, options);
  if (isa<KVCacheOpInterface>(op) && !options.callsRuntime)
    return "it operates on a paged cache, which is not a tensor; with "
           "cache=runtime it calls the C runtime (llmir-c/KVCache.h)";
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<AllGatherOp, AllReduceOp, ReduceScatterOp>(
          [](auto exchange) { return ofRanks(exchange.getGroupSize()); })
      .Case([](ShardOp shard) { return ofShard(shard); })
      .Case([](SampleOp sample) { return ofSample(sample); })
      .Case([&](WeightOp weight) -> std::string {
        if (options.weightsAreArguments)
          return {};
        return "it refers to a parameter by name; with weights=arguments it "
               "becomes an argument of its function";
      })
      .Default([](Operation *) { return std::string(); });
}

} // namespace llmir
