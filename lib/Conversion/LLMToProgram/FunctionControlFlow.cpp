//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branches and loops of functions, of mllm.cf and of scf, as labels and jumps:
//
//   if                            while
//   jump_if "then" (condition)    carried values := initial values
//   …else…                        label "loop"
//   results := what it yields     …condition…
//   jump "end"                    jump_if "body" (what it yields first)
//   label "then"                  jump "end"
//   …then…                        label "body"
//   results := what it yields     …body…
//   label "end"                   carried values := what it yields
//                                 jump "loop"
//                                 label "end"
//
// Results of a branch and carried values have separate buffers. Other values
// that a condition yields remain in their buffers: the body and the ops after
// the loop read them there.
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Copies made in a region are not valid after it: control may have taken
/// another branch, or be in the next iteration.
struct FunctionConversion::Knowledge {
  decltype(FunctionConversion::rearranged) rearranged;
  decltype(FunctionConversion::ropeTables) ropeTables;
  decltype(FunctionConversion::activations) activations;
};

LogicalResult FunctionConversion::convertBlock(Block &block) {
  Block *outer = std::exchange(currentBlock, &block);
  llvm::scope_exit leave([&] { currentBlock = outer; });
  for (Operation &op : block.without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue; // Initialized before the program runs.
    if (isa<mllm::IfOp, mllm::WhileOp, scf::IfOp, scf::WhileOp>(op) &&
        numRanks() > 1)
      return op.emitOpError("is control flow in a function of ")
             << numRanks()
             << " ranks, which run in lockstep; convert a function without "
                "branches and loops";
    if (isa<mllm::ForOp>(op))
      return op.emitOpError(
          "is a counted loop, which a program does not support; convert it "
          "to a loop with a condition by convert-mllm-to-llm{form=function}");
    if (failed(convertOpOrRegions(op)))
      return failure();
  }
  return success();
}

LogicalResult FunctionConversion::convertOpOrRegions(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](mllm::IfOp branch) {
        return convertIf(branch, branch.getCondition(), branch.getThen(),
                         branch.getOtherwise());
      })
      .Case([&](scf::IfOp branch) {
        return convertIf(branch, branch.getCondition(), branch.getThenRegion(),
                         branch.getElseRegion());
      })
      .Case([&](mllm::WhileOp loop) {
        return convertWhile(loop, loop.getCondition(), loop.getBody());
      })
      .Case([&](scf::WhileOp loop) {
        return convertWhile(loop, loop.getBefore(), loop.getAfter());
      })
      .Default([&](Operation *other) { return convertOp(other); });
}

FailureOr<SmallVector<RowsValue>>
FunctionConversion::convertRegion(Region &region) {
  Knowledge before{rearranged, ropeTables, activations};
  llvm::scope_exit leave([&] {
    rearranged = std::move(before.rearranged);
    ropeTables = std::move(before.ropeTables);
    activations = std::move(before.activations);
  });
  if (region.empty())
    return SmallVector<RowsValue>();
  Block &block = region.front();
  if (failed(convertBlock(block)))
    return failure();
  return lookupAll(block.getTerminator(), block.getTerminator()->getOperands());
}

static bool isCache(Value value) {
  return isa<mlir::llm::PagedKVCacheType>(value.getType());
}

SmallVector<RowsValue> FunctionConversion::createAll(ValueRange values) {
  SmallVector<RowsValue> all;
  for (Value value : values)
    all.push_back(isCache(value) ? RowsValue()
                                 : createResult(value, RowSpace::Tokens));
  return all;
}

FailureOr<SmallVector<RowsValue>>
FunctionConversion::lookupAll(Operation *op, ValueRange tensors) {
  SmallVector<RowsValue> all;
  for (Value tensor : tensors) {
    if (isCache(tensor)) {
      all.push_back(RowsValue()); // In the only pool.
      continue;
    }
    FailureOr<RowsValue> rows = lookup(op, tensor);
    if (failed(rows))
      return failure();
    all.push_back(*rows);
  }
  return all;
}

