//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LFM2: layers with attention, and layers with a gated short convolution.
// Liquid AI, 2025; arXiv:2511.23404.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm formOf() {
  DecoderForm form;
  form.qkNorm = DecoderForm::QKNorm::Heads;
  form.names.norm = "embedding_norm";
  form.names.attentionNorm = "operator_norm";
  form.names.output = "out_proj";
  form.names.queryNorm = "q_layernorm";
  form.names.keyNorm = "k_layernorm";
  form.names.recurrent = "conv";
  form.names.mlpNorm = "ffn_norm";
  form.names.mlp = "feed_forward";
  form.names.gate = "w1";
  form.names.up = "w3";
  form.names.down = "w2";
  form.names.choiceBias = "expert_bias";
  form.names.expertGate = "experts.w1";
  form.names.expertUp = "experts.w3";
  form.names.expertDown = "experts.w2";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, formOf());
}

static std::vector<llmir::TensorName> names() {
  return {{"model.embedding_norm", "token_embd_norm"},
          {"operator_norm", "attn_norm"},
          {"self_attn.out_proj", "attn_output"},
          {"self_attn.q_layernorm", "attn_q_norm"},
          {"self_attn.k_layernorm", "attn_k_norm"},
          {"conv.in_proj", "shortconv.in_proj"},
          {"conv.conv", "shortconv.conv"},
          {"conv.out_proj", "shortconv.out_proj"},
          {"ffn_norm", "ffn_norm"},
          {"feed_forward.w1", "ffn_gate"},
          {"feed_forward.w3", "ffn_up"},
          {"feed_forward.w2", "ffn_down"},
          {"feed_forward.gate", "ffn_gate_inp"},
          {"feed_forward.expert_bias", "exp_probs_b.bias"},
          {"feed_forward.experts.w1", "ffn_gate_exps"},
          {"feed_forward.experts.w3", "ffn_up_exps"},
          {"feed_forward.experts.w2", "ffn_down_exps"}};
}

const ModelFamily models::lfm2Family = {"lfm2", "Lfm2ForCausalLM", build,
                                        names()};
const ModelFamily models::lfm2MoEFamily = {"lfm2moe", "Lfm2MoeForCausalLM",
                                           build, names()};
