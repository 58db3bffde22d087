//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families, one per file; Families.cpp lists them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H
#define LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H

#include "mllm/models/Families.h"

namespace mllm::models {

extern const ModelFamily bertFamily;
extern const ModelFamily cohereFamily;
extern const ModelFamily cohere2Family;
extern const ModelFamily exaone4Family;
extern const ModelFamily gemmaFamily;
extern const ModelFamily gemma2Family;
extern const ModelFamily gemma3Family;
extern const ModelFamily gemma4Family;
extern const ModelFamily deepSeekFamily;
extern const ModelFamily gemmaEmbeddingFamily;
extern const ModelFamily glm4Family;
extern const ModelFamily glm4MoEFamily;
extern const ModelFamily gpt2Family;
extern const ModelFamily gptNeoXFamily;
extern const ModelFamily gptOssFamily;
extern const ModelFamily graniteFamily;
extern const ModelFamily graniteHybridFamily;
extern const ModelFamily graniteMoEFamily;
extern const ModelFamily internLM2Family;
extern const ModelFamily lfm2Family;
extern const ModelFamily lfm2MoEFamily;
extern const ModelFamily llamaFamily;
extern const ModelFamily llama4Family;
extern const ModelFamily ministral3Family;
extern const ModelFamily mistral4Family;
extern const ModelFamily modernBERTFamily;
extern const ModelFamily nomicBERTFamily;
extern const ModelFamily olmo2Family;
extern const ModelFamily olmoEFamily;
extern const ModelFamily phi3Family;
extern const ModelFamily qwen2Family;
extern const ModelFamily qwen2MoEFamily;
extern const ModelFamily qwen3Family;
extern const ModelFamily qwen3MoEFamily;
extern const ModelFamily qwen35Family;
extern const ModelFamily qwen35MoEFamily;
extern const ModelFamily qwen3NextFamily;
extern const ModelFamily seedOSSFamily;
extern const ModelFamily smolLM3Family;
extern const ModelFamily stableLMFamily;

} // namespace mllm::models

#endif // LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H
