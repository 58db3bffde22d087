//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/AnswerReader.h"

using namespace llmir;

std::optional<double> AnswerRecord::timePerToken() const {
  if (outputTokens < 2)
    return std::nullopt;
  return (latency - firstToken) / static_cast<double>(outputTokens - 1);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// The element of an object, or null.
static const Json *find(const Json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Appends a text to the answer; whether there is one.
static bool appendText(const Json *value, std::string &text) {
  if (!value || !value->is_string())
    return false;
  const auto &part = value->get_ref<const std::string &>();
  text += part;
  return !part.empty();
}

/// A chunk of tokens arrived.
void AnswerReader::takeOutput(double now) {
  if (hasOutput)
    record.gaps.push_back(now - lastOutput);
  else
    record.firstToken = latest(now);
  hasOutput = true;
  lastOutput = now;
}

void AnswerReader::takeChoice(const Json &choice, double now) {
  record.latency = latest(now);
  const bool isLast = find(choice, "finish_reason") != nullptr;
  bool carriesOutput = false;
  if (api == LoadApi::Completions) {
    // The text of a token can be empty, as that of a part of a character.
    carriesOutput = appendText(find(choice, "text"), record.text) || !isLast;
  } else if (const Json *delta = find(choice, "delta")) {
    carriesOutput = appendText(find(*delta, "content"), record.text);
    std::string notSaid; // Reasoning is not part of the conversation.
    for (const char *key : {"reasoning_content", "reasoning"})
      carriesOutput |= appendText(find(*delta, key), notSaid);
    carriesOutput |= find(*delta, "tool_calls") != nullptr;
    // The first chunk may only name the role, before there is a token.
    carriesOutput |= !isLast && !find(*delta, "role");
  }
  isFinished |= isLast;
  // Without any other chunk, the last one is that of the only token.
  if (carriesOutput || (isLast && !hasOutput))
    takeOutput(now);
}

void AnswerReader::takeUsage(const Json &usage) {
  const auto count = [](const Json *value) {
    return value && value->is_number_unsigned()
               ? std::optional<int64_t>(value->get<int64_t>())
               : std::nullopt;
  };
  const auto prompt = count(find(usage, "prompt_tokens"));
  const auto output = count(find(usage, "completion_tokens"));
  if (!prompt || !output)
    return;
  hasUsage = true;
  record.promptTokens = *prompt;
  record.outputTokens = *output;
  if (const Json *details = find(usage, "prompt_tokens_details"))
    record.cachedTokens = count(find(*details, "cached_tokens"));
}

void AnswerReader::takeEvent(const ServerSentEvent &event, double now) {
  hasEvents = true;
  if (event.data == "[DONE]") {
    isFinished = true;
    return;
  }
  const Expected<Json> json = parseJson(event.data, "an event of the stream");
  if (!json) {
    streamFailure = json.status().cause();
    return;
  }
  if (find(*json, "error")) {
    streamFailure =
        "an error in the stream: " + refusalMessage(std::string(event.data));
    return;
  }
  if (const Json *choices = find(*json, "choices");
      choices && choices->is_array() && !choices->empty())
    takeChoice(choices->front(), now);
  if (const Json *usage = find(*json, "usage"))
    takeUsage(*usage);
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

Status AnswerReader::take(long status, std::string_view bytes, double now) {
  constexpr size_t mostBody = 4096;
  if (!hasEvents && body.size() < mostBody)
    body += bytes.substr(0, mostBody - body.size());
  if (status != 200)
    return Status::ok();
  return parser.take(
      bytes, [&](const ServerSentEvent &event) { takeEvent(event, now); });
}

std::string AnswerReader::failureOf(const HttpEnd &end) const {
  if (end.status != 0 && end.status != 200)
    return describeRefusal(end.status, body);
  if (!streamFailure.empty())
    return streamFailure;
  if (!end.failure)
    return end.failure.cause();
  if (!hasEvents)
    return "the answer is not a stream of events: " + printable(body, 200);
  if (!isFinished)
    return "the stream ended early";
  if (!hasOutput)
    return "the stream has no tokens";
  if (!hasUsage)
    return "the stream has no usage: the number of its tokens is unknown";
  return {};
}

AnswerRecord AnswerReader::finish(const HttpEnd &end) {
  record.failure = failureOf(end);
  return std::move(record);
}
