//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the name of an architecture implies, beyond the keys of its
// configuration.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_FAMILYTRAITS_H
#define LLMIR_LIB_CHECKPOINT_FAMILYTRAITS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir {

struct FamilyTraits {
  enum Trait : uint32_t {
    /// Rows of q and k are stored for rotation of adjacent pairs.
    PairsInFolder = 1 << 0,
    PairsInGGUF = 1 << 1,
    UsesLayerNorm = 1 << 2,   ///< Not RMSNorm.
    UsesGELU = 1 << 3,        ///< The tanh form.
    UsesExactGELU = 1 << 4,   ///< x * Phi(x).
    HasUnitOffset = 1 << 5,   ///< Folders: norms scale by 1 + weight.
    ScalesEmbedding = 1 << 6, ///< By sqrt(hidden size).
    HasQKVBias = 1 << 7,      ///< Always.
    HasOutputBias = 1 << 8,   ///< Where attention_bias is true.
    HasMLPBias = 1 << 9,      ///< Where mlp_bias is true.
    HasQKNorm = 1 << 10,
    /// Layers without a window are not rotated if the others have one.
    FullIsUnrotated = 1 << 11,
    EveryFourthIsUnrotated = 1 << 12,
    /// Layers with a window have rotary frequencies of their own.
    HasLocalRotation = 1 << 13,
    /// Their base is 10,000 where the file does not specify it, not that of the
    /// other layers.
    HasLocalBase = 1 << 20,
    DividesLogits = 1 << 14, ///< GGUF: by logit_scale.
    HasSoftCaps = 1 << 15,
    IsParallel = 1 << 16, ///< See ModelConfig::parallelResidual.
    /// The window starts at layer max_window_layers, if it is used at all.
    WindowIsOptional = 1 << 17,
    HasExperts = 1 << 18, ///< GGUF: if there is a number of them.
    LooksAhead = 1 << 24, ///< Always: see ModelConfig::isBidirectional.
    /// The weights of a token's experts are divided by their sum, where the
    /// file does not specify it.
    NormalizesExperts = 1 << 19,
    HasLatents = 1 << 25, ///< Multi-head latent attention.
    /// Some layers keep a state in place of keys and values.
    KeepsStates = 1 << 26,
    /// The others are every n-th one, unless the file lists them.
    HasAttentionInterval = 1 << 27,
  };

  std::string_view modelType; ///< Of config.json.
  std::string_view family;    ///< general.architecture of GGUF.
  uint32_t traits = 0;
  /// Every n-th layer has no window, where the file does not specify the layers
  /// with one; 0: all have it.
  int64_t windowPeriod = 0;
  double rotaryShare = 1.0; ///< partial_rotary_factor if absent.
  std::string_view outputProjection = "lm_head";

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// The traits of a model type of config.json ("mistral"); null if unknown.
const FamilyTraits *findModelType(std::string_view modelType);
/// The traits of an architecture of GGUF ("llama"); null if unknown.
const FamilyTraits *findFamily(std::string_view architecture);

/// For messages: the supported names that resemble `name` most, "gemma3, gemma2
/// and gemma".
std::string nearestModelTypes(std::string_view name);
std::string nearestFamilies(std::string_view name);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_FAMILYTRAITS_H
