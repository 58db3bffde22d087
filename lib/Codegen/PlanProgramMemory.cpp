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

/// An inclusive range of phases; a phase is the code between two barriers.
struct Lifetime {
  int64_t first, last;

  void include(int64_t phase) {
    first = std::min(first, phase);
    last = std::max(last, phase);
  }
  bool overlaps(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// A lifetime measured in three ways.
struct Lifetimes {
  /// Phases of a large step, and of a decode-sized step, which skips some
  /// barriers.
  Lifetime large, decode;
  Lifetime ops; ///< Ops of the fragment, in the order in which a worker
                ///< executes them.

  void include(const Lifetimes &other) {
    for (Lifetime Lifetimes::*measure :
         {&Lifetimes::large, &Lifetimes::decode, &Lifetimes::ops}) {
      (this->*measure).include((other.*measure).first);
      (this->*measure).include((other.*measure).last);
    }
  }
};

/// A position in the code.
struct Position {
  int64_t large = 0, decode = 0, op = 0;

  operator Lifetimes() const {
    return {{large, large}, {decode, decode}, {op, op}};
  }
};

/// The accesses of a buffer.
struct BufferUse {
  Lifetimes lifetimes;
  /// The first op that accesses the buffer may read what the previous iteration
  /// of an enclosing loop has written.
  bool readFirst;
};

/// The code between a label and a jump back to it.
struct Loop {
  Lifetimes lifetimes;
  Operation *jump;
};

/// The buffers to which each field of the step context may point.
using Pointers = std::map<uint64_t, llvm::SmallSetVector<Operation *, 2>>;

/// Accesses since the last barrier that may not have completed, and the buffers
/// to which fields point.
struct PendingAccesses {
  /// Whether the arena is accessed, in large and in decode-sized steps.
  bool large = false, decode = false;
  /// Buffers that may have been written, and those read as conditions of jumps,
  /// since the last barrier of both kinds of steps.
  llvm::SmallSetVector<Value, 8> written, conditions;
  /// Kernels may read the buffers to which fields of the step context point at
  /// any time.
  Pointers pointers;

  size_t size() const {
    size_t all =
        size_t(large) + size_t(decode) + written.size() + conditions.size();
    for (const auto &pointer : pointers)
      all += pointer.second.size();
    return all;
  }
  /// Returns true if anything was added.
  bool include(const PendingAccesses &other) {
    const size_t before = size();
    large |= other.large;
    decode |= other.decode;
    written.insert_range(other.written);
    conditions.insert_range(other.conditions);
    for (const auto &pointer : other.pointers)
      pointers[pointer.first].insert_range(pointer.second);
    return size() != before;
  }
};

/// A jump to a label that has not been reached yet.
struct ForwardJump {
  Position from;
  PendingAccesses pending;
};

/// The ops that a forward jump may skip: those between it and its label,
/// exclusive.
struct Branch {
  int64_t from, to;

  /// Whether the first access of a buffer may be skipped although it is
  /// accessed after the branch.
  bool maySkipFirst(const Lifetime &ops) const {
    return from < ops.first && ops.first < to && ops.last > to;
  }
};

/// A buffer with its size and lifetimes.
struct PlannedBuffer {
  BufferOp op;
  int64_t bytes;
  Lifetimes life;
  bool perWorker;
};

constexpr int64_t kAlignment = 64;
/// Memory per worker is allocated in whole pages, so that adjacent workers
/// share at most one page.
constexpr int64_t kWorkerAlignment = 4096;
/// Limits that keep sums of sizes within 63 bits.
constexpr int64_t kMaxBufferBytes = int64_t(1) << 46;
constexpr int64_t kMaxBuffers = int64_t(1) << 16;

} // namespace

/// The size of a buffer, limited to `maxRows` rows; nullopt if it exceeds the
/// maximum.
static std::optional<int64_t> bufferBytes(BufferOp buffer,
                                          int64_t maxRows = INT64_MAX) {
  auto type = cast<MemRefType>(buffer.getBuffer().getType());
  int64_t bits = type.getElementTypeBitWidth();
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    int64_t used = dimension == 0 ? std::min(size, maxRows) : size;
    if (llvm::MulOverflow(bits, used, bits))
      return std::nullopt;
  }
  int64_t bytes = llvm::divideCeil(bits, 8);
  if (bytes > kMaxBufferBytes)
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

/// The buffers that the op accesses; may contain duplicates.
static SmallVector<Value> accessedBuffers(Operation &op) {
  SmallVector<Value> buffers;
  for (Operation *work : accessesOf(op))
    llvm::copy_if(work->getOperands(), std::back_inserter(buffers),
                  [](Value v) { return !v.getDefiningOp<GetWeightOp>(); });
  return buffers;
}

/// Whether `accesses` holds for a kernel's operand `buffer`; conservatively
/// true for other ops.
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
/// Collects the accesses of each buffer and the loops of a code fragment.
class AccessCollector {
public:
  explicit AccessCollector(FragmentOp fragment) : fragment(fragment) {}

