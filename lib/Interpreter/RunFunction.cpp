//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Execution of functions and control flow, op by op, with all ranks in
// lockstep.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/PlannedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

namespace {

/// Runs the ops of one function.
class Runner {
public:
  Runner(Frame &frame) : frame(frame) {}

  /// The operands of the terminator of the block.
  FailureOr<std::vector<RankValues>> runBlock(Block &block);

private:
  LogicalResult runOp(Operation *op);
  LogicalResult readOperands(Operation *op);
  LogicalResult writeResults(Operation *op);
  LogicalResult runCall(func::CallOp op);
  LogicalResult runCallee(Operation *op, FunctionOpInterface callee);
  LogicalResult runIf(scf::IfOp op);
  LogicalResult runFor(scf::ForOp op);
  LogicalResult runGenerate(tensor::GenerateOp op);
  LogicalResult runCallGraph(mllm::CallGraphOp op);
  LogicalResult runMLLMIf(mllm::IfOp op);
  /// A loop of mllm.cf or scf.
  LogicalResult runWhile(Operation *op, Block &condition, Block &body);
  LogicalResult runMLLMFor(mllm::ForOp op);
  FailureOr<int64_t> uniformInteger(Operation *op, Value value);

  std::vector<RankValues> get(ValueRange values) const {
    std::vector<RankValues> result;
    for (Value value : values)
      result.push_back(frame.values.find(value)->second);
    return result;
  }
  void bind(ValueRange names, std::vector<RankValues> values) {
    for (auto [name, value] : llvm::zip_equal(names, values))
      frame.values[name] = std::move(value);
  }

  Frame &frame;
};

} // namespace

FailureOr<std::vector<RankValues>>
llmir::interpreter::runFunction(FunctionOpInterface function, Frame &frame,
                                std::vector<RankValues> arguments) {
  if (function.isExternal())
    return function.emitError("cannot be evaluated: it has no body"), failure();
  if (!function.getFunctionBody().hasOneBlock())
    return function.emitError("cannot be evaluated: it has branches between "
                              "blocks"),
           failure();
  for (auto [name, value] : llvm::zip_equal(function.getArguments(), arguments))
    frame.values[name] = std::move(value);
  return Runner(frame).runBlock(function.getFunctionBody().front());
}

FailureOr<std::vector<RankValues>> Runner::runBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed(readOperands(&op)) || failed(runOp(&op)) ||
        failed(writeResults(&op)))
      return failure();
  }
  if (failed(readOperands(block.getTerminator())))
    return failure();
  return get(block.getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Planned memory
//===----------------------------------------------------------------------===//

/// Reads the operands from planned memory; fails if they have been overwritten.
LogicalResult Runner::readOperands(Operation *op) {
  if (!frame.memory)
    return success();
  auto copy = dyn_cast<mllm::CopyOp>(op);
  for (Value operand : op->getOperands()) {
    auto found = frame.values.find(operand);
    if (found == frame.values.end() || (copy && operand == copy.getDst()))
      continue; // The destination is not read.
    const Place &place = found->second.place;
    for (int64_t line = place.begin; line < place.end; ++line)
      if (const int64_t holder = frame.memory->holderOf(line);
          holder != place.value)
        return op->emitOpError("cannot be evaluated: it reads byte ")
               << line * mllm::kLineBytes << " of the planned memory, "
               << (holder == 0 ? "which holds no value"
                               : "which has been overwritten");
    if (place.end > place.begin)
      frame.memory->read(place, std::get<Tensor>(found->second.front()));
  }
  return success();
}

/// Writes the result of an op to its place, or records the place of a view.
LogicalResult Runner::writeResults(Operation *op) {
  constexpr int64_t mostLines = int64_t(1) << 28;
  if (!frame.memory)
    return success();
  Arena &memory = *frame.memory;
  if (auto alloc = dyn_cast<mllm::AllocOp>(op)) {
    if (std::optional<uint64_t> offset = alloc.getOffset()) {
      Place &place = frame.values[alloc.getResult()].place;
      place.begin = frame.firstLine + int64_t(*offset) / mllm::kLineBytes;
      place.end = place.begin; // A copy into it determines its size.
      place.value = memory.newValue();
      if (place.begin < 0 || place.begin > mostLines)
        return op->emitOpError("cannot be evaluated: it is at line ")
               << place.begin << " of the planned memory, which has "
               << mostLines << " at most";
    }
  } else if (auto copy = dyn_cast<mllm::CopyOp>(op)) {
    Place place = frame.values[copy.getDst()].place;
    RankValues &written = frame.values[copy.getResult()];
    if (place.value == 0)
      return success(); // Not part of the plan.
    auto &tensor = std::get<Tensor>(written.front());
    place.value = memory.newValue();
    memory.write(place, tensor);
    // The elements are in planned memory only.
    tensor = Tensor(tensor.kind, tensor.shape);
    written.place = place;
  } else if (auto end = dyn_cast<mllm::FreeOp>(op)) {
    memory.release(frame.values[end.getX()].place);
  } else if (Value viewed = mllm::viewedOperand(op)) {
    const Place place = frame.values[viewed].place;
    frame.values[op->getResult(0)].place = place;
  }
  return success();
}

LogicalResult Runner::runOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return runCall(call);
  if (auto conditional = dyn_cast<scf::IfOp>(op))
    return runIf(conditional);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto call = dyn_cast<mllm::CallGraphOp>(op))
    return runCallGraph(call);
  if (auto conditional = dyn_cast<mllm::IfOp>(op))
    return runMLLMIf(conditional);
  if (auto loop = dyn_cast<mllm::WhileOp>(op))
    return runWhile(loop, loop.getCondition().front(), loop.getBody().front());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop, loop.getBefore().front(), loop.getAfter().front());
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return runGenerate(generate);
  if (auto loop = dyn_cast<mllm::ForOp>(op))
    return runMLLMFor(loop);
  const Evaluator *evaluator = evaluatorOf(op);
  if (!evaluator)
    return op->emitOpError("cannot be evaluated: it has no evaluator");
  for (int64_t rank = 0; rank < frame.numRanks; ++rank) {
    Evaluation evaluation(frame, op, rank);
    if (failed((*evaluator)(op, evaluation)))
      return failure();
  }
  return success();
}

