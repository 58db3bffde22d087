//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerRuns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmir {

/// The next call, if only weights and constants are in between; otherwise null.
static func::CallOp nextCall(func::CallOp call) {
  Operation *op = call->getNextNode();
  while (isa_and_nonnull<mlir::llm::WeightOp, arith::ConstantOp>(op))
    op = op->getNextNode();
  auto next = dyn_cast_or_null<func::CallOp>(op);
  return next && next.getCallee() == call.getCallee() ? next : nullptr;
}

std::optional<int64_t> constantIndex(Value value) {
  IntegerAttr attr;
  if (value.getType().isIndex() && matchPattern(value, m_Constant(&attr)))
    return attr.getInt();
  return std::nullopt;
}

FailureOr<int64_t> constantLayer(Operation *op, Value layer) {
  std::optional<int64_t> number = layer ? constantIndex(layer) : 0;
  if (!number)
    return op->emitOpError("requires a constant layer number, or one that is "
                           "the induction variable of an scf.for with constant "
                           "bounds");
  return *number;
}

/// The operands of `next` that are results of `call`; nullopt if the calls
/// differ in more than weights, layer and these operands.
static std::optional<llvm::MapVector<unsigned, unsigned>>
carriedBetween(func::CallOp call, func::CallOp next) {
  llvm::MapVector<unsigned, unsigned> carried;
  for (unsigned i = 0; i < call.getNumOperands(); ++i) {
    Value before = call.getOperand(i), after = next.getOperand(i);
    if (after.getDefiningOp() == call)
      carried[i] = cast<OpResult>(after).getResultNumber();
    else if (before.getDefiningOp<mlir::llm::WeightOp>() &&
             after.getDefiningOp<mlir::llm::WeightOp>())
      continue;
    else if (auto layer = constantIndex(before)) {
      if (constantIndex(after) != *layer + 1)
        return std::nullopt;
    } else if (before != after) {
      return std::nullopt;
    }
  }
  for (Operation *user : call->getUsers())
    if (user != next)
      return std::nullopt;
  return carried;
}

/// Adds the call's parameters to the run.
static LogicalResult addParameters(LayerRun &run, ModuleOp module,
                                   func::CallOp call) {
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    auto weight = operand.getDefiningOp<mlir::llm::WeightOp>();
    if (!weight)
      continue;
    auto parameter =
        module.lookupSymbol<mllm::RegisterOp>(weight.getNameAttr());
    if (!parameter)
      return weight.emitOpError("has no mllm.tensor.register");
    run.parameters[i].push_back(parameter);
  }
  return success();
}

FailureOr<LayerRun> LayerRun::startingAt(ModuleOp module, func::CallOp call) {
  LayerRun run;
  for (Value operand : call.getOperands())
    if (std::optional<int64_t> layer = constantIndex(operand))
      run.firstLayer = *layer;
  while (call) {
    run.calls.push_back(call);
    if (failed(addParameters(run, module, call)))
      return failure();
    func::CallOp next = nextCall(call);
    if (!next)
      break;
    auto carried = carriedBetween(call, next);
    bool fits = carried &&
                (run.calls.size() == 1 || llvm::equal(*carried, run.carried));
    if (!fits)
      break;
    run.carried = *carried;
    call = next;
  }
  return run;
}

} // namespace llmir
