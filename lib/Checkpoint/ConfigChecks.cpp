//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"

#include <cmath>

namespace llmir {

namespace {
struct Architecture {
  std::string_view modelType, family;
};
} // namespace

/// Mistral is Llama if its window covers the context. GGUF has families only.
static constexpr Architecture architectures[] = {
    {"gpt2", "gpt2"},   {"llama", "llama"}, {"mistral", "llama"},
    {"qwen2", "qwen2"}, {"qwen3", "qwen3"},
};

std::string supportedModelTypes() {
  std::string names;
  for (const Architecture &each : architectures)
    names += (names.empty() ? "" : ", ") + std::string(each.modelType);
  return names;
}

std::string supportedFamilies() {
  std::string names;
  for (const Architecture &each : architectures)
    if (each.modelType == each.family)
      names += (names.empty() ? "" : ", ") + std::string(each.family);
  return names;
}

std::optional<std::string> familyOf(std::string_view modelType) {
  for (const Architecture &each : architectures)
    if (each.modelType == modelType)
      return std::string(each.family);
  return std::nullopt;
}

static std::string text(double value) { return describeJson(value); }

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
  if (!positive(scaling.factor))
    return failure(StatusCode::InvalidFile, names.factor,
                   "is " + text(scaling.factor) +
                       "; expected a positive number");
  if (scaling.kind == RopeScaling::Linear)
    return Status::ok();
  if (!positive(scaling.lowFreqFactor))
    return failure(StatusCode::InvalidFile, names.lowFreqFactor,
                   "is " + text(scaling.lowFreqFactor) +
                       "; expected a positive number");
  if (!positive(scaling.highFreqFactor) ||
      scaling.highFreqFactor <= scaling.lowFreqFactor)
    return failure(StatusCode::InvalidFile, names.highFreqFactor,
                   "is " + text(scaling.highFreqFactor) +
                       "; expected a number above '" + names.lowFreqFactor +
                       "', which is " + text(scaling.lowFreqFactor));
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
