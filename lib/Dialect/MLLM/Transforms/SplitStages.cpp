//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_SPLITSTAGES
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// The first op of each of `parts` non-empty parts that minimize the maximum
/// cost; earlier splits are as late as possible.
static SmallVector<size_t> balance(ArrayRef<int64_t> work, size_t parts) {
  // Bisection over the maximum cost of a part.
  int64_t least = *llvm::max_element(work), most = 0;
  for (int64_t each : work)
    most = llvm::SaturatingAdd<uint64_t>(most, each) >
                   static_cast<uint64_t>(INT64_MAX)
               ? INT64_MAX
               : most + each;
  auto cut = [&](int64_t limit) {
    SmallVector<size_t> begins{0};
    int64_t sum = 0;
    for (size_t i = 0; i < work.size(); ++i) {
      // At least one op must remain per remaining part.
      bool isFull = i > begins.back() && work[i] > limit - sum;
      bool isLast = i > begins.back() &&
                    work.size() - i == parts - begins.size() &&
                    begins.size() < parts;
      if (isFull || isLast) {
        begins.push_back(i);
        sum = 0;
      }
      sum += work[i];
    }
    return begins;
  };
  while (least < most) {
    int64_t middle = least + (most - least) / 2;
    if (cut(middle).size() <= parts)
      most = middle;
    else
      least = middle + 1;
  }
  return cut(least);
}

namespace {
struct SplitStagesPass : impl::SplitStagesBase<SplitStagesPass> {
  using SplitStagesBase::SplitStagesBase;

  void runOnOperation() override {
    if (failed(checkOption(getOperation().getLoc(), stages, 1)))
      return signalPassFailure();
    if (stages == 1)
      return;
    if (failed(split(entrySubGraph(getOperation()))))
      signalPassFailure();
  }

private:
  LogicalResult split(SubGraphOp entry);
  /// Moves the ops into a new subgraph and calls it.
  void makeStage(SubGraphOp entry, ArrayRef<Operation *> ops, size_t number,
                 int64_t work);
};
} // namespace

LogicalResult SplitStagesPass::split(SubGraphOp entry) {
  if (!entry)
    return getOperation().emitError(
        "has no subgraph marked 'entry' to split into stages");
  if (entry.isExternal())
    return entry.emitOpError(
        "has no body; link the module that defines it first");
  SmallVector<Operation *> ops;
  for (Operation &op : entry.getBody().front().without_terminator())
    ops.push_back(&op);
  const auto parts = static_cast<size_t>(stages);
  if (ops.size() < parts)
    return entry.emitOpError("has ")
           << ops.size() << " ops, too few for " << parts
           << " stages; inline its subgraphs first (mllm-inline-subgraphs)";
  CostTable costs(getOperation());
  SmallVector<int64_t> work;
  for (Operation *op : ops)
    work.push_back(costs.work(costs.of(op)));
  SmallVector<size_t> begins = balance(work, parts);
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    size_t begin = begins[stage],
           end = stage + 1 < begins.size() ? begins[stage + 1] : ops.size();
    Amount sum;
    for (int64_t each : ArrayRef(work).slice(begin, end - begin))
      sum += Amount(each);
    makeStage(entry, ArrayRef(ops).slice(begin, end - begin), stage,
              sum.isKnown() ? *sum : INT64_MAX);
  }
  return success();
}

void SplitStagesPass::makeStage(SubGraphOp entry, ArrayRef<Operation *> ops,
                                size_t number, int64_t work) {
  Block &block = entry.getBody().front();
  llvm::SmallDenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isInside = [&](Operation *user) {
    return inside.contains(block.findAncestorOpInBlock(*user));
  };
  llvm::SetVector<Value> inputs, outputs;
  for (Operation *op : ops) {
    op->walk([&](Operation *each) {
      for (Value operand : each->getOperands()) {
        Operation *source = operand.getDefiningOp();
        bool isOwn =
            source ? block.findAncestorOpInBlock(*source) && isInside(source)
                   : operand.getParentBlock() != &block;
        if (!isOwn)
          inputs.insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), isInside))
        outputs.insert(result);
  }
  SubGraphOp stage =
      createSubGraph(entry, ("stage." + Twine(number)).str(),
                     TypeRange(ValueRange(inputs.getArrayRef())),
                     TypeRange(ValueRange(outputs.getArrayRef())));
  Builder attributes(&getContext());
  stage->setAttr("mllm.stage",
                 attributes.getI64IntegerAttr(static_cast<int64_t>(number)));
  stage->setAttr("mllm.flops", attributes.getI64IntegerAttr(work));
  OpBuilder at(ops.front());
  auto call =
      CallGraphOp::create(at, stage.getLoc(), stage, inputs.getArrayRef());
  OpBuilder b = OpBuilder::atBlockEnd(&stage.getBody().front());
  for (Operation *op : ops) {
    op->remove();
    b.insert(op);
  }
  ReturnOp::create(b, stage.getLoc(), outputs.getArrayRef());
  auto isMoved = [&](OpOperand &use) {
    return stage->isProperAncestor(use.getOwner());
  };
  for (auto [input, argument] :
       llvm::zip_equal(inputs, stage.getBody().front().getArguments()))
    Value(input).replaceUsesWithIf(argument, isMoved);
  for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
    Value(output).replaceUsesWithIf(
        result, [&](OpOperand &use) { return !isMoved(use); });
}

} // namespace llmir::mllm
