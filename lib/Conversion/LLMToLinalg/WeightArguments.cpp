//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLMToLinalg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

namespace {

/// Converts parameters to arguments of functions and calls.
class WeightArguments {
public:
  explicit WeightArguments(ModuleOp module) : module(module) {
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      needs[function];
    // A caller needs the parameters of its callees; no call chain is longer
    // than the number of functions.
    for (size_t depth = 0; depth < functions.size(); ++depth)
      for (func::FuncOp function : functions)
        needs[function] = collect(function);
  }

  void rewrite() {
    for (auto &[function, weights] : needs)
      addArguments(function, weights);
    module.walk([&](func::CallOp call) { passWeights(call); });
  }

  llvm::MapVector<StringAttr, Type> all() {
    llvm::MapVector<StringAttr, Type> result;
    for (auto &[function, weights] : needs)
      for (auto &entry : weights)
        result.insert(entry);
    return result;
  }

private:
  using Weights = llvm::MapVector<StringAttr, Type>;

  func::FuncOp calleeOf(func::CallOp call) {
    return module.lookupSymbol<func::FuncOp>(call.getCallee());
  }

  /// In the order of first use.
  Weights collect(func::FuncOp function) {
    Weights result;
    function.walk([&](Operation *op) {
      if (auto weight = dyn_cast<WeightOp>(op))
        result.insert(
            {weight.getNameAttr().getAttr(), weight.getResult().getType()});
      if (auto call = dyn_cast<func::CallOp>(op))
        if (func::FuncOp callee = calleeOf(call))
          for (auto &entry : needs[callee])
            result.insert(entry);
    });
    return result;
  }

  void addArguments(func::FuncOp function, const Weights &weights) {
    llvm::DenseMap<StringAttr, Value> arguments;
    for (auto &[name, type] : weights) {
      unsigned next = function.getNumArguments();
      auto attributes = DictionaryAttr::get(
          module.getContext(),
          NamedAttribute(StringAttr::get(module.getContext(), "llmir.weight"),
                         name));
      if (failed(function.insertArgument(next, type, attributes,
                                         function.getLoc())))
        llvm_unreachable("functions of func have arguments of any type");
      arguments[name] = function.getArgument(next);
    }
    function.walk([&](WeightOp weight) {
      weight.getResult().replaceAllUsesWith(
          arguments[weight.getNameAttr().getAttr()]);
      weight.erase();
    });
  }

  void passWeights(func::CallOp call) {
    func::FuncOp callee = calleeOf(call);
    auto caller = call->getParentOfType<func::FuncOp>();
    if (!callee || !caller)
      return;
    // They are the trailing arguments of both functions.
    const Weights &given = needs[caller];
    const unsigned first = caller.getNumArguments() - unsigned(given.size());
    SmallVector<Value> operands(call.getOperands());
    for (auto &[name, type] : needs[callee])
      operands.push_back(caller.getArgument(
          first + unsigned(std::distance(given.begin(), given.find(name)))));
    call.getOperandsMutable().assign(operands);
  }

  ModuleOp module;
  llvm::MapVector<func::FuncOp, Weights> needs;
};

} // namespace

void makeWeightsArguments(ModuleOp module) {
  WeightArguments arguments(module);
  arguments.rewrite();
  for (auto &[name, type] : arguments.all())
    if (Operation *declaration = module.lookupSymbol(name))
      if (SymbolTable::symbolKnownUseEmpty(name, module))
        declaration->erase();
}

} // namespace llmir
