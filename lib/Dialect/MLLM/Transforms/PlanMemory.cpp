//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphMemory.h"

#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Support/IntervalPlanner.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_PLANMEMORY
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {

/// An allocation in the arena: a tensor with all its views and in-place
/// results, or the frame of a call.
struct Allocation {
  MemoryInterval interval;
  /// The last use, and the value that it uses.
  Operation *lastOp = nullptr;
  Value lastValue;
  /// Frames of calls at this offset; empty for a tensor.
  SmallVector<CallGraphOp> calls;
  int64_t offset = 0;
};

/// The memory of a value carried or returned by an op with regions: shared by
/// the operand, the region arguments and the result, and live from before the
/// op on.
struct FixedMemory {
  Operation *op;
  unsigned result;
  size_t allocation;
  OpOperand *init = nullptr; ///< For a loop: the initial value.
};

/// The result of planning one frame.
struct FrameReport {
  std::string name;
  int64_t tensors = 0, inPlace = 0, views = 0;
  int64_t unsharedBytes = 0, lowerBound = 0, bytes = 0;
};

/// Plans the memory of one frame: a subgraph with those that only it calls.
class FramePlanner {
public:
  FramePlanner(SubGraphOp root, const SizeTable &sizes,
               const llvm::DenseMap<StringAttr, FrameReport> &frames,
               const llvm::DenseSet<StringAttr> &shared)
      : root(root), sizes(sizes), frames(frames), shared(shared) {}

  /// Plans the memory and writes the plan into the ops.
  FailureOr<FrameReport> run(bool inPlace);

private:
  using Result = SmallVector<std::optional<size_t>>;

  /// Visits a body from the current time on and returns the allocations of its
  /// results. Arguments must have allocations.
  LogicalResult collect(SubGraphOp subgraph, Result &returned);
  LogicalResult collectOp(Operation &op);
  LogicalResult collectCall(CallGraphOp call);
  /// Visits an op with regions: fixed memory per result, and the allocations of
  /// its regions.
  LogicalResult collectRegions(Operation &op);
  /// Copies yielded values that swap their memory through temporaries.
  LogicalResult collectYield(YieldOp yield);
  /// Creates an allocation that is live now; fails if the size of `like` is
  /// unknown or too large.
  FailureOr<size_t> addAllocation(Operation *op, Value like);
  LogicalResult addTensor(OpResult result);
  /// The operands of an op in an allocation.
  int64_t numUses(Operation *op, size_t allocation) const;
  void touch(size_t allocation, Operation *op, Value value);
  std::optional<size_t> allocationOf(Value value) const {
    auto found = allocationOfValue.find(value);
    return found == allocationOfValue.end()
               ? std::nullopt
               : std::optional<size_t>(found->second);
  }
  /// Merges the allocations of a result and an operand whose last use it is.
  void overwrite();
  void join(size_t into, size_t from);
  size_t find(size_t allocation) const {
    while (parents[allocation] != allocation)
      allocation = parents[allocation];
    return allocation;
  }
  void place();
  void emit();
  void emitFixedMemory();
  void emitYield(YieldOp yield);
  void emitFrees();
  Value alloc(OpBuilder &b, Operation *op, Type type, size_t allocation);

  SubGraphOp root;
  const SizeTable &sizes;
  const llvm::DenseMap<StringAttr, FrameReport> &frames;
  const llvm::DenseSet<StringAttr> &shared;
  FrameReport report;
  int64_t now = 0;
  std::vector<Allocation> allocations;
  std::vector<size_t> parents; ///< Union-find parents of merged allocations.
  llvm::DenseMap<Value, size_t> allocationOfValue;
  /// Tensors defined by ops, in order, and the operands of in-place results.
  SmallVector<OpResult> tensors;
  llvm::DenseMap<Value, OpOperand *> overwritten;
  std::vector<FixedMemory> fixedMemory;
  SmallVector<YieldOp> yields;
  /// Temporaries of yielded values.
  llvm::DenseMap<OpOperand *, size_t> waiting;
  /// Memory of branch results, as values.
  llvm::DenseMap<std::pair<Operation *, unsigned>, Value> memories;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

void FramePlanner::touch(size_t allocation, Operation *op, Value value) {
  Allocation &touched = allocations[allocation];
  touched.interval.last = std::max(touched.interval.last, now);
  touched.lastOp = op;
  touched.lastValue = value;
}

FailureOr<size_t> FramePlanner::addAllocation(Operation *op, Value like) {
  std::optional<int64_t> bytes = sizes.bytesOf(like);
  if (!bytes && sizes.knowsSizesOf(like))
    return op->emitOpError("yields ")
           << like.getType()
           << ", which exceeds the limit of 64 TiB; use smaller sizes";
  if (!bytes)
    return op->emitOpError("yields ")
           << like.getType()
           << ", whose size is unknown; specify it with sizes=NAME=NUMBER "
              "(?=NUMBER for unnamed sizes)";
  parents.push_back(allocations.size());
  Allocation &allocation = allocations.emplace_back();
  allocation.interval = {*bytes, now, now};
  allocation.lastOp = op;
  allocation.lastValue = like;
  ++report.tensors;
  report.unsharedBytes += *bytes;
  return allocations.size() - 1;
}

LogicalResult FramePlanner::addTensor(OpResult result) {
  if (!isa<RankedTensorType>(result.getType()) || isTruthValue(result))
    return success();
  FailureOr<size_t> allocation = addAllocation(result.getOwner(), result);
  if (failed(allocation))
    return failure();
  allocationOfValue[result] = *allocation;
  tensors.push_back(result);
  return success();
}

LogicalResult FramePlanner::collectRegions(Operation &op) {
  const size_t numBefore = allocations.size(), firstFixed = fixedMemory.size();
  OperandRange inits = carriedOperands(&op);
  if (!isa<IfOp, WhileOp, ForOp>(op) ||
      (!isa<IfOp>(op) && inits.getTypes() != op.getResultTypes()))
    return op.emitOpError(
        "is not a supported branch or loop; its memory cannot be planned");
  for (OpResult result : op.getResults()) {
    FailureOr<size_t> allocation = addAllocation(&op, result);
    if (failed(allocation))
      return failure();
    FixedMemory fixed{&op, result.getResultNumber(), *allocation};
    if (!inits.empty())
      fixed.init = &op.getOpOperand(inits.getBeginOperandIndex() +
                                    result.getResultNumber());
    fixedMemory.push_back(fixed);
    allocationOfValue[result] = *allocation;
    for (Region &region : op.getRegions())
      if (Value carried = carriedArgument(region, result.getResultNumber()))
        allocationOfValue[carried] = *allocation;
  }
  const size_t endOfFixed = fixedMemory.size();
  for (Region &region : op.getRegions())
    for (Operation &inner : region.front())
      if (failed(collectOp(inner)))
        return failure();
  // Values defined before the op may be read in any iteration, and the fixed
  // memory holds the initial values of the next iteration.
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto allocation = allocationOf(operand);
          allocation && *allocation < numBefore &&
          !op.isAncestor(operand.getParentBlock()->getParentOp()))
        touch(*allocation, &op, operand);
  });
  for (size_t i = firstFixed; i < endOfFixed; ++i)
    touch(fixedMemory[i].allocation, &op, op.getResult(fixedMemory[i].result));
  return success();
}

