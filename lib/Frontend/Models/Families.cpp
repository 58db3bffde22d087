//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

using namespace mllm::models;

const std::vector<const ModelFamily *> &mllm::models::modelFamilies() {
  static const std::vector<const ModelFamily *> families = {
      &bertFamily,      &cohere2Family,       &cohereFamily,
      &deepSeekFamily,  &exaone4Family,       &gemma2Family,
      &gemma3Family,    &gemma4Family,        &gemmaEmbeddingFamily,
      &gemmaFamily,     &glm4Family,          &glm4MoEFamily,
      &gpt2Family,      &gptNeoXFamily,       &gptOssFamily,
      &graniteFamily,   &graniteHybridFamily, &graniteMoEFamily,
      &internLM2Family, &lfm2Family,          &lfm2MoEFamily,
      &llama4Family,    &llamaFamily,         &ministral3Family,
      &mistral4Family,  &modernBERTFamily,    &nomicBERTFamily,
      &olmo2Family,     &olmoEFamily,         &phi3Family,
      &qwen2Family,     &qwen2MoEFamily,      &qwen35Family,
      &qwen35MoEFamily, &qwen3Family,         &qwen3MoEFamily,
      &qwen3NextFamily, &seedOSSFamily,       &smolLM3Family,
      &stableLMFamily,
  };
  return families;
}

const ModelFamily *
mllm::models::findModelFamily(std::string_view architecture) {
  for (const ModelFamily *family : modelFamilies())
    if (family->architecture == architecture)
      return family;
  return nullptr;
}
