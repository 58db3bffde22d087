//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POST /v1/completions
//
//===----------------------------------------------------------------------===//

#include "Apis.h"

#include "llmir/Server/ConstraintReader.h"
#include "llmir/Server/LogprobsJson.h"

#include <set>

namespace llmir::server {

namespace {
/// A prompt as the beginning of its answers.
struct EchoedPrompt {
  std::string text;
  std::vector<int64_t> offsets; ///< Characters of the text before each token.
  int64_t characters = 0;
};

/// What a request that sets `echo` gets.
struct Echo {
  std::vector<EchoedPrompt> prompts; ///< Empty without `echo`.
  bool hasLogprobs = false;
  /// `max_tokens` is 0. The token that is generated nevertheless is left out.
  bool isAlone = false;
};

class CompletionFormat final : public AnswerFormat {
public:
  CompletionFormat(StreamFields stream, bool hasPromptLogprobs, Echo echo)
      : stream(stream), hasPromptLogprobs(hasPromptLogprobs),
        echo(std::move(echo)) {}

  Json whole(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &answer) override;

private:
  static Json envelope(const Answer &answer, Json choices);
  Json usage(const Answer &answer) const;
  Json choiceJson(const Answer &answer, const Choice &choice, std::string text,
                  size_t first, bool echoes) const;

