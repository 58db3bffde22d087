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

#include "mllm/models/Attention.h"
#include "mllm/models/Config.h"
#include "mllm/nn/Layers.h"

#include <optional>

namespace mllm::models {

/// Variations of Llama derivatives and of their traced form.
struct LlamaVariant {
  bool qkvBias = false;
  bool outputBias = false; ///< Bias of the attention output projection.
  bool mlpBias = false;
  bool qkNorm = false; ///< RMSNorm over each q and k head before rotation.
  AttentionForm form = AttentionForm::Fused;
};

/// x [(B,) T, hidden] -> same shape
class LlamaAttention : public CausalAttention {
public:
  LlamaAttention(const DecoderConfig &config, const LlamaVariant &variant,
                 int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  int64_t numHeads, numKVHeads;
  nn::Linear qProj, kProj, vProj, oProj;
  std::optional<nn::RMSNorm> qNorm, kNorm;
  nn::RoPE rotaryEmb;
};

/// down(silu(gate x) * up x): x […, hidden] -> same shape
class LlamaMLP : public nn::Module {
public:
  LlamaMLP(const DecoderConfig &config, const LlamaVariant &variant);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear gateProj, upProj, downProj;
  nn::SiLU silu;
};

/// x [(B,) T, hidden] -> same shape
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

/// ids [(B,) T] -> [(B,) T, hidden]
class LlamaModel : public nn::Module {
public:
  LlamaModel(const DecoderConfig &config, const LlamaVariant &variant,
             std::string name = {});
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return embedTokens.weight(); }

private:
  nn::Embedding embedTokens;
  std::vector<LlamaDecoderLayer> layers;
  nn::RMSNorm norm;
};

/// The whole model as `llmir compile` traces it, with the decoder as a
/// subgraph: ids [T] -> logits [T, vocabulary]
class LlamaDecoder : public nn::Module {
public:
  LlamaDecoder(const DecoderConfig &config, const LlamaVariant &variant);
  Tensor forward(const Tensor &ids) override;

private:
  LlamaModel model;
  nn::Linear lmHead;
};

/// The whole model with explicit attention, one subgraph @model with layers in
/// it: ids [B, T] -> logits [B, T, vocabulary].
/// An invalid config creates a module with an error status.
class ExplicitLlama : public LlamaModel {
public:
  Tensor forward(const Tensor &ids) override;

protected:
  ExplicitLlama(const RotaryConfig &config, const llmir::Status &checked,
                const LlamaVariant &variant);

private:
  ExplicitLlama(const DecoderConfig &config, const LlamaVariant &variant);

  nn::Linear lmHead;
};

/// The defaults are those of TinyLlama-1.1B.
struct LlamaConfig : RotaryConfig {
  bool qkvBias = false, outputBias = false, mlpBias = false;

  LlamaConfig();
  /// Returns InvalidArgument, naming the field, for invalid sizes.
  llmir::Status check() const { return checkAs("LlamaConfig"); }
  /// The config of a checkpoint: a Hugging Face model directory or a .gguf file
  /// of a Llama model.
  static llmir::Expected<LlamaConfig> fromFile(const std::string &path);
};

/// ids [B, T] -> logits [B, T, vocabulary]
class LlamaForCausalLM : public ExplicitLlama {
public:
  explicit LlamaForCausalLM(const LlamaConfig &config);
};

} // namespace mllm::models

#endif // MLLM_MODELS_LLAMA_H
