//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/SmallFloat.h"

#include <algorithm>
#include <cmath>

namespace llmir {

std::vector<LayerAttention> layersOf(const ModelConfig &config,
                                     const FamilyTraits &family, int64_t window,
                                     const std::vector<bool> &windowed) {
  using Trait = FamilyTraits::Trait;
  std::vector<LayerAttention> layers(static_cast<size_t>(config.numLayers));
  bool differs = false;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (window > 0 && windowed[i] && family.has(Trait::HasLocalRotation))
      layers[i].rotation = LayerAttention::Local;
    if (window > 0 && !windowed[i] && family.has(Trait::FullIsUnrotated))
      layers[i].rotation = LayerAttention::None;
    if (windowed[i] && window < config.contextLength)
      layers[i].window = window;
    differs |=
        layers[i].window > 0 || layers[i].rotation != LayerAttention::Global;
  }
  return differs ? layers : std::vector<LayerAttention>();
}

bool hasWindows(const ModelConfig &config) {
  return std::any_of(
      config.layers.begin(), config.layers.end(),
      [](const LayerAttention &layer) { return layer.window > 0; });
}

std::string problemOfGroups(const ExpertsConfig &experts) {
  if (experts.count % experts.groups == 0 &&
      experts.groupsPerToken * (experts.count / experts.groups) >=
          experts.perToken)
    return {};
  return "is " + std::to_string(experts.groups) +
         ", which does not divide the " + std::to_string(experts.count) +
         " experts into groups of which " +
         std::to_string(experts.groupsPerToken) + " contain those of a token";
}

double embeddingScale(int64_t hiddenSize, std::string_view type) {
  const double scale = std::sqrt(static_cast<double>(hiddenSize));
  if (type == "bfloat16")
    return bf16ToFloat(floatToBf16(static_cast<float>(scale)));
  if (type == "float16")
    return f16ToFloat(floatToF16(static_cast<float>(scale)));
  return static_cast<float>(scale);
}

double yarnMagnitude(double factor, double scale) {
  return factor > 1 ? 0.1 * scale * std::log(factor) + 1 : 1;
}

Status setLatentSizes(ModelConfig &config, const LatentSizes &sizes,
                      const FieldFailure &failure) {
  const LatentConfig &latent = config.latent;
  // Kernels multiply heads by whole tiles.
  constexpr int64_t tile = 16;
  const std::pair<const std::string &, int64_t> multiples[] = {
      {sizes.names.rank, latent.rank},
      {sizes.names.plainDim, latent.plainDim},
      {sizes.names.valueDim, latent.valueDim}};
  for (const auto &[name, size] : multiples)
    if (size % tile != 0)
      return failure(StatusCode::Unsupported, name,
                     "gives latent attention parts of " + std::to_string(size) +
                         " elements; multiples of 16 are supported");
  if (sizes.rotaryDim % 2 != 0)
    return failure(StatusCode::InvalidFile, sizes.names.rotaryDim,
                   "is " + std::to_string(sizes.rotaryDim) +
                       "; expected an even number");
  config.numKVHeads = 1;
  config.headDim = latent.rank + sizes.rotaryDim;
  config.rotaryDim = sizes.rotaryDim;
  config.valuesInKeys = latent.rank;
  config.attentionScale =
      1 / std::sqrt(static_cast<double>(latent.plainDim + sizes.rotaryDim));
  return Status::ok();
}

static std::string text(double value) { return describeJson(value); }

Status scaleLatentScores(ModelConfig &config, float tenth,
                         const std::string &name, const FieldFailure &failure) {
  const double magnitude =
      yarnMagnitude(config.ropeScaling.factor, 10.0 * tenth);
  config.attentionScale *= magnitude * magnitude;
  const auto scale = static_cast<float>(config.attentionScale);
  if (std::isfinite(scale) && scale > 0)
    return Status::ok();
  return failure(StatusCode::InvalidFile, name,
                 "gives the scores of attention a factor of " +
                     text(config.attentionScale) +
                     "; expected a positive number of 32 bits");
}

static Status checkHeads(ModelConfig &config, const ConfigFieldNames &names,
                         const FieldFailure &failure) {
  if (config.numHeads % config.numKVHeads != 0)
    return failure(StatusCode::InvalidFile, names.kvHeads,
                   "is " + std::to_string(config.numKVHeads) +
                       ", which does not divide the " +
                       std::to_string(config.numHeads) + " heads of '" +
                       names.heads + "'");
  if (config.headDim == 0) {
    if (config.hiddenSize % config.numHeads != 0)
      return failure(StatusCode::InvalidFile, names.hidden,
                     "is " + std::to_string(config.hiddenSize) +
                         ", not a multiple of the " +
                         std::to_string(config.numHeads) + " heads of '" +
                         names.heads + "', and '" + names.headDim +
                         "' is missing");
    config.headDim = config.hiddenSize / config.numHeads;
  }
  if (config.headDim % 2 != 0 || config.headDim > maxHeadDim)
    return failure(StatusCode::InvalidFile, names.headDim,
                   "is " + std::to_string(config.headDim) +
                       "; expected an even number of at most " +
                       std::to_string(maxHeadDim));
  return Status::ok();
}

