//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nomic BERT (Nussbaum et al. 2024, arXiv:2402.01613): BERT with rotary
// positions, SwiGLU and no biases except those of norms.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"
#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm result;
  result.usesLayerNorm = result.normBias = result.normalizesSums = true;
  result.qkv = result.qkvInGGUF = DecoderForm::Rows::Consecutive;
  DecoderNames &names = result.names;
  names.embedding = "embeddings.word_embeddings";
  names.tokenType = "embeddings.token_type_embeddings.first";
  names.embeddingNorm = "emb_ln";
  names.layers = "encoder.layers";
  names.norm = names.attentionNorm = names.mlpNorm = {};
  names.attention = "attn";
  names.query = "Wqkv.q";
  names.key = "Wqkv.k";
  names.value = "Wqkv.v";
  names.output = "out_proj";
  names.afterAttention = "norm1";
  names.gate = "fc12";
  names.up = "fc11";
  names.down = "fc2";
  names.afterMLP = "norm2";
  return result;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::nomicBERTFamily = {
    "nomic-bert",
    "NomicBertModel",
    build,
    {{"model.embeddings.word_embeddings", "token_embd"},
     {"model.embeddings.token_type_embeddings", "token_types"},
     {"model.emb_ln", "token_embd_norm"},
     {"attn.Wqkv", "attn_qkv"},
     {"attn.out_proj", "attn_output"},
     {"norm1", "attn_output_norm"},
     {"mlp.fc12", "ffn_gate"},
     {"mlp.fc11", "ffn_up"},
     {"mlp.fc2", "ffn_down"},
     {"norm2", "layer_output_norm"}}};
