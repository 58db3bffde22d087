//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys of a model's config: the inverse of GGUFConfig.cpp.
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"
#include "FamilyTraits.h"

#include "llmir/Checkpoint/GGUFWriter.h"

#include <algorithm>
#include <cmath>

using namespace llmir;

namespace {

class ModelKeys {
public:
  ModelKeys(const ModelConfig &config, const FamilyTraits &family,
            GGUFKeys &keys)
      : config(config), family(family), keys(keys) {}

  Status add();

private:
  std::string key(const char *name) const {
    return config.architecture + "." + name;
  }
  void setCount(const char *name, int64_t count) {
    keys.setU32(key(name), static_cast<uint32_t>(count));
  }
  void setNumber(const char *name, double number) {
    keys.setF32(key(name), static_cast<float>(number));
  }
  void addSizes();
  void addLatents();
  void addScales();
  Status addWindow();
  Status addChunks();
  Status addRope();
  double latentMagnitude() const;
  void addExperts();
  Status addStates();
  void addGemma4Layers();
  Status unsupported(const std::string &what) const {
    return Status(StatusCode::Unsupported,
                  what + ": GGUF has no key for this in " +
                      config.architecture + " models",
                  "run the model from its directory");
  }

  const ModelConfig &config;
  const FamilyTraits &family;
  GGUFKeys &keys;
};

} // namespace

void ModelKeys::addSizes() {
  setCount("block_count", config.numLayers);
  setCount("context_length", config.contextLength);
  setCount("embedding_length", config.hiddenSize);
  setCount("feed_forward_length", config.intermediateSize > 0
                                      ? config.intermediateSize
                                      : config.experts.innerSize);
  setCount("attention.head_count", config.numHeads);
  setCount("attention.head_count_kv", config.numKVHeads);
  setNumber(config.learnedPositions || family.has(FamilyTraits::UsesLayerNorm)
                ? "attention.layer_norm_epsilon"
                : "attention.layer_norm_rms_epsilon",
            config.normEps);
  setCount("vocab_size", config.vocabSize);
  if (config.learnedPositions)
    return;
  setCount("attention.key_length", config.headDim);
  setCount("attention.value_length", config.headDim);
  if (family.has(FamilyTraits::HasLatents))
    addLatents();
}

/// The sizes above are those of the cache.
void ModelKeys::addLatents() {
  const LatentConfig &latent = config.latent;
  setCount("attention.value_length", latent.rank);
  setCount("attention.kv_lora_rank", latent.rank);
  if (latent.queryRank > 0)
    setCount("attention.q_lora_rank", latent.queryRank);
  setCount("attention.key_length_mla", latent.plainDim + config.rotaryDim);
  setCount("attention.value_length_mla", latent.valueDim);
}

void ModelKeys::addScales() {
  const std::string &architecture = config.architecture;
  if (family.has(FamilyTraits::DividesLogits)) {
    setNumber("attention.scale", config.attentionScale);
    setNumber("embedding_scale", config.embeddingScale);
    setNumber("residual_scale", config.residualScale);
    setNumber("logit_scale", 1 / config.logitScale);
  } else if (config.logitScale != 1)
    setNumber("logit_scale", config.logitScale);
  if (family.has(FamilyTraits::HasSoftCaps)) {
    setNumber("attention.scale", config.attentionScale);
    if (config.attentionSoftCap > 0)
      setNumber("attn_logit_softcapping", config.attentionSoftCap);
    if (config.logitSoftCap > 0)
      setNumber("final_logit_softcapping", config.logitSoftCap);
  }
  if (config.queryGrowth != 0) {
    setNumber("attention.temperature_scale", config.queryGrowth);
    setCount("attention.temperature_length", config.queryGrowthContext);
  }
  if (architecture == "stablelm" || architecture == "gptneox")
    keys.setBool(key("use_parallel_residual"), config.parallelResidual);
}

