//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/GPT2.h"

#include "FamilyTable.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

/// Hugging Face's Conv1D: a Linear whose matrix is stored as [in, out].
static nn::Storage conv1D() {
  nn::Storage storage;
  storage.isConv1D = true;
  return storage;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The part of c_attn that is the `index`-th of queries, keys and values.
static nn::Storage partOfAttention(const DecoderConfig &config, int64_t index) {
  nn::Storage storage = conv1D();
  storage.firstRow = index * config.hiddenSize;
  storage.sharedRows = 3 * config.hiddenSize;
  return storage;
}

GPT2Attention::GPT2Attention(const DecoderConfig &config, int64_t layer)
    : numHeads(config.numHeads), headDim(config.headDim),
      query(reg<nn::Linear>("c_attn.q", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, partOfAttention(config, 0))),
      key(reg<nn::Linear>("c_attn.k", config.hiddenSize, config.hiddenSize,
                          /*bias=*/true, partOfAttention(config, 1))),
      value(reg<nn::Linear>("c_attn.v", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, partOfAttention(config, 2))),
      cProj(reg<nn::Linear>("c_proj", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, conv1D())),
      kvCache(reg<nn::KVCache>("kv_cache", layer)),
      attention(reg<nn::FlashAttention2>(
          "attention", 1.0 / std::sqrt(static_cast<double>(headDim)))) {}

Tensor GPT2Attention::forward(const Tensor &x) {
  Tensor q = query(x).view({kSymbolic, numHeads, headDim});
  Tensor k = key(x).view({kSymbolic, numHeads, headDim});
  Tensor v = value(x).view({kSymbolic, numHeads, headDim});
  auto [keys, values] = kvCache(k, v);
  Tensor mixed = attention(q, keys, values);
  return cProj(mixed.view({kSymbolic, numHeads * headDim}));
}

//===----------------------------------------------------------------------===//
// MLP
//===----------------------------------------------------------------------===//

GPT2MLP::GPT2MLP(const DecoderConfig &config)
    : cFc(reg<nn::Linear>("c_fc", config.hiddenSize, config.intermediateSize,
                          /*bias=*/true, conv1D())),
      cProj(reg<nn::Linear>("c_proj", config.intermediateSize,
                            config.hiddenSize, /*bias=*/true, conv1D())),
      act(reg<nn::GELU>("act")) {}

Tensor GPT2MLP::forward(const Tensor &x) { return cProj(act(cFc(x))); }

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

GPT2Block::GPT2Block(const DecoderConfig &config, int64_t layer)
    : ln1(reg<nn::LayerNorm>("ln_1", config.hiddenSize, config.normEps)),
      attn(reg<GPT2Attention>("attn", config, layer)),
      ln2(reg<nn::LayerNorm>("ln_2", config.hiddenSize, config.normEps)),
      mlp(reg<GPT2MLP>("mlp", config)) {}

Tensor GPT2Block::forward(const Tensor &x) {
  Tensor y = x + attn(ln1(x));
  return y + mlp(ln2(y));
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

GPT2Model::GPT2Model(const DecoderConfig &config)
    : wte(reg<nn::Embedding>("wte", config.vocabSize, config.hiddenSize)),
      wpe(reg<nn::Embedding>("wpe", config.contextLength, config.hiddenSize)),
      positions(reg<nn::Positions>("positions")),
      h(regList<GPT2Block>("h", config.numLayers,
                           [&](int64_t i) { return GPT2Block(config, i); })),
      lnF(reg<nn::LayerNorm>("ln_f", config.hiddenSize, config.normEps)) {}

Tensor GPT2Model::forward(const Tensor &ids) {
  Tensor tokens = wte(ids);
  Tensor places = wpe(positions(ids));
  Tensor x = tokens + places;
  for (GPT2Block &block : h)
    x = block(x);
  return lnF(x);
}

GPT2LMHeadModel::GPT2LMHeadModel(const DecoderConfig &config)
    : transformer(reg<GPT2Model>("transformer", config)),
      lmHead(config.tieWordEmbeddings
                 ? reg<nn::Linear>("lm_head", transformer.embeddingTable())
                 : reg<nn::Linear>("lm_head", config.hiddenSize,
                                   config.vocabSize, /*bias=*/false)) {}

Tensor GPT2LMHeadModel::forward(const Tensor &ids) {
  return lmHead(transformer(ids));
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<GPT2LMHeadModel>(config);
}

const ModelFamily models::gpt2Family = {"gpt2", "GPT2LMHeadModel", build};
