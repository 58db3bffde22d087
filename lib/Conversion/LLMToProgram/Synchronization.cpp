//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Synchronization.h"

#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// What is replicated
//===----------------------------------------------------------------------===//

namespace {
/// Chooses the kernels that each worker runs whole in a step of few tokens.
class Replication {
public:
  explicit Replication(const AccessTable &accesses) : accesses(accesses) {
    collectCandidates();
    keepUseful();
  }

  /// Marks buffers and instructions; false where there is none.
  bool mark() const;

private:
  void collectCandidates();
  /// Removes what a replicated kernel would write outside the candidates.
  bool narrowCandidates();
  void keepUseful();
  bool isWhollyCandidate(ArrayRef<BufferAccess> touched) const;

  const AccessTable &accesses;
  llvm::SetVector<Value> candidates; ///< Written by rows of the step only.
  llvm::DenseSet<Value> useful;      ///< Candidates that spare a barrier.
};
} // namespace

static bool isByRowsOfStep(const BufferAccess &access) {
  return access.share && access.share->split == WorkSplit::Rows &&
         ShapedType::isDynamic(access.share->rows);
}

void Replication::collectCandidates() {
  llvm::DenseSet<Value> refused;
  for (const auto &[op, touched] : accesses)
    for (const BufferAccess &access : touched) {
      auto buffer =
          access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
      if (!buffer || !access.writes)
        continue;
      // Whoever is no instruction looks for the buffer at its one place.
      if (!isByRowsOfStep(access) ||
          !llvm::all_of(access.buffer.getUsers(), llvm::IsaPred<InstructionOp>))
        refused.insert(access.buffer);
      else
        candidates.insert(access.buffer);
    }
  candidates.remove_if([&](Value v) { return refused.contains(v); });
  while (narrowCandidates()) {
  }
}

bool Replication::isWhollyCandidate(ArrayRef<BufferAccess> touched) const {
  bool writesAny = false;
  for (const BufferAccess &access : touched)
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
      for (const BufferAccess &access : touched)
        changed |= access.writes && candidates.remove(access.buffer);
  return changed;
}

void Replication::keepUseful() {
  // A reader that shares its work out in another way waits for the rows.
  for (const auto &[op, touched] : accesses)
    for (const BufferAccess &access : touched)
      if (!access.writes && candidates.contains(access.buffer) &&
          !isByRowsOfStep(access))
        useful.insert(access.buffer);
  // So does one that is replicated itself; all that it writes goes together.
  for (size_t before = ~size_t(0); before != useful.size();) {
    before = useful.size();
    for (const auto &[op, touched] : accesses) {
      bool replicated = llvm::any_of(touched, [&](const BufferAccess &access) {
        return access.writes && useful.contains(access.buffer);
      });
      for (const BufferAccess &access : touched)
        if (replicated && candidates.contains(access.buffer))
          useful.insert(access.buffer);
    }
  }
}

bool Replication::mark() const {
  for (Value buffer : candidates)
    if (useful.contains(buffer))
      buffer.getDefiningOp<BufferOp>().setPerWorker(true);
  for (const auto &[op, touched] : accesses)
    if (llvm::any_of(touched, [&](const BufferAccess &access) {
          return access.writes && useful.contains(access.buffer);
        }))
      cast<InstructionOp>(op).setReplicated(true);
  return !useful.empty();
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
  void add(ArrayRef<BufferAccess> accesses) {
    list.append(accesses.begin(), accesses.end());
  }
  /// Whether one worker could meet another's access.
  bool meets(ArrayRef<BufferAccess> accesses) const {
    return llvm::any_of(accesses, [&](const BufferAccess &next) {
      return llvm::any_of(list, [&](const BufferAccess &before) {
        return before.buffer == next.buffer && (before.writes || next.writes) &&
               !(before.share && next.share && *before.share == *next.share);
      });
    });
  }

private:
  SmallVector<BufferAccess> list;
};
} // namespace

/// The accesses in a step of few tokens: what a worker has for itself nobody
/// else touches, and a kernel that is replicated works on all rows.
static SmallVector<BufferAccess> inStepOfFew(Operation *op,
                                             ArrayRef<BufferAccess> touched) {
  auto instruction = dyn_cast<InstructionOp>(op);
  bool replicated = instruction && instruction.getReplicated();
  SmallVector<BufferAccess> result;
  for (const BufferAccess &access : touched) {
    auto buffer =
        access.buffer ? access.buffer.getDefiningOp<BufferOp>() : BufferOp();
    if (buffer && buffer.getPerWorker())
      continue;
    result.push_back(access);
    if (replicated)
      result.back().share = std::nullopt;
  }
  return result;
}

/// What every worker reads to know where a jump leads.
static BufferAccess conditionOf(JumpIfOp jump) {
  return {jump.getCondition(), false, std::nullopt};
}

static void insertBarriers(FragmentOp code, const AccessTable &accesses) {
  // Who arrives at a label by a jump may have left others that still look at
  // the jump's condition; everything else is behind the barrier before it.
  llvm::StringMap<SmallVector<BufferAccess>> arriving;
  for (auto jump : code.getBody().getOps<JumpIfOp>())
    arriving[jump.getLabel()].push_back(conditionOf(jump));
  UnderWay few, many;
  auto waitBefore = [&](Operation &op, bool always, bool unlessFew) {
    if (!always && !unlessFew)
      return;
    OpBuilder b(&op);
    BarrierOp::create(b, op.getLoc(), /*unless_few=*/!always,
                      /*if_split=*/false);
    many.clear();
    if (always)
      few.clear();
  };
  for (Operation &op : code.getBody().front()) {
    if (isa<LabelOp, JumpNextLayerOp, JumpOp, JumpIfOp>(op))
      waitBefore(op, !few.empty(), !many.empty());
    SmallVector<BufferAccess> looks;
    if (auto label = dyn_cast<LabelOp>(op))
      looks = arriving.lookup(label.getName());
    else if (auto jump = dyn_cast<JumpIfOp>(op))
      looks.push_back(conditionOf(jump));
    few.add(looks);
    many.add(looks);
    auto touched = accesses.find(&op);
    if (touched == accesses.end())
      continue;
    SmallVector<BufferAccess> own = inStepOfFew(&op, touched->second);
    waitBefore(op, few.meets(own), many.meets(touched->second));
    few.add(own);
    many.add(touched->second);
  }
}

void synchronize(FragmentOp code, const AccessTable &accesses,
                 int64_t fewTokens) {
  if (fewTokens > 0 && Replication(accesses).mark())
    code->setAttr(kFewTokensAttr, Builder(code).getI64IntegerAttr(fewTokens));
  insertBarriers(code, accesses);
}

} // namespace llmir
