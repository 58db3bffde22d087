//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma 4's keys in config.json. Those that are absent have the defaults of
// transformers.
//
//===----------------------------------------------------------------------===//

#include "Gemma4Layers.h"
#include "HuggingFaceConfig.h"

namespace llmir {

/// What is read with the sizes, and the options that are not supported.
Status HuggingFaceConfig::readGemma4() {
  if (json.has("per_layer_config"))
    return unsupported(json, "per_layer_config",
                       "is present; layers are described by 'layer_types' and "
                       "'global_head_dim'");
  bool hasExperts;
  LLMIR_ASSIGN_OR_RETURN(hasExperts, json.booleanOr("enable_moe_block", false));
  if (hasExperts) {
    ExpertsConfig &experts = config.experts;
    LLMIR_ASSIGN_OR_RETURN(experts.count,
                           json.integer("num_experts", 1, maxExperts));
    LLMIR_ASSIGN_OR_RETURN(experts.perToken,
                           json.integer("top_k_experts", 1, experts.count));
    LLMIR_ASSIGN_OR_RETURN(
        experts.innerSize,
        json.integer("moe_intermediate_size", 1, maxIntermediateSize));
    experts.normalizes = true;
    experts.opensInOneTensor = true; // As in the directory.
  }
  std::string directions;
  LLMIR_ASSIGN_OR_RETURN(
      directions, json.stringOr("use_bidirectional_attention", "vision"));
  if (directions != "vision")
    return unsupported(json, "use_bidirectional_attention",
                       "is \"" + printable(directions) +
                           "\"; tokens of text attend to earlier ones only");
  config.attentionScale = 1;
  config.hasLayerScales = true;
  LLMIR_RETURN_IF_ERROR(
      readScale(config.logitSoftCap, "final_logit_softcapping", 0));
  return readLayerEmbeddings();
}

/// A further embedding for each layer, with as many rows.
Status HuggingFaceConfig::readLayerEmbeddings() {
  LLMIR_ASSIGN_OR_RETURN(
      config.layerEmbeddingSize,
      json.integerOr("hidden_size_per_layer_input", 0, 0, maxHiddenSize));
  if (config.layerEmbeddingSize == 0)
    return Status::ok();
  const char *key = "vocab_size_per_layer_input";
  int64_t rows;
  LLMIR_ASSIGN_OR_RETURN(
      rows, json.integerOr(key, config.vocabSize, 1, maxVocabSize));
  if (rows != config.vocabSize)
    return unsupported(json, key,
                       "is " + std::to_string(rows) +
                           ", and 'vocab_size' another number, " +
                           std::to_string(config.vocabSize));
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, json.stringOr("torch_dtype", "float32"));
  LLMIR_ASSIGN_OR_RETURN(type, json.stringOr("dtype", type));
  config.layerEmbeddingScale = embeddingScale(config.layerEmbeddingSize, type);
  return Status::ok();
}

/// Layers without a window rotate all pairs of a head, or the first ones by
/// their frequency and the others by 0 ("proportional").
Status HuggingFaceConfig::readGemma4Rope() {
  config.ropeTheta = 1e6;
  config.localRopeTheta = 10000.0;
  int64_t headDim;
  LLMIR_ASSIGN_OR_RETURN(headDim,
                         json.integerOr("global_head_dim", 512, 2, maxHeadDim));
  Expected<JsonReader> all = json.object("rope_parameters");
  if (!all)
    return all.takeStatus();
  Expected<JsonReader> rope = all->object("full_attention");
  if (!rope)
    return rope.takeStatus();
  ropePath = "rope_parameters.full_attention.";
  thetaName = ropePath + "rope_theta";
  LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                         rope->numberOr("rope_theta", config.ropeTheta));
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, rope->stringOr("rope_type", "default"));
  if (type != "default" && type != "proportional")
    return unsupported(*rope, "rope_type", "is \"" + printable(type) + "\"",
                       "supported for gemma4 models: default, proportional");
  double share = 1, factor;
  LLMIR_RETURN_IF_ERROR(readRotaryShare(*rope, share));
  LLMIR_ASSIGN_OR_RETURN(factor, rope->numberOr("factor", 1));
  if (factor != 1)
    return unsupported(*rope, "factor",
                       "is " + describeJson(factor) +
                           "; this is not supported for gemma4 models");
  const auto turned =
      static_cast<int64_t>(share * static_cast<double>(headDim)) / 2;
  if (type == "default" && share != 1)
    return unsupported(*rope, "partial_rotary_factor",
                       "is " + describeJson(share) +
                           " without the rope_type proportional");
  if (turned < headDim / 2) {
    config.ropeScaling.kind = RopeScaling::Proportional;
    config.ropeScaling.turnedPairs = turned;
  }
  return readLocalRope();
}

Status HuggingFaceConfig::readGemma4Layers() {
  Gemma4Layers given;
  LLMIR_ASSIGN_OR_RETURN(given.localHeadDim,
                         json.integerOr("head_dim", 256, 2, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(given.fullHeadDim,
                         json.integerOr("global_head_dim", 512, 2, maxHeadDim));
  if (given.localHeadDim % 2 != 0)
    return json.unexpected("head_dim", "an even number");
  given.localKVHeads = given.fullKVHeads = config.numKVHeads;
  LLMIR_ASSIGN_OR_RETURN(given.valuesAreKeys,
                         json.booleanOr("attention_k_eq_v", false));
  if (given.valuesAreKeys) // Otherwise the key has no effect.
    LLMIR_ASSIGN_OR_RETURN(given.fullKVHeads,
                           json.integerOr("num_global_key_value_heads",
                                          given.localKVHeads, 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      given.sharing,
      json.integerOr("num_kv_shared_layers", 0, 0, config.numLayers - 1));
  given.names = {"global_head_dim", "num_global_key_value_heads",
                 "num_kv_shared_layers"};
  LLMIR_RETURN_IF_ERROR(
      setGemma4Layers(config, given,
                      [&](StatusCode code, const std::string &field,
                          const std::string &problem) {
                        return json.failure(code, field, problem);
                      }));
  return readDoubledMLPs();
}

/// MLPs of layers without keys and values of their own may be wider.
Status HuggingFaceConfig::readDoubledMLPs() {
  bool doubles;
  LLMIR_ASSIGN_OR_RETURN(doubles, json.booleanOr("use_double_wide_mlp", false));
  if (!doubles)
    return Status::ok();
  for (const LayerAttention &layer : config.layers)
    config.innerSizes.push_back(config.intermediateSize *
                                (layer.cacheOf >= 0 ? 2 : 1));
  return Status::ok();
}

} // namespace llmir
