//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/RunOnXNNPACK.h"

#include "llmir/Dialect/MLLM/MLLM.h"

using namespace mlir;
using namespace llmir;
using namespace ::mllm::ir;
using Values = llvm::DenseMap<const GraphValue *, reference::Tensor>;

/// Dequantized elements.
static reference::Tensor decoded(InterpreterValue value) {
  if (auto *quantized = std::get_if<QuantizedValue>(&value))
    return quantized->decode();
  return std::get<reference::Tensor>(std::move(value));
}

static ParameterReader readerOf(ModuleOp module,
                                const InterpreterOptions &options) {
  return [module, parameter = options.parameter](
             const GraphParameter &wanted,
             const std::function<Status(Span<const float>)> &take) mutable
             -> Status {
    auto op = module.lookupSymbol<llmir::mllm::RegisterOp>(wanted.name);
    FailureOr<InterpreterValue> value = parameter(op);
    if (failed(value))
      return Status(StatusCode::InvalidArgument,
                    "parameter '" + wanted.name + "' cannot be read");
    const reference::Tensor tensor = decoded(std::move(*value));
    const std::vector<float> numbers(tensor.floats().begin(),
                                     tensor.floats().end());
    return take(Span<const float>(numbers.data(), numbers.size()));
  };
}

FailureOr<std::unique_ptr<XNNPACKModel>>
XNNPACKModel::build(ModuleOp module, Graph graph, InterpreterOptions options,
                    int threads) {
  std::unique_ptr<XNNPACKModel> model(
      new XNNPACKModel(std::move(graph), std::move(options)));
  Expected<std::unique_ptr<XNNPACKTarget>> target =
      XNNPACKTarget::create(readerOf(module, model->options), threads);
  if (!target)
    return emitError(module.getLoc()) << target.status().message(), failure();
  model->target = std::move(*target);
  Expected<ExportCoverage> share =
      exportGraph(model->wholeGraph, *model->target);
  if (!share)
    return emitError(module.getLoc()) << share.status().message(), failure();
  model->share = std::move(*share);
  model->parts = partition(model->wholeGraph, *model->target);
  return model;
}

size_t XNNPACKModel::numSubgraphs() const {
  size_t sum = 0;
  for (size_t part = 0; part < target->numParts(); ++part)
    sum += target->numSubgraphs(part);
  return sum;
}

/// The op that represents a part in messages.
static Operation *firstOf(const GraphPart &part) {
  return operationOf(*part.ops.front());
}

static LogicalResult interpretOp(const GraphOp &graphOp,
                                 const InterpreterOptions &options,
                                 Values &values) {
  Operation *op = operationOf(graphOp);
  if (op->getNumRegions() != 0)
    return op->emitOpError(
        "cannot be run with XNNPACK: a static graph has no control flow");
  std::vector<reference::Tensor> operands;
  for (const GraphValue *operand : graphOp.operands)
    operands.push_back(values.at(operand));
  FailureOr<std::vector<reference::Tensor>> results =
      evaluateOp(op, std::move(operands), options);
  if (failed(results))
    return failure();
  for (auto [value, result] : llvm::zip_equal(graphOp.results, *results))
    values[value] = std::move(result);
  return success();
}

static LogicalResult runPart(XNNPACKTarget &target, size_t number,
                             const GraphPart &part, Values &values) {
  std::vector<std::vector<float>> inputs;
  for (const GraphValue *input : part.inputs) {
    const reference::Tensor &tensor = values.at(input);
    const std::vector<double> numbers = tensor.toDoubles();
    inputs.emplace_back(numbers.begin(), numbers.end());
  }
  Expected<std::vector<std::vector<float>>> outputs =
      target.run(number, inputs);
  if (!outputs)
    return firstOf(part)->emitOpError() << outputs.status().message();
  for (auto [value, numbers] : llvm::zip_equal(part.outputs, *outputs)) {
    reference::Shape shape;
    for (const shapes::DimExpr &size : value->shape)
      shape.push_back(*size.constant());
    values[value] =
        reference::Tensor(reference::ElementKind::F32, std::move(shape),
                          std::vector<double>(numbers.begin(), numbers.end()));
  }
  return success();
}

FailureOr<std::vector<reference::Tensor>>
XNNPACKModel::run(const std::vector<reference::Tensor> &inputs,
                  ModelState &state) {
  Values values;
  for (auto [value, tensor] : llvm::zip_equal(wholeGraph.inputs(), inputs))
    values[value] = tensor;
  InterpreterOptions inThisState = options;
  inThisState.state = &state;
  state.beginStep();
  size_t number = 0;
  for (const GraphPart &part : parts) {
    if (part.supported) {
      if (failed(runPart(*target, number++, part, values)))
        return failure();
      continue;
    }
    for (const GraphOp *op : part.ops)
      if (failed(interpretOp(*op, inThisState, values)))
        return failure();
  }
  std::vector<reference::Tensor> results;
  for (const GraphValue *output : wholeGraph.outputs())
    results.push_back(values.at(output));
  return results;
}
