//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Granite 3 and 4 (IBM 2024), dense or with experts: Llama with factors of
// embeddings, scores, residuals and logits, which the config specifies.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, DecoderForm());
}

static std::unique_ptr<nn::Module> buildMoE(const DecoderConfig &config) {
  DecoderForm form;
  form.names.mlp = "block_sparse_moe";
  form.names.router = "router.layer";
  form.names.expertGate = "input_linear.gate";
  form.names.expertUp = "input_linear.up";
  form.names.expertDown = "output_linear";
  form.experts = DecoderForm::Experts::Stacked;
  return std::make_unique<Decoder>(config, form);
}

const ModelFamily models::graniteFamily = {"granite", "GraniteForCausalLM",
                                           build};
const ModelFamily models::graniteMoEFamily = {
    "granitemoe",
    "GraniteMoeForCausalLM",
    buildMoE,
    {{"block_sparse_moe.router.layer", "ffn_gate_inp"},
     {"block_sparse_moe.input_linear.gate", "ffn_gate_exps"},
     {"block_sparse_moe.input_linear.up", "ffn_up_exps"},
     {"block_sparse_moe.output_linear", "ffn_down_exps"}}};