/// GGUF has the factors in tensors, which are checked when they are read.
static Status checkLongRope(const ModelConfig &config,
                            const ConfigFieldNames &names,
                            const FieldFailure &failure) {
  const auto pairs = static_cast<size_t>(config.rotaryDim / 2);
  for (const std::vector<double> *factors :
       {&config.ropeScaling.shortFactors, &config.ropeScaling.longFactors})
    if (!factors->empty() && factors->size() != pairs)
      return failure(StatusCode::InvalidFile, names.longFactors,
                     "or its counterpart for short contexts has " +
                         std::to_string(factors->size()) +
                         " elements; expected one per pair of the " +
                         std::to_string(config.rotaryDim) +
                         " rotated values of a head");
  return Status::ok();
}

static Status checkRope(const ModelConfig &config,
                        const ConfigFieldNames &names,
                        const FieldFailure &failure) {
  auto positive = [](double value) {
    return std::isfinite(value) && value > 0;
  };
  if (!positive(config.ropeTheta))
    return failure(StatusCode::InvalidFile, names.theta,
                   "is " + text(config.ropeTheta) +
                       "; expected a positive number");
  const RopeScaling &scaling = config.ropeScaling;
  if (scaling.kind == RopeScaling::Default)
    return Status::ok();
  if (!positive(scaling.attentionFactor))
    return failure(StatusCode::InvalidFile, names.factor,
                   "gives cosines and sines a factor of " +
                       text(scaling.attentionFactor) +
                       "; expected a positive number");
  if (scaling.kind == RopeScaling::LongRope)
    return checkLongRope(config, names, failure);
  if (!positive(scaling.factor))
    return failure(StatusCode::InvalidFile, names.factor,
                   "is " + text(scaling.factor) +
                       "; expected a positive number");
  if (scaling.kind == RopeScaling::Linear ||
      scaling.kind == RopeScaling::Proportional)
    return Status::ok();
  if (scaling.kind == RopeScaling::Yarn) {
    if (positive(scaling.betaSlow) && std::isfinite(scaling.betaFast) &&
        scaling.betaFast > scaling.betaSlow && config.ropeTheta > 1)
      return Status::ok();
    return failure(StatusCode::InvalidFile, names.betaFast,
                   "is " + text(scaling.betaFast) +
                       "; expected a number above the number of rotations of "
                       "slow pairs, which is " +
                       text(scaling.betaSlow));
  }
  if (!positive(scaling.lowFreqFactor))
    return failure(StatusCode::InvalidFile, names.lowFreqFactor,
                   "is " + text(scaling.lowFreqFactor) +
                       "; expected a positive number");
  if (!positive(scaling.highFreqFactor) ||
      scaling.highFreqFactor < scaling.lowFreqFactor)
    return failure(StatusCode::InvalidFile, names.highFreqFactor,
                   "is " + text(scaling.highFreqFactor) +
                       "; expected at least '" + names.lowFreqFactor +
                       "', which is " + text(scaling.lowFreqFactor));
  return Status::ok();
}

Status checkGenerationDefaults(
    GenerationDefaults &defaults,
    const std::function<Status(const char *name, const char *expected)>
        &failure) {
  // NaN is in no range. The least penalty is an f32, as in GGUF.
  auto isIn = [](double value, double least, double most) {
    return value >= least && value <= most;
  };
  if (!isIn(defaults.repetitionPenalty, 0x1p-20, 1e6))
    return failure("repetition_penalty", "a number from 1e-6 to 1e6");
  if (!isIn(defaults.temperature, 0, 1e6))
    return failure("temperature", "a number from 0 to 1e6");
  if (!isIn(defaults.topP, 0, 1) || defaults.topP == 0)
    return failure("top_p", "a number above 0, at most 1");
  if (!isIn(defaults.minP, 0, 1))
    return failure("min_p", "a number from 0 to 1");
  defaults.topK = std::max<int64_t>(defaults.topK, 0);
  return Status::ok();
}

Status completeAndCheck(ModelConfig &config, const ConfigFieldNames &names,
                        const FieldFailure &failure) {
  LLMIR_RETURN_IF_ERROR(checkHeads(config, names, failure));
  if (config.rotaryDim == 0 && !config.learnedPositions)
    config.rotaryDim = config.headDim;
  if (!std::isfinite(config.normEps) || config.normEps <= 0 ||
      config.normEps >= 1)
    return failure(StatusCode::InvalidFile, names.eps,
                   "is " + text(config.normEps) +
                       "; expected a number above 0 and below 1");
  return checkRope(config, names, failure);
}

} // namespace llmir
