//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Support/IntervalPlanner.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace llmir::mllm::program;
using llmir::mllm::kernel::KernelOpInterface;

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

/// Where a buffer is touched.
struct Touches {
  Span3 span;
  /// The first op that touches the buffer may read what the turn before, of a
  /// loop around it, has left there.
  bool readFirst;
};

/// The code between a label and a jump back to it.
struct Loop {
  Span3 span;
  Operation *jump;
};

/// The buffers to which each field of the step context may point.
using Pointers = std::map<uint64_t, llvm::SmallSetVector<Operation *, 2>>;

/// What may still go on since the last barrier, and what fields point to.
struct UnderWay {
  /// Whether anything in the arena is touched, in steps of many tokens and of
  /// few.
  bool many = false, few = false;
  /// What may have been written, and the numbers by which workers have found
  /// their way, since the last barrier of both kinds of steps.
  llvm::SmallSetVector<Value, 8> written, decided;
  /// What fields of the step context point to, kernels may read at any time.
  Pointers pointers;

  size_t size() const {
    size_t all = size_t(many) + size_t(few) + written.size() + decided.size();
    for (const auto &pointer : pointers)
      all += pointer.second.size();
    return all;
  }
  /// Whether that has brought anything new.
  bool include(const UnderWay &other) {
    const size_t before = size();
    many |= other.many;
    few |= other.few;
    written.insert_range(other.written);
    decided.insert_range(other.decided);
    for (const auto &pointer : other.pointers)
      pointers[pointer.first].insert_range(pointer.second);
    return size() != before;
  }
};

/// A jump to a label behind it, until that is found.
struct ForwardJump {
  Place from;
  UnderWay underWay;
};

/// What may be passed over: the ops between a jump and its label, exclusive.
struct Branch {
  int64_t from, to;

  /// Whether a buffer touched in the span may be without its first touch when
  /// it is touched behind the branch.
  bool maySkipFirst(const Lifetime &ops) const {
    return from < ops.first && ops.first < to && ops.last > to;
  }
};

/// A buffer with what the planner knows of it.
struct PlannedBuffer {
  BufferOp op;
  int64_t bytes;
  Span3 life;
  bool perWorker;
};

constexpr int64_t kAlignment = 64;
/// What each worker has for itself is whole pages, so that neighbours meet in
/// one at most.
constexpr int64_t kWorkerAlignment = 4096;
/// So much and no more, so that sums of sizes fit into 63 bits.
constexpr int64_t kMostBufferBytes = int64_t(1) << 46;
constexpr int64_t kMostBuffers = int64_t(1) << 16;

} // namespace

/// With `mostRows`, of no more than so many rows; nothing where that is more
/// than a buffer may have.
static std::optional<int64_t> bufferBytes(BufferOp buffer,
                                          int64_t mostRows = INT64_MAX) {
  auto type = cast<MemRefType>(buffer.getBuffer().getType());
  int64_t bits = type.getElementTypeBitWidth();
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    int64_t used = dimension == 0 ? std::min(size, mostRows) : size;
    if (llvm::MulOverflow(bits, used, bits))
      return std::nullopt;
  }
  int64_t bytes = llvm::divideCeil(bits, 8);
  if (bytes > kMostBufferBytes)
    return std::nullopt;
  return static_cast<int64_t>(llvm::alignTo(bytes, kAlignment));
}

/// The ops that access buffers: the kernels of an instruction, or, once code is
/// emitted, its calls; or the op itself.
static SmallVector<Operation *> accessesOf(Operation &op) {
  auto instruction = dyn_cast<InstructionOp>(op);
  if (!instruction)
    return {&op};
  SmallVector<Operation *> work;
  for (Operation &nested : instruction.getBody().front())
    if (!isa<GetWeightOp>(nested))
      work.push_back(&nested);
  return work;
}

/// The buffers that the op accesses, some of them perhaps several times.
static SmallVector<Value> touchedBuffers(Operation &op) {
  SmallVector<Value> buffers;
  for (Operation *work : accessesOf(op))
    llvm::copy_if(work->getOperands(), std::back_inserter(buffers),
                  [](Value v) { return !v.getDefiningOp<GetWeightOp>(); });
  return buffers;
}

/// Whether a kernel accesses the buffer in that way; another op may.
template <typename Accesses>
static bool mayAccess(Operation *op, Value buffer, Accesses accesses) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return !kernel || llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() == buffer && accesses(kernel, operand);
  });
}

static bool mayRead(Operation *op, Value buffer) {
  return mayAccess(op, buffer,
                   [](KernelOpInterface kernel, OpOperand &operand) {
                     return kernel.readsOperand(operand);
                   });
}

static bool mayWrite(Operation *op, Value buffer) {
  return mayAccess(op, buffer,
                   [](KernelOpInterface kernel, OpOperand &operand) {
                     return kernel.writesOperand(operand);
                   });
}

