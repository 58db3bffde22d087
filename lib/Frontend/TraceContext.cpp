//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ir::trace, which returns a context of the node API; control flow in a trace.
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

namespace {
/// Checks that a model with parameters has been loaded.
class NoParameters : public ParameterSource {
public:
  explicit NoParameters(std::string model) : model(std::move(model)) {}
  Expected<ParameterBinding> bind(MLIRContext &,
                                  const nn::Parameter &) override {
    return Status(StatusCode::InvalidArgument,
                  model + ": the model has no parameters yet",
                  "call load() with mllm::load(path), or with "
                  "mllm::emptyParameters(config) to trace from a config alone");
  }

private:
  std::string model;
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
  NoParameters none(name);
  ParameterSource &parameters =
      root.parameters ? *root.parameters : static_cast<ParameterSource &>(none);
  Tracer tracer(context, parameters);
  SmallVector<Type> types;
  for (const Tensor &input : inputs) {
    RankedTensorType type =
        input.isValid()
            ? tensorType(&context, input.dims(), input.dtype(), input.device())
            : RankedTensorType();
    if (!type)
      return Status(StatusCode::InvalidArgument,
                    name + ": an input has an unsupported type");
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

/// The type in an MLIRContext; null for a null tensor.
static RankedTensorType typeOf(MLIRContext *context, const Tensor &tensor) {
  if (!tensor.isValid())
    return {};
  return tensorType(context, tensor.dims(), tensor.dtype(), tensor.device());
}

/// Terminates a region with the values of `tensors`; false if one is missing.
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

/// Fills a new region: `fill` computes its results from its arguments.
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

/// Fails the trace, if it has not failed, because regions of `op` returned no
/// tensors. The op is kept until the module is destroyed, since C++ may hold
/// tensors of values in it.
static Tensors failRegions(Tracer &tracer, Operation *op, size_t count) {
  if (tracer.status())
    tracer.fail(op->getLoc(), "a branch or loop returned no tensor",
                "return the tensors of each branch or iteration");
  return Tensors(count);
}

/// Verifies an op with regions and returns its results.
static Tensors finish(Tracer &tracer, Operation *op, size_t count) {
  std::string errors =
      errorsOf(*op->getContext(), [&] { return mlir::verify(op); });
  if (errors.empty())
    return tracer.take(op, {}, nullptr);
  tracer.fail(op->getLoc(), errors, fitAdvice);
  return failRegions(tracer, op, count);
}

/// Creates an op with `regions` empty regions at the insertion point.
static Operation *makeRegionOp(Engine &engine, StringRef name,
                               ValueRange operands, TypeRange results,
                               unsigned regions) {
  OperationState state(engine.location(nullptr), name);
  state.addOperands(operands);
  state.addTypes(results);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return engine.builder().create(state);
}

//===----------------------------------------------------------------------===//
// Eager control flow
//===----------------------------------------------------------------------===//

namespace {
/// The argument and result types of a region.
struct RegionTypes {
  SmallVector<Type> arguments, yielded;
};
} // namespace

/// Checks that a trace would accept an op with these operands, results and
/// regions by creating and verifying it with placeholder values; fails
/// otherwise.
static bool isAccepted(StringRef name, TypeRange operands, TypeRange results,
                       ArrayRef<RegionTypes> regions) {
  Engine &engine = eagerEngine();
  OpBuilder &builder = engine.builder();
  OpBuilder::InsertionGuard guard(builder);
  const Location where = engine.location(nullptr);
  OwningOpRef<mlir::ModuleOp> place = mlir::ModuleOp::create(where);
  auto valuesOf = [&](TypeRange types) {
    SmallVector<Value> values;
    for (Type type : types)
      values.push_back(
          UnrealizedConversionCastOp::create(builder, where, type, ValueRange())
              .getResult(0));
    return values;
  };
  builder.setInsertionPointToEnd(place->getBody());
  Operation *op = makeRegionOp(engine, name, valuesOf(operands), results,
                               static_cast<unsigned>(regions.size()));
  for (auto [region, types] : llvm::zip_equal(op->getRegions(), regions)) {
    Block &block = region.emplaceBlock();
    block.addArguments(types.arguments,
                       SmallVector<Location>(types.arguments.size(), where));
    builder.setInsertionPointToEnd(&block);
    llmir::mllm::YieldOp::create(builder, where, valuesOf(types.yielded));
  }
  const std::string errors =
      errorsOf(*op->getContext(), [&] { return mlir::verify(op); });
  if (!errors.empty())
    engine.fail(where, errors, fitAdvice);
  return errors.empty();
}

/// The types of tensors in the eager engine; false if one is null.
static bool typesOf(const Tensors &tensors, SmallVector<Type> &types) {
  MLIRContext *context = eagerEngine().builder().getContext();
  for (const Tensor &tensor : tensors)
    types.push_back(typeOf(context, tensor));
  return llvm::all_of(types, [](Type type) { return type != nullptr; });
}

/// Whether a tensor with elements is a valid condition.
static bool isTruthValue(const Tensor &condition) {
  SmallVector<Type> types;
  if (!condition.hasValues() || !typesOf({condition}, types))
    return condition.item() != 0; // item() reports an error.
  return isAccepted(llmir::mllm::IfOp::getOperationName(), types, {},
                    {RegionTypes(), RegionTypes()});
}

/// As many null tensors as a branch returns: if the condition is null, the
/// branch runs to determine their number.
static Tensors nullResultsOf(const std::function<Tensors()> &branch) {
  // Limits a recursion that the condition would have ended.
  constexpr int deepest = 8;
  thread_local int depth = 0;
  if (depth == deepest)
    return Tensors(1);
  ++depth;
  const size_t count = branch().size();
  --depth;
  return Tensors(count);
}

//===----------------------------------------------------------------------===//
// if_, while_, for_
//===----------------------------------------------------------------------===//

Tensors if_(const Tensor &condition, const std::function<Tensors()> &then,
            const std::function<Tensors()> &otherwise) {
  if (hasNull({condition}, llmir::mllm::IfOp::getOperationName().str()))
    return nullResultsOf(then);
  Tracer *tracer = tracerOf({condition});
  if (!tracer) {
    if (!isTruthValue(condition))
      return nullResultsOf(then);
    return condition ? then() : otherwise();
  }
  // The result types are those of the regions.
  Value value = tracer->valueOf(condition);
  if (!value)
    return nullResultsOf(then);
  Operation *draft = makeRegionOp(
      *tracer, llmir::mllm::IfOp::getOperationName(), value, {}, 2);
  size_t count = 0;
  auto fill = [&](unsigned region, const std::function<Tensors()> &make) {
    return fillRegion(*tracer, draft->getRegion(region), {},
                      [&](const Tensors &) {
                        Tensors given = make();
                        count = std::max(count, given.size());
                        return given;
                      });
  };
  if (!fill(0, then) || !fill(1, otherwise))
    return failRegions(*tracer, draft, count);
  Operation *op = makeRegionOp(
      *tracer, llmir::mllm::IfOp::getOperationName(), value,
      draft->getRegion(0).front().getTerminator()->getOperandTypes(), 2);
  for (unsigned i = 0; i < 2; ++i)
    op->getRegion(i).takeBody(draft->getRegion(i));
  draft->erase();
  return finish(*tracer, op, count);
}

/// The eager loop; see while_.
static Tensors
repeatAtOnce(const Tensors &init,
             const std::function<Tensor(const Tensors &)> &condition,
             const std::function<Tensors(const Tensors &)> &body) {
  const Tensors nothing(init.size());
  SmallVector<Type> types;
  if (!typesOf(init, types))
    return nothing;
  SmallVector<Type> checked; // Types yielded by the last condition.
  Tensors values = init;
  for (;;) {
    const Tensor decision = condition(values);
    RegionTypes test = {types, {}}, turn = {types, types};
    if (hasNull({decision}, "the condition of mllm.cf.while") ||
        !typesOf({decision}, test.yielded))
      return nothing;
    test.yielded.append(types);
    const StringRef name = llmir::mllm::WhileOp::getOperationName();
    if (test.yielded != checked &&
        !isAccepted(name, types, types, {test, turn}))
      return nothing;
    checked = test.yielded;
    if (!decision)
      return values;
    values = body(values);
    turn.yielded.clear();
    if (hasNull(values, "the next iteration of mllm.cf.while") ||
        !typesOf(values, turn.yielded) ||
        (turn.yielded != types &&
         !isAccepted(name, types, types, {test, turn})))
      return nothing;
  }
}

Tensors while_(const Tensors &init,
               const std::function<Tensor(const Tensors &)> &condition,
               const std::function<Tensors(const Tensors &)> &body) {
  const Tensors nothing(init.size());
  if (hasNull(init, llmir::mllm::WhileOp::getOperationName().str()))
    return nothing;
  Tracer *tracer = tracerOf(init);
  if (!tracer)
    return repeatAtOnce(init, condition, body);
  SmallVector<Value> operands;
  for (const Tensor &tensor : init)
    operands.push_back(tracer->valueOf(tensor));
  if (!tracer->status())
    return nothing;
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
    return finish(*tracer, op, init.size());
  return failRegions(*tracer, op, init.size());
}

/// The eager loop; see for_.
static Tensors countAtOnce(
    const Tensor &count, const Tensors &init,
    const std::function<Tensors(const Tensor &, const Tensors &)> &body) {
  const Tensors nothing(init.size());
  SmallVector<Type> countType, types;
  if (!typesOf({count}, countType) || !typesOf(init, types))
    return nothing;
  SmallVector<Type> all = countType;
  all.append(types);
  const StringRef name = llmir::mllm::ForOp::getOperationName();
  if (!isAccepted(name, all, types, RegionTypes{all, types}))
    return nothing;
  Tensors values = init;
  const int64_t iterations = static_cast<int64_t>(count.item());
  for (int64_t i = 0; i < iterations; ++i) {
    values =
        body(Tensor::full(count.shape(), static_cast<double>(i), count.dtype()),
             values);
    RegionTypes turn = {all, {}};
    if (hasNull(values, "the next iteration of mllm.cf.for") ||
        !typesOf(values, turn.yielded) ||
        (turn.yielded != types && !isAccepted(name, all, types, turn)))
      return nothing;
  }
  return values;
}

Tensors
for_(const Tensor &count, const Tensors &init,
     const std::function<Tensors(const Tensor &, const Tensors &)> &body) {
  const Tensors nothing(init.size());
  Tensors all = {count};
  all.insert(all.end(), init.begin(), init.end());
  if (hasNull(all, llmir::mllm::ForOp::getOperationName().str()))
    return nothing;
  Tracer *tracer = tracerOf(all);
  if (!tracer)
    return countAtOnce(count, init, body);
  SmallVector<Value> operands;
  for (const Tensor &tensor : all)
    operands.push_back(tracer->valueOf(tensor));
  if (!tracer->status())
    return nothing;
  SmallVector<Type> types(ValueRange(operands).getTypes());
  Operation *op = makeRegionOp(*tracer, llmir::mllm::ForOp::getOperationName(),
                               operands, ArrayRef(types).drop_front(), 1);
  auto turn = [&](const Tensors &arguments) {
    return body(arguments.front(),
                Tensors(arguments.begin() + 1, arguments.end()));
  };
  if (fillRegion(*tracer, op->getRegion(0), types, turn))
    return finish(*tracer, op, init.size());
  return failRegions(*tracer, op, init.size());
}

} // namespace mllm::ir

namespace mllm {

Expected<const reference::Tensor *> parameterElements(ir::IRContext &context,
                                                      std::string_view path) {
  const auto &source = context.impl().parameter;
  if (!source)
    return Status(StatusCode::InvalidArgument,
                  "the context was not created by a trace of a model with "
                  "parameters");
  return source(StringRef(path.data(), path.size()));
}

} // namespace mllm