/// Which layers have a window, and are rotated, follows from the family or is a
/// flag per layer.
Status ModelKeys::addWindow() {
  int64_t window = 0;
  std::vector<bool> windowed(static_cast<size_t>(config.numLayers));
  for (size_t i = 0; i < config.layers.size(); ++i) {
    windowed[i] = config.layers[i].window > 0;
    window = std::max(window, config.layers[i].window);
  }
  if (window > 0 || config.architecture == "phi3")
    setCount("attention.sliding_window", window);
  if (window > 0) {
    bool isUsual = true;
    for (size_t i = 0; i < windowed.size(); ++i)
      isUsual &= windowed[i] ==
                 (family.windowPeriod == 0 ||
                  (static_cast<int64_t>(i) + 1) % family.windowPeriod != 0);
    if (!isUsual || family.windowPeriod != 0)
      keys.setBools(key("attention.sliding_window_pattern"), windowed);
  }
  std::vector<LayerAttention> expected =
      layersOf(config, family, window, windowed);
  if (family.has(FamilyTraits::EveryFourthIsUnrotated)) {
    expected.resize(static_cast<size_t>(config.numLayers));
    for (size_t i = 3; i < expected.size(); i += 4)
      expected[i].rotation = LayerAttention::None;
  }
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const LayerAttention of =
        expected.empty() ? LayerAttention() : expected[static_cast<size_t>(i)];
    if (of.rotation != config.attentionOf(i).rotation)
      return unsupported("layer " + std::to_string(i) +
                         " is rotated unlike in other models");
  }
  return Status::ok();
}

/// Llama 4: every fourth layer attends to all tokens, without rotation, and
/// every n-th has experts. llama.cpp has no key for the size of chunks, which
/// is 8192 in its models.
Status ModelKeys::addChunks() {
  int64_t chunk = 0;
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const LayerAttention layer = config.attentionOf(i);
    const bool isWhole = i % 4 == 3;
    if ((layer.rotation == LayerAttention::None) != isWhole ||
        (isWhole && layer.window > 0))
      return unsupported("layer " + std::to_string(i) +
                         " is rotated unlike in other models");
    chunk = std::max(chunk, layer.window);
  }
  // Without chunks, the context has the size of one.
  setCount("attention.chunk_size", chunk > 0 ? chunk : config.contextLength);
  if (config.normalizesRotated != (config.experts.count != 128))
    return unsupported("the norms of queries and keys");
  const std::vector<bool> &sparse = config.experts.layers;
  const auto first = std::find(sparse.begin(), sparse.end(), true);
  const int64_t step = sparse.empty() ? 1 : first - sparse.begin() + 1;
  for (size_t i = 0; i < sparse.size(); ++i)
    if (sparse[i] != ((static_cast<int64_t>(i) + 1) % step == 0))
      return unsupported("layer " + std::to_string(i) +
                         " has experts unlike in other models");
  setCount("interleave_moe_layer_step", step);
  return Status::ok();
}

/// YaRN's mscale_all_dim, of which config.attentionScale has the square of the
/// magnitude, or 0.
double ModelKeys::latentMagnitude() const {
  if (!family.has(FamilyTraits::HasLatents) || config.ropeScaling.factor <= 1)
    return 0;
  const auto keyDim =
      static_cast<double>(config.latent.plainDim + config.rotaryDim);
  const double magnitude = std::sqrt(config.attentionScale * std::sqrt(keyDim));
  const double tenth = (magnitude - 1) / std::log(config.ropeScaling.factor);
  return std::abs(tenth) < 1e-9 ? 0 : 10 * tenth;
}