  /// Fails on races between workers that no plan can prevent.
  LogicalResult collect();

  llvm::MapVector<Operation *, BufferUse> buffers;
  SmallVector<Loop> loops;

private:
  /// Visits the code once, given the `incoming` accesses found so far.
  LogicalResult visitOps();
  LogicalResult visit(Operation &op);
  void access(Operation *buffer, bool reads);
  void visitBarrier(BarrierOp barrier);
  LogicalResult visitWork(Operation &op);
  LogicalResult jump(Operation *op, StringRef label);
  LogicalResult visitJumpIf(JumpIfOp jump);
  void bind(const ForwardJump &jump);
  void setField(SetFieldOp set);
  LogicalResult checkNesting();

  FragmentOp fragment;
  SmallVector<Branch> branches;
  Position here;
  PendingAccesses pending;
  llvm::StringMap<Position> labels; ///< Labels before this position.
  llvm::StringMap<std::vector<ForwardJump>> waiting;
  /// The accesses pending at backward jumps, by their labels.
  llvm::StringMap<PendingAccesses> incoming;
  /// Whether a backward jump has added to `incoming`.
  bool changed = false;
};
} // namespace

/// Visits the code until `incoming` no longer changes. This terminates: the
/// sets only grow, and are limited by the number of buffers and fields.
LogicalResult AccessCollector::collect() {
  do {
    buffers.clear();
    loops.clear();
    branches.clear();
    labels.clear();
    waiting.clear();
    here = Position();
    pending = PendingAccesses();
    changed = false;
    if (failed(visitOps()))
      return failure();
  } while (changed);
  return checkNesting();
}

void AccessCollector::access(Operation *buffer, bool reads) {
  buffers.insert({buffer, {here, reads}}).first->second.lifetimes.include(here);
}

LogicalResult AccessCollector::visitOps() {
  for (Operation &op : fragment.getBody().front()) {
    ++here.op;
    if (failed(visit(op)))
      return failure();
    for (Operation *work : accessesOf(op))
      for (Value operand : work->getOperands())
        if (auto buffer = operand.getDefiningOp<BufferOp>())
          access(buffer, mayRead(work, operand));
    if (isa<InstructionOp>(op)) {
      for (const auto &pointer : pending.pointers)
        for (Operation *buffer : pointer.second)
          access(buffer, /*reads=*/true);
    } else if (auto set = dyn_cast<SetFieldOp>(op)) {
      setField(set);
    } else if (auto conditional = dyn_cast<JumpIfOp>(op);
               conditional && failed(jump(&op, conditional.getLabel()))) {
      return failure();
    }
  }
  for (auto &[op, uses] : buffers)
    for (const Branch &branch : branches)
      uses.readFirst |= branch.maySkipFirst(uses.lifetimes.ops);
  return success();
}

LogicalResult AccessCollector::visit(Operation &op) {
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    if (buffer.getBuffer().use_empty())
      buffers.insert({buffer, {here, false}});
  } else if (auto barrier = dyn_cast<BarrierOp>(op)) {
    visitBarrier(barrier);
  } else if (auto label = dyn_cast<LabelOp>(op)) {
    labels[label.getName()] = here;
    pending.include(incoming[label.getName()]);
    for (const ForwardJump &jump : waiting.lookup(label.getName()))
      bind(jump);
  } else if (auto next = dyn_cast<JumpNextLayerOp>(op)) {
    return jump(&op, next.getLabel());
  } else if (auto always = dyn_cast<JumpOp>(op)) {
    return jump(&op, always.getLabel());
  } else if (auto conditional = dyn_cast<JumpIfOp>(op)) {
    return visitJumpIf(conditional);
  } else if (isa<InstructionOp, RuntimeCallOp>(op)) {
    return visitWork(op);
  }
  return success();
}

