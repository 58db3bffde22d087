//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama (Touvron et al. 2023, arXiv:2302.13971 and 2307.09288) with explicit
// attention: a decoder with RMSNorm before each block, rotary positions,
// grouped-query attention and a SwiGLU MLP.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_LLAMA_H
#define MLLM_MODELS_LLAMA_H

#include "mllm/models/Decoder.h"

namespace mllm::models {

/// The defaults are those of TinyLlama-1.1B.
struct LlamaConfig : RotaryConfig {
  bool qkvBias = false, outputBias = false, mlpBias = false;

  LlamaConfig();
  /// Returns InvalidArgument, naming the field, for invalid sizes.
  llmir::Status check() const { return checkAs("LlamaConfig"); }
  /// The config of a checkpoint: a Hugging Face model directory or a .gguf file
  /// of a Llama model.
  static llmir::Expected<LlamaConfig> fromFile(const std::string &path);
};

/// ids [B, T] -> logits [B, T, vocabulary]
class LlamaForCausalLM : public ExplicitDecoder {
public:
  explicit LlamaForCausalLM(const LlamaConfig &config);
};

} // namespace mllm::models

#endif // MLLM_MODELS_LLAMA_H
