//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gpt-oss (OpenAI 2025, arXiv:2508.10925): a mixture of experts in each layer,
// whose MLPs have biases and a clamped SwiGLU, and attention with a sink for
// each head, in a window in every other layer. Folders store the gate and up
// projections of the experts in alternating rows.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.names.router = "router";
  form.names.expertGate = "experts.gate";
  form.names.expertUp = "experts.up";
  form.names.expertDown = "experts";
  form.names.expertOpening = "gate_up_proj";
  form.names.expertClosing = "down_proj";
  form.experts = DecoderForm::Experts::Interleaved;
  form.transposesExperts = true;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::gptOssFamily = {
    "gpt-oss",
    "GptOssForCausalLM",
    build,
    {{"self_attn.sinks", "attn_sinks.weight"},
     {"post_attention_layernorm", "post_attention_norm"},
     {"mlp.router", "ffn_gate_inp"},
     {"mlp.experts.gate.gate_up_proj", "ffn_gate_exps.weight"},
     {"mlp.experts.gate.gate_up_proj_bias", "ffn_gate_exps.bias"},
     {"mlp.experts.up.gate_up_proj", "ffn_up_exps.weight"},
     {"mlp.experts.up.gate_up_proj_bias", "ffn_up_exps.bias"},
     {"mlp.experts.down_proj", "ffn_down_exps.weight"},
     {"mlp.experts.down_proj_bias", "ffn_down_exps.bias"}}};
