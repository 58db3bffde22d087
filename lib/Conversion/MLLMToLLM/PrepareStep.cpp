//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareStep.h"

#include "SubGraphNeeds.h"
#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

/// The type without its first size; null unless that is 1 and others follow.
static RankedTensorType withoutSequences(RankedTensorType type) {
  shapes::Shape shape = shapeOf(type);
  if (shape.size() < 2 || shape.front() != shapes::DimExpr(1))
    return {};
  shape.erase(shape.begin());
  return makeTensorType(shape, type.getElementType(), deviceOf(type));
}

namespace {
/// Removes the sequence dimension, the first one, from all values of a subgraph
/// that have it.
class SequenceDropper {
public:
  LogicalResult drop(SubGraphOp subgraph);

private:
  bool hasSequence(Value value) const { return dropped.contains(value); }
  LogicalResult drop(Value value);
  LogicalResult drop(Operation &op);
  /// Updates attributes of the op that refer to dimensions of `of`.
  LogicalResult dropFromAttributes(Operation &op, Value of);
  /// Reshapes an operand without a sequence dimension to at most the remaining
  /// rank of the others.
  LogicalResult dropFromConstant(OpOperand &operand, int64_t rank);

  llvm::DenseSet<Value> dropped;
};
} // namespace

LogicalResult SequenceDropper::drop(Value value) {
  RankedTensorType type = tensorType(value);
  RankedTensorType without = withoutSequences(type);
  if (!without)
    return emitError(value.getLoc(), "a value has the type ")
           << type
           << ", whose first dimension is not the sequence dimension of size "
              "1; in a step, every value computed from the token ids must "
              "keep it";
  value.setType(without);
  dropped.insert(value);
  return success();
}

/// A dimension index of an attribute after removing the first dimension;
/// nullopt if it refers to that one.
static std::optional<int64_t> withoutFirst(int64_t dim, int64_t rank) {
  if (dim == 0 || dim == -rank)
    return std::nullopt;
  return dim < 0 ? dim : dim - 1;
}

LogicalResult SequenceDropper::dropFromAttributes(Operation &op, Value of) {
  // Ranks do not include the sequence dimension any more.
  int64_t rank = tensorType(of).getRank() + 1;
  Builder b(op.getContext());
  auto refuse = [&] {
    return op.emitOpError(
        "operates on the sequence dimension, which a step does not have");
  };
  for (StringRef name : {"dim", "axis", "dim0", "dim1"}) {
    auto dim = op.getAttrOfType<IntegerAttr>(name);
    if (!dim)
      continue;
    std::optional<int64_t> left =
        withoutFirst(dim.getInt(), rank + isa<StackOp>(op));
    if (!left)
      return refuse();
    op.setAttr(name, b.getI64IntegerAttr(*left));
  }
  for (StringRef name : {"axes", "dims"}) {
    auto list = op.getAttrOfType<DenseI64ArrayAttr>(name);
    if (!list)
      continue;
    SmallVector<int64_t> left;
    for (auto [i, dim] : llvm::enumerate(list.asArrayRef())) {
      std::optional<int64_t> other = withoutFirst(dim, rank);
      if (other)
        left.push_back(*other);
      else if (name != "axes" || i != 0)
        return refuse();
    }
    op.setAttr(name, b.getDenseI64ArrayAttr(left));
  }
  // One value per dimension; the first one must be neutral.
  for (auto [name, neutral] : {std::pair<StringRef, int64_t>{"starts", 0},
                               {"ends", INT64_MIN},
                               {"steps", 1},
                               {"low", 0},
                               {"high", 0}}) {
    auto list = op.getAttrOfType<DenseI64ArrayAttr>(name);
    if (!list)
      continue;
    int64_t first = list.asArrayRef().front();
    if (first != neutral && !(name == "ends" && first >= 1))
      return refuse();
    op.setAttr(name, b.getDenseI64ArrayAttr(list.asArrayRef().drop_front()));
  }
  return success();
}

LogicalResult SequenceDropper::dropFromConstant(OpOperand &operand,
                                                int64_t rank) {
  RankedTensorType type = tensorType(operand.get());
  if (type.getRank() <= rank)
    return success();
  RankedTensorType without = withoutSequences(type);
  Operation *op = operand.getOwner();
  if (!without)
    return op->emitOpError(
               "combines the sequence dimension with a value of type ")
           << type << ", whose first size is not 1";
  OpBuilder builder(op);
  operand.set(ViewOp::create(builder, op->getLoc(), without, operand.get()));
  return success();
}

