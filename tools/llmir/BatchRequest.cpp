//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchRequest.h"
#include "JsonLines.h"
#include "ModelResolver.h"

#include <limits>

using namespace llmir;
using namespace llmir::cli;

/// Assigns a read value, or returns its failure.
#define ASSIGN_OR_RETURN(target, expression)                                   \
  do {                                                                         \
    auto value = (expression);                                                 \
    if (!value)                                                                \
      return value.takeStatus();                                               \
    (target) = std::move(*value);                                              \
  } while (false)

/// Each is compared with every token that is generated.
static constexpr size_t mostStops = 64, mostStopTokens = 1024,
                        mostBiases = 1024, mostBadWords = 1024;

static Status tooMany(const JsonReader &reader, const char *key, size_t count,
                      size_t most) {
  return reader.failure(StatusCode::OutOfRange, key,
                        "has " + std::to_string(count) + " elements",
                        "give at most " + std::to_string(most));
}

/// `stop`: a text, or an array of texts.
static Expected<std::vector<std::string>> readStops(const JsonReader &reader) {
  std::vector<std::string> stops;
  const Json *value = reader.find("stop");
  if (!value)
    return stops;
  const Json list = value->is_array() ? *value : Json::array({*value});
  if (list.size() > mostStops)
    return tooMany(reader, "stop", list.size(), mostStops);
  for (const Json &element : list) {
    if (!element.is_string() || element.get_ref<const std::string &>().empty())
      return reader.unexpected("stop", "a text, or an array of texts");
    stops.push_back(element.get<std::string>());
  }
  return stops;
}

/// `logit_bias`: an object of token ids and numbers.
static Status readBias(const JsonReader &reader, SamplingParams &sampling) {
  const Json *value = reader.find("logit_bias");
  if (!value)
    return Status::ok();
  const auto unexpected = [&] {
    return reader.unexpected("logit_bias",
                             "an object of token ids and numbers");
  };
  if (!value->is_object())
    return unexpected();
  if (value->size() > mostBiases)
    return tooMany(reader, "logit_bias", value->size(), mostBiases);
  for (const auto &[key, bias] : value->items()) {
    const bool isId = !key.empty() && key.size() < 10 &&
                      key.find_first_not_of("0123456789") == std::string::npos;
    if (!isId || !bias.is_number())
      return unexpected();
    sampling.logitBias.push_back({std::stoi(key), bias.get<float>()});
  }
  return Status::ok();
}

/// A text as vLLM encodes a bad word: also with a space before, if that makes
/// another token of a word in the middle of a text.
static Status addBadWord(const JsonReader &reader, const std::string &text,
                         const BatchModel &model,
                         std::vector<std::vector<int32_t>> &words) {
  const size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string::npos)
    return reader.unexpected("bad_words", "texts that are not blank");
  if (!model.tokenizer)
    return reader.failure(StatusCode::InvalidArgument, "bad_words",
                          "needs a tokenizer", "use allowed_token_ids");
  EncodeOptions options;
  options.addSpecialTokens = false;
  std::vector<int32_t> plain;
  for (const char *before : {"", " "}) {
    auto ids = model.tokenizer->encode(before + text.substr(begin), options);
    if (!ids)
      return ids.takeStatus().withContext(reader.file());
    if (ids->empty())
      return reader.unexpected("bad_words", "texts that have tokens");
    if (!plain.empty() &&
        (ids->front() == plain.front() || ids->size() != plain.size()))
      continue;
    plain = *ids;
    words.push_back(std::move(*ids));
  }
  return Status::ok();
}

/// `bad_words` and `allowed_token_ids`.
static Status readTokenLimits(const JsonReader &reader, const BatchModel &model,
                              Request &request) {
  if (reader.has("allowed_token_ids")) {
    ASSIGN_OR_RETURN(request.allowedTokens,
                     readIds(reader, "allowed_token_ids"));
    if (request.allowedTokens.empty())
      return reader.unexpected("allowed_token_ids", "at least one token id");
  }
  if (!reader.has("bad_words"))
    return Status::ok();
  Expected<const Json *> list = reader.array("bad_words");
  if (!list)
    return list.takeStatus();
  if ((*list)->size() > mostBadWords)
    return tooMany(reader, "bad_words", (*list)->size(), mostBadWords);
  for (const Json &element : **list) {
    if (!element.is_string())
      return reader.unexpected("bad_words", "an array of texts");
    LLMIR_RETURN_IF_ERROR(addBadWord(reader,
                                     element.get_ref<const std::string &>(),
                                     model, request.badWords));
  }
  return Status::ok();
}

