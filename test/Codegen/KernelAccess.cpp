//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the accesses of workers of programs with one kernel.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

using namespace mlir;

namespace llmir::test {

std::vector<KernelPhase> phasesOf(ModuleOp module) {
  std::vector<KernelPhase> phases(1);
  for (FragmentOp fragment : module.getOps<FragmentOp>())
    for (Operation &op : fragment.getBody().front()) {
      auto barrier = dyn_cast<BarrierOp>(op);
      if (isa<LabelOp, JumpOp, JumpIfOp, JumpNextLayerOp, SetFieldOp,
              RuntimeCallOp>(op) ||
          (barrier && (barrier.getUnlessDecode() || barrier.getIfSplit())))
        return {};
      if (barrier)
        phases.emplace_back();
      if (auto instruction = dyn_cast<InstructionOp>(op))
        llvm::append_range(phases.back(), kernelsOf(instruction));
    }
  return phases;
}

/// The memory of an operand, in one of the blocks arena, KV pool and logits;
/// nullopt for a weight.
static std::optional<CheckedOperand>
operandOf(Value value, const std::vector<BufferPlace> &buffers) {
  CheckedOperand operand{};
  auto type = cast<MemRefType>(value.getType());
  operand.elementBytes = type.getElementTypeBitWidth() / 8;
  if (auto buffer = value.getDefiningOp<BufferOp>()) {
    for (const BufferPlace &place : buffers)
      if (place.offset == static_cast<int64_t>(*buffer.getOffset())) {
        operand.offset = place.offset;
        operand.columns = place.columns;
      }
  } else if (value.getDefiningOp<LogitsOp>()) {
    operand.block = 2;
    operand.columns = type.getDimSize(1);
  } else {
    return std::nullopt;
  }
  operand.rows = type.getDimSize(0);
  operand.stride = type.getDimSize(1);
  return operand;
}

/// Adds what the kernel touches in the checked step.
static void addAccesses(CheckedPhase &phase, const CheckedStep &step,
                        kernel::KernelOpInterface kernel,
                        const std::vector<BufferPlace> &buffers) {
  const auto other = step.context.split_attention
                         ? kernel::SplitCondition::UnlessSplit
                         : kernel::SplitCondition::IfSplit;
  if (kernel.getStatePart())
    phase.sharedBlocks.push_back(3);
  for (auto [number, access] : llvm::enumerate(kernel.getAccesses())) {
    if (access.condition == other)
      continue;
    if (!access.buffer) {
      if (access.writes)
        phase.sharedBlocks.push_back(1);
      continue;
    }
    std::optional<CheckedOperand> operand = operandOf(access.buffer, buffers);
    if (!operand)
      continue;
    operand->reads = access.reads;
    operand->writes = access.writes;
    operand->division = access.division;
    operand->usedRows = operand->rows;
    if (!kernel.hasFixedSize())
      operand->usedRows =
          std::min(operand->rows,
                   kernel.getRowsOf(kernel->getOpOperand(number), step.limits));
    phase.operands.push_back(*operand);
  }
}

void LoadedProgram::expectOwnAccesses(const StepInputs &inputs,
                                      int64_t workers) {
  CheckedStep checked;
  checked.function = image->step();
  checked.context = contextOf(inputs);
  checked.blocks = {
      {arena.data(), arena.size()},
      {inputs.pool, inputs.poolBytes},
      {reinterpret_cast<uint8_t *>(inputs.logits), inputs.logitsBytes},
      {inputs.states, inputs.stateBytes}};
  checked.limits.tokens = inputs.numTokens;
  checked.limits.logitRows = static_cast<int64_t>(inputs.logitRows.size());
  for (int32_t length : inputs.seqLens)
    checked.limits.contextLength =
        std::max<int64_t>(checked.limits.contextLength, length);
  std::string names;
  for (const KernelPhase &phase : phases) {
    checked.phases.emplace_back();
    for (kernel::KernelOpInterface kernel : phase) {
      addAccesses(checked.phases.back(), checked, kernel, buffers);
      names += " " + labelOf(kernel).str();
    }
  }
  std::string wrong = findWrongAccess(checked, workers);
  EXPECT_TRUE(wrong.empty()) << wrong << "; the kernels are" << names;
}

} // namespace llmir::test
