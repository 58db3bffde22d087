//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Command R (Cohere 2024) and Command R7B, Command A (arXiv:2504.00698):
// LayerNorm without bias, attention and MLP side by side with the same norm,
// rotation of adjacent pairs, scaled logits.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.usesLayerNorm = true;
  form.names.mlpNorm = "";
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::cohereFamily = {"command-r", "CohereForCausalLM",
                                          build};
const ModelFamily models::cohere2Family = {"cohere2", "Cohere2ForCausalLM",
                                           build};
