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
// positions, attention of whole heads and an MLP with GELU. Queries, keys and
// values are three layers that share the checkpoint's tensor c_attn.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_GPT2_H
#define MLLM_MODELS_GPT2_H

#include "mllm/models/Families.h"
#include "mllm/nn/Layers.h"

namespace mllm::models {

/// x [T, hidden] -> [T, hidden]
class GPT2Attention : public nn::Module {
public:
  GPT2Attention(const DecoderConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  int64_t numHeads, headDim;
  nn::Linear query, key, value, cProj;
  nn::KVCache kvCache;
  nn::FlashAttention2 attention;
};

/// c_proj(gelu(c_fc x)): x [T, hidden] -> [T, hidden]
class GPT2MLP : public nn::Module {
public:
  explicit GPT2MLP(const DecoderConfig &config);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear cFc, cProj;
  nn::GELU act;
};

/// x [T, hidden] -> [T, hidden]
class GPT2Block : public nn::Module {
public:
  GPT2Block(const DecoderConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  nn::LayerNorm ln1;
  GPT2Attention attn;
  nn::LayerNorm ln2;
  GPT2MLP mlp;
};

/// ids [T] -> [T, hidden]
class GPT2Model : public nn::Module {
public:
  explicit GPT2Model(const DecoderConfig &config);
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return wte.weight(); }

private:
  nn::Embedding wte, wpe;
  nn::Positions positions;
  std::vector<GPT2Block> h;
  nn::LayerNorm lnF;
};

/// ids [T] -> logits [T, vocabulary]
class GPT2LMHeadModel : public nn::Module {
public:
  explicit GPT2LMHeadModel(const DecoderConfig &config);
  Tensor forward(const Tensor &ids) override;

private:
  GPT2Model transformer;
  nn::Linear lmHead;
};

} // namespace mllm::models

#endif // MLLM_MODELS_GPT2_H
