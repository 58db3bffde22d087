//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tracer.h"

#include "llmir/Dialect/Diagnostics.h"
#include "llmir/Dialect/MLLM/MLLMCFOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Interpreter/Values.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"

using namespace llmir;
using namespace mlir;
using llmir::mllm::CallGraphOp;
using llmir::mllm::MLLMDialect;
using llmir::mllm::RegisterOp;
using llmir::mllm::ReturnOp;
using llmir::mllm::SubGraphOp;

namespace mllm::ir {

/// The name of a location created by the tracer.
static std::string locationText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  return "the model";
}

static Status contradiction(Location where, const Twine &what,
                            const std::string &advice = fitAdvice) {
  return Status(StatusCode::InvalidArgument,
                (locationText(where) + ": " + what).str(), advice);
}

Tracer::Tracer(MLIRContext &context, ParameterSource &parameters)
    : Engine(&context), parameters(parameters),
      life(std::make_shared<detail::TraceLife>(detail::TraceLife{this})),
      outer(std::exchange(currentTracer(), this)) {
  context.loadDialect<MLLMDialect, mlir::llm::LLMDialect>();
  module = ModuleOp::create(UnknownLoc::get(&context));
}

Tracer::~Tracer() {
  life->tracer = nullptr;
  currentTracer() = outer;
}

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

Location Tracer::location(const nn::Component *layer) {
  return NameLoc::get(
      opBuilder.getStringAttr(layer ? layer->path() : currentPath));
}

Tensor Tracer::fail(Location where, const std::string &what,
                    const std::string &advice) {
  if (failure)
    failure = contradiction(where, what, advice);
  return {};
}

Tensor Tracer::tensor(Value value) {
  auto impl = tensorOf(cast<RankedTensorType>(value.getType()));
  impl->trace = life;
  impl->value = value;
  return Tensor(std::move(impl));
}

Value Tracer::valueOf(const Tensor &tensor) {
  if (!failure) // Its value may be dead after a failure.
    return {};
  if (tensor.get()->trace == life)
    return tensor.get()->value;
  if (tensor.get()->isStale()) {
    fail(location(nullptr), "a tensor of a trace that has ended is used",
         "make it an input of this trace, or recompute it");
    return {};
  }
  if (!tensor.hasValues()) {
    fail(location(nullptr),
         "a tensor that neither belongs to this trace nor has elements is used",
         "make it an input of the trace, or use Tensor::fromVector");
    return {};
  }
  // Tensors computed before the trace become constants.
  auto type = tensorType(opBuilder.getContext(), tensor.dims(), tensor.dtype(),
                         tensor.device());
  return llmir::mllm::ConstantOp::create(
      opBuilder, location(nullptr), type,
      makeConstant(*tensor.get()->numbers, type));
}

FlatSymbolRefAttr Tracer::symbol(const nn::Parameter &parameter) {
  std::string path = parameter.path();
  auto [it, isNew] = registered.try_emplace(path);
  if (!isNew || !failure)
    return it->second;
  Expected<ParameterBinding> binding =
      parameters.bind(*opBuilder.getContext(), parameter);
  if (!binding) {
    failure = binding.takeStatus();
    return {};
  }
  // Parameters are registered before the subgraphs, in order of first use.
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPoint(*module->getOps<SubGraphOp>().begin());
  std::optional<int64_t> heads;
  if (binding->unpermuteHeads > 0)
    heads = binding->unpermuteHeads;
  auto op =
      RegisterOp::create(opBuilder, NameLoc::get(opBuilder.getStringAttr(path)),
                         path, binding->type, binding->source, heads);
  const nn::StoredPlace &place = binding->place;
  if (place.groupRows > 0)
    op.setSlice(ArrayRef(
        {place.first, place.rows, place.groupRows, place.groupStride}));
  else if (place.rows > 0)
    op.setSlice(ArrayRef({place.first, place.rows}));
  if (binding->transposed)
    op.setTransposed(true);
  if (place.isOfColumns)
    op.setSlicesColumns(true);
  used.emplace(path, parameter);
  it->second = FlatSymbolRefAttr::get(opBuilder.getContext(), path);
  return it->second;
}

