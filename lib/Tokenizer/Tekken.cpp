//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral's tekken.json: {"config": …, "vocab": [{"rank", "token_bytes"}, …],
// "special_tokens": [{"rank", "token_str", "is_control"}, …]}. The vocabulary,
// nearly all of the file, is read without a tree.
//
//===----------------------------------------------------------------------===//

#include "Base64.h"
#include "RankFiles.h"

#include "llmir/Support/JsonEvents.h"

namespace llmir {
namespace {

/// The special tokens of files that do not list them; the ids after them are
/// <SPECIAL_20> and so on.
constexpr const char *firstSpecialTokens[] = {"<unk>",
                                              "<s>",
                                              "</s>",
                                              "[INST]",
                                              "[/INST]",
                                              "[AVAILABLE_TOOLS]",
                                              "[/AVAILABLE_TOOLS]",
                                              "[TOOL_RESULTS]",
                                              "[/TOOL_RESULTS]",
                                              "[TOOL_CALLS]",
                                              "[IMG]",
                                              "<pad>",
                                              "[IMG_BREAK]",
                                              "[IMG_END]",
                                              "[PREFIX]",
                                              "[MIDDLE]",
                                              "[SUFFIX]",
                                              "[SYSTEM_PROMPT]",
                                              "[/SYSTEM_PROMPT]",
                                              "[TOOL_CONTENT]"};

/// Those that a file does not list are added, so a number must not suffice to
/// take memory. Real files have 1000.
constexpr uint64_t maxSpecialTokens = 1u << 14;

struct TekkenFile {
  struct Token {
    std::optional<uint64_t> rank;
    std::optional<std::string> bytes, text;
    bool isControl = true;
  };
  std::vector<Token> special;
  RankedVocabulary vocabulary; ///< The ids are still ranks.
  std::string pattern;
  std::optional<uint64_t> size, specialCount;
  bool hasVocabulary = false;
};

/// Follows the three parts of the file; skips all others.
class TekkenEvents : public JsonEvents {
public:
  explicit TekkenEvents(TekkenFile &file) : file(file) {}

  Status beginObject() override {
    if (++depth == 3 && part != Part::Other && part != Part::Config)
      token = TekkenFile::Token();
    return checkRoot();
  }
  Status endObject() override {
    return depth-- == 3 ? finishToken() : Status::ok();
  }
  Status beginArray() override {
    if (++depth == 2 && part == Part::Vocabulary)
      file.hasVocabulary = true;
    return checkRoot();
  }
  Status endArray() override {
    --depth;
    return Status::ok();
  }
  Status key(std::string &&text) override {
    if (depth == 1)
      part = text == "config"           ? Part::Config
             : text == "vocab"          ? Part::Vocabulary
             : text == "special_tokens" ? Part::Special
                                        : Part::Other;
    lastKey = std::move(text);
    return Status::ok();
  }
  Status string(std::string &&text) override {
    if (part == Part::Config && depth == 2 && lastKey == "pattern")
      file.pattern = std::move(text);
    else if (isToken() && lastKey == "token_bytes")
      token.bytes = std::move(text);
    else if (isToken() && lastKey == "token_str")
      token.text = std::move(text);
    return checkRoot();
  }
  Status unsignedInteger(uint64_t value) override {
    if (part == Part::Config && depth == 2 && lastKey == "default_vocab_size")
      file.size = value;
    else if (part == Part::Config && depth == 2 &&
             lastKey == "default_num_special_tokens")
      file.specialCount = value;
    else if (isToken() && lastKey == "rank")
      token.rank = value;
    return checkRoot();
  }
  Status boolean(bool value) override {
    if (isToken() && lastKey == "is_control")
      token.isControl = value;
    return checkRoot();
  }
  Status negativeInteger(int64_t) override { return checkRoot(); }
  Status number(double) override { return checkRoot(); }
  Status null() override { return checkRoot(); }

private:
  enum class Part { Other, Config, Vocabulary, Special };

  bool isToken() const {
    return depth == 3 && (part == Part::Vocabulary || part == Part::Special);
  }
  Status checkRoot() const {
    return depth > 0 ? Status::ok()
                     : Status(StatusCode::InvalidFile, "is not an object");
  }