void FunctionConversion::placeLabel(Location loc, StringRef name) {
  program.label(loc, name);
  for (auto &[field, count] : counts)
    count.reset();
  for (auto &[field, buffer] : pointers)
    buffer = Value();
  // A predecessor may use a cache in scratch memory that is created by ops
  // converted later.
  counts[static_cast<int>(StepField::kv_layer_stride)].reset();
  pointers[static_cast<int>(StepField::kv_pool)] = Value();
  currentLayer.reset();
}

void FunctionConversion::assign(Location loc, ArrayRef<RowsValue> from,
                                ArrayRef<RowsValue> to, TypeRange types) {
  SmallVector<RowsValue> sources(from);
  auto copy = [&](const RowsValue &x, const RowsValue &y, Type type) {
    copyAll(*this, loc, x, y, tensorShape(type));
  };
  // Values that an earlier value of the list overwrites are saved.
  for (size_t i = 0; i < sources.size(); ++i)
    if (from[i].buffer &&
        llvm::any_of(to.take_front(i), [&](const RowsValue &earlier) {
          return earlier.buffer == from[i].buffer;
        })) {
      sources[i] = createScratch(loc, from[i].rows, from[i].columns,
                                 bufferElementOf(types[i]));
      copy(from[i], sources[i], types[i]);
    }
  for (auto [source, target, type] : llvm::zip_equal(sources, to, types))
    if (source.buffer != target.buffer)
      copy(source, target, type);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult FunctionConversion::convertIf(Operation *op, Value decides,
                                            Region &thenRegion,
                                            Region &elseRegion) {
  Location loc = op->getLoc();
  std::string number = std::to_string(numBranches++);
  std::string then = "then" + number, end = "end" + number;
  FailureOr<RowsValue> condition = lookup(op, decides);
  if (failed(condition))
    return failure();
  SmallVector<RowsValue> results = createAll(op->getResults());
  auto convertBranch = [&](Region &region) {
    auto yielded = convertRegion(region);
    if (succeeded(yielded))
      assign(loc, *yielded, results, op->getResultTypes());
    return success(succeeded(yielded));
  };
  program.jumpIf(loc, then, condition->buffer);
  if (failed(convertBranch(elseRegion)))
    return failure();
  program.jump(loc, end);
  placeLabel(loc, then);
  if (failed(convertBranch(thenRegion)))
    return failure();
  placeLabel(loc, end);
  return success();
}

LogicalResult FunctionConversion::convertWhile(Operation *op,
                                               Region &conditionRegion,
                                               Region &bodyRegion) {
  Location loc = op->getLoc();
  std::string number = std::to_string(numBranches++);
  std::string loop = "loop" + number, body = "body" + number,
              end = "end" + number;
  TypeRange types = op->getOperandTypes();
  auto inits = lookupAll(op, op->getOperands());
  if (failed(inits))
    return failure();
  SmallVector<RowsValue> carried = createAll(conditionRegion.getArguments());
  assign(loc, *inits, carried, types);

  placeLabel(loc, loop);
  auto condition = convertRegion(conditionRegion);
  if (failed(condition))
    return failure();
  program.jumpIf(loc, body, condition->front().buffer);
  program.jump(loc, end);
  placeLabel(loc, body);
  ArrayRef<RowsValue> passed = ArrayRef(*condition).drop_front();
  // A buffer may now hold several values, including those before the loop.
  for (auto [argument, result, rows] :
       llvm::zip_equal(bodyRegion.getArguments(), op->getResults(), passed)) {
    bind(argument, rows);
    bind(result, rows);
    shareBuffer(rows.buffer);
  }
  auto next = convertRegion(bodyRegion);
  if (failed(next))
    return failure();
  assign(loc, *next, carried, types);
  program.jump(loc, loop);
  placeLabel(loc, end);
  return success();
}

} // namespace llmir
