//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vocabularies in plain files: vocab.txt of BERT; vocab.json with merges.txt of
// GPT-2 and its relatives.
//
//===----------------------------------------------------------------------===//

#include "JsonStages.h"
#include "Sources.h"
#include "TokenizerFile.h"

#include <set>
#include <unordered_map>

namespace llmir {
namespace {

/// The text in the config, or the usual one.
std::string tokenOr(const Json &config, const char *key, const char *usual) {
  std::string text = configToken(config, key);
  return text.empty() ? usual : text;
}

/// Calls `line(text)` for each line without its end.
template <typename Line> Status forEachLine(std::string_view text, Line line) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!content.empty() && content.back() == '\r')
      content.remove_suffix(1);
    LLMIR_RETURN_IF_ERROR(line(content));
  }
  return Status::ok();
}

/// A line is a token, its number the id. Of equal lines the last one counts.
Status collectLines(std::string_view text, TokenizerSpec &spec) {
  std::unordered_map<std::string_view, uint64_t> ids;
  uint64_t next = 0;
  LLMIR_RETURN_IF_ERROR(forEachLine(text, [&](std::string_view line) {
    if (!line.empty())
      ids[line] = next;
    ++next;
    return Status::ok();
  }));
  TokenCollector collector;
  for (auto &[line, id] : ids)
    LLMIR_RETURN_IF_ERROR(
        collector.add(line, id, TokenPresent | TokenMergeable));
  return collector.finish(spec);
}

Status addBertStages(const Json &config, TokenizerSpec &spec) {
  JsonReader reader(config, "tokenizer_config.json");
  Expected<bool> lowercases = reader.booleanOr("do_lower_case", true);
  if (!lowercases)
    return lowercases.takeStatus();
  Expected<bool> separates = reader.booleanOr("tokenize_chinese_chars", true);
  Expected<bool> strips = reader.booleanOr("strip_accents", *lowercases);
  for (Expected<bool> *value : {&separates, &strips})
    if (!*value)
      return value->takeStatus();
  spec.normalizers.push_back(
      bertNormalizer(/*cleans=*/true, *separates, *strips, *lowercases));
  addBertPreTokenizer(spec);
  addWordPieceDecoder("##", /*cleans=*/true, spec);
  return Status::ok();
}

} // namespace

Expected<Tokenizer> tokenizerFromLines(std::string_view text,
                                       const Json &config,
                                       const std::string &name) {
  TokenizerSpec spec;
  LLMIR_RETURN_IF_ERROR(collectLines(text, spec).withContext(name));
  spec.model = TokenizerModel::WordPiece;
  spec.continuingPrefix = "##";
  LLMIR_RETURN_IF_ERROR(addBertStages(config, spec));
  auto special = [&](const char *key, const char *usual) {
    const std::string token = tokenOr(config, key, usual);
    const int32_t id = findToken(spec, token);
    if (id >= 0)
      spec.addedTokens.push_back({id, AddedToken::Special, token});
    return id;
  };
  spec.unknown = spec.unknownToken = special("unk_token", "[UNK]");
  spec.padding = special("pad_token", "[PAD]");
  const int32_t first = special("cls_token", "[CLS]");
  const int32_t last = special("sep_token", "[SEP]");
  special("mask_token", "[MASK]");
  if (first >= 0)
    spec.prefix.push_back(first);
  if (last >= 0)
    spec.suffix.push_back(last);
  Expected<Tokenizer> result = buildTokenizer(std::move(spec));
  if (!result)
    return result.takeStatus().withContext(name);
  return result;
}

//===----------------------------------------------------------------------===//
// vocab.json and merges.txt
//===----------------------------------------------------------------------===//

namespace {

/// The stages that the class of the tokenizer implies.
Status addStagesOfClass(const Json &config, Json &file) {
  const std::string type = configToken(config, "tokenizer_class");
  auto is = [&](const char *name) { return type.rfind(name, 0) == 0; };
  const Json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  file["pre_tokenizer"] = bytes;
  file["decoder"] = {{"type", "ByteLevel"}};
  if (type.empty() || is("GPT2") || is("GPTNeoX") || is("CodeGen"))
    return Status::ok();
  if (is("Qwen2")) {
    file["normalizer"] = {{"type", "NFC"}};
    Json split = {{"type", "Split"},
                  {"behavior", "Isolated"},
                  {"pattern", {{"Regex", qwenPattern()}}}};
    Json mapping = bytes;
    mapping["use_regex"] = false;
    file["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers", Json::array({split, mapping})}};
    return Status::ok();
  }
  return Status(StatusCode::Unsupported,
                "vocab.json: the pre-tokenizer of the class '" +
                    printable(type) + "' is not known",
                "use the model's tokenizer.json");
}

/// The special tokens that the config names, if the vocabulary has them.
Json namedTokens(const Json &config, const TokenizerFile &file) {
  std::set<std::string> wanted = {"<|endoftext|>"};
  for (const char *key : {"bos_token", "eos_token", "unk_token", "pad_token"})
    wanted.insert(configToken(config, key));
  Json tokens = Json::array();
  for (size_t i = 0; i < file.vocabulary.size(); ++i)
    if (i < file.ids.size() && wanted.count(std::string(file.vocabulary[i])))
      tokens.push_back({{"id", file.ids[i]},
                        {"content", std::string(file.vocabulary[i])},
                        {"special", true}});
  return tokens;
}

} // namespace

/// Names both files in messages about a tokenizer of pairs.
static const char *const pairsName = "vocab.json with merges.txt";

Expected<Tokenizer> tokenizerFromPairs(std::string_view vocabulary,
                                       std::string_view merges,
                                       const Json &config) {
  std::string json = "{\"model\":{\"type\":\"BPE\",\"merges\":[\"#version\"";
  LLMIR_RETURN_IF_ERROR(forEachLine(merges, [&](std::string_view line) {
    if (!line.empty() && line.substr(0, 8) != "#version")
      json += "," + Json(std::string(line))
                        .dump(-1, ' ', false, Json::error_handler_t::replace);
    return Status::ok();
  }));
  json += "],\"vocab\":";
  json += vocabulary;
  json += "}}";
  Expected<TokenizerFile> file = TokenizerFile::parse(json, pairsName);
  if (!file)
    return file.takeStatus();
  // A text that ends its object early could go on with other members.
  if (file->rest.size() != 1 || file->rest["model"].size() != 3)
    return Status(StatusCode::InvalidFile, "vocab.json: more than one object",
                  "download the file again");
  LLMIR_RETURN_IF_ERROR(addStagesOfClass(config, file->rest));
  auto declared = config.find("added_tokens_decoder");
  Json added = Json::array();
  if (declared != config.end() && declared->is_object())
    for (auto &[key, value] : declared->items()) {
      const bool isId =
          !key.empty() && key.size() <= 8 &&
          key.find_first_not_of("0123456789") == std::string::npos;
      if (!isId || !value.is_object())
        return Status(StatusCode::InvalidFile,
                      "tokenizer_config.json: 'added_tokens_decoder." +
                          printable(key) +
                          "' is not an object whose key is an id");
      added.push_back(value);
      added.back()["id"] = std::stoul(key);
    }
  file->rest["added_tokens"] =
      added.empty() ? namedTokens(config, *file) : std::move(added);
  return tokenizerOf(*file, config, pairsName);
}

} // namespace llmir
