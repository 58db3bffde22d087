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

#include "GGUFConfig.h"

#include <algorithm>

namespace llmir {

/// The number of key heads of each layer, 0 for those that keep a state; the
/// others have equal numbers.
Status GGUFConfig::readRecurrentHeads() {
  const std::string name = key("attention.head_count_kv");
  const GGUFEntry *entry = metadata.find(name);
  if (entry && entry->type != GGUFType::Array)
    return readAttentionInterval();
  Expected<GGUFArray> counts = metadata.integerArray(name);
  if (!counts)
    return counts.takeStatus();
  if (counts->size != static_cast<size_t>(config.numLayers))
    return metadata.failure(StatusCode::InvalidFile, name,
                            "has " + std::to_string(counts->size) +
                                " elements for " +
                                std::to_string(config.numLayers) + " layers");
  std::vector<bool> recurrent;
  config.numKVHeads = 0;
  for (size_t i = 0; i < counts->size; ++i) {
    const int64_t count = counts->integer(i).value_or(-1);
    if (count < 0 || count > maxHeads)
      return metadata.failure(StatusCode::InvalidFile, name,
                              "contains " + std::to_string(count) +
                                  "; expected 0 to " +
                                  std::to_string(maxHeads));
    recurrent.push_back(count == 0);
    if (count > 0 && config.numKVHeads > 0 && count != config.numKVHeads)
      return unsupported(name, "differs between layers with attention");
    config.numKVHeads = std::max(config.numKVHeads, count);
  }
  if (config.numKVHeads == 0)
    return unsupported(name, "is 0 for all layers; models without attention "
                             "are not supported");
  if (std::find(recurrent.begin(), recurrent.end(), true) != recurrent.end())
    config.recurrent.layers = std::move(recurrent);
  return Status::ok();
}

/// Layers with attention where the file has no list of their key heads.
Status GGUFConfig::readAttentionInterval() {
  LLMIR_ASSIGN_OR_RETURN(
      config.numKVHeads,
      metadata.integer(key("attention.head_count_kv"), 1, maxHeads));
  int64_t interval = 1; // All layers.
  if (has(Trait::HasAttentionInterval))
    LLMIR_ASSIGN_OR_RETURN(interval,
                           metadata.integerOr(key("full_attention_interval"), 4,
                                              1, config.numLayers));
  if (interval > config.numLayers)
    return unsupported(key("full_attention_interval"),
                       "is " + std::to_string(interval) + " in a model of " +
                           std::to_string(config.numLayers) +
                           " layers; models without attention are not "
                           "supported");
  std::vector<bool> recurrent;
  for (int64_t i = 0; i < config.numLayers; ++i)
    recurrent.push_back((i + 1) % interval != 0);
  if (interval > 1)
    config.recurrent.layers = std::move(recurrent);
  return Status::ok();
}

Status GGUFConfig::readRecurrent() {
  if (config.architecture == "lfm2" || config.architecture == "lfm2moe")
    return readShortConv();
  RecurrentConfig &recurrent = config.recurrent;
  recurrent.kind = config.architecture == "granitehybrid"
                       ? RecurrentConfig::Mamba2
                       : RecurrentConfig::DeltaNet;
  recurrent.storesDecay = true;
  // Converters reorder the value heads of these.
  recurrent.interleavesHeads =
      config.architecture == "qwen35" || config.architecture == "qwen35moe";
  int64_t inner;
  LLMIR_ASSIGN_OR_RETURN(
      recurrent.taps, metadata.integer(key("ssm.conv_kernel"), 1, maxConvTaps));
  LLMIR_ASSIGN_OR_RETURN(
      recurrent.keyDim, metadata.integer(key("ssm.state_size"), 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(recurrent.keyHeads,
                         metadata.integer(key("ssm.group_count"), 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      recurrent.valueHeads,
      metadata.integer(key("ssm.time_step_rank"), 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      inner, metadata.integer(key("ssm.inner_size"), 1, maxIntermediateSize));
  recurrent.valueDim = inner / recurrent.valueHeads;
  if (inner % recurrent.valueHeads != 0 || recurrent.valueDim > maxHeadDim)
    return metadata.failure(StatusCode::InvalidFile, key("ssm.inner_size"),
                            "is " + std::to_string(inner) + ", which " +
                                std::to_string(recurrent.valueHeads) +
                                " heads do not divide into at most " +
                                std::to_string(maxHeadDim) + " values each");
  if (recurrent.valueHeads % recurrent.keyHeads != 0)
    return metadata.failure(StatusCode::InvalidFile, key("ssm.group_count"),
                            "is " + std::to_string(recurrent.keyHeads) +
                                ", which does not divide the " +
                                std::to_string(recurrent.valueHeads) +
                                " heads");
  if (recurrent.kind == RecurrentConfig::DeltaNet)
    return Status::ok();
  if (recurrent.keyHeads != 1)
    return unsupported(key("ssm.group_count"),
                       "is " + std::to_string(recurrent.keyHeads) +
                           "; only one group is supported");
  return readMambaTraits();
}

/// Biases, and whether the layers with attention are rotated.
Status GGUFConfig::readMambaTraits() {
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    config.recurrent.convBias |= tensor(block + "ssm_conv1d.bias") != nullptr;
    config.recurrent.projectionBias |= tensor(block + "ssm_in.bias") != nullptr;
  }
  bool isRotated;
  LLMIR_ASSIGN_OR_RETURN(
      isRotated, metadata.booleanOr(key("rope.scaling.finetuned"), true));
  if (isRotated)
    return Status::ok();
  config.layers.resize(static_cast<size_t>(config.numLayers));
  for (LayerAttention &layer : config.layers)
    layer.rotation = LayerAttention::None;
  return Status::ok();
}

Status GGUFConfig::readShortConv() {
  RecurrentConfig &recurrent = config.recurrent;
  recurrent.kind = RecurrentConfig::ShortConv;
  LLMIR_ASSIGN_OR_RETURN(
      recurrent.taps,
      metadata.integer(key("shortconv.l_cache"), 1, maxConvTaps));
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".shortconv.";
    recurrent.convBias |= tensor(block + "conv.bias") != nullptr;
    recurrent.projectionBias |= tensor(block + "in_proj.bias") != nullptr;
  }
  return Status::ok();
}

} // namespace llmir