  Status finishToken() {
    if (part == Part::Special) {
      if (!token.rank || !token.text || token.text->empty())
        return Status(StatusCode::InvalidFile,
                      "'special_tokens' entry " +
                          std::to_string(file.special.size()) +
                          " has no 'rank' or no 'token_str'");
      file.special.push_back(std::move(token));
    } else if (part == Part::Vocabulary) {
      std::optional<std::string> bytes;
      if (token.bytes)
        bytes = decodeBase64(*token.bytes);
      if (!token.rank || !bytes || bytes->empty())
        return Status(StatusCode::InvalidFile,
                      "'vocab' entry " +
                          std::to_string(file.vocabulary.tokens.size()) +
                          " has no 'rank' or no 'token_bytes' in base64");
      file.vocabulary.addBytes(*bytes, *token.rank);
    }
    return Status::ok();
  }

  TekkenFile &file;
  TekkenFile::Token token;
  Part part = Part::Other;
  std::string lastKey;
  size_t depth = 0;
};

Status checkConfig(const TekkenFile &file, const std::string &name) {
  auto wrong = [&](const std::string &problem) {
    return Status(StatusCode::InvalidFile, name + ": " + problem);
  };
  if (!file.hasVocabulary)
    return wrong("'vocab' is missing or not a list");
  if (file.pattern.empty())
    return wrong("'config.pattern' is missing or not a text");
  if (!file.size || !file.specialCount)
    return wrong("'config.default_vocab_size' or "
                 "'config.default_num_special_tokens' is missing or not a "
                 "number");
  if (*file.specialCount > maxSpecialTokens)
    return wrong("'config.default_num_special_tokens' is " +
                 std::to_string(*file.specialCount) + "; the limit is " +
                 std::to_string(maxSpecialTokens));
  if (*file.specialCount > *file.size ||
      *file.size - *file.specialCount > file.vocabulary.tokens.size())
    return wrong("'config.default_vocab_size' is " +
                 std::to_string(*file.size) + ", but there are " +
                 std::to_string(file.vocabulary.tokens.size()) +
                 " tokens and " + std::to_string(*file.specialCount) +
                 " special tokens");
  return Status::ok();
}

/// Replaces ranks by ids and adds the special tokens.
Status addSpecialTokens(TekkenFile &file, const std::string &name) {
  const uint64_t count = *file.specialCount;
  RankedVocabulary &vocabulary = file.vocabulary;
  // A file has more tokens than the model.
  std::vector<RankedVocabulary::Token> used;
  for (const RankedVocabulary::Token &token : vocabulary.tokens)
    if (token.id < *file.size - count)
      used.push_back({token.text, token.id + count, false, false});
  vocabulary.tokens = std::move(used);

  std::vector<bool> isNamed(count);
  for (TekkenFile::Token &token : file.special) {
    if (*token.rank >= count)
      return Status(StatusCode::InvalidFile,
                    name + ": special token '" + printable(*token.text) +
                        "' has rank " + std::to_string(*token.rank) +
                        "; there are " + std::to_string(count));
    isNamed[*token.rank] = true;
    vocabulary.addSpecial(std::move(*token.text), *token.rank, token.isControl);
  }
  const bool hasList = !file.special.empty();
  for (uint64_t id = 0; id < count; ++id)
    if (!isNamed[id])
      vocabulary.addSpecial(!hasList && id < std::size(firstSpecialTokens)
                                ? firstSpecialTokens[id]
                                : "<SPECIAL_" + std::to_string(id) + ">",
                            id);
  return Status::ok();
}

} // namespace

bool looksLikeTekken(std::string_view json) {
  const std::string_view start = json.substr(0, 4096);
  return start.find("\"default_num_special_tokens\"") !=
             std::string_view::npos ||
         start.find("\"token_bytes\"") != std::string_view::npos;
}

Expected<Tokenizer> tokenizerFromTekken(std::string_view json,
                                        const Json &config,
                                        const std::string &name) {
  TekkenFile file;
  TekkenEvents events(file);
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(json, name, JsonLimits(), events));
  LLMIR_RETURN_IF_ERROR(checkConfig(file, name));
  LLMIR_RETURN_IF_ERROR(addSpecialTokens(file, name));
  file.vocabulary.pattern = file.pattern;
  file.vocabulary.addsBos = true;
  file.vocabulary.bos = "<s>";
  file.vocabulary.eos = "</s>";
  file.vocabulary.unknown = "<unk>";
  file.vocabulary.padding = "<pad>";
  return rankedTokenizer(std::move(file.vocabulary), config, name);
}

} // namespace llmir
