//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POST /v1/responses: how a request becomes a conversation. ResponseFormat.cpp
// writes the answer.
//
//===----------------------------------------------------------------------===//

#include "ResponseFormat.h"

#include "llmir/Server/ConstraintReader.h"

namespace llmir::server {

static Status refuse(const std::string &what, const std::string &advice) {
  return Status(StatusCode::InvalidArgument,
                std::string(requestName) + ": " + what, advice);
}

static std::string describe(const OrderedJson &value) {
  return describeJson(Json(value));
}

/// A message, a call of a tool, or its result, as the messages of
/// /v1/chat/completions have them.
static Status addItem(const OrderedJson &item, OrderedJson &messages) {
  if (!item.is_object())
    return refuse("'input' has " + describe(item), "give objects");
  const std::string type =
      item.value("type", OrderedJson("message")).is_string()
          ? item.value("type", "message")
          : "";
  if (type == "message" && item.contains("role") && item.contains("content")) {
    messages.push_back({{"role", item["role"]}, {"content", item["content"]}});
    return Status::ok();
  }
  if (type == "function_call" && item.contains("call_id") &&
      item.contains("name") && item.contains("arguments")) {
    OrderedJson call = {
        {"id", item["call_id"]},
        {"type", "function"},
        {"function",
         {{"name", item["name"]}, {"arguments", item["arguments"]}}}};
    // Calls that follow each other belong to one message.
    if (!messages.empty() && messages.back().contains("tool_calls"))
      messages.back()["tool_calls"].push_back(std::move(call));
    else
      messages.push_back({{"role", "assistant"},
                          {"content", ""},
                          {"tool_calls", OrderedJson::array({call})}});
    return Status::ok();
  }
  if (type == "function_call_output" && item.contains("call_id") &&
      item.contains("output")) {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", item["call_id"]},
                        {"content", item["output"]}});
    return Status::ok();
  }
  if (type == "reasoning") // Of earlier turns: models do not see it again.
    return Status::ok();
  return refuse("'input' has " + describe(item),
                "give messages, function_call and function_call_output");
}

static Expected<OrderedJson> readInput(const OrderedJson &object) {
  OrderedJson messages = OrderedJson::array();
  if (object.contains("instructions") && !object["instructions"].is_null())
    messages.push_back(
        {{"role", "system"}, {"content", object["instructions"]}});
  if (!object.contains("input"))
    return refuse("'input' is missing", "give a text or a list of messages");
  const OrderedJson &input = object["input"];
  if (input.is_string()) {
    messages.push_back({{"role", "user"}, {"content", input}});
    return messages;
  }
  if (!input.is_array())
    return refuse("'input' is " + describe(input),
                  "give a text or a list of messages");
  for (const OrderedJson &item : input)
    LLMIR_RETURN_IF_ERROR(addItem(item, messages));
  return messages;
}

/// Tools, which have their names beside their types here.
static Expected<OrderedJson> readTools(const OrderedJson &tools) {
  OrderedJson result = OrderedJson::array();
  if (!tools.is_array())
    return refuse("'tools' is not an array", "give a list of functions");
  for (const OrderedJson &tool : tools) {
    if (!tool.is_object() || !tool.contains("type") ||
        tool["type"] != "function" || !tool.contains("name"))
      return refuse("'tools' has " + describe(tool),
                    "give functions only: {\"type\": \"function\", \"name\": "
                    "…, \"parameters\": …}");
    OrderedJson function = tool;
    function.erase("type");
    function.erase("strict");
    result.push_back({{"type", "function"}, {"function", function}});
  }
  return result;
}

/// The object that /v1/chat/completions would have.
static Expected<OrderedJson> asConversation(OrderedJson object) {
  OrderedJson result = OrderedJson::object();
  Expected<OrderedJson> messages = readInput(object);
  if (!messages)
    return messages.takeStatus();
  result["messages"] = std::move(*messages);
  if (object.contains("tools") && !object["tools"].is_null()) {
    Expected<OrderedJson> tools = readTools(object["tools"]);
    if (!tools)
      return tools.takeStatus();
    result["tools"] = std::move(*tools);
  }
  if (object.contains("reasoning") && object["reasoning"].is_object() &&
      object["reasoning"].contains("effort"))
    result["reasoning_effort"] = object["reasoning"]["effort"];
  for (const char *key :
       {"tool_choice", "parallel_tool_calls", "chat_template_kwargs"})
    if (object.contains(key))
      result[key] = std::move(object[key]);
  for (const std::string_view key : constraintFields())
    if (const auto found = object.find(std::string(key)); found != object.end())
      result[std::string(key)] = *found;
  if (object.contains("text") && object["text"].contains("format")) {
    if (result.contains("response_format"))
      return refuse("'response_format' stands beside 'text'",
                    "give one of them");
    result["response_format"] = std::move(object["text"]["format"]);
  }
  return result;
}

/// Fields of which only the default is supported.
static Status checkDefaults(const JsonReader &reader) {
  const auto has = [&](const char *key, const Json &value) {
    return !reader.has(key) || *reader.find(key) == value;
  };
  if (!has("background", false))
    return reader.unexpected("background", "false, since answers are not kept");
  if (!has("truncation", "disabled"))
    return reader.unexpected("truncation", "\"disabled\"");
  if (reader.has("text")) {
    if (!reader.find("text")->is_object())
      return reader.unexpected("text", "an object");
    LLMIR_RETURN_IF_ERROR(reader.object("text")->checkKeys({"format"}));
  }
  if (!has("include", Json::array()))
    return reader.unexpected("include", "an empty list");
  if (!has("n", 1))
    return reader.unexpected("n", "1");
  return Status::ok();
}

Expected<GenerationPlan> readResponse(RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(checkFields(
      body.json, requestName,
      {"input", "instructions", "max_output_tokens", "tools", "tool_choice",
       "reasoning", "text", "truncation", "background", "include", "stream",
       "parallel_tool_calls", "chat_template_kwargs", "cache_salt"}));
  LLMIR_RETURN_IF_ERROR(checkDefaults(reader));
  GenerationPlan plan;
  LLMIR_RETURN_IF_ERROR(readFields(reader, defaultsOf(model), model, plan));
  Request &request = plan.fields.request;
  LLMIR_ASSIGN_OR_RETURN(request.maxTokens,
                         reader.integerOr("max_output_tokens",
                                          request.maxTokens, 1,
                                          std::numeric_limits<int32_t>::max()));
  if (request.logprobs || request.promptLogprobs)
    return reader.unexpected("logprobs", "no value here: use "
                                         "/v1/chat/completions");
  LLMIR_ASSIGN_OR_RETURN(plan.streams, reader.booleanOr("stream", false));
  Expected<OrderedJson> conversation = asConversation(std::move(body.ordered));
  if (!conversation)
    return conversation.takeStatus();
  LLMIR_RETURN_IF_ERROR(
      planConversation(std::move(*conversation), model, plan));
  plan.format = makeResponseFormat(body.json);
  return plan;
}

} // namespace llmir::server
