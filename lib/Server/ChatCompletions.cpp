//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POST /v1/chat/completions
//
//===----------------------------------------------------------------------===//

#include "Apis.h"

#include "llmir/Server/LogprobsJson.h"

namespace llmir::server {

namespace {
class ChatFormat final : public AnswerFormat {
public:
  explicit ChatFormat(StreamFields stream) : stream(stream) {}

  Json whole(const Answer &answer) override;
  std::string first(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &answer) override;

private:
  std::string chunk(const Answer &answer, const Choice &choice, Json delta,
                    Json logprobs, const char *finish) const;

  const StreamFields stream;
};
} // namespace

static Json envelope(const Answer &answer, const char *object, Json choices) {
  return {{"id", "chatcmpl-" + answer.id},
          {"object", object},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", std::move(choices)}};
}

/// Why a choice ended: "tool_calls" if it is complete and has some.
static const char *finishOf(const Choice &choice) {
  return choice.finish == FinishReason::Stop && !choice.answer.calls.empty()
             ? "tool_calls"
             : finishName(choice);
}

static Json messageJson(const ChatAnswer &answer) {
  Json message = {{"role", "assistant"}, {"content", answer.content}};
  if (!answer.reasoning.empty())
    message["reasoning_content"] = answer.reasoning;
  if (answer.calls.empty())
    return message;
  if (answer.content.empty())
    message["content"] = nullptr;
  Json &calls = message["tool_calls"] = Json::array();
  for (const ChatAnswer::Call &call : answer.calls)
    calls.push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  return message;
}

Json ChatFormat::whole(const Answer &answer) {
  Json choices = Json::array();
  for (const Choice &choice : answer.choices)
    choices.push_back(
        {{"index", choice.index},
         {"message", messageJson(choice.answer)},
         {"logprobs", choice.logprobs.empty()
                          ? Json(nullptr)
                          : chatLogprobs(answer.tokenizer, choice.logprobs)},
         {"finish_reason", finishOf(choice)}});
  Json result = envelope(answer, "chat.completion", std::move(choices));
  result["usage"] = answer.usage();
  if (!answer.promptLogprobs.front().empty())
    result["prompt_logprobs"] =
        promptLogprobs(answer.tokenizer, answer.promptLogprobs.front());
  return result;
}

std::string ChatFormat::chunk(const Answer &answer, const Choice &choice,
                              Json delta, Json logprobs,
                              const char *finish) const {
  Json event = envelope(answer, "chat.completion.chunk",
                        Json::array({{{"index", choice.index},
                                      {"delta", std::move(delta)},
                                      {"logprobs", std::move(logprobs)},
                                      {"finish_reason", nullptr}}}));
  if (finish)
    event["choices"][0]["finish_reason"] = finish;
  if (stream.includesUsage)
    event["usage"] = nullptr;
  return serverSentEvent(event);
}

std::string ChatFormat::first(const Answer &answer) {
  std::string text;
  for (const Choice &choice : answer.choices)
    text += chunk(answer, choice, {{"role", "assistant"}, {"content", ""}},
                  nullptr, nullptr);
  return text;
}

/// A part as a `delta`; null if it tells nothing.
static Json deltaJson(const ChatDelta &part) {
  switch (part.kind) {
  case ChatDelta::Kind::Reasoning:
    return {{"reasoning_content", part.text}};
  case ChatDelta::Kind::Content:
  case ChatDelta::Kind::CallWithdrawn:
    return {{"content", part.text}};
  case ChatDelta::Kind::CallStart:
    return {{"tool_calls",
             Json::array(
                 {{{"index", part.index},
                   {"id", part.id},
                   {"type", "function"},
                   {"function", {{"name", part.name}, {"arguments", ""}}}}})}};
  case ChatDelta::Kind::CallArguments:
    return {{"tool_calls",
             Json::array({{{"index", part.index},
                           {"function", {{"arguments", part.text}}}}})}};
  case ChatDelta::Kind::CallEnd:
    break;
  }
  return nullptr;
}

std::string ChatFormat::delta(const Answer &answer, const ChoiceDelta &delta) {
  const Choice &choice = delta.choice;
  Json logprobs = nullptr; // Those of the tokens are in the first chunk.
  if (choice.logprobs.size() > delta.firstToken)
    logprobs =
        chatLogprobs(answer.tokenizer,
                     Span<const TokenLogprobs>(choice.logprobs)
                         .subspan(delta.firstToken,
                                  choice.logprobs.size() - delta.firstToken));
  std::string text;
  for (const ChatDelta &part : delta.parts)
    if (Json object = deltaJson(part); !object.is_null()) {
      text += chunk(answer, choice, std::move(object), logprobs, nullptr);
      logprobs = nullptr;
    }
  if (choice.finish)
    text += chunk(answer, choice, Json::object(), logprobs, finishOf(choice));
  else if (!logprobs.is_null())
    text += chunk(answer, choice, {{"content", ""}}, logprobs, nullptr);
  return text;
}

std::string ChatFormat::last(const Answer &answer) {
  return lastEvents(answer, stream.includesUsage,
                    envelope(answer, "chat.completion.chunk", Json::array()));
}

Expected<GenerationPlan> readChat(RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(checkFields(
      body.json, requestName,
      {"messages", "tools", "tool_choice", "documents", "chat_template_kwargs",
       "reasoning_effort", "add_generation_prompt", "stream", "stream_options",
       "parallel_tool_calls", "cache_salt"}));
  GenerationPlan plan;
  LLMIR_RETURN_IF_ERROR(readFields(reader, defaultsOf(model), model, plan));
  Expected<StreamFields> stream = readStream(reader, plan.fields.request);
  if (!stream)
    return stream.takeStatus();
  LLMIR_RETURN_IF_ERROR(planConversation(std::move(body.ordered), model, plan));
  plan.streams = stream->streams;
  plan.format = std::make_unique<ChatFormat>(*stream);
  return plan;
}

} // namespace llmir::server
