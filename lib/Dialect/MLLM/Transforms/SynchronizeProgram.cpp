//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the workers of a program wait for each other, and what each of them
// does for itself, derived from what every kernel touches.
//
//===----------------------------------------------------------------------===//

#include "ProgramAccesses.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir::mllm {

#define GEN_PASS_DEF_SYNCHRONIZEPROGRAM
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// What is replicated
//===----------------------------------------------------------------------===//

namespace {
/// Chooses the instructions that each worker runs whole in a decode-sized step.
class Replication {
public:
  explicit Replication(const AccessTable &accesses) : accesses(accesses) {
    collectCandidates();
    keepUseful();
  }

  /// Marks buffers and instructions; gives how many instructions.
  int64_t mark() const;

private:
  void collectCandidates();
  /// Removes what a replicated instruction would write outside the candidates.
  bool narrowCandidates();
  void keepUseful();
  bool isWhollyCandidate(ArrayRef<ProgramAccess> touched) const;

  const AccessTable &accesses;
  llvm::SetVector<Value> candidates; ///< Written by rows of the step only.
  llvm::DenseSet<Value> useful;      ///< Candidates that save a barrier.
};
} // namespace

void Replication::collectCandidates() {
  llvm::DenseSet<Value> refused;
  for (const auto &[op, touched] : accesses)
    for (const ProgramAccess &access : touched) {
      auto buffer =
          access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
      if (!buffer || !access.writes)
        continue;
      // Users other than kernels expect the buffer at its one place.
      if (!access.isByRowsOfStep() ||
          !llvm::all_of(access.buffer.getUsers(),
                        llvm::IsaPred<kernel::KernelOpInterface>))
        refused.insert(access.buffer);
      else
        candidates.insert(access.buffer);
    }
  candidates.remove_if([&](Value v) { return refused.contains(v); });
  while (narrowCandidates()) {
  }
}

bool Replication::isWhollyCandidate(ArrayRef<ProgramAccess> touched) const {
  bool writesAny = false;
  for (const ProgramAccess &access : touched)
    if (access.writes) {
      writesAny = true;
      if (!candidates.contains(access.buffer))
        return false;
    }
  return writesAny;
}

bool Replication::narrowCandidates() {
  bool changed = false;
  for (const auto &[op, touched] : accesses)
    if (!isWhollyCandidate(touched))
      for (const ProgramAccess &access : touched)
        changed |= access.writes && candidates.remove(access.buffer);
  return changed;
}

void Replication::keepUseful() {
  // A reader that divides its work in another way waits for the rows.
  for (const auto &[op, touched] : accesses)
    for (const ProgramAccess &access : touched)
      if (access.reads && candidates.contains(access.buffer) &&
          !access.isByRowsOfStep())
        useful.insert(access.buffer);
  // So does one that is replicated itself; all that it writes goes together.
  for (size_t before = ~size_t(0); before != useful.size();) {
    before = useful.size();
    for (const auto &[op, touched] : accesses) {
      bool replicated = llvm::any_of(touched, [&](const ProgramAccess &access) {
        return access.writes && useful.contains(access.buffer);
      });
      for (const ProgramAccess &access : touched)
        if (replicated && candidates.contains(access.buffer))
          useful.insert(access.buffer);
    }
  }
}

