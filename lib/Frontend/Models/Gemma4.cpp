//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma 4, text (Google 2026): blocks as in Gemma 3 with norms that scale by
// their weight, heads of two sizes, a norm of values, layers that read the keys
// and values of others, a further embedding of each token for each layer, and
// experts beside the MLP.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

namespace {

/// x [T, hidden] -> same shape. The cache has heads of one size and number for
/// all layers; see llmir::LayerAttention for those of a layer.
class Gemma4Attention : public CausalAttention {
public:
  Gemma4Attention(const DecoderConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  /// Heads of the layer's size [T, count, headDim] in those of the cache.
  Tensor widened(const Tensor &heads) const;
  /// Keys or values of the layer as the cache has them.
  Tensor stored(const Tensor &heads) const;
  Tensor attended(const Tensor &q, const Tensor &x);

  int64_t numHeads, numKVHeads, headDim, cachedHeads, cachedDim;
  double eps;
  nn::Linear query, output;
  nn::RMSNorm queryNorm;
  nn::RoPE rope;
  // Of layers with keys and values of their own.
  std::optional<nn::Linear> key, value;
  std::optional<nn::RMSNorm> keyNorm;
};

/// The experts of each token: x [T, hidden] -> same shape. The router and the
/// experts have norms of their own.
class Gemma4Mixture : public DecoderModule {
public:
  Gemma4Mixture(const DecoderConfig &config, const DecoderForm &form);
  Tensor forward(const Tensor &x) override;

private:
  int64_t perToken;
  double eps, inputScale, weightScale;
  nn::Linear router;
  nn::Param routerScale, scaleOfExperts;
  DecoderNorm before;
  nn::ExpertMatrices gate, up, down;
  nn::Experts experts;
  DecoderNorm after;
};

/// x [T, hidden], and the layer's embeddings of the tokens [T, size] if there
/// are any -> shape of x
class Gemma4Layer : public DecoderModule {
public:
  Gemma4Layer(const DecoderConfig &config, const DecoderForm &form,
              int64_t layer);
  std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs) override;

private:
  DecoderNorm attentionNorm, afterAttention, mlpNorm, afterMLP;
  Gemma4Attention attention;
  DecoderMLP mlp;
  DecoderNorm afterMLPOnly; ///< With a mixture.
  std::optional<Gemma4Mixture> mixture;
  std::optional<nn::Linear> embeddingGate, embeddingProjection;
  DecoderNorm afterEmbedding;
  std::optional<nn::Param> scale;
};

/// ids [T] -> [T, hidden]
class Gemma4Model : public DecoderModule {
public:
  Gemma4Model(const DecoderConfig &config, const DecoderForm &form);
  Tensor forward(const Tensor &ids) override;
  const nn::Parameter &embeddingTable() const { return embedding.weight(); }

private:
  Tensor layerEmbeddings(const Tensor &ids, const Tensor &x);

  int64_t size; ///< Of a layer's embedding, or 0.
  double embeddingScale, layerEmbeddingScale, projectionScale;
  nn::Embedding embedding;
  std::optional<nn::Embedding> layerTable;
  std::optional<nn::Linear> layerProjection;
  std::optional<nn::RMSNorm> layerNorm;
  std::vector<Gemma4Layer> layers;
  DecoderNorm norm;
};

/// The whole model: ids [T] -> logits [T, vocabulary]
class Gemma4 : public nn::Module {
public:
  Gemma4(const DecoderConfig &config, const DecoderForm &form)
      : model(reg<Gemma4Model>(form.names.model, config, form)),
        head(config,
             config.tieWordEmbeddings
                 ? reg<nn::Linear>(form.names.head, model.embeddingTable())
                 : reg<nn::Linear>(form.names.head, config.hiddenSize,
                                   config.vocabSize, /*bias=*/false)) {}
  Tensor forward(const Tensor &ids) override { return head(model(ids)); }

private:
  Gemma4Model model;
  DecoderHead head;
};

} // namespace

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static int64_t headDimOf(const DecoderConfig &config, int64_t layer) {
  const int64_t own = config.attentionOf(layer).headDim;
  return own ? own : config.headDim;
}

