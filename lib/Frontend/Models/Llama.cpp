//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Llama.h"

#include "FamilyTable.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LlamaAttention::LlamaAttention(const DecoderConfig &config,
                               const LlamaVariant &variant, int64_t layer)
    : numHeads(config.numHeads), numKVHeads(config.numKVHeads),
      headDim(config.headDim),
      qProj(reg<nn::Linear>("q_proj", config.hiddenSize, numHeads * headDim,
                            variant.qkvBias, /*rotatedHeads=*/numHeads)),
      kProj(reg<nn::Linear>("k_proj", config.hiddenSize, numKVHeads * headDim,
                            variant.qkvBias, /*rotatedHeads=*/numKVHeads)),
      vProj(reg<nn::Linear>("v_proj", config.hiddenSize, numKVHeads * headDim,
                            variant.qkvBias)),
      oProj(reg<nn::Linear>("o_proj", numHeads * headDim, config.hiddenSize,
                            variant.outputBias)),
      rotaryEmb(reg<nn::RoPE>("rotary_emb", config.ropeFrequencies)),
      kvCache(reg<nn::KVCache>("kv_cache", layer)),
      attention(reg<nn::FlashAttention2>(
          "attention", 1.0 / std::sqrt(static_cast<double>(headDim)))) {
  if (variant.qkNorm) {
    qNorm = reg<nn::RMSNorm>("q_norm", headDim, config.normEps);
    kNorm = reg<nn::RMSNorm>("k_norm", headDim, config.normEps);
  }
}

Tensor LlamaAttention::forward(const Tensor &x) {
  Tensor q = qProj(x).view({kSymbolic, numHeads, headDim});
  Tensor k = kProj(x).view({kSymbolic, numKVHeads, headDim});
  Tensor v = vProj(x).view({kSymbolic, numKVHeads, headDim});
  if (qNorm) {
    q = (*qNorm)(q);
    k = (*kNorm)(k);
  }
  q = rotaryEmb(q);
  k = rotaryEmb(k);
  auto [keys, values] = kvCache(k, v);
  Tensor mixed = attention(q, keys, values);
  return oProj(mixed.view({kSymbolic, numHeads * headDim}));
}

//===----------------------------------------------------------------------===//
// MLP
//===----------------------------------------------------------------------===//

LlamaMLP::LlamaMLP(const DecoderConfig &config, const LlamaVariant &variant)
    : gateProj(reg<nn::Linear>("gate_proj", config.hiddenSize,
                               config.intermediateSize, variant.mlpBias)),
      upProj(reg<nn::Linear>("up_proj", config.hiddenSize,
                             config.intermediateSize, variant.mlpBias)),
      downProj(reg<nn::Linear>("down_proj", config.intermediateSize,
                               config.hiddenSize, variant.mlpBias)),
      silu(reg<nn::SiLU>("act_fn")) {}

Tensor LlamaMLP::forward(const Tensor &x) {
  Tensor gate = silu(gateProj(x));
  Tensor up = upProj(x);
  return downProj(gate * up);
}

//===----------------------------------------------------------------------===//
// Decoder layer
//===----------------------------------------------------------------------===//

LlamaDecoderLayer::LlamaDecoderLayer(const DecoderConfig &config,
                                     const LlamaVariant &variant, int64_t layer)
    : inputLayernorm(reg<nn::RMSNorm>("input_layernorm", config.hiddenSize,
                                      config.normEps)),
      selfAttn(reg<LlamaAttention>("self_attn", config, variant, layer)),
      postAttentionLayernorm(reg<nn::RMSNorm>(
          "post_attention_layernorm", config.hiddenSize, config.normEps)),
      mlp(reg<LlamaMLP>("mlp", config, variant)) {}

Tensor LlamaDecoderLayer::forward(const Tensor &x) {
  Tensor h = x + selfAttn(inputLayernorm(x));
  return h + mlp(postAttentionLayernorm(h));
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

LlamaModel::LlamaModel(const DecoderConfig &config, const LlamaVariant &variant)
    : embedTokens(reg<nn::Embedding>("embed_tokens", config.vocabSize,
                                     config.hiddenSize)),
      layers(regList<LlamaDecoderLayer>(
          "layers", config.numLayers,
          [&](int64_t i) { return LlamaDecoderLayer(config, variant, i); })),
      norm(reg<nn::RMSNorm>("norm", config.hiddenSize, config.normEps)) {}

Tensor LlamaModel::forward(const Tensor &ids) {
  Tensor x = embedTokens(ids);
  for (LlamaDecoderLayer &layer : layers)
    x = layer(x);
  return norm(x);
}

LlamaForCausalLM::LlamaForCausalLM(const DecoderConfig &config,
                                   const LlamaVariant &variant)
    : model(reg<LlamaModel>("model", config, variant)),
      lmHead(config.tieWordEmbeddings
                 ? reg<nn::Linear>("lm_head", model.embeddingTable())
                 : reg<nn::Linear>("lm_head", config.hiddenSize,
                                   config.vocabSize, /*bias=*/false)) {}

Tensor LlamaForCausalLM::forward(const Tensor &ids) {
  return lmHead(model(ids));
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

/// Llama 1 to 3.x, TinyLlama, SmolLM2, and whoever else calls itself Llama; its
/// biases are flags of the config.
static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  LlamaVariant variant;
  variant.qkvBias = config.qkvBias;
  variant.outputBias = config.attentionOutputBias;
  variant.mlpBias = config.mlpBias;
  return std::make_unique<LlamaForCausalLM>(config, variant);
}

const ModelFamily models::llamaFamily = {"llama", "LlamaForCausalLM", build};