int64_t Replication::mark() const {
  int64_t count = 0;
  for (Value buffer : useful)
    buffer.getDefiningOp<BufferOp>().setPerWorker(true);
  for (const auto &[op, touched] : accesses)
    if (llvm::any_of(touched, [&](const ProgramAccess &access) {
          return access.writes && useful.contains(access.buffer);
        })) {
      cast<InstructionOp>(op).setReplicated(true);
      ++count;
    }
  return count;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {
/// What workers may still be doing since the last barrier, in steps of one
/// kind.
class UnderWay {
public:
  bool empty() const { return list.empty(); }
  void clear() { list.clear(); }
  void add(ArrayRef<ProgramAccess> accesses) {
    list.append(accesses.begin(), accesses.end());
  }
  /// Whether one worker could meet another's access.
  bool meets(ArrayRef<ProgramAccess> accesses) const {
    return llvm::any_of(accesses, [&](const ProgramAccess &next) {
      return llvm::any_of(list, [&](const ProgramAccess &before) {
        return before.mayMeet(next);
      });
    });
  }

private:
  SmallVector<ProgramAccess> list;
};

/// The kinds of steps that barriers tell apart: those of a few or of many
/// tokens, that split attention or do not.
struct StepKind {
  bool isFew, splits;
};
constexpr std::array<StepKind, 4> kStepKinds = {
    {{false, false}, {false, true}, {true, false}, {true, true}}};

/// Inserts the barriers of a code fragment whose replication is marked.
class BarrierInsertion {
public:
  BarrierInsertion(FragmentOp code, const AccessTable &accesses)
      : code(code), accesses(accesses) {}

  int64_t insert();

private:
  using IsNeeded = llvm::function_ref<bool(StepKind, const UnderWay &)>;
  /// Inserts a barrier before the op for the kinds of steps that need one.
  void waitBefore(Operation &op, IsNeeded isNeeded);
  void add(Operation &op, ArrayRef<ProgramAccess> touched);
  void visit(Operation &op);

  FragmentOp code;
  const AccessTable &accesses;
  /// What workers that arrive at a label by a jump may still be reading.
  llvm::StringMap<SmallVector<ProgramAccess>> arriving;
  std::array<UnderWay, kStepKinds.size()> underWay;
  int64_t numBarriers = 0;
};
} // namespace

/// What the op touches in a step of the kind, of what it touches in any. In a
/// step of a few tokens, no other worker touches what a worker has for itself,
/// and an instruction that is replicated works on all rows.
static SmallVector<ProgramAccess> inSteps(StepKind kind, Operation &op,
                                          ArrayRef<ProgramAccess> touched) {
  auto instruction = dyn_cast<InstructionOp>(op);
  const bool replicated =
      kind.isFew && instruction && instruction.getReplicated();
  SmallVector<ProgramAccess> result;
  for (const ProgramAccess &access : touched) {
    auto buffer =
        access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
    if (!access.isInSteps(kind.splits) ||
        (kind.isFew && buffer && buffer.getPerWorker()))
      continue;
    result.push_back(access);
    if (replicated)
      result.back().division = std::nullopt;
  }
  return result;
}

/// What every worker reads to know where a jump leads.
static ProgramAccess conditionOf(JumpIfOp jump) {
  return ProgramAccess::reading(jump.getCondition());
}

void BarrierInsertion::waitBefore(Operation &op, IsNeeded isNeeded) {
  bool needed = false, unlessFew = true, ifSplit = true;
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, underWay))
    if (isNeeded(kind, before)) {
      needed = true;
      unlessFew &= !kind.isFew;
      ifSplit &= kind.splits;
    }
  if (!needed)
    return;
  ifSplit &= !unlessFew;
  OpBuilder b(&op);
  BarrierOp::create(b, op.getLoc(), unlessFew, ifSplit);
  ++numBarriers;
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, underWay))
    if (!(unlessFew && kind.isFew) && !(ifSplit && !kind.splits))
      before.clear();
}

void BarrierInsertion::add(Operation &op, ArrayRef<ProgramAccess> touched) {
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, underWay))
    before.add(inSteps(kind, op, touched));
}

