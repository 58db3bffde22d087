//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ModernBERT (Warner et al. 2024, arXiv:2412.13663): LayerNorm before each
// block except the first attention, GeGLU, rotary positions, and windows in
// most layers.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"
#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm result;
  result.usesLayerNorm = true;
  result.firstIsNormalized = false;
  result.qkv = result.qkvInGGUF = DecoderForm::Rows::Consecutive;
  result.sharesGateAndUp = true;
  DecoderNames &names = result.names;
  names.embedding = "embeddings.tok_embeddings";
  names.embeddingNorm = "embeddings.norm";
  names.norm = "final_norm";
  names.attentionNorm = "attn_norm";
  names.attention = "attn";
  names.query = "Wqkv.q";
  names.key = "Wqkv.k";
  names.value = "Wqkv.v";
  names.output = "Wo";
  names.mlpNorm = "mlp_norm";
  names.gate = "Wi.gate";
  names.up = "Wi.up";
  names.down = "Wo";
  return result;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::modernBERTFamily = {
    "modern-bert",
    "ModernBertModel",
    build,
    {{"model.embeddings.tok_embeddings", "token_embd"},
     {"model.embeddings.norm", "token_embd_norm"},
     {"model.final_norm", "output_norm"},
     {"attn_norm", "attn_norm"},
     {"attn.Wqkv", "attn_qkv"},
     {"attn.Wo", "attn_output"},
     {"mlp_norm", "ffn_norm"},
     {"mlp.Wi", "ffn_up"},
     {"mlp.Wo", "ffn_down"}}};