void AccessCollector::visitBarrier(BarrierOp barrier) {
  bool inLargeSteps = !barrier.getIfSplit();
  bool inDecodeSteps = inLargeSteps && !barrier.getUnlessDecode();
  here.large += inLargeSteps;
  here.decode += inDecodeSteps;
  pending.large &= !inLargeSteps;
  pending.decode &= !inDecodeSteps;
  if (inLargeSteps && inDecodeSteps) {
    pending.written.clear();
    pending.conditions.clear();
  }
}

LogicalResult AccessCollector::visitWork(Operation &op) {
  SmallVector<Value> buffers = accessedBuffers(op);
  pending.large |= !buffers.empty() || !pending.pointers.empty();
  pending.decode |=
      !llvm::all_of(buffers, isPerWorker) || !pending.pointers.empty();
  for (Value buffer : buffers) {
    if (llvm::none_of(accessesOf(op), [&](Operation *work) {
          return llvm::is_contained(work->getOperands(), buffer) &&
                 mayWrite(work, buffer);
        }))
      continue;
    pending.written.insert(buffer);
    if (pending.conditions.contains(buffer))
      return op.emitOpError(
          "writes the condition of an earlier jump; a barrier is needed "
          "between them, since other workers may still read it");
  }
  return success();
}

/// All workers must read the same condition.
LogicalResult AccessCollector::visitJumpIf(JumpIfOp jump) {
  Value condition = jump.getCondition();
  if (pending.written.contains(condition))
    return jump.emitOpError(
        "reads a condition that an instruction after the last barrier may have "
        "written; a barrier is needed before it, or workers may take different "
        "branches");
  pending.conditions.insert(condition);
  return success();
}

LogicalResult AccessCollector::jump(Operation *op, StringRef label) {
  auto target = labels.find(label);
  if (target == labels.end()) {
    waiting[label].push_back({here, pending});
    return success();
  }
  if (pending.large || pending.decode)
    return op->emitOpError(
        "jumps backward while ops after the last barrier may still be running; "
        "a barrier is needed before it");
  Loop loop{target->second, op};
  loop.lifetimes.include(here);
  loops.push_back(loop);
  // The next iteration may read buffers to which fields point now, and other
  // workers may still read conditions when it starts.
  changed |= incoming[label].include(pending);
  auto mayStillBeRead = [&](Operation *buffer) {
    // Buffers that are accessed only after this position were found at another
    // jump.
    if (auto found = buffers.find(buffer); found != buffers.end())
      found->second.readFirst = true;
  };
  for (const auto &pointer : pending.pointers)
    llvm::for_each(pointer.second, mayStillBeRead);
  for (Value condition : pending.conditions)
    if (auto buffer = condition.getDefiningOp<BufferOp>())
      mayStillBeRead(buffer);
  return success();
}

/// A jump skips the barriers between it and its label: ops between the last
/// barrier and the jump may still be running after the label, and the condition
/// may still be read.
void AccessCollector::bind(const ForwardJump &jump) {
  branches.push_back({jump.from.op, here.op});
  // Pending accesses remain pending after the label, whatever barriers the path
  // without the jump contains.
  pending.include(jump.pending);
  auto extend = [&](Lifetime Lifetimes::*measure, int64_t phase, int64_t now) {
    for (auto &[op, uses] : buffers)
      if (Lifetime &life = uses.lifetimes.*measure;
          life.first <= phase && phase <= life.last)
        life.include(now);
  };
  if (jump.pending.large)
    extend(&Lifetimes::large, jump.from.large, here.large);
  if (jump.pending.decode)
    extend(&Lifetimes::decode, jump.from.decode, here.decode);
  for (Value condition : jump.pending.conditions)
    if (auto buffer = condition.getDefiningOp<BufferOp>())
      access(buffer, /*reads=*/true);
}

/// Lifetimes are extended by one enclosing loop at a time, which is correct
/// only if loops are properly nested.
LogicalResult AccessCollector::checkNesting() {
  SmallVector<const Loop *> order;
  for (const Loop &loop : loops)
    order.push_back(&loop);
  llvm::sort(order, [](const Loop *a, const Loop *b) {
    return std::pair(a->lifetimes.ops.first, -a->lifetimes.ops.last) <
           std::pair(b->lifetimes.ops.first, -b->lifetimes.ops.last);
  });
  SmallVector<const Loop *> around;
  for (const Loop *loop : order) {
    while (!around.empty() &&
           around.back()->lifetimes.ops.last < loop->lifetimes.ops.first)
      around.pop_back();
    if (!around.empty() &&
        around.back()->lifetimes.ops.last < loop->lifetimes.ops.last) {
      InFlightDiagnostic diag = loop->jump->emitOpError(
          "ends a loop that starts inside another loop and ends after it");
      diag.attachNote(around.back()->jump->getLoc())
          << "the other loop ends here";
      return diag;
    }
    around.push_back(loop);
  }
  return success();
}