/// `logprobs`, a number, or as in conversations a boolean with `top_logprobs`;
/// and `prompt_logprobs`.
static Status readLogprobs(const JsonReader &reader, Request &request) {
  const Json *value = reader.find("logprobs");
  if (value && !value->is_boolean()) {
    if (reader.has("top_logprobs"))
      return reader.unexpected("logprobs", "true beside top_logprobs");
    ASSIGN_OR_RETURN(request.logprobs,
                     reader.integer("logprobs", 0, mostTopLogprobs));
  } else if (value && value->get<bool>()) {
    ASSIGN_OR_RETURN(request.logprobs,
                     reader.integerOr("top_logprobs", 0, 0, mostTopLogprobs));
  } else if (reader.has("top_logprobs")) {
    return reader.unexpected("top_logprobs", "\"logprobs\": true beside it");
  }
  if (reader.has("prompt_logprobs"))
    ASSIGN_OR_RETURN(request.promptLogprobs,
                     reader.integer("prompt_logprobs", 0, mostTopLogprobs));
  return Status::ok();
}

static Status readSampling(const JsonReader &reader, SamplingParams &sampling) {
  ASSIGN_OR_RETURN(sampling.temperature,
                   reader.numberOr("temperature", sampling.temperature));
  ASSIGN_OR_RETURN(sampling.topK, reader.integerOr("top_k", sampling.topK, -1));
  if (sampling.topK == -1) // As in vLLM.
    sampling.topK = 0;
  ASSIGN_OR_RETURN(sampling.topP, reader.numberOr("top_p", sampling.topP));
  ASSIGN_OR_RETURN(sampling.minP, reader.numberOr("min_p", sampling.minP));
  ASSIGN_OR_RETURN(sampling.typicalP,
                   reader.numberOr("typical_p", sampling.typicalP));
  if (reader.has("seed"))
    ASSIGN_OR_RETURN(sampling.seed, reader.integer("seed"));
  ASSIGN_OR_RETURN(
      sampling.repetitionPenalty,
      reader.numberOr("repetition_penalty", sampling.repetitionPenalty));
  ASSIGN_OR_RETURN(
      sampling.presencePenalty,
      reader.numberOr("presence_penalty", sampling.presencePenalty));
  ASSIGN_OR_RETURN(
      sampling.frequencyPenalty,
      reader.numberOr("frequency_penalty", sampling.frequencyPenalty));
  LLMIR_RETURN_IF_ERROR(readBias(reader, sampling));
  return validateSamplingParams(sampling);
}

static Expected<std::vector<int32_t>> encodeText(const std::string &text,
                                                 bool addsSpecialTokens,
                                                 const std::string &where,
                                                 const BatchModel &model) {
  if (!model.tokenizer)
    return Status(StatusCode::InvalidArgument,
                  where + ": the model has no tokenizer",
                  "give the prompt as an array of token ids");
  EncodeOptions options;
  options.addSpecialTokens = addsSpecialTokens;
  auto ids = model.tokenizer->encode(text, options);
  if (!ids)
    return ids.takeStatus().withContext(where);
  if (ids->empty() && model.bosToken >= 0)
    ids->push_back(static_cast<int32_t>(model.bosToken));
  return ids;
}

/// The ids of a conversation. The template's variables are those of the line.
static Expected<std::vector<int32_t>> encodeMessages(const std::string &line,
                                                     const std::string &where,
                                                     BatchModel &model) {
  Expected<OrderedJson> object = parseOrderedJson(line, where);
  if (!object)
    return object.takeStatus();
  if (!object->at("messages").is_array())
    return Status(StatusCode::InvalidArgument,
                  where + ": 'messages' is not an array",
                  "give a list of {\"role\": …, \"content\": …}");
  if (!model.chat) {
    Expected<ModelTemplates> templates = artifactTemplates(*model.artifact);
    if (!templates)
      return templates.takeStatus().withContext(where);
    auto chat =
        ChatPrompt::create(std::move(*templates), model.chatTemplate,
                           model.tokenizer ? &*model.tokenizer : nullptr);
    if (!chat)
      return chat.takeStatus().withContext(where);
    model.chat = std::move(*chat);
  }
  OrderedJson variables = OrderedJson::object();
  variables["add_generation_prompt"] = true;
  if (object->contains("chat_template_kwargs")) {
    const OrderedJson &more = object->at("chat_template_kwargs");
    if (!more.is_object())
      return Status(StatusCode::InvalidArgument,
                    where + ": 'chat_template_kwargs' is not an object",
                    "give variables of the template");
    variables.update(more);
  }
  for (const char *key : {"messages", "tools", "documents"})
    if (object->contains(key))
      variables[key] = object->at(key);
  Expected<std::string> text = model.chat->render(std::move(variables));
  if (!text)
    return text.takeStatus().withContext(where);
  return encodeText(*text, /*addsSpecialTokens=*/false, where, model);
}

