//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executables: for each tuple of sizes, a copy of the trace with bound sizes,
// compiled by the FunctionRunner.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/Executable.h"

#include "llmir/Conversion/BoundSizes.h"
#include "llmir/Dialect/Diagnostics.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"
#include "llmir/Execution/FunctionRunner.h"
#include "llmir/Frontend/Elements.h"
#include "llmir/Pipelines/Registration.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Target/CPU/TargetNames.h"
#include "mllm/ir/MLIR.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace llmir;

namespace mllm::ir {

namespace {
/// Code for one tuple of sizes. The runner refers to the module's function.
struct Instance {
  OwningOpRef<mlir::ModuleOp> module;
  FunctionRunner runner;
  uint64_t lastUse = 0; ///< The index of the last call that used it.
};
} // namespace

struct Executable::State {
  State(IRContext::ptr_t traced, const CompileOptions &options,
        const CPULevel &level)
      : context(std::move(traced)), options(options), level(level) {}

  mlir::MLIRContext &mlirContext() { return getMLIRContext(*context); }
  ArrayRef<Type> inputTypes() { return entry.getArgumentTypes(); }
  /// The values of the sizes of the inputs.
  Expected<llmir::mllm::SizeBinding> bind(const Tensors &inputs);
  Status bindNames(size_t input, const std::vector<int64_t> &sizes,
                   llmir::mllm::SizeBinding &binding);
  Status checkSizes(size_t input, const std::vector<int64_t> &sizes,
                    const llmir::mllm::SizeBinding &binding);
  Expected<Instance *> instanceFor(const std::vector<int64_t> &key,
                                   const llmir::mllm::SizeBinding &sizes);
  FailureOr<std::unique_ptr<Instance>>
  compileInstance(const llmir::mllm::SizeBinding &sizes);
  /// Compiles code for all sizes within their bounds, or returns an error.
  Status compileForAll();
  LogicalResult setBounds();
  /// Compiles a module with bound, or bounded, sizes.
  FailureOr<std::unique_ptr<Instance>>
  compileModule(OwningOpRef<mlir::ModuleOp> copy);
  FailureOr<InterpreterValue> parameter(llmir::mllm::RegisterOp op);

  IRContext::ptr_t context; ///< Owns the MLIRContext and the parameters.
  CompileOptions options;
  const CPULevel &level;
  OwningOpRef<mlir::ModuleOp> module; ///< The traced module.
  llmir::mllm::SubGraphOp entry;      ///< Of it.
  /// Instances by sizes.
  std::map<std::vector<int64_t>, std::unique_ptr<Instance>> instances;
  uint64_t numCalls = 0;            ///< Number of calls of instanceFor.
  std::unique_ptr<Instance> forAll; ///< Code for all sizes.
  std::string whySpecialized;
};

Executable::Executable(std::unique_ptr<State> state)
    : state(std::move(state)) {}
Executable::Executable(Executable &&) noexcept = default;
Executable::~Executable() = default;

size_t Executable::numInstances() const {
  return state->forAll ? 1 : state->instances.size();
}

const std::string &Executable::whySpecialized() const {
  return state->whySpecialized;
}

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static std::string inputName(size_t input) {
  return "input " + std::to_string(input);
}

static bool isName(const shapes::DimExpr &size) {
  return size.terms().size() == 1 && size.terms()[0].second == 1 &&
         size.constantTerm() == 0;
}

/// Binds the names of one input's sizes to values.
Status Executable::State::bindNames(size_t input,
                                    const std::vector<int64_t> &sizes,
                                    llmir::mllm::SizeBinding &binding) {
  auto wanted =
      llmir::mllm::shapeOf(cast<RankedTensorType>(inputTypes()[input]));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (isName(wanted[d])) {
      const std::string &name = wanted[d].terms()[0].first;
      auto [known, isNew] = binding.named.try_emplace(name, sizes[d]);
      if (!isNew && known->second != sizes[d])
        return invalid(inputName(input) + " has " + std::to_string(sizes[d]) +
                       " as its size '" + name + "', which is " +
                       std::to_string(known->second) +
                       " in an earlier dimension");
    } else if (!wanted[d].isKnown()) {
      if (binding.unnamed && *binding.unnamed != sizes[d])
        return invalid(inputName(input) + " has a size of " +
                       std::to_string(sizes[d]) +
                       ", but another size without a name is " +
                       std::to_string(*binding.unnamed) +
                       "; name the sizes that differ (mllm::dim)");
      binding.unnamed = sizes[d];
    }
  }
  return Status();
}

