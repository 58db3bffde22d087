//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen3-Next and the text models of Qwen3.5: three layers with the gated delta
// rule to one with gated attention; arXiv:2412.06464, arXiv:2505.06708.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm formOf() {
  DecoderForm form;
  form.qkNorm = DecoderForm::QKNorm::Heads;
  form.gatesAttention = true;
  form.names.query = "q_proj.q";
  form.names.sharedGate = "shared_expert_gate";
  return form;
}

static std::unique_ptr<nn::Module> buildNext(const DecoderConfig &config) {
  DecoderForm form = formOf();
  form.groupsRecurrentInputs = true;
  return std::make_unique<Decoder>(config, form);
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form = formOf();
  form.names.expertGate = "experts.gate_up_proj.gate";
  form.names.expertUp = "experts.gate_up_proj.up";
  form.names.expertDown = "experts.down_proj";
  form.experts = DecoderForm::Experts::Stacked;
  return std::make_unique<Decoder>(config, form);
}

/// The names of all three, and those of their projections.
static std::vector<llmir::TensorName>
namesWith(std::vector<llmir::TensorName> names) {
  for (llmir::TensorName name : std::initializer_list<llmir::TensorName>{
           {"post_attention_layernorm", "post_attention_norm"},
           {"self_attn.q_proj", "attn_q"},
           {"linear_attn.conv1d", "ssm_conv1d"},
           {"linear_attn.dt_bias", "ssm_dt.bias"},
           {"linear_attn.A_log", "ssm_a"},
           {"linear_attn.norm", "ssm_norm"},
           {"linear_attn.out_proj", "ssm_out"},
           {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
           {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
           {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
           {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"}})
    names.push_back(name);
  return names;
}

static std::vector<llmir::TensorName> names() {
  return namesWith({{"linear_attn.in_proj_qkv", "attn_qkv"},
                    {"linear_attn.in_proj_z", "attn_gate"},
                    {"linear_attn.in_proj_b", "ssm_beta"},
                    {"linear_attn.in_proj_a", "ssm_alpha"},
                    {"mlp.experts.gate_up_proj.gate", "ffn_gate_exps"},
                    {"mlp.experts.gate_up_proj.up", "ffn_up_exps"}});
}

const ModelFamily models::qwen3NextFamily = {
    "qwen3next", "Qwen3NextForCausalLM", buildNext,
    namesWith({{"linear_attn.in_proj_qkvz", "attn_qkv"},
               {"linear_attn.in_proj_qkvz.z", "attn_gate"},
               {"linear_attn.in_proj_ba", "ssm_ba"}})};
const ModelFamily models::qwen35Family = {
    "qwen35", "Qwen3_5ForConditionalGeneration", build, names()};
const ModelFamily models::qwen35MoEFamily = {
    "qwen35moe", "Qwen3_5MoeForConditionalGeneration", build, names()};
