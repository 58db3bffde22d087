//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derives the barriers of a program, and the instructions that every worker
// executes redundantly, from the accesses of kernels.
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
// Replication
//===----------------------------------------------------------------------===//

namespace {
/// Selects the instructions that every worker executes completely in a
/// decode-sized step.
class Replication {
public:
  explicit Replication(const AccessTable &accesses) : accesses(accesses) {
    collectCandidates();
    keepUseful();
  }

  /// Marks buffers and instructions; returns the number of instructions.
  int64_t mark() const;

private:
  void collectCandidates();
  /// Removes candidates written by instructions that also write other buffers.
  bool narrowCandidates();
  void keepUseful();
  bool writesOnlyCandidates(ArrayRef<ProgramAccess> accessed) const;

  const AccessTable &accesses;
  llvm::SetVector<Value>
      candidates;               ///< Buffers written by rows of the step only.
  llvm::DenseSet<Value> useful; ///< Candidates that save a barrier.
};
} // namespace

void Replication::collectCandidates() {
  llvm::DenseSet<Value> refused;
  for (const auto &[op, accessed] : accesses)
    for (const ProgramAccess &access : accessed) {
      auto buffer =
          access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
      if (!buffer || !access.writes)
        continue;
      // Other users than kernels require a single copy of the buffer.
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

bool Replication::writesOnlyCandidates(ArrayRef<ProgramAccess> accessed) const {
  bool writesAny = false;
  for (const ProgramAccess &access : accessed)
    if (access.writes) {
      writesAny = true;
      if (!candidates.contains(access.buffer))
        return false;
    }
  return writesAny;
}

bool Replication::narrowCandidates() {
  bool changed = false;
  for (const auto &[op, accessed] : accesses)
    if (!writesOnlyCandidates(accessed))
      for (const ProgramAccess &access : accessed)
        changed |= access.writes && candidates.remove(access.buffer);
  return changed;
}

void Replication::keepUseful() {
  // A reader with a different work division needs a barrier.
  for (const auto &[op, accessed] : accesses)
    for (const ProgramAccess &access : accessed)
      if (access.reads && candidates.contains(access.buffer) &&
          !access.isByRowsOfStep())
        useful.insert(access.buffer);
  // So does a replicated reader; all results of an instruction are replicated
  // together.
  for (size_t before = ~size_t(0); before != useful.size();) {
    before = useful.size();
    for (const auto &[op, accessed] : accesses) {
      bool replicated =
          llvm::any_of(accessed, [&](const ProgramAccess &access) {
            return access.writes && useful.contains(access.buffer);
          });
      for (const ProgramAccess &access : accessed)
        if (replicated && candidates.contains(access.buffer))
          useful.insert(access.buffer);
    }
  }
}

int64_t Replication::mark() const {
  int64_t count = 0;
  for (Value buffer : useful)
    buffer.getDefiningOp<BufferOp>().setPerWorker(true);
  for (const auto &[op, accessed] : accesses)
    if (llvm::any_of(accessed, [&](const ProgramAccess &access) {
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
/// Accesses since the last barrier, in one kind of steps.
class PendingAccesses {
public:
  bool empty() const { return list.empty(); }
  void clear() { list.clear(); }
  void add(ArrayRef<ProgramAccess> accesses) {
    list.append(accesses.begin(), accesses.end());
  }
  /// Whether the accesses of two workers may conflict.
  bool conflictsWith(ArrayRef<ProgramAccess> accesses) const {
    return llvm::any_of(accesses, [&](const ProgramAccess &next) {
      return llvm::any_of(list, [&](const ProgramAccess &before) {
        return before.mayConflict(next);
      });
    });
  }

private:
  SmallVector<ProgramAccess> list;
};

/// The kinds of steps that barriers distinguish: decode-sized and large ones,
/// with and without split attention.
struct StepKind {
  bool isDecodeSized, splits;
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
  using IsNeeded = llvm::function_ref<bool(StepKind, const PendingAccesses &)>;
  /// Inserts a barrier before the op for the kinds of steps that need one.
  void insertBarrier(Operation &op, IsNeeded isNeeded);
  void add(Operation &op, ArrayRef<ProgramAccess> accessed);
  void visit(Operation &op);

  FragmentOp code;
  const AccessTable &accesses;
  /// The conditions that workers may still be reading at a label after a jump.
  llvm::StringMap<SmallVector<ProgramAccess>> conditionsAtLabels;
  std::array<PendingAccesses, kStepKinds.size()> pending;
  int64_t numBarriers = 0;
};
} // namespace

/// The accesses of the op in one kind of steps, given those in all steps. In a
/// decode-sized step, per-worker buffers cannot conflict, and a replicated
/// instruction accesses all rows.
static SmallVector<ProgramAccess> inSteps(StepKind kind, Operation &op,
                                          ArrayRef<ProgramAccess> accessed) {
  auto instruction = dyn_cast<InstructionOp>(op);
  const bool replicated =
      kind.isDecodeSized && instruction && instruction.getReplicated();
  SmallVector<ProgramAccess> result;
  for (const ProgramAccess &access : accessed) {
    auto buffer =
        access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
    if (!access.isInSteps(kind.splits) ||
        (kind.isDecodeSized && buffer && buffer.getPerWorker()))
      continue;
    result.push_back(access);
    if (replicated)
      result.back().division = std::nullopt;
  }
  return result;
}

/// The access of every worker to the condition of a jump.
static ProgramAccess conditionOf(JumpIfOp jump) {
  return ProgramAccess::reading(jump.getCondition());
}

void BarrierInsertion::insertBarrier(Operation &op, IsNeeded isNeeded) {
  bool needed = false, unlessDecode = true, ifSplit = true;
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, pending))
    if (isNeeded(kind, before)) {
      needed = true;
      unlessDecode &= !kind.isDecodeSized;
      ifSplit &= kind.splits;
    }
  if (!needed)
    return;
  ifSplit &= !unlessDecode;
  OpBuilder b(&op);
  BarrierOp::create(b, op.getLoc(), unlessDecode, ifSplit);
  ++numBarriers;
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, pending))
    if (!(unlessDecode && kind.isDecodeSized) && !(ifSplit && !kind.splits))
      before.clear();
}

void BarrierInsertion::add(Operation &op, ArrayRef<ProgramAccess> accessed) {
  for (auto [kind, before] : llvm::zip_equal(kStepKinds, pending))
    before.add(inSteps(kind, op, accessed));
}

void BarrierInsertion::visit(Operation &op) {
  if (isa<LabelOp, JumpNextLayerOp, JumpOp, JumpIfOp>(op))
    insertBarrier(op, [](StepKind, const PendingAccesses &before) {
      return !before.empty();
    });
  if (auto label = dyn_cast<LabelOp>(op))
    add(op, conditionsAtLabels.lookup(label.getName()));
  else if (auto jump = dyn_cast<JumpIfOp>(op))
    add(op, conditionOf(jump));
  auto accessed = accesses.find(&op);
  if (accessed == accesses.end())
    return;
  insertBarrier(op, [&](StepKind kind, const PendingAccesses &before) {
    return before.conflictsWith(inSteps(kind, op, accessed->second));
  });
  add(op, accessed->second);
}

int64_t BarrierInsertion::insert() {
  // A barrier precedes each jump, so only the access to its condition is
  // pending at the label.
  for (auto jump : code.getBody().getOps<JumpIfOp>())
    conditionsAtLabels[jump.getLabel()].push_back(conditionOf(jump));
  for (Operation &op : code.getBody().front())
    visit(op);
  return numBarriers;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Removes everything that the pass inserts.
static void removeSynchronization(FragmentOp code) {
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
  code->removeAttr(kDecodeTokensAttr);
}

/// Fails if the instruction has conflicts that barriers between instructions
/// cannot resolve.
static LogicalResult checkInstruction(InstructionOp instruction,
                                      const StepFields &fields) {
  if (!instruction.getBody().getOps<CallOp>().empty())
    return instruction.emitOpError(
        "calls generated functions, whose accesses are unknown; insert "
        "barriers before kernels are emitted");
  PendingAccesses before;
  for (kernel::KernelOpInterface kernel : kernelsOf(instruction)) {
    SmallVector<ProgramAccess> accessed = accessesOf(kernel, fields);
    if (before.conflictsWith(accessed)) {
      InFlightDiagnostic diag =
          instruction.emitOpError("contains kernels that need a barrier "
                                  "between them; use one instruction for each");
      diag.attachNote(kernel.getLoc()) << "conflicting accesses of this kernel";
      return diag;
    }
    before.add(accessed);
  }
  return success();
}

namespace {
struct SynchronizeProgramPass
    : impl::SynchronizeProgramBase<SynchronizeProgramPass> {
  using SynchronizeProgramBase::SynchronizeProgramBase;

  void runOnOperation() override {
    if (failed(checkOption(getOperation().getLoc(), decodeTokens, 0)))
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
  int64_t tokens = decodeTokens;
  if (auto own = code->getAttrOfType<IntegerAttr>(kDecodeTokensAttr))
    tokens = own.getInt();
  removeSynchronization(code);
  AccessTable accesses;
  bool isSound = true;
  forEachWithFields(code, [&](Operation &op, const StepFields &fields) {
    if (auto instruction = dyn_cast<InstructionOp>(op))
      isSound &= succeeded(checkInstruction(instruction, fields));
    if (SmallVector<ProgramAccess> accessed = accessesOf(op, fields);
        !accessed.empty())
      accesses[&op] = std::move(accessed);
  });
  if (!isSound)
    return failure();
  if (tokens > 0)
    if (int64_t count = Replication(accesses).mark()) {
      numReplicated += count;
      code->setAttr(kDecodeTokensAttr, Builder(code).getI64IntegerAttr(tokens));
    }
  numBarriers += BarrierInsertion(code, accesses).insert();
  return success();
}

} // namespace llmir::mllm