LogicalResult FramePlanner::collectYield(YieldOp yield) {
  yields.push_back(yield);
  const Operation *around = yield->getParentOp();
  for (auto [result, operand] : llvm::enumerate(yieldedOperands(yield))) {
    auto allocation = allocationOf(operand.get());
    auto found = llvm::find_if(
        fixedMemory, [&, index = result](const FixedMemory &fixed) {
          return fixed.op == around && allocation &&
                 fixed.allocation == *allocation && fixed.result != index;
        });
    if (found == fixedMemory.end())
      continue;
    FailureOr<size_t> own = addAllocation(yield, operand.get());
    if (failed(own))
      return failure();
    waiting[&operand] = *own;
  }
  return success();
}

LogicalResult FramePlanner::collectCall(CallGraphOp call) {
  SubGraphOp callee = calleeOf(call);
  for (Value operand : call.getOperands())
    if (auto allocation = allocationOf(operand))
      touch(*allocation, call, operand);
  if (callee && !callee.isExternal() &&
      !shared.contains(callee.getSymNameAttr())) {
    // The callee shares this frame: its arguments are the operands.
    for (auto [argument, operand] : llvm::zip_equal(
             callee.getBody().front().getArguments(), call.getOperands()))
      if (auto allocation = allocationOf(operand))
        allocationOfValue[argument] = *allocation;
    Result returned;
    if (failed(collect(callee, returned)))
      return failure();
    // Operands that the callee does not use are freed after the call.
    for (Value operand : call.getOperands())
      if (auto allocation = allocationOf(operand);
          allocation && allocations[*allocation].lastOp == call)
        touch(*allocation, call, operand);
    for (auto [result, allocation] :
         llvm::zip_equal(call.getResults(), returned))
      if (allocation) {
        allocationOfValue[result] = *allocation;
        touch(*allocation, call, result);
      }
    call->setAttr(kFrameAttr, Builder(call).getI64IntegerAttr(0));
    return success();
  }
  if (callee && !callee.isExternal()) {
    Allocation frame;
    frame.interval = {frames.lookup(callee.getSymNameAttr()).bytes, now, now};
    frame.calls.push_back(call);
    report.unsharedBytes += frame.interval.bytes;
    parents.push_back(allocations.size());
    allocations.push_back(frame);
  }
  for (OpResult result : call->getResults())
    if (failed(addTensor(result)))
      return failure();
  return success();
}

