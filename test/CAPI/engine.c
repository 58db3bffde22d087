//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's C interface, compiled as C.
//
// RUN: %llmir_bin/llmir compile %llmir_src/models/demo -o %t.llmir
// RUN: llmir-capi-engine %t.llmir | FileCheck %s
// RUN: llvm-readelf -d %llmir_lib/libLLMIREngine.so | FileCheck %s --check-prefix=NEEDED
// NEEDED: NEEDED
// NEEDED-NOT: {{libMLIR|libLLVM}}
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 64 };

// What a continuation has become. Written by the engine's thread, read after
// the engine has been drained or destroyed.
typedef struct Result {
  int32_t tokens[kMost];
  float logprobs[kMost];
  int64_t size, num_prompt_logprobs, updates;
  char reason[16];
  char failure[256];
  LLMIREngine *cancels; // Cancel after the first token.
} Result;

static void collect(void *user, const LLMIRUpdate *update) {
  Result *result = (Result *)user + update->index;
  ++result->updates;
  for (int64_t i = 0; i < update->num_tokens && result->size < kMost; ++i) {
    if (update->logprobs) {
      const LLMIRTokenLogprobs *own = &update->logprobs[i];
      result->logprobs[result->size] = own->logprob;
      // Greedy: the chosen token is the best one.
      if (own->token != update->tokens[i] || own->rank != 1 ||
          own->num_top != 2 || own->top[0].token != own->token ||
          own->top[0].logprob != own->logprob ||
          own->top[1].logprob > own->logprob)
        printf("wrong log probabilities\n");
    }
    result->tokens[result->size++] = update->tokens[i];
  }
  result->num_prompt_logprobs += update->num_prompt_logprobs;
  for (int64_t i = 0; i < update->num_prompt_logprobs; ++i)
    if (update->prompt_logprobs[i].num_top != 0 ||
        !(update->prompt_logprobs[i].logprob < 0))
      printf("wrong log probabilities of the prompt\n");
  if (update->finish_reason)
    snprintf(result->reason, sizeof result->reason, "%s",
             update->finish_reason);
  if (update->failure)
    snprintf(result->failure, sizeof result->failure, "%s", update->failure);
  if (result->cancels)
    llmirEngineCancel(result->cancels, update->request, -1);
}

static LLMIREngine *open(const char *artifact,
                         const LLMIREngineOptions *options) {
  LLMIREngine *engine = NULL;
  char *message = NULL;
  if (llmirEngineCreate(artifact, options, &engine, &message)) {
    printf("failed: %s\n", message);
    llmirEngineFree(message);
  }
  return engine;
}

static const int32_t kPrompt[] = {10, 20, 30, 40, 50};

static LLMIRRequest requestFor(const LLMIREngine *engine, int64_t tokens) {
  LLMIRRequest request;
  llmirEngineInitRequest(engine, &request);
  request.prompt = kPrompt;
  request.prompt_size = 5;
  request.max_tokens = tokens;
  request.ignore_eos = 1;
  request.temperature = 0;
  return request;
}

static LLMIREngineResult submit(LLMIREngine *engine,
                                const LLMIRRequest *request, Result *result) {
  char *message = NULL;
  const LLMIREngineResult code =
      llmirEngineSubmit(engine, request, collect, result, NULL, &message);
  if (code)
    printf("refused (%d): %s\n", (int)code, message);
  llmirEngineFree(message);
  return code;
}

static void serve(const char *artifact) {
  static Result plain, limited, forked[3], cancelled;
  LLMIREngineOptions options;
  llmirEngineInitOptions(&options);
  options.threads = 2;
  options.context = 128;
  options.kv_blocks = 40;
  LLMIREngine *engine = open(artifact, &options);
  LLMIRRequest request = requestFor(engine, 8);
  request.logprobs = 2;
  request.prompt_logprobs = 0;
  submit(engine, &request, &plain);

  request = requestFor(engine, 8);
  const int32_t allowed[] = {7, 8, 9}, words[] = {7, 8, 8}, biased[] = {9};
  const int64_t sizes[] = {1, 2};
  const float bias[] = {50};
  request.allowed_tokens = allowed;
  request.num_allowed_tokens = 3;
  request.bad_word_tokens = words;
  request.bad_word_sizes = sizes;
  request.num_bad_words = 2;
  request.bias_tokens = biased;
  request.biases = bias;
  request.num_biases = 1;
  submit(engine, &request, &limited);

  request = requestFor(engine, 6);
  request.count = 3;
  request.temperature = 3;
  request.typical_p = 0.9;
  request.seed = 4;
  submit(engine, &request, forked);

  request = requestFor(engine, 60);
  cancelled.cancels = engine;
  submit(engine, &request, &cancelled);
  llmirEngineDrain(engine);

  // CHECK: plain: 8 tokens, length, 8 updates, 4 of the prompt
  printf("plain: %d tokens, %s, %d updates, %d of the prompt\n",
         (int)plain.size, plain.reason, (int)plain.updates,
         (int)plain.num_prompt_logprobs);
  // CHECK: limited: 9 9 9 9 9 9 9 9
  printf("limited:");
  for (int i = 0; i < 8; ++i)
    printf(" %d", limited.tokens[i]);
  // CHECK: forked: 6 6 6, differ: 1
  printf("\nforked: %d %d %d, differ: %d\n", (int)forked[0].size,
         (int)forked[1].size, (int)forked[2].size,
         memcmp(forked[0].tokens, forked[1].tokens, sizeof forked[0].tokens) !=
             0);
  // CHECK: cancelled: 1 tokens, cancelled
  printf("cancelled: %d tokens, %s\n", (int)cancelled.size, cancelled.reason);
  LLMIREngineStatistics counts;
  llmirEngineGetStatistics(engine, &counts);
  // CHECK: 6 finished, 0 waiting, 0 running, 0 of 40 blocks used
  printf("%d finished, %d waiting, %d running, %d of %d blocks used\n",
         (int)counts.finished, (int)counts.waiting, (int)counts.running,
         (int)counts.used_blocks, (int)counts.cache_blocks);
  // CHECK: context 128
  printf("context %d\n", (int)llmirEngineGetContextLength(engine));
  // It has been drained: try again with another engine.
  // CHECK: refused (3): the engine accepts no more requests
  request = requestFor(engine, 1);
  submit(engine, &request, &plain);
  llmirEngineDestroy(engine);
}

