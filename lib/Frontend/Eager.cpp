//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eager execution: each op is created in a thread-local module, evaluated by
// the interpreter, and erased.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "ParametersImpl.h"

#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Reference/ModelState.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace llmir;

namespace mllm {

namespace {

class Eager : public Engine {
public:
  Eager() : Engine(&context()) {
    context().loadDialect<llmir::mllm::MLLMDialect, llm::LLMDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context()));
    opBuilder.setInsertionPointToEnd(module->getBody());
    scratch = llmir::mllm::SubGraphOp::create(
        opBuilder, opBuilder.getUnknownLoc(), "eager",
        opBuilder.getFunctionType({}, {}), /*entry=*/false);
    opBuilder.setInsertionPointToEnd(&block());
  }

  Location location(const nn::Component *layer) override {
    const std::string path = layer ? layer->path() : std::string();
    return NameLoc::get(opBuilder.getStringAttr(path.empty() ? "eager" : path));
  }

  Value valueOf(const Tensor &tensor) override {
    if (!tensor.hasValues()) {
      if (tensor.get()->isStale())
        fail(opBuilder.getUnknownLoc(),
             "a tensor of a trace that has ended is used",
             "return it from forward(): its values are those of the trace's "
             "context");
      else
        fail(opBuilder.getUnknownLoc(),
             "a tensor without elements cannot be an operand",
             "create it with Tensor::fromVector; Tensor::empty is for tracing");
      return {};
    }
    return block().addArgument(
        tensorType(&context(), tensor.dims(), tensor.dtype(), tensor.device()),
        opBuilder.getUnknownLoc());
  }

  FlatSymbolRefAttr symbol(const nn::Parameter &parameter) override {
    const nn::Component::Root &root = parameter.root();
    if (!root.parameters) {
      fail(NameLoc::get(opBuilder.getStringAttr(parameter.path())),
           root.loaded ? "has no values" : root.loaded.cause(),
           root.loaded ? "call load() of the model first"
                       : root.loaded.advice());
      return {};
    }
    const std::string path = parameter.path();
    Expected<const reference::Tensor *> numbers =
        root.parameters->numbers(parameter);
    if (!numbers) {
      clear();
      failEagerly(numbers.takeStatus());
      return {};
    }
    auto symbol = FlatSymbolRefAttr::get(&context(), path);
    if (!values.try_emplace(path, *numbers).second)
      return symbol; // An op may reference a parameter twice.
    OpBuilder::InsertionGuard guard(opBuilder);
    opBuilder.setInsertionPoint(scratch);
    // With the shape of the elements: the op reports an error if another layer
    // with the same path requires a different shape.
    auto op = llmir::mllm::RegisterOp::create(
        opBuilder, opBuilder.getUnknownLoc(), path,
        RankedTensorType::get((*numbers)->shape, opBuilder.getF32Type()),
        /*source=*/"", std::nullopt);
    registered.push_back(op);
    return symbol;
  }

  std::vector<Tensor> take(Operation *op, const std::vector<Tensor> &operands,
                           const nn::Component *layer) override {
    InterpreterOptions options;
    options.parameter =
        [&](llmir::mllm::RegisterOp parameter) -> FailureOr<InterpreterValue> {
      return InterpreterValue(*values.at(parameter.getSymName().str()));
    };
    options.state = conversationOf(layer);
    std::vector<reference::Tensor> inputs;
    for (const Tensor &operand : operands)
      inputs.push_back(*operand.get()->numbers);
    FailureOr<std::vector<reference::Tensor>> outputs = failure();
    const std::string errors = errorsOf(context(), [&] {
      outputs = evaluateOp(op, std::move(inputs), options);
      return failure(failed(outputs));
    });
    const Location where = op->getLoc();
    std::vector<Tensor> results;
    if (succeeded(outputs))
      for (auto [output, type] :
           llvm::zip_equal(*outputs, op->getResultTypes()))
        results.push_back(fromElements(
            std::move(output), static_cast<DeviceTypes>(llmir::mllm::deviceOf(
                                   cast<RankedTensorType>(type)))));
    op->erase();
    clear();
    if (!errors.empty())
      fail(where, errors, "use valid operand values");
    return results;
  }

  Tensor fail(Location where, const std::string &what,
              const std::string &advice) override {
    clear();
    std::string place;
    if (auto name = dyn_cast<NameLoc>(where))
      place = name.getName().str() + ": ";
    return failEagerly(
        Status(StatusCode::InvalidArgument, place + what, advice));
  }

  bool hasFailed() const override { return !status(); }

private:
  static MLIRContext &context() {
    thread_local MLIRContext instance(MLIRContext::Threading::DISABLED);
    return instance;
  }
  Block &block() { return scratch.getBody().front(); }

  static ModelState *conversationOf(const nn::Component *layer) {
    if (!layer)
      return nullptr;
    std::shared_ptr<void> &kept = layer->root().conversation;
    if (!kept)
      kept = std::make_shared<ModelState>();
    return static_cast<ModelState *>(kept.get());
  }

  /// Remove everything before the next op.
  void clear() {
    if (block().empty())
      block().eraseArguments(0, block().getNumArguments());
    for (llmir::mllm::RegisterOp op : registered)
      op.erase();
    registered.clear();
    values.clear();
  }

  OwningOpRef<ModuleOp> module;
  llmir::mllm::SubGraphOp scratch;
  std::vector<llmir::mllm::RegisterOp> registered;
  std::map<std::string, const reference::Tensor *> values;
};

} // namespace

Engine &eagerEngine() {
  thread_local Eager engine;
  return engine;
}

Engine *&currentTracer() {
  thread_local Engine *tracer = nullptr;
  return tracer;
}

Engine &engineOf(const std::vector<Tensor> &operands) {
  bool isAnyNull = operands.empty();
  for (const Tensor &operand : operands) {
    isAnyNull |= !operand.isValid();
    if (Engine *tracer = operand.isValid() ? operand.get()->tracer() : nullptr)
      return *tracer;
  }
  return isAnyNull && currentTracer() ? *currentTracer() : eagerEngine();
}

} // namespace mllm
