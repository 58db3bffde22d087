//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen3 (Yang et al. 2025, arXiv:2505.09388): Llama with an RMSNorm over each
// head of queries and keys, and a head size of its own.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Llama.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  LlamaVariant variant;
  variant.qkvBias = config.qkvBias;
  variant.outputBias = config.attentionOutputBias;
  variant.qkNorm = true;
  return std::make_unique<LlamaForCausalLM>(config, variant);
}

const ModelFamily models::qwen3Family = {"qwen3", "Qwen3ForCausalLM", build};
