//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-shard: one function for all ranks of a tensor-parallel run, and stages
// of layers for a pipeline-parallel one.
//
//===----------------------------------------------------------------------===//

#include "ShardPlan.h"
#include "ShardStages.h"

#include "llmir/Dialect/CheckOption.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

namespace mlir::llm {
#define GEN_PASS_DEF_SHARD
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

/// Rewrites a module to the per-rank program of a plan.
class TensorParallel {
public:
  TensorParallel(ModuleOp module, int64_t numRanks)
      : module(module), numRanks(numRanks), plan(module, numRanks) {}

  void apply();

  int64_t numColumnParallel = 0, numRowParallel = 0, numCollectives = 0;

private:
  void rewrite(LinearOp op, OpBuilder &builder);
  void rewriteReshape(Operation *op, OpBuilder &builder);
  void rewriteAttention(PagedAttentionOp op, OpBuilder &builder);
  void gatherResult(LinearOp op, OpBuilder &builder);
  void divideCacheTypes();
  /// Changes the result to the type of a rank's shard.
  void narrow(Value value);
  /// Creates this rank's shard of a parameter in dimension `dim`.
  Value part(OpBuilder &builder, Location loc, Value weight, int64_t dim);

  ModuleOp module;
  int64_t numRanks;
  ShardPlan plan;
};

} // namespace

static RankedTensorType divide(Type type, int64_t dim, int64_t numRanks) {
  auto whole = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(whole.getShape());
  shape[dim] /= numRanks;
  return whole.clone(shape);
}

void TensorParallel::narrow(Value value) {
  value.setType(divide(value.getType(), *plan.getDim(value), numRanks));
}

Value TensorParallel::part(OpBuilder &builder, Location loc, Value weight,
                           int64_t dim) {
  return ShardOp::create(builder, loc, divide(weight.getType(), dim, numRanks),
                         weight, builder.getI64IntegerAttr(dim),
                         builder.getI64IntegerAttr(numRanks),
                         /*shard_index=*/IntegerAttr());
}

void TensorParallel::rewrite(LinearOp op, OpBuilder &builder) {
  Location loc = op.getLoc();
  if (plan.isDivided(op.getResult())) {
    op.getWeightMutable().assign(part(builder, loc, op.getWeight(), 0));
    if (Value bias = op.getBias())
      op.getBiasMutable().assign(part(builder, loc, bias, 0));
    bool isGathered = ShardPlan::isReturnedOnly(op);
    narrow(op.getResult());
    ++numColumnParallel;
    if (isGathered)
      gatherResult(op, builder);
    return;
  }
  if (!plan.isDivided(op.getX()))
    return;
  op.getWeightMutable().assign(part(builder, loc, op.getWeight(), 1));
  builder.setInsertionPointAfter(op);
  auto sum = AllReduceOp::create(builder, loc, op.getType(), op.getResult(),
                                 builder.getI64IntegerAttr(numRanks),
                                 builder.getStringAttr("sum"));
  op.getResult().replaceAllUsesExcept(sum.getResult(), sum);
  ++numRowParallel;
  ++numCollectives;
}

void TensorParallel::gatherResult(LinearOp op, OpBuilder &builder) {
  builder.setInsertionPointAfter(op);
  int64_t dim = op.getType().getRank() - 1;
  SmallVector<int64_t> shape(op.getType().getShape());
  shape[dim] *= numRanks;
  auto whole = AllGatherOp::create(
      builder, op.getLoc(), op.getType().clone(shape), op.getResult(),
      builder.getI64IntegerAttr(dim), builder.getI64IntegerAttr(numRanks));
  op.getResult().replaceAllUsesExcept(whole.getResult(), whole);
  ++numCollectives;
}

void TensorParallel::rewriteReshape(Operation *op, OpBuilder &builder) {
  Value result = op->getResult(0);
  RankedTensorType type =
      divide(result.getType(), *plan.getDim(result), numRanks);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!expand) {
    result.setType(type);
    return;
  }
  // The op repeats the sizes of its result.
  SmallVector<int64_t> sizes(expand.getStaticOutputShape());
  sizes[*plan.getDim(result)] /= numRanks;
  expand.setStaticOutputShape(sizes);
  result.setType(type);
}

void TensorParallel::rewriteAttention(PagedAttentionOp op, OpBuilder &builder) {
  narrow(op.getOutput());
  if (Value sinks = op.getSinks())
    op.getSinksMutable().assign(part(builder, op.getLoc(), sinks, 0));
  op.removeNumHeadsAttr();
}

/// Changes every cache of the module to the heads of one rank.
void TensorParallel::divideCacheTypes() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](PagedKVCacheType type) -> Type {
    return PagedKVCacheType::get(
        type.getContext(), type.getElementType(), type.getNumLayers(),
        type.getNumHeads() / numRanks, type.getHeadDim(), type.getBlockSize(),
        type.getMaxSeqLen(), type.getValueDim(), type.getValuesInKeys());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void TensorParallel::apply() {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    if (auto linear = dyn_cast<LinearOp>(op)) {
      rewrite(linear, builder);
    } else if (op->getNumResults() == 1 && plan.isDivided(op->getResult(0))) {
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
        rewriteReshape(op, builder);
      else if (auto attention = dyn_cast<PagedAttentionOp>(op))
        rewriteAttention(attention, builder);
      else
        narrow(op->getResult(0));
    }
  }
  if (plan.isCacheDivided())
    divideCacheTypes();
  OpBuilder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    function->setAttr(LLMDialect::getNumRanksAttrName(),
                      builder.getI64IntegerAttr(numRanks));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ShardPass : llm::impl::ShardBase<ShardPass> {
  using ShardBase::ShardBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(llmir::checkOption(module.getLoc(), numRanks, 1)) ||
        failed(llmir::checkOption(module.getLoc(), numStages, 1)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(LLMDialect::getNumRanksAttrName())) {
        function.emitError("is already sharded");
        return signalPassFailure();
      }
    if (numRanks > 1) {
      TensorParallel parallel(module, numRanks);
      parallel.apply();
      columnParallel += parallel.numColumnParallel;
      rowParallel += parallel.numRowParallel;
      collectives += parallel.numCollectives;
      if (parallel.numColumnParallel == 0)
        module.emitRemark("nothing was sharded: no projection has outputs that "
                          "can be divided among ")
            << int64_t(numRanks) << " ranks up to the next projection";
    }
    if (numStages > 1 && failed(splitIntoStages(module, numStages)))
      return signalPassFailure();
  }
};
} // namespace
