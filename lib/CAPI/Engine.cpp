//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Engine.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Runtime/Executor.h"
#include "llmir/Serving/Engine.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <string>

using namespace llmir;

struct LLMIREngine {
  std::unique_ptr<Engine> engine;
};

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

static LLMIREngineResult resultOf(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return LLMIR_ENGINE_OK;
  case StatusCode::InvalidArgument:
  case StatusCode::OutOfRange:
    return LLMIR_ENGINE_INVALID;
  case StatusCode::ResourceExhausted:
    return LLMIR_ENGINE_FULL;
  default:
    return LLMIR_ENGINE_FAILED;
  }
}

/// Writes the message of a failure.
static LLMIREngineResult report(const Status &status, char **message) {
  if (message)
    *message = status ? nullptr : strdup(status.message().c_str());
  return resultOf(status.code());
}

/// No exception may leave a C function.
template <typename Fn>
static LLMIREngineResult attempt(char **message, Fn &&fn) {
  try {
    return report(fn(), message);
  } catch (const std::bad_alloc &) {
    if (message)
      *message = nullptr;
    return LLMIR_ENGINE_FAILED;
  }
}

static Status invalid(const std::string &cause, const std::string &advice) {
  return Status(StatusCode::InvalidArgument, cause, advice);
}

static Status checkVersion(const char *what, uint32_t version) {
  if (version == LLMIR_ENGINE_API_VERSION)
    return Status::ok();
  return invalid("the " + std::string(what) + " have version " +
                     std::to_string(version) + ", the library has " +
                     std::to_string(LLMIR_ENGINE_API_VERSION),
                 "initialize them, and use the library's header");
}

/// An array of the caller.
template <typename T>
static Expected<Span<const T>> arrayOf(const T *data, int64_t size,
                                       const char *name) {
  if (size < 0 || (size > 0 && !data))
    return invalid(std::string(name) + ": " + std::to_string(size) +
                       " elements at " + (data ? "an" : "a null") + " address",
                   "give an array and its size");
  return Span<const T>(data, static_cast<size_t>(size));
}

