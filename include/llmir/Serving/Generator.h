//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text generation for one prompt: prefill in chunks of the token budget, then
// decode token by token.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_GENERATOR_H
#define LLMIR_SERVING_GENERATOR_H

#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Sampler.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace llmir {

struct GenerateOptions {
  SamplingParams sampling;
  /// Maximum tokens to generate; -1 = until an end token or the context's end.
  int64_t maxTokens = -1;
  /// Continue after end tokens.
  bool ignoreEos = false;
  /// Tokens per prefill step; 0 = the token budget.
  int64_t prefillChunk = 0;
  /// Called with each generated token, including the end token; returning false
  /// stops the generation (finish reason "cancelled").
  std::function<bool(int32_t)> onToken;
  /// Asked before each step, that of the prompt included; true stops the
  /// generation (finish reason "cancelled").
  std::function<bool()> isCancelled;
};

enum class FinishReason : uint8_t {
  Stop,      ///< An end token.
  Length,    ///< maxTokens, or the context is full.
  Cancelled, ///< By the caller.
  Timeout,   ///< Of an engine: the request's deadline.
  Error,     ///< Of an engine: a failure, which is reported with it.
};

/// "stop", "length", "cancelled", "timeout", "error".
const char *finishReasonName(FinishReason reason);

struct GenerateResult {
  std::vector<int32_t> ids; ///< Generated tokens, the end token included.
  FinishReason finishReason = FinishReason::Length;
  double prefillMilliseconds = 0; ///< Until the prompt's last logits.
  /// From then until the end, including the sampling of the first token. The
  /// first token needs no step of its own: n tokens take n - 1 steps.
  double decodeMilliseconds = 0;
  int64_t promptTokens = 0;
  int64_t cachedTokens = 0; ///< Of the prompt: were in the cache already.
  /// Index of the first id that was sampled from logits containing a NaN; the
  /// ids from there on are meaningless.
  std::optional<int64_t> firstNaN;
};

/// A sequence of the executor's cache, which keeps its tokens from one
/// generation to the next. The executor must outlive it.
class CachedSequence {
public:
  explicit CachedSequence(Executor &executor);
  ~CachedSequence();
  CachedSequence(const CachedSequence &) = delete;
  CachedSequence &operator=(const CachedSequence &) = delete;

  /// The tokens whose keys and values are in the cache.
  Span<const int32_t> ids() const { return tokens; }

  /// Continues `prompt`. Its tokens that are in the cache, up to the first
  /// difference, are not computed again; those in the cache that it does not
  /// have are removed. Failures as below; the cache is consistent after them.
  Expected<GenerateResult> generate(Span<const int32_t> prompt,
                                    const GenerateOptions &options = {});

private:
  Status keepPrefixOf(Span<const int32_t> prompt);
  Status goBack(size_t count);
  Expected<StepLogits> append(Span<const int32_t> part, WantLogits want);
  Expected<std::optional<StepLogits>> prefill(Span<const int32_t> prompt,
                                              const GenerateOptions &options);

  Executor &executor;
  SequenceId sequence = 0;
  Status created;
  std::vector<int32_t> tokens;
};

/// Generates in a temporary sequence. Fails with InvalidArgument (empty prompt,
/// invalid parameters), ContextLengthExceeded (naming both lengths), OutOfRange
/// (token outside the vocabulary), or as Executor::step does.
Expected<GenerateResult> generate(Executor &executor,
                                  Span<const int32_t> prompt,
                                  const GenerateOptions &options = {});

} // namespace llmir

#endif // LLMIR_SERVING_GENERATOR_H