static nn::RoPE rotation(const DecoderConfig &config, int64_t layer) {
  const bool isLocal =
      config.attentionOf(layer).rotation == llmir::LayerAttention::Local;
  return nn::RoPE(isLocal ? config.localRopeFrequencies
                          : config.ropeFrequencies);
}

Gemma4Attention::Gemma4Attention(const DecoderConfig &config, int64_t layer)
    : CausalAttention(config, AttentionForm::Fused, layer),
      numHeads(config.numHeads), numKVHeads(config.numKVHeads),
      headDim(headDimOf(config, layer)), cachedHeads(config.numKVHeads),
      cachedDim(config.headDim), eps(config.normEps),
      query(reg<nn::Linear>("q_proj", config.hiddenSize, numHeads * headDim,
                            config.qkvBias)),
      output(reg<nn::Linear>("o_proj", numHeads * headDim, config.hiddenSize,
                             config.attentionOutputBias)),
      queryNorm(reg<nn::RMSNorm>("q_norm", headDim, eps)),
      rope(reg<nn::RoPE>("rotary_emb", rotation(config, layer))) {
  const llmir::LayerAttention own = config.attentionOf(layer);
  if (own.numKVHeads > 0)
    numKVHeads = own.numKVHeads;
  if (own.cacheOf >= 0)
    return;
  key = reg<nn::Linear>("k_proj", config.hiddenSize, numKVHeads * headDim,
                        config.qkvBias);
  keyNorm = reg<nn::RMSNorm>("k_norm", headDim, eps);
  if (!own.valuesAreKeys)
    value = reg<nn::Linear>("v_proj", config.hiddenSize, numKVHeads * headDim,
                            config.qkvBias);
}

Tensor Gemma4Attention::widened(const Tensor &heads) const {
  std::vector<Tensor> parts = {heads};
  for (int64_t missing = cachedDim - headDim; missing > 0; missing -= headDim) {
    const int64_t count = std::min(missing, headDim);
    parts.push_back(
        nn::F::zerosLike(nn::F::slice(heads, {{}, {}, {0, count}})));
  }
  return parts.size() == 1 ? heads : nn::F::concat(parts, -1);
}

Tensor Gemma4Attention::stored(const Tensor &heads) const {
  Tensor wide = widened(heads);
  if (numKVHeads == cachedHeads)
    return wide;
  const auto times = static_cast<size_t>(cachedHeads / numKVHeads);
  return nn::F::concat(std::vector<Tensor>(times, wide), -1)
      .view({kSymbolic, cachedHeads, cachedDim});
}

Tensor Gemma4Attention::attended(const Tensor &q, const Tensor &x) {
  if (!key) {
    // The cache belongs to an earlier layer; no tokens are added to it.
    Tensor none = nn::F::slice(q, {{0, 0}, {0, cachedHeads}, {}});
    return attend(q, none, none);
  }
  Tensor k = (*key)(x).view({kSymbolic, numKVHeads, headDim});
  Tensor v = value ? (*value)(x).view({kSymbolic, numKVHeads, headDim}) : k;
  Tensor keys = stored(rope((*keyNorm)(k)));
  Tensor values = stored(normalized(v, eps));
  return attend(q, keys, values);
}

