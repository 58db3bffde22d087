//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads requests in JSON, with the names of OpenAI's and vLLM's APIs. Failures
// name the field, in the form of JsonReader.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_REQUESTREADER_H
#define LLMIR_SERVER_REQUESTREADER_H

#include "llmir/Server/AnswerText.h"
#include "llmir/Server/ChatPrompt.h"
#include "llmir/Server/ConstraintCache.h"
#include "llmir/Server/LazyVocabulary.h"
#include "llmir/Serving/Engine.h"
#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// What turns prompts into token ids. Threads may use it concurrently.
struct PromptModel {
  const Tokenizer *tokenizer = nullptr; ///< Null: prompts are ids.
  int64_t bosToken = -1;
  /// Bytes of a prompt; a longer one would have more tokens than the context.
  size_t maxPromptBytes = std::numeric_limits<size_t>::max();
  /// Of the tokenizer, for constraints.
  std::shared_ptr<LazyVocabulary> vocabulary =
      std::make_shared<LazyVocabulary>();
  std::shared_ptr<ConstraintCache> constraints =
      std::make_shared<ConstraintCache>(); ///< Of this vocabulary.
  /// Fails for models whose templates cannot be read.
  Expected<ChatPrompt> chat = Status(StatusCode::NotFound, "no chat template");
};

/// Assigns a read value, or returns its failure.
#define LLMIR_ASSIGN_OR_RETURN(target, expression)                             \
  do {                                                                         \
    auto llmirValue = (expression);                                            \
    if (!llmirValue)                                                           \
      return llmirValue.takeStatus();                                          \
    (target) = std::move(*llmirValue);                                         \
  } while (false)

/// What every request for text may have: how tokens are chosen, and when the
/// text ends.
struct GenerationFields {
  Request request; ///< Without its prompt.
  /// Texts that end the result, which are not part of it.
  std::vector<std::string> stop;
  bool includesStop = false;      ///< They are.
  bool skipsSpecialTokens = true; ///< In the text of the result.
};

/// What requests may ask for.
struct RequestRules {
  /// Of `logprobs`, `top_logprobs` and `prompt_logprobs`.
  int64_t topLogprobs = mostTopLogprobs;
  /// Whether `priority` may differ from 0.
  bool allowsPriorities = true;
  /// The least `max_tokens`.
  int64_t leastTokens = 1;
};

/// Reads these fields; `defaults` has the values of absent ones.
Expected<GenerationFields> readGenerationFields(const JsonReader &reader,
                                                const Request &defaults,
                                                const PromptModel &model,
                                                const RequestRules &rules = {});

/// How the texts of a request's continuations are made; its prompt is known.
AnswerTextOptions answerTextOptions(const Tokenizer *tokenizer,
                                    const GenerationFields &fields);

/// Refuses a field that is neither one of `known`, nor one of those above or of
/// constraintFields(), nor one that does not change the result ("user"), nor
/// one that has the value which is the same as its absence ("best_of": 1).
Status checkFields(const Json &object, const std::string &where,
                   std::initializer_list<std::string_view> known);

/// The token ids of a field, which must be an array of whole numbers from 0.
Expected<std::vector<int32_t>> readIds(const JsonReader &reader,
                                       const char *key);

/// The bytes of the longest text that a context may hold.
size_t maxPromptBytes(const Tokenizer &tokenizer, int64_t contextLength);

/// The ids of a text. An empty one is the BOS token, if there is one.
Expected<std::vector<int32_t>> encodePrompt(const std::string &text,
                                            bool addsSpecialTokens,
                                            const std::string &where,
                                            const PromptModel &model);

/// The text of a conversation: of `messages`, `tools`, `documents` and
/// `chat_template_kwargs` of an object, and `reasoning_effort` and
/// `add_generation_prompt` if it has them. The role "developer" is "system" in
/// templates that do not know it.
Expected<std::string> renderMessages(OrderedJson object,
                                     const std::string &where,
                                     PromptModel &model);

/// The continuations of a request, over all its prompts, are at most so many.
constexpr int64_t mostContinuations = 128;

} // namespace llmir

#endif // LLMIR_SERVER_REQUESTREADER_H