Status ModelKeys::addRope() {
  const RopeScaling &scaling = config.ropeScaling;
  setCount("rope.dimension_count", config.rotaryDim);
  setNumber("rope.freq_base", config.ropeTheta);
  if (family.has(FamilyTraits::HasLocalRotation) &&
      (config.localRopeTheta != config.ropeTheta ||
       family.has(FamilyTraits::HasLocalBase)))
    setNumber("rope.freq_base_swa", config.localRopeTheta);
  // The scaling of Llama 3 and of Gemma 4 is a tensor of divisors.
  if (scaling.kind == RopeScaling::Default ||
      scaling.kind == RopeScaling::Llama3 ||
      scaling.kind == RopeScaling::Proportional)
    return Status::ok();
  if (scaling.kind == RopeScaling::LongRope) {
    setCount("rope.scaling.original_context_length", scaling.originalContext);
    setNumber("rope.scaling.attn_factor", scaling.attentionFactor);
    return Status::ok();
  }
  const bool isYarn = scaling.kind == RopeScaling::Yarn;
  keys.setString(key("rope.scaling.type"), isYarn ? "yarn" : "linear");
  setNumber("rope.scaling.factor", scaling.factor);
  if (!isYarn)
    return Status::ok();
  setCount("rope.scaling.original_context_length", scaling.originalContext);
  setNumber("rope.scaling.yarn_beta_fast", scaling.betaFast);
  setNumber("rope.scaling.yarn_beta_slow", scaling.betaSlow);
  if (!scaling.truncatesBounds && config.architecture != "gpt-oss")
    return unsupported("'truncate' of the rotary scaling is false");
  auto usual = static_cast<float>(yarnMagnitude(scaling.factor, 1));
  if (const double ofAll = latentMagnitude(); ofAll != 0) {
    setNumber("rope.scaling.yarn_log_multiplier", 0.1 * ofAll);
    usual = config.architecture == "mistral4"
                ? static_cast<float>(yarnMagnitude(scaling.factor, 1) /
                                     yarnMagnitude(scaling.factor, ofAll))
                : 1.0f;
  }
  const auto factor = static_cast<float>(scaling.attentionFactor);
  if (config.architecture == "mistral3" && factor == 1.0f)
    setNumber("rope.scaling.yarn_log_multiplier", 1.0); // mscale_all_dim
  else if (factor != usual) // llama.cpp multiplies by the usual one itself.
    setNumber("rope.scaling.attn_factor", factor);
  return Status::ok();
}

/// The layers with experts are those with a router. llama.cpp has a key for
/// layers without experts only at the start.
void ModelKeys::addExperts() {
  const ExpertsConfig &experts = config.experts;
  setCount("expert_count", experts.count);
  setCount("expert_used_count", experts.perToken);
  setCount("expert_feed_forward_length", experts.innerSize);
  if (experts.sharedInnerSize > 0) {
    setCount("expert_shared_feed_forward_length", experts.sharedInnerSize);
    if (experts.sharedInnerSize % experts.innerSize == 0)
      setCount("expert_shared_count",
               experts.sharedInnerSize / experts.innerSize);
  }
  const bool isSigmoid = experts.scores == ExpertsConfig::Sigmoid;
  const bool isDescribed = isSigmoid || family.has(FamilyTraits::HasLatents);
  const auto dense =
      std::find(experts.layers.begin(), experts.layers.end(), true) -
      experts.layers.begin();
  if (!experts.layers.empty() && (dense > 0 || isDescribed) &&
      config.architecture != "llama4")
    setCount("leading_dense_block_count", dense);
  if (isDescribed ||
      experts.normalizes != family.has(FamilyTraits::NormalizesExperts)) {
    setCount("expert_gating_func", isSigmoid ? 2 : 1);
    keys.setBool(key("expert_weights_norm"), experts.normalizes);
  }
  if (isDescribed || experts.scale != 1)
    setNumber("expert_weights_scale", experts.scale);
  if (isDescribed || experts.groups > 1) {
    setCount("expert_group_count", experts.groups);
    setCount("expert_group_used_count", experts.groupsPerToken);
  }
}

