//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model families that can be traced, by architecture.
//
// A new family consists of a file in lib/Frontend/Models with its modules and a
// ModelFamily, and a line in Families.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_FAMILIES_H
#define MLLM_MODELS_FAMILIES_H

#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Frontend/TensorNames.h"
#include "mllm/nn/Module.h"

#include <memory>
#include <string_view>
#include <vector>

namespace mllm::models {

/// The dimensions of a model, and values derived from them and the checkpoint.
struct DecoderConfig : llmir::ModelConfig {
  /// Angle per position of each rotated pair in radians, including all scaling
  /// rules.
  std::vector<double> ropeFrequencies = {};
  /// The same for layers with local rotation.
  std::vector<double> localRopeFrequencies = {};
};

/// The description of a family.
struct ModelFamily {
  std::string_view architecture; ///< As in ModelConfig: "llama".
  std::string_view className;    ///< Hugging Face class: "LlamaForCausalLM".
  std::unique_ptr<nn::Module> (*build)(const DecoderConfig &config);
  /// Names in GGUF that differ from those of other families.
  std::vector<llmir::TensorName> ggufNames = {};
  /// Names in Hugging Face model directories of modules of a layer that have
  /// other ones in the model: `gguf` is the name there.
  std::vector<llmir::TensorName> folderNames = {};
};

/// Every family, in the order of the table.
const std::vector<const ModelFamily *> &modelFamilies();
/// Returns null for an unknown architecture.
const ModelFamily *findModelFamily(std::string_view architecture);

} // namespace mllm::models

#endif // MLLM_MODELS_FAMILIES_H
