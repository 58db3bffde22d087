//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branches and loops of functions as labels and jumps:
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
// Results of a branch and carried values have buffers of their own. What else a
// condition yields stays where it is: the body and whoever comes behind the
// loop read it there.
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Copies that a region makes nobody else has made: whoever comes behind it may
/// have gone another way, or is in the loop's next turn.
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
      continue; // Written before the program runs.
    auto branch = dyn_cast<mllm::IfOp>(op);
    auto loop = dyn_cast<mllm::WhileOp>(op);
    if ((branch || loop) && numRanks() > 1)
      return op.emitOpError("stands in a function of ")
             << numRanks()
             << " ranks; a program's ranks run in lockstep and have one way";
    if (isa<mllm::ForOp>(op))
      return op.emitOpError(
          "counts its turns, for which a program has no jump; "
          "convert-mllm-to-llm{form=function} makes a loop "
          "with a condition of it");
    if (failed(branch ? convertIf(branch)
               : loop ? convertWhile(loop)
                      : convertOp(&op)))
      return failure();
  }
  return success();
}

FailureOr<SmallVector<RowsValue>>
FunctionConversion::convertRegion(Region &region) {
  Knowledge before{rearranged, ropeTables, activations};
  llvm::scope_exit leave([&] {
    rearranged = std::move(before.rearranged);
    ropeTables = std::move(before.ropeTables);
    activations = std::move(before.activations);
  });
  Block &block = region.front();
  if (failed(convertBlock(block)))
    return failure();
  return lookupAll(block.getTerminator(), block.getTerminator()->getOperands());
}

FailureOr<SmallVector<RowsValue>>
FunctionConversion::lookupAll(Operation *op, ValueRange tensors) {
  SmallVector<RowsValue> all;
  for (Value tensor : tensors) {
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
  // Whoever jumps here may have had a cache in scratch memory, which what is
  // still to be converted makes.
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
  // What an earlier value of the list takes the place of is put aside.
  for (size_t i = 0; i < sources.size(); ++i)
    if (llvm::any_of(to.take_front(i), [&](const RowsValue &earlier) {
          return earlier.buffer == from[i].buffer;
        })) {
      sources[i] = createScratch(loc, from[i].rows, from[i].columns,
                                 holdsIntegers(getElementTypeOrSelf(types[i])));
      copy(from[i], sources[i], types[i]);
    }
  for (auto [source, target, type] : llvm::zip_equal(sources, to, types))
    if (source.buffer != target.buffer)
      copy(source, target, type);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult FunctionConversion::convertIf(mllm::IfOp op) {
  Location loc = op.getLoc();
  std::string number = std::to_string(numBranches++);
  std::string then = "then" + number, end = "end" + number;
  FailureOr<RowsValue> condition = lookup(op, op.getCondition());
  if (failed(condition))
    return failure();
  SmallVector<RowsValue> results;
  for (Value result : op.getResults())
    results.push_back(createResult(result, RowSpace::Tokens));
  auto convertBranch = [&](Region &region) {
    auto yielded = convertRegion(region);
    if (succeeded(yielded))
      assign(loc, *yielded, results, op->getResultTypes());
    return success(succeeded(yielded));
  };
  program.jumpIf(loc, then, condition->buffer);
  if (failed(convertBranch(op.getOtherwise())))
    return failure();
  program.jump(loc, end);
  placeLabel(loc, then);
  if (failed(convertBranch(op.getThen())))
    return failure();
  placeLabel(loc, end);
  return success();
}

LogicalResult FunctionConversion::convertWhile(mllm::WhileOp op) {
  Location loc = op.getLoc();
  std::string number = std::to_string(numBranches++);
  std::string loop = "loop" + number, body = "body" + number,
              end = "end" + number;
  auto inits = lookupAll(op, op.getInits());
  if (failed(inits))
    return failure();
  Block::BlockArgListType arguments = op.getCondition().getArguments();
  SmallVector<RowsValue> carried;
  for (Value argument : arguments)
    carried.push_back(createResult(argument, RowSpace::Tokens));
  assign(loc, *inits, carried, op.getInits().getTypes());

  placeLabel(loc, loop);
  auto condition = convertRegion(op.getCondition());
  if (failed(condition))
    return failure();
  program.jumpIf(loc, body, condition->front().buffer);
  program.jump(loc, end);
  placeLabel(loc, body);
  ArrayRef<RowsValue> passed = ArrayRef(*condition).drop_front();
  // One buffer may be several values now, also those before the loop.
  for (auto [argument, result, rows] :
       llvm::zip_equal(op.getBody().getArguments(), op.getResults(), passed)) {
    bind(argument, rows);
    bind(result, rows);
    shareBuffer(rows.buffer);
  }
  auto next = convertRegion(op.getBody());
  if (failed(next))
    return failure();
  assign(loc, *next, carried, op.getInits().getTypes());
  program.jump(loc, loop);
  placeLabel(loc, end);
  return success();
}

} // namespace llmir
