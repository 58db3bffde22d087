//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/FileChoice.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

using namespace llmir;
using namespace llmir::hub;

static const char *const singleName = "model.safetensors";
static const char *const indexName = "model.safetensors.index.json";

/// Files beside the weights that LLMIR or other readers of the cache use.
static const char *const companionNames[] = {
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
    "tiktoken.model",
    "qwen.tiktoken",
    "chat_template.jinja",
    "chat_template.json",
    "quantize_config.json",
    "hf_quant_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    "2_Dense/config.json",
    "2_Dense/model.safetensors",
    "3_Dense/config.json",
    "3_Dense/model.safetensors",
};

static std::string_view lastComponent(std::string_view path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0.
}

namespace {

/// Entries of the listing by path.
using Paths = std::map<std::string_view, size_t>;

/// "stem-00002-of-00005.gguf": the parts of a split model have one stem.
struct SplitName {
  std::string stem;
  int64_t part = 1, count = 1;
  /// "stem-00001-of-00001.gguf" may be beside "stem.gguf", another model.
  bool isPart = false;
};

/// A model in one GGUF file, or in several parts.
struct GGUFModel {
  std::string stem; ///< The path without the part and ".gguf".
  int64_t count = 1;
  std::map<int64_t, size_t> parts; ///< Entries by part, from 1.
  uint64_t size = 0;
};

} // namespace

static std::optional<int64_t> fiveDigits(std::string_view text) {
  if (text.size() != 5 || text.find_first_not_of("0123456789") != text.npos)
    return std::nullopt;
  int64_t value = 0;
  for (char c : text)
    value = 10 * value + (c - '0');
  return value;
}

/// The parts of a name that ends with ".gguf".
static SplitName splitName(std::string_view path) {
  path.remove_suffix(5);
  constexpr size_t tail = 15; // "-00001-of-00005"
  if (path.size() > tail && path.substr(path.size() - 9, 4) == "-of-" &&
      path[path.size() - tail] == '-') {
    auto part = fiveDigits(path.substr(path.size() - tail + 1, 5));
    auto count = fiveDigits(path.substr(path.size() - 5));
    if (part && count && *part >= 1 && *part <= *count)
      return {std::string(path.substr(0, path.size() - tail)), *part, *count,
              true};
  }
  return {std::string(path), 1, 1, false};
}

/// True for GGUF files that are no language model of their own.
static bool isAuxiliary(std::string_view path) {
  const std::string name = lowerCase(lastComponent(path));
  for (const char *word : {"mmproj", "imatrix"})
    if (name.find(word) != name.npos)
      return true;
  for (const char *prefix : {"mtp-", "eagle3-", "dflash-", "dspark-"})
    if (name.compare(0, std::string_view(prefix).size(), prefix) == 0)
      return true;
  return false;
}

/// The models in GGUF files, by stem and number of parts.
static std::vector<GGUFModel>
ggufModels(const std::vector<FileEntry> &listing) {
  std::map<std::pair<std::string, int64_t>, GGUFModel> models; // 0: whole.
  for (size_t i = 0; i < listing.size(); ++i) {
    const std::string &path = listing[i].path;
    if (path.size() <= 5 || !endsWith(lowerCase(path), ".gguf") ||
        isAuxiliary(path))
      continue;
    SplitName name = splitName(path);
    GGUFModel &model = models[{name.stem, name.isPart ? name.count : 0}];
    model.stem = name.stem;
    model.count = name.count;
    model.parts.emplace(name.part, i);
    model.size += listing[i].size;
  }
  std::vector<GGUFModel> list;
  for (auto &[key, model] : models)
    list.push_back(std::move(model));
  return list;
}

/// The quantization that a stem names ("Q4_K_M", "UD-IQ2_XXS", "BF16"): its
/// last word that looks like one; empty if there is none.
static std::string quantizationOf(const std::string &stem) {
  std::string_view rest = stem;
  while (!rest.empty()) {
    const size_t start = rest.find_last_of("-./") + 1;
    std::string_view word = rest.substr(start);
    const std::string text = lowerCase(word);
    auto digitAt = [&](size_t at) {
      return text.size() > at &&
             std::isdigit(static_cast<unsigned char>(text[at]));
    };
    const bool fits =
        (text[0] == 'q' && digitAt(1)) ||
        ((text.compare(0, 2, "iq") == 0 || text.compare(0, 2, "tq") == 0) &&
         digitAt(2)) ||
        text == "f16" || text == "f32" || text == "bf16" ||
        text.compare(0, 5, "mxfp4") == 0 || text.compare(0, 5, "nvfp4") == 0;
    if (!word.empty() && fits) {
      const bool isDynamic =
          start >= 4 &&
          lowerCase(rest.substr(start - 4, 4)).compare("-ud-") == 0;
      return (isDynamic ? "UD-" : "") + std::string(word);
    }
    if (start == 0)
      break;
    rest = rest.substr(0, start - 1);
  }
  return {};
}

