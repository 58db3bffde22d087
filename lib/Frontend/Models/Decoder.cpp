//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "mllm/models/Decoder.h"

#include "BatchOfIds.h"
#include "mllm/models/Embedding.h"
#include "mllm/models/Recurrent.h"

#include <algorithm>

using namespace mllm;
using namespace mllm::models;

//===----------------------------------------------------------------------===//
// Norms and soft caps
//===----------------------------------------------------------------------===//

Tensor DecoderNorm::operator()(const Tensor &x) const {
  if (rms)
    return (*rms)(x);
  return layer ? (*layer)(x) : x;
}

DecoderNorm DecoderModule::regNorm(const DecoderConfig &config,
                                   const DecoderForm &form,
                                   const std::string &name) {
  if (name.empty())
    return {};
  if (form.usesLayerNorm)
    return reg<nn::LayerNorm>(name, std::vector<int64_t>{config.hiddenSize},
                              config.normEps, /*affine=*/true, form.normBias);
  return reg<nn::RMSNorm>(name, config.hiddenSize, config.normEps,
                          config.normUnitOffset);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Queries (0), keys (1) and values (2) in checkpoints.
class StoredHeads {
public:
  StoredHeads(const DecoderConfig &config, const DecoderForm &form)
      : form(form), headDim(config.headDim),
        counts{config.numHeads, config.numKVHeads, config.numKVHeads} {}

  int64_t rows(size_t part) const { return counts[part] * headDim; }

  nn::Storage of(size_t part) const {
    nn::Storage storage;
    storage.rotatedHeads = part < 2 ? counts[part] : 0;
    if (part == 0 && form.gatesAttention)
      storage.place = placeWithGate(0);
    if (form.qkv != DecoderForm::Rows::Separate)
      storage.place = place(form.qkv, part);
    if (form.qkvInGGUF != form.qkv)
      storage.placeInGGUF = place(form.qkvInGGUF, part);
    return storage;
  }

  /// Of each head of queries (0), or of their gates (1).
  nn::StoredPlace placeWithGate(int64_t part) const {
    nn::StoredPlace place;
    place.first = part * headDim;
    place.rows = 2 * rows(0);
    place.groupRows = headDim;
    place.groupStride = 2 * headDim;
    return place;
  }

private:
  nn::StoredPlace place(DecoderForm::Rows stored, size_t part) const {
    nn::StoredPlace place;
    if (stored == DecoderForm::Rows::Separate)
      return place;
    place.rows = rows(0) + rows(1) + rows(2);
    if (stored == DecoderForm::Rows::Consecutive) {
      for (size_t i = 0; i < part; ++i)
        place.first += rows(i);
      return place;
    }
    const int64_t perGroup = counts[0] / counts[1];
    place.first = (part == 0 ? 0 : perGroup + int64_t(part) - 1) * headDim;
    place.groupRows = (part == 0 ? perGroup : 1) * headDim;
    place.groupStride = (perGroup + 2) * headDim;
    return place;
  }

  const DecoderForm &form;
  int64_t headDim;
  int64_t counts[3];
};
} // namespace

