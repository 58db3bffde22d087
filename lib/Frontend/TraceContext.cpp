//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ir::trace, which leaves a context for the node API; control flow in a trace.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/Trace.h"

#include "IRContextImpl.h"
#include "ParametersImpl.h"
#include "Tracer.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmir;

namespace mllm::ir {

//===----------------------------------------------------------------------===//
// trace
//===----------------------------------------------------------------------===//

namespace {
struct Traced {
  OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, nn::Parameter> parameters;
};
} // namespace

/// Traces into a module of `context`.
static Expected<Traced> traceInto(MLIRContext &context, nn::Module &model,
                                  const std::vector<Tensor> &inputs) {
  const nn::Component::Root &root = model.root();
  const std::string name = model.path().empty() ? "model" : model.path();
  if (!root.made)
    return root.made;
  if (!root.loaded)
    return root.loaded;
  if (!root.parameters)
    return Status(StatusCode::InvalidArgument,
                  name + ": the model has no parameters yet",
                  "call load() with mllm::load(path), or with "
                  "mllm::emptyParameters(config) to trace from a config alone");
  Tracer tracer(context, *root.parameters);
  SmallVector<Type> types;
  for (const Tensor &input : inputs) {
    RankedTensorType type =
        input.isValid()
            ? tensorType(&context, input.dims(), input.dtype(), input.device())
            : RankedTensorType();
    if (!type)
      return Status(StatusCode::InvalidArgument,
                    name + ": an input has no type that LLMIR computes in");
    types.push_back(type);
  }
  llmir::mllm::SubGraphOp subgraph =
      tracer.trace(model, name, types, /*entry=*/false);
  if (!subgraph)
    return tracer.status();
  tracer.callFromModule(subgraph);
  LLMIR_RETURN_IF_ERROR(tracer.verify());
  return Traced{tracer.takeModule(), tracer.takeParameters()};
}

IRContext::ptr_t trace(nn::Module &model, const std::vector<Tensor> &inputs) {
  auto context =
      std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<llmir::mllm::MLLMDialect, llm::LLMDialect>();
  Expected<Traced> traced = traceInto(*context, model, inputs);
  const bool isTraced = static_cast<bool>(traced);
  auto impl = std::make_unique<IRContextImpl>(
      context, isTraced ? std::move(traced->module)
                        : OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(
                              UnknownLoc::get(context.get()))));
  if (!isTraced)
    impl->fail(traced.takeStatus());
  else
    impl->parameter =
        [source = model.root().parameters,
         known = std::move(traced->parameters)](
            StringRef path) -> Expected<const reference::Tensor *> {
      auto parameter = known.find(path.str());
      if (parameter == known.end())
        return Status(StatusCode::NotFound,
                      "the model was traced without a parameter '" +
                          path.str() + "'");
      return source->numbers(parameter->second);
    };
  return std::make_shared<IRContext>(std::move(impl));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static Tracer *tracerOf(const Tensors &tensors) {
  for (const Tensor &tensor : tensors)
    if (tensor.isValid() && tensor.get()->tracer())
      return static_cast<Tracer *>(tensor.get()->tracer());
  return nullptr;
}

static bool allValid(const Tensors &tensors) {
  return llvm::all_of(tensors,
                      [](const Tensor &tensor) { return tensor.isValid(); });
}

/// Ends a region with the values of `tensors`; false when one is missing.
static bool yield(Tracer &tracer, const Tensors &tensors) {
  SmallVector<Value> values;
  for (const Tensor &tensor : tensors) {
    if (!tensor.isValid())
      return false;
    values.push_back(tracer.valueOf(tensor));
  }
  if (!tracer.status())
    return false;
  llmir::mllm::YieldOp::create(tracer.builder(), tracer.location(nullptr),
                               values);
  return true;
}

/// Fills a new region: `fill` makes its values from its arguments.
static bool fillRegion(Tracer &tracer, mlir::Region &region, TypeRange types,
                       const std::function<Tensors(const Tensors &)> &fill) {
  OpBuilder::InsertionGuard guard(tracer.builder());
  Block &block = region.emplaceBlock();
  Tensors arguments;
  for (Type type : types)
    arguments.push_back(
        tracer.tensor(block.addArgument(type, tracer.location(nullptr))));
  tracer.builder().setInsertionPointToStart(&block);
  return yield(tracer, fill(arguments));
}

/// Ends the trace, where that is not done: regions of `op` gave no tensors. The
/// op stays until the module goes, as tensors that C++ still holds may be
/// values in it.
static Tensors giveUp(Tracer &tracer, Operation *op) {
  if (tracer.status())
    tracer.fail(op->getLoc(), "a branch or loop gave no tensor");
  return {};
}

/// Verifies an op with regions and gives its results.
static Tensors finish(Tracer &tracer, Operation *op) {
  std::string errors =
      errorsOf(*op->getContext(), [&] { return mlir::verify(op); });
  if (errors.empty())
    return tracer.take(op, {}, nullptr);
  tracer.fail(op->getLoc(), errors);
  return giveUp(tracer, op);
}

/// An op with `regions` empty regions where ops are made.
static Operation *makeRegionOp(Tracer &tracer, StringRef name,
                               ValueRange operands, TypeRange results,
                               unsigned regions) {
  OperationState state(tracer.location(nullptr), name);
  state.addOperands(operands);
  state.addTypes(results);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return tracer.builder().create(state);
}

Tensors if_(const Tensor &condition, const std::function<Tensors()> &then,
            const std::function<Tensors()> &otherwise) {
  if (!condition.isValid())
    return {};
  Tracer *tracer = tracerOf({condition});
  if (!tracer)
    return condition ? then() : otherwise();
  // The types of the results are known when the regions are.
  Value value = tracer->valueOf(condition);
  if (!value)
    return {};
  Operation *draft = makeRegionOp(
      *tracer, llmir::mllm::IfOp::getOperationName(), value, {}, 2);
  auto fill = [&](unsigned region, const std::function<Tensors()> &make) {
    return fillRegion(*tracer, draft->getRegion(region), {},
                      [&](const Tensors &) { return make(); });
  };
  if (!fill(0, then) || !fill(1, otherwise))
    return giveUp(*tracer, draft);
  Operation *op = makeRegionOp(
      *tracer, llmir::mllm::IfOp::getOperationName(), value,
      draft->getRegion(0).front().getTerminator()->getOperandTypes(), 2);
  for (unsigned i = 0; i < 2; ++i)
    op->getRegion(i).takeBody(draft->getRegion(i));
  draft->erase();
  return finish(*tracer, op);
}

Tensors while_(const Tensors &init,
               const std::function<Tensor(const Tensors &)> &condition,
               const std::function<Tensors(const Tensors &)> &body) {
  if (!allValid(init))
    return {};
  Tracer *tracer = tracerOf(init);
  if (!tracer) {
    Tensors values = init;
    for (;;) {
      Tensor goesOn = condition(values);
      if (!goesOn.isValid() || !goesOn)
        return goesOn.isValid() ? values : Tensors();
      values = body(values);
    }
  }
  SmallVector<Value> operands;
  for (const Tensor &tensor : init)
    operands.push_back(tracer->valueOf(tensor));
  if (!tracer->status())
    return {};
  TypeRange types = ValueRange(operands).getTypes();
  Operation *op = makeRegionOp(
      *tracer, llmir::mllm::WhileOp::getOperationName(), operands, types, 2);
  auto test = [&](const Tensors &values) {
    Tensors all = {condition(values)};
    all.insert(all.end(), values.begin(), values.end());
    return all;
  };
  if (fillRegion(*tracer, op->getRegion(0), types, test) &&
      fillRegion(*tracer, op->getRegion(1), types, body))
    return finish(*tracer, op);
  return giveUp(*tracer, op);
}

Tensors
for_(const Tensor &count, const Tensors &init,
     const std::function<Tensors(const Tensor &, const Tensors &)> &body) {
  Tensors all = {count};
  all.insert(all.end(), init.begin(), init.end());
  if (!allValid(all))
    return {};
  Tracer *tracer = tracerOf(all);
  if (!tracer) {
    Tensors values = init;
    const int64_t turns = static_cast<int64_t>(count.item());
    for (int64_t i = 0; i < turns; ++i)
      values = body(
          Tensor::full(count.shape(), static_cast<double>(i), count.dtype()),
          values);
    return values;
  }
  SmallVector<Value> operands;
  for (const Tensor &tensor : all)
    operands.push_back(tracer->valueOf(tensor));
  if (!tracer->status())
    return {};
  SmallVector<Type> types(ValueRange(operands).getTypes());
  Operation *op = makeRegionOp(*tracer, llmir::mllm::ForOp::getOperationName(),
                               operands, ArrayRef(types).drop_front(), 1);
  auto turn = [&](const Tensors &arguments) {
    return body(arguments.front(),
                Tensors(arguments.begin() + 1, arguments.end()));
  };
  if (fillRegion(*tracer, op->getRegion(0), types, turn))
    return finish(*tracer, op);
  return giveUp(*tracer, op);
}

} // namespace mllm::ir
