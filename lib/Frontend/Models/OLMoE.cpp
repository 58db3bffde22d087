//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OLMoE (Muennighoff et al. 2024, arXiv:2409.02060): Llama with a mixture of
// experts in each layer; all queries of a token are normalized together, and
// all its keys.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.qkNorm = DecoderForm::QKNorm::Rows;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::olmoEFamily = {"olmoe", "OlmoeForCausalLM", build};
