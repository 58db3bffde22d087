//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParametersImpl.h"
#include "TensorImpl.h"

#include "CheckpointParameters.h"

#include "llmir/Checkpoint/StoredParameter.h"
#include "llmir/Support/TensorFormat.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace llmir;

namespace mllm {

Expected<const reference::Tensor *>
detail::ParametersImpl::numbers(const nn::Parameter &parameter) {
  auto found = known.find(parameter.path());
  if (found != known.end())
    return &found->second;
  Expected<reference::Tensor> tensor = read(parameter);
  if (!tensor)
    return tensor.takeStatus();
  return &known.emplace(parameter.path(), std::move(*tensor)).first->second;
}

static ir::ParameterBinding shapeAlone(mlir::MLIRContext &context,
                                       const nn::Parameter &parameter) {
  ir::ParameterBinding binding;
  binding.type = mlir::RankedTensorType::get(parameter.shape(),
                                             mlir::Float32Type::get(&context));
  return binding;
}

namespace {

/// Parameters of an open checkpoint.
class FromCheckpoint : public detail::ParametersImpl {
public:
  explicit FromCheckpoint(Checkpoint opened)
      : checkpoint(std::move(opened)), source(checkpoint) {}

  Expected<ir::ParameterBinding> bind(mlir::MLIRContext &context,
                                      const nn::Parameter &parameter) override {
    return source.bind(context, parameter);
  }

  Expected<reference::Tensor> read(const nn::Parameter &parameter) override {
    context.loadDialect<mlir::llm::LLMDialect>();
    Expected<ir::ParameterBinding> binding = bind(context, parameter);
    if (!binding)
      return binding.takeStatus();
    Expected<TensorFormat> format =
        checkpoint.find(matrixSource(binding->source, 0))->usableFormat();
    if (!format)
      return format.takeStatus();
    StoredParameter stored;
    stored.source = binding->source;
    stored.shape = parameter.shape();
    stored.unpermuteHeads = binding->unpermuteHeads;
    stored.firstRow = binding->place.first;
    stored.storedRows = binding->place.rows;
    stored.groupRows = binding->place.groupRows;
    stored.groupStride = binding->place.groupStride;
    stored.isTransposed = binding->transposed;
    stored.slicesColumns = binding->place.isOfColumns;
    reference::Tensor tensor(kindOf(*format), parameter.shape());
    auto end = tensor.floats().begin();
    LLMIR_RETURN_IF_ERROR(
        readRows(checkpoint, stored, [&](Span<const float> row) {
          end = std::copy(row.begin(), row.end(), end);
          return Status::ok();
        }));
    return tensor;
  }

private:
  static reference::ElementKind kindOf(TensorFormat format) {
    switch (format) {
    case TensorFormat::F16:
      return reference::ElementKind::F16;
    case TensorFormat::BF16:
      return reference::ElementKind::BF16;
    default:
      return reference::ElementKind::F32;
    }
  }

  Checkpoint checkpoint;
  CheckpointParameters source;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

class ShapesAlone : public detail::ParametersImpl {
public:
  Expected<ir::ParameterBinding> bind(mlir::MLIRContext &context,
                                      const nn::Parameter &parameter) override {
    return shapeAlone(context, parameter);
  }
  Expected<reference::Tensor> read(const nn::Parameter &parameter) override {
    return Status(StatusCode::NotFound,
                  "'" + parameter.path() +
                      "' has no elements: emptyParameters() is for tracing",
                  "load a checkpoint to compute");
  }
};

class Given : public detail::ParametersImpl {
public:
  explicit Given(std::map<std::string, Tensor> given)
      : tensors(std::move(given)) {}

  Expected<ir::ParameterBinding> bind(mlir::MLIRContext &context,
                                      const nn::Parameter &parameter) override {
    Expected<reference::Tensor> tensor = read(parameter);
    if (!tensor)
      return tensor.takeStatus();
    return shapeAlone(context, parameter);
  }
  Expected<reference::Tensor> read(const nn::Parameter &parameter) override {
    auto found = tensors.find(parameter.path());
    if (found == tensors.end() || !found->second.hasValues())
      return Status(StatusCode::NotFound,
                    "no elements were given for '" + parameter.path() + "'");
    if (found->second.shape() != parameter.shape())
      return Status(StatusCode::InvalidArgument,
                    "the elements given for '" + parameter.path() +
                        "' have a different shape than in the model");
    return *found->second.get()->numbers;
  }

private:
  std::map<std::string, Tensor> tensors;
};

} // namespace

Parameters load(const std::string &path) {
  Expected<Checkpoint> checkpoint =
      Checkpoint::open(path, CheckpointUse::Parameters);
  if (!checkpoint)
    return Parameters(checkpoint.takeStatus());
  return Parameters(std::make_shared<FromCheckpoint>(std::move(*checkpoint)));
}

Parameters emptyParameters() {
  return Parameters(std::make_shared<ShapesAlone>());
}

Parameters parametersOf(std::map<std::string, Tensor> tensors) {
  return Parameters(std::make_shared<Given>(std::move(tensors)));
}

} // namespace mllm