LogicalResult FramePlanner::collectOp(Operation &op) {
  ++now;
  if (auto call = dyn_cast<CallGraphOp>(op))
    return collectCall(call);
  for (Value operand : op.getOperands())
    if (auto allocation = allocationOf(operand))
      touch(*allocation, &op, operand);
  if (op.getNumRegions() > 0)
    return collectRegions(op);
  if (auto yield = dyn_cast<YieldOp>(op))
    return collectYield(yield);
  if (Value viewed = viewedOperand(&op)) {
    if (auto allocation = allocationOf(viewed)) {
      allocationOfValue[op.getResult(0)] = *allocation;
      touch(*allocation, &op, op.getResult(0));
      ++report.views;
    }
    return success();
  }
  if (!makesTensors(&op))
    return success();
  for (OpResult result : op.getResults())
    if (failed(addTensor(result)))
      return failure();
  return success();
}

LogicalResult FramePlanner::collect(SubGraphOp subgraph, Result &returned) {
  Block &body = subgraph.getBody().front();
  for (Operation &op : body)
    if (failed(collectOp(op)))
      return failure();
  for (Value value : body.getTerminator()->getOperands())
    returned.push_back(allocationOf(value));
  return success();
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

int64_t FramePlanner::numUses(Operation *op, size_t allocation) const {
  return llvm::count_if(op->getOperands(), [&](Value operand) {
    auto used = allocationOf(operand);
    return used && find(*used) == allocation;
  });
}

void FramePlanner::join(size_t into, size_t from) {
  parents[from] = into;
  allocations[into].interval.last = allocations[from].interval.last;
  allocations[into].lastOp = allocations[from].lastOp;
  allocations[into].lastValue = allocations[from].lastValue;
}

void FramePlanner::overwrite() {
  for (OpResult result : tensors)
    for (OpOperand &operand : result.getOwner()->getOpOperands()) {
      auto allocation = allocationOf(operand.get());
      size_t own = find(*allocationOf(result));
      // The last use of the operand is this one: all its views are dead, too.
      if (!allocation || !mayOverwrite(operand) || find(*allocation) == own ||
          allocations[find(*allocation)].lastOp != result.getOwner() ||
          numUses(result.getOwner(), find(*allocation)) > 1)
        continue;
      join(find(*allocation), own);
      overwritten[result] = &operand;
      ++report.inPlace;
      break;
    }
}

//===----------------------------------------------------------------------===//
// Writing the plan
//===----------------------------------------------------------------------===//

void FramePlanner::place() {
  std::vector<MemoryInterval> intervals;
  SmallVector<size_t> numbers;
  for (size_t i = 0; i < allocations.size(); ++i)
    if (parents[i] == i) {
      intervals.push_back(allocations[i].interval);
      numbers.push_back(i);
    }
  MemoryPlan plan = planMemory(intervals);
  for (auto [number, offset] : llvm::zip_equal(numbers, plan.offsets))
    allocations[number].offset = offset;
  report.bytes = plan.bytes;
  report.lowerBound = maxLiveBytes(intervals);
}

Value FramePlanner::alloc(OpBuilder &b, Operation *op, Type type,
                          size_t allocation) {
  return AllocOp::create(
      b, op->getLoc(), type,
      b.getI64IntegerAttr(allocations[find(allocation)].offset));
}

void FramePlanner::emit() {
  for (OpResult result : tensors) {
    Operation *op = result.getOwner();
    OpBuilder b(op);
    OpOperand *operand = overwritten.lookup(result);
    Value memory = operand
                       ? operand->get()
                       : alloc(b, op, result.getType(), *allocationOf(result));
    b.setInsertionPointAfter(op);
    auto copy =
        CopyOp::create(b, op->getLoc(), result.getType(), memory, result);
    result.replaceAllUsesExcept(copy.getResult(), copy);
    // The copy replaces the value as the last use.
    Allocation &allocation = allocations[find(*allocationOf(result))];
    if (allocation.lastValue == result) {
      allocation.lastValue = copy.getResult();
      if (allocation.lastOp == op)
        allocation.lastOp = copy;
    }
  }
  emitFixedMemory();
  for (YieldOp yield : yields)
    emitYield(yield);
  emitFrees();
}

void FramePlanner::emitFixedMemory() {
  for (const FixedMemory &fixed : fixedMemory) {
    OpBuilder b(fixed.op);
    Value memory =
        alloc(b, fixed.op, fixed.op->getResult(fixed.result).getType(),
              fixed.allocation);
    if (fixed.init)
      memory = CopyOp::create(b, fixed.op->getLoc(), memory.getType(), memory,
                              fixed.init->get());
    if (fixed.init)
      fixed.init->set(memory);
    else
      memories[{fixed.op, fixed.result}] = memory;
  }
}

/// Copy temporaries first, so that the fixed memory has no more readers.
void FramePlanner::emitYield(YieldOp yield) {
  OpBuilder b(yield);
  for (OpOperand &operand : yieldedOperands(yield))
    if (auto own = waiting.find(&operand); own != waiting.end()) {
      Value memory = alloc(b, yield, operand.get().getType(), own->second);
      operand.set(CopyOp::create(b, yield.getLoc(), memory.getType(), memory,
                                 operand.get()));
      allocations[own->second].lastValue = operand.get();
    }
  Operation *around = yield->getParentOp();
  for (const FixedMemory &fixed : fixedMemory) {
    if (fixed.op != around)
      continue;
    OpOperand &operand = yieldedOperands(yield)[fixed.result];
    auto allocation = allocationOf(operand.get());
    if (allocation && *allocation == fixed.allocation &&
        !waiting.count(&operand))
      continue; // Already in place.
    Value memory =
        fixed.init ? carriedArgument(*yield->getParentRegion(), fixed.result)
                   : memories.lookup({fixed.op, fixed.result});
    operand.set(CopyOp::create(b, yield.getLoc(), memory.getType(), memory,
                               operand.get()));
  }
}

void FramePlanner::emitFrees() {
  for (size_t i = 0; i < allocations.size(); ++i) {
    Allocation &allocation = allocations[i];
    if (parents[i] != i)
      continue;
    OpBuilder b(root.getContext());
    for (CallGraphOp call : allocation.calls)
      call->setAttr(kFrameAttr, b.getI64IntegerAttr(allocation.offset));
    // The caller owns returned values.
    if (!allocation.calls.empty() || isa<ReturnOp>(allocation.lastOp))
      continue;
    if (isa<YieldOp>(allocation.lastOp)) {
      b.setInsertionPoint(allocation.lastOp);
      FreeOp::create(b, allocation.lastOp->getLoc(), allocation.lastValue);
      continue;
    }
    // After the copies of results, since a call may return its operands.
    Operation *last = allocation.lastOp;
    while (auto copy = dyn_cast<CopyOp>(last->getNextNode())) {
      if (copy.getSrc().getDefiningOp() != allocation.lastOp)
        break;
      last = copy;
    }
    b.setInsertionPointAfter(last);
    FreeOp::create(b, allocation.lastOp->getLoc(), allocation.lastValue);
  }
}

FailureOr<FrameReport> FramePlanner::run(bool inPlace) {
  report.name = root.getSymName().str();
  Result returned;
  if (failed(collect(root, returned)))
    return failure();
  if (inPlace)
    overwrite();
  place();
  emit();
  root->setAttr(kFrameBytesAttr, Builder(root).getI64IntegerAttr(report.bytes));
  return report;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    FailureOr<SizeTable> table = SizeTable::parse(getOperation(), sizes);
    if (failed(table) || failed(plan(*table)))
      signalPassFailure();
  }

private:
  LogicalResult plan(const SizeTable &table);
  LogicalResult checkOnce();
  /// Subgraphs with their own frame: those with several calls, module-level
  /// calls, calls in regions, or no calls.
  llvm::DenseSet<StringAttr> ownFrames();
};
} // namespace