Status Executable::State::checkSizes(size_t input,
                                     const std::vector<int64_t> &sizes,
                                     const llmir::mllm::SizeBinding &binding) {
  auto wanted =
      llmir::mllm::shapeOf(cast<RankedTensorType>(inputTypes()[input]));
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::optional<int64_t> size = wanted[d].isKnown()
                                      ? binding.bind(wanted[d]).constant()
                                      : std::optional<int64_t>(sizes[d]);
    if (!size)
      return invalid(
          "the size " + wanted[d].str() + " of " + inputName(input) +
          " has a name that no input has alone, so its value is ambiguous");
    if (*size != sizes[d])
      return invalid(inputName(input) + " has " + std::to_string(sizes[d]) +
                     " in dimension " + std::to_string(d) + ", where " +
                     wanted[d].str() + " is " + std::to_string(*size));
  }
  return Status();
}

Expected<llmir::mllm::SizeBinding>
Executable::State::bind(const Tensors &inputs) {
  if (inputs.size() != inputTypes().size())
    return invalid("the model has " + std::to_string(inputTypes().size()) +
                   " inputs, but " + std::to_string(inputs.size()) +
                   " were given");
  llmir::mllm::SizeBinding binding;
  binding.past = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &input = inputs[i];
    const reference::Tensor *elements = elementsOf(input);
    if (!elements)
      return invalid(inputName(i) + " has no elements");
    auto wanted = cast<RankedTensorType>(inputTypes()[i]);
    if (getElementKind(wanted.getElementType()) != elements->kind ||
        input.rank() != wanted.getRank()) {
      std::string text;
      llvm::raw_string_ostream(text) << wanted;
      return invalid(inputName(i) + " is " + typeString(*elements) +
                     ", but the model was traced with " + text);
    }
    LLMIR_RETURN_IF_ERROR(bindNames(i, input.shape(), binding));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    LLMIR_RETURN_IF_ERROR(checkSizes(i, inputs[i].shape(), binding));
  return binding;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

FailureOr<InterpreterValue>
Executable::State::parameter(llmir::mllm::RegisterOp op) {
  Expected<const reference::Tensor *> elements =
      parameterElements(*context, op.getSymName());
  if (!elements)
    return op.emitOpError("has no elements: ") << elements.status().message();
  return InterpreterValue(**elements);
}

FailureOr<std::unique_ptr<Instance>>
Executable::State::compileInstance(const llmir::mllm::SizeBinding &sizes) {
  OwningOpRef<mlir::ModuleOp> copy = cast<mlir::ModuleOp>(module->clone());
  if (failed(llmir::mllm::specializeSizes(*copy, sizes)))
    return failure();
  return compileModule(std::move(copy));
}

FailureOr<std::unique_ptr<Instance>>
Executable::State::compileModule(OwningOpRef<mlir::ModuleOp> copy) {
  InterpreterOptions values;
  values.parameter = [this](llmir::mllm::RegisterOp op) {
    return parameter(op);
  };
  FailureOr<FunctionRunner> runner =
      FunctionRunner::compileModel(*copy, level, values);
  if (failed(runner))
    return failure();
  return std::unique_ptr<Instance>(
      new Instance{std::move(copy), std::move(*runner)});
}

/// The names of the inputs' sizes.
static std::set<std::string> sizeNames(ArrayRef<Type> inputs) {
  std::set<std::string> names;
  for (Type input : inputs)
    for (const shapes::DimExpr &size :
         llmir::mllm::shapeOf(cast<RankedTensorType>(input)))
      for (const auto &term : size.terms())
        names.insert(term.first);
  return names;
}

/// Ranges of the sizes for which the caller has specified bounds.
LogicalResult Executable::State::setBounds() {
  if (options.bounds.empty())
    return success();
  mlir::Builder b(&mlirContext());
  llvm::StringMap<llmir::mllm::RangeAttr> ranges;
  if (auto given = entry->getAttrOfType<mlir::DictionaryAttr>(kDimsAttr))
    for (mlir::NamedAttribute range : given)
      if (auto known = dyn_cast<llmir::mllm::RangeAttr>(range.getValue()))
        ranges[range.getName()] = known;
  const std::set<std::string> names = sizeNames(inputTypes());
  for (const auto &[name, most] : options.bounds) {
    if (!names.count(name))
      return entry.emitError("there is a bound of '")
             << name << "', but "
             << (names.empty() ? "no size of the inputs has a name"
                               : "the sizes of the inputs are " +
                                     llvm::join(names, ", "));
    if (most < 1)
      return entry.emitError("the bound of '")
             << name << "' is " << most << ", expected 1 or more";
    llmir::mllm::RangeAttr &range = ranges[name];
    const int64_t least = range ? std::min(range.getLeast(), most) : 0;
    const int64_t multiple = range ? range.getMultiple() : 1;
    range = llmir::mllm::RangeAttr::getChecked(
        [&] { return entry.emitError(); }, &mlirContext(), least, most,
        multiple);
    if (!range)
      return failure();
  }
  SmallVector<mlir::NamedAttribute> all;
  for (const auto &range : ranges)
    all.push_back(b.getNamedAttr(range.getKey(), range.getValue()));
  entry->setAttr(kDimsAttr, b.getDictionaryAttr(all));
  return success();
}

Status Executable::State::compileForAll() {
  constexpr int64_t mostBytes = int64_t(1) << 30;
  FailureOr<std::unique_ptr<Instance>> made = failure();
  const std::string errors = errorsOf(mlirContext(), [&] {
    made = compileModule(cast<mlir::ModuleOp>(module->clone()));
    return failure(failed(made));
  });
  if (failed(made))
    return invalid(errors);
  if ((*made)->runner.arenaBytes() > mostBytes)
    return invalid("it would need " +
                   std::to_string((*made)->runner.arenaBytes()) +
                   " bytes of buffers for its largest sizes, more than " +
                   std::to_string(mostBytes));
  forAll = std::move(*made);
  return Status();
}

Expected<Instance *>
Executable::State::instanceFor(const std::vector<int64_t> &key,
                               const llmir::mllm::SizeBinding &sizes) {
  ++numCalls;
  auto known = instances.find(key);
  if (known != instances.end()) {
    known->second->lastUse = numCalls;
    return known->second.get();
  }
  FailureOr<std::unique_ptr<Instance>> made = failure();
  const std::string errors = errorsOf(mlirContext(), [&] {
    made = compileInstance(sizes);
    return failure(failed(made));
  });
  if (failed(made))
    return invalid(errors);
  // Each instance has its own packed weights, so their number is limited.
  if (instances.size() >= kMaxInstances)
    instances.erase(std::min_element(
        instances.begin(), instances.end(), [](const auto &a, const auto &b) {
          return a.second->lastUse < b.second->lastUse;
        }));
  (*made)->lastUse = numCalls;
  return instances.emplace(key, std::move(*made)).first->second.get();
}

Expected<Executable> compile(const IRContext::ptr_t &context,
                             const CompileOptions &options) {
  if (!context)
    return invalid("there is no context to compile");
  if (!context->status())
    return context->status();
  Expected<int64_t> threads = llmir::WorkerTeam::chooseSize(options.threads);
  if (!threads)
    return threads.takeStatus();
  Expected<const CPULevel *> level = llmir::nativeCPULevel();
  if (!level)
    return level.takeStatus();
  auto state = std::make_unique<Executable::State>(context, options, **level);
  DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  state->mlirContext().appendDialectRegistry(registry);
  state->mlirContext().loadAllAvailableDialects();
  state->module = cast<mlir::ModuleOp>(getModule(*context)->clone());
  state->entry = llmir::mllm::entrySubGraph(*state->module);
  if (!state->entry)
    return invalid("the context has no model: no subgraph is marked 'entry', "
                   "and the module does not call one");
  const std::string wrongBounds =
      errorsOf(state->mlirContext(), [&] { return state->setBounds(); });
  if (!wrongBounds.empty())
    return invalid(wrongBounds);
  auto isStatic = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  if (llvm::all_of(state->inputTypes(), isStatic)) {
    llmir::mllm::SizeBinding sizes;
    sizes.past = 0;
    std::vector<int64_t> key;
    for (Type type : state->inputTypes())
      llvm::append_range(key, cast<RankedTensorType>(type).getShape());
    Expected<Instance *> only = state->instanceFor(key, sizes);
    if (!only)
      return only.takeStatus();
  } else if (Status why = state->compileForAll(); !why) {
    state->whySpecialized = why.message();
  }
  return Executable(std::move(state));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Expected<Tensors> Executable::run(const Tensors &inputs) {
  Expected<llmir::mllm::SizeBinding> sizes = state->bind(inputs);
  if (!sizes)
    return sizes.takeStatus();
  std::vector<int64_t> key;
  std::vector<InterpreterValue> arguments;
  for (const Tensor &input : inputs) {
    llvm::append_range(key, input.shape());
    arguments.push_back(*elementsOf(input));
  }
  Expected<Instance *> instance =
      state->forAll ? Expected<Instance *>(state->forAll.get())
                    : state->instanceFor(key, *sizes);
  if (!instance)
    return instance.takeStatus();
  FailureOr<std::vector<FunctionRunner::Result>> values = failure();
  const std::string errors = errorsOf(state->mlirContext(), [&] {
    values = (*instance)->runner.run(arguments, state->options.threads);
    return failure(failed(values));
  });
  if (failed(values))
    return invalid(errors);
  Tensors results;
  for (FunctionRunner::Result &value : *values)
    results.push_back(
        fromElements(std::get<reference::Tensor>(std::move(*value))));
  return results;
}

} // namespace mllm::ir
