//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mllm-check-memory: simulates a memory plan with the owners of lines.
//
//===----------------------------------------------------------------------===//

#include "GraphMemory.h"

#include "llmir/Dialect/MLLM/Transforms/Passes.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_CHECKMEMORY
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {

/// The location of a value: lines of the arena and their owner.
struct Place {
  int64_t begin = 0, end = 0; ///< Lines.
  int64_t owner = 0;
};

/// The owners of the lines of the arena.
class ShadowRun {
public:
  explicit ShadowRun(const SizeTable &sizes) : sizes(sizes) {}

  /// Simulates a subgraph with a frame at a line; returns the locations of its
  /// results.
  LogicalResult run(SubGraphOp subgraph, int64_t frame,
                    SmallVectorImpl<std::optional<Place>> &results);

  /// Checks that only results remain and that the frame is large enough.
  LogicalResult checkEnd(SubGraphOp subgraph,
                         ArrayRef<std::optional<Place>> results) const;

private:
  LogicalResult runOp(Operation &op, int64_t frame);
  LogicalResult runCall(CallGraphOp call, int64_t frame);
  LogicalResult runBlock(Block &block, int64_t frame);
  /// Both branches start from the same memory and must end with the same.
  LogicalResult runIf(IfOp op, int64_t frame);
  /// Two iterations: the second one starts with the memory of the first.
  LogicalResult runWhile(WhileOp op, int64_t frame);
  LogicalResult runFor(ForOp op, int64_t frame);
  /// Checks that yielded values are in the memory of the next values.
  void bind(ValueRange names, ValueRange values);
  LogicalResult alloc(AllocOp op, int64_t frame);
  LogicalResult copy(CopyOp op);
  LogicalResult free(FreeOp op);
  /// Checks that a value has not been overwritten.
  LogicalResult checkRead(Operation *op, Value value);
  std::optional<Place> placeOf(Value value) const {
    auto found = places.find(value);
    return found == places.end() ? std::nullopt
                                 : std::optional<Place>(found->second);
  }

  static constexpr int64_t kNobody = 0;
  /// Whether a line of this owner is free.
  bool isOver(int64_t owner) const {
    return owner == kNobody || returned.contains(owner);
  }

  const SizeTable &sizes;
  std::vector<int64_t> owners;
  llvm::DenseSet<int64_t> returned; ///< Owners whose frame has ended.
  llvm::DenseMap<Value, Place> places;
  int64_t numOwners = 0;
};

} // namespace

LogicalResult ShadowRun::alloc(AllocOp op, int64_t frame) {
  if (!op.getOffset())
    return op.emitOpError("has no offset: plan the memory first");
  std::optional<int64_t> bytes = sizes.bytesOf(op.getResult());
  if (!bytes)
    return op.emitOpError("has a dynamic size that 'sizes' does not specify");
  auto offset = static_cast<int64_t>(*op.getOffset());
  if (offset % kLineBytes != 0)
    return op.emitOpError("has the offset ")
           << offset << ", which is not a multiple of " << kLineBytes;
  constexpr int64_t mostLines = int64_t(1) << 28;
  Place place;
  place.begin = frame + offset / kLineBytes;
  place.end = place.begin + *bytes / kLineBytes;
  if (place.begin < 0 || place.end > mostLines)
    return op.emitOpError("is beyond ") << mostLines << " lines";
  place.owner = ++numOwners;
  if (static_cast<int64_t>(owners.size()) < place.end)
    owners.resize(place.end, kNobody);
  for (int64_t line = place.begin; line < place.end; ++line) {
    if (!isOver(owners[line]))
      return op.emitOpError("allocates byte ")
             << line * kLineBytes
             << " of the arena, which a live value occupies";
    owners[line] = place.owner;
  }
  places[op.getResult()] = place;
  return success();
}

LogicalResult ShadowRun::checkRead(Operation *op, Value value) {
  auto place = placeOf(value);
  if (!place)
    return success();
  for (int64_t line = place->begin; line < place->end; ++line)
    if (owners[line] != place->owner)
      return op->emitOpError("reads byte ")
             << line * kLineBytes << " of the arena, which "
             << (owners[line] == kNobody ? "has been freed"
                                         : "has been overwritten");
  return success();
}

