//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/GPT2.h"

#include "BatchOfIds.h"
#include "FamilyTable.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

/// Hugging Face's Conv1D: a Linear whose matrix is stored as [in, out].
static nn::Storage conv1D() {
  nn::Storage storage;
  storage.isTransposed = true;
  return storage;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The slice of c_attn for queries (0), keys (1) or values (2).
static nn::Storage partOfAttention(const DecoderConfig &config, int64_t index) {
  nn::Storage storage = conv1D();
  storage.place.first = index * config.hiddenSize;
  storage.place.rows = 3 * config.hiddenSize;
  return storage;
}

GPT2Attention::GPT2Attention(const DecoderConfig &config, AttentionForm form,
                             int64_t layer)
    : CausalAttention(config, form, layer), numHeads(config.numHeads),
      query(reg<nn::Linear>("c_attn.q", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, partOfAttention(config, 0))),
      key(reg<nn::Linear>("c_attn.k", config.hiddenSize, config.hiddenSize,
                          /*bias=*/true, partOfAttention(config, 1))),
      value(reg<nn::Linear>("c_attn.v", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, partOfAttention(config, 2))),
      cProj(reg<nn::Linear>("c_proj", config.hiddenSize, config.hiddenSize,
                            /*bias=*/true, conv1D())) {}

Tensor GPT2Attention::forward(const Tensor &x) {
  Tensor q = heads(query, x, numHeads);
  Tensor k = heads(key, x, numHeads);
  Tensor v = heads(value, x, numHeads);
  q = toLayout(q);
  k = toLayout(k);
  v = toLayout(v);
  return cProj(attend(q, k, v));
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

GPT2Block::GPT2Block(const DecoderConfig &config, AttentionForm form,
                     int64_t layer)
    : ln1(reg<nn::LayerNorm>("ln_1", config.hiddenSize, config.normEps)),
      attn(reg<GPT2Attention>("attn", config, form, layer)),
      ln2(reg<nn::LayerNorm>("ln_2", config.hiddenSize, config.normEps)),
      mlp(reg<GPT2MLP>("mlp", config)) {}

Tensor GPT2Block::forward(const Tensor &x) {
  Tensor y = x + attn(ln1(x));
  return y + mlp(ln2(y));
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

GPT2Model::GPT2Model(const DecoderConfig &config, AttentionForm form,
                     std::string name)
    : Module(std::move(name)),
      wte(reg<nn::Embedding>("wte", config.vocabSize, config.hiddenSize)),
      wpe(reg<nn::Embedding>("wpe", config.contextLength, config.hiddenSize)),
      positions(reg<nn::Positions>("positions")),
      h(regList<GPT2Block>(
          "h", config.numLayers,
          [&](int64_t i) { return GPT2Block(config, form, i); })),
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
    : transformer(reg<GPT2Model>("transformer", config, AttentionForm::Fused)),
      lmHead(config.tieWordEmbeddings
                 ? reg<nn::Linear>("lm_head", transformer.embeddingTable())
                 : reg<nn::Linear>("lm_head", config.hiddenSize,
                                   config.vocabSize, /*bias=*/false)) {}

Tensor GPT2LMHeadModel::forward(const Tensor &ids) {
  return lmHead(transformer(ids));
}

GPT2ForCausalLM::GPT2ForCausalLM(const GPT2Config &config)
    : GPT2Model(config.decoder(), AttentionForm::Explicit, "transformer"),
      lmHead(config.tieWordEmbeddings
                 ? regAbsolute<nn::Linear>("lm_head", embeddingTable())
                 : regAbsolute<nn::Linear>("lm_head", config.hiddenSize,
                                           config.vocabSize, /*bias=*/false)) {
  refuse(config.check());
}

Tensor GPT2ForCausalLM::forward(const Tensor &ids) {
  if (!isBatchOfIds(ids))
    return {};
  return lmHead(GPT2Model::forward(ids));
}

//===----------------------------------------------------------------------===//
// Config
//===----------------------------------------------------------------------===//

GPT2Config::GPT2Config() {
  vocabSize = 50257;
  hiddenSize = 768;
  intermediateSize = 3072;
  numLayers = 12;
  numHeads = 12;
  tieWordEmbeddings = true;
}

llmir::Status GPT2Config::check() const {
  constexpr const char *name = "GPT2Config";
  LLMIR_RETURN_IF_ERROR(
      detail::checkSizes(name, {{"vocabSize", vocabSize},
                                {"hiddenSize", hiddenSize},
                                {"intermediateSize", intermediateSize},
                                {"numLayers", numLayers},
                                {"numHeads", numHeads},
                                {"contextLength", contextLength}}));
  if (hiddenSize % numHeads != 0)
    return detail::refuseConfig(name,
                                "hiddenSize is not a multiple of numHeads");
  if (!std::isfinite(layerNormEps) || layerNormEps <= 0)
    return detail::refuseConfig(name, "layerNormEps must be a positive number");
  return llmir::Status::ok();
}

llmir::Expected<GPT2Config> GPT2Config::fromFile(const std::string &path) {
  llmir::Expected<llmir::Checkpoint> checkpoint = llmir::Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeStatus();
  const llmir::ModelConfig &found = checkpoint->config();
  LLMIR_RETURN_IF_ERROR(detail::checkArchitecture(path, found, "gpt2"));
  GPT2Config config;
  config.vocabSize = found.vocabSize;
  config.hiddenSize = found.hiddenSize;
  config.intermediateSize = found.intermediateSize;
  config.numLayers = found.numLayers;
  config.numHeads = found.numHeads;
  config.tieWordEmbeddings = found.tieWordEmbeddings;
  config.contextLength = found.contextLength;
  config.layerNormEps = found.normEps;
  return config;
}

DecoderConfig GPT2Config::decoder() const {
  DecoderConfig config;
  if (!check())
    return config;
  config.vocabSize = vocabSize;
  config.hiddenSize = hiddenSize;
  config.intermediateSize = intermediateSize;
  config.numLayers = numLayers;
  config.numHeads = config.numKVHeads = numHeads;
  config.headDim = hiddenSize / numHeads;
  config.contextLength = contextLength;
  config.normEps = layerNormEps;
  config.learnedPositions = true;
  config.tieWordEmbeddings = tieWordEmbeddings;
  return config;
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<GPT2LMHeadModel>(config);
}

const ModelFamily models::gpt2Family = {"gpt2", "GPT2LMHeadModel", build};
