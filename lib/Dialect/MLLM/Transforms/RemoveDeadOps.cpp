//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_REMOVEDEADOPS
#define GEN_PASS_DEF_REMOVEDEBUGOPS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {
struct RemoveDeadOpsPass : impl::RemoveDeadOpsBase<RemoveDeadOpsPass> {
  using RemoveDeadOpsBase::RemoveDeadOpsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    subGraphsRemoved += eraseUnreachable(module);
    withoutEffects.clear(); // From a previous module.
    // Callees first: calls of subgraphs that have become free of side effects
    // may be dead.
    for (SubGraphOp subgraph : subGraphsBottomUp(module)) {
      removeFrom(subgraph);
      if (!hasEffects(subgraph))
        withoutEffects.insert(subgraph.getSymNameAttr());
    }
    subGraphsRemoved += eraseUnreachable(module);
    if (parameters)
      removeParameters(module);
  }

private:
  bool isWithoutEffects(Operation *op) const {
    if (auto call = dyn_cast<CallGraphOp>(op))
      return withoutEffects.contains(call.getCalleeAttr().getAttr());
    return isMemoryEffectFree(op);
  }
  bool hasEffects(SubGraphOp subgraph) const {
    return subgraph
        .walk([&](Operation *op) {
          return op == subgraph || isWithoutEffects(op)
                     ? WalkResult::advance()
                     : WalkResult::interrupt();
        })
        .wasInterrupted();
  }
  void removeFrom(SubGraphOp subgraph);
  void removeParameters(ModuleOp module);

  llvm::DenseSet<StringAttr> withoutEffects; ///< Subgraphs, by name.
};
} // namespace

namespace {
struct RemoveDebugOpsPass : impl::RemoveDebugOpsBase<RemoveDebugOpsPass> {
  using RemoveDebugOpsBase::RemoveDebugOpsBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!op->getName().getStringRef().starts_with("mllm.dbg.") ||
          !op->use_empty())
        return;
      op->erase();
      ++opsRemoved;
    });
  }
};
} // namespace

void RemoveDeadOpsPass::removeFrom(SubGraphOp subgraph) {
  // In reverse order: users before definitions, and nested ops before their
  // parents.
  SmallVector<Operation *> ops;
  subgraph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != subgraph && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops)) {
    bool isDead =
        op->use_empty() &&
        (isa<CallGraphOp>(op) ? isWithoutEffects(op) : isOpTriviallyDead(op));
    if (!isDead)
      continue;
    op->erase();
    ++opsRemoved;
  }
}

void RemoveDeadOpsPass::removeParameters(ModuleOp module) {
  llvm::SetVector<StringAttr> used = symbolsUsedIn(module);
  for (auto parameter : llvm::make_early_inc_range(module.getOps<RegisterOp>()))
    if (!used.contains(parameter.getSymNameAttr())) {
      parameter.erase();
      ++parametersRemoved;
    }
}

} // namespace llmir::mllm