static bool isPerWorker(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  return op && op.getPerWorker();
}

namespace {
/// Goes through a code fragment and notes where each buffer is touched, and
/// where jumps lead.
class TouchCollector {
public:
  explicit TouchCollector(FragmentOp fragment) : fragment(fragment) {}

  /// Fails where workers could meet in a way that no plan prevents.
  LogicalResult collect();

  llvm::MapVector<Operation *, Touches> buffers;
  SmallVector<Loop> loops;

private:
  /// Goes through the code once, with what `arriving` says so far.
  LogicalResult goThrough();
  LogicalResult visit(Operation &op);
  void touch(Operation *buffer, bool reads);
  void wait(BarrierOp barrier);
  LogicalResult run(Operation &op);
  LogicalResult jump(Operation *op, StringRef label);
  LogicalResult decide(JumpIfOp jump);
  void arrive(const ForwardJump &jump);
  void setField(SetFieldOp set);
  LogicalResult checkNesting();

  FragmentOp fragment;
  SmallVector<Branch> branches;
  Place here;
  UnderWay underWay;
  llvm::StringMap<Place> labels; ///< Those before this place.
  llvm::StringMap<std::vector<ForwardJump>> waiting;
  /// What jumps back bring along to their labels.
  llvm::StringMap<UnderWay> arriving;
  /// A jump back has brought along what its label did not know.
  bool isNews = false;
};
} // namespace

/// Until no jump back brings anything new to its label: there are no more of
/// that than buffers and fields, since both sets only grow.
LogicalResult TouchCollector::collect() {
  do {
    buffers.clear();
    loops.clear();
    branches.clear();
    labels.clear();
    waiting.clear();
    here = Place();
    underWay = UnderWay();
    isNews = false;
    if (failed(goThrough()))
      return failure();
  } while (isNews);
  return checkNesting();
}

void TouchCollector::touch(Operation *buffer, bool reads) {
  buffers.insert({buffer, {here, reads}}).first->second.span.include(here);
}

LogicalResult TouchCollector::goThrough() {
  for (Operation &op : fragment.getBody().front()) {
    ++here.op;
    if (failed(visit(op)))
      return failure();
    for (Operation *work : accessesOf(op))
      for (Value operand : work->getOperands())
        if (auto buffer = operand.getDefiningOp<BufferOp>())
          touch(buffer, mayRead(work, operand));
    if (isa<InstructionOp>(op)) {
      for (const auto &pointer : underWay.pointers)
        for (Operation *buffer : pointer.second)
          touch(buffer, /*reads=*/true);
    } else if (auto set = dyn_cast<SetFieldOp>(op)) {
      setField(set);
    } else if (auto conditional = dyn_cast<JumpIfOp>(op);
               conditional && failed(jump(&op, conditional.getLabel()))) {
      return failure();
    }
  }
  for (auto &[op, touches] : buffers)
    for (const Branch &branch : branches)
      touches.readFirst |= branch.maySkipFirst(touches.span.ops);
  return success();
}

LogicalResult TouchCollector::visit(Operation &op) {
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    if (buffer.getBuffer().use_empty())
      buffers.insert({buffer, {here, false}});
  } else if (auto barrier = dyn_cast<BarrierOp>(op)) {
    wait(barrier);
  } else if (auto label = dyn_cast<LabelOp>(op)) {
    labels[label.getName()] = here;
    underWay.include(arriving[label.getName()]);
    for (const ForwardJump &jump : waiting.lookup(label.getName()))
      arrive(jump);
  } else if (auto next = dyn_cast<JumpNextLayerOp>(op)) {
    return jump(&op, next.getLabel());
  } else if (auto always = dyn_cast<JumpOp>(op)) {
    return jump(&op, always.getLabel());
  } else if (auto conditional = dyn_cast<JumpIfOp>(op)) {
    return decide(conditional);
  } else if (isa<InstructionOp, RuntimeCallOp>(op)) {
    return run(op);
  }
  return success();
}

void TouchCollector::wait(BarrierOp barrier) {
  bool ofMany = !barrier.getIfSplit();
  bool ofFew = ofMany && !barrier.getUnlessFew();
  here.many += ofMany;
  here.few += ofFew;
  underWay.many &= !ofMany;
  underWay.few &= !ofFew;
  if (ofMany && ofFew) {
    underWay.written.clear();
    underWay.decided.clear();
  }
}

