//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys that only Llama 4 has.
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

namespace llmir {

Status HuggingFaceConfig::checkLength(const char *key, size_t length) const {
  if (length == static_cast<size_t>(config.numLayers))
    return Status::ok();
  return json.failure(StatusCode::InvalidFile, key,
                      "has " + std::to_string(length) + " elements for " +
                          std::to_string(config.numLayers) + " layers");
}

/// Rotated layers attend in chunks, the others to all tokens.
Status HuggingFaceConfig::readChunkedLayers() {
  LLMIR_RETURN_IF_ERROR(readRotationList());
  std::vector<LayerAttention> &layers = config.layers;
  std::vector<bool> chunked;
  for (const LayerAttention &layer : layers)
    chunked.push_back(layer.rotation == LayerAttention::Global);
  if (json.has("layer_types")) {
    Expected<const Json *> types = json.array("layer_types");
    if (!types)
      return types.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkLength("layer_types", (*types)->size()));
    for (size_t i = 0; i < chunked.size(); ++i) {
      const Json &type = (**types)[i];
      chunked[i] = type == "chunked_attention";
      if (!chunked[i] && type != "full_attention")
        return unsupported(json, "layer_types",
                           "contains " + describeJson(type) +
                               "; supported: full_attention, "
                               "chunked_attention");
    }
  }
  int64_t chunk;
  LLMIR_ASSIGN_OR_RETURN(
      chunk, json.integerOr("attention_chunk_size", 8192, 1, maxContext));
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].isChunked = chunked[i] && chunk < config.contextLength;
    layers[i].window = layers[i].isChunked ? chunk : 0;
  }
  return readQueryScales();
}

/// Queries of layers without rotation grow with their position. Files have a
/// number or a bool for whether they do.
Status HuggingFaceConfig::readQueryScales() {
  LLMIR_ASSIGN_OR_RETURN(config.normalizesRotated,
                         json.booleanOr("use_qk_norm", true));
  const char *key = "attn_temperature_tuning";
  const Json *tuning = json.find(key);
  bool grows = true;
  if (tuning && tuning->is_number())
    grows = *tuning != 0;
  else
    LLMIR_ASSIGN_OR_RETURN(grows, json.booleanOr(key, true));
  if (!grows)
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(readScale(config.queryGrowth, "attn_scale", 0.1));
  LLMIR_ASSIGN_OR_RETURN(config.queryGrowthContext,
                         json.integerOr("floor_scale", 8192, 1, maxContext));
  config.growsUnrotated = true;
  return Status::ok();
}

/// The intermediate size is that of the experts; layers with an MLP have
/// another one.
Status HuggingFaceConfig::readLlama4Experts() {
  ExpertsConfig &experts = config.experts;
  if (experts.perToken != 1)
    return unsupported(json, "num_experts_per_tok",
                       "is " + std::to_string(experts.perToken) +
                           "; llama4 models choose one expert for a token");
  experts.scores = ExpertsConfig::Sigmoid;
  experts.weighsInputs = true;
  experts.sharedInnerSize = experts.innerSize;
  LLMIR_ASSIGN_OR_RETURN(
      config.intermediateSize,
      json.integer("intermediate_size_mlp", 1, maxIntermediateSize));
  std::vector<bool> &layers = experts.layers;
  layers.assign(static_cast<size_t>(config.numLayers), false);
  if (!json.has("moe_layers")) {
    int64_t step;
    LLMIR_ASSIGN_OR_RETURN(
        step, json.integerOr("interleave_moe_layer_step", 1, 1, maxLayers));
    for (int64_t i = step - 1; i < config.numLayers; i += step)
      layers[static_cast<size_t>(i)] = true;
    return Status::ok();
  }
  Expected<const Json *> list = json.array("moe_layers");
  if (!list)
    return list.takeStatus();
  for (const Json &layer : **list) {
    const int64_t i = layer.is_number_integer() ? layer.get<int64_t>() : -1;
    if (i < 0 || i >= config.numLayers)
      return json.failure(StatusCode::InvalidFile, "moe_layers",
                          "contains " + describeJson(layer) +
                              "; expected layers from 0 to " +
                              std::to_string(config.numLayers - 1));
    layers[static_cast<size_t>(i)] = true;
  }
  return Status::ok();
}

} // namespace llmir
