//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions, control flow, and one op after another on all ranks.
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Interpreter.h"
#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Interpreter/ModelState.h"
#include "llmir/Interpreter/OpEvaluatorInterface.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/Support/Threading.h"

#include <algorithm>

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const EvaluatorTable &llmir::interpreter::getEvaluators() {
  static const EvaluatorTable table = [] {
    EvaluatorTable result;
    addLLMEvaluators(result);
    addCacheEvaluators(result);
    addDistributedEvaluators(result);
    addFusedEvaluators(result);
    addArithEvaluators(result);
    addTensorEvaluators(result);
    addLinalgEvaluators(result);
    addCheckEvaluators(result);
    addMLLMElementwiseEvaluators(result);
    addMLLMShapeEvaluators(result);
    addMLLMIndexEvaluators(result);
    addMLLMNNEvaluators(result);
    addMLLMAttentionEvaluators(result);
    addMLLMVisionEvaluators(result);
    addMLLMSignalEvaluators(result);
    addMLLMTensorEvaluators(result);
    return result;
  }();
  return table;
}

std::vector<std::string> EvaluatorTable::names() const {
  std::vector<std::string> result;
  for (const auto &entry : table)
    result.push_back(entry.getKey().str());
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> llmir::getEvaluatedOps() {
  return getEvaluators().names();
}

/// Asks the op's dialect, which has an OpEvaluatorInterface.
static LogicalResult evaluateByDialect(Operation *op, Evaluation &e) {
  std::vector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    auto *tensor = std::get_if<Tensor>(&e.value(operand));
    if (!tensor)
      return op->emitOpError() << "cannot be evaluated: its dialect evaluates "
                                  "tensors, not values of type "
                               << operand.getType();
    operands.push_back(*tensor);
  }
  auto *dialect =
      op->getDialect()->getRegisteredInterface<OpEvaluatorInterface>();
  Expected<std::vector<Tensor>> results = dialect->evaluate(op, operands);
  if (!results)
    return e.fail(results.status());
  if (results->size() != op->getNumResults())
    return op->emitOpError()
           << "cannot be evaluated: its dialect gives " << results->size()
           << " values for " << op->getNumResults() << " results";
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    if (failed(e.set(result, std::move(value))))
      return failure();
  return success();
}

/// The op's row of the table, or what its dialect brings along; null for an op
/// that has neither.
static const Evaluator *evaluatorOf(Operation *op) {
  static const Evaluator byDialect = evaluateByDialect;
  if (const Evaluator *own = getEvaluators().find(op->getName().getStringRef()))
    return own;
  Dialect *dialect = op->getDialect();
  return dialect && dialect->getRegisteredInterface<OpEvaluatorInterface>()
             ? &byDialect
             : nullptr;
}

//===----------------------------------------------------------------------===//
// One op on one rank
//===----------------------------------------------------------------------===//

const InterpreterValue &Evaluation::value(Value operand) const {
  auto found = frame.values.find(operand);
  assert(found != frame.values.end() && "operands come before their users");
  return found->second[size_t(thisRank)];
}

Tensor Evaluation::weight(Value operand) const {
  const InterpreterValue &stored = value(operand);
  if (auto *quantized = std::get_if<QuantizedValue>(&stored))
    return quantized->decode();
  return std::get<Tensor>(stored);
}

FailureOr<Tensor> Evaluation::parameter(FlatSymbolRefAttr symbol) const {
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(op, symbol);
  if (!parameter || !options().parameter)
    return op->emitOpError() << "cannot be evaluated: nobody says the values "
                                "of parameter "
                             << symbol,
           failure();
  FailureOr<InterpreterValue> value = options().parameter(parameter);
  if (failed(value))
    return failure();
  if (auto *quantized = std::get_if<QuantizedValue>(&*value))
    return quantized->decode();
  return std::get<Tensor>(std::move(*value));
}

int64_t Evaluation::integer(Value operand) const {
  return operand ? tensor(operand).integer(0) : 0;
}

