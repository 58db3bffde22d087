//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// EXAONE 4 (arXiv:2507.11407): norms of the results of attention and MLP, and
// of each head of queries and keys.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm form;
  form.names.attentionNorm = form.names.mlpNorm = "";
  form.names.afterAttention = "post_attention_layernorm";
  form.names.afterMLP = "post_feedforward_layernorm";
  form.qkNorm = DecoderForm::QKNorm::Heads;
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::exaone4Family = {
    "exaone4",
    "Exaone4ForCausalLM",
    build,
    {{"post_attention_layernorm", "post_attention_norm"},
     {"post_feedforward_layernorm", "post_ffw_norm"}}};
