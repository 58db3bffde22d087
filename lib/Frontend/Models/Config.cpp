//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Config.h"

#include "../RopeFrequencies.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <cmath>

using namespace mllm::models;
using llmir::Expected;
using llmir::ModelConfig;
using llmir::Status;
using llmir::StatusCode;

Status detail::refuseConfig(const char *className, const std::string &what) {
  return Status(StatusCode::InvalidArgument,
                std::string(className) + ": " + what,
                "use the values of the model's config.json");
}

Status
detail::checkSizes(const char *className,
                   const std::vector<std::pair<const char *, int64_t>> &sizes) {
  for (auto [name, size] : sizes)
    if (size < 1 || size > (int64_t(1) << 31))
      return refuseConfig(className,
                          std::string(name) + " is " + std::to_string(size));
  return Status::ok();
}

Status detail::checkArchitecture(const std::string &path,
                                 const ModelConfig &config,
                                 const char *architecture) {
  if (config.architecture == architecture)
    return Status::ok();
  return Status(StatusCode::Unsupported,
                path + ": the model is of the family " + config.architecture +
                    ", not " + architecture);
}

Status RotaryConfig::checkAs(const char *className) const {
  LLMIR_RETURN_IF_ERROR(
      detail::checkSizes(className, {{"vocabSize", vocabSize},
                                     {"hiddenSize", hiddenSize},
                                     {"intermediateSize", intermediateSize},
                                     {"numLayers", numLayers},
                                     {"numHeads", numHeads},
                                     {"numKVHeads", numKVHeads}}));
  auto refuse = [&](const char *what) {
    return detail::refuseConfig(className, what);
  };
  if (numHeads % numKVHeads != 0)
    return refuse("numHeads is not a multiple of numKVHeads");
  if (headSize < 0 || headSize > (int64_t(1) << 31) || headDim() % 2 != 0 ||
      (headSize == 0 && hiddenSize % numHeads != 0))
    return refuse("headSize, or hiddenSize / numHeads, is not even");
  for (double number : {rmsNormEps, ropeTheta})
    if (!std::isfinite(number) || number <= 0)
      return refuse("rmsNormEps and ropeTheta must be positive numbers");
  if (!layers.empty() && static_cast<int64_t>(layers.size()) != numLayers)
    return refuse("layers does not have one element per layer");
  if (!ropeFrequencies.empty() &&
      static_cast<int64_t>(ropeFrequencies.size()) != headDim() / 2)
    return refuse(
        "ropeFrequencies does not have one element per pair of a head");
  return Status::ok();
}

Expected<ModelConfig> RotaryConfig::read(const std::string &path,
                                         const char *architecture) {
  Expected<llmir::Checkpoint> checkpoint = llmir::Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeStatus();
  const ModelConfig &found = checkpoint->config();
  LLMIR_RETURN_IF_ERROR(detail::checkArchitecture(path, found, architecture));
  Expected<std::vector<double>> frequencies =
      llmir::ropeFrequencies(*checkpoint);
  if (!frequencies)
    return frequencies.takeStatus();
  vocabSize = found.vocabSize;
  hiddenSize = found.hiddenSize;
  intermediateSize = found.intermediateSize;
  numLayers = found.numLayers;
  numHeads = found.numHeads;
  tieWordEmbeddings = found.tieWordEmbeddings;
  numKVHeads = found.numKVHeads;
  headSize = found.headDim;
  rmsNormEps = found.normEps;
  ropeTheta = found.ropeTheta;
  ropeFrequencies = std::move(*frequencies);
  ropeFactor = found.ropeScaling.attentionFactor;
  layers = found.layers;
  return found;
}

DecoderConfig RotaryConfig::decoder(const Status &checked) const {
  DecoderConfig config;
  if (!checked)
    return config;
  config.vocabSize = vocabSize;
  config.hiddenSize = hiddenSize;
  config.intermediateSize = intermediateSize;
  config.numLayers = numLayers;
  config.numHeads = numHeads;
  config.numKVHeads = numKVHeads;
  config.headDim = config.rotaryDim = headDim();
  config.normEps = rmsNormEps;
  config.ropeTheta = ropeTheta;
  config.tieWordEmbeddings = tieWordEmbeddings;
  config.ropeScaling.attentionFactor = ropeFactor;
  config.layers = layers;
  config.ropeFrequencies = ropeFrequencies.empty()
                               ? llmir::ropeFrequencies(config, {})
                               : ropeFrequencies;
  return config;
}
