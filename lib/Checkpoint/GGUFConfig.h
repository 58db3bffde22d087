//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reader of the configuration in a GGUF file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_GGUFCONFIG_H
#define LLMIR_LIB_CHECKPOINT_GGUFCONFIG_H

#include "ConfigChecks.h"
#include "FamilyTraits.h"
#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Checkpoint/GGUF.h"

namespace llmir {

struct Gemma4Layers;

/// Reads the "<architecture>.*" keys of one file into a ModelConfig.
class GGUFConfig {
public:
  GGUFConfig(const GGUFMetadata &metadata,
             const std::vector<CheckpointTensor> &tensors)
      : metadata(metadata), tensors(tensors) {}

  Expected<ModelConfig> read();

private:
  using Trait = FamilyTraits::Trait;

  Status readArchitecture();
  Status refuseWhatIsNotSupported() const;
  Status readSizes();
  Status readScales();
  Status readScale(double &target, const char *name) const;
  Status readQueryGrowth();
  Status readLayers();
  Status readChunkedLayers();
  Status readWindowedLayers(std::vector<bool> &windowed) const;
  Status readHeads();
  Status checkGPT2Heads() const;
  Status readLatentAttention();
  Status checkLatentCache() const;
  Status readVocabulary();
  Status readRope();
  Status readRopeScaling();
  Status readScalingFactor();
  Status readYarn();
  Status readLongRope();
  Status readExperts();
  Status readExpertGroups();
  Status readExpertWeights();
  Status readSampling();
  Status readPooling();
  Status readRecurrentHeads();
  Status readAttentionInterval();
  Status readRecurrent();
  Status readMambaTraits();
  Status readShortConv();
  // GGUFGemma4.cpp
  Expected<std::vector<int64_t>> sizePerLayer(const std::string &key,
                                              int64_t max) const;
  Status readInnerSizes();
  Status readGemma4Heads();
  Status readLayerEmbeddings();
  Status readGemma4Layers();
  Status checkGemma4Experts() const;
  Status readKVHeadsOfKinds(Gemma4Layers &given) const;
  Status readTokens();
  void readTensorTraits();
  Status check();

  /// "llama." + name.
  std::string key(const char *name) const { return prefix + name; }
  std::string epsKey() const {
    return key(config.learnedPositions || has(Trait::UsesLayerNorm)
                   ? "attention.layer_norm_epsilon"
                   : "attention.layer_norm_rms_epsilon");
  }
  const CheckpointTensor *tensor(std::string_view name) const;
  std::string_view typeOfTable(std::string_view name) const;
  Expected<int64_t> sameInEveryLayer(const std::string &key, int64_t max) const;
  Status unsupported(const std::string &key, const std::string &problem,
                     const std::string &advice = {}) const {
    return metadata.failure(StatusCode::Unsupported, key, problem, advice);
  }

  bool has(Trait trait) const { return family->has(trait); }

  const GGUFMetadata &metadata;
  const std::vector<CheckpointTensor> &tensors;
  const FamilyTraits *family = nullptr; ///< Set by readArchitecture().
  std::string prefix;
  std::string factorKey;
  ModelConfig config;
};

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_GGUFCONFIG_H
