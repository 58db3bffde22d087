//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

#define GEN_PASS_DEF_FUSEPROGRAMINSTRUCTIONS
#include "llmir/Codegen/Passes.h.inc"

namespace {
struct FuseProgramInstructionsPass
    : impl::FuseProgramInstructionsBase<FuseProgramInstructionsPass> {
  using FuseProgramInstructionsBase::FuseProgramInstructionsBase;

  void runOnOperation() override {
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      for (KernelOp kernel : fragment.getBody().getOps<KernelOp>())
        outputs[kernel.getSymNameAttr()] = countOutputs(kernel);
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      if (fragment.getKind() == FragmentKind::Code)
        fuseAll(fragment.getBody().front());
  }

private:
  void fuseAll(Block &code);
  /// Whether an instruction reads what the one before it writes.
  bool isFed(InstructionOp first, InstructionOp second) const;
  InstructionOp fuse(InstructionOp first, InstructionOp second);
  /// How many of a call's buffers its kernel only reads: all of them where it
  /// is not declared.
  size_t numInputs(const KernelCall &call) const {
    size_t written = std::min<size_t>(outputs.lookup(call.kernel.getAttr()),
                                      call.buffers.size());
    return call.buffers.size() - written;
  }

  llvm::DenseMap<StringAttr, int64_t> outputs; ///< By kernel.
};
} // namespace

bool FuseProgramInstructionsPass::isFed(InstructionOp first,
                                        InstructionOp second) const {
  llvm::SmallDenseSet<Value> written;
  for (const KernelCall &call : first.getCalls())
    written.insert_range(call.buffers.drop_front(numInputs(call)));
  return llvm::any_of(second.getCalls(), [&](const KernelCall &call) {
    return llvm::any_of(call.buffers.take_front(numInputs(call)),
                        [&](Value buffer) { return written.contains(buffer); });
  });
}

InstructionOp FuseProgramInstructionsPass::fuse(InstructionOp first,
                                                InstructionOp second) {
  OpBuilder b(second);
  auto joined = [&](ArrayAttr front, ArrayAttr back) {
    SmallVector<Attribute> all(front.getValue());
    llvm::append_range(all, back);
    return b.getArrayAttr(all);
  };
  auto joinedCounts = [&](ArrayRef<int32_t> front, ArrayRef<int32_t> back) {
    SmallVector<int32_t> all(front);
    llvm::append_range(all, back);
    return b.getDenseI32ArrayAttr(all);
  };
  SmallVector<Value> buffers(first.getBuffers());
  llvm::append_range(buffers, second.getBuffers());
  auto fused = InstructionOp::create(
      b, b.getFusedLoc({first.getLoc(), second.getLoc()}),
      joined(first.getKernels(), second.getKernels()),
      joined(first.getWeights(), second.getWeights()),
      joinedCounts(first.getWeightCounts(), second.getWeightCounts()), buffers,
      joinedCounts(first.getBufferCounts(), second.getBufferCounts()),
      first.getReplicated());
  first.erase();
  second.erase();
  ++numFused;
  return fused;
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
