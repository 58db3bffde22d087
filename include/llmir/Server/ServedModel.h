//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model that a server serves.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_SERVEDMODEL_H
#define LLMIR_SERVER_SERVEDMODEL_H

#include "llmir/ChatOutput/ChatOutput.h"
#include "llmir/Server/RequestReader.h"
#include "llmir/Serving/Embedder.h"
#include "llmir/Serving/Engine.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace llmir {

struct ServedModel {
  /// Of requests; the first one is that of answers.
  std::vector<std::string> names;
  std::optional<Tokenizer> tokenizer;
  PromptModel prompts; ///< Refers to the tokenizer.
  /// The values of parameters that requests do not have.
  Request defaults;
  /// Requests without a seed have that of `defaults`, not a random one.
  bool hasSeed = false;
  /// How its answers in conversations are written.
  ChatOutputFormat chatFormat;
  /// After which requests are given up.
  std::optional<std::chrono::milliseconds> requestTimeout;

  /// One of both: it generates text, or it embeds.
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Executor> embeddingExecutor;
  std::optional<Embedder> embedder; ///< Of that executor.

  /// Runs a function soon, in another thread than the engine's. Set by
  /// ApiServer::serve().
  std::function<void(std::function<void()>)> runLater;

  const ArtifactInfo &info() const {
    return engine ? engine->info() : embeddingExecutor->info();
  }
  int64_t contextLength() const {
    return engine ? engine->contextLength() : embedder->maxTokens();
  }
  const Tokenizer *tokenizerOrNull() const {
    return tokenizer ? &*tokenizer : nullptr;
  }
};

} // namespace llmir

#endif // LLMIR_SERVER_SERVEDMODEL_H
