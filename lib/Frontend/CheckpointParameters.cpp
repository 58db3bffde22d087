//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointParameters.h"

#include "RopeFrequencies.h"

#include "llmir/Checkpoint/StoredParameter.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"
#include "mllm/models/Families.h"

#include <algorithm>

using namespace llmir;

/// The prefix of GPT-2 tensors, which some exports omit.
static constexpr std::string_view baseModelPrefix = "transformer.";
static constexpr std::string_view modelPrefix = "model.";
/// Of tensors that only the other parts of a multimodal model need.
static constexpr std::string_view otherParts[] = {
    "vision_tower.",       "multi_modal_projector.",
    "model.vision_tower.", "model.multi_modal_projector.",
    "vision_model.",       "model.visual.",
    "model.embed_vision.", "model.audio_tower.",
    "model.embed_audio."};
/// Of layers that predict further tokens.
static constexpr std::string_view predictionPrefix = "mtp.";

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

/// A tensor of an embedding model, whose checkpoint may be of the model without
/// a head, or of BERT with one. Exports of old models give norms other names.
static const CheckpointTensor *findOfEncoder(const Checkpoint &checkpoint,
                                             const std::string &name) {
  if (!startsWith(name, modelPrefix))
    return nullptr;
  const std::string rest = name.substr(modelPrefix.size());
  for (const char *prefix : {"", "bert.", "roberta."})
    if (const CheckpointTensor *found = checkpoint.find(prefix + rest))
      return found;
  constexpr std::string_view norm = "LayerNorm.";
  const size_t at = rest.rfind(norm);
  if (at == std::string::npos)
    return nullptr;
  const bool isBias = endsWith(rest, ".bias");
  const std::string old =
      rest.substr(0, at + norm.size()) + (isBias ? "beta" : "gamma");
  for (const char *prefix : {"", "bert."})
    if (const CheckpointTensor *found = checkpoint.find(prefix + old))
      return found;
  return nullptr;
}

/// "[172, 64]".
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
    familyNames = family->ggufNames, folderNames = family->folderNames;
}

/// The name of a parameter in a folder, where a module may have another one.
static std::string inFolder(const std::string &parameter,
                            Span<const TensorName> names) {
  const size_t dot = parameter.rfind('.');
  for (const TensorName &name : names) {
    const std::string module = "." + std::string(name.module);
    if (dot != std::string::npos && endsWith(parameter.substr(0, dot), module))
      return parameter.substr(0, dot - module.size() + 1) +
             std::string(name.gguf) + parameter.substr(dot);
  }
  return parameter;
}

Status CheckpointParameters::failure(StatusCode code,
                                     const std::string &cause) const {
  return Status(code, checkpoint.path() + ": " + cause,
                "check that the config matches the weights");
}

/// The tensor, whose name may lack that of the parameter: a stack of matrices.
const CheckpointTensor *
CheckpointParameters::find(const std::string &name) const {
  constexpr std::string_view suffix = ".weight";
  if (const CheckpointTensor *tensor = findWithPrefix(name))
    return tensor;
  return endsWith(name, suffix)
             ? findWithPrefix(name.substr(0, name.size() - suffix.size()))
             : nullptr;
}

/// The tensor, whose name may have another prefix.
const CheckpointTensor *
CheckpointParameters::findWithPrefix(const std::string &name) const {
  if (const CheckpointTensor *tensor = checkpoint.find(name))
    return tensor;
  if (checkpoint.config().isTextPart)
    if (const CheckpointTensor *tensor = findInTextPart(checkpoint, name))
      return tensor;
  // Exports of the model without its head omit the prefix.
  if (startsWith(name, baseModelPrefix))
    return checkpoint.find(name.substr(baseModelPrefix.size()));
  return checkpoint.config().pooling != Pooling::None
             ? findOfEncoder(checkpoint, name)
             : nullptr;
}

/// Whether the tensor is made of the parts of a quantized one.
bool CheckpointParameters::isAssembled(const std::string &name) const {
  const CheckpointTensor *tensor = find(name);
  return tensor && tensor->rows;
}

/// The matrices of a stack may be stored as one, one after another, and those
/// of one column as rows of their elements.
static bool hasShapeOfStack(const CheckpointTensor &tensor,
                            const std::vector<int64_t> &shape) {
  const std::vector<int64_t> &stored = tensor.shape;
  return (stored[0] == shape[0] * shape[1] && stored[1] == shape[2]) ||
         (shape[2] == 1 && stored[0] == shape[0] && stored[1] == shape[1] &&
          tensor.format && !isBlockFormat(*tensor.format));
}

