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

/// Names in GGUF depend on whether the MLP is beside a mixture of experts.
static std::unique_ptr<nn::Module> buildHybrid(const DecoderConfig &config) {
  DecoderForm form;
  form.names.recurrent = "mamba";
  form.names.router = "router.layer";
  form.names.expertGate = "input_linear.gate";
  form.names.expertUp = "input_linear.up";
  form.names.expertDown = "output_linear";
  form.experts = DecoderForm::Experts::Stacked;
  form.sharesGateAndUp = form.separatesInGGUF = true;
  form.sharesBesideMixture = true;
  form.names.shared = "shared_mlp";
  const bool isSparse = config.experts.count > 0;
  form.names.mlp = isSparse ? "block_sparse_moe" : "shared_mlp";
  const std::string suffix = isSparse ? "_of_all" : "";
  form.names.gate = "input_linear.gate" + suffix;
  form.names.up = "input_linear.up" + suffix;
  form.names.down = "output_linear.down" + suffix;
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
const ModelFamily models::graniteHybridFamily = {
    "granitehybrid",
    "GraniteMoeHybridForCausalLM",
    buildHybrid,
    {{"block_sparse_moe.router.layer", "ffn_gate_inp"},
     {"block_sparse_moe.input_linear.gate", "ffn_gate_exps"},
     {"block_sparse_moe.input_linear.up", "ffn_up_exps"},
     {"block_sparse_moe.output_linear", "ffn_down_exps"},
     {"shared_mlp.input_linear.gate_of_all", "ffn_gate_shexp"},
     {"shared_mlp.input_linear.up_of_all", "ffn_up_shexp"},
     {"shared_mlp.output_linear.down_of_all", "ffn_down_shexp"},
     {"shared_mlp.input_linear.gate", "ffn_gate"},
     {"shared_mlp.input_linear.up", "ffn_up"},
     {"shared_mlp.output_linear.down", "ffn_down"},
     {"mamba.in_proj", "ssm_in"},
     {"mamba.conv1d", "ssm_conv1d"},
     {"mamba.dt_bias", "ssm_dt.bias"},
     {"mamba.A_log", "ssm_a"},
     {"mamba.D", "ssm_d"},
     {"mamba.norm", "ssm_norm"},
     {"mamba.out_proj", "ssm_out"}}};