std::vector<Tensor> Tracer::take(Operation *op, const std::vector<Tensor> &,
                                 const nn::Component *) {
  std::vector<Tensor> results;
  for (Value result : op->getResults())
    results.push_back(tensor(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

std::string Tracer::freeSymbol(StringRef path) {
  std::string symbol = path.str();
  for (int64_t i = 1; SymbolTable::lookupSymbolIn(*module, symbol); ++i)
    symbol = (path + "_" + Twine(i)).str();
  return symbol;
}

SubGraphOp Tracer::trace(nn::Module &traced, StringRef path, TypeRange inputs,
                         bool entry) {
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToEnd(module->getBody());
  std::string outerPath = std::exchange(currentPath, path.str());
  // A root without a name may have a child that is called as its subgraph is.
  const std::string ownPath = traced.path();
  running.insert(ownPath);
  auto subgraph =
      SubGraphOp::create(opBuilder, location(nullptr), freeSymbol(path),
                         opBuilder.getFunctionType(inputs, {}), entry);
  opBuilder.setInsertionPointToStart(&subgraph.getBody().front());
  std::vector<Tensor> arguments;
  for (BlockArgument argument : subgraph.getArguments())
    arguments.push_back(tensor(argument));
  const std::vector<Tensor> results = traced.forwardAll(arguments);
  SmallVector<Value> values;
  for (const Tensor &result : results)
    if (result.isValid())
      values.push_back(valueOf(result));
  if (failure && (results.empty() || values.size() != results.size()))
    fail(location(nullptr), noResult, noResultAdvice);
  if (!failure)
    return nullptr;
  ReturnOp::create(opBuilder, location(nullptr), values);
  subgraph.setFunctionType(
      opBuilder.getFunctionType(inputs, ValueRange(values).getTypes()));
  running.erase(ownPath);
  currentPath = std::move(outerPath);
  return subgraph;
}

std::vector<Tensor> Tracer::call(nn::Module &callee,
                                 const std::vector<Tensor> &inputs) {
  std::string path = callee.path();
  SmallVector<Value> operands;
  for (const Tensor &input : inputs)
    operands.push_back(valueOf(input));
  if (!failure)
    return {};
  if (running.contains(path)) {
    fail(location(nullptr),
         "'" + (path.empty() ? "model" : path) + "' is called recursively",
         "use mllm::ir::while_ or for_: a graph cannot have recursion");
    return {};
  }
  // Every call is traced, since forward() may depend on more than its inputs.
  SubGraphOp subgraph =
      trace(callee, path, ValueRange(operands).getTypes(), /*entry=*/false);
  if (!subgraph)
    return {};
  std::vector<SubGraphOp> &known = subgraphs[path];
  auto same = llvm::find_if(known, [&](SubGraphOp earlier) {
    return OperationEquivalence::isRegionEquivalentTo(
        &earlier.getBody(), &subgraph.getBody(),
        OperationEquivalence::IgnoreLocations);
  });
  if (same == known.end()) {
    known.push_back(subgraph);
  } else {
    subgraph->remove();
    // An invalid region may use values of the caller, which it outlives.
    subgraph->dropAllReferences();
    repeated.emplace_back(subgraph);
    subgraph = *same;
  }
  auto where = NameLoc::get(opBuilder.getStringAttr(path));
  return take(CallGraphOp::create(opBuilder, where, subgraph, operands), inputs,
              nullptr);
}

void Tracer::callFromModule(SubGraphOp subgraph) {
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPoint(subgraph);
  SmallVector<Value> inputs;
  for (Type type : subgraph.getArgumentTypes())
    inputs.push_back(llmir::mllm::InputOp::create(
        opBuilder, subgraph.getLoc(), cast<RankedTensorType>(type)));
  CallGraphOp::create(opBuilder, subgraph.getLoc(), subgraph, inputs);
}

Status Tracer::verify() {
  std::vector<ReportedError> errors = collectErrors(
      *opBuilder.getContext(), [&] { return mlir::verify(*module); });
  if (errors.empty())
    return Status::ok();
  return contradiction(errors.front().location, errors.front().message);
}

llmir::Expected<OwningOpRef<ModuleOp>> traceModel(MLIRContext &context,
                                                  nn::Module &model,
                                                  StringRef name,
                                                  ParameterSource &parameters) {
  Tracer tracer(context, parameters);
  Type ids = RankedTensorType::get({ShapedType::kDynamic},
                                   IntegerType::get(&context, 64));
  if (!tracer.trace(model, name, ids, /*entry=*/true))
    return tracer.status();
  LLMIR_RETURN_IF_ERROR(tracer.verify());
  return tracer.takeModule();
}

} // namespace mllm::ir
