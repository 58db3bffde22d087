//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral Small 4 (Mistral AI 2026): latent attention as in DeepSeek-V2, whose
// queries grow with their position, and experts beside an MLP for all tokens.
// Experts are chosen by their softmax; their matrices are stacks.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.names.shared = "shared_experts";
  form.names.expertGate = "experts.gate";
  form.names.expertUp = "experts.up";
  form.names.expertDown = "experts";
  form.names.expertOpening = "gate_up_proj";
  form.names.expertClosing = "down_proj";
  form.experts = DecoderForm::Experts::Stacked;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::mistral4Family = {
    "mistral4",
    "Mistral4ForCausalLM",
    build,
    {{"self_attn.q_a_proj", "attn_q_a"},
     {"self_attn.q_a_layernorm", "attn_q_a_norm"},
     {"self_attn.q_b_proj", "attn_q_b"},
     {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
     {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
     {"self_attn.kv_b_proj.k", "attn_k_b"},
     {"self_attn.kv_b_proj.v", "attn_v_b"},
     {"mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
     {"mlp.experts.gate.gate_up_proj", "ffn_gate_exps.weight"},
     {"mlp.experts.up.gate_up_proj", "ffn_up_exps.weight"},
     {"mlp.experts.down_proj", "ffn_down_exps.weight"},
     {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
     {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
     {"mlp.shared_experts.down_proj", "ffn_down_shexp"}}};
