//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that keep a state in place of keys and values.
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

#include <algorithm>

namespace llmir {

/// LFM2: two thirds of the given size, times a factor, rounded up to a
/// multiple.
Status HuggingFaceConfig::readAdjustedInnerSize() {
  const char *key =
      json.has("block_ff_dim") ? "block_ff_dim" : "intermediate_size";
  int64_t size, multiple;
  LLMIR_ASSIGN_OR_RETURN(size, json.integer(key, 1, maxIntermediateSize));
  bool isAdjusted;
  LLMIR_ASSIGN_OR_RETURN(isAdjusted,
                         json.booleanOr("block_auto_adjust_ff_dim", true));
  if (isAdjusted) {
    LLMIR_ASSIGN_OR_RETURN(
        multiple, json.integerOr("block_multiple_of", 256, 1, maxHiddenSize));
    double factor;
    LLMIR_ASSIGN_OR_RETURN(factor,
                           json.numberOr("block_ffn_dim_multiplier", 1.0));
    if (!(factor > 0 && factor <= 64))
      return json.unexpected("block_ffn_dim_multiplier",
                             "a number above 0, at most 64");
    size = static_cast<int64_t>(factor * static_cast<double>(2 * size / 3));
    size = std::max<int64_t>((size + multiple - 1) / multiple, 1) * multiple;
  }
  config.intermediateSize = size;
  if (size <= maxIntermediateSize)
    return Status::ok();
  return json.failure(StatusCode::InvalidFile, key,
                      "gives an inner size of " + std::to_string(size) +
                          "; at most " + std::to_string(maxIntermediateSize) +
                          " is supported");
}

/// Sets which layers keep a state, from the list of those with attention, or
/// their distance.
Status
HuggingFaceConfig::readAttentionLayers(std::vector<bool> &recurrent) const {
  if (config.recurrent.kind == RecurrentConfig::DeltaNet) {
    int64_t interval;
    LLMIR_ASSIGN_OR_RETURN(
        interval, json.integerOr("full_attention_interval", 4, 1, maxLayers));
    for (size_t i = 0; i < recurrent.size(); ++i)
      recurrent[i] = (static_cast<int64_t>(i) + 1) % interval != 0;
    return Status::ok();
  }
  if (config.recurrent.kind == RecurrentConfig::Mamba2)
    return json.string("layer_types").status(); // Is missing.
  Expected<const Json *> list = json.array("full_attn_idxs");
  if (!list)
    return list.takeStatus();
  recurrent.assign(recurrent.size(), true);
  for (const Json &layer : **list) {
    const int64_t i = layer.is_number_integer() ? layer.get<int64_t>() : -1;
    if (i < 0 || i >= config.numLayers)
      return json.failure(StatusCode::InvalidFile, "full_attn_idxs",
                          "contains " + describeJson(layer) +
                              "; expected layers from 0 to " +
                              std::to_string(config.numLayers - 1));
    recurrent[static_cast<size_t>(i)] = false;
  }
  return Status::ok();
}

/// Sets which layers keep a state: those of the family's own type.
Status HuggingFaceConfig::readLayerKinds(std::vector<bool> &recurrent) const {
  if (!json.has("layer_types"))
    return readAttentionLayers(recurrent);
  const bool isMamba = config.recurrent.kind == RecurrentConfig::Mamba2;
  const bool isConv = config.recurrent.kind == RecurrentConfig::ShortConv;
  const std::string own = isMamba  ? "mamba"
                          : isConv ? "conv"
                                   : "linear_attention";
  const std::string attention = isMamba ? "attention" : "full_attention";
  Expected<const Json *> types = json.array("layer_types");
  if (!types)
    return types.takeStatus();
  if ((*types)->size() != recurrent.size())
    return json.failure(StatusCode::InvalidFile, "layer_types",
                        "has " + std::to_string((*types)->size()) +
                            " elements for " +
                            std::to_string(config.numLayers) + " layers");
  for (size_t i = 0; i < recurrent.size(); ++i) {
    const Json &type = (**types)[i];
    recurrent[i] = type == own;
    if (!recurrent[i] && type != attention)
      return unsupported(json, "layer_types",
                         "contains " + describeJson(type) +
                             "; supported: " + attention + ", " + own);
  }
  return Status::ok();
}

Status HuggingFaceConfig::readRecurrentLayers() {
  RecurrentConfig &own = config.recurrent;
  own.kind = isLFM2() ? RecurrentConfig::ShortConv
             : config.architecture == "granitehybrid"
                 ? RecurrentConfig::Mamba2
                 : RecurrentConfig::DeltaNet;
  std::vector<bool> recurrent(static_cast<size_t>(config.numLayers));
  LLMIR_RETURN_IF_ERROR(readLayerKinds(recurrent));
  if (std::find(recurrent.begin(), recurrent.end(), false) == recurrent.end())
    return unsupported(
        json, json.has("layer_types") ? "layer_types" : "full_attn_idxs",
        "has no layer with attention; models without any are not supported");
  if (std::find(recurrent.begin(), recurrent.end(), true) != recurrent.end())
    own.layers = std::move(recurrent);
  switch (own.kind) {
  case RecurrentConfig::ShortConv:
    return readShortConv();
  case RecurrentConfig::Mamba2:
    return readMamba2();
  case RecurrentConfig::DeltaNet:
    break;
  }
  return readDeltaNet();
}

Status HuggingFaceConfig::readShortConv() {
  LLMIR_ASSIGN_OR_RETURN(config.recurrent.taps,
                         json.integerOr("conv_L_cache", 3, 1, maxConvTaps));
  bool hasBias;
  LLMIR_ASSIGN_OR_RETURN(hasBias, json.booleanOr("conv_bias", false));
  config.recurrent.convBias = config.recurrent.projectionBias = hasBias;
  return Status::ok();
}

Status HuggingFaceConfig::readMamba2() {
  RecurrentConfig &mamba = config.recurrent;
  LLMIR_ASSIGN_OR_RETURN(mamba.valueHeads,
                         json.integer("mamba_n_heads", 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(mamba.keyHeads,
                         json.integerOr("mamba_n_groups", 1, 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(mamba.keyDim,
                         json.integerOr("mamba_d_state", 256, 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(mamba.taps,
                         json.integerOr("mamba_d_conv", 4, 1, maxConvTaps));
  int64_t expansion;
  LLMIR_ASSIGN_OR_RETURN(expansion, json.integerOr("mamba_expand", 2, 1, 64));
  const int64_t inner = expansion * config.hiddenSize;
  mamba.valueDim = inner / mamba.valueHeads;
  const Json *given = json.find("mamba_d_head");
  if (given && !given->is_string())
    LLMIR_ASSIGN_OR_RETURN(mamba.valueDim,
                           json.integer("mamba_d_head", 1, maxHeadDim));
  if (mamba.valueDim < 1 || mamba.valueDim * mamba.valueHeads != inner)
    return json.failure(StatusCode::InvalidFile, "mamba_n_heads",
                        "is " + std::to_string(mamba.valueHeads) +
                            ", which does not divide the " +
                            std::to_string(inner) +
                            " values of 'mamba_expand'");
  if (mamba.keyHeads != 1)
    return unsupported(json, "mamba_n_groups",
                       "is " + std::to_string(mamba.keyHeads) +
                           "; only one group is supported");
  LLMIR_ASSIGN_OR_RETURN(mamba.convBias,
                         json.booleanOr("mamba_conv_bias", true));
  LLMIR_ASSIGN_OR_RETURN(mamba.projectionBias,
                         json.booleanOr("mamba_proj_bias", false));
  std::string positions;
  LLMIR_ASSIGN_OR_RETURN(positions,
                         json.stringOr("position_embedding_type", "nope"));
  if (positions == "rope")
    return Status::ok();
  if (positions != "nope")
    return unsupported(json, "position_embedding_type",
                       "is \"" + printable(positions) + "\"",
                       "supported: nope, rope");
  config.layers.resize(static_cast<size_t>(config.numLayers));
  for (LayerAttention &layer : config.layers)
    layer.rotation = LayerAttention::None;
  return Status::ok();
}

Status HuggingFaceConfig::readDeltaNet() {
  RecurrentConfig &delta = config.recurrent;
  bool hasGate;
  LLMIR_ASSIGN_OR_RETURN(hasGate, json.booleanOr("attn_output_gate", true));
  if (!hasGate)
    return unsupported(json, "attn_output_gate",
                       "is false; attention without a gate is not supported "
                       "for " +
                           config.architecture + " models");
  LLMIR_ASSIGN_OR_RETURN(
      delta.keyHeads, json.integerOr("linear_num_key_heads", 16, 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      delta.valueHeads,
      json.integerOr("linear_num_value_heads", 32, 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      delta.keyDim, json.integerOr("linear_key_head_dim", 128, 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(delta.valueDim, json.integerOr("linear_value_head_dim",
                                                        128, 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(
      delta.taps, json.integerOr("linear_conv_kernel_dim", 4, 1, maxConvTaps));
  if (delta.valueHeads % delta.keyHeads == 0)
    return Status::ok();
  return json.failure(
      StatusCode::InvalidFile, "linear_num_value_heads",
      "is " + std::to_string(delta.valueHeads) + ", not a multiple of the " +
          std::to_string(delta.keyHeads) + " heads of 'linear_num_key_heads'");
}

} // namespace llmir