/// "Q4_K_M (4.4 GB), Q8_0 (7.7 GB)": selectors for each of the models, by
/// quantization where that is unique.
static std::string choicesText(const std::vector<GGUFModel> &models,
                               const std::vector<FileEntry> &listing) {
  constexpr size_t mostShown = 40;
  std::map<std::string, int> uses;
  for (const GGUFModel &model : models)
    ++uses[lowerCase(quantizationOf(model.stem))];
  std::string text;
  for (size_t i = 0; i < models.size() && i < mostShown; ++i) {
    const GGUFModel &model = models[i];
    std::string name = quantizationOf(model.stem);
    if (name.empty() || uses[lowerCase(name)] > 1)
      name = printable(listing[model.parts.begin()->second].path);
    text += (text.empty() ? "" : ", ") + name + " (" +
            formatBytes(static_cast<double>(model.size)) + ")";
  }
  if (models.size() > mostShown)
    text += " and " + std::to_string(models.size() - mostShown) + " more";
  return text;
}

/// True if the stem contains the tag as a word: no letter or digit before it,
/// and the end, '-', '.' or '/' after it ("Q4_K" is not "Q4_K_M").
static bool hasTag(const std::string &stem, const std::string &tag) {
  const std::string text = lowerCase(stem);
  for (size_t at = text.find(tag); at != text.npos;
       at = text.find(tag, at + 1)) {
    const size_t end = at + tag.size();
    const bool starts =
        at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    const bool ends =
        end == text.size() ||
        std::string_view("-./").find(text[end]) != std::string_view::npos;
    if (starts && ends)
      return true;
  }
  return false;
}

/// The models that the selector names: by quantization, or else as a word
/// anywhere in the name.
static std::vector<GGUFModel> matching(const std::vector<GGUFModel> &models,
                                       const std::string &selector) {
  const std::string tag = lowerCase(selector);
  std::vector<GGUFModel> exact, loose;
  for (const GGUFModel &model : models) {
    if (lowerCase(quantizationOf(model.stem)) == tag)
      exact.push_back(model);
    else if (hasTag(model.stem, tag))
      loose.push_back(model);
  }
  return exact.empty() ? loose : exact;
}

static Expected<FileChoice> chooseGGUF(const GGUFModel &model,
                                       const std::vector<FileEntry> &listing) {
  FileChoice choice;
  for (int64_t part = 1; part <= model.count; ++part) {
    auto found = model.parts.find(part);
    if (found == model.parts.end())
      return Status(StatusCode::NotFound,
                    "part " + std::to_string(part) + " of " +
                        std::to_string(model.count) + " of '" +
                        printable(model.stem) + "' is missing",
                    "choose another file of the repository");
    choice.files.push_back(found->second);
  }
  choice.model = listing[choice.files.front()].path;
  return choice;
}

//===----------------------------------------------------------------------===//
// Safetensors
//===----------------------------------------------------------------------===//

/// The files that the index names. Its text is untrusted.
static Expected<std::set<std::string>> shardsOf(const std::string &text) {
  Expected<Json> json =
      parseJson(text, indexName, {uint64_t(64) << 20, /*maxDepth=*/64});
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, indexName);
  if (!reader)
    return reader.takeStatus();
  const Json *map = reader->find("weight_map");
  if (!map || !map->is_object())
    return reader->missing("weight_map", "an object");
  std::set<std::string> shards;
  for (const auto &entry : map->items()) {
    const Json &value = entry.value();
    const bool isName =
        value.is_string() &&
        endsWith(value.get_ref<const std::string &>(), ".safetensors");
    if (!isName)
      return Status(StatusCode::InvalidFile,
                    std::string(indexName) + ": 'weight_map." +
                        printable(entry.key()) + "' is " + describeJson(value) +
                        "; expected the name of a .safetensors file");
    const std::string &name = value.get_ref<const std::string &>();
    if (Status valid = checkFileName(name); !valid)
      return std::move(valid).withContext(indexName);
    shards.insert(name);
  }
  if (shards.empty())
    return Status(StatusCode::InvalidFile,
                  std::string(indexName) + ": 'weight_map' is empty");
  return shards;
}

