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
};

enum class FinishReason : uint8_t {
  Stop,      ///< An end token.
  Length,    ///< maxTokens, or the context is full.
  Cancelled, ///< The callback returned false.
};

/// "stop", "length", "cancelled".
const char *finishReasonName(FinishReason reason);

struct GenerateResult {
  std::vector<int32_t> ids; ///< Generated tokens, the end token included.
  FinishReason finishReason = FinishReason::Length;
  double prefillMilliseconds = 0; ///< Until the prompt's last logits.
  /// From then until the end, including the sampling of the first token. The
  /// first token needs no step of its own: n tokens take n - 1 steps.
  double decodeMilliseconds = 0;
  int64_t promptTokens = 0;
  /// Index of the first id that was sampled from logits containing a NaN; the
  /// ids from there on are meaningless.
  std::optional<int64_t> firstNaN;
};

/// Generates in a temporary sequence. Fails with InvalidArgument (empty prompt,
/// invalid parameters), OutOfRange (prompt longer than the context, naming both
/// lengths; token outside the vocabulary), or as Executor::step does.
Expected<GenerateResult> generate(Executor &executor,
                                  Span<const int32_t> prompt,
                                  const GenerateOptions &options = {});

} // namespace llmir

#endif // LLMIR_SERVING_GENERATOR_H
