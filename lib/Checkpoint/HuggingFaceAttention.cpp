//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"

#include <cmath>

namespace llmir {

static constexpr const char *supportedRopeTypes =
    "default, linear, llama3, yarn, longrope";

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Status HuggingFaceConfig::readLayers() {
  if (config.architecture == "llama4")
    return readChunkedLayers();
  int64_t window = 0;
  LLMIR_RETURN_IF_ERROR(readWindow(window));
  std::vector<bool> windowed(static_cast<size_t>(config.numLayers));
  LLMIR_RETURN_IF_ERROR(readWindowedLayers(window, windowed));
  const bool isGemma4 = config.architecture == "gemma4";
  if (isGemma4)
    windowed.back() = false; // Whatever the file says.
  config.layers = layersOf(config, *family, window, windowed);
  return isGemma4 ? readGemma4Layers() : readRotatedLayers();
}

/// 0 if no layer has a window.
Status HuggingFaceConfig::readWindow(int64_t &window) const {
  bool enabled;
  LLMIR_ASSIGN_OR_RETURN(
      enabled,
      json.booleanOr("use_sliding_window", !has(Trait::WindowIsOptional)));
  const Json *given = json.find("sliding_window");
  window = 0;
  if (!enabled || !given || (given->is_boolean() && !given->get<bool>()))
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(window, json.integer("sliding_window", 0, maxContext));
  if (has(Trait::LooksAhead) && window > 0)
    window = window / 2 + 1; // Half of it on either side.
  return Status::ok();
}

/// Whether each layer has the window.
Status
HuggingFaceConfig::readWindowedLayers(int64_t window,
                                      std::vector<bool> &windowed) const {
  if (json.has("layer_types")) {
    Expected<const Json *> types = json.array("layer_types");
    if (!types)
      return types.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkLength("layer_types", (*types)->size()));
    for (size_t i = 0; i < windowed.size(); ++i) {
      const Json &type = (**types)[i];
      windowed[i] = type == "sliding_attention";
      if (!windowed[i] && type != "full_attention")
        return unsupported(json, "layer_types",
                           "contains " + describeJson(type) +
                               "; supported: full_attention, "
                               "sliding_attention");
      if (windowed[i] && window == 0)
        return json.failure(StatusCode::InvalidFile, "layer_types",
                            "contains \"sliding_attention\", but there is no "
                            "'sliding_window'");
    }
    return Status::ok();
  }
  if (window == 0)
    return Status::ok();
  int64_t period = 0, first = 0;
  LLMIR_RETURN_IF_ERROR(readWindowPeriod(period));
  if (has(Trait::WindowIsOptional))
    LLMIR_ASSIGN_OR_RETURN(first, json.integerOr("max_window_layers", 0, 0));
  for (size_t i = 0; i < windowed.size(); ++i)
    windowed[i] = static_cast<int64_t>(i) >= first &&
                  (period == 0 || (static_cast<int64_t>(i) + 1) % period != 0);
  return Status::ok();
}

/// Every n-th layer has no window: a number, or letters as in "LLLG".
Status HuggingFaceConfig::readWindowPeriod(int64_t &period) const {
  period = family->windowPeriod;
  const char *key = json.has("sliding_window_pattern")
                        ? "sliding_window_pattern"
                        : "_sliding_window_pattern";
  const Json *given = json.find(key);
  if (!given || family->windowPeriod == 0)
    return Status::ok();
  if (!given->is_string()) {
    LLMIR_ASSIGN_OR_RETURN(period, json.integer(key, 1, maxLayers));
    return Status::ok();
  }
  const std::string letters = given->get<std::string>();
  if (letters.empty() || letters.size() > maxLayers ||
      letters.find_first_not_of('L') != letters.size() - 1 ||
      letters.back() != 'G')
    return json.unexpected(key, "letters L and a G at the end");
  period = static_cast<int64_t>(letters.size());
  return Status::ok();
}

Status HuggingFaceConfig::readRotatedLayers() {
  return has(Trait::EveryFourthIsUnrotated) ? readRotationList() : Status::ok();
}

