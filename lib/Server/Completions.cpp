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

#include <algorithm>
#include <optional>

namespace llmir::server {

namespace {
/// Whether answers begin with their prompts.
struct Echo {
  bool isWanted = false, hasLogprobs = false;
  std::vector<std::optional<std::string>> texts; ///< Of prompts, unless ids.
  int64_t bosToken = -1; ///< The tokenizer may have added it.
};

/// A prompt as the beginning of an answer.
struct EchoedPrompt {
  std::string text;
  int64_t characters = 0;       ///< Of the text.
  std::vector<int64_t> offsets; ///< Characters of the text before each token.
};

class CompletionFormat final : public AnswerFormat {
public:
  CompletionFormat(StreamFields stream, Echo echo)
      : stream(stream), echo(std::move(echo)) {}

  Json whole(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &answer) override;

private:
  static Json envelope(const Answer &answer, Json choices);
  EchoedPrompt echoedPrompt(const Answer &answer, size_t prompt) const;
  void prepend(const EchoedPrompt &before, const Answer &answer, size_t prompt,
               Json &choice) const;

  const StreamFields stream;
  const Echo echo;
};
} // namespace

Json CompletionFormat::envelope(const Answer &answer, Json choices) {
  return {{"id", "cmpl-" + answer.id},
          {"object", "text_completion"},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", std::move(choices)}};
}

/// `text` and the tokens from `first` on, of a choice.
static Json choiceJson(const Answer &answer, const Choice &choice,
                       std::string text, size_t first) {
  Json logprobs = nullptr;
  if (!choice.logprobs.empty()) {
    const size_t count = choice.logprobs.size() - first;
    logprobs = completionLogprobs(
        answer.tokenizer,
        Span<const TokenLogprobs>(choice.logprobs).subspan(first, count),
        Span<const int64_t>(choice.offsets).subspan(first, count));
  }
  return {{"index", choice.index},
          {"text", std::move(text)},
          {"logprobs", std::move(logprobs)},
          {"finish_reason",
           choice.finish ? Json(finishName(choice)) : Json(nullptr)}};
}

/// The text of the request, or that of its ids.
EchoedPrompt CompletionFormat::echoedPrompt(const Answer &answer,
                                            size_t prompt) const {
  const std::vector<int32_t> &ids = answer.prompts[prompt];
  AnswerTextOptions style;
  style.keepsSpecialToken = [](std::string_view) { return true; };
  AnswerText text(answer.tokenizer,
                  std::make_shared<const AnswerTextOptions>(std::move(style)));
  EchoedPrompt echoed;
  std::string decoded;
  for (size_t i = 0; i < ids.size(); ++i) {
    echoed.offsets.push_back(text.numCharacters());
    if (i > 0 || ids[i] != echo.bosToken)
      decoded += text.add(ids[i]);
  }
  decoded += text.finish();
  echoed.text = echo.texts[prompt].value_or(std::move(decoded));
  echoed.characters = countCharacters(echoed.text);
  for (int64_t &offset : echoed.offsets)
    offset = std::min(offset, echoed.characters);
  return echoed;
}

/// Puts a prompt before the text and the tokens of a choice.
void CompletionFormat::prepend(const EchoedPrompt &before, const Answer &answer,
                               size_t prompt, Json &choice) const {
  choice["text"] = before.text + choice["text"].get<std::string>();
  if (!echo.hasLogprobs)
    return;
  Json logprobs =
      echoedLogprobs(answer.tokenizer, answer.prompts[prompt].front(),
                     answer.promptLogprobs[prompt], before.offsets);
  Json &own = choice["logprobs"];
  if (!own.is_null()) {
    for (Json &offset : own["text_offset"])
      offset = offset.get<int64_t>() + before.characters;
    for (auto &[key, values] : logprobs.items())
      values.insert(values.end(), own[key].begin(), own[key].end());
  }
  own = std::move(logprobs);
}

Json CompletionFormat::whole(const Answer &answer) {
  std::vector<EchoedPrompt> echoed;
  for (size_t i = 0; echo.isWanted && i < answer.prompts.size(); ++i)
    echoed.push_back(echoedPrompt(answer, i));
  Json choices = Json::array();
  for (const Choice &choice : answer.choices) {
    Json object = choiceJson(answer, choice, choice.answer.content, 0);
    const auto prompt = static_cast<size_t>(choice.index / answer.count);
    if (echo.isWanted)
      prepend(echoed[prompt], answer, prompt, object);
    else if (!answer.promptLogprobs[prompt].empty())
      object["prompt_logprobs"] =
          promptLogprobs(answer.tokenizer, answer.promptLogprobs[prompt]);
    choices.push_back(std::move(object));
  }
  Json result = envelope(answer, std::move(choices));
  result["usage"] = answer.usage();
  return result;
}

std::string CompletionFormat::delta(const Answer &answer,
                                    const ChoiceDelta &delta) {
  std::string text;
  for (const ChatDelta &part : delta.parts)
    text += part.text;
  Json event = envelope(
      answer, Json::array({choiceJson(answer, delta.choice, std::move(text),
                                      delta.firstToken)}));
  if (stream.includesUsage)
    event["usage"] = nullptr;
  return serverSentEvent(event);
}

std::string CompletionFormat::last(const Answer &answer) {
  return lastEvents(answer, stream.includesUsage,
                    envelope(answer, Json::array()));
}

/// Reads `echo` of a request whose other fields are known.
static Expected<Echo> readEcho(const JsonReader &reader, ServedModel &model,
                               StreamFields stream, size_t numPrompts,
                               Request &request) {
  Echo echo;
  LLMIR_ASSIGN_OR_RETURN(echo.isWanted, reader.booleanOr("echo", false));
  if (!echo.isWanted && request.maxTokens == 0)
    return reader.unexpected("max_tokens", "at least 1, or \"echo\": true");
  if (!echo.isWanted)
    return echo;
  if (!model.tokenizerOrNull())
    return reader.failure(StatusCode::InvalidArgument, "echo",
                          "needs a tokenizer", "use prompt_logprobs");
  if (stream.streams)
    return reader.unexpected("echo", "a request without \"stream\": true");
  if (request.promptLogprobs)
    return reader.unexpected("prompt_logprobs",
                             "a request without \"echo\": true");
  echo.hasLogprobs = request.logprobs.has_value();
  request.promptLogprobs = request.logprobs;
  echo.bosToken = model.prompts.bosToken;
  const Json &prompt = *reader.find("prompt");
  for (size_t i = 0; i < numPrompts; ++i) {
    const Json &text = prompt.is_array() ? prompt[i] : prompt;
    echo.texts.push_back(text.is_string() ? text.get<std::string>()
                                          : std::optional<std::string>());
  }
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
  RequestRules rules = serverRules;
  rules.leastTokens = 0; // With `echo`.
  LLMIR_RETURN_IF_ERROR(readFields(reader, defaults, model, plan, rules));
  Expected<StreamFields> stream = readStream(reader, plan.fields.request);
  if (!stream)
    return stream.takeStatus();
  LLMIR_ASSIGN_OR_RETURN(
      plan.fields.request.constraint,
      readConstraint(body.ordered, requestName, model.prompts));
  LLMIR_ASSIGN_OR_RETURN(plan.prompts, readPrompts(reader, "prompt", model));
  LLMIR_RETURN_IF_ERROR(checkNumber(plan));
  plan.streams = stream->streams;
  Expected<Echo> echo = readEcho(reader, model, *stream, plan.prompts.size(),
                                 plan.fields.request);
  if (!echo)
    return echo.takeStatus();
  plan.format = std::make_unique<CompletionFormat>(*stream, std::move(*echo));
  return plan;
}

} // namespace llmir::server
