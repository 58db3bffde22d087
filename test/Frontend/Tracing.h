//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of traces share: a module whose body is a function, random
// parameters, and the reference interpreter on a traced context.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FRONTEND_TRACING_H
#define LLMIR_TEST_FRONTEND_TRACING_H

#include "mllm/mllm.hpp"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Reference/ModelState.h"
#include "mllm/ir/MLIR.h"

#include <functional>
#include <sstream>

namespace llmir::test {

using ::mllm::Parameters;
using ::mllm::Tensor;

/// A module whose forwardAll() is a function.
class Function : public ::mllm::nn::Module {
public:
  using Body = std::function<::mllm::ir::Tensors(Function &,
                                                 const ::mllm::ir::Tensors &)>;
  explicit Function(Body body, std::string name = "model")
      : Module(std::move(name)), body(std::move(body)) {}
  ::mllm::ir::Tensors forwardAll(const ::mllm::ir::Tensors &inputs) override {
    return body(*this, inputs);
  }
  template <typename T, typename... Args>
  T add(const std::string &name, Args &&...args) {
    return reg<T>(name, std::forward<Args>(args)...);
  }

private:
  Body body;
};

/// Random values for parameters, uniform in [-0.5, 0.5).
class Numbers {
public:
  void add(const std::string &name, const std::vector<int64_t> &shape) {
    tensors[name] = Tensor::fromVector(shape, random(shape));
  }
  std::vector<double> random(const std::vector<int64_t> &shape) {
    std::vector<double> numbers(
        static_cast<size_t>(reference::numElements(shape)));
    for (double &number : numbers) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      number = double(state >> 40) / double(1 << 24) - 0.5;
    }
    return numbers;
  }
  Parameters parameters() const { return ::mllm::parametersOf(tensors); }

  std::map<std::string, Tensor> tensors;

private:
  uint64_t state = 7;
};

/// Numbers for every parameter that a model's trace registers.
inline Numbers numbersFor(::mllm::ir::IRContext &context) {
  Numbers numbers;
  for (auto op : ::mllm::ir::getModule(context).getOps<mllm::RegisterOp>())
    numbers.add(
        op.getSymName().str(),
        mlir::cast<mlir::RankedTensorType>(op.getType()).getShape().vec());
  return numbers;
}

/// The elements of a tensor in the interpreter.
inline reference::Tensor referenceOf(const Tensor &tensor) {
  const reference::ElementKind kind =
      tensor.dtype() == ::mllm::kInt64   ? reference::ElementKind::I64
      : tensor.dtype() == ::mllm::kInt32 ? reference::ElementKind::I32
      : tensor.dtype() == ::mllm::kBool  ? reference::ElementKind::I1
                                         : reference::ElementKind::F32;
  return {kind, tensor.shape(), tensor.toVector()};
}

/// With the values of these parameters.
inline InterpreterOptions
optionsWith(const std::map<std::string, Tensor> &parameters) {
  InterpreterOptions options;
  options.parameter =
      [&](mllm::RegisterOp op) -> mlir::FailureOr<InterpreterValue> {
    return InterpreterValue(referenceOf(parameters.at(op.getSymName().str())));
  };
  return options;
}

/// Runs the traced model in the reference interpreter; no results if that
/// fails.
inline std::vector<reference::Tensor>
interpretAll(::mllm::ir::IRContext &context,
             const std::map<std::string, Tensor> &parameters,
             const std::vector<Tensor> &inputs, ModelState *state = nullptr) {
  InterpreterOptions options = optionsWith(parameters);
  options.state = state;
  std::vector<InterpreterValue> arguments;
  for (const Tensor &input : inputs)
    arguments.emplace_back(referenceOf(input));
  auto results = Interpreter(options).run(
      mllm::entrySubGraph(::mllm::ir::getModule(context)), arguments);
  std::vector<reference::Tensor> tensors;
  if (succeeded(results))
    for (auto &result : *results)
      tensors.push_back(std::get<reference::Tensor>(result.value));
  return tensors;
}

/// The same for a model of one input and one result.
inline std::vector<double>
interpret(::mllm::ir::IRContext &context,
          const std::map<std::string, Tensor> &parameters, const Tensor &input,
          ModelState *state = nullptr) {
  auto results = interpretAll(context, parameters, {input}, state);
  return results.empty() ? std::vector<double>() : results.front().toDoubles();
}

/// In the style `document`.
inline std::string dump(::mllm::ir::IRContext &context,
                        int64_t firstNumber = 0) {
  std::ostringstream text;
  ::mllm::IRPrinter printer(text);
  printer.setFirstNumber(firstNumber);
  context.topLevelOp()->dump(printer);
  return text.str();
}

} // namespace llmir::test

#endif // LLMIR_TEST_FRONTEND_TRACING_H