LogicalResult SequenceDropper::drop(Operation &op) {
  if (op.getNumRegions() != 0 || isa<ReturnOp>(op))
    return success(); // Rejected by the conversion, or typed by its operands.
  if (llvm::none_of(op.getOperands(),
                    [&](Value value) { return hasSequence(value); }))
    return success();
  if (isa<Conv1DOp, Conv2DOp, Conv3DOp, InterpolateOp, LayerNorm2DOp, STFTOp,
          ISTFTOp>(op))
    return op.emitOpError("operates on a batch, but a step has no sequence "
                          "dimension");
  if (isa<CallGraphOp>(op))
    for (OpOperand &operand : op.getOpOperands())
      if (!hasSequence(operand.get()))
        return op.emitOpError("has operands with and without the sequence "
                              "dimension; pass values of the same form");
  for (Value result : op.getResults())
    if (failed(drop(result)))
      return failure();
  // Dimensions are those of the first operand; lists have the same ones for
  // all.
  if (op.getNumOperands() > 0 && hasSequence(op.getOperand(0)) &&
      failed(dropFromAttributes(op, op.getOperand(0))))
    return failure();
  if (op.getNumResults() == 0)
    return success();
  int64_t rank = tensorType(op.getResult(0)).getRank();
  for (OpOperand &operand : op.getOpOperands())
    if (!isa<CallGraphOp, KVCacheOp, FlashAttention2Op, RoPEOp, GatherOp,
             IndexOp, EmbeddingOp>(op) &&
        !hasSequence(operand.get()) && failed(dropFromConstant(operand, rank)))
      return failure();
  return success();
}

LogicalResult SequenceDropper::drop(SubGraphOp subgraph) {
  if (subgraph.isExternal())
    return refuseWithoutBody(subgraph);
  Block &body = subgraph.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (failed(drop(argument)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(drop(op)))
      return failure();
  subgraph.setFunctionType(
      FunctionType::get(subgraph.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  return success();
}

/// The batch of a step is ragged and has no sequence dimension: the trace for
/// one sequence applies to each of them.
static LogicalResult dropSequences(ModuleOp module, SubGraphOp entry) {
  if (entry.isExternal() || entry.getNumArguments() != 1)
    return success(); // The conversion reports invalid arguments of an entry.
  RankedTensorType ids = tensorType(entry.getArgument(0));
  if (ids.getRank() != 2 || !ids.getElementType().isInteger())
    return success();
  if (!withoutSequences(ids))
    return entry.emitOpError()
           << "takes token ids of type " << ids
           << "; a step requires a trace of one sequence, with ids of shape "
              "[1, tokens]";
  // Others are not part of the step.
  SmallVector<SubGraphOp> reached = {entry};
  llvm::SmallPtrSet<Operation *, 32> seen = {entry};
  for (size_t i = 0; i < reached.size(); ++i)
    SubGraphOp(reached[i]).walk([&](CallGraphOp call) {
      auto callee = module.lookupSymbol<SubGraphOp>(call.getCalleeAttr());
      if (callee && seen.insert(callee).second)
        reached.push_back(callee);
    });
  SequenceDropper dropper;
  for (SubGraphOp subgraph : reached)
    if (failed(dropper.drop(subgraph)))
      return failure();
  return success();
}

/// Attention of all tokens of a sequence to each other reads keys and values
/// from the cache, too: those of this step. Layers are numbered in the order of
/// calls.
static void cacheKeysOfStep(ModuleOp module, SubGraphOp subgraph,
                            llvm::SmallPtrSetImpl<Operation *> &seen,
                            int64_t &layer) {
  if (!seen.insert(subgraph).second || subgraph.isExternal())
    return;
  auto add = [&](auto attention) {
    if (attention.getCausal() || getCacheOp(attention) ||
        tensorType(attention.getK()).getRank() != 3)
      return;
    OpBuilder b(attention);
    auto cache =
        KVCacheOp::create(b, attention.getLoc(), attention.getK().getType(),
                          attention.getV().getType(), attention.getK(),
                          attention.getV(), b.getI64IntegerAttr(layer++));
    attention.getKMutable().assign(cache.getKeys());
    attention.getVMutable().assign(cache.getValues());
  };
  for (Operation &op : llvm::make_early_inc_range(subgraph.getBody().front())) {
    if (auto call = dyn_cast<CallGraphOp>(op)) {
      auto callee = module.lookupSymbol<SubGraphOp>(call.getCalleeAttr());
      if (callee)
        cacheKeysOfStep(module, callee, seen, layer);
    } else if (auto attention = dyn_cast<FlashAttention2Op>(op)) {
      add(attention);
    } else if (auto windowed = dyn_cast<FlashAttention2SwaSinkOp>(op)) {
      add(windowed);
    }
  }
}

/// In a model with caches, where a sequence can be continued, later tokens
/// would not be known.
static void cacheKeysOfStep(ModuleOp module, SubGraphOp entry) {
  WalkResult walk =
      module.walk([](KVCacheOp) { return WalkResult::interrupt(); });
  if (walk.wasInterrupted())
    return;
  llvm::SmallPtrSet<Operation *, 32> seen;
  int64_t layer = 0;
  cacheKeysOfStep(module, entry, seen, layer);
}

FailureOr<SubGraphOp> llmir::prepareStep(ModuleOp module) {
  SubGraphOp entry = entrySubGraph(module);
  if (!entry)
    return module.emitError("has subgraphs, but none is marked entry");
  eraseModelCalls(module);
  entry.setEntry(true);
  fuseAttention(module);
  if (failed(dropSequences(module, entry)))
    return failure();
  cacheKeysOfStep(module, entry);
  return entry;
}
