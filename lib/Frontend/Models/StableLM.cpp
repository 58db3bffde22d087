//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableLM (Bellagente et al. 2024, arXiv:2402.17834): LayerNorm, rotation of a
// part of each head. In models with a parallel residual stream, attention and
// MLP have the same norm.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.usesLayerNorm = form.normBias = true;
  if (config.parallelResidual)
    form.names.mlpNorm = "";
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::stableLMFamily = {"stablelm", "StableLmForCausalLM",
                                            build};