reference::RankTensors Evaluation::onAllRanks(Value operand) const {
  reference::RankTensors result;
  for (const InterpreterValue &value : frame.values.find(operand)->second)
    result.push_back(std::get<Tensor>(value));
  return result;
}

LogicalResult Evaluation::fail(const Status &status) {
  return op->emitOpError() << "cannot be evaluated: " << status.message();
}

LogicalResult Evaluation::checkIndices(const Tensor &indices, int64_t end,
                                       StringRef what) {
  for (int64_t i = 0; i < indices.size(); ++i)
    if (indices.integer(i) < 0 || indices.integer(i) >= end)
      return op->emitOpError()
             << "cannot be evaluated: " << what << " " << i << " is "
             << indices.integer(i) << ", which is not from 0 to " << end - 1;
  return success();
}

/// The type of the tensor that a value of `type` is, or null.
static RankedTensorType tensorTypeOf(Type type) {
  if (auto sharded = dyn_cast<llm::ShardedTensorType>(type))
    return sharded.getShardType();
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    return shaped;
  return RankedTensorType::get({}, type);
}

LogicalResult Evaluation::set(Value result, InterpreterValue value) {
  if (auto *tensor = std::get_if<Tensor>(&value)) {
    RankedTensorType type = tensorTypeOf(result.getType());
    std::optional<ElementKind> kind = getElementKind(type.getElementType());
    if (!kind)
      return op->emitOpError() << "cannot be evaluated: the interpreter has no "
                                  "values of type "
                               << result.getType();
    const bool agrees =
        type.getRank() == tensor->rank() &&
        llvm::all_of(llvm::zip(type.getShape(), tensor->shape), [](auto sizes) {
          auto [declared, actual] = sizes;
          return ShapedType::isDynamic(declared) || declared == actual;
        });
    if (!agrees)
      return op->emitOpError() << "evaluates to " << typeString(*tensor)
                               << ", but has type " << result.getType();
    if (llvm::any_of(result.getUsers(),
                     llvm::IsaPred<func::ReturnOp, mllm::ReturnOp>))
      frame.exact[result].push_back(*tensor);
    *tensor = round(std::move(*tensor), *kind);
  }
  RankValues &ranks = frame.values[result];
  if (thisRank == 0)
    ranks.clear(); // Of the loop's iteration before.
  ranks.push_back(std::move(value));
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow: all ranks go the same way
//===----------------------------------------------------------------------===//

namespace {

/// Runs the ops of one function.
class Runner {
public:
  Runner(Frame &frame) : frame(frame) {}

  /// The operands of the block's terminator.
  FailureOr<std::vector<RankValues>> runBlock(Block &block);

private:
  LogicalResult runOp(Operation *op);
  LogicalResult runCall(func::CallOp op);
  LogicalResult runCallee(Operation *op, FunctionOpInterface callee);
  LogicalResult runIf(scf::IfOp op);
  LogicalResult runFor(scf::ForOp op);
  LogicalResult runCallGraph(mllm::CallGraphOp op);
  LogicalResult runMLLMIf(mllm::IfOp op);
  LogicalResult runMLLMWhile(mllm::WhileOp op);
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

static FailureOr<std::vector<RankValues>>
runFunction(FunctionOpInterface function, Frame &frame,
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
  for (Operation &op : block.without_terminator())
    if (failed(runOp(&op)))
      return failure();
  return get(block.getTerminator()->getOperands());
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
    return runMLLMWhile(loop);
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
    return op->emitOpError("cannot be evaluated: what decides how it goes on "
                           "is not one number"),
           failure();
  const int64_t first = std::get<Tensor>(ranks.front()).integer(0);
  for (const InterpreterValue &other : ranks)
    if (std::get<Tensor>(other).integer(0) != first)
      return op->emitOpError("cannot be evaluated: ranks go different ways"),
             failure();
  return first;
}

LogicalResult Runner::runCallee(Operation *op, FunctionOpInterface callee) {
  Frame inner;
  inner.numRanks = frame.numRanks;
  inner.options = frame.options;
  inner.state = frame.state;
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
  for (int64_t i = *first; i < *end; i += *step) {
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

LogicalResult Runner::runMLLMWhile(mllm::WhileOp op) {
  std::vector<RankValues> carried = get(op.getInits());
  while (true) {
    Block &condition = op.getCondition().front();
    bind(condition.getArguments(), std::move(carried));
    FailureOr<std::vector<RankValues>> yielded = runBlock(condition);
    if (failed(yielded))
      return failure();
    FailureOr<int64_t> goesOn =
        uniformInteger(op, condition.getTerminator()->getOperand(0));
    if (failed(goesOn))
      return failure();
    yielded->erase(yielded->begin());
    if (*goesOn == 0) {
      bind(op.getResults(), std::move(*yielded));
      return success();
    }
    bind(op.getBody().getArguments(), std::move(*yielded));
    FailureOr<std::vector<RankValues>> next = runBlock(op.getBody().front());
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
  // The number of the turn has the shape of the count: one value.
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

//===----------------------------------------------------------------------===//
// From the caller's values to the ranks' and back
//===----------------------------------------------------------------------===//

/// The dimension in which an argument or result is cut, or nothing.
static std::optional<int64_t> getShardDim(DictionaryAttr attributes) {
  auto attr = attributes ? attributes.getAs<IntegerAttr>(
                               llm::LLMDialect::getShardDimAttrName())
                         : IntegerAttr();
  return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
}

static FailureOr<RankValues> distribute(FunctionOpInterface function,
                                        unsigned index, InterpreterValue value,
                                        int64_t numRanks) {
  std::optional<int64_t> dim = getShardDim(function.getArgAttrDict(index));
  if (!dim)
    return RankValues(size_t(numRanks), std::move(value));
  auto report = [&] {
    return function.emitError() << "argument " << index << ": ";
  };
  auto *quantized = std::get_if<QuantizedValue>(&value);
  auto *tensor = quantized ? &quantized->numbers : std::get_if<Tensor>(&value);
  if (!tensor || (quantized && quantized->format))
    return report() << "only tensors and integers can be cut for the ranks",
           failure();
  if (*dim >= tensor->rank() || tensor->dim(*dim) % numRanks != 0)
    return report() << typeString(*tensor) << " cannot be cut in dimension "
                    << *dim << " for " << numRanks << " ranks",
           failure();
  RankValues result;
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    Tensor part = reference::shard(*tensor, *dim, numRanks, rank);
    if (quantized)
      result.push_back(QuantizedValue{part.shape, part, std::nullopt, {}});
    else
      result.push_back(std::move(part));
  }
  return result;
}

/// One tensor from the ranks': joined, or the one that all have.
static FailureOr<Tensor> collect(FunctionOpInterface function, unsigned index,
                                 const reference::RankTensors &ranks) {
  if (std::optional<int64_t> dim =
          getShardDim(function.getResultAttrDict(index)))
    return concatenate(ranks, *dim);
  for (const Tensor &other : ranks)
    if (!reference::sameBits(ranks.front(), other))
      return function.emitError()
                 << "result " << index
                 << " has no llm.shard_dim, but differs between ranks: "
                 << toString(ranks.front()) << " and " << toString(other),
             failure();
  return ranks.front();
}

static FailureOr<Interpreter::Result>
collectResult(FunctionOpInterface function, unsigned index, RankValues values,
              const Frame &frame) {
  Interpreter::Result result{values.front(), std::nullopt};
  if (!std::holds_alternative<Tensor>(values.front()))
    return result;
  reference::RankTensors ranks;
  for (InterpreterValue &value : values)
    ranks.push_back(std::move(std::get<Tensor>(value)));
  FailureOr<Tensor> whole = collect(function, index, ranks);
  if (failed(whole))
    return failure();
  result.value = std::move(*whole);
  Operation *end = function.getFunctionBody().front().getTerminator();
  auto exact = frame.exact.find(end->getOperand(index));
  if (exact != frame.exact.end()) {
    FailureOr<Tensor> unrounded = collect(function, index, exact->second);
    if (failed(unrounded))
      return failure();
    result.exact = std::move(*unrounded);
  }
  return result;
}

Interpreter::Interpreter(InterpreterOptions options)
    : options(std::move(options)) {}

FailureOr<std::vector<Interpreter::Result>>
Interpreter::run(FunctionOpInterface function,
                 std::vector<InterpreterValue> arguments) {
  if (arguments.size() != function.getNumArguments())
    return function.emitError()
               << "has " << function.getNumArguments() << " arguments, but "
               << arguments.size() << " values were given",
           failure();
  ModelState own;
  Frame frame;
  frame.options = &options;
  frame.state = options.state ? options.state : &own;
  frame.state->beginStep();
  if (auto ranks = function->getAttrOfType<IntegerAttr>(
          llm::LLMDialect::getNumRanksAttrName()))
    frame.numRanks = ranks.getInt();
  std::vector<RankValues> distributed;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    FailureOr<RankValues> ranks =
        distribute(function, unsigned(i), std::move(argument), frame.numRanks);
    if (failed(ranks))
      return failure();
    distributed.push_back(std::move(*ranks));
  }
  FailureOr<std::vector<RankValues>> values =
      runFunction(function, frame, std::move(distributed));
  if (failed(values))
    return failure();
  std::vector<Result> results;
  for (auto [i, value] : llvm::enumerate(*values)) {
    FailureOr<Result> result =
        collectResult(function, unsigned(i), std::move(value), frame);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  return results;
}

/// Evaluates one op; without a state those fail that depend on earlier steps.
static FailureOr<std::vector<Tensor>>
evaluateAlone(Operation *op, std::vector<Tensor> operands,
              const InterpreterOptions &options, ModelState *state) {
  const Evaluator *evaluator = evaluatorOf(op);
  if (!evaluator)
    return op->emitOpError("cannot be evaluated: it has no evaluator"),
           failure();
  Frame frame;
  frame.options = &options;
  frame.state = state;
  for (auto [name, value] : llvm::zip_equal(op->getOperands(), operands))
    frame.values[name] = {std::move(value)};
  Evaluation evaluation(frame, op, 0);
  if (failed((*evaluator)(op, evaluation)))
    return failure();
  std::vector<Tensor> results;
  for (Value result : op->getResults()) {
    auto *tensor = std::get_if<Tensor>(&frame.values[result].front());
    if (!tensor)
      return failure();
    results.push_back(std::move(*tensor));
  }
  return results;
}

FailureOr<std::vector<Tensor>>
llmir::evaluateOp(Operation *op, std::vector<Tensor> operands,
                  const InterpreterOptions &options) {
  ModelState fresh;
  return evaluateAlone(op, std::move(operands), options,
                       options.state ? options.state : &fresh);
}

std::optional<std::vector<Tensor>>
llmir::evaluateOp(Operation *op, std::vector<Tensor> operands) {
  if (!evaluatorOf(op))
    return std::nullopt;
  // Silent for this thread only: passes run on several at once.
  const uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(op->getContext(), [thread](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  FailureOr<std::vector<Tensor>> results =
      evaluateAlone(op, std::move(operands), InterpreterOptions(), nullptr);
  return succeeded(results) ? std::optional(std::move(*results)) : std::nullopt;
}

/// FNV-1a, so that a name has the same numbers whatever stands around it.
static uint64_t seedOf(StringRef name, uint64_t seed) {
  uint64_t hash = seed ^ 0xcbf29ce484222325u;
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return hash;
}

std::function<FailureOr<InterpreterValue>(llm::WeightOp)>
llmir::makeRandomWeights(uint64_t seed) {
  return [seed](llm::WeightOp op) {
    return makeArgument([&] { return op.emitOpError(); }, op.getType(),
                        op->getDiscardableAttrDictionary(),
                        seedOf(op.getName(), seed));
  };
}

std::function<FailureOr<InterpreterValue>(mllm::RegisterOp)>
llmir::makeRandomParameters(uint64_t seed) {
  return [seed](mllm::RegisterOp op) {
    return makeArgument([&] { return op.emitOpError(); }, op.getType(),
                        op->getDiscardableAttrDictionary(),
                        seedOf(op.getSymName(), seed));
  };
}
