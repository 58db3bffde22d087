//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_INLINESUBGRAPHS
#define GEN_PASS_DEF_FUSESUBGRAPHS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// Clones the body of the callee with these arguments at the insertion point
/// and returns its results.
static SmallVector<Value> cloneBody(OpBuilder &b, SubGraphOp callee,
                                    ValueRange arguments) {
  Block &body = callee.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

namespace {
struct InlineSubGraphsPass : impl::InlineSubGraphsBase<InlineSubGraphsPass> {
  using InlineSubGraphsBase::InlineSubGraphsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseSet<SubGraphOp> inlinable;
    bool changed = false;
    for (SubGraphOp subgraph : subGraphsBottomUp(module)) {
      // Callees are inlined before their callers.
      subgraph.walk([&](CallGraphOp call) {
        SubGraphOp callee = calleeOf(call);
        if (!callee || !inlinable.contains(callee))
          return;
        inlineCall(call, callee);
        changed = true;
      });
      if (!subgraph.getEntry() && matchesPattern(only, subgraph.getSymName()))
        inlinable.insert(subgraph);
    }
    if (changed)
      subGraphsRemoved += eraseUnreachable(module);
  }

private:
  void inlineCall(CallGraphOp call, SubGraphOp callee) {
    OpBuilder b(call);
    call.replaceAllUsesWith(cloneBody(b, callee, call.getOperands()));
    call.erase();
    ++callsInlined;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

namespace {
struct FuseSubGraphsPass : impl::FuseSubGraphsBase<FuseSubGraphsPass> {
  using FuseSubGraphsBase::FuseSubGraphsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto &[callee, callers] : callsByCallee(module))
      calls[callee] = callers.size();
    // Fusion erases callees, which have been visited already.
    for (SubGraphOp subgraph : subGraphsBottomUp(module))
      fuseIn(subgraph);
  }

private:
  void fuseIn(SubGraphOp subgraph);
  /// The call that is the only user of the results of this one and can be fused
  /// with it.
  CallGraphOp onlyUser(CallGraphOp call);
  bool mayFuse(CallGraphOp call);
  /// Returns the fused subgraph.
  SubGraphOp fuse(CallGraphOp first, CallGraphOp second);

  llvm::DenseMap<StringAttr, size_t>
      calls; ///< Number of calls by subgraph name.
};
} // namespace

bool FuseSubGraphsPass::mayFuse(CallGraphOp call) {
  SubGraphOp callee = calleeOf(call);
  return callee && !callee.isExternal() && !callee.getEntry() &&
         calls[callee.getSymNameAttr()] == 1 &&
         matchesPattern(only, callee.getSymName());
}

CallGraphOp FuseSubGraphsPass::onlyUser(CallGraphOp call) {
  CallGraphOp user;
  for (Operation *each : call->getUsers()) {
    auto next = dyn_cast<CallGraphOp>(each);
    if (!next || next->getBlock() != call->getBlock() || (user && user != next))
      return nullptr;
    user = next;
  }
  if (!user || !mayFuse(call) || !mayFuse(user))
    return nullptr;
  // The fused call is at the position of the second one: the ops between them
  // must not have side effects, such as those of the cache of a layer.
  for (Operation *op = call->getNextNode(); op != user; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return nullptr;
  return user;
}

SubGraphOp FuseSubGraphsPass::fuse(CallGraphOp first, CallGraphOp second) {
  SubGraphOp a = calleeOf(first), b = calleeOf(second);
  // The operands of the first call, then those of the second one that the first
  // does not define.
  SmallVector<Value> operands(first.getOperands());
  for (Value operand : second.getOperands())
    if (operand.getDefiningOp() != first &&
        !llvm::is_contained(operands, operand))
      operands.push_back(operand);
  SubGraphOp joint =
      createSubGraph(a, (a.getSymName() + "_and_" + b.getSymName()).str(),
                     TypeRange(ValueRange(operands)), second.getResultTypes());
  OpBuilder builder = OpBuilder::atBlockEnd(&joint.getBody().front());
  IRMapping mapping;
  mapping.map(ValueRange(operands), joint.getBody().getArguments());
  auto mapped = [&](ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(mapping.lookup(value));
    return result;
  };
  mapping.map(first.getResults(),
              cloneBody(builder, a, mapped(first.getOperands())));
  SmallVector<Value> results =
      cloneBody(builder, b, mapped(second.getOperands()));
  ReturnOp::create(builder, b.getLoc(), results);

  OpBuilder at(second);
  auto call = CallGraphOp::create(
      at, at.getFusedLoc({first.getLoc(), second.getLoc()}), joint, operands);
  second.replaceAllUsesWith(call.getResults());
  second.erase();
  first.erase();
  a.erase();
  b.erase();
  calls[joint.getSymNameAttr()] = 1;
  ++callsFused;
  return joint;
}

void FuseSubGraphsPass::fuseIn(SubGraphOp subgraph) {
  if (subgraph.isExternal())
    return;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto call :
         llvm::to_vector(subgraph.getBody().front().getOps<CallGraphOp>()))
      if (CallGraphOp user = onlyUser(call)) {
        // A call at the end of the first body may feed one at the beginning of
        // the second.
        fuseIn(fuse(call, user));
        changed = true;
        break;
      }
  }
}

} // namespace llmir::mllm
