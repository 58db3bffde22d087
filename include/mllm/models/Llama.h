//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama as modules (Touvron et al. 2023, arXiv:2302.13971 and 2307.09288): a
// decoder with RMSNorm before each block, rotary positions, grouped-query
// attention and a SwiGLU MLP.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_LLAMA_H
#define MLLM_MODELS_LLAMA_H

#include "mllm/models/Families.h"
#include "mllm/nn/Layers.h"

#include <optional>

namespace mllm::models {

/// In what the relatives of Llama differ from it.
struct LlamaVariant {
  bool qkvBias = false;
  bool outputBias = false; ///< Of the attention's output projection.
  bool mlpBias = false;
  bool qkNorm = false; ///< RMSNorm over each head of q and k before rotation.
};

/// x [T, hidden] -> [T, hidden]
class LlamaAttention : public nn::Module {
public:
  LlamaAttention(const DecoderConfig &config, const LlamaVariant &variant,
                 int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  int64_t numHeads, numKVHeads, headDim;
  nn::Linear qProj, kProj, vProj, oProj;
  std::optional<nn::RMSNorm> qNorm, kNorm;
  nn::RoPE rotaryEmb;
  nn::KVCache kvCache;
  nn::FlashAttention2 attention;
};

/// down(silu(gate x) * up x): x [T, hidden] -> [T, hidden]
class LlamaMLP : public nn::Module {
public:
  LlamaMLP(const DecoderConfig &config, const LlamaVariant &variant);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear gateProj, upProj, downProj;
  nn::SiLU silu;
};

/// x [T, hidden] -> [T, hidden]
class LlamaDecoderLayer : public nn::Module {
public:
  LlamaDecoderLayer(const DecoderConfig &config, const LlamaVariant &variant,
                    int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  nn::RMSNorm inputLayernorm;
  LlamaAttention selfAttn;
  nn::RMSNorm postAttentionLayernorm;
  LlamaMLP mlp;
};

/// ids [T] -> [T, hidden]
class LlamaModel : public nn::Module {
public:
  LlamaModel(const DecoderConfig &config, const LlamaVariant &variant);
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return embedTokens.weight(); }

private:
  nn::Embedding embedTokens;
  std::vector<LlamaDecoderLayer> layers;
  nn::RMSNorm norm;
};

/// ids [T] -> logits [T, vocabulary]
class LlamaForCausalLM : public nn::Module {
public:
  LlamaForCausalLM(const DecoderConfig &config, const LlamaVariant &variant);
  Tensor forward(const Tensor &ids) override;

private:
  LlamaModel model;
  nn::Linear lmHead;
};

} // namespace mllm::models

#endif // MLLM_MODELS_LLAMA_H
