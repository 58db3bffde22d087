//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the configs of models with explicit attention have in common: plain
// fields with the sizes of a published model, which fromFile() takes from a
// checkpoint instead.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_CONFIG_H
#define MLLM_MODELS_CONFIG_H

#include "mllm/models/Families.h"

#include <algorithm>
#include <string>
#include <vector>

namespace mllm::models {

/// Sizes of any decoder.
struct CausalLMConfig {
  int64_t vocabSize = 0;
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t numLayers = 0;
  int64_t numHeads = 0;
  bool tieWordEmbeddings =
      false; ///< The output projection shares the embedding.
};

/// Sizes of Llama and its derivatives.
struct RotaryConfig : CausalLMConfig {
  int64_t numKVHeads = 0;
  int64_t headSize = 0; ///< Elements per head; 0: hiddenSize / numHeads.
  double rmsNormEps = 0;
  double ropeTheta = 0;
  /// Angle per position of each rotated pair in radians; empty: from ropeTheta.
  std::vector<double> ropeFrequencies;
  double ropeFactor = 1; ///< Of cosines and sines.
  /// Windows and rotation of layers; empty: all attend to all tokens.
  std::vector<llmir::LayerAttention> layers;

  int64_t headDim() const {
    return headSize > 0 ? headSize
                        : hiddenSize / std::max<int64_t>(numHeads, 1);
  }
  /// The config of the modules; empty if `checked` is a failure.
  DecoderConfig decoder(const llmir::Status &checked) const;

protected:
  /// Returns InvalidArgument, naming the class and the field, for invalid
  /// sizes.
  llmir::Status checkAs(const char *className) const;
  /// Reads the sizes from a checkpoint (a Hugging Face model directory or a
  /// .gguf file) of this architecture.
  llmir::Expected<llmir::ModelConfig> read(const std::string &path,
                                           const char *architecture);
};

// For check() and fromFile() of configs.
namespace detail {

llmir::Status refuseConfig(const char *className, const std::string &what);
/// Checks that sizes are positive and less than 2^31.
llmir::Status
checkSizes(const char *className,
           const std::vector<std::pair<const char *, int64_t>> &sizes);
/// Returns Unsupported for a checkpoint of a different architecture.
llmir::Status checkArchitecture(const std::string &path,
                                const llmir::ModelConfig &config,
                                const char *architecture);

} // namespace detail

} // namespace mllm::models

#endif // MLLM_MODELS_CONFIG_H