static Expected<std::vector<int32_t>> readPrompt(const JsonReader &reader,
                                                 const std::string &line,
                                                 BatchModel &model) {
  const Json *prompt = reader.find("prompt");
  if ((prompt != nullptr) == reader.has("messages"))
    return Status(StatusCode::InvalidArgument,
                  reader.file() + ": the object has " +
                      (prompt ? "both 'prompt' and 'messages'"
                              : "neither 'prompt' nor 'messages'"),
                  "give one of them");
  if (!prompt)
    return encodeMessages(line, reader.file(), model);
  if (prompt->is_array())
    return readIds(reader, "prompt");
  Expected<std::string> text = reader.string("prompt");
  if (!text)
    return text.takeStatus();
  return encodeText(*text, /*addsSpecialTokens=*/true, reader.file(), model);
}

Expected<BatchRequest> cli::parseBatchRequest(const std::string &line,
                                              const std::string &where,
                                              const Request &defaults,
                                              BatchModel &model) {
  Expected<Json> json = parseJson(line, where);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, where);
  if (!reader)
    return reader.takeStatus();
  LLMIR_RETURN_IF_ERROR(reader->checkKeys({"custom_id",
                                           "prompt",
                                           "messages",
                                           "tools",
                                           "documents",
                                           "chat_template_kwargs",
                                           "n",
                                           "max_tokens",
                                           "max_completion_tokens",
                                           "min_tokens",
                                           "stop",
                                           "stop_token_ids",
                                           "ignore_eos",
                                           "temperature",
                                           "top_k",
                                           "top_p",
                                           "min_p",
                                           "typical_p",
                                           "seed",
                                           "repetition_penalty",
                                           "presence_penalty",
                                           "frequency_penalty",
                                           "logit_bias",
                                           "allowed_token_ids",
                                           "bad_words",
                                           "logprobs",
                                           "top_logprobs",
                                           "prompt_logprobs",
                                           "skip_special_tokens",
                                           "include_stop_str_in_output",
                                           "priority"}));
  BatchRequest result;
  result.request = defaults;
  Request &request = result.request;
  if (const Json *id = reader->find("custom_id"))
    result.id = *id;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  ASSIGN_OR_RETURN(request.count, reader->integerOr("n", 1, 1, most));
  ASSIGN_OR_RETURN(request.maxTokens,
                   reader->integerOr("max_tokens", request.maxTokens, 1, most));
  ASSIGN_OR_RETURN(
      request.maxTokens,
      reader->integerOr("max_completion_tokens", request.maxTokens, 1, most));
  ASSIGN_OR_RETURN(request.minTokens,
                   reader->integerOr("min_tokens", 0, 0, most));
  ASSIGN_OR_RETURN(request.ignoreEos, reader->booleanOr("ignore_eos", false));
  if (reader->has("stop_token_ids"))
    ASSIGN_OR_RETURN(request.stopTokens, readIds(*reader, "stop_token_ids"));
  if (request.stopTokens.size() > mostStopTokens)
    return tooMany(*reader, "stop_token_ids", request.stopTokens.size(),
                   mostStopTokens);
  ASSIGN_OR_RETURN(request.priority,
                   reader->integerOr("priority", 0, -most, most));
  ASSIGN_OR_RETURN(result.stop, readStops(*reader));
  ASSIGN_OR_RETURN(result.includesStop,
                   reader->booleanOr("include_stop_str_in_output", false));
  ASSIGN_OR_RETURN(result.skipsSpecialTokens,
                   reader->booleanOr("skip_special_tokens", true));
  LLMIR_RETURN_IF_ERROR(readTokenLimits(*reader, model, request));
  LLMIR_RETURN_IF_ERROR(readLogprobs(*reader, request));
  if (Status sampling = readSampling(*reader, request.sampling); !sampling)
    return std::move(sampling).withContext(where);
  ASSIGN_OR_RETURN(request.prompt, readPrompt(*reader, line, model));
  return result;
}
