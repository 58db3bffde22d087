//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

#include <cmath>

namespace llmir {

Status HuggingFaceConfig::readSwitches() {
  LLMIR_RETURN_IF_ERROR(readActivation());
  LLMIR_ASSIGN_OR_RETURN(
      config.tieWordEmbeddings,
      json.booleanOr("tie_word_embeddings", !hasOutputProjection));
  config.normUnitOffset = has(Trait::HasUnitOffset);
  config.adjacentPairRotation = has(Trait::PairsInFolder);
  LLMIR_ASSIGN_OR_RETURN(
      config.parallelResidual,
      json.booleanOr("use_parallel_residual", has(Trait::IsParallel)));
  LLMIR_RETURN_IF_ERROR(readBiases());
  return readScales();
}

Status HuggingFaceConfig::readActivation() {
  const bool isGated = has(Trait::UsesGELU),
             isExact = has(Trait::UsesExactGELU);
  // The implementation of Gemma ignores hidden_act, which is "gelu" in the
  // files of the first models.
  const char *key = isGated ? "hidden_activation" : "hidden_act";
  const char *usual = isGated ? "gelu_pytorch_tanh" : isExact ? "gelu" : "silu";
  std::string name;
  LLMIR_ASSIGN_OR_RETURN(name, json.stringOr(key, usual));
  const bool isSiLU = name == "silu" || name == "swish";
  const bool isTanh =
      name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast";
  if (isGated ? !isTanh : isExact ? !isTanh && name != "gelu" : !isSiLU)
    return unsupported(json, key,
                       "is \"" + printable(name) + "\"; " +
                           config.architecture + " models use " + usual);
  config.activation = isSiLU   ? Activation::SiLU
                      : isTanh ? Activation::GELUTanh
                               : Activation::GELU;
  return Status::ok();
}

/// Each family's own code decides which options are used.
Status HuggingFaceConfig::readBiases() {
  const bool isNeoX = config.architecture == "gptneox";
  const char *key = config.architecture == "internlm2"  ? "bias"
                    : config.architecture == "stablelm" ? "use_qkv_bias"
                                                        : "attention_bias";
  bool attention, output, mlp, qkNorm;
  LLMIR_ASSIGN_OR_RETURN(
      attention,
      json.booleanOr(key, isNeoX || config.architecture == "gpt-oss"));
  LLMIR_ASSIGN_OR_RETURN(output, json.booleanOr("attention_out_bias", false));
  LLMIR_ASSIGN_OR_RETURN(mlp, json.booleanOr("mlp_bias", false));
  LLMIR_ASSIGN_OR_RETURN(qkNorm, json.booleanOr("use_qk_norm", false));
  const bool isMistral =
      family->modelType == "mistral" || family->modelType == "ministral3";
  config.qkvBias = has(Trait::HasQKVBias) || (attention && !isMistral);
  config.attentionOutputBias = config.architecture == "seed_oss"
                                   ? output
                                   : attention && has(Trait::HasOutputBias);
  config.mlpBias = isNeoX || (mlp && has(Trait::HasMLPBias));
  config.qkNorm =
      config.architecture == "glm4moe" ? qkNorm : has(Trait::HasQKNorm);
  bool perHead;
  LLMIR_ASSIGN_OR_RETURN(perHead, json.booleanOr("qk_layernorm", false));
  const bool isLlama4 = config.architecture == "llama4"; // After rotation.
  for (auto [name, value] : {std::pair("use_qk_norm", qkNorm && !isLlama4),
                             std::pair("qk_layernorm", perHead)})
    if (value && !has(Trait::HasQKNorm))
      return unsupported(json, name,
                         "is true; norms of queries and keys are not "
                         "supported for " +
                             config.architecture + " models");
  return Status::ok();
}

/// A positive number, or 0 by default, rounded to f32 as in GGUF, so that a
/// model computes the same from both formats.
Status HuggingFaceConfig::readScale(double &target, std::string_view key,
                                    double otherwise) {
  Expected<double> number = json.numberOr(key, otherwise);
  if (!number)
    return number.takeStatus();
  if (json.has(key) && !(static_cast<float>(*number) > 0))
    return json.unexpected(key, "a positive number");
  target = static_cast<float>(*number);
  return Status::ok();
}

Status HuggingFaceConfig::readScales() {
  if (has(Trait::DividesLogits)) { // Granite
    double divisor;
    LLMIR_RETURN_IF_ERROR(
        readScale(config.embeddingScale, "embedding_multiplier", 1));
    LLMIR_RETURN_IF_ERROR(
        readScale(config.attentionScale, "attention_multiplier", 1));
    LLMIR_RETURN_IF_ERROR(
        readScale(config.residualScale, "residual_multiplier", 1));
    LLMIR_RETURN_IF_ERROR(readScale(divisor, "logits_scaling", 1));
    config.logitScale = 1 / divisor;
  }
  if (config.architecture == "command-r" || config.architecture == "cohere2")
    LLMIR_RETURN_IF_ERROR(readScale(config.logitScale, "logit_scale", 0.0625));
  if (has(Trait::HasSoftCaps)) {
    double scalar;
    LLMIR_RETURN_IF_ERROR(readScale(scalar, "query_pre_attn_scalar", 256));
    config.attentionScale = static_cast<float>(1 / std::sqrt(scalar));
    LLMIR_RETURN_IF_ERROR(
        readScale(config.attentionSoftCap, "attn_logit_softcapping", 0));
    LLMIR_RETURN_IF_ERROR(
        readScale(config.logitSoftCap, "final_logit_softcapping", 0));
  }
  if (has(Trait::ScalesEmbedding)) {
    std::string type;
    LLMIR_ASSIGN_OR_RETURN(type, json.stringOr("torch_dtype", "float32"));
    LLMIR_ASSIGN_OR_RETURN(type, json.stringOr("dtype", type));
    config.embeddingScale = embeddingScale(config.hiddenSize, type);
  }
  return Status::ok();
}

} // namespace llmir