/// Layers that are not rotated, by a list (SmolLM3, Llama 4).
Status HuggingFaceConfig::readRotationList() {
  int64_t interval;
  LLMIR_ASSIGN_OR_RETURN(
      interval, json.integerOr("no_rope_layer_interval", 4, 1, maxLayers));
  config.layers.resize(static_cast<size_t>(config.numLayers));
  for (size_t i = 0; i < config.layers.size(); ++i)
    config.layers[i].rotation = (static_cast<int64_t>(i) + 1) % interval == 0
                                    ? LayerAttention::None
                                    : LayerAttention::Global;
  if (!json.has("no_rope_layers"))
    return Status::ok();
  Expected<const Json *> list = json.array("no_rope_layers");
  if (!list)
    return list.takeStatus();
  // Files of Llama 4 have an empty list for the default.
  if ((*list)->empty() && config.architecture == "llama4")
    return Status::ok();
  LLMIR_RETURN_IF_ERROR(checkLength("no_rope_layers", (*list)->size()));
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const Json &isRotated = (**list)[i];
    if (isRotated != 0 && isRotated != 1)
      return json.failure(StatusCode::InvalidFile, "no_rope_layers",
                          "contains " + describeJson(isRotated) +
                              "; expected 0 or 1");
    config.layers[i].rotation =
        isRotated == 1 ? LayerAttention::Global : LayerAttention::None;
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// The share of a head's elements that are rotated.
Status HuggingFaceConfig::readRotaryShare(const JsonReader &where,
                                          double &share) const {
  const char *key = "partial_rotary_factor";
  if (!where.has(key) && where.has("rotary_pct"))
    key = "rotary_pct"; // GPT-NeoX
  LLMIR_ASSIGN_OR_RETURN(share, where.numberOr(key, share));
  if (share <= 0 || share > 1)
    return where.unexpected(key, "a number above 0, at most 1");
  return Status::ok();
}

/// Since transformers 5 everything is in rope_parameters, which may be nested
/// by layer type; earlier versions have rope_theta and rope_scaling at top
/// level.
Status HuggingFaceConfig::readRope() {
  if (config.architecture == "gemma4")
    return readGemma4Rope();
  double share = family->rotaryShare;
  LLMIR_RETURN_IF_ERROR(readRotaryShare(json, share));
  const bool isNeoX = config.architecture == "gptneox";
  thetaName = isNeoX                          ? "rotary_emb_base"
              : isLFM2() && json.has("theta") ? "theta"
                                              : "rope_theta";
  LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                         json.numberOr(thetaName, isLFM2() ? 1e6 : 10000.0));
  if (json.has("rope_parameters")) {
    ropePath = "rope_parameters.";
    Expected<JsonReader> rope = json.object("rope_parameters");
    if (rope && rope->has("full_attention")) {
      ropePath += "full_attention.";
      rope = rope->object("full_attention");
    }
    if (!rope)
      return rope.takeStatus();
    LLMIR_RETURN_IF_ERROR(readRotaryShare(*rope, share));
    LLMIR_RETURN_IF_ERROR(readRopeGroup(*rope));
  } else if (json.has("rope_scaling")) {
    ropePath = "rope_scaling.";
    Expected<JsonReader> scaling = json.object("rope_scaling");
    if (!scaling)
      return scaling.takeStatus();
    LLMIR_RETURN_IF_ERROR(readRopeScaling(*scaling, /*typeRequired=*/true));
  }
  if (config.architecture == "mistral4" &&
      config.ropeScaling.kind != RopeScaling::Yarn)
    return unsupported(json, "rope_parameters",
                       "does not have the rope_type yarn, which mistral4 "
                       "models have");
  if (config.latent.rank > 0)
    return Status::ok(); // Specified by the sizes of latent attention.
  const int64_t headDim =
      config.headDim ? config.headDim : config.hiddenSize / config.numHeads;
  config.rotaryDim = static_cast<int64_t>(static_cast<double>(headDim) * share);
  if (config.rotaryDim == headDim)
    config.rotaryDim = 0; // Set when the sizes are checked.
  else if (config.rotaryDim < 2 || config.rotaryDim % 2 != 0)
    return json.failure(StatusCode::InvalidFile, "partial_rotary_factor",
                        "is " + describeJson(share) + ", which rotates " +
                            std::to_string(config.rotaryDim) + " of the " +
                            std::to_string(headDim) +
                            " values of a head; expected an even number");
  return readLocalRope();
}

