//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Llama.h"

#include "BatchOfIds.h"
#include "FamilyTable.h"

using namespace mllm;
using namespace mllm::models;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LlamaAttention::LlamaAttention(const DecoderConfig &config,
                               const LlamaVariant &variant, int64_t layer)
    : CausalAttention(config, variant.form, layer), numHeads(config.numHeads),
      numKVHeads(config.numKVHeads),
      qProj(reg<nn::Linear>("q_proj", config.hiddenSize,
                            numHeads * config.headDim, variant.qkvBias,
                            /*rotatedHeads=*/numHeads)),
      kProj(reg<nn::Linear>("k_proj", config.hiddenSize,
                            numKVHeads * config.headDim, variant.qkvBias,
                            /*rotatedHeads=*/numKVHeads)),
      vProj(reg<nn::Linear>("v_proj", config.hiddenSize,
                            numKVHeads * config.headDim, variant.qkvBias)),
      oProj(reg<nn::Linear>("o_proj", numHeads * config.headDim,
                            config.hiddenSize, variant.outputBias)),
      rotaryEmb(
          reg<nn::RoPE>("rotary_emb", config.ropeFrequencies, 1.0, layout())) {
  if (variant.qkNorm) {
    qNorm = reg<nn::RMSNorm>("q_norm", config.headDim, config.normEps);
    kNorm = reg<nn::RMSNorm>("k_norm", config.headDim, config.normEps);
  }
}

Tensor LlamaAttention::forward(const Tensor &x) {
  Tensor q = heads(qProj, x, numHeads);
  Tensor k = heads(kProj, x, numKVHeads);
  Tensor v = heads(vProj, x, numKVHeads);
  if (qNorm) {
    q = (*qNorm)(q);
    k = (*kNorm)(k);
  }
  q = toLayout(q);
  k = toLayout(k);
  v = toLayout(v);
  q = rotaryEmb(q);
  k = rotaryEmb(k);
  return oProj(attend(q, k, v));
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

LlamaModel::LlamaModel(const DecoderConfig &config, const LlamaVariant &variant,
                       std::string name)
    : Module(std::move(name)),
      embedTokens(reg<nn::Embedding>("embed_tokens", config.vocabSize,
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

LlamaDecoder::LlamaDecoder(const DecoderConfig &config,
                           const LlamaVariant &variant)
    : model(reg<LlamaModel>("model", config, variant)),
      lmHead(config.tieWordEmbeddings
                 ? reg<nn::Linear>("lm_head", model.embeddingTable())
                 : reg<nn::Linear>("lm_head", config.hiddenSize,
                                   config.vocabSize, /*bias=*/false)) {}

Tensor LlamaDecoder::forward(const Tensor &ids) { return lmHead(model(ids)); }

/// The variant with explicit attention.
static LlamaVariant explicitly(LlamaVariant variant) {
  variant.form = AttentionForm::Explicit;
  return variant;
}

ExplicitLlama::ExplicitLlama(const DecoderConfig &config,
                             const LlamaVariant &variant)
    : LlamaModel(config, explicitly(variant), "model"),
      lmHead(config.tieWordEmbeddings
                 ? regAbsolute<nn::Linear>("lm_head", embeddingTable())
                 : regAbsolute<nn::Linear>("lm_head", config.hiddenSize,
                                           config.vocabSize, /*bias=*/false)) {}

ExplicitLlama::ExplicitLlama(const RotaryConfig &config,
                             const llmir::Status &checked,
                             const LlamaVariant &variant)
    : ExplicitLlama(config.decoder(checked), variant) {
  refuse(checked);
}

Tensor ExplicitLlama::forward(const Tensor &ids) {
  if (!isBatchOfIds(ids))
    return {};
  return lmHead(LlamaModel::forward(ids));
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

LlamaConfig::LlamaConfig() {
  vocabSize = 32000;
  hiddenSize = 2048;
  intermediateSize = 5632;
  numLayers = 22;
  numHeads = 32;
  numKVHeads = 4;
  rmsNormEps = 1e-5;
  ropeTheta = 1e4;
}

llmir::Expected<LlamaConfig> LlamaConfig::fromFile(const std::string &path) {
  LlamaConfig config;
  llmir::Expected<llmir::ModelConfig> found = config.read(path, "llama");
  if (!found)
    return found.takeStatus();
  config.qkvBias = found->qkvBias;
  config.outputBias = found->attentionOutputBias;
  config.mlpBias = found->mlpBias;
  return config;
}

/// Llama 1 to 3.x, TinyLlama, SmolLM2, and other models of this architecture;
/// biases are flags of the config.
static LlamaVariant variantOf(bool qkvBias, bool outputBias, bool mlpBias) {
  LlamaVariant variant;
  variant.qkvBias = qkvBias;
  variant.outputBias = outputBias;
  variant.mlpBias = mlpBias;
  return variant;
}

LlamaForCausalLM::LlamaForCausalLM(const LlamaConfig &config)
    : ExplicitLlama(
          config, config.check(),
          variantOf(config.qkvBias, config.outputBias, config.mlpBias)) {}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<LlamaDecoder>(
      config,
      variantOf(config.qkvBias, config.attentionOutputBias, config.mlpBias));
}

const ModelFamily models::llamaFamily = {"llama", "LlamaForCausalLM", build};