void BarrierInsertion::visit(Operation &op) {
  if (isa<LabelOp, JumpNextLayerOp, JumpOp, JumpIfOp>(op))
    waitBefore(
        op, [](StepKind, const UnderWay &before) { return !before.empty(); });
  if (auto label = dyn_cast<LabelOp>(op))
    add(op, arriving.lookup(label.getName()));
  else if (auto jump = dyn_cast<JumpIfOp>(op))
    add(op, conditionOf(jump));
  auto touched = accesses.find(&op);
  if (touched == accesses.end())
    return;
  waitBefore(op, [&](StepKind kind, const UnderWay &before) {
    return before.meets(inSteps(kind, op, touched->second));
  });
  add(op, touched->second);
}

int64_t BarrierInsertion::insert() {
  // Everything but the condition of a jump is before the barrier that precedes
  // the jump.
  for (auto jump : code.getBody().getOps<JumpIfOp>())
    arriving[jump.getLabel()].push_back(conditionOf(jump));
  for (Operation &op : code.getBody().front())
    visit(op);
  return numBarriers;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Removes what the pass inserts.
static void forgetSynchronization(FragmentOp code) {
  for (Operation &op : llvm::make_early_inc_range(code.getBody().front())) {
    if (isa<BarrierOp>(op)) {
      op.erase();
    } else if (auto instruction = dyn_cast<InstructionOp>(op)) {
      instruction.setReplicated(false);
    } else if (auto buffer = dyn_cast<BufferOp>(op)) {
      buffer.setPerWorker(false);
      buffer.removeWorkerOffsetAttr();
    }
  }
  code->removeAttr(kFewTokensAttr);
}

/// Fails where no barrier can make the instruction right.
static LogicalResult checkInstruction(InstructionOp instruction,
                                      const StepFields &fields) {
  if (!instruction.getBody().getOps<CallOp>().empty())
    return instruction.emitOpError("calls generated functions, which do not "
                                   "say what they touch; insert barriers "
                                   "before kernels are emitted");
  UnderWay before;
  for (kernel::KernelOpInterface kernel : kernelsOf(instruction)) {
    SmallVector<ProgramAccess> touched = accessesOf(kernel, fields);
    if (before.meets(touched)) {
      InFlightDiagnostic diag =
          instruction.emitOpError("runs kernels that need a barrier between "
                                  "them; give each an instruction of its own");
      diag.attachNote(kernel.getLoc())
          << "this kernel touches what other workers have touched";
      return diag;
    }
    before.add(touched);
  }
  return success();
}

namespace {
struct SynchronizeProgramPass
    : impl::SynchronizeProgramBase<SynchronizeProgramPass> {
  using SynchronizeProgramBase::SynchronizeProgramBase;

  void runOnOperation() override {
    if (failed(checkOption(getOperation().getLoc(), fewTokens, 0)))
      return signalPassFailure();
    for (FragmentOp fragment : getOperation().getOps<FragmentOp>())
      if (fragment.getKind() == FragmentKind::Code &&
          failed(synchronize(fragment)))
        return signalPassFailure();
  }

private:
  LogicalResult synchronize(FragmentOp code);
};
} // namespace

LogicalResult SynchronizeProgramPass::synchronize(FragmentOp code) {
  int64_t few = fewTokens;
  if (auto own = code->getAttrOfType<IntegerAttr>(kFewTokensAttr))
    few = own.getInt();
  forgetSynchronization(code);
  AccessTable accesses;
  bool isSound = true;
  forEachWithFields(code, [&](Operation &op, const StepFields &fields) {
    if (auto instruction = dyn_cast<InstructionOp>(op))
      isSound &= succeeded(checkInstruction(instruction, fields));
    if (SmallVector<ProgramAccess> touched = accessesOf(op, fields);
        !touched.empty())
      accesses[&op] = std::move(touched);
  });
  if (!isSound)
    return failure();
  if (few > 0)
    if (int64_t count = Replication(accesses).mark()) {
      numReplicated += count;
      code->setAttr(kFewTokensAttr, Builder(code).getI64IntegerAttr(few));
    }
  numBarriers += BarrierInsertion(code, accesses).insert();
  return success();
}

} // namespace llmir::mllm
