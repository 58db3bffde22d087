//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-translate --interpret-model and --execute-model: a traced model with
// the parameters of a checkpoint, interpreted step by step, or compiled as a
// function of static shapes.
//
//===----------------------------------------------------------------------===//

#include "llmir/Execution/ModelTranslation.h"
#include "ExecuteOptions.h"

#include "llmir/Checkpoint/StoredParameter.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"
#include "llmir/Execution/FunctionRunner.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Runtime/UsableMemory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <cstdio>
#include <map>

using namespace mlir;
using llmir::reference::Tensor;

namespace llmir {

namespace {
struct CommandLine {
  llvm::cl::opt<std::string> checkpoint{
      "checkpoint",
      llvm::cl::desc("Checkpoint with the parameters of the model")};
  llvm::cl::opt<std::string> ids{
      "ids", llvm::cl::desc("Token ids of each step: 1,2,3;4;5 is a prompt of "
                            "three tokens and two steps of one")};
};
} // namespace

static CommandLine &commandLine() {
  static CommandLine instance;
  return instance;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Fails if a parameter does not fit into memory, given the `held` elements of
/// others: it is stored once, with a second copy while an op uses it.
static Status checkMemory(ArrayRef<int64_t> shape, int64_t held) {
  constexpr double bytesOfNumber = 8, giga = 1e9;
  double numbers = 1; // Products of sizes do not overflow.
  for (int64_t size : shape)
    numbers *= static_cast<double>(size);
  const double needed = 2 * numbers * bytesOfNumber;
  const double others = static_cast<double>(held) * bytesOfNumber;
  const auto usable = static_cast<double>(usableMemory());
  if (needed + others <= usable)
    return Status::ok();
  char text[160];
  std::snprintf(text, sizeof text,
                "has %.4g elements, which need %.4g GB as float64 in addition "
                "to %.4g GB of other parameters; the memory limit is %.4g GB",
                numbers, needed / giga, others / giga, usable / giga);
  return Status(StatusCode::ResourceExhausted, text);
}

static Expected<Tensor> readValues(const Checkpoint &checkpoint,
                                   mllm::RegisterOp op, int64_t held) {
  StoredParameter stored;
  stored.source = op.getSource().value_or("").str();
  stored.shape = op.getShape().vec();
  stored.unpermuteHeads = op.getRopeUnpermuteHeads().value_or(0);
  mllm::setStoredRows(stored, op.getSlice());
  stored.isTransposed = op.getTransposed();
  stored.slicesColumns = op.getSlicesColumns();
  // Block formats are decoded to f32.
  auto plain = dyn_cast<RankedTensorType>(op.getType());
  LLMIR_RETURN_IF_ERROR(checkMemory(stored.shape, held));
  Tensor values(plain ? *getElementKind(plain.getElementType())
                      : reference::ElementKind::F32,
                stored.shape);
  auto end = values.floats().begin();
  LLMIR_RETURN_IF_ERROR(
      readRows(checkpoint, stored, [&](Span<const float> row) {
        end = std::copy(row.begin(), row.end(), end);
        return Status::ok();
      }));
  return values;
}

/// Reads each parameter on first use and caches it.
static std::function<FailureOr<InterpreterValue>(mllm::RegisterOp)>
parametersOf(const Checkpoint &checkpoint) {
  auto known = std::make_shared<std::map<std::string, Tensor>>();
  return
      [&checkpoint, known](mllm::RegisterOp op) -> FailureOr<InterpreterValue> {
        const std::string name = op.getSymName().str();
        auto found = known->find(name);
        if (found == known->end()) {
          int64_t held = 0;
          for (const auto &entry : *known)
            held += entry.second.size();
          Expected<Tensor> values = readValues(checkpoint, op, held);
          if (!values)
            return op.emitOpError() << values.status().message(), failure();
          found = known->emplace(name, std::move(*values)).first;
        }
        return InterpreterValue(found->second);
      };
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The ids of each step; nullopt if the text is malformed.
static std::optional<std::vector<std::vector<double>>>
parseSteps(StringRef text) {
  std::vector<std::vector<double>> steps;
  SmallVector<StringRef> parts, ids;
  text.split(parts, ';');
  for (StringRef part : parts) {
    ids.clear();
    part.split(ids, ',');
    steps.emplace_back();
    for (StringRef id : ids) {
      int32_t number;
      if (id.trim().getAsInteger(10, number) || number < 0)
        return std::nullopt;
      steps.back().push_back(number);
    }
  }
  return steps;
}

namespace {
/// A model that maps ids to logits, its parameters, and the ids of each step.
struct Model {
  mllm::SubGraphOp entry;
  Checkpoint checkpoint;
  std::vector<std::vector<double>> steps;

  RankedTensorType idsType() {
    return cast<RankedTensorType>(entry.getArgument(0).getType());
  }
  /// The ids in the shape of the entry's argument, [tokens] or [1, tokens].
  std::vector<InterpreterValue> arguments(const std::vector<double> &ids) {
    reference::Shape shape(size_t(idsType().getRank()), 1);
    shape.back() = int64_t(ids.size());
    return {Tensor(*getElementKind(idsType().getElementType()), shape, ids)};
  }
};
} // namespace

static void printRows(const Tensor &logits, raw_ostream &output) {
  const int64_t columns = logits.shape.back();
  for (int64_t i = 0; i < logits.size(); ++i)
    output << llvm::format("%.9g", logits[i])
           << ((i + 1) % columns == 0 ? '\n' : ' ');
}

/// The model of the module and of the command line.
static FailureOr<Model> readModel(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  mllm::SubGraphOp entry = module ? mllm::entrySubGraph(module) : nullptr;
  if (!entry)
    return op->emitError("has no model: no subgraph is marked entry");
  auto type = entry.getNumArguments() == 1
                  ? dyn_cast<RankedTensorType>(entry.getArgument(0).getType())
                  : RankedTensorType();
  const bool takesIds = type && type.getElementType().isInteger() &&
                        getElementKind(type.getElementType()) &&
                        type.getRank() >= 1 && type.getRank() <= 2;
  auto logits = entry.getResultTypes().size() == 1
                    ? dyn_cast<RankedTensorType>(entry.getResultTypes()[0])
                    : RankedTensorType();
  if (!takesIds || !logits || logits.getRank() < 1)
    return entry.emitOpError(
        "does not map token ids [tokens] or [1, tokens] to logits");
  auto steps = parseSteps(commandLine().ids);
  if (!steps)
    return op->emitError("--ids must be token ids separated by commas, with ; "
                         "between steps, not '")
           << commandLine().ids << "'";
  Expected<Checkpoint> checkpoint =
      Checkpoint::open(commandLine().checkpoint, CheckpointUse::Parameters);
  if (!checkpoint)
    return op->emitError(checkpoint.status().message());
  return Model{entry, std::move(*checkpoint), std::move(*steps)};
}

static LogicalResult interpretModel(Operation *op, raw_ostream &output) {
  FailureOr<Model> model = readModel(op);
  if (failed(model))
    return failure();
  ModelState state;
  InterpreterOptions options;
  options.parameter = parametersOf(model->checkpoint);
  options.state = &state;
  Interpreter interpreter(options);
  for (const std::vector<double> &ids : model->steps) {
    auto results = interpreter.run(model->entry, model->arguments(ids));
    if (failed(results))
      return failure();
    printRows(std::get<Tensor>(results->front().value), output);
  }
  return success();
}

static LogicalResult executeModel(Operation *op, raw_ostream &output) {
  const ExecuteOptions options = executeOptions();
  FailureOr<Model> model = readModel(op);
  FailureOr<const CPULevel *> level = levelOf(op, options);
  if (failed(model) || failed(level))
    return failure();
  if (model->steps.size() != 1)
    return op->emitError("--ids has ")
           << model->steps.size()
           << " steps; a function starts with empty caches and runs one";
  const std::vector<InterpreterValue> arguments =
      model->arguments(model->steps.front());
  mllm::SizeBinding sizes;
  sizes.past = 0;
  sizes.unnamed = int64_t(model->steps.front().size());
  for (const shapes::DimExpr &size : mllm::shapeOf(model->idsType()))
    for (const auto &term : size.terms())
      sizes.named[term.first] = *sizes.unnamed;
  InterpreterOptions values;
  values.parameter = parametersOf(model->checkpoint);
  auto module = cast<ModuleOp>(op);
  if (failed(mllm::specializeSizes(module, sizes)))
    return failure();
  if (model->idsType().getShape() !=
      ArrayRef(std::get<Tensor>(arguments.front()).shape))
    return model->entry.emitOpError("takes ids of type ")
           << model->idsType() << ", but there are " << *sizes.unnamed;
  FailureOr<FunctionRunner> runner =
      FunctionRunner::compileModel(module, **level, values);
  if (failed(runner))
    return failure();
  auto results = runner->run(arguments, options.workers);
  if (failed(results))
    return failure();
  printRows(std::get<Tensor>(*results->front()), output);
  return success();
}

void registerModelTranslations() {
  commandLine();
  executeOptions(); // Registers the options.
  static TranslateFromMLIRRegistration interpretRegistration(
      "interpret-model",
      "Interpret a traced model with the parameters of a checkpoint; prints "
      "one line of logits for each token",
      interpretModel, [](DialectRegistry &registry) {
        registry.insert<llm::LLMDialect, mllm::MLLMDialect>();
      });
  static TranslateFromMLIRRegistration executeRegistration(
      "execute-model",
      "The same for one step, compiled as a function of its number of tokens",
      executeModel, registerExecuteDialects);
}

} // namespace llmir
