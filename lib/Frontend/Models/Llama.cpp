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

/// Llama 1 to 3.x, TinyLlama, SmolLM2, Yi, Mistral, and other models of this
/// architecture; biases and windows are given by the config.
static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, DecoderForm());
}

const ModelFamily models::llamaFamily = {"llama", "LlamaForCausalLM", build};