DecoderAttention::DecoderAttention(const DecoderConfig &config,
                                   const DecoderForm &form, int64_t layer)
    : CausalAttention(config, form.form, layer), numHeads(config.numHeads),
      numKVHeads(config.numKVHeads),
      normalizesRows(form.qkNorm == DecoderForm::QKNorm::Rows),
      rotatedEps(config.normalizesRotated ? config.normEps : 0),
      query(reg<nn::Linear>(form.names.query, config.hiddenSize,
                            StoredHeads(config, form).rows(0), config.qkvBias,
                            StoredHeads(config, form).of(0))),
      key(reg<nn::Linear>(form.names.key, config.hiddenSize,
                          StoredHeads(config, form).rows(1), config.qkvBias,
                          StoredHeads(config, form).of(1))),
      value(reg<nn::Linear>(form.names.value, config.hiddenSize,
                            StoredHeads(config, form).rows(2), config.qkvBias,
                            StoredHeads(config, form).of(2))),
      output(reg<nn::Linear>(form.names.output, numHeads * config.headDim,
                             config.hiddenSize, config.attentionOutputBias)) {
  const llmir::LayerAttention own = config.attentionOf(layer);
  if (own.rotation == llmir::LayerAttention::Local)
    rope =
        reg<nn::RoPE>("rotary_emb", config.localRopeFrequencies, 1.0, layout());
  else if (own.rotation == llmir::LayerAttention::Global &&
           !config.learnedPositions)
    rope = reg<nn::RoPE>("rotary_emb", config.ropeFrequencies,
                         config.ropeScaling.attentionFactor, layout());
  if (config.hasSinks)
    sinks =
        reg<nn::Param>("sinks", *this, "sinks", std::vector<int64_t>{numHeads});
  if (form.gatesAttention) {
    nn::Storage storage;
    storage.place = StoredHeads(config, form).placeWithGate(1);
    gate = reg<nn::Linear>("q_proj.gate", config.hiddenSize,
                           numHeads * config.headDim, config.qkvBias, storage);
  }
  if (form.qkNorm == DecoderForm::QKNorm::None)
    return;
  auto makeNorm = [&](const std::string &name, int64_t heads) {
    return reg<nn::RMSNorm>(name, (normalizesRows ? heads : 1) * config.headDim,
                            config.normEps, config.normUnitOffset);
  };
  queryNorm = makeNorm(form.names.queryNorm, numHeads);
  keyNorm = makeNorm(form.names.keyNorm, numKVHeads);
}

std::vector<Tensor>
DecoderAttention::forwardAll(const std::vector<Tensor> &inputs) {
  const Tensor &x = inputs[0];
  Tensor q = normalizesRows ? query(x) : heads(query, x, numHeads);
  Tensor k = normalizesRows ? key(x) : heads(key, x, numKVHeads);
  Tensor v = heads(value, x, numKVHeads);
  if (queryNorm) {
    q = (*queryNorm)(q);
    k = (*keyNorm)(k);
  }
  if (normalizesRows) {
    q = asHeads(q, numHeads);
    k = asHeads(k, numKVHeads);
  }
  q = toLayout(q);
  k = toLayout(k);
  v = toLayout(v);
  if (rope) {
    q = (*rope)(q);
    k = (*rope)(k);
    if (rotatedEps > 0) {
      q = normalized(q, rotatedEps);
      k = normalized(k, rotatedEps);
    }
  }
  if (inputs.size() > 1)
    q = q * inputs[1];
  Tensor mixed = sinks ? attend(q, k, v, (*sinks)()) : attend(q, k, v);
  if (gate)
    mixed = mixed * nn::F::sigmoid((*gate)(x));
  return {output(mixed)};
}

//===----------------------------------------------------------------------===//
// MLP
//===----------------------------------------------------------------------===//

/// Gate (0) and up projection (1) in checkpoints.
static nn::Storage storedGateOrUp(const DecoderForm &form, int64_t innerSize,
                                  int64_t part) {
  nn::Storage storage;
  if (form.sharesGateAndUp) {
    storage.place.first = part * innerSize;
    storage.place.rows = 2 * innerSize;
  }
  if (form.separatesInGGUF)
    storage.placeInGGUF.emplace();
  return storage;
}

static nn::Storage storedDown(const DecoderConfig &config,
                              const DecoderForm &form) {
  nn::Storage storage;
  if (form.separatesInGGUF) {
    storage.place.rows = config.hiddenSize;
    storage.placeInGGUF.emplace();
  }
  return storage;
}

