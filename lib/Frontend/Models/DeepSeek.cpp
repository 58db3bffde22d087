//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DeepSeek-V2 and -V3 (arXiv:2405.04434 and 2412.19437) and models of their
// architecture: latent attention, and experts beside an MLP for all tokens.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.names.shared = "shared_experts";
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::deepSeekFamily = {
    "deepseek2",
    "DeepseekV3ForCausalLM",
    build,
    {{"self_attn.q_a_proj", "attn_q_a"},
     {"self_attn.q_a_layernorm", "attn_q_a_norm"},
     {"self_attn.q_b_proj", "attn_q_b"},
     {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
     {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
     {"self_attn.kv_b_proj.k", "attn_k_b"},
     {"self_attn.kv_b_proj.v", "attn_v_b"},
     {"mlp.gate.e_score_correction_bias", "exp_probs_b.bias"},
     {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
     {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
     {"mlp.shared_experts.down_proj", "ffn_down_shexp"}}};
