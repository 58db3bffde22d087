//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// IRWriter: walks and modifications.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/IRWriter.h"

#include "../IRContextImpl.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace mllm::ir {

IRWriter::IRWriter(const IRContext::ptr_t &context, const region_ptr_t &region)
    : context(context),
      region(region ? region : context->topLevelOp()->getTopRegion()) {}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

namespace {
/// Snapshots the ops of a region; those still present when reached are visited.
struct Visit {
  region_ptr_t region;
  std::vector<op_ptr_t> ops;
  size_t next = 0;

  explicit Visit(const region_ptr_t &region)
      : region(region), ops(region->ops().begin(), region->ops().end()) {}

  bool isStillThere(const op_ptr_t &op) const {
    Operation *found = IRContextImpl::unwrap(op);
    return found && region->isAlive() &&
           found->getParentRegion() == IRContextImpl::unwrap(region.get());
  }
};
} // namespace

bool IRWriter::checkRegion() const {
  if (context->impl().refuseForeign(region))
    return false;
  return region->isAlive() ||
         context->impl().fail("the writer's region is no longer in the IR");
}

bool IRWriter::walkOps(const OpCallback &callback, bool recursive,
                       bool followCalls) {
  if (!checkRegion())
    return false;
  llvm::SmallPtrSet<Operation *, 16> called;
  std::vector<Visit> stack{Visit(region)};
  while (!stack.empty()) {
    Visit &visit = stack.back();
    if (visit.next == visit.ops.size()) {
      stack.pop_back();
      continue;
    }
    op_ptr_t op = visit.ops[visit.next++];
    if (!visit.isStillThere(op))
      continue;
    if (callback(*this, op) == WALK_BREAK)
      return false;
    Operation *now = IRContextImpl::unwrap(op);
    if (!recursive || !now)
      continue;
    // Nested regions come next, in order.
    std::list<region_ptr_t> inner = op->regions();
    auto call = dyn_cast<llmir::mllm::CallGraphOp>(now);
    if (followCalls && isa<llmir::mllm::SubGraphOp>(now) &&
        !called.insert(now).second)
      inner.clear();
    if (followCalls && call)
      if (Operation *callee = SymbolTable::lookupSymbolIn(
              context->impl().module(), call.getCallee()))
        if (called.insert(callee).second)
          inner = context->impl().wrap(callee)->regions();
    for (auto each = inner.rbegin(); each != inner.rend(); ++each)
      stack.emplace_back(*each);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

IRWriter::PositionGuard::PositionGuard(IRContext &context,
                                       const op_ptr_t &target,
                                       Position position)
    : context(context), valid(false) {
  if (context.impl().refuseForeign(target))
    return;
  Operation *found = IRContextImpl::unwrap(target);
  if (!found || !found->getBlock()) {
    context.impl().fail(
        "an op cannot be created next to " +
        (target ? target->describe() : std::string("null")) +
        (found ? ", which is in no region" : ", which is not in the IR"));
    return;
  }
  context.impl().place = found;
  context.impl().placeIsAfter = position == AFTER;
  valid = true;
}

IRWriter::PositionGuard::~PositionGuard() { context.impl().place = nullptr; }

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Applies `move`, and undoes it if that violates dominance.
static bool moveChecked(IRContextImpl &impl, const op_ptr_t &handle,
                        mlir::Region *target,
                        llvm::function_ref<void(Operation *)> move) {
  if (impl.refuseForeign(handle))
    return false;
  Operation *op = IRContextImpl::unwrap(handle);
  if (!op || !op->getBlock())
    return impl.fail((handle ? handle->describe() : std::string("null")) +
                     " cannot be moved: it is in no region");
  if (op->isAncestor(target->getParentOp()))
    return impl.fail(handle->describe() + " cannot be moved into itself");
  Block *block = op->getBlock();
  Operation *next = op->getNextNode();
  move(op);
  std::string wrong = IRContextImpl::whyOutOfOrder(op);
  if (wrong.empty())
    return true;
  if (next)
    impl.rewriter().moveOpBefore(op, next);
  else
    impl.rewriter().moveOpBefore(op, block, block->end());
  return impl.fail(handle->describe() + " cannot be moved there: " + wrong);
}

bool IRWriter::insertOpAtPos(const op_ptr_t &target, Position position,
                             const op_ptr_t &op) {
  IRContextImpl &impl = context->impl();
  if (impl.refuseForeign(target) || impl.refuseForeign(op))
    return false;
  Operation *anchor = IRContextImpl::unwrap(target);
  if (!anchor || !anchor->getBlock())
    return impl.fail("an op cannot be moved next to " +
                     (target ? target->describe() : std::string("null")));
  if (IRContextImpl::unwrap(op) == anchor)
    return true;
  return moveChecked(impl, op, anchor->getParentRegion(), [&](Operation *each) {
    if (position == AFTER)
      impl.rewriter().moveOpAfter(each, anchor);
    else
      impl.rewriter().moveOpBefore(each, anchor);
  });
}

/// Moves an op to the front or the end of a region, before its terminator;
/// creates a block in an empty region, which is removed if the move fails.
static bool moveInto(IRContextImpl &impl, const region_ptr_t &region,
                     const op_ptr_t &op, bool atFront) {
  mlir::Region *found = IRContextImpl::unwrap(region.get());
  const bool isNew = found->empty();
  if (isNew) {
    OpBuilder::InsertionGuard guard(impl.rewriter());
    impl.rewriter().createBlock(found);
  }
  Block *block = &found->back();
  bool moved = moveChecked(impl, op, found, [&](Operation *each) {
    auto place = atFront ? block->begin() : block->end();
    if (!atFront && !block->empty() && each != &block->back() &&
        block->back().hasTrait<OpTrait::IsTerminator>())
      --place;
    impl.rewriter().moveOpBefore(each, block, place);
  });
  if (!moved && isNew)
    impl.rewriter().eraseBlock(block);
  return moved;
}

bool IRWriter::insertOpAtLast(const op_ptr_t &op) {
  return checkRegion() &&
         moveInto(context->impl(), region, op, /*atFront=*/false);
}

bool IRWriter::insertOpAtFront(const op_ptr_t &op) {
  return checkRegion() &&
         moveInto(context->impl(), region, op, /*atFront=*/true);
}

//===----------------------------------------------------------------------===//
// Removal and replacement
//===----------------------------------------------------------------------===//

/// The reason why an op cannot be removed; empty if it can.
static std::string whyNeeded(IRContextImpl &impl, Operation *op) {
  for (Value result : op->getResults())
    for (Operation *user : result.getUsers())
      if (!op->isAncestor(user))
        return impl.wrap(result)->describe() + " is used by " +
               impl.wrap(user)->describe();
  auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  if (!symbol || !op->getParentOp())
    return {};
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(symbol, op->getParentOp());
  if (uses)
    for (SymbolTable::SymbolUse use : *uses)
      if (!op->isAncestor(use.getUser()))
        return (Twine("@") + symbol.getValue() + " is referenced by " +
                impl.wrap(use.getUser())->describe())
            .str();
  return {};
}

bool IRWriter::removeOp(const op_ptr_t &handle) {
  IRContextImpl &impl = context->impl();
  if (impl.refuseForeign(handle))
    return false;
  Operation *op = IRContextImpl::unwrap(handle);
  if (!op)
    return impl.fail((handle ? handle->describe() : std::string("null")) +
                     " cannot be removed: it is not in the IR");
  if (op == impl.module())
    return impl.fail("the module cannot be removed from its context");
  std::string why = whyNeeded(impl, op);
  if (!why.empty())
    return impl.fail(handle->describe() + " cannot be removed: " + why,
                     "remove or replace its users first");
  impl.rewriter().eraseOp(op);
  return true;
}

/// The reason why `now` cannot replace `old`; empty if it can.
static std::string whyNotReplaced(IRContextImpl &impl, Operation *old,
                                  Operation *now) {
  if (old == now)
    return "it is the same op";
  if (now->getResultTypes() != old->getResultTypes())
    return impl.wrap(now)->describe() +
           " has a different number or types of results";
  if (old->isAncestor(now) || now->isAncestor(old))
    return "one of them contains the other";
  bool usesOld = false;
  now->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      usesOld |= operand.getDefiningOp() == old;
  });
  if (usesOld)
    return impl.wrap(now)->describe() + " uses it itself";
  DominanceInfo dominance(impl.module());
  for (Operation *user : old->getUsers())
    if (!dominance.properlyDominates(now, user))
      return impl.wrap(now)->describe() + " comes after its user " +
             impl.wrap(user)->describe();
  return {};
}

