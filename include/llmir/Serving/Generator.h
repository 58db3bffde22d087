//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Continues one prompt: prefill in pieces of the token budget, then one token
// after another.
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
  /// Most tokens to generate; -1 = until the end token or the context's end.
  int64_t maxTokens = -1;
  /// Go on past the model's end tokens.
  bool ignoreEos = false;
  /// Tokens of one prefill step; 0 = the token budget.
  int64_t prefillChunk = 0;
  /// Called with each generated token as it comes, the end token included;
  /// returning false ends the generation (finish reason "cancelled").
  std::function<bool(int32_t)> onToken;
};

enum class FinishReason : uint8_t {
  Stop,      ///< An end token.
  Length,    ///< maxTokens, or the context is full.
  Cancelled, ///< The callback asked for it.
};

/// "stop", "length", "cancelled".
const char *finishReasonName(FinishReason reason);

struct GenerateResult {
  std::vector<int32_t> ids; ///< Generated tokens, the end token included.
  FinishReason finishReason = FinishReason::Length;
  double prefillMilliseconds = 0; ///< Until the prompt's last logits.
  /// From there to the end, the sampling of the first token included. The
  /// first token costs no step, so n tokens took n - 1 steps.
  double decodeMilliseconds = 0;
  int64_t promptTokens = 0;
  /// The first of `ids` that was chosen among logits of which one is a NaN:
  /// from there on they mean nothing.
  std::optional<int64_t> firstNaN;
};

/// Generates in a sequence of its own, which is freed at the end. Fails with
/// InvalidArgument (empty prompt, bad parameters), OutOfRange (a prompt longer
/// than the context, naming both numbers; a token outside the vocabulary), or
/// as Executor::step does.
Expected<GenerateResult> generate(Executor &executor,
                                  Span<const int32_t> prompt,
                                  const GenerateOptions &options = {});

} // namespace llmir

#endif // LLMIR_SERVING_GENERATOR_H
