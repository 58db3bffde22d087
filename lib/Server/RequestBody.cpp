//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the APIs for text have in common.
//
//===----------------------------------------------------------------------===//

#include "Apis.h"

#include "llmir/Server/ConstraintReader.h"

namespace llmir::server {

Expected<RequestBody> parseBody(std::string_view text) {
  Expected<OrderedJson> object = parseOrderedJson(text, requestName);
  if (!object)
    return object.takeStatus();
  if (!object->is_object())
    return Status(StatusCode::InvalidArgument,
                  std::string(requestName) + ": expected an object",
                  "send a JSON object");
  RequestBody body{std::move(*object), {}};
  body.json = body.ordered;
  return body;
}

Request defaultsOf(const ServedModel &model) {
  Request defaults = model.defaults;
  if (!model.hasSeed)
    defaults.sampling.seed = randomNumber();
  return defaults;
}

Status readFields(const JsonReader &reader, const Request &defaults,
                  ServedModel &model, GenerationPlan &plan,
                  const RequestRules &rules) {
  LLMIR_ASSIGN_OR_RETURN(
      plan.fields,
      readGenerationFields(reader, defaults, model.prompts, rules));
  LLMIR_ASSIGN_OR_RETURN(plan.cacheSalt, reader.stringOr("cache_salt", ""));
  if (reader.has("cache_salt") && plan.cacheSalt.empty())
    return reader.unexpected("cache_salt", "a text that is not empty");
  return Status::ok();
}

Expected<StreamFields> readStream(const JsonReader &reader,
                                  const Request &request) {
  StreamFields result;
  LLMIR_ASSIGN_OR_RETURN(result.streams, reader.booleanOr("stream", false));
  if (result.streams && request.promptLogprobs)
    return reader.unexpected("prompt_logprobs",
                             "a request without \"stream\": true");
  if (!reader.has("stream_options"))
    return result;
  if (!result.streams)
    return reader.unexpected("stream_options", "\"stream\": true beside it");
  Expected<JsonReader> options = reader.object("stream_options");
  if (!options)
    return options.takeStatus();
  LLMIR_RETURN_IF_ERROR(options->checkKeys(
      {"include_usage", "include_obfuscation", "continuous_usage_stats"}));
  LLMIR_ASSIGN_OR_RETURN(result.includesUsage,
                         options->booleanOr("include_usage", false));
  if (options->has("continuous_usage_stats") &&
      *options->find("continuous_usage_stats") != false)
    return options->unexpected("continuous_usage_stats", "false");
  return result;
}

static Expected<std::vector<int32_t>> readPrompt(const JsonReader &reader,
                                                 const char *key,
                                                 const Json &prompt,
                                                 const ServedModel &model) {
  if (prompt.is_string())
    return encodePrompt(prompt.get_ref<const std::string &>(),
                        /*addsSpecialTokens=*/true, requestName, model.prompts);
  const Json holder = {{key, prompt}};
  return readIds(JsonReader(holder, reader.file()), key);
}

Expected<std::vector<std::vector<int32_t>>>
readPrompts(const JsonReader &reader, const char *key, ServedModel &model) {
  const Json *value = reader.find(key);
  if (!value)
    return reader.missing(key, "a text, token ids, or a list of them");
  const bool isList = value->is_array() && !value->empty() &&
                      (value->front().is_string() || value->front().is_array());
  const Json list = isList ? *value : Json::array({*value});
  if (!isList && !value->is_string() && !value->is_array())
    return reader.unexpected(key, "a text, token ids, or a list of them");
  constexpr size_t mostPrompts = 2048;
  if (list.size() > mostPrompts)
    return reader.failure(StatusCode::OutOfRange, key,
                          "has " + std::to_string(list.size()) + " elements",
                          "give at most " + std::to_string(mostPrompts));
  std::vector<std::vector<int32_t>> prompts;
  for (const Json &element : list) {
    if (!element.is_string() && !element.is_array())
      return reader.unexpected(key, "a list of texts, or of token ids");
    Expected<std::vector<int32_t>> ids =
        readPrompt(reader, key, element, model);
    if (!ids)
      return ids.takeStatus();
    prompts.push_back(std::move(*ids));
  }
  return prompts;
}

Status checkNumber(const GenerationPlan &plan) {
  const auto total =
      static_cast<int64_t>(plan.prompts.size()) * plan.fields.request.count;
  if (total <= mostContinuations)
    return Status::ok();
  return Status(StatusCode::OutOfRange,
                std::string(requestName) + ": " + std::to_string(total) +
                    " continuations of all prompts",
                "ask for at most " + std::to_string(mostContinuations));
}

static Status refuse(const std::string &problem, const std::string &advice) {
  return Status(StatusCode::InvalidArgument,
                std::string(requestName) + ": " + problem, advice);
}

namespace {
/// Which calls of tools may be made, or must be.
struct ToolUse {
  bool isAllowed = false;
  std::optional<ForcedCalls> forced;
};
} // namespace

/// The name in {"type": "function", "function": {"name": …}}, or beside the
/// type, as /v1/responses has it; empty without one.
static std::string chosenTool(const OrderedJson &choice) {
  if (!choice.is_object() || !choice.contains("type") ||
      choice["type"] != "function")
    return {};
  const OrderedJson &holder =
      choice.contains("function") ? choice["function"] : choice;
  const bool hasName = holder.is_object() && holder.contains("name") &&
                       holder["name"].is_string();
  return hasName ? holder["name"].get<std::string>() : "";
}

/// `tools`, `tool_choice` and `parallel_tool_calls`.
static Expected<ToolUse> readToolUse(const OrderedJson &object) {
  ToolUse use;
  const auto given = [&](const char *key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  };
  const OrderedJson *tools = given("tools"), *choice = given("tool_choice"),
                    *parallel = given("parallel_tool_calls");
  if (tools && !tools->is_array())
    return refuse("'tools' is not an array",
                  "give a list of {\"type\": \"function\", …}");
  if (parallel && !parallel->is_boolean())
    return refuse("'parallel_tool_calls' is " + describeJson(Json(*parallel)),
                  "give true or false");
  use.isAllowed = tools && !tools->empty();
  if (choice && *choice == "none") {
    use.isAllowed = false;
  } else if (choice && *choice != "auto") {
    ForcedCalls forced;
    forced.tool = chosenTool(*choice);
    forced.severalCalls = !parallel || *parallel == true;
    if (*choice != "required" && forced.tool.empty())
      return refuse("'tool_choice' is " + describeJson(Json(*choice)),
                    "give \"auto\", \"none\", \"required\" or {\"type\": "
                    "\"function\", \"function\": {\"name\": …}}");
    if (!use.isAllowed)
      return refuse("'tool_choice' forces a call, but there are no tools",
                    "give 'tools'");
    use.forced = forced;
  }
  if (use.isAllowed && !use.forced && parallel && *parallel == false)
    return refuse("'parallel_tool_calls' is false, which is not supported "
                  "where calls are not forced",
                  "remove it, or give 'tool_choice'");
  return use;
}

Status planConversation(OrderedJson object, ServedModel &model,
                        GenerationPlan &plan) {
  Expected<ToolUse> use = readToolUse(object);
  if (!use)
    return use.takeStatus();
  plan.isConversation = true;
  if (use->isAllowed) // The parser needs no order of keys.
    plan.tools = ChatTools(Json(object["tools"]));
  else
    object.erase("tools");
  OrderedJson form = OrderedJson::object(); // What constrains the answer.
  for (const std::string_view key : constraintFields())
    if (const auto found = object.find(std::string(key)); found != object.end())
      form[std::string(key)] = *found;
  OrderedJson tools = use->isAllowed ? object["tools"] : OrderedJson();
  Expected<std::string> text =
      renderMessages(std::move(object), requestName, model.prompts);
  if (!text)
    return text.takeStatus();
  Expected<std::vector<int32_t>> ids = encodePrompt(
      *text, /*addsSpecialTokens=*/false, requestName, model.prompts);
  if (!ids)
    return ids.takeStatus();
  LLMIR_ASSIGN_OR_RETURN(
      plan.fields.request.constraint,
      readConversationConstraint(
          form, requestName, model.prompts,
          {model.chatFormat, *text, std::move(tools), use->forced}));
  plan.promptText = std::move(*text);
  plan.prompts.push_back(std::move(*ids));
  return Status::ok();
}

} // namespace llmir::server
