//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-check-cache-use: a cache value is not used after an append to it.
//
//===----------------------------------------------------------------------===//

#include "CacheUse.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::llm {
#define GEN_PASS_DEF_CHECKCACHEUSE
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

bool isCache(Value value) { return isa<PagedKVCacheType>(value.getType()); }

/// True if `op` consumes its cache operands: it writes to the cache, or is
/// another op with a cache result or that forwards its operands.
bool usesUp(Operation *op) {
  if (auto cacheOp = dyn_cast<KVCacheOpInterface>(op))
    return cacheOp.writesCache();
  return op->hasTrait<OpTrait::IsTerminator>() ||
         llvm::any_of(op->getResults(), isCache);
}

/// True if `later` can run after `earlier` has, both users of `cache`.
bool canFollow(Operation *later, Operation *earlier, Value cache) {
  Region *region = later->getParentRegion();
  while (!region->isAncestor(earlier->getParentRegion()))
    region = region->getParentRegion();
  Operation *laterTop = region->findAncestorOpInRegion(*later);
  Operation *earlierTop = region->findAncestorOpInRegion(*earlier);
  // At most one of two regions of an op that is not a loop runs.
  if (laterTop == earlierTop)
    return isa<LoopLikeOpInterface>(laterTop);
  Block *from = earlierTop->getBlock();
  Block *to = laterTop->getBlock();
  if (from == to && earlierTop->isBeforeInBlock(laterTop))
    return true;
  // A path through its block redefines the value.
  return from->isReachable(to, {cache.getParentBlock()});
}

/// True if `op` can run several times for one value `cache`.
bool runsAgain(Operation *op, Value cache) {
  Region *region = op->getParentRegion();
  for (; region != cache.getParentRegion(); region = region->getParentRegion())
    if (isa<LoopLikeOpInterface>(region->getParentOp()))
      return true;
  Block *block = region->findAncestorBlockInRegion(*op->getBlock());
  return block->isReachable(block, {cache.getParentBlock()});
}

/// Checks the uses of one value; `append` is a user that consumes it.
LogicalResult checkAppend(Operation *append, Value cache) {
  if (runsAgain(append, cache)) {
    InFlightDiagnostic diag = append->emitError(
        "appends in a loop to a cache defined outside the loop");
    diag.attachNote(cache.getLoc()) << "cache defined here";
    return diag;
  }
  // A branch forwards its operands to one successor only.
  if (llvm::count(append->getOperands(), cache) > 1 &&
      append->getNumSuccessors() < 2)
    return append->emitError("uses one cache for two operands");

  for (Operation *user : cache.getUsers()) {
    if (user == append || !canFollow(user, append, cache))
      continue;
    InFlightDiagnostic diag =
        user->emitError("uses the cache after an append to it");
    diag.attachNote(append->getLoc()) << "appended to here";
    return diag;
  }
  return success();
}

} // namespace

LogicalResult mlir::llm::checkCacheUse(Value cache) {
  llvm::SmallSetVector<Operation *, 4> users(cache.user_begin(),
                                             cache.user_end());
  for (Operation *user : users)
    if (usesUp(user) && failed(checkAppend(user, cache)))
      return failure();
  return success();
}

namespace {

struct CheckCacheUsePass : llm::impl::CheckCacheUseBase<CheckCacheUsePass> {
  void runOnOperation() override {
    bool isValid = true;
    auto check = [&](ValueRange values) {
      for (Value value : llvm::make_filter_range(values, isCache)) {
        ++cacheValues;
        isValid &= succeeded(checkCacheUse(value));
      }
    };
    getOperation().walk([&](Operation *op) {
      check(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          check(block.getArguments());
    });
    if (!isValid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