LogicalResult PlanMemoryPass::checkOnce() {
  ModuleOp module = getOperation();
  auto planned = module.walk([&](Operation *op) {
    if (!isa<AllocOp, FreeOp>(op))
      return WalkResult::advance();
    op->emitOpError("exists already: memory has been planned");
    return WalkResult::interrupt();
  });
  if (planned.wasInterrupted())
    return failure();
  SmallVector<SubGraphOp> order = subGraphsBottomUp(module);
  for (auto subgraph : module.getOps<SubGraphOp>())
    if (!subgraph.isExternal() && !llvm::is_contained(order, subgraph))
      return subgraph.emitOpError("is recursive, so its memory is unbounded");
  return success();
}

llvm::DenseSet<StringAttr> PlanMemoryPass::ownFrames() {
  llvm::DenseSet<StringAttr> own;
  auto calls = callsByCallee(getOperation());
  for (auto subgraph : getOperation().getOps<SubGraphOp>()) {
    const SmallVector<CallGraphOp> &callers = calls[subgraph.getSymNameAttr()];
    bool isCalledOnce =
        callers.size() == 1 && isa<SubGraphOp>(callers.front()->getParentOp());
    if (!isCalledOnce || subgraph.getEntry())
      own.insert(subgraph.getSymNameAttr());
  }
  return own;
}