/// A matrix of one row may be stored as a vector, a vector as a row or a
/// column, and the factors of a convolution of each channel with a size for the
/// channels of a group, 1.
static bool hasShape(const CheckpointTensor &tensor,
                     const std::vector<int64_t> &shape, bool isConvolution) {
  const bool isLine = shape.size() == 1 && tensor.shape.size() == 2 &&
                      std::min(tensor.shape[0], tensor.shape[1]) == 1 &&
                      std::max(tensor.shape[0], tensor.shape[1]) ==
                          std::max<int64_t>(shape[0], 1);
  return tensor.shape == shape || isLine ||
         (shape.size() == 3 && tensor.shape.size() == 2 &&
          hasShapeOfStack(tensor, shape)) ||
         (shape.size() == 2 && shape[0] == 1 && tensor.shape.size() == 1 &&
          tensor.shape[0] == shape[1]) ||
         (isConvolution && tensor.shape.size() == 3 && tensor.shape[1] == 1 &&
          tensor.shape[0] == shape[0] && tensor.shape[2] == shape[1]);
}

Expected<const CheckpointTensor *>
CheckpointParameters::take(const std::string &name,
                           const std::vector<int64_t> &shape,
                           bool isConvolution) {
  const CheckpointTensor *tensor = find(name);
  if (!tensor)
    return failure(StatusCode::NotFound,
                   "tensor '" + name + "' is missing, the model needs shape " +
                       shapeText(shape));
  if (!hasShape(*tensor, shape, isConvolution))
    return failure(StatusCode::InvalidFile,
                   "tensor '" + tensor->name + "' has shape " +
                       tensor->shapeText() + ", the model needs " +
                       shapeText(shape));
  Expected<TensorFormat> format = tensor->usableFormat();
  if (!format)
    return format.takeStatus();
  if (isBlockFormat(*format) &&
      std::min(tensor->shape.size(), shape.size()) < 2)
    return failure(StatusCode::Unsupported,
                   "tensor '" + tensor->name + "' of shape " +
                       tensor->shapeText() + " is stored as " +
                       tensor->storageName +
                       ", which is only valid for matrices");
  used.insert(tensor->name);
  return tensor;
}

/// All matrices of a stack must have one format, that of the packed stack.
Expected<const CheckpointTensor *>
CheckpointParameters::takeStack(const std::string &source,
                                std::vector<int64_t> shape) {
  const int64_t count = shape.front();
  shape.erase(shape.begin());
  const CheckpointTensor *first = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    Expected<const CheckpointTensor *> next =
        take(matrixSource(source, i), shape);
    if (!next)
      return next.takeStatus();
    first = first ? first : *next;
    if ((*next)->format != first->format)
      return failure(StatusCode::Unsupported,
                     "tensor '" + (*next)->name + "' is stored as " +
                         (*next)->storageName + ", but '" + first->name +
                         "' as " + first->storageName +
                         "; experts of a layer must have one type");
  }
  return first;
}

Expected<::mllm::ir::ParameterBinding>
CheckpointParameters::bind(mlir::MLIRContext &context,
                           const ::mllm::nn::Parameter &parameter) {
  const ::mllm::nn::Storage &storage = parameter.storage();
  const bool isGGUF = checkpoint.kind() == CheckpointKind::GGUF;
  std::string name = parameter.storedPath(isGGUF);
  if (isGGUF) {
    std::optional<std::string> ggufName = ggufTensorName(name, familyNames);
    if (!ggufName)
      return failure(StatusCode::Unsupported,
                     "'" + name + "' has no name in GGUF");
    name = std::move(*ggufName);
  } else {
    name = inFolder(name, folderNames);
  }

  ::mllm::ir::ParameterBinding binding;
  std::vector<int64_t> shape = parameter.shape();
  binding.place = storage.placeIn(isGGUF);
  const bool slicesColumns = binding.place.isOfColumns;
  // Stacks in blocks (MXFP4) are not stored transposed.
  binding.transposed =
      storage.isConvolution ||
      (storage.isTransposed && shape.size() > 1 && !isGGUF &&
       (slicesColumns || shape.size() != 3 || !isAssembled(name)));
  if (binding.place.rows > 0)
    shape[slicesColumns ? 2 : shape.size() == 3 ? 1 : 0] = binding.place.rows;
  if (binding.transposed)
    std::swap(shape[shape.size() - 2], shape.back());

  const bool isNumbered = isNumberedSource(name);
  Expected<const CheckpointTensor *> tensor =
      isNumbered ? takeStack(name, shape)
                 : take(name, shape, storage.isConvolution);
  if (!tensor)
    return tensor.takeStatus();
  if (slicesColumns && isBlockFormat(*(*tensor)->usableFormat()))
    return failure(StatusCode::Unsupported,
                   "tensor '" + (*tensor)->name + "' is stored as " +
                       (*tensor)->storageName +
                       ", but its matrices are transposed, which blocks "
                       "cannot be");
  binding.type =
      mllm::storedType(&context, parameter.shape(), *(*tensor)->usableFormat());
  binding.source = isNumbered ? name : (*tensor)->name;
  if (checkpoint.config().adjacentPairRotation)
    binding.unpermuteHeads = storage.rotatedHeads;
  return binding;
}

