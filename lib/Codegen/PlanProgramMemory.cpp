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

/// The same time in three measures.
struct Span3 {
  /// Phases of a step of many tokens, and of one of few, which passes some
  /// barriers by.
  Lifetime many, few;
  Lifetime ops; ///< Ops of the fragment, as one worker goes through them.

  void include(const Span3 &other) {
    for (Lifetime Span3::*measure : {&Span3::many, &Span3::few, &Span3::ops}) {
      (this->*measure).include((other.*measure).first);
      (this->*measure).include((other.*measure).last);
    }
  }
};

/// A place in the code, as a span.
struct Place {
  int64_t many = 0, few = 0, op = 0;

  operator Span3() const { return {{many, many}, {few, few}, {op, op}}; }
};

/// Where a buffer is touched, or where a loop is.
struct Touches {
  Span3 span;
  /// The first op that touches the buffer may read it.
  bool readFirst;
};

/// A buffer with what the planner knows of it.
struct PlannedBuffer {
  BufferOp op;
  int64_t number; ///< In the order of first touch.
  int64_t bytes;
  Span3 life;
  bool perWorker;
  int64_t offset = 0;

  /// Whether both may be needed at the same time by different workers. What is
  /// per worker lies in the arena in steps of many tokens only.
  bool meetsInArena(const PlannedBuffer &other) const {
    bool manyOnly = perWorker || other.perWorker;
    return manyOnly ? life.many.meets(other.life.many)
                    : life.few.meets(other.life.few);
  }
  /// The same by one worker.
  bool meetsInWorker(const PlannedBuffer &other) const {
    return life.ops.meets(other.life.ops);
  }
};

constexpr int64_t kAlignment = 64;
/// What each worker has for itself is whole pages, so that neighbours meet in
/// one at most.
constexpr int64_t kWorkerAlignment = 4096;

} // namespace

/// With `mostRows`, of no more than so many rows.
static int64_t bufferBytes(BufferOp buffer, int64_t mostRows = INT64_MAX) {
  auto type = cast<MemRefType>(buffer.getBuffer().getType());
  int64_t elements = type.getNumElements();
  if (type.getRank() > 0 && type.getDimSize(0) > mostRows)
    elements = elements / type.getDimSize(0) * mostRows;
  int64_t bits = elements * type.getElementTypeBitWidth();
  return llvm::alignTo(llvm::divideCeil(bits, 8), kAlignment);
}

/// The kernel of that name, or null where it has become a function.
static KernelOp findKernel(FragmentOp user, FlatSymbolRefAttr name) {
  for (FragmentOp other :
       user->getParentOfType<ModuleOp>().getOps<FragmentOp>())
    if (auto kernel = dyn_cast_or_null<KernelOp>(
            SymbolTable::lookupSymbolIn(other, name.getAttr())))
      return kernel;
  return nullptr;
}

/// What a kernel only writes it does not read; anything else may be read. Of
/// several kernels the first that touches the buffer decides.
static bool mayRead(OpOperand &use, FragmentOp fragment) {
  auto instruction = dyn_cast<InstructionOp>(use.getOwner());
  if (!instruction)
    return true;
  for (const KernelCall &call : instruction.getCalls()) {
    if (!llvm::is_contained(call.buffers, use.get()))
      continue;
    KernelOp kernel = findKernel(fragment, call.kernel);
    size_t inputs = call.buffers.size();
    if (kernel)
      inputs -= std::min<size_t>(countOutputs(kernel), inputs);
    return llvm::is_contained(call.buffers.take_front(inputs), use.get());
  }
  return true;
}

