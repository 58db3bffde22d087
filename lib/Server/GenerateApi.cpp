//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POST /generate, SGLang's native form
//
//===----------------------------------------------------------------------===//

#include "Apis.h"

#include "llmir/Server/ConstraintReader.h"

namespace llmir::server {

namespace {
/// Each event has all of the text so far.
class GenerateFormat final : public AnswerFormat {
public:
  explicit GenerateFormat(bool isList) : isList(isList) {}

  Json whole(const Answer &answer) override;
  std::string delta(const Answer &answer, const ChoiceDelta &delta) override;
  std::string last(const Answer &) override { return "data: [DONE]\n\n"; }

private:
  const bool isList; ///< Of several prompts or continuations.
};
} // namespace

static Json choiceJson(const Answer &answer, const Choice &choice) {
  const auto prompt = static_cast<size_t>(choice.index / answer.count);
  Json finish = nullptr;
  if (choice.finish)
    finish = {{"type", finishName(choice)}};
  if (choice.finish == FinishReason::Length)
    finish["length"] = choice.tokens.size();
  return {{"text", choice.answer.content},
          {"output_ids", choice.tokens},
          {"meta_info",
           {{"id", answer.id},
            {"finish_reason", std::move(finish)},
            {"prompt_tokens", answer.prompts[prompt].size()},
            {"completion_tokens", choice.tokens.size()},
            {"cached_tokens", answer.cachedTokens[prompt]}}}};
}

Json GenerateFormat::whole(const Answer &answer) {
  Json list = Json::array();
  for (const Choice &choice : answer.choices) {
    Json object = choiceJson(answer, choice);
    object["meta_info"]["e2e_latency"] = answer.seconds;
    list.push_back(std::move(object));
  }
  return isList ? list : list.front();
}

std::string GenerateFormat::delta(const Answer &answer,
                                  const ChoiceDelta &delta) {
  Json object = choiceJson(answer, delta.choice);
  if (isList)
    object["index"] = delta.choice.index;
  return serverSentEvent(object);
}

/// `sampling_params`, with the names of the other APIs.
static Expected<OrderedJson> renamed(const RequestBody &body) {
  OrderedJson result = OrderedJson::object();
  const JsonReader reader = body.reader();
  if (!reader.has("sampling_params"))
    return result;
  const OrderedJson &given = body.ordered["sampling_params"];
  if (!given.is_object())
    return reader.unexpected("sampling_params", "an object");
  for (const auto &[key, value] : given.items())
    result[key == "max_new_tokens"   ? "max_tokens"
           : key == "min_new_tokens" ? "min_tokens"
           : key == "regex"          ? "guided_regex"
           : key == "ebnf"           ? "guided_grammar"
                                     : key] = value;
  return result;
}

Expected<GenerationPlan> readGenerate(RequestBody &body, ServedModel &model) {
  const JsonReader reader = body.reader();
  LLMIR_RETURN_IF_ERROR(reader.checkKeys(
      {"text", "input_ids", "sampling_params", "stream", "rid", "model"}));
  if (reader.has("text") == reader.has("input_ids"))
    return reader.failure(StatusCode::InvalidArgument, "text",
                          reader.has("text") ? "stands beside 'input_ids'"
                                             : "is missing",
                          "give either 'text' or 'input_ids'");
  Expected<OrderedJson> ordered = renamed(body);
  if (!ordered)
    return ordered.takeStatus();
  const Json params = *ordered;
  const std::string where = std::string(requestName) + ": sampling_params";
  LLMIR_RETURN_IF_ERROR(checkFields(params, where, {}));
  Request defaults = defaultsOf(model);
  if (defaults.maxTokens < 0)
    defaults.maxTokens = 128; // As in SGLang.
  GenerationPlan plan;
  LLMIR_RETURN_IF_ERROR(
      readFields(JsonReader(params, where), defaults, model, plan));
  LLMIR_ASSIGN_OR_RETURN(plan.fields.request.constraint,
                         readConstraint(*ordered, where, model.prompts));
  if (plan.fields.request.logprobs || plan.fields.request.promptLogprobs)
    return Status(StatusCode::InvalidArgument,
                  where + ": 'logprobs' are not supported here",
                  "use /v1/completions");
  LLMIR_ASSIGN_OR_RETURN(plan.streams, reader.booleanOr("stream", false));
  const char *key = reader.has("text") ? "text" : "input_ids";
  LLMIR_ASSIGN_OR_RETURN(plan.prompts, readPrompts(reader, key, model));
  LLMIR_RETURN_IF_ERROR(checkNumber(plan));
  const Json &value = *reader.find(key);
  const bool isList =
      (value.is_array() && !value.empty() && !value.front().is_number()) ||
      plan.fields.request.count > 1;
  plan.format = std::make_unique<GenerateFormat>(isList);
  return plan;
}

} // namespace llmir::server
