//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardStages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::llm;

namespace {

/// Splits one function into stages.
class StageSplit {
public:
  StageSplit(func::FuncOp function, int64_t numStages)
      : function(function), numStages(numStages), stages(numStages) {}

  /// Assigns each op its stage.
  LogicalResult assign();
  /// Creates the functions of the stages and calls them.
  void outline();

  int64_t numLayers = 0;

private:
  std::optional<int64_t> layerOf(Operation *op) const;
  void outlineStage(int64_t stage, Operation *end);

  func::FuncOp function;
  int64_t numStages;
  SmallVector<SmallVector<Operation *>> stages;
};

} // namespace

/// Weights and constants belong to every stage that uses them.
static bool isCopied(Operation *op) {
  return op->getNumOperands() == 0 && isPure(op) && op->getNumRegions() == 0;
}

/// The layer that an op uses: the layer operand of a cache op, or the only
/// constant index operand of a call of a layer function.
std::optional<int64_t> StageSplit::layerOf(Operation *op) const {
  Value layer;
  if (auto cacheOp = dyn_cast<KVCacheOpInterface>(op)) {
    layer = cacheOp.getLayerOperand();
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    bool touchesCache = llvm::any_of(call.getOperandTypes(), [](Type type) {
      return isa<PagedKVCacheType>(type);
    });
    for (Value operand : call.getOperands())
      if (touchesCache && operand.getType().isIndex())
        layer = operand;
  }
  APInt number;
  if (layer && matchPattern(layer, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

LogicalResult StageSplit::assign() {
  Block &body = function.getBody().front();
  for (Operation &op : body)
    if (std::optional<int64_t> layer = layerOf(&op))
      numLayers = std::max(numLayers, *layer + 1);
  if (numLayers < numStages)
    return function.emitError("has ")
           << numLayers << " layers, too few for " << numStages << " stages";

  int64_t current = 0;
  for (Operation &op : body.without_terminator()) {
    if (isCopied(&op))
      continue;
    if (std::optional<int64_t> layer = layerOf(&op)) {
      int64_t stage = *layer * numStages / numLayers;
      if (stage < current)
        return op.emitError("uses layer ")
               << *layer << " after a layer of stage " << current
               << "; pipeline stages require layers in ascending order";
      current = stage;
    }
    stages[current].push_back(&op);
  }
  return success();
}

/// Moves the ops of a stage into a new function that is called before `end`.
void StageSplit::outlineStage(int64_t stage, Operation *end) {
  ArrayRef<Operation *> ops = stages[stage];
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Operation *> copied;
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isInside = [&](Operation *op) {
    Operation *top = function.getBody().front().findAncestorOpInBlock(*op);
    return top && inside.contains(top);
  };
  SmallVector<Value> outputs;
  for (Operation *op : ops) {
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && isInside(producer))
          continue;
        if (producer && isCopied(producer))
          copied.insert(producer);
        else if (operand.getParentBlock() == &function.getBody().front())
          inputs.insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !isInside(user); }))
        outputs.push_back(result);
  }

  OpBuilder builder(function);
  SmallVector<Type> inputTypes, outputTypes;
  for (Value input : inputs)
    inputTypes.push_back(input.getType());
  for (Value output : outputs)
    outputTypes.push_back(output.getType());
  auto part = func::FuncOp::create(
      builder, function.getLoc(),
      (function.getSymName() + ".stage" + Twine(stage)).str(),
      builder.getFunctionType(inputTypes, outputTypes));
  part.setPrivate();
  part->setAttr(LLMDialect::getStageAttrName(),
                builder.getI64IntegerAttr(stage));
  if (Attribute ranks = function->getAttr(LLMDialect::getNumRanksAttrName()))
    part->setAttr(LLMDialect::getNumRanksAttrName(), ranks);

  Block *body = part.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body->getArguments());
  for (Operation *op : copied)
    builder.clone(*op, mapping);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> returned;
  for (Value output : outputs)
    returned.push_back(mapping.lookup(output));
  func::ReturnOp::create(builder, function.getLoc(), returned);

  builder.setInsertionPoint(end);
  auto call = func::CallOp::create(builder, function.getLoc(), part,
                                   inputs.getArrayRef());
  for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

void StageSplit::outline() {
  Operation *end = function.getBody().front().getTerminator();
  for (int64_t stage = 0; stage < numStages; ++stage)
    if (!stages[stage].empty())
      outlineStage(stage, end);
}

LogicalResult mlir::llm::splitIntoStages(ModuleOp module, int64_t numStages) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!function.isPublic() || function.isExternal())
      continue;
    bool touchesCache = false;
    function.walk([&](Operation *op) {
      touchesCache |= isa<KVCacheOpInterface>(op) ||
                      llvm::any_of(op->getOperandTypes(), [](Type type) {
                        return isa<PagedKVCacheType>(type);
                      });
    });
    if (!touchesCache)
      continue;
    if (!function.getBody().hasOneBlock())
      return function.emitError(
          "has several blocks; pipeline stages require straight-line code");
    StageSplit split(function, numStages);
    if (failed(split.assign()))
      return failure();
    split.outline();
  }
  return success();
}