FailureOr<int64_t> Runner::uniformInteger(Operation *op, Value value) {
  const RankValues &ranks = frame.values.find(value)->second;
  if (std::get<Tensor>(ranks.front()).size() != 1)
    return op->emitOpError("cannot be evaluated: its condition does not have a "
                           "single element"),
           failure();
  const int64_t first = std::get<Tensor>(ranks.front()).integer(0);
  for (const InterpreterValue &other : ranks)
    if (std::get<Tensor>(other).integer(0) != first)
      return op->emitOpError("cannot be evaluated: ranks take different paths"),
             failure();
  return first;
}

LogicalResult Runner::runCallee(Operation *op, FunctionOpInterface callee) {
  constexpr int64_t maxDepth = 200;
  if (frame.numCallers == maxDepth)
    return op->emitOpError("cannot be evaluated: more than ")
           << maxDepth << " nested calls; a function may call itself";
  Frame inner;
  inner.numCallers = frame.numCallers + 1;
  inner.numRanks = frame.numRanks;
  inner.options = frame.options;
  inner.state = frame.state;
  inner.memory = frame.memory;
  inner.firstLine = frame.firstLine;
  if (auto base = op->getAttrOfType<IntegerAttr>(mllm::kFrameAttr))
    inner.firstLine += base.getInt() / mllm::kLineBytes;
  FailureOr<std::vector<RankValues>> results =
      runFunction(callee, inner, get(op->getOperands()));
  if (failed(results))
    return failure();
  bind(op->getResults(), std::move(*results));
  return success();
}

LogicalResult Runner::runCall(func::CallOp op) {
  return runCallee(op, SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                           op, op.getCalleeAttr()));
}

LogicalResult Runner::runCallGraph(mllm::CallGraphOp op) {
  return runCallee(op, SymbolTable::lookupNearestSymbolFrom<mllm::SubGraphOp>(
                           op, op.getCalleeAttr()));
}

LogicalResult Runner::runIf(scf::IfOp op) {
  FailureOr<int64_t> condition = uniformInteger(op, op.getCondition());
  if (failed(condition))
    return failure();
  Region &region = *condition != 0 ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  FailureOr<std::vector<RankValues>> results = runBlock(region.front());
  if (failed(results))
    return failure();
  bind(op.getResults(), std::move(*results));
  return success();
}