LogicalResult TouchCollector::run(Operation &op) {
  SmallVector<Value> buffers = touchedBuffers(op);
  underWay.many |= !buffers.empty() || !underWay.pointers.empty();
  underWay.few |=
      !llvm::all_of(buffers, isPerWorker) || !underWay.pointers.empty();
  for (Value buffer : buffers) {
    if (llvm::none_of(accessesOf(op), [&](Operation *work) {
          return llvm::is_contained(work->getOperands(), buffer) &&
                 mayWrite(work, buffer);
        }))
      continue;
    underWay.written.insert(buffer);
    if (underWay.decided.contains(buffer))
      return op.emitOpError("writes the number by which a jump before it goes; "
                            "a barrier must stand between them, since others "
                            "may still read it");
  }
  return success();
}

/// All workers must read the same number.
LogicalResult TouchCollector::decide(JumpIfOp jump) {
  Value condition = jump.getCondition();
  if (underWay.written.contains(condition))
    return jump.emitOpError("reads a number that an instruction since the last "
                            "barrier may have written; a barrier must stand "
                            "before it, or workers go different ways");
  underWay.decided.insert(condition);
  return success();
}

LogicalResult TouchCollector::jump(Operation *op, StringRef label) {
  auto target = labels.find(label);
  if (target == labels.end()) {
    waiting[label].push_back({here, underWay});
    return success();
  }
  if (underWay.many || underWay.few)
    return op->emitOpError("goes back while what runs since the last barrier "
                           "may still run; a barrier must stand before it");
  Loop loop{target->second, op};
  loop.span.include(here);
  loops.push_back(loop);
  // The next turn may read what fields point to now, and others may still find
  // their way when it begins.
  isNews |= arriving[label].include(underWay);
  auto mayStillBeRead = [&](Operation *buffer) {
    // What is touched only behind this place was found at another jump.
    if (auto found = buffers.find(buffer); found != buffers.end())
      found->second.readFirst = true;
  };
  for (const auto &pointer : underWay.pointers)
    llvm::for_each(pointer.second, mayStillBeRead);
  for (Value condition : underWay.decided)
    if (auto buffer = condition.getDefiningOp<BufferOp>())
      mayStillBeRead(buffer);
  return success();
}

/// Whoever jumps passes over the barriers on the way: what runs before the jump
/// and behind the last barrier may still be running behind the label, and the
/// number that decides may still be read.
void TouchCollector::arrive(const ForwardJump &jump) {
  branches.push_back({jump.from.op, here.op});
  // What may run still does so behind the label, whatever barriers stand before
  // it on the way without the jump.
  underWay.include(jump.underWay);
  auto extend = [&](Lifetime Span3::*measure, int64_t phase, int64_t now) {
    for (auto &[op, touches] : buffers)
      if (Lifetime &life = touches.span.*measure;
          life.first <= phase && phase <= life.last)
        life.include(now);
  };
  if (jump.underWay.many)
    extend(&Span3::many, jump.from.many, here.many);
  if (jump.underWay.few)
    extend(&Span3::few, jump.from.few, here.few);
  for (Value condition : jump.underWay.decided)
    if (auto buffer = condition.getDefiningOp<BufferOp>())
      touch(buffer, /*reads=*/true);
}

/// A buffer's life is that of the loops around it, one by one, which holds
/// where each of two loops is inside or outside of the other.
LogicalResult TouchCollector::checkNesting() {
  SmallVector<const Loop *> order;
  for (const Loop &loop : loops)
    order.push_back(&loop);
  llvm::sort(order, [](const Loop *a, const Loop *b) {
    return std::pair(a->span.ops.first, -a->span.ops.last) <
           std::pair(b->span.ops.first, -b->span.ops.last);
  });
  SmallVector<const Loop *> around;
  for (const Loop *loop : order) {
    while (!around.empty() &&
           around.back()->span.ops.last < loop->span.ops.first)
      around.pop_back();
    if (!around.empty() && around.back()->span.ops.last < loop->span.ops.last) {
      InFlightDiagnostic diag = loop->jump->emitOpError(
          "ends a loop that begins inside of another and goes on behind it");
      diag.attachNote(around.back()->jump->getLoc()) << "the other ends here";
      return diag;
    }
    around.push_back(loop);
  }
  return success();
}

void TouchCollector::setField(SetFieldOp set) {
  underWay.pointers.erase(set.getField());
  if (auto buffer = set.getBuffer() ? set.getBuffer().getDefiningOp<BufferOp>()
                                    : BufferOp())
    underWay.pointers[set.getField()].insert(buffer);
}

/// The time in which the buffer's value may be needed. A buffer that is
/// touched both in a loop and outside carries a value into, through or out of
/// it, and one that is read before it is written carries a value from turn to
/// turn: both live as long as the loop. Others are written anew in each turn.
static Span3 lifetimeOf(const Touches &buffer, ArrayRef<Loop> loops) {
  Span3 life = buffer.span;
  for (const Loop &loop : loops) {
    bool stays = buffer.span.ops.first > loop.span.ops.first &&
                 buffer.span.ops.last < loop.span.ops.last && !buffer.readFirst;
    if (buffer.span.ops.meets(loop.span.ops) && !stays)
      life.include(loop.span);
  }
  return life;
}