Status HuggingFaceConfig::readRopeGroup(const JsonReader &rope) {
  if (rope.has("rope_theta")) {
    thetaName = ropePath + "rope_theta";
    LLMIR_ASSIGN_OR_RETURN(config.ropeTheta, rope.number("rope_theta"));
  }
  return readRopeScaling(rope, /*typeRequired=*/false);
}

/// The base of layers with a window.
Status HuggingFaceConfig::readLocalRope() {
  if (!has(Trait::HasLocalRotation))
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(
      config.localRopeTheta,
      json.numberOr("rope_local_base_freq",
                    has(Trait::HasLocalBase) ? 10000.0 : config.ropeTheta));
  if (!json.has("rope_parameters"))
    return Status::ok();
  Expected<JsonReader> rope = json.object("rope_parameters");
  if (!rope || !rope->has("sliding_attention"))
    return rope ? Status::ok() : rope.takeStatus();
  Expected<JsonReader> local = rope->object("sliding_attention");
  if (!local)
    return local.takeStatus();
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, local->stringOr("rope_type", "default"));
  if (type != "default")
    return unsupported(*local, "rope_type",
                       "is \"" + printable(type) +
                           "\"; layers with a window are rotated without "
                           "scaling");
  LLMIR_ASSIGN_OR_RETURN(config.localRopeTheta,
                         local->numberOr("rope_theta", config.localRopeTheta));
  return Status::ok();
}

Status HuggingFaceConfig::readRopeScaling(const JsonReader &rope,
                                          bool typeRequired) {
  const char *typeKey =
      rope.has("rope_type") || !rope.has("type") ? "rope_type" : "type";
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, typeRequired
                                   ? rope.string(typeKey)
                                   : rope.stringOr(typeKey, "default"));
  RopeScaling &scaling = config.ropeScaling;
  if (type == "default")
    return Status::ok();
  // Dynamic scaling applies beyond the context for which the model was
  // trained, which LLMIR never exceeds.
  if (type == "dynamic" && !rope.has("alpha"))
    return Status::ok();
  if (type == "longrope" || type == "su")
    return readLongRope(rope);
  if (type != "linear" && type != "llama3" && type != "yarn")
    return unsupported(rope, typeKey, "is \"" + printable(type) + "\"",
                       std::string("supported: ") + supportedRopeTypes);
  LLMIR_ASSIGN_OR_RETURN(scaling.factor, rope.number("factor"));
  if (type == "llama3")
    return readLlama3(rope);
  if (type == "yarn")
    return readYarn(rope);
  scaling.kind = RopeScaling::Linear;
  return Status::ok();
}

Status HuggingFaceConfig::readOriginalContext(const JsonReader &rope) {
  const char *key = "original_max_position_embeddings";
  const JsonReader &holder = !rope.has(key) && json.has(key) ? json : rope;
  LLMIR_ASSIGN_OR_RETURN(config.ropeScaling.originalContext,
                         holder.integer(key, 1, maxContext));
  return Status::ok();
}

Status HuggingFaceConfig::readLlama3(const JsonReader &rope) {
  RopeScaling &scaling = config.ropeScaling;
  scaling.kind = RopeScaling::Llama3;
  LLMIR_ASSIGN_OR_RETURN(scaling.lowFreqFactor, rope.number("low_freq_factor"));
  LLMIR_ASSIGN_OR_RETURN(scaling.highFreqFactor,
                         rope.number("high_freq_factor"));
  return readOriginalContext(rope);
}

