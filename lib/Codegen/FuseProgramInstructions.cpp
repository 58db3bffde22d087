//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmir::mllm::program;
using llmir::mllm::kernel::KernelOpInterface;

namespace llmir {

#define GEN_PASS_DEF_FUSEPROGRAMINSTRUCTIONS
#include "llmir/Codegen/Passes.h.inc"

namespace {
struct FuseProgramInstructionsPass
    : impl::FuseProgramInstructionsBase<FuseProgramInstructionsPass> {
  using FuseProgramInstructionsBase::FuseProgramInstructionsBase;

  void runOnOperation() override {
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      if (fragment.getKind() == FragmentKind::Code)
        fuseAll(fragment.getBody().front());
  }

private:
  void fuseAll(Block &code);
  InstructionOp fuse(InstructionOp first, InstructionOp second);
};
} // namespace

/// Whether an instruction reads a buffer that the one before it writes.
static bool isFed(InstructionOp first, InstructionOp second) {
  llvm::SmallDenseSet<Value> written;
  for (KernelOpInterface kernel : kernelsOf(first))
    for (OpOperand &operand : kernel->getOpOperands())
      if (kernel.writesOperand(operand))
        written.insert(operand.get());
  return llvm::any_of(kernelsOf(second), [&](KernelOpInterface kernel) {
    return llvm::any_of(kernel->getOpOperands(), [&](OpOperand &operand) {
      return kernel.readsOperand(operand) && written.contains(operand.get());
    });
  });
}

/// Moves the ops of the second instruction into the first one: weights after
/// its weights, kernels after its kernels.
InstructionOp FuseProgramInstructionsPass::fuse(InstructionOp first,
                                                InstructionOp second) {
  Block &body = first.getBody().front();
  auto firstKernel =
      llvm::find_if(body, [](Operation &op) { return !isa<GetWeightOp>(op); });
  for (Operation &op : llvm::make_early_inc_range(second.getBody().front()))
    op.moveBefore(&body, isa<GetWeightOp>(op) ? firstKernel : body.end());
  first->setLoc(
      FusedLoc::get(&getContext(), {first.getLoc(), second.getLoc()}));
  second.erase();
  ++numFused;
  return first;
}

void FuseProgramInstructionsPass::fuseAll(Block &code) {
  InstructionOp before;
  for (Operation &op : llvm::make_early_inc_range(code)) {
    auto instruction = dyn_cast<InstructionOp>(op);
    bool joins = before && instruction &&
                 before.getReplicated() == instruction.getReplicated() &&
                 isFed(before, instruction);
    before = joins ? fuse(before, instruction) : instruction;
  }
}

} // namespace llmir
