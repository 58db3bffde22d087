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

static LogicalResult dropSequences(Value value) {
  RankedTensorType type = tensorType(value);
  RankedTensorType dropped = withoutSequences(type);
  if (!dropped)
    return emitError(value.getLoc(), "a value has the type ")
           << type
           << ", which does not begin with the model's one sequence; a step "
              "takes ops that treat sequence and tokens as its inputs have "
              "them";
  value.setType(dropped);
  return success();
}

static LogicalResult dropSequences(SubGraphOp subgraph) {
  if (subgraph.isExternal())
    return refuseWithoutBody(subgraph);
  Block &body = subgraph.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (failed(dropSequences(argument)))
      return failure();
  for (Operation &op : body) {
    if (!isStepOp(&op))
      return refuseForStep(&op);
    for (Value result : op.getResults())
      if (failed(dropSequences(result)))
        return failure();
  }
  subgraph.setFunctionType(
      FunctionType::get(subgraph.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  return success();
}

/// Batches are ragged in a step, and no dimension: what was traced for one
/// sequence holds for each of theirs.
static LogicalResult dropSequences(ModuleOp module, SubGraphOp entry) {
  if (entry.isExternal() || entry.getNumArguments() != 1)
    return success(); // The conversion says what an entry takes.
  RankedTensorType ids = tensorType(entry.getArgument(0));
  if (ids.getRank() != 2 || !ids.getElementType().isInteger())
    return success();
  if (!withoutSequences(ids))
    return entry.emitOpError()
           << "takes token ids of type " << ids
           << "; a step is made from a trace of one sequence, and batches are "
              "those of the llm dialect";
  // Others are no part of the step.
  SmallVector<SubGraphOp> reached = {entry};
  llvm::SmallPtrSet<Operation *, 32> seen = {entry};
  for (size_t i = 0; i < reached.size(); ++i)
    SubGraphOp(reached[i]).walk([&](CallGraphOp call) {
      auto callee = module.lookupSymbol<SubGraphOp>(call.getCalleeAttr());
      if (callee && seen.insert(callee).second)
        reached.push_back(callee);
    });
  for (SubGraphOp subgraph : reached)
    if (failed(dropSequences(subgraph)))
      return failure();
  return success();
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
  return entry;
}
