//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rotation of queries and keys, and its scaling for long contexts, in GGUF.
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"

#include "llmir/Support/Json.h"

namespace llmir {

Status GGUFConfig::readRope() {
  LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                         metadata.numberOr(key("rope.freq_base"), 10000.0));
  if (config.latent.rank > 0)
    return readRopeScaling();
  int64_t headDim =
      config.headDim ? config.headDim : config.hiddenSize / config.numHeads;
  LLMIR_ASSIGN_OR_RETURN(
      config.rotaryDim,
      metadata.integerOr(key("rope.dimension_count"), headDim, 1, maxHeadDim));
  if (config.rotaryDim > headDim)
    return metadata.failure(
        StatusCode::InvalidFile, key("rope.dimension_count"),
        "is " + std::to_string(config.rotaryDim) + ", more than the " +
            std::to_string(headDim) + " values of a head");
  if (config.rotaryDim != headDim && config.rotaryDim % 2 != 0)
    return metadata.failure(
        StatusCode::InvalidFile, key("rope.dimension_count"),
        "is " + std::to_string(config.rotaryDim) + "; expected an even number");
  config.localRopeTheta = has(Trait::HasLocalBase) ? 10000.0 : config.ropeTheta;
  LLMIR_ASSIGN_OR_RETURN(
      config.localRopeTheta,
      metadata.numberOr(key("rope.freq_base_swa"), config.localRopeTheta));
  return readRopeScaling();
}

Status GGUFConfig::readRopeScaling() {
  factorKey = key("rope.scaling.factor");
  if (tensor("rope_factors_long.weight"))
    return readLongRope();
  // As in llama.cpp: linear by default if a factor is given.
  std::string typeKey = key("rope.scaling.type");
  if (!metadata.has(factorKey) && metadata.has(key("rope.scale_linear")))
    factorKey = key("rope.scale_linear");
  std::string_view type;
  LLMIR_ASSIGN_OR_RETURN(type, metadata.stringOr(typeKey, "linear"));
  if (type != "none" && type != "linear" && type != "yarn")
    return unsupported(typeKey, "is \"" + printable(type) + "\"",
                       "supported: none, linear, yarn");
  double magnitude;
  LLMIR_ASSIGN_OR_RETURN(
      magnitude, metadata.numberOr(key("rope.scaling.attn_factor"), 1.0));
  if (type != "yarn" && magnitude != 1)
    return unsupported(key("rope.scaling.attn_factor"),
                       "is " + describeJson(magnitude) +
                           " without scaling of the type yarn");
  if (type == "none" || (!metadata.has(typeKey) && !metadata.has(factorKey)))
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(config.ropeScaling.factor, metadata.number(factorKey));
  if (type == "yarn")
    return readYarn();
  if (config.ropeScaling.factor != 1.0)
    config.ropeScaling.kind = RopeScaling::Linear;
  return Status::ok();
}

Status GGUFConfig::readYarn() {
  RopeScaling &scaling = config.ropeScaling;
  scaling.kind = RopeScaling::Yarn;
  LLMIR_ASSIGN_OR_RETURN(
      scaling.originalContext,
      metadata.integer(key("rope.scaling.original_context_length"), 1,
                       maxContext));
  LLMIR_ASSIGN_OR_RETURN(
      scaling.betaFast,
      metadata.numberOr(key("rope.scaling.yarn_beta_fast"), 32.0));
  LLMIR_ASSIGN_OR_RETURN(
      scaling.betaSlow,
      metadata.numberOr(key("rope.scaling.yarn_beta_slow"), 1.0));
  double scaleOfAll, usual = yarnMagnitude(scaling.factor, 1);
  LLMIR_ASSIGN_OR_RETURN(
      scaleOfAll,
      metadata.numberOr(key("rope.scaling.yarn_log_multiplier"), 0.0));
  if (has(Trait::HasLatents)) {
    // A tenth of it. The other scale is the same in DeepSeek's models, 1 in
    // Mistral's.
    if (scaleOfAll != 0)
      usual = config.architecture == "mistral4"
                  ? usual / yarnMagnitude(scaling.factor, 10 * scaleOfAll)
                  : 1;
    LLMIR_RETURN_IF_ERROR(
        scaleLatentScores(config, static_cast<float>(scaleOfAll),
                          key("rope.scaling.yarn_log_multiplier"),
                          [&](StatusCode code, const std::string &field,
                              const std::string &problem) {
                            return metadata.failure(code, field, problem);
                          }));
  } else if (scaleOfAll != 0) {
    usual /= yarnMagnitude(scaling.factor, scaleOfAll);
  }
  // Converters write the whole factor, as attention_factor in config.json.
  double factor;
  LLMIR_ASSIGN_OR_RETURN(
      factor, metadata.numberOr(key("rope.scaling.attn_factor"), usual));
  scaling.attentionFactor = static_cast<float>(factor);
  scaling.truncatesBounds = config.architecture != "gpt-oss"; // Not a key.
  return Status::ok();
}

/// The divisors of the frequencies are tensors.
Status GGUFConfig::readLongRope() {
  RopeScaling &scaling = config.ropeScaling;
  scaling.kind = RopeScaling::LongRope;
  LLMIR_ASSIGN_OR_RETURN(
      scaling.originalContext,
      metadata.integerOr(key("rope.scaling.original_context_length"),
                         config.contextLength, 1, maxContext));
  LLMIR_ASSIGN_OR_RETURN(
      scaling.attentionFactor,
      metadata.numberOr(key("rope.scaling.attn_factor"), 1.0));
  return Status::ok();
}

} // namespace llmir
