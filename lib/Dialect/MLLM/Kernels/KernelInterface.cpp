//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/Kernels/KernelInterface.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

#include "llmir/Dialect/MLLM/Kernels/KernelEnums.cpp.inc"
#include "llmir/Dialect/MLLM/Kernels/KernelInterface.cpp.inc"

namespace llmir::mllm::kernel {

static SmallVector<MemoryEffects::EffectInstance> effectsOf(Operation *op) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto effectOp = dyn_cast<MemoryEffectOpInterface>(op))
    effectOp.getEffects(effects);
  return effects;
}

template <typename Effect>
static bool affectsOperand(Operation *op, OpOperand &operand) {
  return llvm::any_of(effectsOf(op),
                      [&](const MemoryEffects::EffectInstance &effect) {
                        return isa<Effect>(effect.getEffect()) &&
                               effect.getEffectValue<OpOperand *>() == &operand;
                      });
}

bool readsOperand(Operation *op, OpOperand &operand) {
  return affectsOperand<MemoryEffects::Read>(op, operand);
}

bool writesOperand(Operation *op, OpOperand &operand) {
  return affectsOperand<MemoryEffects::Write>(op, operand);
}

SmallVector<KernelAccess> accessesOf(Operation *op) {
  auto kernel = cast<KernelOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> effects = effectsOf(op);
  SmallVector<KernelAccess> accesses;
  for (OpOperand &operand : op->getOpOperands())
    accesses.push_back({operand.get(), false, false,
                        kernel.getDivisionOf(operand),
                        kernel.getConditionOf(operand)});
  KernelAccess cache;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    KernelAccess *access = nullptr;
    if (auto *operand = effect.getEffectValue<OpOperand *>())
      access = &accesses[operand->getOperandNumber()];
    else if (isa<KVCacheResource>(effect.getResource()))
      access = &cache;
    else
      continue;
    access->reads |= isa<MemoryEffects::Read>(effect.getEffect());
    access->writes |= isa<MemoryEffects::Write>(effect.getEffect());
  }
  // Workers may access slots written by others.
  if (cache.reads || cache.writes)
    accesses.push_back(cache);
  return accesses;
}

Block *scalarRegionOf(Operation *op) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      return &region.front();
  return nullptr;
}

} // namespace llmir::mllm::kernel
