//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

#define GEN_PASS_DEF_PLANPROGRAMMEMORY
#include "llmir/Codegen/Passes.h.inc"

namespace {

/// An inclusive range of phases; a phase is what lies between two barriers.
struct Lifetime {
  int64_t first, last;

  void include(int64_t phase) {
    first = std::min(first, phase);
    last = std::max(last, phase);
  }
  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// A buffer with what the planner knows of it.
struct PlannedBuffer {
  BufferOp op;
  int64_t bytes;
  Lifetime life;
  int64_t offset = 0;
};

constexpr int64_t kAlignment = 64;

} // namespace

static int64_t bufferBytes(BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getBuffer().getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return llvm::alignTo(llvm::divideCeil(bits, 8), kAlignment);
}

/// Phases in which each buffer is touched, and the ranges of the loops.
static void collectLifetimes(FragmentOp fragment,
                             llvm::MapVector<Operation *, Lifetime> &lives,
                             SmallVectorImpl<Lifetime> &loops) {
  int64_t phase = 0;
  llvm::StringMap<int64_t> labels;
  for (Operation &op : fragment.getBody().front()) {
    if (isa<BarrierOp>(op))
      ++phase;
    else if (auto label = dyn_cast<LabelOp>(op))
      labels[label.getName()] = phase;
    else if (auto jump = dyn_cast<JumpNextLayerOp>(op))
      loops.push_back({labels.lookup(jump.getLabel()), phase});
    for (Value operand : op.getOperands())
      if (auto buffer = operand.getDefiningOp<BufferOp>())
        lives.try_emplace(buffer, Lifetime{phase, phase})
            .first->second.include(phase);
  }
}

/// A buffer that is touched both in a loop and outside carries a value into,
/// through or out of it: it lives as long as the loop. One that is touched in
/// the loop only is written anew in each turn.
static void extendOverLoops(Lifetime &life, ArrayRef<Lifetime> loops) {
  for (const Lifetime &loop : loops)
    if (life.meets(loop) && (life.first < loop.first || life.last > loop.last)) {
      life.include(loop.first);
      life.include(loop.last);
    }
}

/// Places the buffer at the lowest offset that no buffer alive at the same time
/// covers.
static void place(PlannedBuffer &buffer, ArrayRef<PlannedBuffer> placed) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (const PlannedBuffer &other : placed)
    if (other.life.meets(buffer.life))
      taken.emplace_back(other.offset, other.offset + other.bytes);
  llvm::sort(taken);
  for (auto [begin, end] : taken) {
    if (buffer.offset + buffer.bytes <= begin)
      break;
    buffer.offset = std::max(buffer.offset, end);
  }
}

namespace {
struct PlanProgramMemoryPass
    : impl::PlanProgramMemoryBase<PlanProgramMemoryPass> {
  using PlanProgramMemoryBase::PlanProgramMemoryBase;

  void runOnOperation() override {
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      if (fragment.getKind() == FragmentKind::Code)
        plan(fragment);
  }

private:
  void plan(FragmentOp fragment) {
    llvm::MapVector<Operation *, Lifetime> lives;
    SmallVector<Lifetime> loops;
    collectLifetimes(fragment, lives, loops);

    SmallVector<PlannedBuffer> buffers;
    for (auto &[op, life] : lives) {
      extendOverLoops(life, loops);
      buffers.push_back({cast<BufferOp>(op), bufferBytes(cast<BufferOp>(op)),
                         life});
    }
    llvm::stable_sort(buffers, [](const auto &a, const auto &b) {
      return a.bytes > b.bytes;
    });

    Builder builder(fragment);
    int64_t total = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
      place(buffers[i], ArrayRef(buffers).take_front(i));
      buffers[i].op.setOffset(buffers[i].offset);
      total = std::max(total, buffers[i].offset + buffers[i].bytes);
      unsharedBytes += buffers[i].bytes;
      ++numBuffers;
    }
    arenaBytes += total;
    fragment->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(total));
  }
};
} // namespace

} // namespace llmir
