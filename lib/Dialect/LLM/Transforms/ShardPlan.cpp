//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardPlan.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::llm;

/// Element-wise ops.
static bool isElementwise(Operation *op) {
  return isa<SiluOp, GeluOp, AddOp, MulOp, SwiGLUOp>(op);
}

static int64_t lastDim(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank() - 1;
}

bool ShardPlan::isReturnedOnly(LinearOp op) {
  return op->hasOneUse() && isa<func::ReturnOp>(*op->user_begin());
}

ShardPlan::ShardPlan(ModuleOp module, int64_t numRanks)
    : module(module), numRanks(numRanks) {
  // Either all cache types change or none, including those of values that only
  // pass through.
  auto check = [&](Type type) {
    if (auto cache = dyn_cast<PagedKVCacheType>(type))
      cacheDivided &= cache.getNumHeads() % numRanks == 0;
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), check);
    if (auto function = dyn_cast<func::FuncOp>(op))
      llvm::for_each(function.getArgumentTypes(), check);
  });
  collectCandidates();
  settle();
  // The cache is sharded everywhere or nowhere; the second attempt plans
  // without it.
  if (cacheDivided && !isCacheValid()) {
    cacheDivided = false;
    dims.clear();
    collectCandidates();
    settle();
  }
}

//===----------------------------------------------------------------------===//
// Producers of a value
//===----------------------------------------------------------------------===//

/// The sharded dimension of a reshaped tensor, if whole indices of it stay on
/// one rank: heads of a sharded row, or the row of sharded heads.
static std::optional<int64_t> reshapedDim(Operation *op, int64_t dim,
                                          int64_t numRanks) {
  auto reassociation =
      isa<tensor::ExpandShapeOp>(op)
          ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
          : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  bool expands = isa<tensor::ExpandShapeOp>(op);
  auto wide = cast<RankedTensorType>(
      (expands ? op->getResult(0) : op->getOperand(0)).getType());
  for (auto [narrowDim, wideDims] : llvm::enumerate(reassociation)) {
    if (expands ? int64_t(narrowDim) != dim
                : !llvm::is_contained(wideDims, dim))
      continue;
    // Only slices of the outermost dimension are contiguous; leading dimensions
    // of size 1 do not matter.
    const int64_t *found = llvm::find_if(
        wideDims, [&](int64_t d) { return wide.getDimSize(d) != 1; });
    int64_t outermost = found == wideDims.end() ? wideDims.front() : *found;
    if (!expands)
      return outermost == dim ? std::optional<int64_t>(narrowDim)
                              : std::nullopt;
    int64_t size = wide.getDimSize(outermost);
    if (ShapedType::isDynamic(size) || size % numRanks != 0)
      return std::nullopt;
    return outermost;
  }
  return std::nullopt;
}

std::optional<int64_t> ShardPlan::candidateDim(Operation *op) const {
  using Dim = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Dim>(op)
      .Case<LinearOp>([&](LinearOp linear) -> Dim {
        // A sharded row yields partial sums, which are reduced to whole values.
        if (isDivided(linear.getX()) ||
            isa<QuantizedTensorType>(linear.getWeight().getType()))
          return std::nullopt;
        int64_t outputs = getWeightShape(linear.getWeight().getType())[0];
        if (ShapedType::isDynamic(outputs) || outputs % numRanks != 0)
          return std::nullopt;
        return lastDim(linear.getResult());
      })
      .Case<RopeOp>([&](RopeOp rope) -> Dim {
        // If a head is sharded, the elements of a pair may be on two ranks.
        Dim dim = getDim(rope.getX());
        return dim == lastDim(rope.getX()) ? std::nullopt : dim;
      })
      .Case<RMSNormOp>([&](RMSNormOp norm) -> Dim {
        // The norm of a head depends on that head only.
        Dim dim = getDim(norm.getX());
        return dim == lastDim(norm.getX()) ? std::nullopt : dim;
      })
      .Case<PagedAttentionOp>([&](PagedAttentionOp attention) -> Dim {
        if (!cacheDivided || attention.getAlibiSlopesAttr() ||
            attention.getMask())
          return std::nullopt;
        return getDim(attention.getQuery());
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](Operation *reshape) -> Dim {
            Dim dim = getDim(reshape->getOperand(0));
            return dim ? reshapedDim(reshape, *dim, numRanks) : std::nullopt;
          })
      .Default([&](Operation *other) -> Dim {
        if (!isElementwise(other))
          return std::nullopt;
        Dim dim = getDim(other->getOperand(0));
        for (Value operand : other->getOperands())
          if (getDim(operand) != dim)
            return std::nullopt;
        return dim;
      });
}

void ShardPlan::collectCandidates() {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() != 1)
      return;
    if (std::optional<int64_t> dim = candidateDim(op))
      dims[op->getResult(0)] = *dim;
  });
}

//===----------------------------------------------------------------------===//
// Uses of a value
//===----------------------------------------------------------------------===//

bool ShardPlan::isUseValid(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (auto linear = dyn_cast<LinearOp>(user)) {
    // Row parallel: one sum over the ranks. A bias would be added by each.
    int64_t inputs = getWeightShape(linear.getWeight().getType())[1];
    return use.getOperandNumber() == 0 && !linear.getBias() &&
           isa<RankedTensorType>(linear.getWeight().getType()) &&
           getDim(use.get()) == lastDim(use.get()) && inputs % numRanks == 0;
  }
  if (auto append = dyn_cast<AppendKVOp>(user))
    return cacheDivided && isDivided(append.getKeys()) &&
           isDivided(append.getValues());
  if (isa<func::ReturnOp>(user)) {
    auto linear = use.get().getDefiningOp<LinearOp>();
    return linear && isReturnedOnly(linear);
  }
  if (auto size = dyn_cast<tensor::DimOp>(user)) {
    std::optional<int64_t> dim = size.getConstantIndex();
    return dim && dim != getDim(use.get());
  }
  // All other ops yield shards: their results must be sharded as well.
  return user->getNumResults() == 1 && isDivided(user->getResult(0));
}

bool ShardPlan::isProducerValid(Value value) const {
  return candidateDim(value.getDefiningOp()) == getDim(value);
}

void ShardPlan::settle() {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Value> refused;
    for (auto [value, dim] : dims)
      if (!isProducerValid(value) ||
          !llvm::all_of(value.getUses(),
                        [&](OpOperand &use) { return isUseValid(use); }))
        refused.push_back(value);
    for (Value value : refused)
      changed |= dims.erase(value);
  }
}

bool ShardPlan::isCacheValid() {
  bool valid = true;
  module.walk([&](Operation *op) {
    if (auto append = dyn_cast<AppendKVOp>(op))
      valid &= append.isRagged() && isDivided(append.getKeys()) &&
               isDivided(append.getValues());
    else if (auto attention = dyn_cast<PagedAttentionOp>(op))
      valid &=
          isDivided(attention.getQuery()) && isDivided(attention.getOutput());
    else if (isa<KVCacheOpInterface>(op))
      valid &= isa<BlockTablesOp, CreatePagedCacheOp, FreeKVOp, ForkKVOp,
                   ReserveKVOp>(op);
  });
  return valid;
}
