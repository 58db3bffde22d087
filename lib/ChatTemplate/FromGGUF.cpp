//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/FromGGUF.h"

#include <map>

namespace llmir {

/// The names of special tokens by the key that has their id.
static const std::pair<const char *, const char *> tokenKeys[] = {
    {"tokenizer.ggml.bos_token_id", "bos_token"},
    {"tokenizer.ggml.eos_token_id", "eos_token"},
    {"tokenizer.ggml.unknown_token_id", "unk_token"},
    {"tokenizer.ggml.padding_token_id", "pad_token"},
    {"tokenizer.ggml.seperator_token_id", "sep_token"}, // As llama.cpp spells.
    {"tokenizer.ggml.cls_token_id", "cls_token"},
    {"tokenizer.ggml.mask_token_id", "mask_token"},
};

static void readTokens(const GGUFMetadata &metadata, Json &tokens) {
  std::multimap<int64_t, const char *> wanted;
  for (auto [key, name] : tokenKeys)
    if (const GGUFEntry *entry = metadata.find(key))
      if (std::optional<int64_t> id = entry->integer(); id && *id >= 0)
        wanted.emplace(*id, name);
  Expected<GGUFArray> list =
      metadata.array("tokenizer.ggml.tokens", GGUFType::String);
  if (!list || wanted.empty())
    return;
  int64_t id = 0;
  for (std::string_view text : list->strings()) {
    if (id > wanted.rbegin()->first)
      break;
    auto [begin, end] = wanted.equal_range(id++);
    for (auto each = begin; each != end; ++each)
      if (isValidUtf8(text))
        tokens[each->second] = std::string(text);
  }
}

Expected<ModelTemplates> templatesFromGGUF(const GGUFMetadata &metadata) {
  constexpr std::string_view key = "tokenizer.chat_template";
  ModelTemplates result;
  for (const GGUFEntry &entry : metadata.entries()) {
    std::string_view name = entry.key;
    if (name.substr(0, key.size()) != key)
      continue;
    name.remove_prefix(key.size());
    if (!name.empty() && name[0] != '.')
      continue; // tokenizer.chat_templates lists the names.
    std::optional<std::string_view> source = entry.string();
    if (!source)
      return metadata.failure(StatusCode::InvalidFile, entry.key,
                              "is not a text; expected a chat template");
    result.set(name.empty() ? "default" : name.substr(1), std::string(*source));
  }
  readTokens(metadata, result.tokens);
  return result;
}

} // namespace llmir
