//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits and cross-field checks shared by both readers of configurations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_CONFIGCHECKS_H
#define LLMIR_LIB_CHECKPOINT_CONFIGCHECKS_H

#include "FamilyTraits.h"
#include "llmir/Checkpoint/ModelConfig.h"

#include <functional>
#include <vector>

namespace llmir {

// The maximum accepted sizes. Every product of three of them (rows, columns,
// bytes) fits into 64 bits.
constexpr int64_t maxVocabSize = int64_t(1) << 24;
constexpr int64_t maxHiddenSize = int64_t(1) << 20;
constexpr int64_t maxIntermediateSize = int64_t(1) << 24;
constexpr int64_t maxLayers = 512;
constexpr int64_t maxHeads = 4096;
constexpr int64_t maxHeadDim = 4096;
constexpr int64_t maxExperts = 4096;
constexpr int64_t maxConvTaps = 64;
constexpr int64_t maxContext = int64_t(1) << 30;

/// The names of a format's fields, for messages.
struct ConfigFieldNames {
  std::string heads, kvHeads, headDim, hidden, eps, theta, factor,
      lowFreqFactor, highFreqFactor, betaFast, longFactors;
};

/// Makes a Status about a field: (code, field, problem).
using FieldFailure = std::function<Status(StatusCode, const std::string &field,
                                          const std::string &problem)>;

/// Derives headDim from hiddenSize / numHeads if it is 0, then checks every
/// rule that relates fields to each other or that both formats share.
Status completeAndCheck(ModelConfig &config, const ConfigFieldNames &names,
                        const FieldFailure &failure);

/// Checks the ranges of sampling parameters, and replaces a topK of -1 (all) by
/// 0. `failure`: a Status for a field of generation_config.json and what its
/// value should be.
Status completeGenerationDefaults(
    GenerationDefaults &defaults,
    const std::function<Status(const char *name, const char *expected)>
        &failure);

/// What both formats specify about latent attention, besides
/// ModelConfig::latent.
struct LatentSizes {
  int64_t rotaryDim = 0; ///< Elements of a key that are rotated.
  /// The names of the fields, for messages.
  struct {
    std::string rank, plainDim, valueDim, rotaryDim;
  } names;
};

/// Derives the sizes of the cache and the scale of scores from those of latent
/// attention, or reports the field that is not supported.
Status setLatentSizes(ModelConfig &config, const LatentSizes &sizes,
                      const FieldFailure &failure);
/// Multiplies the scale of scores by the square of YaRN's magnitude, as
/// DeepSeek's models do. `tenth` is a tenth of mscale_all_dim, as f32 as in
/// GGUF, so that a model computes the same from both formats. InvalidFile,
/// about the field `name`, if the scale is no longer a positive f32.
Status scaleLatentScores(ModelConfig &config, float tenth,
                         const std::string &name, const FieldFailure &failure);

/// What is wrong with the groups of experts, as the end of a sentence about
/// their number; empty if they divide the experts and suffice for a token.
std::string problemOfGroups(const ExpertsConfig &experts);

/// The attention of each layer from the window and the layers that have it;
/// empty if all layers attend to all tokens and are rotated alike.
std::vector<LayerAttention> layersOf(const ModelConfig &config,
                                     const FamilyTraits &family, int64_t window,
                                     const std::vector<bool> &windowed);
/// Whether a layer attends to a part of the tokens.
bool hasWindows(const ModelConfig &config);

/// sqrt(hiddenSize), rounded to the type ("bfloat16") of the weights with which
/// the model was trained.
double embeddingScale(int64_t hiddenSize, std::string_view type);

/// YaRN's magnitude of cosines and sines: 0.1 * scale * ln(factor) + 1.
double yarnMagnitude(double factor, double scale);

/// Moves an Expected's value to `target` or returns its failure.
#define LLMIR_ASSIGN_OR_RETURN(target, expression)                             \
  do {                                                                         \
    auto llmirExpected = (expression);                                         \
    if (!llmirExpected)                                                        \
      return llmirExpected.takeStatus();                                       \
    target = std::move(*llmirExpected);                                        \
  } while (false)

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_CONFIGCHECKS_H