void AccessCollector::setField(SetFieldOp set) {
  pending.pointers.erase(set.getField());
  if (auto buffer = set.getBuffer() ? set.getBuffer().getDefiningOp<BufferOp>()
                                    : BufferOp())
    pending.pointers[set.getField()].insert(buffer);
}

/// The time in which the buffer's value may be needed. A buffer that is
/// accessed both inside and outside of a loop carries a value into, through or
/// out of it, and one that is read before it is written carries a value from
/// iteration to iteration: both are live during the whole loop. Others are
/// rewritten in each iteration.
static Lifetimes lifetimesOf(const BufferUse &buffer, ArrayRef<Loop> loops) {
  Lifetimes life = buffer.lifetimes;
  for (const Loop &loop : loops) {
    bool stays = buffer.lifetimes.ops.first > loop.lifetimes.ops.first &&
                 buffer.lifetimes.ops.last < loop.lifetimes.ops.last &&
                 !buffer.readFirst;
    if (buffer.lifetimes.ops.overlaps(loop.lifetimes.ops) && !stays)
      life.include(loop.lifetimes);
  }
  return life;
}

/// The lifetimes of the buffers, measured in one way.
static std::vector<MemoryInterval> intervalsOf(ArrayRef<PlannedBuffer> buffers,
                                               Lifetime Lifetimes::*measure) {
  std::vector<MemoryInterval> intervals;
  for (const PlannedBuffer &buffer : buffers) {
    const Lifetime &life = buffer.life.*measure;
    intervals.push_back({buffer.bytes, life.first, life.last});
  }
  return intervals;
}

/// Assigns offsets in the arena. Per-worker buffers are in the arena only in
/// large steps; the lifetimes of the others must be valid with the barriers of
/// a decode-sized step.
static MemoryPlan planArena(ArrayRef<PlannedBuffer> buffers) {
  std::vector<MemoryInterval> large = intervalsOf(buffers, &Lifetimes::large),
                              decode = intervalsOf(buffers, &Lifetimes::decode);
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
  addWhere(large, true);
  addWhere(decode, false);
  std::vector<int64_t> bytes;
  for (auto [buffer, interval] : llvm::zip_equal(buffers, decode)) {
    bytes.push_back(buffer.bytes);
    if (buffer.perWorker)
      interval.bytes = 0;
  }
  int64_t bound = std::max(maxLiveBytes(large), maxLiveBytes(decode));
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
    AccessCollector collector(fragment);
    if (failed(collector.collect()))
      return failure();
    if (collector.buffers.empty())
      return success();
    if (static_cast<int64_t>(collector.buffers.size()) > kMaxBuffers)
      return fragment.emitOpError("has ")
             << collector.buffers.size() << " buffers; the maximum is "
             << kMaxBuffers;

    SmallVector<PlannedBuffer> buffers;
    for (auto &[op, use] : collector.buffers) {
      auto buffer = cast<BufferOp>(op);
      std::optional<int64_t> bytes = bufferBytes(buffer);
      if (!bytes)
        return buffer.emitOpError("has more than ")
               << kMaxBufferBytes << " bytes";
      buffers.push_back({buffer, *bytes, lifetimesOf(use, collector.loops),
                         buffer.getPerWorker()});
    }
    MemoryPlan arena = planArena(buffers);
    int64_t total = arena.bytes;
    if (fragment->hasAttr(kDecodeTokensAttr)) // The workers' pages follow.
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

  /// Assigns offsets in each worker's own memory in decode-sized steps, for the
  /// order in which a worker executes the code.
  void planWorkers(FragmentOp fragment, ArrayRef<PlannedBuffer> all) {
    auto decode = fragment->getAttrOfType<IntegerAttr>(kDecodeTokensAttr);
    if (!decode)
      return;
    SmallVector<PlannedBuffer> own;
    for (PlannedBuffer buffer : all)
      if (buffer.perWorker) {
        buffer.bytes = *bufferBytes(buffer.op, decode.getInt());
        own.push_back(buffer);
      }
    MemoryPlan plan = planMemory(intervalsOf(own, &Lifetimes::ops));
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
