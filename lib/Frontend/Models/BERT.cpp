//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BERT (Devlin et al. 2018, arXiv:1810.04805) and XLM-RoBERTa (Conneau et al.
// 2019, arXiv:1911.02116): LayerNorm after each block, learned positions, and
// attention in both directions.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"
#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm result;
  result.usesLayerNorm = result.normBias = result.normalizesSums = true;
  result.isGated = false;
  DecoderNames &names = result.names;
  names.embedding = "embeddings.word_embeddings";
  names.positions = "embeddings.position_embeddings.used";
  names.tokenType = "embeddings.token_type_embeddings.first";
  names.embeddingNorm = "embeddings.LayerNorm";
  names.layers = "encoder.layer";
  names.norm = names.attentionNorm = names.mlpNorm = {};
  names.attention = "attention";
  names.query = "self.query";
  names.key = "self.key";
  names.value = "self.value";
  names.output = "output.dense";
  names.afterAttention = "attention.output.LayerNorm";
  names.up = "up";
  names.down = "down";
  names.afterMLP = "output.LayerNorm";
  return result;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::bertFamily = {
    "bert",
    "BertModel",
    build,
    {{"model.embeddings.word_embeddings", "token_embd"},
     {"model.embeddings.position_embeddings.used", "position_embd"},
     {"model.embeddings.token_type_embeddings", "token_types"},
     {"model.embeddings.LayerNorm", "token_embd_norm"},
     {"attention.self.query", "attn_q"},
     {"attention.self.key", "attn_k"},
     {"attention.self.value", "attn_v"},
     {"attention.output.dense", "attn_output"},
     {"attention.output.LayerNorm", "attn_output_norm"},
     {"mlp.up", "ffn_up"},
     {"mlp.down", "ffn_down"},
     {"output.LayerNorm", "layer_output_norm"}},
    {{"mlp.up", "intermediate.dense"}, {"mlp.down", "output.dense"}}};
