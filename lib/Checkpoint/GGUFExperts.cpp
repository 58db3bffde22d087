//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"

namespace llmir {

/// The layers with experts are those with a router.
Status GGUFConfig::readExperts() {
  ExpertsConfig &experts = config.experts;
  LLMIR_ASSIGN_OR_RETURN(
      experts.count, metadata.integerOr(key("expert_count"), 0, 0, maxExperts));
  if (experts.count == 0)
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(
      experts.perToken,
      metadata.integer(key("expert_used_count"), 1, experts.count));
  LLMIR_ASSIGN_OR_RETURN(experts.innerSize,
                         metadata.integerOr(key("expert_feed_forward_length"),
                                            config.intermediateSize, 1,
                                            maxIntermediateSize));
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    experts.layers.push_back(tensor(block + "ffn_gate_inp.weight") != nullptr);
    // The whole shape is checked later.
    const CheckpointTensor *up = tensor(block + "ffn_up_shexp.weight");
    if (up && up->shape.size() == 2)
      experts.sharedInnerSize = up->shape.front();
    experts.hasChoiceBias |= tensor(block + "exp_probs_b.bias") != nullptr;
    experts.opensInOneTensor |=
        tensor(block + "ffn_gate_up_exps.weight") != nullptr;
  }
  if (config.architecture == "gpt-oss") {
    experts.hasBias = true;
    experts.swigluLimit = 7; // Not a key.
  }
  if (config.architecture == "llama4") {
    experts.weighsInputs = true;
    if (experts.perToken != 1)
      return unsupported(key("expert_used_count"),
                         "is " + std::to_string(experts.perToken) +
                             "; llama4 models choose one expert for a token");
  }
  if (config.architecture == "lfm2moe")
    experts.sumOffset = 1e-6;
  LLMIR_RETURN_IF_ERROR(readExpertGroups());
  LLMIR_RETURN_IF_ERROR(readExpertWeights());
  return config.architecture == "gemma4" ? checkGemma4Experts() : Status::ok();
}

Status GGUFConfig::readExpertGroups() {
  ExpertsConfig &experts = config.experts;
  const std::string name = key("expert_group_count");
  LLMIR_ASSIGN_OR_RETURN(experts.groups,
                         metadata.integerOr(name, 1, 0, experts.count));
  LLMIR_ASSIGN_OR_RETURN(
      experts.groupsPerToken,
      metadata.integerOr(key("expert_group_used_count"), 1, 0, experts.groups));
  if (experts.groups <= 1) { // 0 and 1 are both none.
    experts.groups = experts.groupsPerToken = 1;
    return Status::ok();
  }
  if (std::string problem = problemOfGroups(experts); !problem.empty())
    return metadata.failure(StatusCode::InvalidFile, name, problem);
  return Status::ok();
}

/// llama.cpp's numbers of the functions of logits are 1 for the softmax, 2 for
/// the sigmoid, and 3 for the softmax over the chosen ones, which is the first
/// one divided by the sum.
Status GGUFConfig::readExpertWeights() {
  ExpertsConfig &experts = config.experts;
  const std::string gating = key("expert_gating_func");
  int64_t function;
  LLMIR_ASSIGN_OR_RETURN(
      function,
      metadata.integerOr(gating, config.architecture == "llama4" ? 2 : 0));
  // DeepSeek-V2 and later models have one architecture, and early files of the
  // latter lack the key. Only their choice has a bias.
  if (function == 0 && has(Trait::HasLatents) && experts.hasChoiceBias)
    function = 2;
  if (function < 0 || function > 3)
    return unsupported(gating, "is " + std::to_string(function),
                       "supported: 1 (softmax), 2 (sigmoid), 3 (softmax over "
                       "the chosen experts)");
  if (function != 2 && config.architecture == "deepseek2")
    experts.groupScores = 1; // DeepSeek-V2
  experts.scores =
      function == 2 ? ExpertsConfig::Sigmoid : ExpertsConfig::Softmax;
  LLMIR_ASSIGN_OR_RETURN(
      experts.normalizes,
      metadata.booleanOr(key("expert_weights_norm"),
                         function == 3 || has(Trait::NormalizesExperts)));
  return readScale(experts.scale, "expert_weights_scale");
}

} // namespace llmir
