//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request for text: passes it to the engine, and the engine's updates to a
// format, whose texts it sends to the client.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_GENERATION_H
#define LLMIR_LIB_SERVER_GENERATION_H

#include "llmir/Server/ApiError.h"
#include "llmir/Server/HttpExchange.h"
#include "llmir/Server/Metrics.h"
#include "llmir/Server/ServedModel.h"

#include <memory>
#include <string>
#include <vector>

namespace llmir::server {

using Clock = std::chrono::steady_clock;

/// One continuation of one of a request's prompts.
struct Choice {
  Choice(const Tokenizer *tokenizer,
         std::shared_ptr<const AnswerTextOptions> style, int64_t index)
      : index(index), text(tokenizer, std::move(style)) {}

  int64_t index; ///< Of all continuations of all prompts.
  AnswerText text;
  std::optional<ChatOutputParser> parser; ///< Of conversations.
  ChatAnswer answer;                      ///< So far; a text is content.
  std::vector<int32_t> tokens;
  int64_t reasoningTokens = 0;         ///< Of them; in conversations.
  std::vector<TokenLogprobs> logprobs; ///< Of the tokens, if requested.
  std::vector<int64_t> offsets; ///< Characters of the text before each token.
  std::optional<FinishReason> finish; ///< Stop or Length.
  std::optional<Clock::time_point> lastToken;
};

/// What an update adds to a choice; `finish` of the choice is set in the last.
struct ChoiceDelta {
  const Choice &choice;
  std::vector<ChatDelta> parts;
  size_t firstToken = 0; ///< The tokens of the choice from here on are new.

  bool isEmpty() const {
    return parts.empty() && !choice.finish &&
           (choice.logprobs.empty() || firstToken == choice.tokens.size());
  }
};

/// An answer, complete or in parts.
struct Answer {
  std::string id;      ///< 24 letters and digits.
  int64_t created = 0; ///< Seconds since 1970.
  std::string model;
  const Tokenizer *tokenizer = nullptr;
  ChatOutputFormat chatFormat;
  int64_t count = 1; ///< Continuations of each prompt.
  std::vector<Choice> choices;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::vector<TokenLogprobs>> promptLogprobs; ///< [prompt]
  std::vector<int64_t> cachedTokens;                      ///< [prompt]
  double seconds = 0; ///< Since the request arrived.

  int64_t promptTokens() const;
  int64_t generatedTokens() const;
  int64_t reasoningTokens() const;
  int64_t allCachedTokens() const;
  /// {"prompt_tokens": …, "completion_tokens": …, …}
  Json usage() const;
};

/// "stop" or "length", of a choice that has ended.
const char *finishName(const Choice &choice);

/// "data: …" and an empty line.
std::string serverSentEvent(const Json &data);
/// The end of a stream: if the usage is wanted, an event with it, which is
/// otherwise as `envelope`; and "data: [DONE]".
std::string lastEvents(const Answer &answer, bool includesUsage, Json envelope);

/// How an API writes answers. Called by one thread at a time; what the engine's
/// thread calls, delta() and last(), must be quick.
class AnswerFormat {
public:
  virtual ~AnswerFormat() = default;
  /// A complete answer.
  virtual Json whole(const Answer &answer) = 0;
  // Events of a stream, as texts:
  virtual std::string first(const Answer &) { return {}; }
  virtual std::string delta(const Answer &answer, const ChoiceDelta &delta) = 0;
  virtual std::string last(const Answer &answer) = 0;
  virtual std::string failure(const Answer &, const ApiError &error) {
    return serverSentEvent(error.toJson()) + "data: [DONE]\n\n";
  }
};

/// A request as a format has read it.
struct GenerationPlan {
  GenerationFields fields;
  std::vector<std::vector<int32_t>> prompts;
  bool streams = false;
  std::unique_ptr<AnswerFormat> format;
  /// Only requests with the same one share prefixes.
  std::string cacheSalt;
  /// Of conversations: answers are parsed, and calls of these tools found.
  bool isConversation = false;
  ChatTools tools;
  std::string promptText; ///< Of the conversation.
};

/// Answers the request, now or later; does not wait. The model and the metrics
/// must outlive the model's engine.
void startGeneration(std::shared_ptr<HttpExchange> exchange, ServedModel &model,
                     ServerMetrics &metrics, GenerationPlan plan);

/// 24 letters and digits that have not been used before.
std::string randomId();
uint64_t randomNumber();

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_GENERATION_H
