//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts subgraphs to functions of static shapes, and lowers the ops of
// functions and steps.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Conversion/BoundSizes.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

/// Converts a subgraph to a function with its body.
static func::FuncOp makeFunction(mllm::SubGraphOp subgraph) {
  OpBuilder builder(subgraph);
  auto function =
      func::FuncOp::create(builder, subgraph.getLoc(), subgraph.getSymName(),
                           cast<FunctionType>(subgraph.getFunctionType()));
  // Functions only have attributes of dialects.
  if (ArrayAttr attributes = subgraph.getArgAttrsAttr())
    for (auto [i, own] :
         llvm::enumerate(attributes.getAsRange<DictionaryAttr>()))
      for (NamedAttribute attribute : own)
        if (attribute.getName().strref().contains('.'))
          function.setArgAttr(i, attribute.getName(), attribute.getValue());
  if (auto ranges = subgraph->getAttr(kDimsAttr))
    function->setAttr(kDimsAttr, ranges);
  function.getBody().takeBody(subgraph.getBody());
  function.walk([](Operation *op) {
    OpBuilder before(op);
    if (auto end = dyn_cast<mllm::ReturnOp>(op)) {
      func::ReturnOp::create(before, op->getLoc(), end.getOperands());
      op->erase();
    } else if (auto call = dyn_cast<mllm::CallGraphOp>(op)) {
      auto made = func::CallOp::create(before, op->getLoc(), call.getCallee(),
                                       op->getResultTypes(), op->getOperands());
      op->replaceAllUsesWith(made.getResults());
      op->erase();
    }
  });
  return function;
}

void eraseModelCalls(ModuleOp module) {
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(module.getBody()->getOperations())))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.getNumRegions() == 0 &&
        op.use_empty() && !isa<SymbolOpInterface>(op) &&
        isa<mllm::MLLMDialect>(op.getDialect()))
      op.erase();
}

void makeFunctionsOfSubGraphs(ModuleOp module) {
  module.getContext()->loadDialect<func::FuncDialect>();
  llvm::StringSet<> called;
  module.walk([&](mllm::CallGraphOp call) {
    if (call->getParentOfType<mllm::SubGraphOp>())
      called.insert(call.getCallee());
  });
  eraseModelCalls(module);
  for (auto subgraph :
       llvm::make_early_inc_range(module.getOps<mllm::SubGraphOp>())) {
    func::FuncOp function = makeFunction(subgraph);
    if (called.contains(function.getSymName()))
      function.setPrivate();
    subgraph.erase();
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The type without its encoding; null, with a diagnostic, if a size is dynamic
/// or the tensor is on another device.
static Type plainType(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return value.getType();
  auto report = [&]() -> InFlightDiagnostic {
    Operation *op = value.getDefiningOp();
    return op ? op->emitOpError() : emitError(value.getLoc(), "an argument ");
  };
  if (!tensor.hasStaticShape()) {
    report() << "has the type " << tensor << "; functions require static sizes";
    return {};
  }
  if (mllm::deviceOf(tensor) != mllm::Device::CPU) {
    report() << "has the type " << tensor
             << "; only tensors on the CPU can be compiled";
    return {};
  }
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

static LogicalResult makeTypesPlain(func::FuncOp function) {
  WalkResult walk = function.walk([](Operation *op) {
    SmallVector<Value> values(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
    for (Value value : values) {
      Type plain = plainType(value);
      if (!plain)
        return WalkResult::interrupt();
      value.setType(plain);
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  Block &block = function.getBody().front();
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return success();
}

/// Sizes that exceed the limits of the interpreter.
static LogicalResult checkAffordable(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    reference::Shape shape; // In a step, of one token.
    for (int64_t size : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? 1 : size);
    if (Status status = reference::checkAffordable(shape); !status)
      return op->emitOpError("cannot be compiled: ") << status.message();
  }
  return success();
}

LogicalResult lowerMLLMOps(func::FuncOp function) {
  if (function.isExternal())
    return success();
  return lowerMLLMOps(function, /*step=*/nullptr);
}

LogicalResult lowerMLLMOps(func::FuncOp function, StepFunction *step) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa_and_present<mllm::MLLMDialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  function.getContext()
      ->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                    mlir::llm::LLMDialect, math::MathDialect,
                    tensor::TensorDialect>();
  if (!step && failed(makeTypesPlain(function)))
    return failure();
  LoweringState state;
  state.step = step;
  for (Operation *op : ops) {
    const LoweringTable::Lower *lower =
        LoweringTable::get().find(op, /*inStep=*/step != nullptr);
    if (!lower)
      continue;
    OpLowering lowering(op, state);
    if (failed(checkAffordable(op)) || failed((*lower)(lowering, op)))
      return failure();
  }
  return success();
}

} // namespace llmir
