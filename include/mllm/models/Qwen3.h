//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen3 (Yang et al. 2025, arXiv:2505.09388) with explicit attention: Llama
// with an RMSNorm over each head of queries and keys, and a head size of its
// own.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_QWEN3_H
#define MLLM_MODELS_QWEN3_H

#include "mllm/models/Llama.h"

namespace mllm::models {

/// The defaults are those of Qwen3-0.6B.
struct Qwen3Config : RotaryConfig {
  bool qkvBias = false, outputBias = false;

  Qwen3Config();
  /// Returns InvalidArgument, naming the field, for invalid sizes.
  llmir::Status check() const { return checkAs("Qwen3Config"); }
  /// The config of a checkpoint: a Hugging Face model directory or a .gguf file
  /// of a Qwen3 model.
  static llmir::Expected<Qwen3Config> fromFile(const std::string &path);
};

/// ids [B, T] -> logits [B, T, vocabulary]
class Qwen3ForCausalLM : public ExplicitDecoder {
public:
  explicit Qwen3ForCausalLM(const Qwen3Config &config);
};

} // namespace mllm::models

#endif // MLLM_MODELS_QWEN3_H
