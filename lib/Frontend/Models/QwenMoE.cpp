//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen1.5-MoE and Qwen2-MoE (arXiv:2407.10671), whose mixtures have an MLP for
// all tokens with a gate of its own, and Qwen3-MoE (arXiv:2505.09388) without
// one. Attention is that of Qwen2 and Qwen3.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> buildQwen2MoE(const DecoderConfig &config) {
  DecoderForm form;
  form.names.sharedGate = "shared_expert_gate";
  return std::make_unique<Decoder>(config, form);
}

static std::unique_ptr<nn::Module> buildQwen3MoE(const DecoderConfig &config) {
  DecoderForm form;
  form.qkNorm = DecoderForm::QKNorm::Heads;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::qwen2MoEFamily = {
    "qwen2moe",
    "Qwen2MoeForCausalLM",
    buildQwen2MoE,
    {{"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
     {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
     {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
     {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"}}};
const ModelFamily models::qwen3MoEFamily = {"qwen3moe", "Qwen3MoeForCausalLM",
                                            buildQwen3MoE};