DecoderMLP::DecoderMLP(const DecoderConfig &config, const DecoderForm &form,
                       int64_t innerSize)
    : gate(form.isGated
               ? std::optional(reg<nn::Linear>(
                     form.names.gate, config.hiddenSize, innerSize,
                     config.mlpBias, storedGateOrUp(form, innerSize, 0)))
               : std::nullopt),
      up(reg<nn::Linear>(form.names.up, config.hiddenSize, innerSize,
                         config.mlpBias, storedGateOrUp(form, innerSize, 1))),
      down(reg<nn::Linear>(form.names.down, innerSize, config.hiddenSize,
                           config.mlpBias, storedDown(config, form))) {
  if (config.activation == llmir::Activation::SiLU)
    silu = reg<nn::SiLU>("act_fn");
  else
    gelu = reg<nn::GELU>("act_fn", /*exact=*/config.activation ==
                                       llmir::Activation::GELU);
}

Tensor DecoderMLP::activate(const Tensor &x) const {
  return silu ? (*silu)(x) : (*gelu)(x);
}

Tensor DecoderMLP::forward(const Tensor &x) {
  if (!gate)
    return down(activate(up(x)));
  Tensor opened = activate((*gate)(x));
  Tensor all = up(x);
  return down(opened * all);
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

/// Gate (0), up (1) and down (2) projections of the experts in checkpoints.
static nn::Storage storedExperts(const DecoderConfig &config,
                                 const DecoderForm &form, int64_t part) {
  nn::Storage storage;
  storage.isTransposed = form.transposesExperts;
  storage.isNumbered = form.experts == DecoderForm::Experts::Numbered;
  if (storage.isNumbered || part == 2)
    return storage;
  storage.place.rows = 2 * config.experts.innerSize;
  if (form.experts == DecoderForm::Experts::Interleaved) {
    storage.place.first = part;
    storage.place.groupRows = 1;
    storage.place.groupStride = 2;
  } else {
    storage.place.first = part * config.experts.innerSize;
  }
  if (!config.experts.opensInOneTensor)
    storage.placeInGGUF = nn::StoredPlace();
  return storage;
}

DecoderMixture::DecoderMixture(const DecoderConfig &config,
                               const DecoderForm &form)
    : config(config.experts),
      router(reg<nn::Linear>(form.names.router, config.hiddenSize,
                             config.experts.count, config.experts.hasBias)),
      gate(reg<nn::ExpertMatrices>(
          form.names.expertGate, config.experts.count, config.hiddenSize,
          config.experts.innerSize, storedExperts(config, form, 0),
          form.names.expertOpening, config.experts.hasBias)),
      up(reg<nn::ExpertMatrices>(
          form.names.expertUp, config.experts.count, config.hiddenSize,
          config.experts.innerSize, storedExperts(config, form, 1),
          form.names.expertOpening, config.experts.hasBias)),
      down(reg<nn::ExpertMatrices>(
          form.names.expertDown, config.experts.count, config.experts.innerSize,
          config.hiddenSize, storedExperts(config, form, 2),
          form.names.expertClosing, config.experts.hasBias)),
      experts(reg<nn::Experts>("experts", gate, up, down,
                               config.experts.swigluLimit)) {
  const std::vector<int64_t> perExpert = {config.experts.count};
  if (config.experts.hasChoiceBias)
    choiceBias = form.names.choiceBias.empty()
                     ? reg<nn::Param>(form.names.router,
                                      "e_score_correction_bias", perExpert)
                     : reg<nn::Param>(form.names.choiceBias, "", perExpert);
  if (config.experts.sharedInnerSize == 0 || form.sharesBesideMixture)
    return;
  shared.emplace(reg<DecoderMLP>(form.names.shared, config, form,
                                 config.experts.sharedInnerSize));
  if (!form.names.sharedGate.empty())
    sharedGate = reg<nn::Linear>(form.names.sharedGate, config.hiddenSize, 1,
                                 /*bias=*/false);
}

/// 1 at the columns of each row, otherwise 0: columns […, k] -> shape of `like`
static Tensor marks(const Tensor &like, const Tensor &columns,
                    const Tensor &values) {
  return nn::F::scatter(nn::F::zerosLike(like), columns,
                        nn::F::onesLike(values), -1);
}

/// Below that of every expert that can be chosen.
static constexpr double hiddenScore = -1e30;

/// Hides the scores of the experts outside of the best groups: those with the
/// greatest sums of their greatest scores (DeepSeek-V2 and -V3,
/// arXiv:2405.04434 and 2412.19437).
Tensor DecoderMixture::inBestGroups(const Tensor &scores) const {
  const int64_t size = config.count / config.groups;
  Tensor members = scores.view({kSymbolic, config.groups, size});
  auto [greatest, places] =
      nn::F::topk(members, std::min(size, config.groupScores));
  Tensor ofGroups = nn::F::sum(greatest, -1);
  auto [best, groups] = nn::F::topk(ofGroups, config.groupsPerToken);
  Tensor isBest =
      marks(ofGroups, groups, best).view({kSymbolic, config.groups, 1});
  Tensor hidden = nn::F::fullLike(members, hiddenScore);
  Tensor kept = nn::F::where(isBest > 0.5, members, hidden);
  return kept.view({kSymbolic, config.count});
}

std::pair<Tensor, Tensor> DecoderMixture::route(const Tensor &x) const {
  Tensor logits = router(x);
  Tensor scores = config.scores == llmir::ExpertsConfig::Sigmoid
                      ? nn::F::sigmoid(logits)
                      : nn::F::softmax(logits, -1);
  // If the choice is by other numbers, the others' scores become 0, so that the
  // greatest scores are those of the chosen experts.
  if (choiceBias || config.groups > 1) {
    Tensor ranking = choiceBias ? scores + (*choiceBias)() : scores;
    if (config.groups > 1)
      ranking = inBestGroups(ranking);
    auto [best, places] = nn::F::topk(ranking, config.perToken);
    scores = scores * marks(scores, places, best);
  }
  auto [weights, chosen] = nn::F::topk(scores, config.perToken);
  Tensor shares = weights;
  if (config.normalizes) {
    Tensor sum = nn::F::sum(weights, -1, /*keepDim=*/true);
    shares = weights / (config.sumOffset == 0 ? sum : sum + config.sumOffset);
  }
  if (config.scale != 1)
    shares = shares * config.scale;
  return {chosen, shares};
}

/// The only expert of each token, whose input is multiplied by the sigmoid of
/// its logit.
Tensor DecoderMixture::ofWeighedInputs(const Tensor &x) const {
  auto [logits, chosen] = nn::F::topk(router(x), config.perToken);
  Tensor inputs = x * nn::F::sigmoid(logits);
  return experts(inputs, chosen, nn::F::onesLike(logits));
}

Tensor DecoderMixture::ofWeighedResults(const Tensor &x) const {
  auto [chosen, weights] = route(x);
  return experts(x, chosen, weights);
}

Tensor DecoderMixture::forward(const Tensor &x) {
  Tensor result =
      config.weighsInputs ? ofWeighedInputs(x) : ofWeighedResults(x);
  if (!shared)
    return result;
  Tensor ofAll = (*shared)(x);
  if (sharedGate) {
    Tensor factor = nn::F::sigmoid((*sharedGate)(x));
    ofAll = ofAll * factor;
  }
  return result + ofAll;
}

//===----------------------------------------------------------------------===//
// Decoder layer
//===----------------------------------------------------------------------===//

std::shared_ptr<nn::Module>
DecoderLayer::regRecurrent(const DecoderConfig &config, const DecoderForm &form,
                           int64_t layer) {
  if (config.recurrent.kind == llmir::RecurrentConfig::DeltaNet)
    return std::make_shared<DeltaNet>(reg<DeltaNet>(
        form.names.recurrent, config, form.groupsRecurrentInputs, layer));
  if (config.recurrent.kind == llmir::RecurrentConfig::Mamba2)
    return std::make_shared<Mamba2>(
        reg<Mamba2>(form.names.recurrent, config, layer));
  return std::make_shared<ShortConv>(
      reg<ShortConv>(form.names.recurrent, config, layer));
}

DecoderLayer::DecoderLayer(const DecoderConfig &config, const DecoderForm &form,
                           int64_t layer)
    : residualScale(config.residualScale), isParallel(config.parallelResidual),
      normalizesSums(form.normalizesSums) {
  if (config.isRecurrent(layer))
    recurrent = regRecurrent(config, form, layer);
  else if (config.latent.rank > 0)
    latent.emplace(
        reg<LatentAttention>(form.names.attention, config, form, layer));
  else
    attention.emplace(
        reg<DecoderAttention>(form.names.attention, config, form, layer));
  if (config.hasExperts(layer))
    mixture.emplace(reg<DecoderMixture>(form.names.mlp, config, form));
  if (mixture && form.sharesBesideMixture && config.experts.sharedInnerSize > 0)
    shared.emplace(reg<DecoderMLP>(form.names.shared, config, form,
                                   config.experts.sharedInnerSize));
  if (!mixture)
    mlp.emplace(
        reg<DecoderMLP>(form.names.mlp, config, form, config.intermediateSize));
  if (layer > 0 || form.firstIsNormalized)
    attentionNorm = regNorm(config, form, form.names.attentionNorm);
  afterAttention = regNorm(config, form, form.names.afterAttention);
  mlpNorm = regNorm(config, form, form.names.mlpNorm);
  afterMLP = regNorm(config, form, form.names.afterMLP);
}

Tensor DecoderLayer::feedForward(const Tensor &x) {
  Tensor result = mixture ? (*mixture)(x) : (*mlp)(x);
  if (shared)
    result = result + (*shared)(x);
  if (!normalizesSums)
    result = afterMLP(result);
  return residualScale == 1 ? result : result * residualScale;
}

/// x plus the result of a block, whose norm may be that of the sum.
Tensor DecoderLayer::added(const Tensor &x, const Tensor &result,
                           const DecoderNorm &after) const {
  Tensor sum = x + result;
  return normalizesSums ? after(sum) : sum;
}

std::vector<Tensor>
DecoderLayer::forwardAll(const std::vector<Tensor> &inputs) {
  std::vector<Tensor> attended = inputs;
  const Tensor &x = inputs[0];
  Tensor h = attentionNorm(x);
  attended[0] = h;
  Tensor mixed = recurrent ? (*recurrent)(h)
                 : latent  ? latent->call(attended)[0]
                           : attention->call(attended)[0];
  if (!normalizesSums)
    mixed = afterAttention(mixed);
  if (residualScale != 1)
    mixed = mixed * residualScale;
  if (!isParallel) {
    Tensor y = added(x, mixed, afterAttention);
    Tensor inner = feedForward(mlpNorm(y));
    return {added(y, inner, afterMLP)};
  }
  // Without a norm of its own, the MLP has the input of the attention.
  Tensor inner = feedForward(mlpNorm ? mlpNorm(x) : h);
  Tensor y = x + mixed;
  return {y + inner};
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

/// In folders, rows before that of the first token are not used.
static nn::Storage storedPositions(const DecoderConfig &config) {
  nn::Storage storage;
  storage.place.first = config.firstPosition;
  storage.place.rows = config.contextLength + config.firstPosition;
  storage.placeInGGUF = nn::StoredPlace();
  return storage;
}

DecoderModel::DecoderModel(const DecoderConfig &config, const DecoderForm &form,
                           std::string name)
    : DecoderModule(std::move(name)), embeddingScale(config.embeddingScale),
      queryGrowth(config.queryGrowth),
      queryGrowthContext(config.queryGrowthContext),
      firstPosition(config.growsUnrotated ? 1 : 0),
      embedding(reg<nn::Embedding>(form.names.embedding, config.vocabSize,
                                   config.hiddenSize)),
      embeddingNorm(regNorm(config, form, form.names.embeddingNorm)),
      positions(reg<nn::Positions>("positions")),
      layers(regList<DecoderLayer>(
          form.names.layers, config.numLayers,
          [&](int64_t i) { return DecoderLayer(config, form, i); })),
      norm(regNorm(config, form, form.names.norm)) {
  if (config.learnedPositions)
    positionTable =
        reg<nn::Embedding>(form.names.positions, config.contextLength,
                           config.hiddenSize, storedPositions(config));
  if (config.tokenTypes > 0) {
    nn::Storage firstRow;
    firstRow.place.rows = config.tokenTypes;
    tokenType =
        reg<nn::Param>(form.names.tokenType, "weight",
                       std::vector<int64_t>{1, config.hiddenSize}, firstRow);
  }
  for (int64_t i = 0; i < config.numLayers; ++i)
    grows.push_back(!config.growsUnrotated || config.attentionOf(i).rotation ==
                                                  llmir::LayerAttention::None);
}

/// 1 + growth * ln(1 + floor(position / context)): ids [T] -> [T, 1, 1]
Tensor DecoderModel::queryFactors(const Tensor &ids) const {
  Tensor counted = positions(ids);
  if (firstPosition != 0)
    counted = counted + static_cast<double>(firstPosition);
  Tensor turn = (counted / static_cast<double>(queryGrowthContext)).to(kFp32);
  return (nn::F::log(turn + 1.0) * queryGrowth + 1.0).view({kSymbolic, 1, 1});
}

/// The input of the first layer: ids [T] -> [T, hidden]
Tensor DecoderModel::embed(const Tensor &ids) const {
  Tensor x = embedding(ids);
  if (embeddingScale != 1)
    x = x * embeddingScale;
  if (tokenType)
    x = x + (*tokenType)();
  if (positionTable) {
    Tensor places = (*positionTable)(positions(ids));
    x = x + places;
  }
  return embeddingNorm(x);
}

Tensor DecoderModel::forward(const Tensor &ids) {
  Tensor x = embed(ids);
  if (queryGrowth == 0) {
    for (DecoderLayer &layer : layers)
      x = layer(x);
    return norm(x);
  }
  Tensor factors = queryFactors(ids);
  for (size_t i = 0; i < layers.size(); ++i)
    x = grows[i] ? layers[i].call({x, factors})[0] : layers[i](x);
  return norm(x);
}

Tensor DecoderHead::operator()(const Tensor &x) const {
  // A scale before the projection, which is linear, has fewer values.
  Tensor logits = projection(scale == 1 ? x : x * scale);
  return softCap == 0 ? logits : softCapped(logits, softCap);
}

Decoder::Decoder(const DecoderConfig &config, const DecoderForm &form)
    : model(reg<DecoderModel>(form.names.model, config, form)),
      pooling(config.pooling) {
  int64_t size = config.hiddenSize;
  for (const llmir::DenseLayer &layer : config.dense) {
    dense.push_back(reg<nn::Linear>(layer.name + ".linear", size,
                                    layer.outputSize, layer.hasBias));
    size = layer.outputSize;
  }
  if (pooling != llmir::Pooling::None)
    return;
  head.emplace(config,
               config.tieWordEmbeddings
                   ? reg<nn::Linear>(form.names.head, model.embeddingTable())
                   : reg<nn::Linear>(form.names.head, config.hiddenSize,
                                     config.vocabSize, /*bias=*/false));
}

Tensor Decoder::forward(const Tensor &ids) {
  Tensor x = model(ids);
  if (head)
    return (*head)(x);
  x = pooled(x, pooling);
  for (const nn::Linear &layer : dense)
    x = layer(x);
  return ofUnitLength(x);
}

static DecoderForm explicitly(DecoderForm form) {
  form.form = AttentionForm::Explicit;
  return form;
}

ExplicitDecoder::ExplicitDecoder(const DecoderConfig &config,
                                 const llmir::Status &checked,
                                 const DecoderForm &form)
    : DecoderModel(config, explicitly(form), form.names.model),
      head(config,
           config.tieWordEmbeddings
               ? regAbsolute<nn::Linear>(form.names.head, embeddingTable())
               : regAbsolute<nn::Linear>(form.names.head, config.hiddenSize,
                                         config.vocabSize,
                                         /*bias=*/false)) {
  refuse(checked);
}

Tensor ExplicitDecoder::forward(const Tensor &ids) {
  if (!isBatchOfIds(ids))
    return {};
  return head(DecoderModel::forward(ids));
}
