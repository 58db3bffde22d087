//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedModel.h"
#include "Console.h"

#include "llmir/Runtime/UsableMemory.h"

#include <algorithm>
#include <random>

using namespace llmir;
using namespace llmir::cli;

SamplingParams
SamplingRequest::params(const GenerationDefaults &defaults) const {
  SamplingParams params = SamplingParams::fromDefaults(defaults);
  params.temperature = temperature.value_or(params.temperature);
  params.topK = topK.value_or(params.topK);
  params.topP = topP.value_or(params.topP);
  params.minP = minP.value_or(params.minP);
  if (temperature == 0.0)
    params.repetitionPenalty = 1;
  params.repetitionPenalty =
      repetitionPenalty.value_or(params.repetitionPenalty);
  params.seed = seed ? *seed : std::random_device()();
  return params;
}

void cli::addSamplingOptions(Command command, SamplingRequest &request,
                             const std::string &otherwise) {
  addOption(command, "--temp", request.temperature,
            "temperature; 0 is greedy (default: from generation_config.json, "
            "otherwise " +
                otherwise + ")")
      .check(atLeast(0));
  addOption(command, "--top-k", request.topK,
            "sample among the best K tokens; 0: all")
      .check(atLeast(0));
  addOption(command, "--top-p", request.topP,
            "sample among the fewest tokens that reach this probability");
  addOption(command, "--min-p", request.minP,
            "drop tokens below this fraction of the best one's probability");
  addOption(command, "--repetition-penalty", request.repetitionPenalty,
            "divide the probability of tokens that occurred; 1: none");
  addOption(command, "--seed", request.seed,
            "seed of the sampler (default: a different one each time)");
}

void cli::addExecutionOptions(Command command, ExecutionRequest &request) {
  addOption(command, "-t,--threads", request.threads,
            "worker threads; 0, the default: one per processor")
      .check(atLeast(0));
  addOption(command, "--ctx", request.context,
            "maximum sequence length in tokens (default: the model's own)")
      .check(atLeast(1));
  addPlacementOptions(command, request.placement);
}

void cli::addSharedCacheOption(Command command, ExecutionRequest &request) {
  addOption(command, "--kv-memory", request.sharedCacheGB,
            "size of the KV cache in GB (default: a quarter of the memory, at "
            "most what 64 sequences need that keep all tokens)",
            "GB")
      .check(atLeast(1e-6));
}

/// Bytes of a cache for many texts. Layers with windows count as if they kept
/// all tokens: what they do not need holds more texts.
static int64_t bytesOfSharedCache(const ArtifactInfo &info,
                                  const ExecutionRequest &request) {
  if (request.sharedCacheGB > 0)
    return std::max<int64_t>(static_cast<int64_t>(request.sharedCacheGB * 1e9),
                             1);
  constexpr int64_t sequences = 64;
  const int64_t tokens =
      std::min(request.context > 0 ? request.context : info.contextLength,
               info.contextLength);
  const int64_t blocks = (tokens - 1) / info.kvBlockSize + 1;
  int64_t most = 0;
  if (__builtin_mul_overflow(info.kvLayout().blockBytes() * info.numLayers,
                             blocks * sequences, &most))
    return usableMemory() / 4;
  return std::min(most, usableMemory() / 4);
}

static Expected<ChatPrompt>
chatPrompt(const Artifact &artifact, const std::optional<Tokenizer> &tokenizer,
           const TemplateRequest &request) {
  Expected<ModelTemplates> templates = artifactTemplates(artifact);
  if (!templates)
    return templates.takeStatus();
  return ChatPrompt::create(std::move(*templates), request,
                            tokenizer ? &*tokenizer : nullptr);
}

PromptModel cli::promptModel(const Artifact &artifact,
                             const std::optional<Tokenizer> &tokenizer,
                             const TemplateRequest &templates) {
  PromptModel model;
  model.tokenizer = tokenizer ? &*tokenizer : nullptr;
  model.bosToken = artifact.info().bosToken;
  model.chat = chatPrompt(artifact, tokenizer, templates);
  return model;
}

Expected<LoadedModel> cli::loadModel(const ResolvedModel &resolved,
                                     const std::string &level,
                                     const ExecutionRequest &request) {
  LoadedModel loaded;
  loaded.artifact = resolved.artifact;
  Expected<std::optional<Tokenizer>> tokenizer =
      artifactTokenizer(*resolved.artifact);
  if (!tokenizer)
    return tokenizer.takeStatus();
  loaded.tokenizer = std::move(*tokenizer);

  ExecutorOptions settings;
  settings.level = level;
  settings.threads = request.threads;
  request.placement.apply(settings);
  settings.contextLength = request.context;
  settings.keepsPrefixes = request.cacheUse != CacheUse::OneText;
  if (request.cacheUse == CacheUse::ManyTexts)
    settings.kvBytes = bytesOfSharedCache(resolved.artifact->info(), request);
  if (request.cacheUse == CacheUse::Turns)
    settings.sequences = 2; // A turn, and what is kept of the one before.
  auto created = Executor::create(resolved.artifact, settings);
  if (!created)
    return created.takeStatus();
  loaded.executor = std::move(*created);
  if (!loaded.executor->placement().empty())
    note(loaded.executor->placement());
  return loaded;
}
