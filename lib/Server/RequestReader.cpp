//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/RequestReader.h"

#include "llmir/Server/ConstraintReader.h"

#include <algorithm>
#include <limits>

namespace llmir {

/// Each is compared with every token that is generated.
static constexpr size_t mostStops = 64, mostStopTokens = 1024,
                        mostBiases = 1024, mostBadWords = 1024;
/// Bytes of all of them. What waits is kept for each continuation.
static constexpr size_t mostStopBytes = 4096, mostBadWordBytes = 16384;

static Status tooMany(const JsonReader &reader, const char *key, size_t count,
                      size_t most) {
  return reader.failure(StatusCode::OutOfRange, key,
                        "has " + std::to_string(count) + " elements",
                        "give at most " + std::to_string(most));
}

//===----------------------------------------------------------------------===//
// Which fields there are
//===----------------------------------------------------------------------===//

/// The fields that readGenerationFields() reads.
static constexpr std::string_view generationKeys[] = {
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
    "allowed_token_ids",
    "bad_words",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "seed",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "priority",
    "include_stop_str_in_output",
    "skip_special_tokens"};

/// Fields that do not change the result.
static constexpr std::string_view harmlessKeys[] = {"model",
                                                    "user",
                                                    "metadata",
                                                    "store",
                                                    "service_tier",
                                                    "safety_identifier",
                                                    "request_id",
                                                    "prompt_cache_key",
                                                    "custom_id",
                                                    "prompt_cache_retention",
                                                    "cache_prompt",
                                                    "rid",
                                                    "kv_transfer_params"};

namespace {
/// A field of which only one value is supported: what its absence means.
struct NeutralField {
  std::string_view key, value; ///< JSON text.
};
} // namespace

static constexpr NeutralField neutralFields[] = {
    {"best_of", "1"},
    {"echo", "false"},
    {"suffix", "\"\""},
    {"use_beam_search", "false"},
    {"length_penalty", "1.0"},
    {"early_stopping", "false"},
    {"detokenize", "true"},
    {"spaces_between_special_tokens", "true"},
    {"continue_final_message", "false"},
    {"modalities", "[\"text\"]"},
    {"function_call", "\"none\""},
    {"mirostat", "0"},
    {"parallel_tool_calls", "true"},
    {"return_tokens_as_token_ids", "false"},
    {"no_stop_trim", "false"}};

template <typename Array>
static bool contains(const Array &array, std::string_view key) {
  return std::find(std::begin(array), std::end(array), key) != std::end(array);
}

Status checkFields(const Json &object, const std::string &where,
                   std::initializer_list<std::string_view> known) {
  const JsonReader reader(object, where);
  for (const auto &[key, value] : object.items()) {
    if (value.is_null() || contains(known, key) ||
        contains(generationKeys, key) || contains(harmlessKeys, key) ||
        contains(constraintFields(), key))
      continue;
    const auto neutral = std::find_if(
        std::begin(neutralFields), std::end(neutralFields),
        [name = key](const NeutralField &each) { return each.key == name; });
    if (neutral == std::end(neutralFields))
      return reader.failure(StatusCode::InvalidArgument, printable(key),
                            "is not supported", "remove it");
    if (value != Json::parse(neutral->value, nullptr, false))
      return reader.failure(
          StatusCode::InvalidArgument, key,
          "is " + describeJson(value) + ", which is not supported",
          "remove it, or give " + std::string(neutral->value));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// How tokens are chosen, and when the text ends
//===----------------------------------------------------------------------===//

static Status tooLong(const JsonReader &reader, const char *key, size_t most) {
  return reader.failure(StatusCode::OutOfRange, key, "is too long",
                        "give at most " + std::to_string(most) +
                            " bytes altogether");
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
  size_t bytes = 0;
  for (const Json &element : list) {
    if (!element.is_string() || element.get_ref<const std::string &>().empty())
      return reader.unexpected("stop", "a text, or an array of texts");
    bytes += element.get_ref<const std::string &>().size();
    if (bytes > mostStopBytes)
      return tooLong(reader, "stop", mostStopBytes);
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

static Status readSampling(const JsonReader &reader, SamplingParams &sampling) {
  LLMIR_ASSIGN_OR_RETURN(sampling.temperature,
                         reader.numberOr("temperature", sampling.temperature));
  LLMIR_ASSIGN_OR_RETURN(sampling.topK,
                         reader.integerOr("top_k", sampling.topK, -1));
  if (sampling.topK == -1) // As in vLLM.
    sampling.topK = 0;
  LLMIR_ASSIGN_OR_RETURN(sampling.topP,
                         reader.numberOr("top_p", sampling.topP));
  LLMIR_ASSIGN_OR_RETURN(sampling.typicalP,
                         reader.numberOr("typical_p", sampling.typicalP));
  LLMIR_ASSIGN_OR_RETURN(sampling.minP,
                         reader.numberOr("min_p", sampling.minP));
  if (reader.has("seed"))
    LLMIR_ASSIGN_OR_RETURN(sampling.seed, reader.integer("seed"));
  LLMIR_ASSIGN_OR_RETURN(
      sampling.repetitionPenalty,
      reader.numberOr("repetition_penalty", sampling.repetitionPenalty));
  LLMIR_ASSIGN_OR_RETURN(
      sampling.presencePenalty,
      reader.numberOr("presence_penalty", sampling.presencePenalty));
  LLMIR_ASSIGN_OR_RETURN(
      sampling.frequencyPenalty,
      reader.numberOr("frequency_penalty", sampling.frequencyPenalty));
  LLMIR_RETURN_IF_ERROR(readBias(reader, sampling));
  return validateSamplingParams(sampling);
}

Expected<std::vector<int32_t>> readIds(const JsonReader &reader,
                                       const char *key) {
  Expected<const Json *> array = reader.array(key);
  if (!array)
    return array.takeStatus();
  std::vector<int32_t> ids;
  for (const Json &element : **array) {
    if (!element.is_number_integer() || element < 0 ||
        element > std::numeric_limits<int32_t>::max())
      return reader.failure(StatusCode::InvalidArgument, key,
                            "has " + describeJson(element) +
                                ", which is not a token id",
                            "give whole numbers from 0");
    ids.push_back(element.get<int32_t>());
  }
  return ids;
}

/// A text as vLLM encodes a bad word: also with a space before, if that makes
/// another token of a word in the middle of a text.
static Status addBadWord(const JsonReader &reader, const std::string &text,
                         const PromptModel &model,
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
static Status readTokenLimits(const JsonReader &reader,
                              const PromptModel &model, Request &request) {
  if (reader.has("allowed_token_ids")) {
    LLMIR_ASSIGN_OR_RETURN(request.allowedTokens,
                           readIds(reader, "allowed_token_ids"));
    std::vector<int32_t> &allowed = request.allowedTokens;
    if (allowed.empty())
      return reader.unexpected("allowed_token_ids", "at least one token id");
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  }
  if (!reader.has("bad_words"))
    return Status::ok();
  Expected<const Json *> list = reader.array("bad_words");
  if (!list)
    return list.takeStatus();
  if ((*list)->size() > mostBadWords)
    return tooMany(reader, "bad_words", (*list)->size(), mostBadWords);
  size_t bytes = 0;
  for (const Json &element : **list) {
    if (!element.is_string())
      return reader.unexpected("bad_words", "an array of texts");
    bytes += element.get_ref<const std::string &>().size();
    if (bytes > mostBadWordBytes)
      return tooLong(reader, "bad_words", mostBadWordBytes);
    LLMIR_RETURN_IF_ERROR(addBadWord(reader,
                                     element.get_ref<const std::string &>(),
                                     model, request.badWords));
  }
  return Status::ok();
}

/// `logprobs`, a number, or as in conversations a boolean with `top_logprobs`;
/// and `prompt_logprobs`.
static Status readLogprobs(const JsonReader &reader, int64_t most,
                           Request &request) {
  const Json *value = reader.find("logprobs");
  if (value && !value->is_boolean()) {
    if (reader.has("top_logprobs"))
      return reader.unexpected("logprobs", "true beside top_logprobs");
    LLMIR_ASSIGN_OR_RETURN(request.logprobs,
                           reader.integer("logprobs", 0, most));
  } else if (value && value->get<bool>()) {
    LLMIR_ASSIGN_OR_RETURN(request.logprobs,
                           reader.integerOr("top_logprobs", 0, 0, most));
  } else if (reader.has("top_logprobs")) {
    return reader.unexpected("top_logprobs", "\"logprobs\": true beside it");
  }
  if (reader.has("prompt_logprobs"))
    LLMIR_ASSIGN_OR_RETURN(request.promptLogprobs,
                           reader.integer("prompt_logprobs", 0, most));
  return Status::ok();
}

Expected<GenerationFields> readGenerationFields(const JsonReader &reader,
                                                const Request &defaults,
                                                const PromptModel &model,
                                                const RequestRules &rules) {
  GenerationFields fields;
  fields.request = defaults;
  Request &request = fields.request;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  LLMIR_ASSIGN_OR_RETURN(request.count,
                         reader.integerOr("n", 1, 1, mostContinuations));
  LLMIR_ASSIGN_OR_RETURN(request.maxTokens,
                         reader.integerOr("max_tokens", request.maxTokens,
                                          rules.leastTokens, most));
  LLMIR_ASSIGN_OR_RETURN(request.maxTokens,
                         reader.integerOr("max_completion_tokens",
                                          request.maxTokens, rules.leastTokens,
                                          most));
  LLMIR_ASSIGN_OR_RETURN(request.minTokens,
                         reader.integerOr("min_tokens", 0, 0, most));
  LLMIR_ASSIGN_OR_RETURN(request.ignoreEos,
                         reader.booleanOr("ignore_eos", false));
  if (reader.has("stop_token_ids"))
    LLMIR_ASSIGN_OR_RETURN(request.stopTokens,
                           readIds(reader, "stop_token_ids"));
  if (request.stopTokens.size() > mostStopTokens)
    return tooMany(reader, "stop_token_ids", request.stopTokens.size(),
                   mostStopTokens);
  LLMIR_ASSIGN_OR_RETURN(request.priority,
                         reader.integerOr("priority", 0, -most, most));
  if (request.priority != 0 && !rules.allowsPriorities)
    return reader.unexpected("priority", "0: all clients are equal");
  LLMIR_RETURN_IF_ERROR(readTokenLimits(reader, model, request));
  LLMIR_RETURN_IF_ERROR(readLogprobs(reader, rules.topLogprobs, request));
  LLMIR_ASSIGN_OR_RETURN(fields.stop, readStops(reader));
  if (!model.tokenizer && !fields.stop.empty())
    return reader.failure(StatusCode::InvalidArgument, "stop",
                          "needs a tokenizer", "use stop_token_ids");
  LLMIR_ASSIGN_OR_RETURN(fields.includesStop,
                         reader.booleanOr("include_stop_str_in_output", false));
  LLMIR_ASSIGN_OR_RETURN(fields.skipsSpecialTokens,
                         reader.booleanOr("skip_special_tokens", true));
  if (Status sampling = readSampling(reader, request.sampling); !sampling)
    return std::move(sampling).withContext(reader.file());
  return fields;
}

AnswerTextOptions answerTextOptions(const Tokenizer *tokenizer,
                                    const GenerationFields &fields) {
  AnswerTextOptions style;
  style.stops = fields.stop;
  style.includesStop = fields.includesStop;
  // A constraint says whether there is a space at the begin.
  style.continuesText = fields.request.constraint != nullptr ||
                        continuesText(tokenizer, fields.request.prompt);
  if (!fields.skipsSpecialTokens)
    style.keepsSpecialToken = [](std::string_view) { return true; };
  return style;
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

size_t maxPromptBytes(const Tokenizer &tokenizer, int64_t contextLength) {
  size_t longest = 1;
  for (int64_t id = 0; id < tokenizer.vocabSize(); ++id)
    longest =
        std::max(longest, tokenizer.tokenText(static_cast<int32_t>(id)).size());
  const auto length = static_cast<size_t>(std::max<int64_t>(contextLength, 1));
  return longest > std::numeric_limits<size_t>::max() / length
             ? std::numeric_limits<size_t>::max()
             : longest * length;
}

Expected<std::vector<int32_t>> encodePrompt(const std::string &text,
                                            bool addsSpecialTokens,
                                            const std::string &where,
                                            const PromptModel &model) {
  if (!model.tokenizer)
    return Status(StatusCode::InvalidArgument,
                  where + ": the model has no tokenizer",
                  "give the prompt as an array of token ids");
  // To encode a text may take longer than to generate one.
  if (text.size() > model.maxPromptBytes)
    return Status(StatusCode::ContextLengthExceeded,
                  where + ": the prompt has " + std::to_string(text.size()) +
                      " bytes, too many for the context, which takes at most " +
                      std::to_string(model.maxPromptBytes),
                  "shorten the prompt");
  EncodeOptions options;
  options.addSpecialTokens = addsSpecialTokens;
  auto ids = model.tokenizer->encode(text, options);
  if (!ids)
    return ids.takeStatus().withContext(where);
  if (ids->empty() && model.bosToken >= 0)
    ids->push_back(static_cast<int32_t>(model.bosToken));
  return ids;
}

/// Refuses images and other media; texts are left to ChatPrompt.
static Status checkParts(const OrderedJson &content, const std::string &where) {
  if (!content.is_array())
    return Status::ok();
  for (const OrderedJson &part : content) {
    const bool isText =
        part.is_string() ||
        (part.is_object() && part.contains("text") && part["text"].is_string());
    if (!isText)
      return Status(StatusCode::InvalidArgument,
                    where + ": 'content' has " + describeJson(Json(part)) +
                        "; only texts are supported",
                    "give {\"type\": \"text\", \"text\": …}");
  }
  return Status::ok();
}

static Status prepareMessages(OrderedJson &messages, const std::string &where,
                              const ChatPrompt &chat) {
  const bool knowsDeveloper = chat.mentions("developer");
  for (OrderedJson &message : messages) {
    if (!message.is_object() || !message.contains("role") ||
        !message["role"].is_string())
      return Status(StatusCode::InvalidArgument,
                    where + ": 'messages' has an element without 'role'",
                    "give objects with role and content");
    if (message.contains("content"))
      LLMIR_RETURN_IF_ERROR(checkParts(message["content"], where));
    if (message["role"] == "developer" && !knowsDeveloper)
      message["role"] = "system";
  }
  return Status::ok();
}

Expected<std::string> renderMessages(OrderedJson object,
                                     const std::string &where,
                                     PromptModel &model) {
  if (!object.contains("messages") || !object["messages"].is_array())
    return Status(StatusCode::InvalidArgument,
                  where + ": 'messages' is not an array",
                  "give a list of {\"role\": …, \"content\": …}");
  if (!model.chat)
    return Status(model.chat.status()).withContext(where);
  LLMIR_RETURN_IF_ERROR(
      prepareMessages(object["messages"], where, *model.chat));
  OrderedJson variables = OrderedJson::object();
  variables["add_generation_prompt"] = true;
  if (object.contains("chat_template_kwargs")) {
    const OrderedJson &more = object["chat_template_kwargs"];
    if (!more.is_object())
      return Status(StatusCode::InvalidArgument,
                    where + ": 'chat_template_kwargs' is not an object",
                    "give variables of the template");
    variables.update(more);
  }
  for (const char *key : {"messages", "tools", "documents", "reasoning_effort",
                          "add_generation_prompt"})
    if (object.contains(key) && !object[key].is_null())
      variables[key] = std::move(object[key]);
  Expected<std::string> text = model.chat->render(std::move(variables));
  if (!text)
    return text.takeStatus().withContext(where);
  return text;
}

} // namespace llmir