/// Whether the tensor is part of a layer after those of the model.
static bool isOfPredictionLayer(const ModelConfig &config,
                                std::string_view name) {
  for (int64_t i = 0; i < config.numPredictionLayers; ++i)
    for (const char *prefix : {"model.layers.", "blk."})
      if (startsWith(name, prefix + std::to_string(config.numLayers + i) + "."))
        return true;
  return false;
}

/// Whether the tensor makes keys or values of a layer that reads those of
/// another one instead.
static bool isOfUnusedKeys(const ModelConfig &config, std::string_view name) {
  for (int64_t i = 0; i < config.numLayers; ++i) {
    if (config.attentionOf(i).cacheOf < 0)
      continue;
    const std::string number = std::to_string(i);
    for (const char *part : {"k_proj", "v_proj", "k_norm"})
      if (endsWith(name, "layers." + number + ".self_attn." + part + ".weight"))
        return true;
    for (const char *part : {"attn_k", "attn_v", "attn_k_norm"})
      if (name == "blk." + number + "." + part + ".weight")
        return true;
  }
  return false;
}

/// Exports of GPTQ can give each quantized matrix a bias, which is zero if the
/// model has none.
static bool isZeroBiasOfGPTQ(const Checkpoint &checkpoint,
                             const CheckpointTensor &tensor) {
  constexpr std::string_view suffix = ".bias";
  if (!endsWith(tensor.name, suffix))
    return false;
  const CheckpointTensor *matrix = checkpoint.find(
      tensor.name.substr(0, tensor.name.size() - suffix.size()) + ".weight");
  return matrix && matrix->rows && tensor.shape.size() == 1 && tensor.format &&
         std::all_of(tensor.bytes.begin(), tensor.bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

/// Heads that encoders were trained with, and a buffer.
static bool isOfTraining(std::string_view name) {
  for (std::string_view prefix : {"bert.", "roberta."})
    if (startsWith(name, prefix))
      name = name.substr(prefix.size());
  for (std::string_view head :
       {"pooler.", "cls.", "lm_head.", "head.", "decoder."})
    if (startsWith(name, head))
      return true;
  return name == "embeddings.position_ids";
}

bool CheckpointParameters::isTolerated(const CheckpointTensor &tensor) const {
  if (isIgnoredTensor(tensor.name) || isZeroBiasOfGPTQ(checkpoint, tensor))
    return true;
  const ModelConfig &config = checkpoint.config();
  if (config.isBidirectional && isOfTraining(tensor.name))
    return true;
  if (config.ropeFrequencyDivisors && tensor.name == ropeDivisorsTensor)
    return true;
  if (config.ropeScaling.kind == RopeScaling::LongRope &&
      (tensor.name == shortFactorsTensor || tensor.name == longFactorsTensor))
    return true;
  if (isOfUnusedKeys(config, tensor.name) ||
      isOfPredictionLayer(config, tensor.name) ||
      startsWith(tensor.name, predictionPrefix))
    return true;
  if (config.isTextPart)
    for (std::string_view part : otherParts)
      if (startsWith(tensor.name, part))
        return true;
  // If the config ties the output projection to the embedding, a copy of it
  // among the weights is ignored, as in Hugging Face's loader. Embeddings of
  // texts need none.
  const bool isHead = tensor.name == "lm_head.weight" ||
                      tensor.name == "language_model.lm_head.weight";
  if (config.pooling != Pooling::None)
    return isHead || tensor.name == "output.weight";
  return config.tieWordEmbeddings && isHead;
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