Status HuggingFaceConfig::readYarn(const JsonReader &rope) {
  RopeScaling &scaling = config.ropeScaling;
  scaling.kind = RopeScaling::Yarn;
  LLMIR_ASSIGN_OR_RETURN(scaling.betaFast, rope.numberOr("beta_fast", 32));
  LLMIR_ASSIGN_OR_RETURN(scaling.betaSlow, rope.numberOr("beta_slow", 1));
  LLMIR_ASSIGN_OR_RETURN(scaling.truncatesBounds,
                         rope.booleanOr("truncate", true));
  LLMIR_RETURN_IF_ERROR(readOriginalContext(rope));
  double scale, scaleOfAll;
  LLMIR_ASSIGN_OR_RETURN(scale, rope.numberOr("mscale", 0));
  LLMIR_ASSIGN_OR_RETURN(scaleOfAll, rope.numberOr("mscale_all_dim", 0));
  const bool isRatio = scale != 0 && scaleOfAll != 0;
  const double usual = isRatio ? yarnMagnitude(scaling.factor, scale) /
                                     yarnMagnitude(scaling.factor, scaleOfAll)
                               : yarnMagnitude(scaling.factor, 1);
  double factor;
  LLMIR_ASSIGN_OR_RETURN(factor, rope.numberOr("attention_factor", usual));
  scaling.attentionFactor = static_cast<float>(factor); // As GGUF stores it.
  if (has(Trait::HasLatents))
    LLMIR_RETURN_IF_ERROR(scaleLatentScores(
        config, static_cast<float>(0.1 * scaleOfAll), "mscale_all_dim",
        [&](StatusCode code, const std::string &field,
            const std::string &problem) {
          return rope.failure(code, field, problem);
        }));
  return readQueryGrowth(rope);
}

/// Ministral 3 and Mistral Small 4: queries grow with their position.
Status HuggingFaceConfig::readQueryGrowth(const JsonReader &rope) {
  const char *key = "llama_4_scaling_beta";
  const bool isRequired = config.architecture == "mistral4";
  if (config.architecture != "mistral3" && !isRequired)
    return Status::ok();
  double growth;
  LLMIR_ASSIGN_OR_RETURN(growth,
                         isRequired ? rope.number(key) : rope.numberOr(key, 0));
  config.queryGrowth = static_cast<float>(growth);
  config.queryGrowthContext = config.ropeScaling.originalContext;
  return Status::ok();
}

/// One divisor per pair, rounded to f32 as in GGUF.
Status HuggingFaceConfig::readFactors(const JsonReader &rope,
                                      std::string_view key,
                                      std::vector<double> &factors) const {
  Expected<const Json *> list = rope.array(key);
  if (!list)
    return list.takeStatus();
  for (const Json &factor : **list) {
    if (!factor.is_number() || !(factor.get<double>() > 0))
      return rope.failure(StatusCode::InvalidFile, key,
                          "contains " + describeJson(factor) +
                              "; expected positive numbers");
    factors.push_back(factor.get<float>());
  }
  return Status::ok();
}

Status HuggingFaceConfig::readLongRope(const JsonReader &rope) {
  RopeScaling &scaling = config.ropeScaling;
  scaling.kind = RopeScaling::LongRope;
  LLMIR_RETURN_IF_ERROR(
      readFactors(rope, "short_factor", scaling.shortFactors));
  LLMIR_RETURN_IF_ERROR(readFactors(rope, "long_factor", scaling.longFactors));
  LLMIR_RETURN_IF_ERROR(readOriginalContext(rope));
  const double original = static_cast<double>(scaling.originalContext);
  double stretch;
  LLMIR_ASSIGN_OR_RETURN(
      stretch,
      rope.numberOr("factor",
                    static_cast<double>(config.contextLength) / original));
  const double usual =
      stretch > 1 && original > 1
          ? std::sqrt(1 + std::log(stretch) / std::log(original))
          : 1;
  double factor;
  LLMIR_ASSIGN_OR_RETURN(factor, rope.numberOr("attention_factor", usual));
  scaling.attentionFactor = static_cast<float>(factor);
  return Status::ok();
}

} // namespace llmir