bool IRWriter::replaceOp(const op_ptr_t &old, const op_ptr_t &new_op) {
  IRContextImpl &impl = context->impl();
  if (impl.refuseForeign(old) || impl.refuseForeign(new_op))
    return false;
  Operation *before = IRContextImpl::unwrap(old);
  Operation *now = IRContextImpl::unwrap(new_op);
  if (!before || !now || before == impl.module())
    return impl.fail(
        "an op that is not in a region cannot be replaced, nor replace one");
  std::string why = whyNotReplaced(impl, before, now);
  if (why.empty() && before->getNumResults() == 0) {
    // Ops without results are referenced by symbol.
    auto name =
        before->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    auto other =
        now->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (name && other &&
        failed(SymbolTable::replaceAllSymbolUses(name, other,
                                                 before->getParentOp())))
      why = "the users of @" + name.str() + " are not known";
    else if (!(name && other))
      why = whyNeeded(impl, before);
  }
  if (!why.empty())
    return impl.fail(old->describe() + " cannot be replaced: " + why);
  impl.rewriter().replaceOp(before, now->getResults());
  return true;
}

bool IRWriter::removeValue(const val_ptr_t &handle) {
  IRContextImpl &impl = context->impl();
  if (impl.refuseForeign(handle))
    return false;
  Value value = IRContextImpl::unwrap(handle);
  auto refuse = [&](const std::string &why) {
    return impl.fail((handle ? handle->describe() : std::string("null")) +
                     " cannot be removed: " + why);
  };
  if (!value)
    return refuse("it is not in the IR");
  if (!value.use_empty())
    return refuse("it is used by " +
                  impl.wrap(*value.user_begin())->describe());
  if (Operation *producer = value.getDefiningOp()) {
    if (producer->getNumResults() != 1)
      return refuse("its op has other results");
    return removeOp(impl.wrap(producer));
  }
  auto argument = cast<BlockArgument>(value);
  auto subgraph =
      dyn_cast<llmir::mllm::SubGraphOp>(argument.getOwner()->getParentOp());
  if (!subgraph)
    return refuse("its parent op determines the arguments of its region");
  if (!SymbolTable::symbolKnownUseEmpty(subgraph, impl.module()))
    return refuse(
        (Twine("@") + subgraph.getSymName() + " passes it in a call").str());
  std::string name = handle->describe();
  if (failed(subgraph.eraseArgument(argument.getArgNumber())))
    return refuse("it cannot be removed from its subgraph");
  impl.forgetValue(value, std::move(name));
  return true;
}

bool IRWriter::replaceValue(const val_ptr_t &old, const val_ptr_t &value) {
  IRContextImpl &impl = context->impl();
  if (impl.refuseForeign(old) || impl.refuseForeign(value))
    return false;
  Value before = IRContextImpl::unwrap(old), now = IRContextImpl::unwrap(value);
  if (!before || !now)
    return impl.fail("a value that is not in the IR cannot be replaced, nor "
                     "replace one");
  auto refuse = [&](const std::string &why) {
    return impl.fail(old->describe() + " cannot be replaced: " + why);
  };
  if (before.getType() != now.getType())
    return refuse(value->describe() + " is of another type");
  DominanceInfo dominance(impl.module());
  for (Operation *user : before.getUsers())
    if (!dominance.properlyDominates(now, user))
      return refuse(value->describe() + " is not defined before its user " +
                    impl.wrap(user)->describe());
  impl.rewriter().replaceAllUsesWith(before, now);
  return true;
}

} // namespace mllm::ir
