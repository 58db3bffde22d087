//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configurations of encoders.
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

#include <algorithm>

namespace llmir {

Status HuggingFaceConfig::readBERT() {
  LLMIR_RETURN_IF_ERROR(readSizes());
  config.numKVHeads = config.numHeads;
  LLMIR_ASSIGN_OR_RETURN(config.normEps,
                         json.numberOr("layer_norm_eps", 1e-12));
  LLMIR_ASSIGN_OR_RETURN(config.tokenTypes,
                         json.integerOr("type_vocab_size", 2, 1, maxVocabSize));
  config.learnedPositions = true;
  config.qkvBias = config.attentionOutputBias = config.mlpBias = true;
  LLMIR_RETURN_IF_ERROR(readActivation());
  std::string positions;
  LLMIR_ASSIGN_OR_RETURN(positions,
                         json.stringOr("position_embedding_type", "absolute"));
  if (positions != "absolute")
    return unsupported(json, "position_embedding_type",
                       "is \"" + printable(positions) + "\"",
                       "supported: absolute");
  for (const char *key : {"is_decoder", "add_cross_attention"}) {
    bool isSet;
    LLMIR_ASSIGN_OR_RETURN(isSet, json.booleanOr(key, false));
    if (isSet)
      return unsupported(json, key, "is true; this is not supported");
  }
  return family->modelType == "xlm-roberta" ? readFirstPosition()
                                            : Status::ok();
}

/// Positions start after that of padding.
Status HuggingFaceConfig::readFirstPosition() {
  const int64_t rows = config.contextLength;
  int64_t padding;
  LLMIR_ASSIGN_OR_RETURN(
      padding, json.integerOr("pad_token_id", 1, 0, config.vocabSize - 1));
  config.firstPosition = padding + 1;
  config.contextLength = rows - config.firstPosition;
  if (config.contextLength > 0)
    return Status::ok();
  return json.failure(StatusCode::InvalidFile, "max_position_embeddings",
                      "is " + std::to_string(rows) +
                          ", which leaves no position after the " +
                          std::to_string(config.firstPosition) +
                          " up to that of 'pad_token_id'");
}

/// Options of the implementation with which the family cannot be computed, and
/// their values.
Status HuggingFaceConfig::checkNomicSwitches() {
  struct {
    const char *key;
    bool usual;
  } switches[] = {{"causal", false},         {"prenorm", false},
                  {"parallel_block", false}, {"use_rms_norm", false},
                  {"qkv_proj_bias", false},  {"mlp_fc1_bias", false},
                  {"mlp_fc2_bias", false},   {"rotary_emb_interleaved", false}};
  for (auto [key, usual] : switches) {
    bool value;
    LLMIR_ASSIGN_OR_RETURN(value, json.booleanOr(key, usual));
    if (value != usual)
      return unsupported(json, key, "is true; this is not supported");
  }
  int64_t experts;
  LLMIR_ASSIGN_OR_RETURN(experts, json.integerOr("num_experts", 0, 0));
  if (experts > 0)
    return unsupported(json, "num_experts",
                       "is " + std::to_string(experts) +
                           "; mixtures of experts are not supported for " +
                           config.architecture + " models");
  std::string activation;
  LLMIR_ASSIGN_OR_RETURN(activation,
                         json.stringOr("activation_function", "swiglu"));
  if (activation != "swiglu")
    return unsupported(json, "activation_function",
                       "is \"" + printable(activation) + "\"; LLMIR's " +
                           config.architecture + " uses swiglu");
  if (json.has("rotary_emb_scale_base"))
    return unsupported(json, "rotary_emb_scale_base",
                       "is given; rotations that also scale are not supported");
  double share;
  LLMIR_ASSIGN_OR_RETURN(share, json.numberOr("rotary_emb_fraction", 1.0));
  if (share != 1)
    return unsupported(json, "rotary_emb_fraction",
                       "is " + describeJson(share) + "; expected 1");
  return Status::ok();
}

/// GPT-2's names. Positions beyond those of the training need another rotation.
Status HuggingFaceConfig::readNomicBERT() {
  LLMIR_RETURN_IF_ERROR(readSizesOfGPT2Names(/*usualEps=*/1e-12));
  int64_t trained;
  LLMIR_ASSIGN_OR_RETURN(
      trained, json.integerOr("max_trained_positions", 2048, 1, maxContext));
  config.contextLength = std::min(config.contextLength, trained);
  LLMIR_ASSIGN_OR_RETURN(config.tokenTypes,
                         json.integerOr("type_vocab_size", 2, 0, maxVocabSize));
  LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                         json.numberOr("rotary_emb_base", 10000.0));
  thetaName = "rotary_emb_base";
  return checkNomicSwitches();
}

/// `|i - j| <= local_attention / 2` in all layers but every n-th one, starting
/// with the first.
Status HuggingFaceConfig::readModernBERTLayers() {
  int64_t reach, period;
  LLMIR_ASSIGN_OR_RETURN(reach,
                         json.integerOr("local_attention", 128, 1, maxContext));
  LLMIR_ASSIGN_OR_RETURN(
      period, json.integerOr("global_attn_every_n_layers", 3, 1, maxLayers));
  const int64_t window = reach / 2 + 1;
  std::vector<bool> windowed(static_cast<size_t>(config.numLayers));
  for (size_t i = 0; i < windowed.size(); ++i)
    windowed[i] = static_cast<int64_t>(i) % period != 0;
  if (json.has("layer_types"))
    LLMIR_RETURN_IF_ERROR(readWindowedLayers(window, windowed));
  config.layers = layersOf(config, *family, window, windowed);
  return Status::ok();
}

Status HuggingFaceConfig::readModernBERT() {
  LLMIR_RETURN_IF_ERROR(readSizes());
  LLMIR_ASSIGN_OR_RETURN(config.normEps, json.numberOr("norm_eps", 1e-5));
  for (const char *key : {"norm_bias", "attention_bias", "mlp_bias"}) {
    bool isSet;
    LLMIR_ASSIGN_OR_RETURN(isSet, json.booleanOr(key, false));
    if (isSet)
      return unsupported(json, key, "is true; this is not supported");
  }
  std::string activation;
  LLMIR_ASSIGN_OR_RETURN(activation,
                         json.stringOr("hidden_activation", "gelu"));
  if (activation != "gelu")
    return unsupported(json, "hidden_activation",
                       "is \"" + printable(activation) + "\"; LLMIR's " +
                           config.architecture + " uses gelu");
  config.activation = Activation::GELU;
  LLMIR_RETURN_IF_ERROR(readRope());
  if (!json.has("rope_parameters")) {
    thetaName = "global_rope_theta";
    LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                           json.numberOr(thetaName, 160000.0));
    LLMIR_ASSIGN_OR_RETURN(config.localRopeTheta,
                           json.numberOr("local_rope_theta", 10000.0));
  }
  return readModernBERTLayers();
}

} // namespace llmir