LogicalResult ShadowRun::copy(CopyOp op) {
  auto memory = placeOf(op.getDst());
  if (!memory || !sizes.bytesOf(op.getResult()))
    return success(); // Not part of the plan.
  // Ends the previous owner: later reads of it are errors.
  if (failed(checkRead(op, op.getDst())))
    return failure();
  Place place = *memory;
  place.owner = ++numOwners;
  std::fill(owners.begin() + place.begin, owners.begin() + place.end,
            place.owner);
  places[op.getResult()] = place;
  return success();
}

LogicalResult ShadowRun::free(FreeOp op) {
  auto place = placeOf(op.getX());
  if (!place)
    return op.emitOpError("frees a value that is not in planned memory");
  if (failed(checkRead(op, op.getX())))
    return failure();
  std::fill(owners.begin() + place->begin, owners.begin() + place->end,
            kNobody);
  return success();
}

LogicalResult ShadowRun::runCall(CallGraphOp call, int64_t frame) {
  SubGraphOp callee = calleeOf(call);
  if (!callee || callee.isExternal())
    return success();
  auto base = call->getAttrOfType<IntegerAttr>(kFrameAttr);
  if (!base)
    return call.emitOpError("has no frame: plan the memory first");
  if (base.getInt() < 0 || base.getInt() % kLineBytes != 0)
    return call.emitOpError("has a frame at ")
           << base.getInt() << ", which is not a multiple of " << kLineBytes;
  bool isOwnFrame = callee->hasAttr(kFrameBytesAttr);
  for (auto [argument, operand] : llvm::zip_equal(
           callee.getBody().front().getArguments(), call.getOperands()))
    if (auto place = placeOf(operand))
      places[argument] = *place;
    else
      places.erase(argument);
  SmallVector<std::optional<Place>> results;
  if (failed(run(callee, frame + base.getInt() / kLineBytes, results)))
    return failure();
  for (auto [result, place] : llvm::zip_equal(call.getResults(), results)) {
    if (!place)
      continue;
    places[result] = *place;
    // Arguments that are returned still belong to the caller.
    const auto owner = place->owner;
    bool isArgument = llvm::any_of(call.getOperands(), [&](Value operand) {
      auto own = placeOf(operand);
      return own && own->owner == owner;
    });
    if (isOwnFrame && !isArgument)
      returned.insert(owner);
  }
  return success();
}

LogicalResult ShadowRun::runOp(Operation &op, int64_t frame) {
  for (Value result : op.getResults())
    places.erase(result); // Location in another call of the subgraph.
  if (auto memory = dyn_cast<AllocOp>(op))
    return alloc(memory, frame);
  if (auto end = dyn_cast<FreeOp>(op))
    return free(end);
  auto plan = dyn_cast<CopyOp>(op);
  for (Value operand : op.getOperands())
    if ((!plan || operand != plan.getDst()) && failed(checkRead(&op, operand)))
      return failure();
  if (plan)
    return copy(plan);
  if (auto call = dyn_cast<CallGraphOp>(op))
    return runCall(call, frame);
  if (Value viewed = viewedOperand(&op))
    if (auto place = placeOf(viewed))
      places[op.getResult(0)] = *place;
  if (auto branches = dyn_cast<IfOp>(op))
    return runIf(branches, frame);
  if (auto loop = dyn_cast<WhileOp>(op))
    return runWhile(loop, frame);
  if (auto loop = dyn_cast<ForOp>(op))
    return runFor(loop, frame);
  return success();
}

LogicalResult ShadowRun::runBlock(Block &block, int64_t frame) {
  for (Operation &op : block)
    if (failed(runOp(op, frame)))
      return failure();
  return success();
}

void ShadowRun::bind(ValueRange names, ValueRange values) {
  SmallVector<std::optional<Place>> found;
  for (Value value : values)
    found.push_back(placeOf(value));
  for (auto [name, place] : llvm::zip_equal(names, found))
    if (place)
      places[name] = *place;
    else
      places.erase(name);
}

