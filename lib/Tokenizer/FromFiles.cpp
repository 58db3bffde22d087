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

} // namespace

Expected<Tokenizer> Tokenizer::fromFolder(const std::string &folder) {
  Expected<std::string> config = readConfig(folder);
  if (!config)
    return config.takeStatus();
  Expected<std::optional<MappedFile>> json =
      openOptional(folder, "tokenizer.json");
  if (!json)
    return json.takeStatus();
  if (*json)
    return fromTokenizerJson((*json)->text(), *config);
  Expected<std::optional<MappedFile>> model =
      openOptional(folder, "tokenizer.model");
  if (!model)
    return model.takeStatus();
  if (*model)
    return fromSentencePiece((*model)->text(), *config);
  return Status(StatusCode::NotFound,
                folder + ": neither tokenizer.json nor tokenizer.model",
                "give a directory with the model's tokenizer");
}

Expected<Tokenizer> Tokenizer::fromFile(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path, maxFileBytes);
  if (!file)
    return file.takeStatus();
  std::string name(file->name());
  return looksLikeJson(file->text())
             ? fromTokenizerJson(file->text(), {}, name)
             : fromSentencePiece(file->text(), {}, name);
}

} // namespace llmir
