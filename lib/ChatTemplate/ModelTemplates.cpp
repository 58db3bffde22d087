//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/ModelTemplates.h"

#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <optional>

namespace llmir {
namespace {

constexpr uint64_t maxConfigBytes = uint64_t(64) << 20;
constexpr uint64_t maxTemplateBytes = uint64_t(4) << 20;

/// The special tokens that transformers gives templates.
constexpr const char *tokenNames[] = {"bos_token", "eos_token", "unk_token",
                                      "sep_token", "pad_token", "cls_token",
                                      "mask_token"};

Expected<std::optional<MappedFile>> openOptional(const std::string &path,
                                                 uint64_t maxBytes) {
  Expected<MappedFile> file = MappedFile::open(path, maxBytes);
  if (file)
    return std::optional<MappedFile>(std::move(*file));
  if (file.status().code() == StatusCode::NotFound)
    return std::optional<MappedFile>();
  return file.takeStatus();
}

/// A token is its text, or an object with it.
void readToken(const Json &value, const char *name, Json &tokens) {
  if (value.is_string() || value.is_null())
    tokens[name] = value;
  else if (value.is_object() && value.contains("content") &&
           value["content"].is_string())
    tokens[name] = value["content"];
}

void readTokens(const Json &config, Json &tokens) {
  for (const char *name : tokenNames)
    if (auto found = config.find(name);
        found != config.end() && !tokens.contains(name))
      readToken(*found, name, tokens);
}

Status readTemplates(const Json &value, const char *file,
                     ModelTemplates &result) {
  auto malformed = [&] {
    return Status(StatusCode::InvalidFile,
                  std::string(file) + ": 'chat_template' is " +
                      describeJson(value) +
                      "; expected a text or a list of named templates");
  };
  if (value.is_string()) {
    result.set("default", value.get<std::string>());
    return Status::ok();
  }
  if (!value.is_array())
    return malformed();
  for (const Json &entry : value) {
    if (!entry.is_object() || !entry.contains("name") ||
        !entry.contains("template") || !entry["name"].is_string() ||
        !entry["template"].is_string())
      return malformed();
    result.set(entry["name"].get<std::string>(),
               entry["template"].get<std::string>());
  }
  return Status::ok();
}

/// Reads a configuration file, if it exists; templates only if they are wanted.
Status readConfig(const std::string &folder, const char *name,
                  bool wantsTemplates, ModelTemplates &result) {
  auto file = openOptional(folder + "/" + name, maxConfigBytes);
  if (!file)
    return file.takeStatus();
  if (!*file)
    return Status::ok();
  JsonLimits limits;
  limits.maxBytes = maxConfigBytes;
  Expected<Json> config = parseJson((*file)->text(), name, limits);
  if (!config)
    return config.takeStatus();
  if (!config->is_object())
    return Status(StatusCode::InvalidFile,
                  std::string(name) + ": not an object");
  readTokens(*config, result.tokens);
  if (auto found = config->find("chat_template");
      wantsTemplates && found != config->end() && !found->is_null())
    return readTemplates(*found, name, result);
  return Status::ok();
}

/// The names of the files in a directory that end with ".jinja"; none if it
/// does not exist.
std::vector<std::string> templateFiles(const std::string &folder) {
  std::vector<std::string> names;
  DIR *handle = opendir(folder.c_str());
  if (!handle)
    return names;
  constexpr std::string_view ending = ".jinja";
  while (const dirent *entry = readdir(handle)) {
    std::string_view name = entry->d_name;
    if (name.size() > ending.size() &&
        name.substr(name.size() - ending.size()) == ending)
      names.emplace_back(name.substr(0, name.size() - ending.size()));
  }
  closedir(handle);
  std::sort(names.begin(), names.end());
  return names;
}

Status readFile(const std::string &path, std::string_view name,
                ModelTemplates &result) {
  auto file = openOptional(path, maxTemplateBytes);
  if (!file)
    return file.takeStatus();
  if (*file)
    result.set(name, std::string((*file)->text()));
  return Status::ok();
}

} // namespace

Expected<ModelTemplates> ModelTemplates::fromFolder(const std::string &folder) {
  ModelTemplates result;
  LLMIR_RETURN_IF_ERROR(
      readFile(folder + "/chat_template.jinja", "default", result));
  const std::string more = folder + "/additional_chat_templates";
  for (const std::string &name : templateFiles(more))
    LLMIR_RETURN_IF_ERROR(readFile(more + "/" + name + ".jinja", name, result));
  const bool isComplete = !result.templates.empty();
  for (const char *name : {"tokenizer_config.json", "special_tokens_map.json"})
    LLMIR_RETURN_IF_ERROR(readConfig(folder, name, !isComplete, result));
  return result;
}

void ModelTemplates::set(std::string_view name, std::string source) {
  for (Named &each : templates)
    if (each.name == name) {
      each.source = std::move(source);
      return;
    }
  templates.push_back({std::string(name), std::move(source)});
}

const ModelTemplates::Named *ModelTemplates::find(std::string_view name) const {
  for (const Named &each : templates)
    if (each.name == name)
      return &each;
  return nullptr;
}

Expected<const ModelTemplates::Named *>
ModelTemplates::choose(bool hasTools) const {
  if (templates.empty())
    return Status(StatusCode::NotFound, "the model has no chat template",
                  "give one with --template FILE");
  if (const Named *found = hasTools ? find("tool_use") : nullptr)
    return found;
  if (const Named *found = find("default"))
    return found;
  if (templates.size() == 1)
    return &templates[0];
  std::string names;
  for (const Named &each : templates)
    names += (names.empty() ? "'" : ", '") + printable(each.name) + "'";
  return Status(StatusCode::NotFound,
                "the model has the chat templates " + names +
                    ", none of them the default",
                "give one with --template FILE");
}

std::vector<uint8_t> ModelTemplates::serialize() const {
  Json list = Json::array();
  for (const Named &each : templates)
    list.push_back({{"name", each.name}, {"template", each.source}});
  std::string text = Json{{"templates", list}, {"tokens", tokens}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  return {text.begin(), text.end()};
}

Expected<ModelTemplates> ModelTemplates::load(Span<const uint8_t> bytes) {
  constexpr const char *where = "chat templates";
  Expected<Json> json = parseJson(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, where);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, where);
  if (!reader)
    return reader.takeStatus();
  Expected<const Json *> list = reader->array("templates");
  if (!list)
    return list.takeStatus();
  ModelTemplates result;
  LLMIR_RETURN_IF_ERROR(readTemplates(**list, where, result));
  if (const Json *tokens = reader->find("tokens");
      tokens && tokens->is_object())
    readTokens(*tokens, result.tokens);
  return result;
}

} // namespace llmir
