//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reader of config.json.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_HUGGINGFACECONFIG_H
#define LLMIR_LIB_CHECKPOINT_HUGGINGFACECONFIG_H

#include "ConfigChecks.h"
#include "FamilyTraits.h"

#include "llmir/Support/Json.h"

namespace llmir {

/// Reads one config.json into a ModelConfig, group by group.
class HuggingFaceConfig {
public:
  /// `whole`: of a multimodal model, of which `json` is the text part.
  HuggingFaceConfig(const JsonReader &json, bool hasOutputProjection,
                    const JsonReader *whole = nullptr)
      : json(json), hasOutputProjection(hasOutputProjection), whole(whole) {}

  Expected<ModelConfig> read(const Json *generation);
  /// Reads the properties that models of all architectures have.
  Expected<ModelConfig> readOfAny(const Json *generation);

private:
  using Trait = FamilyTraits::Trait;

  Status readArchitecture();
  Status readSizes();
  /// With the keys of GPT-2, which other models have as well.
  Status readSizesOfGPT2Names(double usualEps);
  Status readGPT2Sizes();
  Status readGPT2Switches();
  Status readDirections();
  Status readTokens(const Json *generation);
  Status readGeneration(const JsonReader &generation);
  Status check();

  // HuggingFaceLatent.cpp
  Status readLatentAttention();

  // HuggingFaceSwitches.cpp
  Status readSwitches();
  Status readActivation();
  Status readBiases();
  Status readScales();
  Status readScale(double &target, std::string_view key, double otherwise);

  // HuggingFaceEncoders.cpp
  Status readBERT();
  Status readFirstPosition();
  Status readNomicBERT();
  Status checkNomicSwitches();
  Status readModernBERT();
  Status readModernBERTLayers();

  // HuggingFaceExperts.cpp
  Status readExperts();
  Status readRoutedExperts();
  Status readLimitedExperts();
  Status readExpertGroups();
  Status readGptOss();
  Status readBiasedExperts();
  Status readExpertLayers();
  Status readLayerTypesOfMLPs();

  // HuggingFaceGemma4.cpp
  Status readGemma4();
  Status readLayerEmbeddings();
  Status readGemma4Rope();
  Status readGemma4Layers();
  Status readDoubledMLPs();

  // HuggingFaceLlama4.cpp
  Status checkLength(const char *key, size_t length) const;
  Status readChunkedLayers();
  Status readQueryScales();
  Status readLlama4Experts();

  // HuggingFaceRecurrent.cpp
  Status readAdjustedInnerSize();
  Status readRecurrentLayers();
  Status readLayerKinds(std::vector<bool> &recurrent) const;
  Status readAttentionLayers(std::vector<bool> &recurrent) const;
  Status readShortConv();
  Status readMamba2();
  Status readDeltaNet();

  // HuggingFaceAttention.cpp
  Status readLayers();
  Status readWindow(int64_t &window) const;
  Status readWindowedLayers(int64_t window, std::vector<bool> &windowed) const;
  Status readWindowPeriod(int64_t &period) const;
  Status readRotatedLayers();
  Status readRotationList();
  Status readRope();
  Status readRopeGroup(const JsonReader &rope);
  Status readLocalRope();
  Status readRopeScaling(const JsonReader &rope, bool typeRequired);
  Status readLlama3(const JsonReader &rope);
  Status readYarn(const JsonReader &rope);
  Status readLongRope(const JsonReader &rope);
  Status readFactors(const JsonReader &rope, std::string_view key,
                     std::vector<double> &factors) const;
  Status readOriginalContext(const JsonReader &rope);
  Status readRotaryShare(const JsonReader &where, double &share) const;
  Status readQueryGrowth(const JsonReader &rope);

  bool isLFM2() const {
    return config.architecture == "lfm2" || config.architecture == "lfm2moe";
  }
  const char *epsKey() const {
    return config.architecture == "gpt2" ? "layer_norm_epsilon"
           : isLFM2()                    ? "norm_eps"
           : has(Trait::UsesLayerNorm)   ? "layer_norm_eps"
                                         : "rms_norm_eps";
  }
  bool has(Trait trait) const { return family->has(trait); }
  Status unsupported(const JsonReader &where, std::string_view key,
                     const std::string &problem,
                     const std::string &advice = {}) const {
    return where.failure(StatusCode::Unsupported, key, problem, advice);
  }

  const JsonReader &json;
  bool hasOutputProjection;
  const JsonReader *whole;
  const FamilyTraits *family = nullptr; ///< Set by readArchitecture().
  std::string ropePath; ///< "rope_scaling." or "rope_parameters.".
  std::string thetaName = "rope_theta";
  ModelConfig config;
};

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_HUGGINGFACECONFIG_H
