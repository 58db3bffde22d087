//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sources.h"

#include <algorithm>

namespace llmir {

PreTokenizerStep splitStep(std::string pattern, bool isRegex,
                           PreTokenizerStep::Behavior behavior) {
  PreTokenizerStep step;
  step.kind =
      isRegex ? PreTokenizerStep::SplitRegex : PreTokenizerStep::SplitString;
  step.behavior = behavior;
  const bool ofWords = pattern == digitGroupsOfWords;
  if (isRegex && behavior == PreTokenizerStep::Isolated &&
      (ofWords || pattern == digitGroups)) {
    step.kind = PreTokenizerStep::DigitGroups;
    pattern = ofWords ? "word" : "";
  }
  step.pattern = std::move(pattern);
  return step;
}

/// The keys of tokenizer_config.json that name a token.
static constexpr const char *namedTokens[] = {"bos_token", "eos_token",
                                              "unk_token", "pad_token"};

/// Whether the value of such a key can be one; null and false are none.
static bool isToken(const Json &value) {
  if (!value.is_object())
    return value.is_string() || value.is_null() || value == Json(false);
  auto content = value.find("content");
  return content == value.end() || content->is_string() || content->is_null();
}

Expected<Json> parseTokenizerConfig(std::string_view json) {
  if (json.empty())
    return Json(Json::object());
  Expected<Json> config =
      parseJson(json, "tokenizer_config.json", tokenizerConfigLimits());
  if (config && !config->is_object())
    return Status(StatusCode::InvalidFile,
                  "tokenizer_config.json: not an object");
  if (config)
    for (const char *key : namedTokens)
      if (auto found = config->find(key);
          found != config->end() && !isToken(*found))
        return JsonReader(*config, "tokenizer_config.json")
            .unexpected(key, "a text, or an object with a text as 'content'");
  return config;
}

std::string configToken(const Json &config, const char *key) {
  auto found = config.find(key);
  if (found == config.end())
    return {};
  const Json *value = &*found;
  if (value->is_object()) {
    auto content = value->find("content");
    if (content == value->end())
      return {};
    value = &*content;
  }
  return value->is_string() ? value->get<std::string>() : std::string();
}

int32_t findToken(const TokenizerSpec &spec, std::string_view text) {
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if ((spec.flags[id] & TokenPresent) && spec.tokens[id] == text)
      return static_cast<int32_t>(id);
  return -1;
}

void applyConfigTokens(const Json &config, TokenizerSpec &spec) {
  const std::pair<const char *, int32_t *> named[] = {
      {"bos_token", &spec.bos},
      {"eos_token", &spec.eos},
      {"unk_token", &spec.unknown},
      {"pad_token", &spec.padding}};
  for (auto [key, id] : named) {
    std::string text = configToken(config, key);
    if (!text.empty())
      *id = findToken(spec, text);
  }
}

Status TokenCollector::add(std::string_view text, uint64_t id, uint8_t flags) {
  if (id >= maxTokenIds)
    return Status(StatusCode::InvalidFile,
                  "token '" + printable(text) + "' has id " +
                      std::to_string(id) + "; the limit is " +
                      std::to_string(maxTokenIds - 1));
  list.push_back({text, static_cast<uint32_t>(id), flags});
  return Status::ok();
}

Status TokenCollector::finish(TokenizerSpec &spec) {
  std::sort(list.begin(), list.end(),
            [](const Token &a, const Token &b) { return a.id < b.id; });
  uint64_t limit = uint64_t(list.size()) * 4 + (1u << 16);
  if (!list.empty() && list.back().id >= limit)
    return Status(StatusCode::InvalidFile,
                  "token '" + printable(list.back().text) + "' has id " +
                      std::to_string(list.back().id) +
                      ", far beyond the number of tokens, " +
                      std::to_string(list.size()));
  uint64_t bytes = 0;
  for (const Token &token : list)
    bytes += token.text.size();
  if (bytes > UINT32_MAX)
    return Status(StatusCode::Unsupported,
                  "the vocabulary has " + std::to_string(bytes) + " bytes");
  spec.tokens.text.reserve(bytes);
  for (const Token &token : list) {
    if (token.id < spec.flags.size())
      return Status(StatusCode::InvalidFile,
                    "tokens '" + printable(spec.tokens[token.id]) + "' and '" +
                        printable(token.text) + "' both have id " +
                        std::to_string(token.id));
    while (spec.flags.size() < token.id) {
      spec.tokens.append({});
      spec.flags.push_back(0);
    }
    spec.tokens.append(token.text);
    spec.flags.push_back(token.flags);
  }
  return Status::ok();
}

} // namespace llmir
