//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GLM-4-0414 and GLM-Z1: norms of the inputs and of the results of attention
// and MLP, rotation of adjacent pairs of a half of each head. Gate and up
// projection share a tensor.
//
// GLM-4.5 to 4.7 (arXiv:2508.06471): experts that are chosen by sigmoids with a
// bias, and an MLP for all tokens; the halves of a half of each head are
// paired.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm form;
  form.sharesGateAndUp = true;
  form.names.afterAttention = "post_self_attn_layernorm";
  form.names.afterMLP = "post_mlp_layernorm";
  form.names.gate = "gate_up_proj.gate";
  form.names.up = "gate_up_proj.up";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::glm4Family = {
    "glm4",
    "Glm4ForCausalLM",
    build,
    {{"post_self_attn_layernorm", "post_attention_norm"},
     {"post_mlp_layernorm", "post_ffw_norm"},
     {"mlp.gate_up_proj", "ffn_up"}}};

static std::unique_ptr<nn::Module> buildMoE(const DecoderConfig &config) {
  DecoderForm form;
  form.names.shared = "shared_experts";
  if (config.qkNorm)
    form.qkNorm = DecoderForm::QKNorm::Heads;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::glm4MoEFamily = {
    "glm4moe",
    "Glm4MoeForCausalLM",
    buildMoE,
    {{"post_attention_layernorm", "post_attention_norm"},
     {"mlp.gate.e_score_correction_bias", "exp_probs_b.bias"},
     {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
     {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
     {"mlp.shared_experts.down_proj", "ffn_down_shexp"}}};
