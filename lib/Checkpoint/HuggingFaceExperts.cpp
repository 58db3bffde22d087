//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

#include <algorithm>

namespace llmir {

namespace {
/// The keys of a model type about its experts.
struct ExpertKeys {
  std::string_view modelType, count, innerSize;
  bool normalizes; ///< norm_topk_prob if absent.
  std::string_view sharedInnerSize = {};
};
} // namespace

static constexpr ExpertKeys table[] = {
    {"mixtral", "num_local_experts", "intermediate_size", true},
    {"qwen2_moe", "num_experts", "moe_intermediate_size", false,
     "shared_expert_intermediate_size"},
    {"qwen3_moe", "num_experts", "moe_intermediate_size", false},
    {"olmoe", "num_experts", "intermediate_size", false},
    {"granitemoe", "num_local_experts", "intermediate_size", true},
    {"glm4_moe", "n_routed_experts", "moe_intermediate_size", true},
    {"deepseek_v2", "n_routed_experts", "moe_intermediate_size", false},
    {"deepseek_v3", "n_routed_experts", "moe_intermediate_size", true},
    {"kimi_k2", "n_routed_experts", "moe_intermediate_size", true},
    {"glm4_moe_lite", "n_routed_experts", "moe_intermediate_size", true},
    {"mistral4", "n_routed_experts", "moe_intermediate_size", true},
    {"gpt_oss", "num_local_experts", "intermediate_size", true},
    {"llama4_text", "num_local_experts", "intermediate_size", false},
    {"lfm2_moe", "num_experts", "moe_intermediate_size", true},
    {"qwen3_next", "num_experts", "moe_intermediate_size", true,
     "shared_expert_intermediate_size"},
    {"qwen3_5_moe_text", "num_experts", "moe_intermediate_size", true,
     "shared_expert_intermediate_size"},
    {"granitemoehybrid", "num_local_experts", "intermediate_size", true,
     "shared_intermediate_size"},
};

Status HuggingFaceConfig::readExperts() {
  const auto *keys = std::find_if(std::begin(table), std::end(table),
                                  [&](const ExpertKeys &row) {
                                    return row.modelType == family->modelType;
                                  });
  if (keys == std::end(table))
    return Status::ok(); // Only GGUF has experts in this row: "llama".
  ExpertsConfig &experts = config.experts;
  if (config.architecture == "granitehybrid") { // The mixture is optional.
    LLMIR_ASSIGN_OR_RETURN(experts.count,
                           json.integerOr(keys->count, 8, 0, maxExperts));
    LLMIR_ASSIGN_OR_RETURN(
        config.intermediateSize,
        json.integer(keys->sharedInnerSize, 1, maxIntermediateSize));
    if (experts.count == 0)
      return Status::ok();
  }
  LLMIR_ASSIGN_OR_RETURN(experts.count,
                         json.integer(keys->count, 1, maxExperts));
  LLMIR_ASSIGN_OR_RETURN(experts.perToken,
                         json.integer("num_experts_per_tok", 1, experts.count));
  LLMIR_ASSIGN_OR_RETURN(experts.innerSize,
                         json.integer(keys->innerSize, 1, maxIntermediateSize));
  if (!keys->sharedInnerSize.empty())
    LLMIR_ASSIGN_OR_RETURN(
        experts.sharedInnerSize,
        json.integer(keys->sharedInnerSize, 1, maxIntermediateSize));
  LLMIR_ASSIGN_OR_RETURN(experts.normalizes,
                         json.booleanOr("norm_topk_prob", keys->normalizes));
  if (json.has("clip_qkv"))
    return unsupported(json, "clip_qkv",
                       "is " + describeJson(*json.find("clip_qkv")) +
                           "; clipping of queries, keys and values is not "
                           "supported");
  if (keys->modelType == "deepseek_v2")
    LLMIR_RETURN_IF_ERROR(readLimitedExperts());
  else if (keys->modelType == "mistral4")
    LLMIR_RETURN_IF_ERROR(readExpertGroups());
  else if (keys->count == "n_routed_experts")
    LLMIR_RETURN_IF_ERROR(readRoutedExperts());
  experts.opensInOneTensor = keys->modelType == "mistral4";
  if (keys->modelType == "lfm2_moe")
    LLMIR_RETURN_IF_ERROR(readBiasedExperts());
  if (keys->modelType == "gpt_oss")
    LLMIR_RETURN_IF_ERROR(readGptOss());
  if (keys->modelType == "llama4_text")
    return readLlama4Experts();
  return readExpertLayers();
}

/// Keys of models whose experts are chosen by sigmoids with a bias.
Status HuggingFaceConfig::readRoutedExperts() {
  ExpertsConfig &experts = config.experts;
  experts.scores = ExpertsConfig::Sigmoid;
  experts.hasChoiceBias = true;
  for (auto [key, usual] : {std::pair("scoring_func", "sigmoid"),
                            std::pair("topk_method", "noaux_tc")}) {
    std::string name;
    LLMIR_ASSIGN_OR_RETURN(name, json.stringOr(key, usual));
    if (name != usual)
      return unsupported(json, key,
                         "is \"" + printable(name) + "\"; " +
                             std::string(family->modelType) + " models use " +
                             usual);
  }
  return readExpertGroups();
}

/// DeepSeek-V2: experts are chosen by their softmax, possibly from the groups
/// with the greatest scores.
Status HuggingFaceConfig::readLimitedExperts() {
  ExpertsConfig &experts = config.experts;
  std::string method, scores;
  LLMIR_ASSIGN_OR_RETURN(method, json.stringOr("topk_method", "greedy"));
  LLMIR_ASSIGN_OR_RETURN(scores, json.stringOr("scoring_func", "softmax"));
  if (method != "greedy" && method != "group_limited_greedy")
    return unsupported(json, "topk_method",
                       "is \"" + printable(method) +
                           "\"; supported: greedy, group_limited_greedy");
  if (scores != "softmax")
    return unsupported(json, "scoring_func",
                       "is \"" + printable(scores) +
                           "\"; deepseek_v2 models use softmax");
  // Implementations differ in whether the sum is then scaled.
  if (experts.normalizes)
    return unsupported(json, "norm_topk_prob",
                       "is true; this is not supported for deepseek_v2 models");
  LLMIR_RETURN_IF_ERROR(readExpertGroups());
  experts.groupScores = 1;
  if (method == "greedy")
    experts.groups = experts.groupsPerToken = 1;
  return Status::ok();
}

/// The MLP for all tokens, the scale of weights, and groups.
Status HuggingFaceConfig::readExpertGroups() {
  ExpertsConfig &experts = config.experts;
  int64_t shared;
  LLMIR_ASSIGN_OR_RETURN(shared,
                         json.integerOr("n_shared_experts", 0, 0, maxExperts));
  experts.sharedInnerSize = shared * experts.innerSize;
  double scale;
  LLMIR_RETURN_IF_ERROR(readScale(scale, "routed_scaling_factor", 1));
  experts.scale = scale;
  LLMIR_ASSIGN_OR_RETURN(experts.groups,
                         json.integerOr("n_group", 1, 1, experts.count));
  LLMIR_ASSIGN_OR_RETURN(experts.groupsPerToken,
                         json.integerOr("topk_group", 1, 1, experts.groups));
  if (std::string problem = problemOfGroups(experts); !problem.empty())
    return json.failure(StatusCode::InvalidFile, "n_group", problem);
  int64_t frequency;
  LLMIR_ASSIGN_OR_RETURN(frequency,
                         json.integerOr("moe_layer_freq", 1, 1, maxLayers));
  if (frequency != 1)
    return unsupported(json, "moe_layer_freq",
                       "is " + std::to_string(frequency) +
                           "; expected experts in every layer after the first "
                           "ones");
  return Status::ok();
}

/// Biases, sinks and the clamped SwiGLU of gpt-oss, whose files have all keys
/// for which other families have defaults.
Status HuggingFaceConfig::readGptOss() {
  config.hasSinks = true;
  config.experts.hasBias = true;
  LLMIR_RETURN_IF_ERROR(
      readScale(config.experts.swigluLimit, "swiglu_limit", 7));
  double alpha;
  LLMIR_ASSIGN_OR_RETURN(alpha, json.numberOr("swiglu_alpha", 1.702));
  if (alpha != 1.702)
    return unsupported(json, "swiglu_alpha",
                       "is " + describeJson(alpha) +
                           "; the experts of gpt-oss models use 1.702");
  for (const char *key : {"sliding_window", "rms_norm_eps", "head_dim"})
    if (!json.has(key))
      return json.failure(StatusCode::NotFound, key, "is missing");
  if (!json.has("rope_scaling") && !json.has("rope_parameters"))
    return json.failure(StatusCode::NotFound, "rope_scaling", "is missing");
  return Status::ok();
}

/// LFM2: sigmoids, and a bias of the choice.
Status HuggingFaceConfig::readBiasedExperts() {
  ExpertsConfig &experts = config.experts;
  experts.scores = ExpertsConfig::Sigmoid;
  experts.sumOffset = 1e-6;
  LLMIR_ASSIGN_OR_RETURN(experts.hasChoiceBias,
                         json.booleanOr("use_expert_bias", true));
  return readScale(experts.scale, "routed_scaling_factor", 1);
}

/// Every n-th layer has experts, except the first ones and those of a list.
Status HuggingFaceConfig::readExpertLayers() {
  int64_t step, first;
  LLMIR_ASSIGN_OR_RETURN(
      step, json.integerOr("decoder_sparse_step", 1, 1, maxLayers));
  const int64_t usual = family->modelType == "glm4_moe_lite" ? 1 : 0;
  LLMIR_ASSIGN_OR_RETURN(
      first,
      json.integerOr(isLFM2() ? "num_dense_layers" : "first_k_dense_replace",
                     usual, 0, config.numLayers));
  std::vector<bool> &layers = config.experts.layers;
  for (int64_t i = 0; i < config.numLayers; ++i)
    layers.push_back(i >= first && (i + 1) % step == 0);
  if (json.has("mlp_layer_types"))
    return readLayerTypesOfMLPs();
  if (!json.has("mlp_only_layers"))
    return Status::ok();
  Expected<const Json *> list = json.array("mlp_only_layers");
  if (!list)
    return list.takeStatus();
  for (const Json &layer : **list) {
    const int64_t i = layer.is_number_integer() ? layer.get<int64_t>() : -1;
    if (i < 0 || i >= config.numLayers)
      return json.failure(StatusCode::InvalidFile, "mlp_only_layers",
                          "contains " + describeJson(layer) +
                              "; expected layers from 0 to " +
                              std::to_string(config.numLayers - 1));
    layers[static_cast<size_t>(i)] = false;
  }
  return Status::ok();
}

/// "sparse" or "dense" for each layer.
Status HuggingFaceConfig::readLayerTypesOfMLPs() {
  std::vector<bool> &layers = config.experts.layers;
  Expected<const Json *> types = json.array("mlp_layer_types");
  if (!types)
    return types.takeStatus();
  if ((*types)->size() != layers.size())
    return json.failure(StatusCode::InvalidFile, "mlp_layer_types",
                        "has " + std::to_string((*types)->size()) +
                            " elements for " +
                            std::to_string(config.numLayers) + " layers");
  for (size_t i = 0; i < layers.size(); ++i) {
    const Json &type = (**types)[i];
    layers[i] = type == "sparse";
    if (!layers[i] && type != "dense")
      return unsupported(json, "mlp_layer_types",
                         "contains " + describeJson(type) +
                             "; supported: sparse, dense");
  }
  return Status::ok();
}

} // namespace llmir