Tensor Gemma4Attention::forward(const Tensor &x) {
  Tensor q = rope(queryNorm(query(x).view({kSymbolic, numHeads, headDim})));
  Tensor mixed = attended(widened(q), x);
  if (headDim == cachedDim)
    return output(mixed);
  Tensor heads = nn::F::slice(mixed.view({kSymbolic, numHeads, cachedDim}),
                              {{}, {}, {0, headDim}});
  return output(heads.view({kSymbolic, numHeads * headDim}));
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

/// Gate (0) and up projections (1) of the experts, which share a stack.
static nn::Storage openingOf(const DecoderConfig &config, int64_t part) {
  nn::Storage storage;
  storage.place.first = part * config.experts.innerSize;
  storage.place.rows = 2 * config.experts.innerSize;
  if (!config.experts.opensInOneTensor)
    storage.placeInGGUF = nn::StoredPlace();
  return storage;
}

Gemma4Mixture::Gemma4Mixture(const DecoderConfig &config,
                             const DecoderForm &form)
    : perToken(config.experts.perToken), eps(config.normEps),
      inputScale(1 / std::sqrt(static_cast<double>(config.hiddenSize))),
      weightScale(config.experts.scale),
      router(reg<nn::Linear>("router.proj", config.hiddenSize,
                             config.experts.count, /*bias=*/false)),
      routerScale(reg<nn::Param>("router", "scale",
                                 std::vector<int64_t>{config.hiddenSize})),
      scaleOfExperts(
          reg<nn::Param>("router", "per_expert_scale",
                         std::vector<int64_t>{config.experts.count})),
      before(regNorm(config, form, "pre_feedforward_layernorm_2")),
      gate(reg<nn::ExpertMatrices>("experts.gate", config.experts.count,
                                   config.hiddenSize, config.experts.innerSize,
                                   openingOf(config, 0), "gate_up_proj")),
      up(reg<nn::ExpertMatrices>("experts.up", config.experts.count,
                                 config.hiddenSize, config.experts.innerSize,
                                 openingOf(config, 1), "gate_up_proj")),
      down(reg<nn::ExpertMatrices>("experts", config.experts.count,
                                   config.experts.innerSize, config.hiddenSize,
                                   nn::Storage(), "down_proj")),
      experts(reg<nn::Experts>("experts", gate, up, down, /*swigluLimit=*/0.0,
                               /*usesGELU=*/true)),
      after(regNorm(config, form, "post_feedforward_layernorm_2")) {}

Tensor Gemma4Mixture::forward(const Tensor &x) {
  Tensor seen = normalized(x, eps);
  seen = seen * routerScale();
  Tensor logits = router(seen * inputScale);
  auto [scores, chosen] = nn::F::topk(nn::F::softmax(logits, -1), perToken);
  Tensor sum = nn::F::sum(scores, -1, /*keepDim=*/true);
  Tensor shares = scores / sum;
  Tensor factors = nn::F::gather(scaleOfExperts(), chosen, 0);
  shares = shares * factors;
  if (weightScale != 1)
    shares = shares * weightScale;
  Tensor normed = before(x);
  return after(experts(normed, chosen, shares));
}

//===----------------------------------------------------------------------===//
// Layer
//===----------------------------------------------------------------------===//

Gemma4Layer::Gemma4Layer(const DecoderConfig &config, const DecoderForm &form,
                         int64_t layer)
    : attentionNorm(regNorm(config, form, "input_layernorm")),
      afterAttention(regNorm(config, form, "post_attention_layernorm")),
      mlpNorm(regNorm(config, form, "pre_feedforward_layernorm")),
      afterMLP(regNorm(config, form, "post_feedforward_layernorm")),
      attention(reg<Gemma4Attention>("self_attn", config, layer)),
      mlp(reg<DecoderMLP>("mlp", config, form, config.innerSizeOf(layer))) {
  if (config.hasExperts(layer)) {
    afterMLPOnly = regNorm(config, form, "post_feedforward_layernorm_1");
    mixture.emplace(reg<Gemma4Mixture>("mixture", config, form));
  }
  const int64_t size = config.layerEmbeddingSize;
  if (size > 0) {
    embeddingGate = reg<nn::Linear>("per_layer_input_gate", config.hiddenSize,
                                    size, /*bias=*/false);
    embeddingProjection = reg<nn::Linear>("per_layer_projection", size,
                                          config.hiddenSize, /*bias=*/false);
    afterEmbedding = regNorm(config, form, "post_per_layer_input_norm");
  }
  if (config.hasLayerScales)
    scale = reg<nn::Param>("layer_scalar", *this, "layer_scalar",
                           std::vector<int64_t>{1});
}

std::vector<Tensor> Gemma4Layer::forwardAll(const std::vector<Tensor> &inputs) {
  Tensor x = inputs[0];
  x = x + afterAttention(attention(attentionNorm(x)));
  Tensor inner = mlp(mlpNorm(x));
  if (mixture) {
    inner = afterMLPOnly(inner);
    Tensor ofExperts = (*mixture)(x);
    inner = inner + ofExperts;
  }
  x = x + afterMLP(inner);
  if (embeddingGate) {
    Tensor gated = nn::F::gelu((*embeddingGate)(x)) * inputs[1];
    x = x + afterEmbedding((*embeddingProjection)(gated));
  }
  return {scale ? x * (*scale)() : x};
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

Gemma4Model::Gemma4Model(const DecoderConfig &config, const DecoderForm &form)
    : size(config.layerEmbeddingSize), embeddingScale(config.embeddingScale),
      layerEmbeddingScale(config.layerEmbeddingScale),
      projectionScale(1 / std::sqrt(static_cast<double>(config.hiddenSize))),
      embedding(reg<nn::Embedding>(form.names.embedding, config.vocabSize,
                                   config.hiddenSize)),
      layers(regList<Gemma4Layer>(
          form.names.layers, config.numLayers,
          [&](int64_t i) { return Gemma4Layer(config, form, i); })),
      norm(regNorm(config, form, form.names.norm)) {
  if (size == 0)
    return;
  layerTable = reg<nn::Embedding>("embed_tokens_per_layer", config.vocabSize,
                                  config.numLayers * size);
  layerProjection =
      reg<nn::Linear>("per_layer_model_projection", config.hiddenSize,
                      config.numLayers * size, /*bias=*/false);
  layerNorm =
      reg<nn::RMSNorm>("per_layer_projection_norm", size, config.normEps);
}

/// Embeddings of the tokens for all layers [T, layers, size], from those of
/// the model, x [T, hidden], and from a table.
Tensor Gemma4Model::layerEmbeddings(const Tensor &ids, const Tensor &x) {
  const auto count = static_cast<int64_t>(layers.size());
  Tensor ofModel = (*layerProjection)(x, {count, size}) * projectionScale;
  Tensor ofTable = (*layerTable)(ids).view({kSymbolic, count, size});
  ofModel = (*layerNorm)(ofModel);
  ofTable = ofTable * layerEmbeddingScale;
  return (ofModel + ofTable) * std::sqrt(0.5);
}

Tensor Gemma4Model::forward(const Tensor &ids) {
  Tensor x = embedding(ids) * embeddingScale;
  if (size == 0) {
    for (Gemma4Layer &layer : layers)
      x = layer(x);
    return norm(x);
  }
  Tensor embeddings = layerEmbeddings(ids, x);
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    Tensor own = nn::F::slice(embeddings, {{}, {layer, layer + 1}, {}});
    x = layers[i].call({x, own.view({kSymbolic, size})})[0];
  }
  return norm(x);
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Gemma4>(config, DecoderForm());
}

const ModelFamily models::gemma4Family = {
    "gemma4",
    "Gemma4ForCausalLM",
    build,
    {{"model.embed_tokens_per_layer", "per_layer_token_embd"},
     {"model.per_layer_model_projection", "per_layer_model_proj"},
     {"model.per_layer_projection_norm", "per_layer_proj_norm"},
     {"post_attention_layernorm", "post_attention_norm"},
     {"pre_feedforward_layernorm", "ffn_norm"},
     {"post_feedforward_layernorm", "post_ffw_norm"},
     {"per_layer_input_gate", "inp_gate"},
     {"per_layer_projection", "proj"},
     {"post_per_layer_input_norm", "post_norm"},
     {"post_feedforward_layernorm_1", "post_ffw_norm_1"},
     {"mixture.pre_feedforward_layernorm_2", "pre_ffw_norm_2"},
     {"mixture.post_feedforward_layernorm_2", "post_ffw_norm_2"},
     {"mixture.router.proj", "ffn_gate_inp"},
     {"mixture.router.scale", "ffn_gate_inp.scale"},
     {"mixture.router.per_expert_scale", "ffn_down_exps.scale"},
     {"mixture.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
     {"mixture.experts.gate.gate_up_proj", "ffn_gate_exps.weight"},
     {"mixture.experts.up.gate_up_proj", "ffn_up_exps.weight"},
     {"mixture.experts.down_proj", "ffn_down_exps.weight"},
     {"layer_scalar", "layer_output_scale.weight"}},
    // In folders, the parts of the mixture are those of the layer.
    {{"mixture.pre_feedforward_layernorm_2", "pre_feedforward_layernorm_2"},
     {"mixture.post_feedforward_layernorm_2", "post_feedforward_layernorm_2"},
     {"mixture.router.proj", "router.proj"},
     {"mixture.router", "router"},
     {"mixture.experts", "experts"}}};
