//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma 1, 2 and 3, text (arXiv:2403.08295, 2408.00118, 2503.19786): GeGLU,
// scaled embeddings, norms that scale by 1 + weight. Since version 2, the
// results of attention and MLP are normalized, too; since version 3, also
// queries and keys.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm normalizedTwice() {
  DecoderForm form;
  form.names.afterAttention = "post_attention_layernorm";
  form.names.mlpNorm = "pre_feedforward_layernorm";
  form.names.afterMLP = "post_feedforward_layernorm";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, DecoderForm());
}

static std::unique_ptr<nn::Module> build2(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, normalizedTwice());
}

static std::unique_ptr<nn::Module> build3(const DecoderConfig &config) {
  DecoderForm form = normalizedTwice();
  form.qkNorm = DecoderForm::QKNorm::Heads;
  return std::make_unique<Decoder>(config, form);
}

static std::vector<llmir::TensorName> namesOfNorms() {
  return {{"post_attention_layernorm", "post_attention_norm"},
          {"pre_feedforward_layernorm", "ffn_norm"},
          {"post_feedforward_layernorm", "post_ffw_norm"}};
}

const ModelFamily models::gemmaFamily = {"gemma", "GemmaForCausalLM", build};
const ModelFamily models::gemma2Family = {"gemma2", "Gemma2ForCausalLM", build2,
                                          namesOfNorms()};
const ModelFamily models::gemma3Family = {"gemma3", "Gemma3ForCausalLM", build3,
                                          namesOfNorms()};

static std::vector<llmir::TensorName> namesOfEmbedding() {
  std::vector<llmir::TensorName> names = namesOfNorms();
  names.push_back({"2_Dense.linear", "dense_2"});
  names.push_back({"3_Dense.linear", "dense_3"});
  return names;
}

/// EmbeddingGemma (arXiv:2509.20354).
const ModelFamily models::gemmaEmbeddingFamily = {
    "gemma-embedding", "Gemma3TextModel", build3, namesOfEmbedding()};
