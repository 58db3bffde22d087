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

/// Where a buffer is touched, in phases and in ops of the fragment.
struct Touches {
  Lifetime phases, ops;
  /// The first op that touches the buffer may read it.
  bool readFirst;
};

/// A buffer with what the planner knows of it.
struct PlannedBuffer {
  BufferOp op;
  int64_t number; ///< In the order of first touch.
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

/// What a kernel only writes it does not read; anything else may be read.
static bool mayRead(OpOperand &use, FragmentOp fragment) {
  auto instruction = dyn_cast<InstructionOp>(use.getOwner());
  if (!instruction)
    return true;
  KernelOp kernel;
  for (FragmentOp other :
       fragment->getParentOfType<ModuleOp>().getOps<FragmentOp>())
    if (auto found = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
            other, instruction.getKernelAttr().getAttr())))
      kernel = found;
  unsigned inputs = instruction->getNumOperands();
  if (kernel)
    inputs -= std::min<int64_t>(countOutputs(kernel), inputs);
  return use.getOperandNumber() < inputs ||
         llvm::is_contained(instruction->getOperands().take_front(inputs),
                            use.get());
}

/// Where each buffer is touched, and the ranges of the loops.
static void collectTouches(FragmentOp fragment,
                           llvm::MapVector<Operation *, Touches> &buffers,
                           SmallVectorImpl<Touches> &loops) {
  int64_t phase = 0, number = 0;
  // What fields of the step context point to, kernels may read at any time.
  llvm::SmallDenseMap<uint64_t, BufferOp> pointers;
  auto touchPointers = [&] {
    for (auto [field, buffer] : pointers) {
      buffers[buffer].phases.include(phase);
      buffers[buffer].ops.include(number);
    }
  };
  llvm::StringMap<std::pair<int64_t, int64_t>> labels;
  for (Operation &op : fragment.getBody().front()) {
    ++number;
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (buffer.getBuffer().use_empty())
        buffers.insert({buffer, {{phase, phase}, {number, number}, false}});
    } else if (isa<BarrierOp>(op)) {
      ++phase;
    } else if (auto label = dyn_cast<LabelOp>(op)) {
      labels[label.getName()] = {phase, number};
    } else if (auto jump = dyn_cast<JumpNextLayerOp>(op)) {
      auto [labelPhase, labelNumber] = labels.lookup(jump.getLabel());
      loops.push_back({{labelPhase, phase}, {labelNumber, number}, false});
    }
    for (OpOperand &use : op.getOpOperands())
      if (auto buffer = use.get().getDefiningOp<BufferOp>()) {
        Touches first{{phase, phase}, {number, number}, mayRead(use, fragment)};
        Touches &touches = buffers.insert({buffer, first}).first->second;
        touches.phases.include(phase);
        touches.ops.include(number);
      }
    if (isa<InstructionOp>(op))
      touchPointers();
    else if (auto set = dyn_cast<SetFieldOp>(op)) {
      pointers.erase(set.getField());
      if (auto buffer = set.getBuffer()
                            ? set.getBuffer().getDefiningOp<BufferOp>()
                            : BufferOp())
        pointers[set.getField()] = buffer;
    }
  }
}

/// The phases in which the buffer's value may be needed. A buffer that is
/// touched both in a loop and outside carries a value into, through or out of
/// it, and one that is read before it is written carries a value from turn to
/// turn: both live as long as the loop. Others are written anew in each turn.
static Lifetime lifetimeOf(const Touches &buffer, ArrayRef<Touches> loops) {
  Lifetime life = buffer.phases;
  for (const Touches &loop : loops) {
    bool stays = buffer.ops.first > loop.ops.first &&
                 buffer.ops.last < loop.ops.last && !buffer.readFirst;
    if (buffer.ops.meets(loop.ops) && !stays) {
      life.include(loop.phases.first);
      life.include(loop.phases.last);
    }
  }
  return life;
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
    llvm::MapVector<Operation *, Touches> touches;
    SmallVector<Touches> loops;
    collectTouches(fragment, touches, loops);
    if (touches.empty())
      return;

    SmallVector<PlannedBuffer> buffers;
    for (auto &[op, where] : touches)
      buffers.push_back(
          {cast<BufferOp>(op), static_cast<int64_t>(buffers.size()),
           bufferBytes(cast<BufferOp>(op)), lifetimeOf(where, loops)});
    llvm::sort(buffers, [](const auto &a, const auto &b) {
      return std::make_pair(-a.bytes, a.number) <
             std::make_pair(-b.bytes, b.number);
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
