//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of tiktoken: a line for each token, its bytes in base64 and its rank.
// They contain neither pattern nor special tokens, which belong to the model's
// code.
//
//===----------------------------------------------------------------------===//

#include "Base64.h"
#include "PreTokenizerNames.h"
#include "RankFiles.h"

#include <algorithm>

namespace llmir {
namespace {

using AddSpecial = void (*)(RankedVocabulary &, uint64_t first);

void addNumbered(RankedVocabulary &vocabulary, const char *prefix,
                 uint64_t first, uint64_t count, uint64_t id) {
  for (uint64_t i = 0; i < count; ++i)
    vocabulary.addSpecial(prefix + std::to_string(first + i) + "|>", id + i);
}

void addQwen(RankedVocabulary &vocabulary, uint64_t id) {
  for (const char *text : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
    vocabulary.addSpecial(text, id++);
  addNumbered(vocabulary, "<|extra_", 0, 205, id);
  vocabulary.composes = true;
  vocabulary.eos = "<|endoftext|>";
}

void addLlama3(RankedVocabulary &vocabulary, uint64_t id) {
  constexpr const char *reserved = "<|reserved_special_token_";
  vocabulary.addSpecial("<|begin_of_text|>", id++);
  vocabulary.addSpecial("<|end_of_text|>", id++);
  addNumbered(vocabulary, reserved, 0, 4, id);
  id += 4;
  vocabulary.addSpecial("<|start_header_id|>", id++);
  vocabulary.addSpecial("<|end_header_id|>", id++);
  addNumbered(vocabulary, reserved, 4, 1, id++);
  vocabulary.addSpecial("<|eot_id|>", id++);
  addNumbered(vocabulary, reserved, 5, 246, id);
  vocabulary.addsBos = true;
  vocabulary.bos = "<|begin_of_text|>";
  vocabulary.eos = "<|end_of_text|>";
}

void addKimi(RankedVocabulary &vocabulary, uint64_t id) {
  addNumbered(vocabulary, "<|reserved_token_", id, 256, id);
}

void addEndOfText(RankedVocabulary &vocabulary, uint64_t id) {
  vocabulary.addSpecial("<|endoftext|>", id);
  vocabulary.eos = "<|endoftext|>";
}

/// The encodings that models use, by their number of tokens.
struct Encoding {
  uint64_t tokens;
  const char *pre; ///< The name of the pre-tokenizer in GGUF files.
  AddSpecial addSpecial;
};
constexpr Encoding encodings[] = {
    {50256, "gpt-2", addEndOfText},   // gpt2, r50k_base
    {100256, "dbrx", nullptr},        // cl100k_base
    {128000, "llama-bpe", addLlama3}, // Llama 3
    {151329, "glm4", nullptr},        // GLM-4
    {151643, "qwen2", addQwen},       // Qwen
    {163584, "kimi-k2", addKimi},     // Kimi K2
    {199998, "gpt-4o", nullptr},      // o200k_base
};

/// Removes the text before a separator, and the separator.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::optional<uint64_t> parseRank(std::string_view text) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::stoull(std::string(text));
}

bool parseLine(std::string_view line, RankedVocabulary *to) {
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  std::string_view rank = line;
  const std::optional<std::string> bytes = decodeBase64(takeUntil(rank, ' '));
  const std::optional<uint64_t> id = parseRank(rank);
  if (!bytes || bytes->empty() || !id)
    return false;
  if (to)
    to->addBytes(*bytes, *id);
  return true;
}

/// Replaces or adds the special tokens that the config declares.
Status addDeclaredTokens(const Json &config, RankedVocabulary &vocabulary) {
  auto found = config.find("added_tokens_decoder");
  if (found == config.end() || !found->is_object())
    return Status::ok();
  for (auto &[key, value] : found->items()) {
    const std::optional<uint64_t> id = parseRank(key);
    if (!id || !value.is_object())
      return Status(StatusCode::InvalidFile,
                    "tokenizer_config.json: 'added_tokens_decoder." +
                        printable(key) +
                        "' is not an object whose key is an id");
    JsonReader reader(value, "tokenizer_config.json",
                      "added_tokens_decoder." + key + ".");
    Expected<std::string> text = reader.string("content");
    if (!text)
      return text.takeStatus();
    Expected<bool> isSpecial = reader.booleanOr("special", false);
    if (!isSpecial)
      return isSpecial.takeStatus();
    if (text->empty())
      return reader.unexpected("content", "a text that is not empty");
    auto &tokens = vocabulary.tokens;
    tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                                [&](const RankedVocabulary::Token &token) {
                                  return token.isAdded && token.id == *id;
                                }),
                 tokens.end());
    vocabulary.addSpecial(*text, *id, *isSpecial);
  }
  return Status::ok();
}

} // namespace

bool looksLikeTiktoken(std::string_view text) {
  return parseLine(takeUntil(text, '\n'), nullptr);
}

Expected<Tokenizer> tokenizerFromTiktoken(std::string_view text,
                                          const Json &config,
                                          const std::string &name) {
  RankedVocabulary vocabulary;
  for (size_t line = 1; !text.empty(); ++line)
    if (std::string_view content = takeUntil(text, '\n');
        !content.empty() && !parseLine(content, &vocabulary))
      return Status(StatusCode::InvalidFile,
                    name + ": line " + std::to_string(line) +
                        " is not a token in base64 and its rank",
                    "download the file again");
  const uint64_t count = vocabulary.tokens.size();
  for (const Encoding &encoding : encodings) {
    if (encoding.tokens != count)
      continue;
    const NamedPreTokenizer *pre = findPreTokenizer(encoding.pre);
    if (!pre || pre->patterns.size() != 1)
      return Status(StatusCode::Internal, "no pattern for a tiktoken file");
    vocabulary.pattern = pre->patterns[0];
    if (encoding.addSpecial)
      encoding.addSpecial(vocabulary, count);
    LLMIR_RETURN_IF_ERROR(addDeclaredTokens(config, vocabulary));
    return rankedTokenizer(std::move(vocabulary), config, name);
  }
  return Status(StatusCode::Unsupported,
                name + ": the pattern of a tiktoken file with " +
                    std::to_string(count) + " tokens is not known",
                "use the model's tokenizer.json");
}

} // namespace llmir