template <typename T>
static Status copy(const T *data, int64_t size, const char *name,
                   std::vector<T> &result) {
  Expected<Span<const T>> array = arrayOf(data, size, name);
  if (!array)
    return array.takeStatus();
  result.assign(array->begin(), array->end());
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

void llmirEngineInitOptions(LLMIREngineOptions *options) {
  if (!options)
    return;
  *options = LLMIREngineOptions{};
  options->version = LLMIR_ENGINE_API_VERSION;
}

static Expected<std::unique_ptr<Engine>>
createEngine(const char *artifact, const LLMIREngineOptions &options) {
  LLMIR_RETURN_IF_ERROR(checkVersion("options", options.version));
  if (!artifact)
    return invalid("the path of the artifact is null", "give a .llmir file");
  auto opened = Artifact::open(artifact);
  if (!opened)
    return opened.takeStatus();
  ExecutorOptions execution;
  execution.level = options.level ? options.level : "";
  execution.threads = options.threads;
  execution.contextLength = options.context;
  execution.kvBlocks = options.kv_blocks;
  execution.kvBytes = options.kv_bytes;
  execution.keepsPrefixes = true;
  auto executor = Executor::create(std::move(*opened), execution);
  if (!executor)
    return executor.takeStatus();
  EngineOptions serving;
  serving.maxRunning = options.max_running;
  if (options.max_waiting_requests != 0)
    serving.maxWaitingRequests = options.max_waiting_requests;
  if (options.max_waiting_tokens != 0)
    serving.maxWaitingTokens = options.max_waiting_tokens;
  if (std::isinf(options.most_slowdown) && options.most_slowdown > 0)
    serving.mostSlowdown = 0;
  else if (options.most_slowdown != 0)
    serving.mostSlowdown = options.most_slowdown;
  return Engine::create(std::move(*executor), serving);
}

LLMIREngineResult llmirEngineCreate(const char *artifact,
                                    const LLMIREngineOptions *options,
                                    LLMIREngine **engine, char **message) {
  LLMIREngineOptions defaults;
  llmirEngineInitOptions(&defaults);
  if (engine)
    *engine = nullptr;
  const LLMIREngineResult result = attempt(message, [&]() -> Status {
    if (!engine)
      return invalid("the address of the engine is null", "give a variable");
    auto created = createEngine(artifact, options ? *options : defaults);
    if (!created)
      return created.takeStatus();
    *engine = new LLMIREngine{std::move(*created)};
    return Status::ok();
  });
  // Here, it is the machine that has not enough: waiting does not help.
  return result == LLMIR_ENGINE_FULL ? LLMIR_ENGINE_FAILED : result;
}

void llmirEngineDestroy(LLMIREngine *engine) { delete engine; }

void llmirEngineFree(char *message) { free(message); }

int64_t llmirEngineGetVocabularySize(const LLMIREngine *engine) {
  return engine ? engine->engine->info().vocabSize : 0;
}

int64_t llmirEngineGetContextLength(const LLMIREngine *engine) {
  return engine ? engine->engine->contextLength() : 0;
}

int64_t llmirEngineGetMaxRunning(const LLMIREngine *engine) {
  return engine ? engine->engine->maxRunning() : 0;
}

void llmirEngineCancel(LLMIREngine *engine, int64_t id, int64_t index) {
  if (engine)
    engine->engine->cancel(id, index < 0 ? std::nullopt
                                         : std::optional<int64_t>(index));
}

void llmirEngineDrain(LLMIREngine *engine) {
  if (engine)
    engine->engine->drain();
}

void llmirEngineGetStatistics(const LLMIREngine *engine,
                              LLMIREngineStatistics *statistics) {
  if (!statistics)
    return;
  *statistics = LLMIREngineStatistics{};
  if (!engine)
    return;
  const EngineStatistics counts = engine->engine->statistics();
  statistics->waiting = counts.waiting;
  statistics->running = counts.running;
  statistics->waiting_tokens = counts.waitingTokens;
  statistics->steps = counts.steps;
  statistics->prompt_tokens = counts.promptTokens;
  statistics->generated_tokens = counts.generatedTokens;
  statistics->preemptions = counts.preemptions;
  statistics->finished = counts.finished;
  statistics->cached_tokens = counts.cache.foundTokens;
  statistics->cache_blocks = counts.cache.numBlocks;
  statistics->free_blocks = counts.cache.freeBlocks;
  statistics->idle_blocks = counts.cache.idleBlocks;
  statistics->used_blocks = counts.cache.usedBlocks;
  statistics->evicted_blocks = counts.cache.evictedBlocks;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void llmirEngineInitRequest(const LLMIREngine *engine, LLMIRRequest *request) {
  if (!request)
    return;
  SamplingParams sampling;
  if (engine)
    sampling = SamplingParams::fromDefaults(engine->engine->info().generation);
  *request = LLMIRRequest{};
  request->version = LLMIR_ENGINE_API_VERSION;
  request->count = 1;
  request->max_tokens = -1;
  request->temperature = sampling.temperature;
  request->top_k = sampling.topK;
  request->top_p = sampling.topP;
  request->min_p = sampling.minP;
  request->typical_p = sampling.typicalP;
  request->repetition_penalty = sampling.repetitionPenalty;
  request->logprobs = request->prompt_logprobs = -1;
}

static Status readSampling(const LLMIRRequest &given, SamplingParams &params) {
  params.temperature = given.temperature;
  params.topK = given.top_k;
  params.topP = given.top_p;
  params.minP = given.min_p;
  params.typicalP = given.typical_p;
  params.seed = given.seed;
  params.repetitionPenalty = given.repetition_penalty;
  params.presencePenalty = given.presence_penalty;
  params.frequencyPenalty = given.frequency_penalty;
  auto tokens = arrayOf(given.bias_tokens, given.num_biases, "bias_tokens");
  if (!tokens)
    return tokens.takeStatus();
  auto biases = arrayOf(given.biases, given.num_biases, "biases");
  if (!biases)
    return biases.takeStatus();
  for (size_t i = 0; i < tokens->size(); ++i)
    params.logitBias.push_back({(*tokens)[i], (*biases)[i]});
  return Status::ok();
}

static Status readBadWords(const LLMIRRequest &given,
                           std::vector<std::vector<int32_t>> &words) {
  auto sizes =
      arrayOf(given.bad_word_sizes, given.num_bad_words, "bad_word_sizes");
  if (!sizes)
    return sizes.takeStatus();
  const int32_t *next = given.bad_word_tokens;
  for (int64_t size : *sizes) {
    LLMIR_RETURN_IF_ERROR(
        copy(next, size, "bad_word_tokens", words.emplace_back()));
    next += size;
  }
  return Status::ok();
}

static Status readCounts(const LLMIRRequest &given, Request &request) {
  request.count = given.count;
  request.maxTokens = given.max_tokens;
  request.minTokens = given.min_tokens;
  request.ignoreEos = given.ignore_eos != 0;
  if (given.logprobs != -1)
    request.logprobs = given.logprobs;
  if (given.prompt_logprobs != -1)
    request.promptLogprobs = given.prompt_logprobs;
  request.priority = given.priority;
  request.salt = given.salt;
  constexpr double mostSeconds = 1e9; // The clock counts nanoseconds.
  if (!(given.timeout_seconds >= 0 && given.timeout_seconds <= mostSeconds))
    return invalid("timeout_seconds is " +
                       std::to_string(given.timeout_seconds),
                   "give a number from 0 (none) to 1e9");
  using Clock = std::chrono::steady_clock;
  if (given.timeout_seconds > 0)
    request.deadline =
        Clock::now() +
        std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(given.timeout_seconds));
  return Status::ok();
}

static Status readRequest(const LLMIRRequest &given, Request &request) {
  LLMIR_RETURN_IF_ERROR(checkVersion("contents of the request", given.version));
  LLMIR_RETURN_IF_ERROR(
      copy(given.prompt, given.prompt_size, "prompt", request.prompt));
  LLMIR_RETURN_IF_ERROR(copy(given.stop_tokens, given.num_stop_tokens,
                             "stop_tokens", request.stopTokens));
  LLMIR_RETURN_IF_ERROR(copy(given.allowed_tokens, given.num_allowed_tokens,
                             "allowed_tokens", request.allowedTokens));
  LLMIR_RETURN_IF_ERROR(readBadWords(given, request.badWords));
  LLMIR_RETURN_IF_ERROR(readSampling(given, request.sampling));
  return readCounts(given, request);
}

/// The same in C's types; `top` refers to the given ones.
static std::vector<LLMIRTokenLogprobs>
convert(Span<const TokenLogprobs> logprobs,
        std::vector<std::vector<LLMIRTokenLogprob>> &tops) {
  std::vector<LLMIRTokenLogprobs> result;
  result.reserve(logprobs.size());
  for (const TokenLogprobs &each : logprobs) {
    std::vector<LLMIRTokenLogprob> &top = tops.emplace_back();
    for (const TokenLogprob &other : each.top)
      top.push_back({other.token, other.logprob});
    result.push_back({each.token, each.logprob, each.rank, top.data(),
                      static_cast<int64_t>(top.size())});
  }
  return result;
}

static void forward(const RequestUpdate &update, LLMIRUpdateFn fn, void *user) {
  std::vector<std::vector<LLMIRTokenLogprob>> tops;
  const auto logprobs = convert(update.logprobs, tops);
  const auto prompt = convert(update.promptLogprobs, tops);
  const std::string failure =
      update.failure ? std::string() : update.failure.message();
  LLMIRUpdate given{};
  given.request = update.request;
  given.index = update.index;
  given.tokens = update.tokens.data();
  given.num_tokens = static_cast<int64_t>(update.tokens.size());
  given.logprobs = logprobs.empty() ? nullptr : logprobs.data();
  given.prompt_logprobs = prompt.empty() ? nullptr : prompt.data();
  given.num_prompt_logprobs = static_cast<int64_t>(prompt.size());
  given.finish_reason =
      update.finishReason ? finishReasonName(*update.finishReason) : nullptr;
  given.failure = update.failure ? nullptr : failure.c_str();
  given.prompt_tokens = update.promptTokens;
  given.cached_tokens = update.cachedTokens;
  given.generated_tokens = update.generatedTokens;
  fn(user, &given);
}

LLMIREngineResult llmirEngineSubmit(LLMIREngine *engine,
                                    const LLMIRRequest *request,
                                    LLMIRUpdateFn update, void *user,
                                    int64_t *id, char **message) {
  return attempt(message, [&]() -> Status {
    if (!engine || !request || !update)
      return invalid("the engine, the request or the callback is null",
                     "give all three");
    Request read;
    LLMIR_RETURN_IF_ERROR(readRequest(*request, read));
    Expected<RequestId> submitted = engine->engine->submit(
        std::move(read), [update, user](const RequestUpdate &each) {
          forward(each, update, user);
        });
    if (!submitted)
      return submitted.takeStatus();
    if (id)
      *id = *submitted;
    return Status::ok();
  });
}
