//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/LogprobsJson.h"

#include "llmir/Tokenizer/StreamDecoder.h"

#include <algorithm>

namespace llmir {

static std::string textOfToken(const Tokenizer *tokenizer, int32_t id) {
  StreamDecoderOptions style;
  style.skipSpecialTokens = false;
  style.continuesText = true;
  StreamDecoder decoder(*tokenizer, style);
  std::string text = decoder.feed(id);
  text += decoder.flush();
  return text;
}

std::string nameOfToken(const Tokenizer *tokenizer, int32_t id) {
  const std::string number = "token_id:" + std::to_string(id);
  if (!tokenizer || !tokenizer->hasToken(id))
    return number;
  std::string text = textOfToken(tokenizer, id);
  return text.find("\uFFFD") == std::string::npos ? text : number;
}

static double finite(float logprob) {
  return std::max(static_cast<double>(logprob), -9999.0);
}

Json completionLogprobs(const Tokenizer *tokenizer,
                        Span<const TokenLogprobs> logprobs,
                        Span<const int64_t> offsets) {
  Json tokens = Json::array(), own = Json::array(), top = Json::array();
  for (const TokenLogprobs &each : logprobs) {
    tokens.push_back(nameOfToken(tokenizer, each.token));
    own.push_back(finite(each.logprob));
    Json best = Json::object(); // Of tokens with the same text, the first.
    for (const TokenLogprob &other : each.top)
      best.emplace(nameOfToken(tokenizer, other.token), finite(other.logprob));
    best.emplace(nameOfToken(tokenizer, each.token), finite(each.logprob));
    top.push_back(std::move(best));
  }
  return {
      {"tokens", std::move(tokens)},
      {"token_logprobs", std::move(own)},
      {"top_logprobs", std::move(top)},
      {"text_offset", std::vector<int64_t>(offsets.begin(), offsets.end())}};
}

Json echoedLogprobs(const Tokenizer *tokenizer, int32_t first,
                    Span<const TokenLogprobs> others,
                    Span<const int64_t> offsets) {
  Json result = completionLogprobs(tokenizer, others, offsets);
  const auto addFirst = [&](const char *key, Json value) {
    result[key].insert(result[key].begin(), std::move(value));
  };
  addFirst("tokens", nameOfToken(tokenizer, first));
  addFirst("token_logprobs", nullptr);
  addFirst("top_logprobs", nullptr);
  return result;
}

static Json chatLogprob(const Tokenizer *tokenizer, int32_t token,
                        float logprob) {
  Json bytes = nullptr;
  if (tokenizer && tokenizer->hasToken(token)) {
    bytes = Json::array();
    for (char c : bytesOfToken(*tokenizer, token))
      bytes.push_back(static_cast<unsigned char>(c));
  }
  return {{"token", nameOfToken(tokenizer, token)},
          {"logprob", finite(logprob)},
          {"bytes", std::move(bytes)}};
}

Json chatLogprobs(const Tokenizer *tokenizer,
                  Span<const TokenLogprobs> logprobs) {
  Json content = Json::array();
  for (const TokenLogprobs &each : logprobs) {
    Json entry = chatLogprob(tokenizer, each.token, each.logprob);
    Json top = Json::array();
    for (const TokenLogprob &other : each.top)
      top.push_back(chatLogprob(tokenizer, other.token, other.logprob));
    entry["top_logprobs"] = std::move(top);
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}};
}

Json promptLogprobs(const Tokenizer *tokenizer,
                    Span<const TokenLogprobs> logprobs) {
  Json result = Json::array({nullptr});
  auto describe = [&](int32_t token, float logprob, int64_t rank) {
    return Json{{"logprob", finite(logprob)},
                {"rank", rank},
                {"decoded_token", nameOfToken(tokenizer, token)}};
  };
  for (const TokenLogprobs &each : logprobs) {
    Json object = Json::object();
    int64_t rank = 0;
    for (const TokenLogprob &other : each.top)
      object.emplace(std::to_string(other.token),
                     describe(other.token, other.logprob, ++rank));
    object.emplace(std::to_string(each.token),
                   describe(each.token, each.logprob, each.rank));
    result.push_back(std::move(object));
  }
  return result;
}

} // namespace llmir
