//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recommended sampling parameters of a GGUF file, which conversions take
// from generation_config.json. Samplers that LLMIR lacks (XTC, Mirostat) are
// not read.
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"
#include "GGUFConfig.h"
#include "llmir/Checkpoint/GGUFWriter.h"

#include <map>

namespace llmir {

static constexpr const char *temperatureKey = "general.sampling.temp";
static constexpr const char *topKKey = "general.sampling.top_k";
static constexpr const char *topPKey = "general.sampling.top_p";
static constexpr const char *minPKey = "general.sampling.min_p";
static constexpr const char *penaltyKey = "general.sampling.penalty_repeat";

Status GGUFConfig::readSampling() {
  GenerationDefaults &defaults = config.generation;
  LLMIR_ASSIGN_OR_RETURN(
      defaults.temperature,
      metadata.numberOr(temperatureKey, defaults.temperature));
  LLMIR_ASSIGN_OR_RETURN(defaults.topK,
                         metadata.integerOr(topKKey, 0, -1, maxVocabSize));
  LLMIR_ASSIGN_OR_RETURN(defaults.topP,
                         metadata.numberOr(topPKey, defaults.topP));
  LLMIR_ASSIGN_OR_RETURN(defaults.minP,
                         metadata.numberOr(minPKey, defaults.minP));
  LLMIR_ASSIGN_OR_RETURN(
      defaults.repetitionPenalty,
      metadata.numberOr(penaltyKey, defaults.repetitionPenalty));
  // The keys have no counterpart of "do_sample".
  for (const char *key : {temperatureKey, topKKey, topPKey, minPKey})
    defaults.doSample |= metadata.find(key) != nullptr;
  const std::map<std::string_view, const char *> keys = {
      {"temperature", temperatureKey},
      {"top_p", topPKey},
      {"min_p", minPKey},
      {"repetition_penalty", penaltyKey}};
  return completeGenerationDefaults(
      defaults, [&](const char *name, const char *expected) {
        return metadata.failure(StatusCode::InvalidFile, keys.at(name),
                                std::string("is not ") + expected);
      });
}

void addSamplingKeys(const GenerationDefaults &defaults, GGUFKeys &keys) {
  if (defaults.doSample) {
    keys.setF32(temperatureKey, static_cast<float>(defaults.temperature));
    if (defaults.topK > 0)
      keys.setI32(topKKey, static_cast<int32_t>(defaults.topK));
    if (defaults.topP < 1)
      keys.setF32(topPKey, static_cast<float>(defaults.topP));
    if (defaults.minP > 0)
      keys.setF32(minPKey, static_cast<float>(defaults.minP));
  }
  if (defaults.repetitionPenalty != 1)
    keys.setF32(penaltyKey, static_cast<float>(defaults.repetitionPenalty));
}

} // namespace llmir