// Cancelled by the end of the engine, and late.
static void endEarly(const char *artifact) {
  static Result ended, late;
  LLMIREngine *engine = open(artifact, NULL);
  LLMIRRequest request = requestFor(engine, -1);
  submit(engine, &request, &ended);
  llmirEngineDestroy(engine);
  engine = open(artifact, NULL);
  request = requestFor(engine, 60);
  request.timeout_seconds = 1e-9;
  submit(engine, &request, &late);
  llmirEngineDrain(engine);
  llmirEngineDestroy(engine);
  // CHECK: ended: cancelled, late: timeout
  printf("ended: %s, late: %s\n", ended.reason, late.reason);
}

static void refuse(const char *artifact) {
  LLMIREngineOptions options;
  llmirEngineInitOptions(&options);
  // CHECK: failed: {{.*}}no-such-file
  open("/no-such-file.llmir", &options);
  // CHECK: failed: the path of the artifact is null
  open(NULL, &options);
  options.max_running = -1;
  // CHECK: failed: maxRunning is -1
  open(artifact, &options);
  options.version = 99;
  // CHECK: failed: the options have version 99, the library has 2
  open(artifact, &options);

  static Result none;
  LLMIREngine *engine = open(artifact, NULL);
  LLMIRRequest request = requestFor(engine, 1);
  request.version = 0;
  // CHECK: refused (2): the contents of the request have version 0
  submit(engine, &request, &none);
  request = requestFor(engine, 1);
  request.prompt = NULL;
  // CHECK: refused (2): prompt: 5 elements at a null address
  submit(engine, &request, &none);
  request.prompt_size = 0;
  // CHECK: refused (2): the prompt has no tokens
  submit(engine, &request, &none);
  request = requestFor(engine, 1);
  request.num_stop_tokens = -1;
  // CHECK: refused (2): stop_tokens: -1 elements
  submit(engine, &request, &none);
  request = requestFor(engine, 1);
  request.logprobs = 129;
  // CHECK: refused (2): logprobs is 129; give a number from 0 to 128
  submit(engine, &request, &none);
  request = requestFor(engine, 1);
  request.timeout_seconds = NAN;
  // CHECK: refused (2): timeout_seconds is nan
  submit(engine, &request, &none);
  const int64_t sizes[] = {1, -5};
  request = requestFor(engine, 1);
  request.bad_word_tokens = kPrompt;
  request.bad_word_sizes = sizes;
  request.num_bad_words = 2;
  // CHECK: refused (2): bad_word_tokens: -5 elements
  submit(engine, &request, &none);
  request = requestFor(engine, 1);
  request.prompt_size = 1;
  const int32_t outside[] = {(int32_t)llmirEngineGetVocabularySize(engine)};
  request.prompt = outside;
  // CHECK: refused (2): token id {{[0-9]+}} is not in the vocabulary
  submit(engine, &request, &none);
  // CHECK: refused (2): the engine, the request or the callback is null
  submit(NULL, &request, &none);
  // CHECK: updates: 0
  printf("updates: %d\n", (int)none.updates);
  llmirEngineDestroy(engine);

  LLMIREngineStatistics counts;
  memset(&counts, 1, sizeof counts);
  llmirEngineGetStatistics(NULL, &counts);
  llmirEngineCancel(NULL, 1, -1);
  llmirEngineDrain(NULL);
  llmirEngineDestroy(NULL);
  // CHECK: null: 0 steps, context 0
  printf("null: %d steps, context %d\n", (int)counts.steps,
         (int)llmirEngineGetContextLength(NULL));
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  serve(argv[1]);
  endEarly(argv[1]);
  refuse(argv[1]);
  return 0;
}