static Expected<FileChoice>
chooseSafetensors(const std::vector<FileEntry> &listing, const Paths &paths,
                  const ReadText &readText) {
  FileChoice choice;
  auto add = [&](std::string_view name) {
    auto found = paths.find(name);
    if (found == paths.end())
      return false;
    choice.files.push_back(found->second);
    return true;
  };
  for (const char *name : companionNames)
    add(name);
  for (const auto &[path, entry] : paths)
    if (path.compare(0, 26, "additional_chat_templates/") == 0 &&
        endsWith(path, ".jinja"))
      choice.files.push_back(entry);
  if (add(singleName))
    return choice;
  add(indexName);
  Expected<std::string> text = readText(listing[paths.at(indexName)]);
  if (!text)
    return text.takeStatus();
  Expected<std::set<std::string>> shards = shardsOf(*text);
  if (!shards)
    return shards.takeStatus();
  for (const std::string &name : *shards)
    if (!add(name))
      return Status(StatusCode::NotFound, "'" + printable(name) +
                                              "' is missing, although " +
                                              indexName + " names it");
  return choice;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// The file with this path, else those with this name.
static std::vector<size_t> filesNamed(const std::vector<FileEntry> &listing,
                                      const Paths &paths,
                                      const std::string &name) {
  if (auto found = paths.find(name); found != paths.end())
    return {found->second};
  std::vector<size_t> files;
  for (size_t i = 0; i < listing.size(); ++i)
    if (lastComponent(listing[i].path) == name)
      files.push_back(i);
  return files;
}

/// The failure for a name that several directories have.
static Status ambiguousFile(const std::vector<FileEntry> &listing,
                            const std::vector<size_t> &files,
                            const ModelReference &reference) {
  constexpr size_t mostShown = 10;
  std::string choices;
  for (size_t i = 0; i < files.size() && i < mostShown; ++i)
    choices += (i ? ", " : "") + printable(listing[files[i]].path);
  if (files.size() > mostShown)
    choices += " and " + std::to_string(files.size() - mostShown) + " more";
  return Status(StatusCode::NotFound,
                "'" + printable(reference.selector) + "' names " +
                    std::to_string(files.size()) + " files of " +
                    reference.repository,
                "choose one of " + choices);
}

static Expected<FileChoice>
chooseSelected(const std::vector<FileEntry> &listing, const Paths &paths,
               const std::vector<GGUFModel> &models,
               const ModelReference &reference) {
  const std::string &selector = reference.selector;
  const std::vector<size_t> files = filesNamed(listing, paths, selector);
  if (files.size() > 1)
    return ambiguousFile(listing, files, reference);
  if (files.size() == 1) {
    for (const GGUFModel &model : models)
      for (const auto &[part, entry] : model.parts)
        if (entry == files[0])
          return chooseGGUF(model, listing);
    return FileChoice{files, listing[files[0]].path};
  }
  std::vector<GGUFModel> found = matching(models, selector);
  if (found.size() == 1)
    return chooseGGUF(found.front(), listing);
  if (found.size() > 1)
    return Status(StatusCode::NotFound,
                  "'" + printable(selector) + "' fits " +
                      std::to_string(found.size()) + " models of " +
                      reference.repository,
                  "choose one of " + choicesText(found, listing));
  return Status(StatusCode::NotFound,
                reference.repository +
                    " has neither a file nor a "
                    "quantization '" +
                    printable(selector) + "'",
                models.empty()
                    ? "it has no GGUF files; omit ':" + printable(selector) +
                          "'"
                    : "choose one of " + choicesText(models, listing));
}

/// Says why nothing can be chosen without a selector.
static Status withoutWeights(const std::vector<FileEntry> &listing,
                             const ModelReference &reference) {
  for (const FileEntry &entry : listing)
    if (endsWith(entry.path, ".bin") || endsWith(entry.path, ".pt") ||
        endsWith(entry.path, ".pth") || endsWith(entry.path, ".ckpt"))
      return Status(
          StatusCode::NotFound,
          reference.repository + " has weights only in pickled form ('" +
              printable(entry.path) + "'), which can run code when loaded",
          "choose a repository with safetensors or GGUF files");
  return Status(StatusCode::NotFound,
                reference.repository +
                    " has neither model.safetensors with config.json nor a "
                    "GGUF file",
                "choose a repository with a language model");
}

Expected<FileChoice> hub::chooseFiles(const std::vector<FileEntry> &listing,
                                      const ModelReference &reference,
                                      const ReadText &readText) {
  Paths paths;
  for (size_t i = 0; i < listing.size(); ++i) {
    if (Status valid = checkFileName(listing[i].path); !valid)
      return std::move(valid).withContext(reference.repository);
    if (!paths.emplace(listing[i].path, i).second)
      return Status(StatusCode::InvalidFile,
                    reference.repository + ": the file '" +
                        printable(listing[i].path) + "' is listed twice");
  }
  std::vector<GGUFModel> models = ggufModels(listing);
  if (!reference.selector.empty())
    return chooseSelected(listing, paths, models, reference);
  if (paths.count("config.json") &&
      (paths.count(singleName) || paths.count(indexName))) {
    Expected<FileChoice> choice = chooseSafetensors(listing, paths, readText);
    if (!choice)
      return choice.takeStatus().withContext(reference.repository);
    return choice;
  }
  if (models.empty())
    return withoutWeights(listing, reference);
  if (models.size() > 1)
    return Status(StatusCode::NotFound,
                  reference.repository + " has " +
                      std::to_string(models.size()) + " models",
                  "choose one, as in " + reference.repository + ":" +
                      (quantizationOf(models.front().stem).empty()
                           ? "FILE"
                           : quantizationOf(models.front().stem)) +
                      ", of " + choicesText(models, listing));
  return chooseGGUF(models.front(), listing);
}
