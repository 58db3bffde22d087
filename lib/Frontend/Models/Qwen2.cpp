//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen2 and Qwen2.5 (Yang et al. 2024, arXiv:2407.10671): Llama with biases on
// the projections of queries, keys and values.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Llama.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  LlamaVariant variant;
  variant.qkvBias = true;
  return std::make_unique<LlamaForCausalLM>(config, variant);
}

const ModelFamily models::qwen2Family = {"qwen2", "Qwen2ForCausalLM", build};
