//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma 4's keys in GGUF files.
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"
#include "Gemma4Layers.h"

#include <algorithm>

namespace llmir {

/// The value of a number for all layers, or the elements of an array.
Expected<std::vector<int64_t>> GGUFConfig::sizePerLayer(const std::string &key,
                                                        int64_t max) const {
  const auto count = static_cast<size_t>(config.numLayers);
  const GGUFEntry *entry = metadata.find(key);
  if (!entry || entry->type != GGUFType::Array) {
    Expected<int64_t> size = metadata.integer(key, 1, max);
    if (!size)
      return size.takeStatus();
    return std::vector<int64_t>(count, *size);
  }
  Expected<GGUFArray> array = metadata.integerArray(key);
  if (!array)
    return array.takeStatus();
  if (array->size != count)
    return metadata.failure(StatusCode::InvalidFile, key,
                            "has " + std::to_string(array->size) +
                                " elements for " + std::to_string(count) +
                                " layers");
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    sizes.push_back(array->integer(i).value_or(0));
    if (sizes.back() < 1 || sizes.back() > max)
      return metadata.failure(StatusCode::InvalidFile, key,
                              "contains " + std::to_string(sizes.back()) +
                                  "; expected 1 to " + std::to_string(max));
  }
  return sizes;
}

/// The inner size of each MLP.
Status GGUFConfig::readInnerSizes() {
  LLMIR_ASSIGN_OR_RETURN(
      config.innerSizes,
      sizePerLayer(key("feed_forward_length"), maxIntermediateSize));
  config.intermediateSize = config.innerSizes.front();
  if (std::all_of(
          config.innerSizes.begin(), config.innerSizes.end(),
          [&](int64_t size) { return size == config.intermediateSize; }))
    config.innerSizes.clear();
  return Status::ok();
}

/// The sizes of heads are those of layers without a window; those of the others
/// are set with the layers.
Status GGUFConfig::readGemma4Heads() {
  LLMIR_ASSIGN_OR_RETURN(
      config.numHeads, sameInEveryLayer(key("attention.head_count"), maxHeads));
  std::vector<int64_t> kvHeads;
  LLMIR_ASSIGN_OR_RETURN(
      kvHeads, sizePerLayer(key("attention.head_count_kv"), maxHeads));
  config.numKVHeads = *std::max_element(kvHeads.begin(), kvHeads.end());
  LLMIR_ASSIGN_OR_RETURN(
      config.headDim,
      metadata.integer(key("attention.key_length"), 2, maxHeadDim));
  for (auto [name, expected] :
       {std::pair("attention.value_length", config.headDim),
        std::pair("rope.dimension_count", config.headDim)}) {
    int64_t size;
    LLMIR_ASSIGN_OR_RETURN(size, metadata.integerOr(key(name), expected));
    if (size != expected)
      return unsupported(key(name),
                         "is " + std::to_string(size) + ", but keys have " +
                             std::to_string(expected) + " values in a head");
  }
  config.attentionScale = 1;
  config.hasLayerScales = tensor("blk.0.layer_output_scale.weight") != nullptr;
  return readLayerEmbeddings();
}

Status GGUFConfig::readLayerEmbeddings() {
  LLMIR_ASSIGN_OR_RETURN(
      config.layerEmbeddingSize,
      metadata.integerOr(key("embedding_length_per_layer_input"), 0, 0,
                         maxHiddenSize));
  if (config.layerEmbeddingSize > 0)
    config.layerEmbeddingScale = embeddingScale(
        config.layerEmbeddingSize, typeOfTable("per_layer_token_embd.weight"));
  return Status::ok();
}

/// Experts are beside MLPs in all layers, if there are any.
Status GGUFConfig::checkGemma4Experts() const {
  const ExpertsConfig &experts = config.experts;
  const std::pair<const char *, bool> options[] = {
      {"expert_gating_func", experts.scores != ExpertsConfig::Softmax},
      {"expert_group_count", experts.groups != 1},
      {"expert_weights_norm", !experts.normalizes},
      {"expert_shared_feed_forward_length", experts.sharedInnerSize != 0}};
  for (auto [name, isOther] : options)
    if (isOther)
      return unsupported(key(name), "or a tensor specifies a mixture unlike "
                                    "that of gemma4 models");
  return Status::ok();
}

/// Layers are of two kinds, each with its number of heads. Layers that read the
/// keys and values of others may have a number of heads without a meaning.
Status GGUFConfig::readGemma4Layers() {
  Gemma4Layers given;
  config.layers.resize(static_cast<size_t>(config.numLayers));
  given.fullHeadDim = config.headDim;
  LLMIR_ASSIGN_OR_RETURN(given.localHeadDim,
                         metadata.integerOr(key("attention.key_length_swa"),
                                            config.headDim, 2, maxHeadDim));
  for (const char *name :
       {"attention.value_length_swa", "rope.dimension_count_swa"}) {
    int64_t size;
    LLMIR_ASSIGN_OR_RETURN(size,
                           metadata.integerOr(key(name), given.localHeadDim));
    if (size != given.localHeadDim || size % 2 != 0)
      return unsupported(key(name),
                         "is " + std::to_string(size) +
                             ", but keys of layers with a window have " +
                             std::to_string(given.localHeadDim) +
                             " values in a head; expected the same, even "
                             "number");
  }
  LLMIR_ASSIGN_OR_RETURN(given.sharing,
                         metadata.integerOr(key("attention.shared_kv_layers"),
                                            0, 0, config.numLayers - 1));
  LLMIR_RETURN_IF_ERROR(readKVHeadsOfKinds(given));
  given.names = {key("attention.key_length"), key("attention.head_count_kv"),
                 key("attention.shared_kv_layers")};
  return setGemma4Layers(config, given,
                         [&](StatusCode code, const std::string &field,
                             const std::string &problem) {
                           return metadata.failure(code, field, problem);
                         });
}

/// Values are keys where there is no projection of values.
Status GGUFConfig::readKVHeadsOfKinds(Gemma4Layers &given) const {
  std::vector<int64_t> heads;
  LLMIR_ASSIGN_OR_RETURN(
      heads, sizePerLayer(key("attention.head_count_kv"), maxHeads));
  for (int64_t i = 0; i < config.numLayers - given.sharing; ++i) {
    const auto layer = static_cast<size_t>(i);
    const bool isLocal = config.layers[layer].rotation == LayerAttention::Local;
    int64_t &ofKind = isLocal ? given.localKVHeads : given.fullKVHeads;
    if (ofKind != 0 && ofKind != heads[layer])
      return unsupported(key("attention.head_count_kv"),
                         "differs between layers of one kind");
    ofKind = heads[layer];
    if (!isLocal)
      given.valuesAreKeys |=
          !tensor("blk." + std::to_string(i) + ".attn_v.weight");
  }
  // A model may have one kind of layers only.
  if (given.localKVHeads == 0)
    given.localKVHeads = given.fullKVHeads;
  if (given.fullKVHeads == 0)
    given.fullKVHeads = given.localKVHeads;
  return Status::ok();
}

} // namespace llmir
