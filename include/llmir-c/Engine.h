//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine, which serves many requests at once, for C programs.
// libLLMIREngine.so provides the functions; it needs neither MLIR nor LLVM.
//
//   LLMIREngine *engine;
//   char *message;
//   if (llmirEngineCreate("model.llmir", NULL, &engine, &message)) {
//     fprintf(stderr, "%s\n", message);
//     llmirEngineFree(message);
//     return 1;
//   }
//   LLMIRRequest request;
//   llmirEngineInitRequest(engine, &request);
//   request.prompt = ids;
//   request.prompt_size = 3;
//   request.max_tokens = 100;
//   int64_t id;
//   if (llmirEngineSubmit(engine, &request, update, user, &id, &message))
//     …
//   llmirEngineDrain(engine);
//   llmirEngineDestroy(engine);
//
// Prompts and results are token ids. Strings and arrays that the caller passes
// are read during the call only; null is allowed for those of size 0. A null
// engine is a failure of functions that return one, and otherwise ignored.
//
// Functions that can fail return an LLMIREngineResult. If that is not
// LLMIR_ENGINE_OK, `*message` is one line of cause and advice, which the caller
// frees with llmirEngineFree (null if memory is exhausted); otherwise it is
// null. `message` itself may be null.
//
// Except for llmirEngineDestroy and llmirEngineDrain, which must not be called
// from a callback, all functions may be called from any thread, including from
// callbacks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_C_ENGINE_H
#define LLMIR_C_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMIR_ENGINE_EXPORTED __attribute__((visibility("default")))

/// Increased with every change of this header. The Init functions set the
/// version of structures; others are refused.
#define LLMIR_ENGINE_API_VERSION 2

typedef struct LLMIREngine LLMIREngine;

typedef enum LLMIREngineResult {
  LLMIR_ENGINE_OK = 0,
  LLMIR_ENGINE_FAILED = 1,  ///< The file, or the system.
  LLMIR_ENGINE_INVALID = 2, ///< Arguments that can never be accepted.
  LLMIR_ENGINE_FULL = 3     ///< Too much at the moment: try again later.
} LLMIREngineResult;

/// Zeros are the defaults of all but `version`.
typedef struct LLMIREngineOptions {
  uint32_t version;
  const char *level; ///< CPU level of the code; null = the best one.
  int64_t threads;   ///< 0 = one per usable processor.
  int64_t context;   ///< Maximum tokens of a sequence; 0 = the model's own.
  /// The KV cache in blocks, or in bytes; both 0: one sequence of the context.
  int64_t kv_blocks;
  int64_t kv_bytes;
  /// Sequences that run at once; 0 = as many as a step has rows of logits.
  int64_t max_running;
  /// Requests that wait, and tokens of their prompts; 0 = 1024, and 1048576.
  int64_t max_waiting_requests;
  int64_t max_waiting_tokens;
  /// How many times as long as without prompts a step may take that generates
  /// tokens, from 1; 0 = 1.75. INFINITY: no limit.
  double max_slowdown;
} LLMIREngineOptions;

LLMIR_ENGINE_EXPORTED void llmirEngineInitOptions(LLMIREngineOptions *options);

/// Opens a .llmir file, and starts an engine that shares the prefixes of
/// requests. `options` may be null. The caller destroys `*engine`, which is
/// null on failure.
LLMIR_ENGINE_EXPORTED LLMIREngineResult
llmirEngineCreate(const char *artifact, const LLMIREngineOptions *options,
                  LLMIREngine **engine, char **message);

/// Cancels all requests, which are reported before this returns. Null is
/// ignored.
LLMIR_ENGINE_EXPORTED void llmirEngineDestroy(LLMIREngine *engine);

/// Frees a message; null is ignored.
LLMIR_ENGINE_EXPORTED void llmirEngineFree(char *message);

/// Token ids are less than this; 0 for a null engine, as in the following.
LLMIR_ENGINE_EXPORTED int64_t
llmirEngineGetVocabularySize(const LLMIREngine *engine);
/// Maximum tokens of a sequence.
LLMIR_ENGINE_EXPORTED int64_t
llmirEngineGetContextLength(const LLMIREngine *engine);
/// Sequences that run at once, which is the greatest LLMIRRequest::count.
LLMIR_ENGINE_EXPORTED int64_t
llmirEngineGetMaxRunning(const LLMIREngine *engine);

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// A request for one or more continuations of a prompt. Names and meanings are
/// those of vLLM; llmir/Serving/Engine.h and llmir/Support/Sampler.h describe
/// them.
typedef struct LLMIRRequest {
  uint32_t version;
  const int32_t *prompt; ///< At least one token.
  int64_t prompt_size;
  int64_t count; ///< Continuations; 1.
  /// -1: until an end token, or the context's end. 0: only the prompt.
  int64_t max_tokens;
  int64_t min_tokens; ///< 0.
  int32_t ignore_eos; ///< 0; nonzero: continue after the model's end tokens.
  const int32_t *stop_tokens; ///< Further end tokens.
  int64_t num_stop_tokens;
  const int32_t *allowed_tokens; ///< None = all.
  int64_t num_allowed_tokens;
  /// The tokens of all bad words, one word after the other, and how many tokens
  /// each word has.
  const int32_t *bad_word_tokens;
  const int64_t *bad_word_sizes;
  int64_t num_bad_words;

  double temperature; ///< 0 = greedy.
  int64_t top_k;      ///< 0 = all.
  double top_p;
  double min_p;
  double typical_p;
  uint64_t seed;
  double repetition_penalty;
  double presence_penalty;
  double frequency_penalty;
  const int32_t *bias_tokens; ///< Their logits change by `biases`.
  const float *biases;
  int64_t num_biases;

  /// Most likely tokens to report beside each generated token, and beside each
  /// token of the prompt; 0 = only that token, -1, the default: nothing.
  int64_t logprobs;
  int64_t prompt_logprobs;
  int64_t priority;       ///< 0; lower values are served first.
  uint64_t salt;          ///< Only requests with the same one share prefixes.
  double timeout_seconds; ///< From the submission; 0 = none.
} LLMIRRequest;