LogicalResult Runner::runFor(scf::ForOp op) {
  FailureOr<int64_t> first = uniformInteger(op, op.getLowerBound());
  FailureOr<int64_t> end = uniformInteger(op, op.getUpperBound());
  FailureOr<int64_t> step = uniformInteger(op, op.getStep());
  if (failed(first) || failed(end) || failed(step))
    return failure();
  if (*step <= 0)
    return op.emitOpError() << "cannot be evaluated: its step is " << *step;
  std::vector<RankValues> carried = get(op.getInitArgs());
  // From the lower bound, since the next value may overflow the type.
  Type type = op.getInductionVar().getType();
  const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  const bool isBelow =
      op.getUnsignedCmp() ? uint64_t(*first) < uint64_t(*end) : *first < *end;
  const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
  const uint64_t span =
      isBelow ? (uint64_t(*end) - uint64_t(*first)) & mask : 0;
  const auto stride = uint64_t(*step);
  for (uint64_t done = 0; done < span;
       done = stride < span - done ? done + stride : span) {
    const int64_t i = llvm::SignExtend64(uint64_t(*first) + done, width);
    frame.values[op.getInductionVar()] = RankValues(
        size_t(frame.numRanks), Tensor::ofIntegers(ElementKind::I64, {}, {i}));
    bind(op.getRegionIterArgs(), std::move(carried));
    FailureOr<std::vector<RankValues>> results = runBlock(*op.getBody());
    if (failed(results))
      return failure();
    carried = std::move(*results);
  }
  bind(op.getResults(), std::move(carried));
  return success();
}

LogicalResult Runner::runMLLMIf(mllm::IfOp op) {
  FailureOr<int64_t> condition = uniformInteger(op, op.getCondition());
  if (failed(condition))
    return failure();
  Region &region = *condition != 0 ? op.getThen() : op.getOtherwise();
  FailureOr<std::vector<RankValues>> results = runBlock(region.front());
  if (failed(results))
    return failure();
  bind(op.getResults(), std::move(*results));
  return success();
}

LogicalResult Runner::runGenerate(tensor::GenerateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  std::optional<ElementKind> kind = getElementKind(type.getElementType());
  reference::Shape shape(type.getShape().begin(), type.getShape().end());
  auto size = op.getDynamicExtents().begin();
  for (int64_t &entry : shape)
    if (ShapedType::isDynamic(entry)) {
      FailureOr<int64_t> extent = uniformInteger(op, *size++);
      if (failed(extent))
        return failure();
      entry = *extent;
    }
  if (!kind || !isAffordable(shape))
    return op.emitOpError("cannot be evaluated: ")
           << type << " is not supported by the interpreter or too large";
  RankValues results(size_t(frame.numRanks), Tensor(*kind, shape));
  Block &body = op.getBody().front();
  for (int64_t i = 0; i < reference::numElements(shape); ++i) {
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      frame.values[body.getArgument(unsigned(d))] = RankValues(
          size_t(frame.numRanks),
          Tensor::ofIntegers(ElementKind::I64, {}, {rest % shape[d]}));
    FailureOr<std::vector<RankValues>> numbers = runBlock(body);
    if (failed(numbers))
      return failure();
    for (auto [result, number] : llvm::zip_equal(results, numbers->front()))
      std::get<Tensor>(result)[i] = std::get<Tensor>(number).number(0);
  }
  frame.values[op.getResult()] = std::move(results);
  return success();
}

LogicalResult Runner::runWhile(Operation *op, Block &condition, Block &body) {
  std::vector<RankValues> carried = get(op->getOperands());
  while (true) {
    bind(condition.getArguments(), std::move(carried));
    FailureOr<std::vector<RankValues>> yielded = runBlock(condition);
    if (failed(yielded))
      return failure();
    FailureOr<int64_t> decision =
        uniformInteger(op, condition.getTerminator()->getOperand(0));
    if (failed(decision))
      return failure();
    yielded->erase(yielded->begin());
    if (*decision == 0) {
      bind(op->getResults(), std::move(*yielded));
      return success();
    }
    bind(body.getArguments(), std::move(*yielded));
    FailureOr<std::vector<RankValues>> next = runBlock(body);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
}

LogicalResult Runner::runMLLMFor(mllm::ForOp op) {
  FailureOr<int64_t> count = uniformInteger(op, op.getCount());
  if (failed(count))
    return failure();
  Block &body = op.getBody().front();
  // The iteration number has the shape of the trip count.
  const Tensor &like =
      std::get<Tensor>(frame.values.find(op.getCount())->second.front());
  Tensor turn(like.kind, like.shape);
  std::vector<RankValues> carried = get(op.getInits());
  for (int64_t i = 0; i < *count; ++i) {
    turn[0] = double(i);
    frame.values[body.getArgument(0)] =
        RankValues(size_t(frame.numRanks), turn);
    bind(body.getArguments().drop_front(), std::move(carried));
    FailureOr<std::vector<RankValues>> results = runBlock(body);
    if (failed(results))
      return failure();
    carried = std::move(*results);
  }
  bind(op.getResults(), std::move(carried));
  return success();
}
