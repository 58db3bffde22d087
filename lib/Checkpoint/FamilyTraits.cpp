//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FamilyTraits.h"

#include "llmir/Support/NearestNames.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace llmir;

using Is = FamilyTraits;

/// Names of GGUF in the order of their first row.
static constexpr FamilyTraits table[] = {
    {"gpt2", "gpt2"},
    {"llama", "llama",
     Is::PairsInGGUF | Is::HasOutputBias | Is::HasMLPBias | Is::HasExperts |
         Is::NormalizesExperts},
    {"mistral", "llama", Is::PairsInGGUF},
    {"mixtral", "llama",
     Is::PairsInGGUF | Is::HasExperts | Is::NormalizesExperts},
    {"qwen2", "qwen2", Is::HasQKVBias | Is::WindowIsOptional},
    {"qwen3", "qwen3",
     Is::HasQKNorm | Is::HasOutputBias | Is::WindowIsOptional},
    {"qwen2_moe", "qwen2moe",
     Is::HasQKVBias | Is::WindowIsOptional | Is::HasExperts},
    {"qwen3_moe", "qwen3moe",
     Is::HasQKNorm | Is::HasOutputBias | Is::WindowIsOptional | Is::HasExperts |
         Is::NormalizesExperts},
    {"qwen3_next", "qwen3next",
     Is::HasQKNorm | Is::HasUnitOffset | Is::HasExperts |
         Is::NormalizesExperts | Is::KeepsStates | Is::HasAttentionInterval,
     0, 0.25},
    {"qwen3_5_text", "qwen35",
     Is::HasQKNorm | Is::HasUnitOffset | Is::KeepsStates |
         Is::HasAttentionInterval,
     0, 0.25},
    {"qwen3_5_moe_text", "qwen35moe",
     Is::HasQKNorm | Is::HasUnitOffset | Is::HasExperts |
         Is::NormalizesExperts | Is::KeepsStates | Is::HasAttentionInterval,
     0, 0.25},
    {"smollm3", "smollm3",
     Is::PairsInGGUF | Is::HasOutputBias | Is::HasMLPBias |
         Is::EveryFourthIsUnrotated | Is::WindowIsOptional},
    {"phi3", "phi3"},
    {"gemma", "gemma",
     Is::UsesGELU | Is::HasUnitOffset | Is::ScalesEmbedding |
         Is::HasOutputBias},
    {"gemma2", "gemma2",
     Is::UsesGELU | Is::HasUnitOffset | Is::ScalesEmbedding |
         Is::HasOutputBias | Is::HasSoftCaps,
     2},
    {"gemma3_text", "gemma3",
     Is::UsesGELU | Is::HasUnitOffset | Is::ScalesEmbedding |
         Is::HasOutputBias | Is::HasSoftCaps | Is::HasQKNorm |
         Is::HasLocalRotation | Is::HasLocalBase,
     6},
    {"gemma4_text", "gemma4",
     Is::UsesGELU | Is::ScalesEmbedding | Is::HasOutputBias | Is::HasQKNorm |
         Is::HasLocalRotation | Is::HasLocalBase | Is::HasExperts |
         Is::NormalizesExperts,
     6},
    {"gemma4_unified_text", "gemma4",
     Is::UsesGELU | Is::ScalesEmbedding | Is::HasOutputBias | Is::HasQKNorm |
         Is::HasLocalRotation | Is::HasLocalBase | Is::HasExperts |
         Is::NormalizesExperts,
     6},
    {"olmo2", "olmo2", Is::HasQKNorm | Is::HasOutputBias | Is::HasLocalRotation,
     4},
    {"olmo3", "olmo2", Is::HasQKNorm | Is::HasOutputBias | Is::HasLocalRotation,
     4},
    {"olmoe", "olmoe", Is::HasQKNorm | Is::HasOutputBias | Is::HasExperts},
    {"granite", "granite",
     Is::PairsInGGUF | Is::HasOutputBias | Is::HasMLPBias | Is::DividesLogits},
    {"granitemoe", "granitemoe",
     Is::PairsInGGUF | Is::HasOutputBias | Is::DividesLogits | Is::HasExperts |
         Is::NormalizesExperts},
    {"granitemoehybrid", "granitehybrid",
     Is::PairsInGGUF | Is::HasOutputBias | Is::DividesLogits | Is::HasExperts |
         Is::NormalizesExperts | Is::KeepsStates},
    {"internlm2", "internlm2", Is::PairsInGGUF | Is::HasOutputBias, 0, 1.0,
     "output"},
    {"lfm2", "lfm2", Is::HasQKNorm | Is::KeepsStates},
    {"lfm2_moe", "lfm2moe",
     Is::HasQKNorm | Is::HasExperts | Is::NormalizesExperts | Is::KeepsStates},
    {"stablelm", "stablelm", Is::UsesLayerNorm, 0, 0.25},
    {"gpt_neox", "gptneox",
     Is::UsesLayerNorm | Is::UsesExactGELU | Is::HasOutputBias | Is::IsParallel,
     0, 0.25, "embed_out"},
    {"cohere", "command-r",
     Is::PairsInFolder | Is::PairsInGGUF | Is::UsesLayerNorm |
         Is::HasOutputBias | Is::IsParallel},
    {"cohere2", "cohere2",
     Is::PairsInFolder | Is::PairsInGGUF | Is::UsesLayerNorm |
         Is::HasOutputBias | Is::IsParallel | Is::FullIsUnrotated,
     4},
    {"glm4", "glm4", Is::PairsInFolder | Is::PairsInGGUF, 0, 0.5},
    {"glm4_moe", "glm4moe", Is::HasExperts | Is::HasQKNorm, 0, 0.5},
    {"deepseek_v2", "deepseek2",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasExperts | Is::HasLatents},
    {"deepseek_v3", "deepseek2",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasExperts | Is::HasLatents},
    {"kimi_k2", "deepseek2",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasExperts | Is::HasLatents},
    {"glm4_moe_lite", "deepseek2",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasExperts | Is::HasLatents},
    {"exaone4", "exaone4", Is::HasQKNorm | Is::FullIsUnrotated, 4},
    {"seed_oss", "seed_oss", Is::HasMLPBias},
    {"ministral3", "mistral3", Is::PairsInGGUF},
    {"mistral4", "mistral4",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasExperts | Is::HasLatents},
    {"bert", "bert", Is::UsesLayerNorm | Is::UsesExactGELU | Is::LooksAhead},
    {"xlm-roberta", "bert",
     Is::UsesLayerNorm | Is::UsesExactGELU | Is::LooksAhead},
    {"nomic_bert", "nomic-bert", Is::UsesLayerNorm | Is::LooksAhead},
    {"modernbert", "modern-bert",
     Is::UsesLayerNorm | Is::UsesExactGELU | Is::LooksAhead |
         Is::HasLocalRotation | Is::HasLocalBase,
     3},
    {"gemma3_text", "gemma-embedding",
     Is::UsesGELU | Is::HasUnitOffset | Is::ScalesEmbedding |
         Is::HasOutputBias | Is::HasSoftCaps | Is::HasQKNorm |
         Is::HasLocalRotation | Is::HasLocalBase | Is::LooksAhead,
     6},
    {"gpt_oss", "gpt-oss",
     Is::HasOutputBias | Is::HasExperts | Is::NormalizesExperts, 2},
    {"llama4_text", "llama4",
     Is::PairsInFolder | Is::PairsInGGUF | Is::HasOutputBias | Is::HasExperts},
};

const FamilyTraits *llmir::findModelType(std::string_view modelType) {
  for (const FamilyTraits &row : table)
    if (row.modelType == modelType)
      return &row;
  return nullptr;
}

const FamilyTraits *llmir::findFamily(std::string_view architecture) {
  for (const FamilyTraits &row : table)
    if (row.family == architecture)
      return &row;
  return nullptr;
}

static std::string nearest(std::string_view name,
                           std::string_view FamilyTraits::*member) {
  std::vector<std::string_view> names;
  for (const FamilyTraits &row : table)
    names.push_back(row.*member);
  return nearestNames(name, std::move(names));
}

std::string llmir::nearestModelTypes(std::string_view name) {
  return nearest(name, &FamilyTraits::modelType);
}

std::string llmir::nearestFamilies(std::string_view name) {
  return nearest(name, &FamilyTraits::family);
}
