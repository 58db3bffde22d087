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
#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"
#include "mllm/models/Families.h"

using namespace llmir;

/// The prefix of GPT-2 tensors, which some exports omit.
static constexpr std::string_view baseModelPrefix = "transformer.";

/// "[172, 64]".
static constexpr std::string_view modelPrefix = "model.";
/// Of tensors that only the other parts of a multimodal model need.
static constexpr std::string_view otherParts[] = {
    "vision_tower.", "multi_modal_projector.", "model.vision_tower.",
    "model.multi_modal_projector."};

/// The tensor of the text part of a multimodal model, which has been named in
/// two ways.
static const CheckpointTensor *findInTextPart(const Checkpoint &checkpoint,
                                              const std::string &name) {
  if (const CheckpointTensor *found = checkpoint.find("language_model." + name))
    return found;
  if (!startsWith(name, modelPrefix))
    return nullptr;
  return checkpoint.find("model.language_model." +
                         name.substr(modelPrefix.size()));
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape) {
    text += text.empty() ? "" : ", ";
    text += std::to_string(size);
  }
  return "[" + text + "]";
}

CheckpointParameters::CheckpointParameters(const Checkpoint &checkpoint)
    : checkpoint(checkpoint) {
  if (const auto *family =
          ::mllm::models::findModelFamily(checkpoint.config().architecture))
    familyNames = family->ggufNames;
}

Expected<::mllm::ir::ParameterBinding>
CheckpointParameters::bind(mlir::MLIRContext &context,
                           const ::mllm::nn::Parameter &parameter) {
  auto failure = [&](StatusCode code, const std::string &cause) {
    return Status(code, checkpoint.path() + ": " + cause,
                  "check that the config matches the weights");
  };
  const ::mllm::nn::Storage &storage = parameter.storage();
  const bool isGGUF = checkpoint.kind() == CheckpointKind::GGUF;
  std::string name = parameter.storedPath(isGGUF);
  if (isGGUF) {
    std::optional<std::string> ggufName = ggufTensorName(name, familyNames);
    if (!ggufName)
      return failure(StatusCode::Unsupported,
                     "'" + name + "' has no name in GGUF");
    name = std::move(*ggufName);
  }

  ::mllm::ir::ParameterBinding binding;
  std::vector<int64_t> shape = parameter.shape();
  binding.place = storage.placeIn(isGGUF);
  if (binding.place.rows > 0)
    shape[0] = binding.place.rows;
  binding.transposed = storage.isConv1D && shape.size() == 2 && !isGGUF;
  if (binding.transposed)
    std::swap(shape[0], shape[1]);

  const CheckpointTensor *tensor = checkpoint.find(name);
  if (!tensor && checkpoint.config().isTextPart)
    if ((tensor = findInTextPart(checkpoint, name)))
      name = tensor->name;
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
  if (isBlockFormat(*format) && tensor->shape.size() < 2)
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
  if (config.ropeScaling.kind == RopeScaling::LongRope &&
      (tensor.name == shortFactorsTensor || tensor.name == longFactorsTensor))
    return true;
  if (config.isTextPart)
    for (std::string_view part : otherParts)
      if (startsWith(tensor.name, part))
        return true;
  // If the config ties the output projection to the embedding, a copy of it
  // among the weights is ignored, as in Hugging Face's loader.
  return config.tieWordEmbeddings &&
         (tensor.name == "lm_head.weight" ||
          tensor.name == "language_model.lm_head.weight");
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
