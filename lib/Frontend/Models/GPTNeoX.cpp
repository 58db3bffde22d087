//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-NeoX and Pythia (Black et al. 2022, arXiv:2204.06745; Biderman et al.
// 2023, arXiv:2304.01373): LayerNorm, rotation of a part of each head,
// attention and MLP side by side. Queries, keys and values share a tensor, head
// by head; GGUF has all queries first.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm form;
  form.usesLayerNorm = form.normBias = true;
  form.isGated = false;
  form.qkv = DecoderForm::Rows::Grouped;
  form.qkvInGGUF = DecoderForm::Rows::Consecutive;
  DecoderNames &names = form.names;
  names.model = "gpt_neox";
  names.embedding = "embed_in";
  names.norm = "final_layer_norm";
  names.head = "embed_out";
  names.attention = "attention";
  names.query = "query_key_value.q";
  names.key = "query_key_value.k";
  names.value = "query_key_value.v";
  names.output = "dense";
  names.up = "dense_h_to_4h";
  names.down = "dense_4h_to_h";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::gptNeoXFamily = {
    "gptneox",
    "GPTNeoXForCausalLM",
    build,
    {{"gpt_neox.embed_in", "token_embd"},
     {"gpt_neox.final_layer_norm", "output_norm"},
     {"embed_out", "output"},
     {"attention.query_key_value", "attn_qkv"},
     {"attention.dense", "attn_output"},
     {"mlp.dense_h_to_4h", "ffn_up"},
     {"mlp.dense_4h_to_h", "ffn_down"}}};
