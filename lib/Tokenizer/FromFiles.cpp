//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sources.h"

#include "llmir/Support/MappedFile.h"

namespace llmir {
namespace {

/// Maximum size of a tokenizer file; real ones are below 40 MB.
constexpr uint64_t maxFileBytes = uint64_t(256) << 20;

/// The file of that name in the directory, if it exists.
Expected<std::optional<MappedFile>> openOptional(const std::string &folder,
                                                 const char *name) {
  Expected<MappedFile> file =
      MappedFile::open(folder + "/" + name, maxFileBytes);
  if (file)
    return std::optional<MappedFile>(std::move(*file));
  if (file.status().code() == StatusCode::NotFound)
    return std::optional<MappedFile>();
  return file.takeStatus();
}

/// tokenizer_config.json; missing special tokens are taken from
/// special_tokens_map.json, where older exports store them.
Expected<std::string> readConfig(const std::string &folder) {
  Json config = Json::object();
  for (const char *name :
       {"tokenizer_config.json", "special_tokens_map.json"}) {
    Expected<std::optional<MappedFile>> file = openOptional(folder, name);
    if (!file)
      return file.takeStatus();
    if (!*file)
      continue;
    Expected<Json> json =
        parseJson((*file)->text(), name, tokenizerConfigLimits());
    if (!json)
      return json.takeStatus();
    if (!json->is_object())
      return Status(StatusCode::InvalidFile,
                    std::string(name) + ": not an object");
    for (auto &[key, value] : json->items())
      if (!config.contains(key))
        config[key] = std::move(value);
  }
  return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool looksLikeJson(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '{';
}

/// Whether the name of a file ends with ".txt", a list of words.
bool isList(std::string_view name) {
  return name.size() > 4 && name.substr(name.size() - 4) == ".txt";
}

/// A single file; its contents tell its kind, except for a list of words.
Expected<Tokenizer> fromContents(std::string_view text,
                                 std::string_view configJson,
                                 const std::string &name) {
  if (isList(name)) {
    Expected<Json> config = parseTokenizerConfig(configJson);
    if (!config)
      return config.takeStatus();
    return tokenizerFromLines(text, *config, name);
  }
  return looksLikeJson(text)
             ? Tokenizer::fromTokenizerJson(text, configJson, name)
             : Tokenizer::fromSentencePiece(text, configJson, name);
}

} // namespace

Expected<Tokenizer> Tokenizer::fromFolder(const std::string &folder) {
  Expected<std::string> config = readConfig(folder);
  if (!config)
    return config.takeStatus();
  for (const char *name : {"tokenizer.json", "tokenizer.model", "tekken.json",
                           "spiece.model", "sentencepiece.bpe.model",
                           "tiktoken.model", "qwen.tiktoken", "vocab.txt"}) {
    Expected<std::optional<MappedFile>> file = openOptional(folder, name);
    if (!file)
      return file.takeStatus();
    if (*file)
      return fromContents((*file)->text(), *config, name);
  }
  Expected<std::optional<MappedFile>> vocabulary =
      openOptional(folder, "vocab.json");
  if (!vocabulary)
    return vocabulary.takeStatus();
  Expected<std::optional<MappedFile>> merges =
      openOptional(folder, "merges.txt");
  if (!merges)
    return merges.takeStatus();
  if (*vocabulary && *merges) {
    Expected<Json> json = parseTokenizerConfig(*config);
    if (!json)
      return json.takeStatus();
    return tokenizerFromPairs((*vocabulary)->text(), (*merges)->text(), *json);
  }
  return Status(StatusCode::NotFound,
                folder + ": no tokenizer (tokenizer.json, tokenizer.model, "
                         "tekken.json, spiece.model, tiktoken.model, "
                         "vocab.txt, or vocab.json with merges.txt)",
                "give a directory with the model's tokenizer");
}

Expected<Tokenizer> Tokenizer::fromFile(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path, maxFileBytes);
  if (!file)
    return file.takeStatus();
  std::string name(file->name());
  return fromContents(file->text(), {}, name);
}

} // namespace llmir