LogicalResult PlanMemoryPass::plan(const SizeTable &table) {
  if (failed(checkOnce()))
    return failure();
  llvm::DenseSet<StringAttr> own = ownFrames();
  llvm::DenseMap<StringAttr, FrameReport> frames;
  for (SubGraphOp subgraph : subGraphsBottomUp(getOperation())) {
    if (!own.contains(subgraph.getSymNameAttr()))
      continue;
    FailureOr<FrameReport> frame =
        FramePlanner(subgraph, table, frames, own).run(inPlace);
    if (failed(frame))
      return failure();
    frames[subgraph.getSymNameAttr()] = *frame;
    tensorsPlaced += frame->tensors;
    tensorsInPlace += frame->inPlace;
    if (report)
      llvm::outs() << frame->name << ": " << frame->bytes << " bytes, at least "
                   << frame->lowerBound << " ("
                   << llvm::format(
                          "%.2f",
                          frame->lowerBound == 0
                              ? 0.0
                              : 100.0 *
                                    static_cast<double>(frame->bytes -
                                                        frame->lowerBound) /
                                    static_cast<double>(frame->lowerBound))
                   << " % more), " << frame->unsharedBytes
                   << " without sharing; " << frame->tensors << " tensors, "
                   << frame->inPlace << " in place, " << frame->views
                   << " views\n";
  }
  return success();
}

} // namespace llmir::mllm
