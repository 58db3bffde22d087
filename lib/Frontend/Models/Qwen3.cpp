//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen3: the family, and the class with explicit attention.
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Qwen3.h"

#include "FamilyTable.h"

using namespace mllm;
using namespace mllm::models;

Qwen3Config::Qwen3Config() {
  vocabSize = 151936;
  hiddenSize = 1024;
  intermediateSize = 3072;
  numLayers = 28;
  numHeads = 16;
  numKVHeads = 8;
  headSize = 128;
  rmsNormEps = 1e-6;
  ropeTheta = 1e6;
  tieWordEmbeddings = true;
}

llmir::Expected<Qwen3Config> Qwen3Config::fromFile(const std::string &path) {
  Qwen3Config config;
  llmir::Expected<llmir::ModelConfig> found = config.read(path, "qwen3");
  if (!found)
    return found.takeStatus();
  config.qkvBias = found->qkvBias;
  config.outputBias = found->attentionOutputBias;
  return config;
}

static DecoderForm form() {
  DecoderForm result;
  result.qkNorm = DecoderForm::QKNorm::Heads;
  return result;
}

static DecoderConfig withBiases(const Qwen3Config &config) {
  DecoderConfig result = config.decoder(config.check());
  result.qkvBias = config.qkvBias;
  result.attentionOutputBias = config.outputBias;
  return result;
}

Qwen3ForCausalLM::Qwen3ForCausalLM(const Qwen3Config &config)
    : ExplicitDecoder(withBiases(config), config.check(), form()) {}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::qwen3Family = {"qwen3", "Qwen3ForCausalLM", build};
