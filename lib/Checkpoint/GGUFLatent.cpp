//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multi-head latent attention in GGUF, and queries that grow with their
// position.
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"

namespace llmir {

/// Files of llama.cpp since it supports latent attention: key_length and
/// value_length are those of the cache, key_length_mla and value_length_mla
/// those of the heads.
Status GGUFConfig::readLatentAttention() {
  LatentSizes sizes;
  LatentConfig &latent = config.latent;
  LLMIR_ASSIGN_OR_RETURN(
      config.numHeads, sameInEveryLayer(key("attention.head_count"), maxHeads));
  const std::string keyLength = key("attention.key_length_mla");
  if (!metadata.has(keyLength))
    return unsupported(keyLength,
                       "is missing: the file has projections of keys and "
                       "values, 'attn_kv_b', in a form that is not supported",
                       "convert the model again with a recent llama.cpp");
  int64_t keyDim;
  LLMIR_ASSIGN_OR_RETURN(keyDim, metadata.integer(keyLength, 2, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(
      latent.valueDim,
      metadata.integer(key("attention.value_length_mla"), 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(
      latent.rank,
      metadata.integer(key("attention.kv_lora_rank"), 1, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(
      latent.queryRank,
      metadata.integerOr(key("attention.q_lora_rank"), 0, 0, maxHiddenSize));
  const std::string rotary = key("rope.dimension_count");
  LLMIR_ASSIGN_OR_RETURN(sizes.rotaryDim,
                         metadata.integer(rotary, 2, maxHeadDim));
  if (sizes.rotaryDim >= keyDim)
    return metadata.failure(
        StatusCode::InvalidFile, rotary,
        "is " + std::to_string(sizes.rotaryDim) + "; expected less than the " +
            std::to_string(keyDim) + " of '" + keyLength + "'");
  latent.plainDim = keyDim - sizes.rotaryDim;
  sizes.names = {key("attention.kv_lora_rank"), keyLength,
                 key("attention.value_length_mla"), rotary};
  LLMIR_RETURN_IF_ERROR(
      setLatentSizes(config, sizes,
                     [&](StatusCode code, const std::string &field,
                         const std::string &problem) {
                       return metadata.failure(code, field, problem);
                     }));
  return checkLatentCache();
}

/// The sizes of the cache follow from those of heads.
Status GGUFConfig::checkLatentCache() const {
  const std::pair<const char *, int64_t> sizes[] = {
      {"attention.head_count_kv", 1},
      {"attention.key_length", config.headDim},
      {"attention.value_length", config.latent.rank}};
  for (auto [name, expected] : sizes) {
    Expected<int64_t> size = metadata.integerOr(key(name), expected);
    if (!size)
      return size.takeStatus();
    if (*size != expected)
      return metadata.failure(StatusCode::InvalidFile, key(name),
                              "is " + std::to_string(*size) + "; expected " +
                                  std::to_string(expected) +
                                  " for latent attention");
  }
  return Status::ok();
}

/// Ministral 3 and Mistral Small 4. Converters have left out the key of the
/// latter, whose models have one scale.
Status GGUFConfig::readQueryGrowth() {
  const bool isMistral4 = config.architecture == "mistral4";
  if (config.architecture != "mistral3" && !isMistral4)
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(
      config.queryGrowth,
      metadata.numberOr(key("attention.temperature_scale"),
                        isMistral4 ? static_cast<float>(0.1) : 0.0));
  if (config.queryGrowth == 0)
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(
      config.queryGrowthContext,
      metadata.integer(key("rope.scaling.original_context_length"), 1,
                       maxContext));
  LLMIR_ASSIGN_OR_RETURN(config.queryGrowthContext,
                         metadata.integerOr(key("attention.temperature_length"),
                                            config.queryGrowthContext, 1,
                                            maxContext));
  return Status::ok();
}

} // namespace llmir
