//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedFunction.h"

#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Dialect/Check/Check.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace llmir {

LogicalResult runPasses(ModuleOp module,
                        llvm::function_ref<void(PassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  return passes.run(module);
}

static LogicalResult inlineCalls(ModuleOp module) {
  return runPasses(module, [](PassManager &pm) {
    pm.addPass(createInlinerPass());
    pm.addPass(createSymbolDCEPass());
  });
}

/// Copies the function and its callees into a new module and inlines the
/// callees.
FailureOr<func::FuncOp> PreparedFunction::copyFunction() {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("cannot be run: its body is not a single block");
  module = ModuleOp::create(function.getLoc());
  auto source = function->getParentOfType<ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  for (Operation &op : *source.getBody()) {
    if (!isa<func::FuncOp, mllm::RegisterOp>(op))
      continue;
    auto clone = dyn_cast<func::FuncOp>(builder.clone(op));
    if (clone && clone.getSymName() != function.getSymName())
      clone.setPrivate();
    else if (clone)
      clone.setPublic();
  }
  // Copies reachable functions only, since their ops must be inlinable.
  if (failed(runPasses(
          *module, [](PassManager &pm) { pm.addPass(createSymbolDCEPass()); })))
    return failure();
  if (failed(boundSizesOf(
          module->lookupSymbol<func::FuncOp>(function.getSymName()))))
    return failure();
  for (auto reached : module->getOps<func::FuncOp>())
    if (failed(lowerMLLMOps(reached)))
      return failure();
  if (failed(inlineCalls(*module)))
    return failure();
  return module->lookupSymbol<func::FuncOp>(function.getSymName());
}

/// Dynamic sizes become arguments, and tensors get their maximum sizes.
LogicalResult PreparedFunction::boundSizesOf(func::FuncOp copy) {
  if (!hasDynamicSizes(copy))
    return success();
  if (failed(inlineCalls(*module)))
    return failure();
  copy = module->lookupSymbol<func::FuncOp>(function.getSymName());
  FailureOr<BoundedSizes> sizesOfRuns = boundSizes(copy);
  if (failed(sizesOfRuns))
    return failure();
  bounded = std::move(*sizesOfRuns);
  parameters.resize(bounded->sizes.size()); // Provided in each run.
  return success();
}

/// The value of a parameter, possibly registered by an op of the mllm dialect.
static FailureOr<InterpreterValue>
valueOfWeight(mlir::llm::WeightOp weight, const InterpreterOptions &options) {
  if (weight->hasAttr(kParameterAttr) && options.parameter)
    return options.parameter(
        SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(
            weight, weight.getNameAttr()));
  if (!weight->hasAttr(kParameterAttr) && options.weight)
    return options.weight(weight);
  return weight.emitOpError("has no value");
}

/// Parameters become arguments, and operands of expectations become results.
LogicalResult PreparedFunction::prepare(const InterpreterOptions &options) {
  FailureOr<func::FuncOp> copy = copyFunction();
  if (failed(copy))
    return failure();
  idChecks = findIdChecks(*copy);
  Block &block = copy->getBody().front();
  Operation *end = block.getTerminator();
  SmallVector<Value> results(end->getOperands());
  SmallVector<Operation *> gone;
  for (Operation &op : block) {
    if (isa<check::ExpectCloseOp, check::ExpectEqualOp>(op)) {
      if (isa<mlir::llm::PagedKVCacheType>(op.getOperand(0).getType()))
        return op.emitOpError(
            "compares caches, which compiled code does not return");
      unsigned first = results.size();
      Expectation expectation{op.getLoc(), first, first + 1, std::nullopt};
      if (auto close = dyn_cast<check::ExpectCloseOp>(op))
        expectation.nmse = close.getNmse().convertToDouble();
      expectations.push_back(expectation);
      llvm::append_range(results, op.getOperands());
      gone.push_back(&op);
    }
  }
  // Regions of branches and loops may contain weights.
  SmallVector<mlir::llm::WeightOp> weights;
  copy->walk([&](mlir::llm::WeightOp weight) { weights.push_back(weight); });
  for (mlir::llm::WeightOp weight : weights) {
    FailureOr<InterpreterValue> value = valueOfWeight(weight, options);
    if (failed(value))
      return failure();
    parameters.push_back(std::move(*value));
    weight.getResult().replaceAllUsesWith(
        block.addArgument(weight.getType(), weight.getLoc()));
    gone.push_back(weight);
  }
  for (Operation *op : gone)
    op->erase();
  end->setOperands(results);
  // The attributes of the signature are read from the caller's function.
  (*copy)->removeAttr(copy->getArgAttrsAttrName());
  (*copy)->removeAttr(copy->getResAttrsAttrName());
  copy->setFunctionType(FunctionType::get(copy->getContext(),
                                          block.getArgumentTypes(),
                                          ValueRange(results).getTypes()));
  llvm::append_range(resultTypes, copy->getResultTypes());
  if (auto ranks = function->getAttrOfType<IntegerAttr>(
          mlir::llm::LLMDialect::getNumRanksAttrName()))
    numRanks = ranks.getInt();
  return success();
}

} // namespace llmir
