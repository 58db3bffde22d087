//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-2 as modules (Radford et al. 2019, "Language models are unsupervised
// multitask learners"): a decoder with LayerNorm before each block, learned
// positions, multi-head attention and an MLP with GELU. Queries, keys and
// values are three layers that share the checkpoint tensor c_attn.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_GPT2_H
#define MLLM_MODELS_GPT2_H

#include "mllm/models/Attention.h"
#include "mllm/models/Config.h"
#include "mllm/nn/Layers.h"

namespace mllm::models {

/// x [(B,) T, hidden] -> same shape
class GPT2Attention : public CausalAttention {
public:
  GPT2Attention(const DecoderConfig &config, AttentionForm form, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  int64_t numHeads;
  nn::Linear query, key, value, cProj;
};

/// c_proj(gelu(c_fc x)): x […, hidden] -> same shape
class GPT2MLP : public nn::Module {
public:
  explicit GPT2MLP(const DecoderConfig &config);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear cFc, cProj;
  nn::GELU act;
};

/// x [(B,) T, hidden] -> same shape
class GPT2Block : public nn::Module {
public:
  GPT2Block(const DecoderConfig &config, AttentionForm form, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  nn::LayerNorm ln1;
  GPT2Attention attn;
  nn::LayerNorm ln2;
  GPT2MLP mlp;
};

/// ids [(B,) T] -> [(B,) T, hidden]
class GPT2Model : public nn::Module {
public:
  GPT2Model(const DecoderConfig &config, AttentionForm form,
            std::string name = {});
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return wte.weight(); }

private:
  nn::Embedding wte, wpe;
  nn::Positions positions;
  std::vector<GPT2Block> h;
  nn::LayerNorm lnF;
};

/// The whole model as `llmir compile` traces it, with the decoder as a
/// subgraph: ids [T] -> logits [T, vocabulary]
class GPT2LMHeadModel : public nn::Module {
public:
  explicit GPT2LMHeadModel(const DecoderConfig &config);
  Tensor forward(const Tensor &ids) override;

private:
  GPT2Model transformer;
  nn::Linear lmHead;
};

/// The defaults are those of GPT-2 with 124 million parameters.
struct GPT2Config : CausalLMConfig {
  int64_t contextLength = 1024; ///< Rows of the position table.
  double layerNormEps = 1e-5;

  GPT2Config();
  /// Returns InvalidArgument, naming the field, for invalid sizes.
  llmir::Status check() const;
  /// The config of a checkpoint: a Hugging Face model directory or a .gguf file
  /// of a GPT-2 model.
  static llmir::Expected<GPT2Config> fromFile(const std::string &path);
  /// The config of the modules; empty if check() fails.
  DecoderConfig decoder() const;
};

/// The whole model with explicit attention, one subgraph @transformer with
/// blocks in it: ids [B, T] -> logits [B, T, vocabulary]
class GPT2ForCausalLM : public GPT2Model {
public:
  explicit GPT2ForCausalLM(const GPT2Config &config);
  Tensor forward(const Tensor &ids) override;

private:
  nn::Linear lmHead;
};

} // namespace mllm::models

#endif // MLLM_MODELS_GPT2_H