/// Sets the defaults: no prompt, and the sampling that the model's
/// generation_config.json asks for, otherwise greedy.
LLMIR_ENGINE_EXPORTED void llmirEngineInitRequest(const LLMIREngine *engine,
                                                  LLMIRRequest *request);

typedef struct LLMIRTokenLogprob {
  int32_t token;
  float logprob; ///< Natural logarithm; minus infinity for a probability of 0.
} LLMIRTokenLogprob;

/// Of a token, before temperature, bias and penalties.
typedef struct LLMIRTokenLogprobs {
  int32_t token;
  float logprob;
  int64_t rank;                 ///< 1 = the most likely token.
  const LLMIRTokenLogprob *top; ///< The most likely ones, best first.
  int64_t num_top;
} LLMIRTokenLogprobs;

/// What is new about one continuation. Everything is owned by the engine, and
/// valid during the call.
typedef struct LLMIRUpdate {
  int64_t request;
  int64_t index; ///< Of the continuation.
  const int32_t *tokens;
  int64_t num_tokens;
  const LLMIRTokenLogprobs *logprobs; ///< Of `tokens`, or null.
  /// In the first update of continuation 0 that has a token, if requested: of
  /// the prompt's tokens from the second on.
  const LLMIRTokenLogprobs *prompt_logprobs;
  int64_t num_prompt_logprobs;
  /// "stop", "length", "cancelled", "timeout" or "error" in the last update of
  /// the continuation, null before.
  const char *finish_reason;
  const char *failure; ///< With "error": cause and advice. Otherwise null.
  int64_t prompt_tokens;
  int64_t cached_tokens; ///< Of the prompt: were not computed again.
  int64_t generated_tokens;
} LLMIRUpdate;

/// Called by the engine's thread; must not block.
typedef void (*LLMIRUpdateFn)(void *user, const LLMIRUpdate *update);

/// Adds a request, and sets `*id` (if not null), which is positive.
/// `update` is called for each continuation until its finish reason has been
/// reported, perhaps before this returns; `user` must be valid until then.
LLMIR_ENGINE_EXPORTED LLMIREngineResult llmirEngineSubmit(
    LLMIREngine *engine, const LLMIRRequest *request, LLMIRUpdateFn update,
    void *user, int64_t *id, char **message);

/// Ends a request before the next step, or the continuation `index` of it; -1 =
/// all. Those that have finished are ignored.
LLMIR_ENGINE_EXPORTED void llmirEngineCancel(LLMIREngine *engine, int64_t id,
                                             int64_t index);

/// Accepts no more requests, and returns when all others have finished.
LLMIR_ENGINE_EXPORTED void llmirEngineDrain(LLMIREngine *engine);

/// Counts since the start, except where they are of the last step.
typedef struct LLMIREngineStatistics {
  int64_t waiting; ///< Sequences now, and those that run.
  int64_t running;
  int64_t waiting_tokens; ///< Of their prompts.
  int64_t steps;
  int64_t prompt_tokens; ///< That were computed.
  int64_t generated_tokens;
  int64_t preemptions;
  int64_t finished;       ///< Continuations, for whatever reason.
  int64_t cached_tokens;  ///< That were found in the cache.
  int64_t cache_blocks;   ///< All blocks of the cache.
  int64_t free_blocks;    ///< Those without contents, now,
  int64_t idle_blocks;    ///< those that are kept for their prefixes,
  int64_t used_blocks;    ///< and those of sequences.
  int64_t evicted_blocks; ///< Idle blocks that were freed.
} LLMIREngineStatistics;

/// Zeros for a null engine.
LLMIR_ENGINE_EXPORTED void
llmirEngineGetStatistics(const LLMIREngine *engine,
                         LLMIREngineStatistics *statistics);

#ifdef __cplusplus
}
#endif

#endif // LLMIR_C_ENGINE_H
