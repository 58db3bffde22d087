//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phi-3, Phi-3.5 and Phi-4 (Abdin et al. 2024, arXiv:2404.14219 and
// 2412.08905): queries, keys and values share a tensor, and so do gate and up
// projection.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

static DecoderForm form() {
  DecoderForm form;
  form.qkv = form.qkvInGGUF = DecoderForm::Rows::Consecutive;
  form.sharesGateAndUp = true;
  form.names.query = "qkv_proj.q";
  form.names.key = "qkv_proj.k";
  form.names.value = "qkv_proj.v";
  form.names.gate = "gate_up_proj.gate";
  form.names.up = "gate_up_proj.up";
  return form;
}

static std::unique_ptr<nn::Module> build(const DecoderConfig &config) {
  return std::make_unique<Decoder>(config, form());
}

const ModelFamily models::phi3Family = {
    "phi3",
    "Phi3ForCausalLM",
    build,
    {{"self_attn.qkv_proj", "attn_qkv"}, {"mlp.gate_up_proj", "ffn_up"}}};
