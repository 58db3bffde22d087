//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "mllm/models/Llama.h"

#include "FamilyTable.h"

using namespace mllm;
using namespace mllm::models;

LlamaConfig::LlamaConfig() {
  vocabSize = 32000;
  hiddenSize = 2048;
  intermediateSize = 5632;
  numLayers = 22;
  numHeads = 32;
  numKVHeads = 4;
  rmsNormEps = 1e-5;
  ropeTheta = 1e4;
}

llmir::Expected<LlamaConfig> LlamaConfig::fromFile(const std::string &path) {
  LlamaConfig config;
  llmir::Expected<llmir::ModelConfig> found = config.read(path, "llama");
  if (!found)
    return found.takeStatus();
  config.qkvBias = found->qkvBias;
  config.outputBias = found->attentionOutputBias;
  config.mlpBias = found->mlpBias;
  return config;
}

static DecoderConfig withBiases(const LlamaConfig &config) {
  DecoderConfig result = config.decoder(config.check());
  result.qkvBias = config.qkvBias;
  result.attentionOutputBias = config.outputBias;
  result.mlpBias = config.mlpBias;
  return result;
}

LlamaForCausalLM::LlamaForCausalLM(const LlamaConfig &config)
    : ExplicitDecoder(withBiases(config), config.check(), DecoderForm()) {}

/// The names of Mixtral (Jiang et al. 2024, arXiv:2401.04088), the model of
/// this architecture with experts.
static DecoderForm mixtralForm() {
  DecoderForm form;
  form.names.mlp = "block_sparse_moe";
  form.names.expertGate = "experts.w1";
  form.names.expertUp = "experts.w3";
  form.names.expertDown = "experts.w2";
  return form;
}

/// Llama 1 to 3.x, TinyLlama, SmolLM2, Yi, Mistral, Mixtral, and other models
/// of this architecture; biases and windows are given by the config.
static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(
      config, config.experts.count > 0 ? mixtralForm() : DecoderForm());
}

const ModelFamily models::llamaFamily = {
    "llama",
    "LlamaForCausalLM",
    build,
    {{"block_sparse_moe.gate", "ffn_gate_inp"},
     {"block_sparse_moe.experts.w1", "ffn_gate_exps"},
     {"block_sparse_moe.experts.w3", "ffn_up_exps"},
     {"block_sparse_moe.experts.w2", "ffn_down_exps"}}};
