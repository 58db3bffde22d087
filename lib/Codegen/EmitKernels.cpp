//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a function for each distinct kernel of a program and replaces the
// kernels with calls.
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/KernelEmitter.h"
#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llmir::mllm::program;
using llmir::mllm::kernel::KernelOpInterface;

namespace llmir {

#define GEN_PASS_DEF_EMITKERNELS
#include "llmir/Codegen/Passes.h.inc"

/// Whether two kernels can share a function. Labels and other discardable
/// attributes are ignored.
static bool areEqual(Operation *a, Operation *b) {
  auto haveEqualRegions = [](auto regions) {
    auto [left, right] = regions;
    return OperationEquivalence::isRegionEquivalentTo(
        &left, &right, OperationEquivalence::IgnoreLocations);
  };
  return a->getName() == b->getName() &&
         llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         a->getName().compareOpProperties(a->getPropertiesStorage(),
                                          b->getPropertiesStorage()) &&
         a->getNumRegions() == b->getNumRegions() &&
         llvm::all_of(llvm::zip(a->getRegions(), b->getRegions()),
                      haveEqualRegions);
}

namespace {
/// Emits the functions of a module's kernels.
class FunctionEmission {
public:
  FunctionEmission(ModuleOp module, const CPULevel &level)
      : module(module), symbols(module),
        emitters(KernelEmitters::forCPU(module.getContext())), level(level) {}

  /// Returns the kernel's function; emits it unless an equal kernel has one.
  FailureOr<func::FuncOp> functionFor(KernelOpInterface kernel);

  int64_t numFunctions() const { return functions.size(); }

private:
  FailureOr<func::FuncOp> emit(KernelOpInterface kernel);

  ModuleOp module;
  SymbolTable symbols;
  SharedFunctions shared{symbols};
  KernelEmitters emitters;
  const CPULevel &level;
  /// The first of each set of equal kernels, with their function, in order.
  SmallVector<std::pair<KernelOpInterface, func::FuncOp>> functions;
};
} // namespace

FailureOr<func::FuncOp>
FunctionEmission::functionFor(KernelOpInterface kernel) {
  for (auto [emitted, function] : functions)
    if (areEqual(emitted, kernel))
      return function;
  FailureOr<func::FuncOp> function = emit(kernel);
  if (succeeded(function))
    functions.emplace_back(kernel, *function);
  return function;
}

FailureOr<func::FuncOp> FunctionEmission::emit(KernelOpInterface kernel) {
  const KernelEmitters::Emitter *emitter = emitters.find(kernel);
  if (!emitter)
    return kernel->emitOpError("has no emitter for CPUs");
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  KernelBuilder kb(kernel.getLoc(), builder, level, shared);
  func::FuncOp function = kb.beginKernel(labelOf(kernel), kernel);
  if (failed((*emitter)(kb, kernel)))
    return failure();
  kb.endKernel();
  symbols.insert(function); // Makes its name unique.
  return function;
}

namespace {
struct EmitKernelsPass : impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const CPULevel *cpuLevel = findCPULevel(level);
    if (!cpuLevel) {
      module.emitError("unknown CPU level '") << level << "'";
      return signalPassFailure();
    }
    SmallVector<KernelOpInterface> kernels;
    for (auto fragment : module.getOps<FragmentOp>())
      for (auto instruction : fragment.getBody().getOps<InstructionOp>())
        llvm::append_range(kernels, kernelsOf(instruction));
    // Kernels are erased after all are emitted, since later ones are compared
    // with them.
    FunctionEmission emission(module, *cpuLevel);
    SmallVector<func::FuncOp> functions;
    for (KernelOpInterface kernel : kernels) {
      FailureOr<func::FuncOp> function = emission.functionFor(kernel);
      if (failed(function))
        return signalPassFailure();
      functions.push_back(*function);
    }
    for (auto [kernel, function] : llvm::zip_equal(kernels, functions))
      replaceByCall(kernel, function);
    numKernels += emission.numFunctions();
    for (auto fragment :
         llvm::make_early_inc_range(module.getOps<FragmentOp>()))
      if (fragment.getKind() == FragmentKind::Text)
        fragment.erase();
  }

private:
  static void replaceByCall(KernelOpInterface kernel, func::FuncOp function) {
    OpBuilder b(kernel);
    auto call = CallOp::create(b, kernel.getLoc(), function.getSymName(),
                               kernel->getOperands());
    call->setAttr(kLabelAttr, b.getStringAttr(labelOf(kernel)));
    kernel->erase();
  }
};
} // namespace

} // namespace llmir
