//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// InternLM 2 and 2.5 (Cai et al. 2024, arXiv:2403.17297): Llama in which
// queries, keys and values share a tensor, in groups; GGUF separates them.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm form;
  form.qkv = DecoderForm::Rows::Grouped;
  DecoderNames &names = form.names;
  names.embedding = "tok_embeddings";
  names.head = "output";
  names.attentionNorm = "attention_norm";
  names.attention = "attention";
  names.query = "wqkv.q";
  names.key = "wqkv.k";
  names.value = "wqkv.v";
  names.output = "wo";
  names.mlpNorm = "ffn_norm";
  names.mlp = "feed_forward";
  names.gate = "w1";
  names.up = "w3";
  names.down = "w2";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::internLM2Family = {
    "internlm2",
    "InternLM2ForCausalLM",
    build,
    {{"model.tok_embeddings", "token_embd"},
     {"output", "output"},
     {"attention_norm", "attn_norm"},
     {"attention.wqkv.q", "attn_q"},
     {"attention.wqkv.k", "attn_k"},
     {"attention.wqkv.v", "attn_v"},
     {"attention.wo", "attn_output"},
     {"ffn_norm", "ffn_norm"},
     {"feed_forward.w1", "ffn_gate"},
     {"feed_forward.w3", "ffn_up"},
     {"feed_forward.w2", "ffn_down"}}};
