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
// A new family is one file in lib/Frontend/Models with its modules and a
// ModelFamily, and a line in Families.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_FAMILIES_H
#define MLLM_MODELS_FAMILIES_H

#include "llmir/Checkpoint/ModelConfig.h"
#include "mllm/nn/Module.h"

#include <memory>
#include <string_view>
#include <vector>

namespace mllm::models {

/// A model's dimensions, and what was derived from them and the checkpoint.
struct DecoderConfig : llmir::ModelConfig {
  /// Radians per position of each rotated pair, every scaling rule included.
  std::vector<double> ropeFrequencies;
};

/// A family, as the file that defines it describes it.
struct ModelFamily {
  std::string_view architecture; ///< As ModelConfig has it: "llama".
  std::string_view className;    ///< Hugging Face's: "LlamaForCausalLM".
  std::unique_ptr<nn::Module> (*build)(const DecoderConfig &config);
};

/// Every family, in the order of the table.
const std::vector<const ModelFamily *> &modelFamilies();
/// Null for an architecture that no family describes.
const ModelFamily *findModelFamily(std::string_view architecture);

} // namespace mllm::models

#endif // MLLM_MODELS_FAMILIES_H
