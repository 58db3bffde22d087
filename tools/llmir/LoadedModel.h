//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What commands that answer share: a model that is ready, and the flags of its
// execution and of sampling.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_LOADEDMODEL_H
#define LLMIR_TOOLS_LLMIR_LOADEDMODEL_H

#include "Command.h"
#include "ModelResolver.h"
#include "Placement.h"
#include "TemplateOptions.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Server/RequestReader.h"
#include "llmir/Support/Sampler.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <memory>
#include <optional>

namespace llmir::cli {

struct SamplingRequest {
  std::optional<double> temperature, topP, minP, repetitionPenalty;
  std::optional<int64_t> topK;
  std::optional<uint64_t> seed;

  /// The given values, else those of the model; a random seed by default. A
  /// given temperature of 0 is plain greedy decoding: without a given penalty,
  /// there is none.
  SamplingParams params(const GenerationDefaults &defaults) const;
};

/// How many texts a command computes with one cache.
enum class CacheUse : uint8_t {
  OneText,  ///< At a time; nothing is kept.
  Turns,    ///< One at a time, which usually continues the last one.
  ManyTexts ///< At the same time, which may begin alike.
};

struct ExecutionRequest {
  int64_t threads = 0; ///< 0: one per processor.
  int64_t context = 0; ///< Tokens; 0: the model's own.
  PlacementRequest placement;
  CacheUse cacheUse = CacheUse::OneText;
  /// Of a cache for many texts, in GB. 0: a quarter of the memory, at most what
  /// 64 sequences need that keep all tokens.
  double sharedCacheGB = 0;
};

/// `otherwise`: the temperature of models without generation_config.json.
void addSamplingOptions(Command command, SamplingRequest &request,
                        const std::string &otherwise = "greedy");
void addExecutionOptions(Command command, ExecutionRequest &request);
/// For commands whose sequences share the cache.
void addSharedCacheOption(Command command, ExecutionRequest &request);

struct LoadedModel {
  std::shared_ptr<const Artifact> artifact;
  std::optional<Tokenizer> tokenizer;
  std::unique_ptr<Executor> executor;
};

/// What turns prompts into ids, with the artifact's templates or those that are
/// asked for. `tokenizer` must outlive it.
PromptModel promptModel(const Artifact &artifact,
                        const std::optional<Tokenizer> &tokenizer,
                        const TemplateRequest &templates);

/// Opens the tokenizer and creates the executor, whose placement is noted.
Expected<LoadedModel> loadModel(const ResolvedModel &resolved,
                                const std::string &level,
                                const ExecutionRequest &request);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_LOADEDMODEL_H
