//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResponseFormat.h"

namespace llmir::server {

namespace {

/// An entry of `output`: reasoning, a message, or a call.
struct Item {
  enum class Kind { Reasoning, Message, Call };
  /// Incomplete: a limit cut it off, or a call was withdrawn.
  enum class Stage { Open, Complete, Incomplete };
  Kind kind = Kind::Message;
  std::string id, text; ///< Of a call, its arguments.
  std::string name, callId;
  Stage stage = Stage::Open;
};

class ResponseFormat final : public AnswerFormat {
public:
  explicit ResponseFormat(const Json &request);

  Json whole(const Answer &answer) override;
  std::string first(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &answer) override;
  std::string failure(const Answer &answer, const ApiError &error) override;

private:
  std::string event(const char *type, Json fields);
  Json response(const Answer &answer, const char *status) const;
  Json finalResponse(const Answer &answer) const;
  Item &open(Item::Kind kind, std::string &events);
  std::string closeLast(Item::Stage stage);
  std::string take(const ChatDelta &part);
  std::string takeText(Item::Kind kind, const std::string &text);

  Json repeated; ///< Of the request.
  std::vector<Item> items;
  int64_t numEvents = 0;
};

} // namespace

ResponseFormat::ResponseFormat(const Json &request) {
  repeated = {{"instructions", nullptr},      {"metadata", Json::object()},
              {"temperature", nullptr},       {"top_p", nullptr},
              {"max_output_tokens", nullptr}, {"tools", Json::array()},
              {"tool_choice", "auto"},        {"parallel_tool_calls", true},
              {"text", Json::object()}};
  for (const auto &[key, value] : repeated.items())
    if (request.contains(key) && !request[key].is_null())
      repeated[key] = request[key];
  Json &text = repeated["text"];
  if (!text.contains("format") || text["format"].is_null())
    text["format"] = {{"type", "text"}};
}

static const char *typeOf(Item::Kind kind) {
  return kind == Item::Kind::Reasoning ? "reasoning"
         : kind == Item::Kind::Message ? "message"
                                       : "function_call";
}

/// The one part of a message or of reasoning.
static Json partJson(const Item &item) {
  if (item.kind == Item::Kind::Reasoning)
    return {{"type", "reasoning_text"}, {"text", item.text}};
  return {{"type", "output_text"},
          {"text", item.text},
          {"annotations", Json::array()},
          {"logprobs", Json::array()}};
}

static Json itemJson(const Item &item) {
  const bool isOpen = item.stage == Item::Stage::Open;
  Json object = {{"id", item.id},
                 {"type", typeOf(item.kind)},
                 {"status", isOpen ? "in_progress"
                            : item.stage == Item::Stage::Complete
                                ? "completed"
                                : "incomplete"}};
  switch (item.kind) {
  case Item::Kind::Reasoning:
    object["summary"] = Json::array();
    object["content"] = Json::array();
    break;
  case Item::Kind::Message:
    object["role"] = "assistant";
    object["content"] = Json::array();
    break;
  case Item::Kind::Call:
    object["name"] = item.name;
    object["call_id"] = item.callId;
    object["arguments"] = isOpen ? "" : item.text;
    return object;
  }
  if (!isOpen)
    object["content"].push_back(partJson(item));
  return object;
}

Json ResponseFormat::response(const Answer &answer, const char *status) const {
  Json object = repeated;
  object["id"] = "resp_" + answer.id;
  object["object"] = "response";
  object["created_at"] = answer.created;
  object["model"] = answer.model;
  object["status"] = status;
  object["error"] = nullptr;
  object["incomplete_details"] = nullptr;
  object["previous_response_id"] = nullptr;
  object["store"] = false;
  object["truncation"] = "disabled";
  object["usage"] = nullptr;
  object["output"] = Json::array();
  for (const Item &item : items)
    if (item.stage != Item::Stage::Open)
      object["output"].push_back(itemJson(item));
  return object;
}

static Json usageJson(const Answer &answer) {
  return {
      {"input_tokens", answer.promptTokens()},
      {"input_tokens_details", {{"cached_tokens", answer.allCachedTokens()}}},
      {"output_tokens", answer.generatedTokens()},
      {"output_tokens_details",
       {{"reasoning_tokens", answer.reasoningTokens()}}},
      {"total_tokens", answer.promptTokens() + answer.generatedTokens()}};
}

static bool isIncomplete(const Answer &answer) {
  return answer.choices.front().finish == FinishReason::Length;
}

/// How an item ends that the answer's end ends.
static Item::Stage lastStage(const Answer &answer) {
  return isIncomplete(answer) ? Item::Stage::Incomplete : Item::Stage::Complete;
}

/// With the items that have ended.
Json ResponseFormat::finalResponse(const Answer &answer) const {
  Json object =
      response(answer, isIncomplete(answer) ? "incomplete" : "completed");
  if (isIncomplete(answer))
    object["incomplete_details"] = {{"reason", "max_output_tokens"}};
  object["usage"] = usageJson(answer);
  return object;
}

Json ResponseFormat::whole(const Answer &answer) {
  const ChatAnswer &chat = answer.choices.front().answer;
  std::string ignored;
  if (!chat.reasoning.empty())
    open(Item::Kind::Reasoning, ignored).text = chat.reasoning;
  if (!chat.content.empty() || (chat.calls.empty() && chat.reasoning.empty()))
    open(Item::Kind::Message, ignored).text = chat.content;
  for (const ChatAnswer::Call &call : chat.calls) {
    Item &item = open(Item::Kind::Call, ignored);
    item.name = call.name;
    item.callId = call.id;
    item.text = call.arguments;
  }
  for (Item &item : items)
    item.stage = Item::Stage::Complete;
  if (chat.calls.empty() || !chat.calls.back().isComplete)
    items.back().stage = lastStage(answer);
  return finalResponse(answer);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

std::string ResponseFormat::event(const char *type, Json fields) {
  fields["type"] = type;
  fields["sequence_number"] = numEvents++;
  return "event: " + std::string(type) + "\n" + serverSentEvent(fields);
}

/// Ends the last item, if it is open.
std::string ResponseFormat::closeLast(Item::Stage stage) {
  if (items.empty() || items.back().stage != Item::Stage::Open)
    return {};
  Item &item = items.back();
  item.stage = stage;
  const Json place = {{"item_id", item.id}, {"output_index", items.size() - 1}};
  std::string events;
  if (item.kind == Item::Kind::Call) {
    Json fields = place;
    fields["arguments"] = item.text;
    fields["name"] = item.name;
    events = event("response.function_call_arguments.done", fields);
  } else {
    Json fields = place;
    fields["content_index"] = 0;
    fields["text"] = item.text;
    const bool isMessage = item.kind == Item::Kind::Message;
    if (isMessage)
      fields["logprobs"] = Json::array();
    events = event(isMessage ? "response.output_text.done"
                             : "response.reasoning_text.done",
                   fields);
    fields = place;
    fields["content_index"] = 0;
    fields["part"] = partJson(item);
    events += event("response.content_part.done", fields);
  }
  return events +
         event("response.output_item.done",
               {{"output_index", items.size() - 1}, {"item", itemJson(item)}});
}

/// Ends the last item and begins one; a call's start is told by the caller.
Item &ResponseFormat::open(Item::Kind kind, std::string &events) {
  events += closeLast(Item::Stage::Complete);
  Item &item = items.emplace_back();
  item.kind = kind;
  item.id = (kind == Item::Kind::Reasoning ? "rs_"
             : kind == Item::Kind::Message ? "msg_"
                                           : "fc_") +
            randomId();
  if (kind == Item::Kind::Call)
    return item;
  events +=
      event("response.output_item.added",
            {{"output_index", items.size() - 1}, {"item", itemJson(item)}});
  events +=
      event("response.content_part.added", {{"item_id", item.id},
                                            {"output_index", items.size() - 1},
                                            {"content_index", 0},
                                            {"part", partJson(item)}});
  return item;
}

std::string ResponseFormat::takeText(Item::Kind kind, const std::string &text) {
  std::string events;
  if (items.empty() || items.back().kind != kind ||
      items.back().stage != Item::Stage::Open)
    open(kind, events);
  Item &item = items.back();
  item.text += text;
  const bool isMessage = kind == Item::Kind::Message;
  Json fields = {{"item_id", item.id},
                 {"output_index", items.size() - 1},
                 {"content_index", 0},
                 {"delta", text}};
  if (isMessage)
    fields["logprobs"] = Json::array();
  return events + event(isMessage ? "response.output_text.delta"
                                  : "response.reasoning_text.delta",
                        fields);
}

std::string ResponseFormat::take(const ChatDelta &part) {
  std::string events;
  switch (part.kind) {
  case ChatDelta::Kind::Reasoning:
    return takeText(Item::Kind::Reasoning, part.text);
  case ChatDelta::Kind::Content:
    return takeText(Item::Kind::Message, part.text);
  case ChatDelta::Kind::CallStart: {
    Item &item = open(Item::Kind::Call, events);
    item.name = part.name;
    item.callId = part.id;
    return events + event("response.output_item.added",
                          {{"output_index", items.size() - 1},
                           {"item", itemJson(item)}});
  }
  case ChatDelta::Kind::CallArguments:
    items.back().text += part.text;
    return event("response.function_call_arguments.delta",
                 {{"item_id", items.back().id},
                  {"output_index", items.size() - 1},
                  {"delta", part.text}});
  case ChatDelta::Kind::CallEnd:
    return closeLast(Item::Stage::Complete);
  case ChatDelta::Kind::CallWithdrawn:
    events = closeLast(Item::Stage::Incomplete);
    return events + takeText(Item::Kind::Message, part.text);
  }
  return events;
}

std::string ResponseFormat::first(const Answer &answer) {
  const Json object = response(answer, "in_progress");
  return event("response.created", {{"response", object}}) +
         event("response.in_progress", {{"response", object}});
}

std::string ResponseFormat::delta(const Answer &, const ChoiceDelta &delta) {
  std::string events;
  for (const ChatDelta &part : delta.parts)
    events += take(part);
  return events;
}

std::string ResponseFormat::last(const Answer &answer) {
  std::string events;
  if (items.empty())
    open(Item::Kind::Message, events);
  events += closeLast(lastStage(answer));
  return events + event(isIncomplete(answer) ? "response.incomplete"
                                             : "response.completed",
                        {{"response", finalResponse(answer)}});
}

std::string ResponseFormat::failure(const Answer &answer,
                                    const ApiError &error) {
  Json object = response(answer, "failed");
  object["error"] = {{"code", error.code}, {"message", error.message}};
  return event("response.failed", {{"response", object}});
}

std::unique_ptr<AnswerFormat> makeResponseFormat(const Json &request) {
  return std::make_unique<ResponseFormat>(request);
}

} // namespace llmir::server
