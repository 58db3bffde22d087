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

namespace llmir::server {

namespace {
class CompletionFormat final : public AnswerFormat {
public:
  explicit CompletionFormat(StreamFields stream) : stream(stream) {}

  Json whole(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &answer) override;

private:
  static Json envelope(const Answer &answer, Json choices);

  const StreamFields stream;
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

Json CompletionFormat::whole(const Answer &answer) {
  Json choices = Json::array();
  for (const Choice &choice : answer.choices) {
    Json object = choiceJson(answer, choice, choice.answer.content, 0);
    const auto prompt = static_cast<size_t>(choice.index / answer.count);
    if (!answer.promptLogprobs[prompt].empty())
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

Expected<GenerationPlan> readCompletion(RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(
      checkFields(body.json, requestName,
                  {"prompt", "stream", "stream_options", "cache_salt"}));
  Request defaults = defaultsOf(model);
  if (defaults.maxTokens < 0)
    defaults.maxTokens = 16; // As in OpenAI's API.
  GenerationPlan plan;
  LLMIR_RETURN_IF_ERROR(readFields(reader, defaults, model, plan));
  Expected<StreamFields> stream = readStream(reader, plan.fields.request);
  if (!stream)
    return stream.takeStatus();
  LLMIR_ASSIGN_OR_RETURN(
      plan.fields.request.constraint,
      readConstraint(body.ordered, requestName, model.prompts));
  LLMIR_ASSIGN_OR_RETURN(plan.prompts, readPrompts(reader, "prompt", model));
  LLMIR_RETURN_IF_ERROR(checkNumber(plan));
  plan.streams = stream->streams;
  plan.format = std::make_unique<CompletionFormat>(*stream);
  return plan;
}

} // namespace llmir::server
