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
