//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Target.h"

#include "llmir/Support/Text.h"

#include <algorithm>
#include <set>

using namespace llmir;

using Clock = std::chrono::steady_clock;

Expected<LoadApi> LoadTarget::api() const {
  if (endsWith(endpoint, "/chat/completions"))
    return LoadApi::Chat;
  if (endsWith(endpoint, "/completions"))
    return LoadApi::Completions;
  return Status(StatusCode::InvalidArgument,
                "the endpoint '" + endpoint + "' cannot be measured",
                "give /v1/completions or /v1/chat/completions");
}

Expected<std::string> llmir::serverAddress(const std::string &given) {
  if (!startsWith(given, "http://") && !startsWith(given, "https://"))
    return Status(StatusCode::InvalidArgument,
                  "'" + given + "' is not the address of a server",
                  "give one such as http://127.0.0.1:8080");
  std::string_view address = given;
  const auto dropSlashes = [&] {
    while (endsWith(address, "/"))
      address.remove_suffix(1);
  };
  dropSlashes();
  if (endsWith(address, "/v1"))
    address.remove_suffix(3);
  dropSlashes();
  return std::string(address);
}

static std::string dumped(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string llmir::requestBody(const LoadTarget &target, LoadApi api,
                               Json content, int64_t maxTokens) {
  Json body = target.extra;
  body["model"] = target.model;
  body[api == LoadApi::Chat ? "messages" : "prompt"] = std::move(content);
  body["max_tokens"] = maxTokens;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (target.ignoresEos)
    body["ignore_eos"] = true;
  if (target.temperature)
    body["temperature"] = *target.temperature;
  return dumped(body);
}

//===----------------------------------------------------------------------===//
// Answers that are not streams
//===----------------------------------------------------------------------===//

/// The message in the JSON of a refusal, or null.
static const std::string *messageIn(const Json &json) {
  if (!json.is_object())
    return nullptr;
  for (const char *key : {"message", "detail", "error"})
    if (auto found = json.find(key); found != json.end()) {
      if (found->is_string())
        return &found->get_ref<const std::string &>();
      if (const std::string *inner = messageIn(*found))
        return inner;
    }
  return nullptr;
}

std::string llmir::refusalMessage(const std::string &body) {
  const Expected<Json> json = parseJson(body, "the answer");
  const std::string *message = json ? messageIn(*json) : nullptr;
  return printable(message ? *message : body, 300);
}

std::string llmir::describeRefusal(long status, const std::string &body) {
  const std::string message = refusalMessage(body);
  return "status " + std::to_string(status) + (message.empty() ? "" : ": ") +
         message;
}

//===----------------------------------------------------------------------===//
// Readiness
//===----------------------------------------------------------------------===//

/// The first model of a list of models; empty if there is none.
static std::string firstModel(const std::string &body) {
  const Expected<Json> json = parseJson(body, "the list of models");
  if (!json || !json->is_object())
    return {};
  const auto data = json->find("data");
  if (data == json->end() || !data->is_array() || data->empty())
    return {};
  const Json &first = data->front();
  const auto id = first.is_object() ? first.find("id") : first.end();
  return id != first.end() && id->is_string() ? id->get<std::string>()
                                              : std::string();
}

/// Whether another attempt may succeed: nothing listens, or the model is still
/// being loaded.
static bool mayBecomeReady(const HttpAnswer &answer) {
  return answer.end.status == 0 || answer.end.status >= 500;
}

static Status notReady(const LoadTarget &target, const HttpAnswer &answer) {
  if (!answer.end.failure)
    return Status(StatusCode::IoError,
                  "no server answers at " + target.base + ": " +
                      answer.end.failure.cause(),
                  "start it, or give --base-url and --ready-timeout");
  return Status(
      StatusCode::IoError,
      target.base +
          "/v1/models: " + describeRefusal(answer.end.status, answer.body),
      answer.end.status == 401 || answer.end.status == 403
          ? "give the server's key with --api-key"
      : mayBecomeReady(answer) ? "give a longer --ready-timeout"
                               : "give --model and an address of OpenAI's "
                                 "API with --base-url");
}

/// Waits, while other calls continue.
static Status pause(StreamClient &client, std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  while (Clock::now() < end)
    LLMIR_RETURN_IF_ERROR(client.poll(end));
  return Status::ok();
}

Status llmir::waitUntilReady(StreamClient &client, LoadTarget &target,
                             std::chrono::seconds patience,
                             const std::function<void()> &onWait) {
  const Clock::time_point end = Clock::now() + patience;
  for (;;) {
    const HttpAnswer answer =
        client.call({target.base + "/v1/models", std::nullopt});
    // A server without a list of models can be used if the name is given.
    const bool hasNoList = answer.end.status == 404 || answer.end.status == 405;
    if (answer.end.failure &&
        (answer.end.status == 200 || (hasNoList && !target.model.empty()))) {
      if (target.model.empty())
        target.model = firstModel(answer.body);
      if (target.model.empty())
        return Status(StatusCode::NotFound, target.base + " lists no models",
                      "give --model");
      return Status::ok();
    }
    if (!mayBecomeReady(answer) || Clock::now() >= end)
      return notReady(target, answer);
    onWait();
    LLMIR_RETURN_IF_ERROR(pause(client, std::chrono::milliseconds(200)));
  }
}

//===----------------------------------------------------------------------===//
// Token ids
//===----------------------------------------------------------------------===//

/// The ids in an answer of /tokenize, ascending; empty if it has none.
static std::vector<int32_t> idsIn(const HttpAnswer &answer) {
  if (!answer.end.failure || answer.end.status != 200)
    return {};
  const Expected<Json> json = parseJson(answer.body, "the tokens");
  if (!json || !json->is_object())
    return {};
  const auto tokens = json->find("tokens");
  if (tokens == json->end() || !tokens->is_array())
    return {};
  std::set<int32_t> ids;
  for (const Json &token : *tokens) {
    if (!token.is_number_integer() || token < 0 || token > INT32_MAX)
      return {};
    ids.insert(token.get<int32_t>());
  }
  return {ids.begin(), ids.end()};
}

Expected<std::vector<int32_t>> llmir::tokensOf(StreamClient &client,
                                               const LoadTarget &target,
                                               const std::string &text) {
  const Json forms[] = {{{"model", target.model},
                         {"prompt", text},
                         {"add_special_tokens", false}},
                        {{"content", text}}}; // vLLM's and llama.cpp's.
  for (const Json &form : forms) {
    std::vector<int32_t> ids =
        idsIn(client.call({target.base + "/tokenize", dumped(form)}));
    if (ids.size() > 1)
      return ids;
  }
  return Status(StatusCode::Unsupported,
                target.base + "/tokenize gives no token ids",
                "give --vocab-size, or --prompt-form text");
}
