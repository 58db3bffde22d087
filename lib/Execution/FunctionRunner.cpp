//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Execution/FunctionRunner.h"
#include "FunctionInterface.h"
#include "PreparedFunction.h"

#include "llmir/Artifact/CodeImage.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Pipelines/Pipelines.h"
#include "llmir/Runtime/StepRuntime.h"
#include "llmir/Target/CPU/CPUTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace mlir;

namespace llmir {

using mlir::llm::runtime::KVElementType;
using mlir::llm::runtime::PagedKVCache;
using mlir::llm::runtime::PagedKVCacheOptions;
using reference::Tensor;

namespace {
struct FreeMemory {
  void operator()(uint8_t *memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<uint8_t, FreeMemory>;
} // namespace

/// Memory aligned to a cache line, of at least one line.
static AlignedMemory allocate(int64_t bytes) {
  size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  return AlignedMemory(
      static_cast<uint8_t *>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
}

struct FunctionRunner::State : PreparedFunction {
  using PreparedFunction::PreparedFunction;

  // Compiling.
  LogicalResult compile(const CPULevel &level);
  LogicalResult loadImage(const CPULevel &level);

  // Running.
  /// Reads the sizes of the run, and pads the arguments to the maximum sizes of
  /// the code.
  FailureOr<std::vector<InterpreterValue>>
  bindSizes(ArrayRef<InterpreterValue> arguments);
  FailureOr<InterpreterValue> valueOf(StringRef source,
                                      ArrayRef<InterpreterValue> arguments);
  LogicalResult fillInputs(ArrayRef<InterpreterValue> arguments);
  LogicalResult packWeights(ArrayRef<InterpreterValue> arguments);
  void releasePacked(size_t numArguments);
  FailureOr<WorkerTeam *> teamOf(int64_t threads);
  FailureOr<std::unique_ptr<PagedKVCache>> makeCache();
  /// The values of a result, one per rank.
  std::vector<Tensor> readRanks(unsigned index);
  FailureOr<Result> collect(unsigned index);
  LogicalResult checkExpectations();

  LogicalResult report(const Status &status) {
    return function.emitError("cannot be run: ") << status.message();
  }

  std::vector<int64_t> sizes; ///< Sizes of this run, in the order of `bounded`.
  FunctionInterface interface;
  std::optional<CodeImage> image;
  AlignedMemory arena, weights;
  bool arePacked = false; ///< Weights have been packed in an earlier run.
  std::unique_ptr<WorkerTeam> team; ///< Threads of the previous run.
  int64_t teamThreads = 0;          ///< Their requested number.
};

FunctionRunner::FunctionRunner(std::unique_ptr<State> state)
    : state(std::move(state)) {}
FunctionRunner::FunctionRunner(FunctionRunner &&) noexcept = default;
FunctionRunner::~FunctionRunner() = default;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

LogicalResult FunctionRunner::State::compile(const CPULevel &level) {
  LowerStageOptions options;
  options.level = level.name.str();
  if (failed(runPasses(*module, [&](PassManager &pm) {
        buildFunctionStage(pm);
        buildProgramStage(pm, options);
      })))
    return failure();
  interface = FunctionInterface::read(*module);
  if (failed(runPasses(*module, [&](PassManager &pm) {
        buildKernelStage(pm, options);
        buildLLVMStage(pm);
      })))
    return failure();
  return loadImage(level);
}

LogicalResult FunctionRunner::State::loadImage(const CPULevel &level) {
  Expected<CPUCodeGenerator> generator =
      CPUCodeGenerator::create(*module, level);
  if (!generator)
    return report(generator.takeStatus());
  // Processes must request permission to use AMX tiles.
  if (Status status = enableCpuState({level.name.str(), level.triple(),
                                      cpuLevelFeatures(level.name.str())});
      !status)
    return report(status);
  Expected<std::vector<uint8_t>> linked = generator->image("llmir_step");
  if (!linked)
    return report(linked.takeStatus());
  std::FILE *file = std::tmpfile();
  if (!file ||
      std::fwrite(linked->data(), 1, linked->size(), file) != linked->size() ||
      std::fflush(file) != 0)
    return report(Status(StatusCode::IoError,
                         "cannot write a temporary file for the code"));
  Expected<CodeImage> loaded =
      CodeImage::load(fileno(file), 0, *linked, function.getName().str());
  std::fclose(file);
  if (!loaded)
    return report(loaded.takeStatus());
  image = std::move(*loaded);
  arena = allocate(interface.arenaBytes);
  weights = allocate(interface.weightBytes);
  if (!arena || !weights)
    return report(Status(StatusCode::ResourceExhausted,
                         "no memory for " +
                             std::to_string(interface.arenaBytes) +
                             " bytes of buffers"));
  return success();
}

int64_t FunctionRunner::arenaBytes() const {
  return state->interface.arenaBytes;
}

FailureOr<FunctionRunner>
FunctionRunner::compile(func::FuncOp function, const CPULevel &level,
                        const InterpreterOptions &options) {
  auto state = std::make_unique<State>(function);
  if (failed(state->prepare(options)) || failed(state->compile(level)))
    return failure();
  return FunctionRunner(std::move(state));
}

FailureOr<FunctionRunner>
FunctionRunner::compileModel(ModuleOp module, const CPULevel &level,
                             const InterpreterOptions &options) {
  // Runs share one cache across calls, but a function starts with empty ones.
  if (failed(runPasses(module, [](PassManager &pm) {
        pm.addPass(mllm::createInlineSubGraphs());
      })))
    return failure();
  const std::string name = mllm::entrySubGraph(module).getSymName().str();
  for (auto op : module.getOps<mllm::RegisterOp>())
    if (auto blocks = dyn_cast<mlir::llm::QuantizedTensorType>(op.getType()))
      op.setTypeAttr(TypeAttr::get(RankedTensorType::get(
          blocks.getShape(), Float32Type::get(module.getContext()))));
  makeFunctionsOfSubGraphs(module);
  // Explicit attention is fused for the attention kernel.
  if (failed(runPasses(module, [](PassManager &pm) {
        mlir::llm::FuseAttentionOptions attentionAlone;
        attentionAlone.mergeProjections = false;
        pm.addNestedPass<func::FuncOp>(
            mlir::llm::createFuseAttention(attentionAlone));
      })))
    return failure();
  return compile(module.lookupSymbol<func::FuncOp>(name), level, options);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The dimension in which an argument or result is sharded, or nullopt.
static std::optional<int64_t> shardDim(DictionaryAttr attributes) {
  auto attr = attributes ? attributes.getAs<IntegerAttr>(
                               mlir::llm::LLMDialect::getShardDimAttrName())
                         : IntegerAttr();
  return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
}

namespace {
/// "arg0" or "arg0.rank1".
struct ArgumentSource {
  unsigned index = 0, rank = 0;

  static std::optional<ArgumentSource> parse(StringRef text) {
    ArgumentSource source;
    if (!text.consume_front("arg") || text.consumeInteger(10, source.index) ||
        (text.consume_front(".rank") && text.consumeInteger(10, source.rank)))
      return std::nullopt;
    return source;
  }
};
} // namespace

/// The value of a source: "constant2", or an argument of a rank.
FailureOr<InterpreterValue>
FunctionRunner::State::valueOf(StringRef source,
                               ArrayRef<InterpreterValue> arguments) {
  if (auto constant = interface.constants.find(source);
      constant != interface.constants.end())
    return InterpreterValue(constant->second);
  std::optional<ArgumentSource> argument = ArgumentSource::parse(source);
  if (!argument)
    return function.emitError("cannot be run: its program reads '")
           << source << "'";
  auto [index, rank] = *argument;
  if (index >= arguments.size()) // Not a released one.
    return parameters[index - arguments.size()];
  InterpreterValue value = arguments[index];
  std::optional<int64_t> dim = shardDim(function.getArgAttrDict(index));
  auto *tensor = std::get_if<Tensor>(&value);
  if (!dim || !tensor)
    return value;
  if (tensor->dim(*dim) % numRanks != 0)
    return function.emitError("argument ")
           << index << ": " << typeString(*tensor)
           << " cannot be sharded in dimension " << *dim << " for " << numRanks
           << " ranks";
  int64_t part = tensor->dim(*dim) / numRanks;
  return InterpreterValue(tensor->slice(*dim, rank * part, part));
}

/// The elements of a value in a buffer.
static Tensor numbersOf(const InterpreterValue &value) {
  if (auto *quantized = std::get_if<QuantizedValue>(&value))
    return quantized->format ? quantized->decode() : quantized->numbers;
  return std::get<Tensor>(value);
}

LogicalResult
FunctionRunner::State::fillInputs(ArrayRef<InterpreterValue> arguments) {
  for (auto [index, value] : llvm::enumerate(arguments)) {
    auto *cache = std::get_if<reference::PagedCache>(&value);
    auto type = dyn_cast<mlir::llm::PagedKVCacheType>(
        function.getArgumentTypes()[index]);
    if (cache && !(type && cache->sameAs(llmir::makeCache(type))))
      return function.emitError("argument ")
             << index
             << " is a cache that is not empty; compiled code requires empty "
                "caches";
  }
  // A NaN that computations do not produce, to detect reads of uninitialized
  // memory.
  constexpr uint32_t unwritten = 0x7fc0dead;
  for (int64_t at = 0; at + 4 <= interface.arenaBytes; at += 4)
    std::memcpy(arena.get() + at, &unwritten, 4);
  for (const FunctionPort &port : interface.inputs) {
    FailureOr<InterpreterValue> value = valueOf(port.name, arguments);
    if (failed(value))
      return failure();
    port.fill(arena.get(), numbersOf(*value));
  }
  return success();
}

LogicalResult
FunctionRunner::State::packWeights(ArrayRef<InterpreterValue> arguments) {
  for (auto [job, format] :
       llvm::zip_equal(interface.weights, interface.weightFormats)) {
    // Only the caller's arguments change between runs.
    auto argument = ArgumentSource::parse(job.source);
    if (arePacked && !(argument && argument->index < arguments.size()))
      continue;
    FailureOr<InterpreterValue> value = valueOf(job.source, arguments);
    if (failed(value))
      return failure();
    Span<uint8_t> out(weights.get() + job.offset,
                      static_cast<size_t>(job.bytes));
    if (Status status = packValue(*value, format, job, out); !status)
      return report(status);
  }
  if (!arePacked)
    releasePacked(arguments.size());
  arePacked = true;
  return success();
}

/// Packed weights are not read again; parameters that are inputs are read in
/// each run.
void FunctionRunner::State::releasePacked(size_t numArguments) {
  std::set<size_t> inputs;
  for (const FunctionPort &port : interface.inputs)
    if (auto argument = ArgumentSource::parse(port.name))
      inputs.insert(argument->index);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!inputs.count(numArguments + i))
      parameters[i] = Tensor();
}

/// Reuses the threads of the previous run if their number is the same.
FailureOr<WorkerTeam *> FunctionRunner::State::teamOf(int64_t threads) {
  if (!team || teamThreads != threads) {
    team.reset(); // Ends the old threads before new ones start.
    Expected<std::unique_ptr<WorkerTeam>> made = WorkerTeam::create(threads);
    if (!made)
      return report(made.takeStatus());
    team = std::move(*made);
    teamThreads = threads;
  }
  return team.get();
}

FailureOr<std::unique_ptr<PagedKVCache>> FunctionRunner::State::makeCache() {
  mlir::llm::PagedKVCacheType type = interface.cache;
  if (!type)
    return std::unique_ptr<PagedKVCache>();
  Type element = type.getElementType();
  KVElementType kind = element.isF32()       ? KVElementType::F32
                       : element.isF16()     ? KVElementType::F16
                       : element.isInteger() ? KVElementType::Q8
                                             : KVElementType::BF16;
  PagedKVCacheOptions options;
  options.valueDim = type.getValueDim();
  options.valuesInKeys = type.getValuesInKeys();
  options.guardPages = true;
  auto cache = std::make_unique<PagedKVCache>(
      type.getNumLayers() * interface.numRanks, type.getNumHeads(),
      type.getHeadDim(), type.getBlockSize(), type.getMaxSeqLen(), kind,
      options);
  if (!cache->status())
    return report(cache->status());
  return cache;
}

//===----------------------------------------------------------------------===//
// Run-time sizes
//===----------------------------------------------------------------------===//

/// Copies the elements that both tensors have, index by index.
static void copyCommon(const Tensor &from, Tensor &to) {
  const size_t rank = from.shape.size();
  reference::Shape common(rank);
  for (size_t d = 0; d < rank; ++d)
    common[d] = std::min(from.shape[d], to.shape[d]);
  const int64_t count = reference::numElements(common);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, source = 0, target = 0, fromStride = 1, toStride = 1;
    for (size_t d = rank; d-- > 0; rest /= common[d]) {
      source += rest % common[d] * fromStride;
      target += rest % common[d] * toStride;
      fromStride *= from.shape[d];
      toStride *= to.shape[d];
    }
    to[target] = from.number(source);
  }
}

static Tensor resized(const Tensor &tensor, reference::Shape shape) {
  if (tensor.shape == shape)
    return tensor;
  Tensor result(tensor.kind, std::move(shape));
  copyCommon(tensor, result);
  return result;
}

FailureOr<std::vector<InterpreterValue>>
FunctionRunner::State::bindSizes(ArrayRef<InterpreterValue> arguments) {
  std::vector<InterpreterValue> values(arguments.begin(), arguments.end());
  if (!bounded)
    return values;
  std::vector<std::optional<std::vector<int64_t>>> shapes;
  for (const InterpreterValue &value : values) {
    auto *tensor = std::get_if<Tensor>(&value);
    shapes.push_back(tensor ? std::optional(tensor->shape) : std::nullopt);
  }
  Expected<std::vector<int64_t>> numbers = bounded->bind(shapes);
  if (!numbers) {
    (void)report(numbers.takeStatus());
    return failure();
  }
  sizes = std::move(*numbers);
  for (size_t i = 0; i < sizes.size(); ++i)
    parameters[i] =
        Tensor::ofIntegers(reference::ElementKind::I64, {}, {sizes[i]});
  std::vector<int64_t> greatest;
  for (const BoundedSize &size : bounded->sizes)
    greatest.push_back(size.greatest);
  for (size_t i = 0; i < values.size(); ++i)
    if (auto *tensor = std::get_if<Tensor>(&values[i]))
      values[i] =
          resized(*tensor, bounded->evaluate(bounded->arguments[i], greatest));
  return values;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The tensor type of a result buffer, or null for a cache.
static RankedTensorType tensorTypeOf(Type type) {
  if (type.isIntOrIndexOrFloat())
    return RankedTensorType::get({}, type);
  if (auto sharded = dyn_cast<mlir::llm::ShardedTensorType>(type))
    return sharded.getShardType();
  if (auto quantized = dyn_cast<mlir::llm::QuantizedTensorType>(type))
    return RankedTensorType::get(quantized.getShape(),
                                 quantized.getElementType());
  return dyn_cast<RankedTensorType>(type);
}

std::vector<Tensor> FunctionRunner::State::readRanks(unsigned index) {
  RankedTensorType type = tensorTypeOf(resultTypes[index]);
  std::vector<Tensor> ranks;
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    std::string name = "result" + std::to_string(index);
    if (numRanks > 1)
      name += ".rank" + std::to_string(rank);
    for (const FunctionPort &port : interface.outputs)
      if (port.name == name)
        ranks.push_back(port.read(
            arena.get(), *getElementKind(type.getElementType()),
            reference::Shape(type.getShape().begin(), type.getShape().end())));
  }
  if (bounded && index < bounded->results.size())
    for (Tensor &rank : ranks)
      rank = resized(rank, bounded->evaluate(bounded->results[index], sizes));
  return ranks;
}

FailureOr<FunctionRunner::Result>
FunctionRunner::State::collect(unsigned index) {
  if (isa<mlir::llm::PagedKVCacheType>(resultTypes[index]))
    return Result();
  std::vector<Tensor> ranks = readRanks(index);
  if (std::optional<int64_t> dim = shardDim(function.getResultAttrDict(index)))
    return Result(InterpreterValue(reference::concatenate(ranks, *dim)));
  for (const Tensor &other : ranks)
    if (!reference::sameBits(ranks.front(), other))
      return function.emitError("result ")
             << index << " has no llm.shard_dim, but differs between ranks: "
             << toString(ranks.front()) << " and " << toString(other);
  if (auto quantized =
          dyn_cast<mlir::llm::QuantizedTensorType>(resultTypes[index])) {
    reference::Shape shape = ranks.front().shape;
    return Result(InterpreterValue(
        QuantizedValue{shape, std::move(ranks.front()), std::nullopt, {}}));
  }
  return Result(InterpreterValue(std::move(ranks.front())));
}

LogicalResult FunctionRunner::State::checkExpectations() {
  LogicalResult all = success();
  for (const Expectation &expectation : expectations) {
    const char *name = expectation.nmse ? "'check.expect_close' op "
                                        : "'check.expect_equal' op ";
    std::vector<Tensor> actual = readRanks(expectation.actual);
    std::vector<Tensor> expected = readRanks(expectation.expected);
    for (auto [a, b] : llvm::zip_equal(actual, expected)) {
      double error = expectation.nmse ? reference::nmse(a, b) : 0.0;
      if (expectation.nmse ? error <= *expectation.nmse
                           : reference::sameBits(a, b))
        continue;
      InFlightDiagnostic diag = mlir::emitError(expectation.loc, name);
      diag << "failed";
      if (expectation.nmse)
        diag << ": nmse " << error << " exceeds " << *expectation.nmse;
      diag.attachNote() << "actual   " << toString(a);
      diag.attachNote() << "expected " << toString(b);
      all = failure();
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

FailureOr<std::vector<FunctionRunner::Result>>
FunctionRunner::run(ArrayRef<InterpreterValue> arguments, int64_t threads) {
  State &s = *state;
  if (arguments.size() != s.function.getNumArguments())
    return s.function.emitError("has ")
           << s.function.getNumArguments() << " arguments, but "
           << arguments.size() << " values were given";
  for (const IdCheck &ids : s.idChecks)
    if (failed(ids.check(arguments)))
      return failure();
  FailureOr<std::vector<InterpreterValue>> values = s.bindSizes(arguments);
  if (failed(values))
    return failure();
  FailureOr<std::unique_ptr<PagedKVCache>> cache = s.makeCache();
  if (failed(cache) || failed(s.fillInputs(*values)) ||
      failed(s.packWeights(*values)))
    return failure();
  FailureOr<WorkerTeam *> team = s.teamOf(threads);
  if (failed(team))
    return failure();
  LLMIRStepContext context{};
  context.arena = s.arena.get();
  context.weights = s.weights.get();
  StepRuntime runtime(**team, cache->get());
  if (Status status = runtime.run(s.image->step(), context); !status)
    return s.report(status);
  std::vector<Result> results;
  for (unsigned i = 0; i < s.function.getNumResults(); ++i) {
    FailureOr<Result> result = s.collect(i);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  if (failed(s.checkExpectations()))
    return failure();
  return results;
}

} // namespace llmir