  const StreamFields stream;
  const bool hasPromptLogprobs; ///< In fields of their own.
  const Echo echo;
  std::set<int64_t> begun; ///< Indices of streamed choices.
};
} // namespace

Json CompletionFormat::envelope(const Answer &answer, Json choices) {
  return {{"id", "cmpl-" + answer.id},
          {"object", "text_completion"},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", std::move(choices)}};
}

static size_t promptOf(const Answer &answer, const Choice &choice) {
  return static_cast<size_t>(choice.index / answer.count);
}

Json CompletionFormat::usage(const Answer &answer) const {
  Json usage = answer.usage();
  if (echo.isAlone) {
    usage["completion_tokens"] = 0;
    usage["total_tokens"] = answer.promptTokens();
  }
  return usage;
}

/// `text` and the tokens from `first` on, of a choice; the prompt before it if
/// `echoes`.
Json CompletionFormat::choiceJson(const Answer &answer, const Choice &choice,
                                  std::string text, size_t first,
                                  bool echoes) const {
  const size_t prompt = promptOf(answer, choice);
  const bool hasEcho = !echo.prompts.empty();
  const Tokenizer *tokenizer = answer.tokenizer;
  Json logprobs = nullptr;
  if (!choice.logprobs.empty()) {
    std::vector<int64_t> offsets(choice.offsets.begin() + first,
                                 choice.offsets.end());
    for (int64_t &offset : offsets)
      offset += hasEcho ? echo.prompts[prompt].characters : 0;
    logprobs =
        completionLogprobs(tokenizer,
                           Span<const TokenLogprobs>(choice.logprobs)
                               .subspan(first, choice.logprobs.size() - first),
                           offsets);
  }
  if (hasEcho && echo.isAlone)
    text.clear();
  if (echoes) {
    text.insert(0, echo.prompts[prompt].text);
    if (echo.hasLogprobs) {
      Json all = echoedLogprobs(tokenizer, answer.prompts[prompt].front(),
                                answer.promptLogprobs[prompt],
                                echo.prompts[prompt].offsets);
      if (!echo.isAlone)
        for (auto &[key, values] : all.items())
          values.insert(values.end(), logprobs[key].begin(),
                        logprobs[key].end());
      logprobs = std::move(all);
    }
  }
  return {{"index", choice.index},
          {"text", std::move(text)},
          {"logprobs", std::move(logprobs)},
          {"finish_reason",
           choice.finish ? Json(finishName(choice)) : Json(nullptr)}};
}

Json CompletionFormat::whole(const Answer &answer) {
  Json choices = Json::array();
  for (const Choice &choice : answer.choices) {
    Json object = choiceJson(answer, choice, choice.answer.content, 0,
                             /*echoes=*/!echo.prompts.empty());
    const size_t prompt = promptOf(answer, choice);
    if (hasPromptLogprobs)
      object["prompt_logprobs"] =
          promptLogprobs(answer.tokenizer, answer.promptLogprobs[prompt]);
    choices.push_back(std::move(object));
  }
  Json result = envelope(answer, std::move(choices));
  result["usage"] = usage(answer);
  return result;
}

std::string CompletionFormat::delta(const Answer &answer,
                                    const ChoiceDelta &delta) {
  std::string text;
  for (const ChatDelta &part : delta.parts)
    text += part.text;
  const bool echoes =
      !echo.prompts.empty() && begun.insert(delta.choice.index).second;
  Json event = envelope(
      answer, Json::array({choiceJson(answer, delta.choice, std::move(text),
                                      delta.firstToken, echoes)}));
  if (stream.includesUsage)
    event["usage"] = nullptr;
  return serverSentEvent(event);
}

std::string CompletionFormat::last(const Answer &answer) {
  return lastEvents(envelope(answer, Json::array()),
                    stream.includesUsage ? usage(answer) : Json());
}

/// A prompt as text, as answers are.
static EchoedPrompt echoOf(const std::vector<int32_t> &prompt,
                           const Tokenizer *tokenizer,
                           const GenerationFields &fields) {
  AnswerTextOptions style;
  if (!fields.skipsSpecialTokens)
    style.keepsSpecialToken = [](std::string_view) { return true; };
  AnswerText text(tokenizer,
                  std::make_shared<const AnswerTextOptions>(std::move(style)));
  EchoedPrompt echoed;
  for (const int32_t token : prompt) {
    echoed.offsets.push_back(text.numCharacters());
    echoed.text += text.add(token);
  }
  echoed.text += text.finish();
  echoed.characters = text.numCharacters();
  return echoed;
}

/// Reads `echo`, for a request whose other fields are known.
static Expected<Echo> readEcho(const JsonReader &reader, ServedModel &model,
                               GenerationPlan &plan) {
  Echo echo;
  Request &request = plan.fields.request;
  Expected<bool> isWanted = reader.booleanOr("echo", false);
  if (!isWanted)
    return isWanted.takeStatus();
  if (!*isWanted && request.maxTokens == 0)
    return reader.unexpected("max_tokens", "at least 1, or \"echo\": true");
  if (!*isWanted)
    return echo;
  const Tokenizer *tokenizer = model.tokenizerOrNull();
  if (!tokenizer)
    return reader.failure(StatusCode::InvalidArgument, "echo",
                          "needs a tokenizer", "use prompt_logprobs");
  echo.hasLogprobs = request.logprobs.has_value();
  if (echo.hasLogprobs && plan.streams)
    return reader.unexpected("echo",
                             "a request without \"stream\" or \"logprobs\"");
  if (echo.hasLogprobs && !request.promptLogprobs)
    request.promptLogprobs = request.logprobs;
  echo.isAlone = request.maxTokens == 0;
  if (echo.isAlone) {
    request.maxTokens = 1;
    request.logprobs.reset();
  }
  for (const std::vector<int32_t> &prompt : plan.prompts)
    echo.prompts.push_back(echoOf(prompt, tokenizer, plan.fields));
  return echo;
}

Expected<GenerationPlan> readCompletion(RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(checkFields(
      body.json, requestName,
      {"prompt", "stream", "stream_options", "cache_salt", "echo"}));
  Request defaults = defaultsOf(model);
  if (defaults.maxTokens < 0)
    defaults.maxTokens = 16; // As in OpenAI's API.
  GenerationPlan plan;
  LLMIR_RETURN_IF_ERROR(
      readFields(reader, defaults, model, plan, /*leastTokens=*/0));
  Expected<StreamFields> stream = readStream(reader, plan.fields.request);
  if (!stream)
    return stream.takeStatus();
  LLMIR_ASSIGN_OR_RETURN(
      plan.fields.request.constraint,
      readConstraint(body.ordered, requestName, model.prompts));
  LLMIR_ASSIGN_OR_RETURN(plan.prompts, readPrompts(reader, "prompt", model));
  LLMIR_RETURN_IF_ERROR(checkNumber(plan));
  plan.streams = stream->streams;
  const bool hasPromptLogprobs = plan.fields.request.promptLogprobs.has_value();
  Expected<Echo> echo = readEcho(reader, model, plan);
  if (!echo)
    return echo.takeStatus();
  plan.format = std::make_unique<CompletionFormat>(*stream, hasPromptLogprobs,
                                                   std::move(*echo));
  return plan;
}

} // namespace llmir::server