LogicalResult ShadowRun::runIf(IfOp op, int64_t frame) {
  const std::vector<int64_t> before = owners;
  std::vector<int64_t> left;
  SmallVector<std::optional<Place>> results;
  for (Region *region : {&op.getThen(), &op.getOtherwise()}) {
    owners = before;
    if (failed(runBlock(region->front(), frame)))
      return failure();
    owners.resize(std::max(owners.size(), before.size()), kNobody);
    // A result has the same owner for both branches.
    ValueRange yielded = region->front().getTerminator()->getOperands();
    for (auto [i, value] : llvm::enumerate(yielded)) {
      auto place = placeOf(value);
      if (region == &op.getThen()) {
        results.push_back(place);
        if (place)
          results.back()->owner = ++numOwners;
      }
      const std::optional<Place> &result = results[i];
      if (place.has_value() != result.has_value() ||
          (place &&
           (place->begin != result->begin || place->end != result->end)))
        return op.emitOpError("leaves result #")
               << i << " in different locations";
      if (place)
        std::fill(owners.begin() + place->begin, owners.begin() + place->end,
                  result->owner);
    }
    if (region == &op.getThen())
      left = owners;
  }
  const size_t lines = std::max(left.size(), owners.size());
  left.resize(lines, kNobody);
  owners.resize(lines, kNobody);
  for (size_t line = 0; line < lines; ++line)
    if (left[line] != owners[line] &&
        !(isOver(left[line]) && isOver(owners[line])))
      return op.emitOpError("leaves byte ")
             << line * kLineBytes << " of the arena to different values";
  for (auto [result, place] : llvm::zip_equal(op.getResults(), results))
    if (place)
      places[result] = *place;
  return success();
}

LogicalResult ShadowRun::runWhile(WhileOp op, int64_t frame) {
  Block &condition = op.getCondition().front(), &body = op.getBody().front();
  ValueRange passed = condition.getTerminator()->getOperands().drop_front();
  bind(condition.getArguments(), op.getInits());
  for (int turn = 0; turn < 2; ++turn) {
    if (failed(runBlock(condition, frame)))
      return failure();
    bind(body.getArguments(), passed);
    if (failed(runBlock(body, frame)))
      return failure();
    bind(condition.getArguments(), body.getTerminator()->getOperands());
  }
  if (failed(runBlock(condition, frame)))
    return failure();
  bind(op.getResults(), passed);
  return success();
}

LogicalResult ShadowRun::runFor(ForOp op, int64_t frame) {
  Block &body = op.getBody().front();
  ValueRange carried = body.getArguments().drop_front();
  bind(carried, op.getInits());
  for (int turn = 0; turn < 2; ++turn) {
    if (failed(runBlock(body, frame)))
      return failure();
    bind(carried, body.getTerminator()->getOperands());
  }
  bind(op.getResults(), carried);
  return success();
}

LogicalResult ShadowRun::run(SubGraphOp subgraph, int64_t frame,
                             SmallVectorImpl<std::optional<Place>> &results) {
  Block &body = subgraph.getBody().front();
  for (Operation &op : body)
    if (failed(runOp(op, frame)))
      return failure();
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(placeOf(value));
  return success();
}

LogicalResult
ShadowRun::checkEnd(SubGraphOp subgraph,
                    ArrayRef<std::optional<Place>> results) const {
  auto bytes = subgraph->getAttrOfType<IntegerAttr>(kFrameBytesAttr);
  if (static_cast<int64_t>(owners.size()) * kLineBytes > bytes.getInt())
    return subgraph.emitOpError("uses ")
           << owners.size() * kLineBytes << " bytes of a frame of "
           << bytes.getInt();
  llvm::DenseSet<int64_t> kept;
  for (const std::optional<Place> &place : results)
    if (place)
      kept.insert(place->owner);
  for (auto [line, owner] : llvm::enumerate(owners))
    if (!isOver(owner) && !kept.contains(owner))
      return subgraph.emitOpError("leaves byte ")
             << line * kLineBytes << " of its frame to a value that is never "
             << "freed";
  return success();
}

namespace {
struct CheckMemoryPass : impl::CheckMemoryBase<CheckMemoryPass> {
  using CheckMemoryBase::CheckMemoryBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<SizeTable> table = SizeTable::parse(getOperation(), sizes);
    if (failed(table))
      return signalPassFailure();
    for (SubGraphOp subgraph : subGraphsBottomUp(getOperation()))
      if (subgraph->hasAttr(kFrameBytesAttr) && failed(check(subgraph, *table)))
        return signalPassFailure();
  }

private:
  /// Simulates one frame from empty memory.
  static LogicalResult check(SubGraphOp subgraph, const SizeTable &table) {
    ShadowRun shadow(table);
    SmallVector<std::optional<Place>> results;
    if (failed(shadow.run(subgraph, 0, results)))
      return failure();
    return shadow.checkEnd(subgraph, results);
  }
};
} // namespace

} // namespace llmir::mllm
