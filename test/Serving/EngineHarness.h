//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Engines with a handwritten step, whose results are known.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_SERVING_ENGINEHARNESS_H
#define LLMIR_TEST_SERVING_ENGINEHARNESS_H

#include "Artifact/Handmade.h"
#include "Runtime/HandwrittenStep.h"
#include "llmir/Serving/Engine.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace llmir::test {

using Tokens = std::vector<int32_t>;

inline ArtifactInfo withoutEnds() {
  ArtifactInfo info = sampleInfo();
  info.eosTokens = {};
  return info;
}

inline std::unique_ptr<Executor> makeExecutor(const ArtifactInfo &info,
                                              int64_t kvBlocks,
                                              LLMIRStepFunction step) {
  ExecutorOptions options;
  options.threads = 2;
  options.kvBlocks = kvBlocks;
  options.keepsPrefixes = true;
  auto made = Executor::create(info, step, handwrittenWeightBytes(), options);
  EXPECT_TRUE(made) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

inline std::unique_ptr<Engine>
makeEngine(int64_t kvBlocks = 40, const EngineOptions &options = {},
           const ArtifactInfo &info = withoutEnds(),
           LLMIRStepFunction step = handwrittenStep) {
  auto made = Engine::create(makeExecutor(info, kvBlocks, step), options);
  EXPECT_TRUE(made) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

inline Tokens continuation(Tokens tokens, size_t count) {
  Tokens result;
  for (size_t i = 0; i < count; ++i) {
    result.push_back(expectedToken(tokens, tokens.size()));
    tokens.push_back(result.back());
  }
  return result;
}

/// Collects what an engine reports.
class Collector {
public:
  struct Result {
    Tokens tokens;
    std::vector<TokenLogprobs> logprobs, promptLogprobs;
    std::optional<FinishReason> reason;
    Status failure;
    int64_t cachedTokens = 0;
    int64_t order = 0; ///< In which results finished.
  };

  RequestCallback callback() {
    return [this](const RequestUpdate &update) { add(update); };
  }
  /// Waits for the end of a continuation.
  Result result(RequestId request, int64_t index = 0) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock,
                 [&] { return results[{request, index}].reason.has_value(); });
    return results[{request, index}];
  }
  /// Waits for the first token.
  void waitForTokens(RequestId request) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return !results[{request, 0}].tokens.empty(); });
  }

private:
  void add(const RequestUpdate &update) {
    std::lock_guard<std::mutex> lock(mutex);
    Result &result = results[{update.request, update.index}];
    EXPECT_FALSE(result.reason) << "an update after the end";
    result.tokens.insert(result.tokens.end(), update.tokens.begin(),
                         update.tokens.end());
    result.logprobs.insert(result.logprobs.end(), update.logprobs.begin(),
                           update.logprobs.end());
    if (!update.promptLogprobs.empty()) {
      EXPECT_TRUE(result.promptLogprobs.empty()) << "reported twice";
      result.promptLogprobs.assign(update.promptLogprobs.begin(),
                                   update.promptLogprobs.end());
    }
    EXPECT_EQ(update.generatedTokens,
              static_cast<int64_t>(result.tokens.size()));
    result.cachedTokens = update.cachedTokens;
    result.failure = update.failure;
    result.reason = update.finishReason;
    if (result.reason)
      result.order = finished++;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<RequestId, int64_t>, Result> results;
  int64_t finished = 0;
};

inline Request requestFor(Tokens prompt, int64_t maxTokens) {
  Request request;
  request.prompt = std::move(prompt);
  request.maxTokens = maxTokens;
  return request;
}

/// Every block is free or kept for its prefix.
inline void expectAllAvailable(const Engine &engine) {
  const EngineStatistics counts = engine.statistics();
  EXPECT_EQ(counts.cache.usedBlocks, 0);
  EXPECT_EQ(counts.cache.sequences, 0);
  EXPECT_EQ(counts.waiting + counts.running, 0);
}

} // namespace llmir::test

#endif // LLMIR_TEST_SERVING_ENGINEHARNESS_H