/// Layers that keep a state are those without key heads, or all but every n-th.
Status ModelKeys::addStates() {
  const RecurrentConfig &recurrent = config.recurrent;
  if (!family.has(FamilyTraits::HasAttentionInterval)) {
    std::vector<int32_t> heads;
    for (int64_t i = 0; i < config.numLayers; ++i)
      heads.push_back(
          config.isRecurrent(i) ? 0 : static_cast<int32_t>(config.numKVHeads));
    keys.setIntegers(key("attention.head_count_kv"), heads);
  } else {
    int64_t interval = 1;
    while (interval < config.numLayers && config.isRecurrent(interval - 1))
      ++interval;
    for (int64_t i = 0; i < config.numLayers; ++i)
      if (config.isRecurrent(i) == ((i + 1) % interval == 0))
        return unsupported("layer " + std::to_string(i) +
                           " is of another kind than in other models");
    setCount("full_attention_interval", interval);
    // Pairs that turn by time, height and width, which are one for a text.
    const auto pairs = static_cast<int32_t>(config.rotaryDim / 2);
    if (config.architecture != "qwen3next")
      keys.setIntegers(key("rope.dimension_sections"),
                       {(pairs + 2) / 3, (pairs + 1) / 3, pairs / 3, 0});
  }
  if (recurrent.kind == RecurrentConfig::ShortConv) {
    setCount("shortconv.l_cache", recurrent.taps);
    return Status::ok();
  }
  setCount("ssm.conv_kernel", recurrent.taps);
  setCount("ssm.state_size", recurrent.keyDim);
  setCount("ssm.group_count", recurrent.keyHeads);
  setCount("ssm.time_step_rank", recurrent.valueHeads);
  setCount("ssm.inner_size", recurrent.valueHeads * recurrent.valueDim);
  if (recurrent.kind != RecurrentConfig::Mamba2)
    return Status::ok();
  keys.setBool(key("rope.scaling.finetuned"),
               config.attentionOf(0).rotation != LayerAttention::None);
  if (config.experts.count > 0)
    setCount("feed_forward_length", config.experts.innerSize);
  return Status::ok();
}

/// Layers with a window have heads of another size and number than the others,
/// and some layers read the keys and values of earlier ones.
void ModelKeys::addGemma4Layers() {
  std::vector<int32_t> heads, innerSizes;
  int64_t localDim = config.headDim, sharing = 0;
  for (int64_t i = 0; i < config.numLayers; ++i) {
    const LayerAttention layer = config.attentionOf(i);
    heads.push_back(static_cast<int32_t>(
        layer.numKVHeads > 0 ? layer.numKVHeads : config.numKVHeads));
    innerSizes.push_back(static_cast<int32_t>(config.innerSizeOf(i)));
    if (layer.rotation == LayerAttention::Local && layer.headDim > 0)
      localDim = layer.headDim;
    sharing += layer.cacheOf >= 0;
  }
  keys.setIntegers(key("attention.head_count_kv"), heads);
  keys.setIntegers(key("feed_forward_length"), innerSizes);
  setCount("attention.key_length_swa", localDim);
  setCount("attention.value_length_swa", localDim);
  setCount("rope.dimension_count_swa", localDim);
  setCount("attention.shared_kv_layers", sharing);
  setCount("embedding_length_per_layer_input", config.layerEmbeddingSize);
  if (config.logitSoftCap > 0)
    setNumber("final_logit_softcapping", config.logitSoftCap);
}

Status ModelKeys::add() {
  addSizes();
  if (!config.learnedPositions)
    LLMIR_RETURN_IF_ERROR(addRope());
  addScales();
  if (config.experts.count > 0)
    addExperts();
  if (config.architecture == "gemma4")
    addGemma4Layers();
  if (!config.recurrent.layers.empty())
    LLMIR_RETURN_IF_ERROR(addStates());
  if (config.architecture == "llama4")
    return addChunks();
  // These are rotated in all layers or in none, for which there is a key.
  if (config.architecture == "granitehybrid")
    return Status::ok();
  return addWindow();
}

Status llmir::addModelKeys(const ModelConfig &config, GGUFKeys &keys) {
  const FamilyTraits *family = findFamily(config.architecture);
  if (!family)
    return Status(StatusCode::Unsupported,
                  "GGUF has no architecture '" + config.architecture + "'");
  if (config.pooling != Pooling::None)
    return Status(StatusCode::Unsupported,
                  "embedding models cannot be written as GGUF files",
                  "use the model as it is");
  keys.setString("general.architecture", config.architecture);
  keys.setString("general.type", "model");
  keys.setString("general.name", config.modelName);
  return ModelKeys(config, *family, keys).add();
}

bool llmir::rotatesPairsInGGUF(std::string_view architecture) {
  const FamilyTraits *family = findFamily(architecture);
  return family && family->has(FamilyTraits::PairsInGGUF);
}
