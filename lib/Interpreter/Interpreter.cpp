//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluation of one op on all ranks, and conversion of arguments and results.
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Interpreter.h"
#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Interpreter/OpEvaluatorInterface.h"
#include "llmir/Reference/ModelState.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/Support/Threading.h"

#include <algorithm>

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// The evaluator table
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
    addStateEvaluators(result);
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

/// Evaluates an op with the OpEvaluatorInterface of its dialect.
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
           << "cannot be evaluated: its dialect returns " << results->size()
           << " values for " << op->getNumResults() << " results";
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    if (failed(e.set(result, std::move(value))))
      return failure();
  return success();
}

const Evaluator *llmir::interpreter::evaluatorOf(Operation *op) {
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
    return op->emitOpError() << "cannot be evaluated: there is no source of "
                                "values of parameter "
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

/// The tensor type of a value of `type`, or null.
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
      return op->emitOpError()
             << "cannot be evaluated: the interpreter does not support "
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
    ranks = {}; // From the previous iteration of a loop.
  ranks.push_back(std::move(value));
  return success();
}

//===----------------------------------------------------------------------===//
// Sharding of arguments and results
//===----------------------------------------------------------------------===//

/// The dimension in which an argument or result is sharded, or nullopt.
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
    return report()
               << "only tensors and integers can be sharded among the ranks",
           failure();
  if (*dim >= tensor->rank() || tensor->dim(*dim) % numRanks != 0)
    return report() << typeString(*tensor) << " cannot be sharded in dimension "
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

/// Concatenates the tensors of the ranks, or returns the common one.
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
  Arena memory;
  if (options.checksMemory)
    frame.memory = &memory;
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
  if (memory.bytes() > 0)
    function.emitRemark() << "has run in " << memory.bytes()
                          << " bytes of planned memory";
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

/// Evaluates one op; without a state, ops that depend on earlier steps fail.
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
  // Suppress diagnostics for this thread only, since passes are multithreaded.
  const uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(op->getContext(), [thread](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  FailureOr<std::vector<Tensor>> results =
      evaluateAlone(op, std::move(operands), InterpreterOptions(), nullptr);
  return succeeded(results) ? std::optional(std::move(*results)) : std::nullopt;
}

static bool hasAtMost(Type type, int64_t elements) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getNumElements() <= elements;
}

/// The value of an operand that is a constant of at most so many elements.
static std::optional<Tensor> constantOperand(Value operand, int64_t limit) {
  Attribute constant;
  auto tensor = dyn_cast<RankedTensorType>(operand.getType());
  if ((tensor && !hasAtMost(tensor, limit)) ||
      !matchPattern(operand, m_Constant(&constant)) ||
      !isa<TypedAttr>(constant))
    return std::nullopt;
  return llmir::constantValue(cast<TypedAttr>(constant));
}

std::optional<SmallVector<DenseElementsAttr>> llmir::foldOp(Operation *op,
                                                            FoldLimits limits) {
  auto isSmall = [&](Type type) { return hasAtMost(type, limits.result); };
  if (op->getNumOperands() == 0 || op->getNumResults() == 0 ||
      op->getNumRegions() != 0 || !isPure(op) ||
      !llvm::all_of(op->getResultTypes(), isSmall))
    return std::nullopt;
  std::vector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> value = constantOperand(operand, limits.operand);
    if (!value)
      return std::nullopt;
    operands.push_back(std::move(*value));
  }
  std::optional<std::vector<Tensor>> values =
      evaluateOp(op, std::move(operands));
  if (!values)
    return std::nullopt;
  SmallVector<DenseElementsAttr> results;
  for (auto [type, value] : llvm::zip_equal(op->getResultTypes(), *values))
    results.push_back(makeConstant(value, cast<RankedTensorType>(type)));
  return results;
}

/// FNV-1a, so that the values of a name do not depend on the module.
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