/// Where each buffer is touched, and the ranges of the loops.
static void collectTouches(FragmentOp fragment,
                           llvm::MapVector<Operation *, Touches> &buffers,
                           SmallVectorImpl<Touches> &loops) {
  Place here;
  // What fields of the step context point to, kernels may read at any time.
  llvm::SmallDenseMap<uint64_t, BufferOp> pointers;
  auto touchPointers = [&] {
    for (auto [field, buffer] : pointers)
      buffers[buffer].span.include(here);
  };
  llvm::StringMap<Place> labels;
  for (Operation &op : fragment.getBody().front()) {
    ++here.op;
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (buffer.getBuffer().use_empty())
        buffers.insert({buffer, {here, false}});
    } else if (auto barrier = dyn_cast<BarrierOp>(op)) {
      here.many += !barrier.getIfSplit();
      here.few += !barrier.getUnlessFew() && !barrier.getIfSplit();
    } else if (auto label = dyn_cast<LabelOp>(op)) {
      labels[label.getName()] = here;
    } else if (auto jump = dyn_cast<JumpNextLayerOp>(op)) {
      Touches loop{labels.lookup(jump.getLabel()), false};
      loop.span.include(here);
      loops.push_back(loop);
    }
    for (OpOperand &use : op.getOpOperands())
      if (auto buffer = use.get().getDefiningOp<BufferOp>()) {
        Touches first{here, mayRead(use, fragment)};
        buffers.insert({buffer, first}).first->second.span.include(here);
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

/// The time in which the buffer's value may be needed. A buffer that is
/// touched both in a loop and outside carries a value into, through or out of
/// it, and one that is read before it is written carries a value from turn to
/// turn: both live as long as the loop. Others are written anew in each turn.
static Span3 lifetimeOf(const Touches &buffer, ArrayRef<Touches> loops) {
  Span3 life = buffer.span;
  for (const Touches &loop : loops) {
    bool stays = buffer.span.ops.first > loop.span.ops.first &&
                 buffer.span.ops.last < loop.span.ops.last && !buffer.readFirst;
    if (buffer.span.ops.meets(loop.span.ops) && !stays)
      life.include(loop.span);
  }
  return life;
}

/// Places each buffer, in order, at the lowest offset that none before it
/// covers which `meets` it; gives the bytes of all.
static int64_t placeAll(MutableArrayRef<PlannedBuffer> buffers,
                        bool (PlannedBuffer::*meets)(const PlannedBuffer &)
                            const) {
  int64_t total = 0;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (const PlannedBuffer &other : buffers.take_front(number))
      if ((other.*meets)(buffer))
        taken.emplace_back(other.offset, other.offset + other.bytes);
    llvm::sort(taken);
    for (auto [begin, end] : taken) {
      if (buffer.offset + buffer.bytes <= begin)
        break;
      buffer.offset = std::max(buffer.offset, end);
    }
    total = std::max(total, buffer.offset + buffer.bytes);
  }
  return total;
}

/// The largest first.
static void sortBySize(MutableArrayRef<PlannedBuffer> buffers) {
  llvm::sort(buffers, [](const auto &a, const auto &b) {
    return std::make_pair(-a.bytes, a.number) <
           std::make_pair(-b.bytes, b.number);
  });
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
           bufferBytes(cast<BufferOp>(op)), lifetimeOf(where, loops),
           cast<BufferOp>(op).getPerWorker()});
    sortBySize(buffers);
    int64_t total = placeAll(buffers, &PlannedBuffer::meetsInArena);
    if (fragment->hasAttr(kFewTokensAttr)) // The workers' pages follow.
      total = llvm::alignTo(total, kWorkerAlignment);
    for (PlannedBuffer &buffer : buffers) {
      buffer.op.setOffset(buffer.offset);
      unsharedBytes += buffer.bytes;
      ++numBuffers;
    }
    arenaBytes += total;
    fragment->setAttr(kArenaBytesAttr,
                      Builder(fragment).getI64IntegerAttr(total));
    planWorkers(fragment, buffers);
  }

  /// Places what each worker has for itself in a step of few tokens.
  void planWorkers(FragmentOp fragment, ArrayRef<PlannedBuffer> all) {
    auto few = fragment->getAttrOfType<IntegerAttr>(kFewTokensAttr);
    if (!few)
      return;
    SmallVector<PlannedBuffer> own;
    for (PlannedBuffer buffer : all)
      if (buffer.perWorker) {
        buffer.bytes = bufferBytes(buffer.op, few.getInt());
        buffer.offset = 0;
        own.push_back(buffer);
      }
    sortBySize(own);
    int64_t total = llvm::alignTo(placeAll(own, &PlannedBuffer::meetsInWorker),
                                  kWorkerAlignment);
    for (PlannedBuffer &buffer : own)
      buffer.op.setWorkerOffset(buffer.offset);
    workerBytes += total;
    fragment->setAttr(kWorkerBytesAttr,
                      Builder(fragment).getI64IntegerAttr(total));
  }
};
} // namespace

} // namespace llmir
