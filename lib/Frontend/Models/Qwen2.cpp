//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen1.5, Qwen2 and Qwen2.5: the family, and QWen with explicit attention.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/QWen.h"

using namespace mllm;
using namespace mllm::models;

QWenConfig::QWenConfig() {
  vocabSize = 151936;
  hiddenSize = 1536;
  intermediateSize = 8960;
  numLayers = 28;
  numHeads = 12;
  numKVHeads = 2;
  rmsNormEps = 1e-6;
  ropeTheta = 1e6;
  tieWordEmbeddings = true;
}

llmir::Expected<QWenConfig> QWenConfig::fromFile(const std::string &path) {
  QWenConfig config;
  llmir::Expected<llmir::ModelConfig> found = config.read(path, "qwen2");
  if (!found)
    return found.takeStatus();
  return config;
}

static DecoderConfig withBiases(DecoderConfig config) {
  config.qkvBias = true;
  return config;
}

QWenForCausalLM::QWenForCausalLM(const QWenConfig &config)
    : ExplicitDecoder(withBiases(config.decoder(config.check())),
                      config.check(), DecoderForm()) {}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(withBiases(config), DecoderForm());
}

const ModelFamily models::qwen2Family = {"qwen2", "Qwen2ForCausalLM", build};
