//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of equal layers become loops over the layer register.
//
//===----------------------------------------------------------------------===//

#include "StepConversion.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmir {

void StepConversion::bindCarried(func::CallOp first, Value operand,
                                 Value argument) {
  RowsValue value = values().lookup(operand);
  // The loop overwrites its value; a copy is kept for later uses, or if it is
  // also another carried value.
  if (!endsAt(withoutReshapes(operand), first) ||
      loopValues.contains(value.buffer)) {
    RowsValue own = value;
    own.buffer = createRows(first.getLoc(), value);
    copyRows(first.getLoc(), value, own);
    value = own;
  }
  loopValues.insert(value.buffer);
  bind(argument, value);
}

LogicalResult StepConversion::bindArguments(const LayerRun &run,
                                            func::FuncOp callee) {
  func::CallOp first = run.calls.front();
  for (auto [index, argument] : llvm::enumerate(callee.getArguments())) {
    Value operand = first.getOperand(index);
    // Another run of the function has bound its arguments to other values.
    values().erase(argument);
    parameters.erase(argument);
    fields.erase(argument);
    bool isCarried = run.carried.contains(index) &&
                     isa<RankedTensorType>(operand.getType()) &&
                     !fields.contains(operand);
    if (isCarried) {
      if (failed(lookup(first, operand)))
        return failure();
      bindCarried(first, operand, argument);
    } else if (auto known = run.parameters.find(index);
               known != run.parameters.end()) {
      if (failed(bindParameter(argument, known->second, run.firstLayer)))
        return failure();
    } else if (fields.contains(operand)) {
      StepField field = fields.lookup(operand);
      fields[argument] = field;
    } else if (!isa<RankedTensorType>(operand.getType()) &&
               matchPattern(operand, m_Constant())) {
      if (constantIndex(operand) == run.firstLayer)
        layerNumbers.insert(argument);
    } else if (values().contains(operand) || constantElements(operand)) {
      FailureOr<RowsValue> rows = lookup(first, operand);
      if (failed(rows))
        return failure();
      bind(argument, *rows);
    }
  }
  return success();
}

LogicalResult StepConversion::handOn(const LayerRun &run, func::FuncOp callee) {
  Operation *end = callee.getBody().front().getTerminator();
  llvm::DenseMap<Value, Value> written; // The current value of each buffer.
  auto isOverwritten = [&](Value buffer, Value value) {
    return written.lookup_or(buffer, value) != value;
  };
  for (auto [operand, result] : run.carried) {
    BlockArgument argument = callee.getArgument(operand);
    if (!values().contains(argument))
      continue; // The cache.
    Value value = end->getOperand(result);
    FailureOr<RowsValue> next = lookup(end, value);
    if (failed(next))
      return failure();
    RowsValue own = values().lookup(argument);
    if (isOverwritten(next->buffer, value))
      return end->emitOpError("passes result ")
             << result << " to the next layer in a buffer that another result "
             << "overwrites; a loop over layers cannot exchange carried values";
    copyRows(end->getLoc(), *next, own);
    bind(value, own);
    written[own.buffer] = value;
  }
  func::CallOp last = run.calls.back();
  llvm::DenseSet<Value> returned;
  for (auto [result, value] : llvm::zip(last.getResults(), end->getOperands()))
    if (!result.use_empty() && values().contains(value)) {
      RowsValue bound = values().lookup(value);
      if (isOverwritten(bound.buffer, value))
        return end->emitOpError("returns result ")
               << result.getResultNumber() << " in a buffer that the value "
               << "for the next layer overwrites";
      bind(result, bound);
      // A value that is returned twice is used by two results.
      if (!returned.insert(bound.buffer).second)
        sharedBuffers.insert(bound.buffer);
    }
  return success();
}

LogicalResult StepConversion::convertRun(const LayerRun &run) {
  func::CallOp first = run.calls.front();
  if (first->getParentOp() != step)
    return first.emitOpError(
        "is in a function that is called from @step; calls "
        "in layers are not supported, inline them first");
  auto callee = module.lookupSymbol<func::FuncOp>(first.getCallee());
  if (!callee || callee.isExternal())
    return first.emitOpError("calls @")
           << first.getCallee() << ", which has no body";
  if (failed(bindArguments(run, callee)))
    return failure();

  Location loc = first.getLoc();
  int64_t numLayers = run.calls.size();
  std::string label = "layers." + std::to_string(numLoops++);
  program.setLayer(loc, run.firstLayer);
  program.label(loc, label);
  currentLayer = std::nullopt;
  if (numLayers == 1)
    currentLayer = run.firstLayer;
  // Another run of the same function has other buffers.
  activations.clear();
  if (failed(convertBlock(callee.getBody().front())) ||
      failed(handOn(run, callee)))
    return failure();
  program.jumpNextLayer(loc, label, run.firstLayer + numLayers);
  currentLayer = run.firstLayer + numLayers;
  loopValues.clear();
  return success();
}

} // namespace llmir
