//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointParameters.h"

#include "RopeFrequencies.h"

#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Frontend/TensorNames.h"
#include "llmir/Support/Json.h"

using namespace llmir;

/// The prefix of GPT-2 tensors, which some exports omit.
static constexpr std::string_view baseModelPrefix = "transformer.";

/// "[172, 64]".
static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape) {
    text += text.empty() ? "" : ", ";
    text += std::to_string(size);
  }
  return "[" + text + "]";
}

Expected<::mllm::ir::ParameterBinding>
CheckpointParameters::bind(mlir::MLIRContext &context,
                           const ::mllm::nn::Parameter &parameter) {
  auto failure = [&](StatusCode code, const std::string &cause) {
    return Status(code, checkpoint.path() + ": " + cause,
                  "check that the config matches the weights");
  };
  const ::mllm::nn::Storage &storage = parameter.storage();
  std::string name = parameter.storedPath();
  if (checkpoint.kind() == CheckpointKind::GGUF) {
    std::optional<std::string> ggufName = ggufTensorName(name);
    if (!ggufName)
      return failure(StatusCode::Unsupported,
                     "'" + name + "' has no name in GGUF");
    name = std::move(*ggufName);
  }

  ::mllm::ir::ParameterBinding binding;
  std::vector<int64_t> shape = parameter.shape();
  if (storage.sharedRows > 0) {
    shape[0] = binding.storedRows = storage.sharedRows;
    binding.firstRow = storage.firstRow;
  }
  binding.transposed = storage.isConv1D && shape.size() == 2 &&
                       checkpoint.kind() == CheckpointKind::HuggingFace;
  if (binding.transposed)
    std::swap(shape[0], shape[1]);

  const CheckpointTensor *tensor = checkpoint.find(name);
  // Exports of the model without its head omit the prefix.
  if (!tensor && name.compare(0, baseModelPrefix.size(), baseModelPrefix) == 0)
    if ((tensor = checkpoint.find(name.substr(baseModelPrefix.size()))))
      name = tensor->name;
  if (!tensor)
    return failure(StatusCode::NotFound,
                   "tensor '" + name + "' is missing, the model needs shape " +
                       shapeText(shape));
  if (tensor->shape != shape)
    return failure(StatusCode::InvalidFile,
                   "tensor '" + name + "' has shape " + tensor->shapeText() +
                       ", the model needs " + shapeText(shape));
  Expected<TensorFormat> format = tensor->usableFormat();
  if (!format)
    return format.takeStatus();
  if (isBlockFormat(*format) && tensor->shape.size() != 2)
    return failure(StatusCode::Unsupported,
                   "tensor '" + name + "' of shape " + tensor->shapeText() +
                       " is stored as " + tensor->storageName +
                       ", which is only valid for matrices");

  used.insert(name);
  binding.type = mllm::storedType(&context, parameter.shape(), *format);
  binding.source = name;
  if (checkpoint.config().adjacentPairRotation)
    binding.unpermuteHeads = storage.rotatedHeads;
  return binding;
}

bool CheckpointParameters::isTolerated(const CheckpointTensor &tensor) const {
  if (isIgnoredTensor(tensor.name))
    return true;
  const ModelConfig &config = checkpoint.config();
  if (config.ropeFrequencyDivisors && tensor.name == ropeDivisorsTensor)
    return true;
  // If the config ties the output projection to the embedding, a copy of it
  // among the weights is ignored, as in Hugging Face's loader.
  return config.tieWordEmbeddings && tensor.name == "lm_head.weight";
}

Status CheckpointParameters::checkAllUsed() const {
  const CheckpointTensor *first = nullptr;
  int64_t count = 0;
  for (const CheckpointTensor &tensor : checkpoint.tensors()) {
    if (used.count(tensor.name) || isTolerated(tensor))
      continue;
    first = first ? first : &tensor;
    ++count;
  }
  if (!first)
    return Status::ok();
  const ModelConfig &config = checkpoint.config();
  std::string more =
      count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "";
  return Status(StatusCode::InvalidFile,
                checkpoint.path() + ": tensor '" + printable(first->name) +
                    "' of shape " + first->shapeText() + more +
                    " is not part of a " + config.architecture + " model of " +
                    std::to_string(config.numLayers) +
                    " layers, which has no tensor of that name",
                "check that the config matches the weights");
}