/// The lives of the buffers in one measure.
static std::vector<MemoryInterval> intervalsOf(ArrayRef<PlannedBuffer> buffers,
                                               Lifetime Span3::*measure) {
  std::vector<MemoryInterval> intervals;
  for (const PlannedBuffer &buffer : buffers) {
    const Lifetime &life = buffer.life.*measure;
    intervals.push_back({buffer.bytes, life.first, life.last});
  }
  return intervals;
}

/// Places the buffers in the arena. What is per worker lies there in steps of
/// many tokens only; what is not must do with the barriers of a step of few.
static MemoryPlan planArena(ArrayRef<PlannedBuffer> buffers) {
  std::vector<MemoryInterval> many = intervalsOf(buffers, &Span3::many),
                              few = intervalsOf(buffers, &Span3::few);
  MemoryConflicts conflicts(buffers.size());
  auto addWhere = [&](const std::vector<MemoryInterval> &intervals,
                      bool ofWorkers) {
    MemoryConflicts all = MemoryConflicts::ofIntervals(intervals);
    for (size_t a = 0; a < buffers.size(); ++a)
      for (size_t b : all.of(a))
        if (a < b &&
            ofWorkers == (buffers[a].perWorker || buffers[b].perWorker))
          conflicts.add(a, b);
  };
  addWhere(many, true);
  addWhere(few, false);
  std::vector<int64_t> bytes;
  for (auto [buffer, interval] : llvm::zip_equal(buffers, few)) {
    bytes.push_back(buffer.bytes);
    if (buffer.perWorker)
      interval.bytes = 0;
  }
  int64_t bound = std::max(maxLiveBytes(many), maxLiveBytes(few));
  return planMemory(bytes, conflicts, bound);
}

namespace {
struct PlanProgramMemoryPass
    : impl::PlanProgramMemoryBase<PlanProgramMemoryPass> {
  using PlanProgramMemoryBase::PlanProgramMemoryBase;

  void runOnOperation() override {
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      if (fragment.getKind() == FragmentKind::Code && failed(plan(fragment)))
        return signalPassFailure();
  }

private:
  LogicalResult plan(FragmentOp fragment) {
    TouchCollector touches(fragment);
    if (failed(touches.collect()))
      return failure();
    if (touches.buffers.empty())
      return success();
    if (static_cast<int64_t>(touches.buffers.size()) > kMostBuffers)
      return fragment.emitOpError("has ")
             << touches.buffers.size() << " buffers; the most are "
             << kMostBuffers;

    SmallVector<PlannedBuffer> buffers;
    for (auto &[op, where] : touches.buffers) {
      auto buffer = cast<BufferOp>(op);
      std::optional<int64_t> bytes = bufferBytes(buffer);
      if (!bytes)
        return buffer.emitOpError("has more than ")
               << kMostBufferBytes << " bytes";
      buffers.push_back({buffer, *bytes, lifetimeOf(where, touches.loops),
                         buffer.getPerWorker()});
    }
    MemoryPlan arena = planArena(buffers);
    int64_t total = arena.bytes;
    if (fragment->hasAttr(kFewTokensAttr)) // The workers' pages follow.
      total = llvm::alignTo(total, kWorkerAlignment);
    for (auto [buffer, offset] : llvm::zip_equal(buffers, arena.offsets)) {
      buffer.op.setOffset(offset);
      unsharedBytes += buffer.bytes;
      ++numBuffers;
    }
    arenaBytes += total;
    fragment->setAttr(kArenaBytesAttr,
                      Builder(fragment).getI64IntegerAttr(total));
    planWorkers(fragment, buffers);
    return success();
  }

  /// Places what each worker has for itself in a step of few tokens, as one
  /// worker goes through the code.
  void planWorkers(FragmentOp fragment, ArrayRef<PlannedBuffer> all) {
    auto few = fragment->getAttrOfType<IntegerAttr>(kFewTokensAttr);
    if (!few)
      return;
    SmallVector<PlannedBuffer> own;
    for (PlannedBuffer buffer : all)
      if (buffer.perWorker) {
        buffer.bytes = *bufferBytes(buffer.op, few.getInt());
        own.push_back(buffer);
      }
    MemoryPlan plan = planMemory(intervalsOf(own, &Span3::ops));
    for (auto [buffer, offset] : llvm::zip_equal(own, plan.offsets))
      buffer.op.setWorkerOffset(offset);
    int64_t total = llvm::alignTo(plan.bytes, kWorkerAlignment);
    workerBytes += total;
    fragment->setAttr(kWorkerBytesAttr,
                      Builder(fragment).getI64IntegerAttr(total));
  }
};
} // namespace

} // namespace llmir
