//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-reduction: removes ops from functions, one at a time, as long as the
// test script considers the module interesting. MLIR's -reduction-tree erases
// ops without replacing their uses; if all ops of a function contribute to its
// result, no valid module remains.
//
//===----------------------------------------------------------------------===//

#include "ReduceFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;

/// A step changes the `index`-th candidate of its kind in a module, if
/// possible.
enum class StepResult { Done, NotThere, NoMoreOfThem };
using Step = StepResult (*)(ModuleOp module, unsigned index);

/// The `index`-th op in the bodies of functions that is not a terminator.
static Operation *findOp(ModuleOp module, unsigned index) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!op->getParentOfType<func::FuncOp>() ||
        op->hasTrait<OpTrait::IsTerminator>() || index-- != 0)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// The `index`-th value returned by a function of the module.
static OpOperand *findReturned(ModuleOp module, unsigned index) {
  for (auto function : module.getOps<func::FuncOp>())
    for (auto terminator : function.getOps<func::ReturnOp>())
      for (OpOperand &operand : terminator->getOpOperands())
        if (index-- == 0)
          return &operand;
  return nullptr;
}

/// Whether a function's type may change: it has no uses, and a single block.
static bool mayChangeType(func::FuncOp function) {
  return function.getBody().hasOneBlock() &&
         SymbolTable::symbolKnownUseEmpty(
             function, function->getParentOfType<ModuleOp>());
}

static StepResult dropFunction(ModuleOp module, unsigned index) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (index-- != 0)
      continue;
    if (!SymbolTable::symbolKnownUseEmpty(function, module))
      return StepResult::NotThere;
    function.erase();
    return StepResult::Done;
  }
  return StepResult::NoMoreOfThem;
}

static StepResult dropReturned(ModuleOp module, unsigned index) {
  OpOperand *returned = findReturned(module, index);
  if (!returned)
    return StepResult::NoMoreOfThem;
  Operation *terminator = returned->getOwner();
  auto function = cast<func::FuncOp>(terminator->getParentOp());
  if (!mayChangeType(function))
    return StepResult::NotThere;
  unsigned number = returned->getOperandNumber();
  terminator->eraseOperand(number);
  return succeeded(function.eraseResult(number)) ? StepResult::Done
                                                 : StepResult::NotThere;
}

/// Returns an operand of the returned value's defining op instead of the value.
static StepResult returnEarlier(ModuleOp module, unsigned index) {
  OpOperand *returned = findReturned(module, index);
  if (!returned)
    return StepResult::NoMoreOfThem;
  auto function = cast<func::FuncOp>(returned->getOwner()->getParentOp());
  Operation *producer = returned->get().getDefiningOp();
  if (!producer || producer->getNumOperands() == 0 || !mayChangeType(function))
    return StepResult::NotThere;
  Value input = producer->getOperand(0);
  returned->set(input);
  SmallVector<Type> results(function.getResultTypes());
  results[returned->getOperandNumber()] = input.getType();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), results));
  return StepResult::Done;
}

/// Replaces each result of an op by an operand of the same type.
static StepResult forwardOperand(ModuleOp module, unsigned index) {
  Operation *op = findOp(module, index);
  if (!op)
    return StepResult::NoMoreOfThem;
  SmallVector<Value> replacements;
  for (Value result : op->getResults()) {
    auto same = llvm::find_if(op->getOperands(), [&](Value operand) {
      return operand.getType() == result.getType();
    });
    if (same == op->getOperands().end())
      return StepResult::NotThere;
    replacements.push_back(*same);
  }
  op->replaceAllUsesWith(replacements);
  op->erase();
  return StepResult::Done;
}

/// Replaces the results of an op by new arguments of the function.
static StepResult makeArgument(ModuleOp module, unsigned index) {
  Operation *op = findOp(module, index);
  if (!op)
    return StepResult::NoMoreOfThem;
  auto function = op->getParentOfType<func::FuncOp>();
  if (!mayChangeType(function))
    return StepResult::NotThere;
  for (Value result : op->getResults()) {
    unsigned number = function.getNumArguments();
    if (failed(function.insertArgument(number, result.getType(), {},
                                       op->getLoc())))
      return StepResult::NotThere;
    result.replaceAllUsesWith(function.getArgument(number));
  }
  op->erase();
  return StepResult::Done;
}

/// Removes unused ops.
static void clean(ModuleOp module) {
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !mayChangeType(function))
      continue;
    for (unsigned number = function.getNumArguments(); number-- > 0;)
      if (function.getArgument(number).use_empty())
        (void)function.eraseArgument(number);
  }
}

namespace {

class ReduceFunctions
    : public PassWrapper<ReduceFunctions, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceFunctions)

  ReduceFunctions() = default;
  ReduceFunctions(const ReduceFunctions &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "llm-reduction"; }
  StringRef getDescription() const final {
    return "Remove ops from functions while the test finds them interesting";
  }

  void runOnOperation() override {
    if (!llvm::sys::fs::can_execute(test)) {
      getOperation().emitError()
          << "cannot be tested: '" << test
          << "' is not a program; give one with test=PROGRAM";
      return signalPassFailure();
    }
    Tester tester(test, {});
    auto isInteresting = [&](ModuleOp module) {
      return tester.isInteresting(module).first ==
             Tester::Interestingness::True;
    };
    if (!isInteresting(getOperation())) {
      getOperation().emitError() << "is not interesting to " << test
                                 << ": it must exit with a nonzero code";
      return signalPassFailure();
    }
    constexpr Step steps[] = {dropFunction, dropReturned, returnEarlier,
                              forwardOperand, makeArgument};
    for (bool changed = true; changed;) {
      changed = false;
      for (Step step : steps)
        changed |= repeat(step, isInteresting);
    }
  }

private:
  /// Applies `step` wherever the result is still interesting.
  bool repeat(Step step, function_ref<bool(ModuleOp)> isInteresting) {
    bool changed = false;
    for (unsigned index = 0;;) {
      OwningOpRef<ModuleOp> smaller = getOperation().clone();
      StepResult result = step(*smaller, index);
      if (result == StepResult::NoMoreOfThem)
        return changed;
      if (result == StepResult::Done)
        clean(*smaller);
      if (result == StepResult::Done && isValid(*smaller) &&
          isInteresting(*smaller)) {
        getOperation().getBodyRegion().takeBody(smaller->getBodyRegion());
        changed = true;
      } else {
        ++index;
      }
    }
  }

  /// Verifies without diagnostics: invalid modules are silently skipped.
  bool isValid(ModuleOp module) {
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) {});
    return succeeded(verify(module));
  }

  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("Program that is given a file name and exits with a "
                     "nonzero code if the file is interesting")};
};

} // namespace

void llmir::registerReduceFunctions() { PassRegistration<ReduceFunctions>(); }
