//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen2 and Qwen2.5 (Yang et al. 2024, arXiv:2407.10671) with
// explicit attention: Llama with biases on the projections of queries, keys and
// values.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_QWEN_H
#define MLLM_MODELS_QWEN_H

#include "mllm/models/Llama.h"

namespace mllm::models {

/// The defaults are those of Qwen2.5-1.5B.
struct QWenConfig : RotaryConfig {
  QWenConfig();
  /// Returns InvalidArgument, naming the field, for invalid sizes.
  llmir::Status check() const { return checkAs("QWenConfig"); }
  /// The config of a checkpoint: a Hugging Face model directory or a .gguf file
  /// of a Qwen2 model.
  static llmir::Expected<QWenConfig> fromFile(const std::string &path);
};

/// ids [B, T] -> logits [B, T, vocabulary]
class QWenForCausalLM : public ExplicitDecoder {
public:
  explicit QWenForCausalLM(const QWenConfig &config);
};

} // namespace mllm::models

#endif // MLLM_MODELS_QWEN_H
