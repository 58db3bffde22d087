//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text part of Llama 4 (Meta AI 2025). Three layers of four rotate queries
// and keys, normalize them, and attend in chunks; the fourth does not rotate,
// attends to all tokens, and scales its queries with their position. A token
// has one expert, whose input is scaled, and an MLP that all tokens share.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  DecoderForm form;
  form.names.mlp = "feed_forward";
  form.names.router = "router";
  form.names.expertGate = "experts.gate";
  form.names.expertUp = "experts.up";
  form.names.expertDown = "experts";
  form.names.expertOpening = "gate_up_proj";
  form.names.expertClosing = "down_proj";
  form.experts = DecoderForm::Experts::Stacked;
  form.transposesExperts = true;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::llama4Family = {
    "llama4",
    "Llama4ForCausalLM",
    build,
    {{"feed_forward.gate_proj", "ffn_gate"},
     {"feed_forward.up_proj", "ffn_up"},
     {"feed_forward.down_proj", "ffn_down"},
     {"feed_forward.router", "ffn_gate_inp"},
     {"feed_forward.experts.gate.gate_up_proj", "ffn_gate_exps.weight"},
     {"feed_forward.experts.up.gate_up_proj", "ffn_up_exps.weight"},
     {"feed_forward.experts.down_proj", "ffn_down_exps.weight"},
     {"feed_forward.shared_expert.gate_proj", "ffn_gate_shexp"},
     {"feed_forward.shared_expert.up_proj", "ffn_up_shexp"},
     {"feed_forward.shared_expert.down_proj", "ffn_down_shexp"}}};
