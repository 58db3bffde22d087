//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text generation for callers that wait for it:
//
//   Expected<std::unique_ptr<Engine>> engine =
//       Engine::create(std::move(executor));
//   Request request;
//   request.prompt = ids;
//   Expected<GenerateResult> result = generate(**engine, std::move(request));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_GENERATOR_H
#define LLMIR_SERVING_GENERATOR_H

#include "llmir/Serving/Engine.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace llmir {

/// What an engine has reported of a request.
struct GenerateResult {
  std::vector<int32_t> ids; ///< Generated tokens, the end token included.
  FinishReason finishReason = FinishReason::Length;
  /// From the start of the prompt until its first token is known.
  double prefillMilliseconds = 0;
  /// From then until the end: n tokens take n - 1 steps.
  double decodeMilliseconds = 0;
  int64_t promptTokens = 0;
  int64_t cachedTokens = 0;        ///< Of the prompt: were in the cache.
  std::optional<int64_t> firstNaN; ///< See RequestUpdate.
};

/// Submits a request for one continuation and waits for its end. `onUpdate`, if
/// given, is called as the callback of Engine::submit(): by the engine's
/// thread. Fails as submit() does, with InvalidArgument if the request is for
/// several continuations, and with the failure that ends it. Must not be called
/// from a callback.
Expected<GenerateResult> generate(Engine &engine, Request request,
                                  const RequestCallback &onUpdate = nullptr);

} // namespace llmir

#endif // LLMIR_SERVING_GENERATOR_H
