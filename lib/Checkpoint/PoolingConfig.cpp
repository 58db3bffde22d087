//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoolingConfig.h"

#include "ConfigChecks.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace llmir {

static constexpr const char *listName = "modules.json";
static constexpr const char *usualFolder = "1_Pooling";
static constexpr const char *textName = "sentence_bert_config.json";

namespace {
/// A module of the list.
struct Module {
  std::string type;   ///< The last part: "Pooling".
  std::string folder; ///< Of its config.json; empty: the directory itself.
};
} // namespace

//===----------------------------------------------------------------------===//
// The list of modules
//===----------------------------------------------------------------------===//

/// A folder in the directory itself.
static bool isFolderName(const std::string &name) {
  return name.size() <= 255 && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

static Expected<Module> readModule(const Json &element, size_t index) {
  const std::string path = std::to_string(index) + ".";
  if (!element.is_object())
    return Status(StatusCode::InvalidFile,
                  std::string(listName) + ": element " + std::to_string(index) +
                      " is " + describeJson(element) + "; expected an object");
  const JsonReader reader(element, listName, path);
  Module module;
  LLMIR_ASSIGN_OR_RETURN(module.type, reader.string("type"));
  LLMIR_ASSIGN_OR_RETURN(module.folder, reader.stringOr("path", ""));
  if (!isFolderName(module.folder))
    return reader.failure(StatusCode::InvalidFile, "path",
                          "is \"" + printable(module.folder) +
                              "\"; expected the name of a folder");
  const std::string whole = module.type;
  module.type = whole.substr(whole.rfind('.') + 1);
  for (const char *known : {"Transformer", "Pooling", "Dense", "Normalize"})
    if (module.type == known)
      return module;
  return reader.failure(
      StatusCode::Unsupported, "type",
      "is \"" + printable(whole) + "\", a module that is not supported",
      "the supported ones are Transformer, Pooling, Dense and Normalize");
}

/// A Transformer in the directory itself, a Pooling, and possibly Dense modules
/// and a Normalize: embeddings have unit length in any case.
static bool areUsual(const std::vector<Module> &modules) {
  if (modules.size() < 2 || modules[0].type != "Transformer" ||
      !modules[0].folder.empty() || modules[1].type != "Pooling")
    return false;
  for (size_t i = 1; i < modules.size(); ++i) {
    const bool isLast = i + 1 == modules.size();
    if (isLast && modules[i].type == "Normalize")
      continue;
    if (modules[i].folder.empty() || (i > 1 && modules[i].type != "Dense"))
      return false;
  }
  return true;
}

/// The modules after the first one.
static Expected<std::vector<Module>> modulesOf(const Json &list) {
  constexpr size_t most = 16;
  if (!list.is_array() || list.size() > most)
    return Status(StatusCode::InvalidFile,
                  std::string(listName) + ": expected a list of at most " +
                      std::to_string(most) + " modules");
  std::vector<Module> modules;
  for (const Json &element : list) {
    Expected<Module> module = readModule(element, modules.size());
    if (!module)
      return module.takeStatus();
    modules.push_back(std::move(*module));
  }
  if (!areUsual(modules))
    return Status(StatusCode::Unsupported,
                  std::string(listName) +
                      ": the modules are not a Transformer in the directory "
                      "itself, a Pooling, and possibly Dense modules in "
                      "folders and a Normalize",
                  "use a model of that form");
  modules.erase(modules.begin());
  return modules;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The names of a kind of pooling: that of its flag, and of `pooling_mode`.
struct PoolingMode {
  const char *flag, *name;
  Pooling pooling; ///< None: not supported.
};
static constexpr PoolingMode modes[] = {
    {"pooling_mode_cls_token", "cls", Pooling::First},
    {"pooling_mode_mean_tokens", "mean", Pooling::Mean},
    {"pooling_mode_lasttoken", "lasttoken", Pooling::Last},
    {"pooling_mode_max_tokens", "max", Pooling::None},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens",
     Pooling::None},
    {"pooling_mode_weightedmean_tokens", "weightedmean", Pooling::None},
};

/// The only mode with a flag.
static Expected<const PoolingMode *> modeOfFlags(const JsonReader &json) {
  const PoolingMode *chosen = nullptr;
  for (const PoolingMode &mode : modes) {
    bool isSet;
    LLMIR_ASSIGN_OR_RETURN(isSet, json.booleanOr(mode.flag, false));
    if (isSet && chosen)
      return json.failure(StatusCode::Unsupported, mode.flag,
                          "is true, and so is '" + std::string(chosen->flag) +
                              "'; joined embeddings are not supported");
    if (isSet)
      chosen = &mode;
  }
  if (chosen)
    return chosen;
  return Status(StatusCode::InvalidFile,
                json.file() + ": no pooling_mode is true",
                "one of pooling_mode_cls_token, pooling_mode_mean_tokens and "
                "pooling_mode_lasttoken must be");
}

static Expected<const PoolingMode *> modeOf(const JsonReader &json) {
  if (!json.has("pooling_mode"))
    return modeOfFlags(json);
  std::string name;
  LLMIR_ASSIGN_OR_RETURN(name, json.string("pooling_mode"));
  for (const PoolingMode &mode : modes)
    if (name == mode.name)
      return &mode;
  return json.failure(StatusCode::Unsupported, "pooling_mode",
                      "is \"" + printable(name) + "\"",
                      "supported: cls, mean, lasttoken");
}

static Status readPoolingModule(const JsonReader &json, ModelConfig &config) {
  const char *sizeKey = json.has("embedding_dimension")
                            ? "embedding_dimension"
                            : "word_embedding_dimension";
  int64_t size;
  LLMIR_ASSIGN_OR_RETURN(size, json.integerOr(sizeKey, config.hiddenSize, 1));
  if (size != config.hiddenSize)
    return json.failure(StatusCode::InvalidFile, sizeKey,
                        "is " + std::to_string(size) + ", but the model's " +
                            "hidden size is " +
                            std::to_string(config.hiddenSize));
  bool includesPrompt;
  LLMIR_ASSIGN_OR_RETURN(includesPrompt,
                         json.booleanOr("include_prompt", true));
  if (!includesPrompt)
    return json.failure(StatusCode::Unsupported, "include_prompt",
                        "is false: pooling that leaves the tokens of a prompt "
                        "out is not supported");
  Expected<const PoolingMode *> mode = modeOf(json);
  if (!mode)
    return mode.takeStatus();
  config.pooling = (*mode)->pooling;
  if (config.pooling == Pooling::None)
    return json.failure(StatusCode::Unsupported,
                        json.has("pooling_mode") ? "pooling_mode"
                                                 : (*mode)->flag,
                        "asks for pooling that is not supported",
                        "supported: cls, mean, lasttoken");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Dense layers
//===----------------------------------------------------------------------===//

static Status readDense(const FolderReader &read, const std::string &folder,
                        ModelConfig &config) {
  const std::string name = folder + "/config.json";
  // The name is a part of those of tensors.
  if (folder.find_first_not_of("0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz") !=
      std::string::npos)
    return Status(StatusCode::Unsupported,
                  std::string(listName) + ": the folder '" + printable(folder) +
                      "' of a Dense module has a name with other characters "
                      "than letters, digits and _",
                  "rename it");
  Expected<Json> module = read(name);
  if (!module)
    return module.takeStatus();
  Expected<JsonReader> json = JsonReader::of(*module, name);
  if (!json)
    return json.takeStatus();
  int64_t inputs;
  DenseLayer layer;
  layer.name = folder;
  LLMIR_ASSIGN_OR_RETURN(inputs, json->integer("in_features"));
  if (inputs != config.embeddingSize())
    return json->failure(StatusCode::InvalidFile, "in_features",
                         "is " + std::to_string(inputs) + ", but rows have " +
                             std::to_string(config.embeddingSize()) +
                             " values");
  LLMIR_ASSIGN_OR_RETURN(layer.outputSize,
                         json->integer("out_features", 1, maxHiddenSize));
  LLMIR_ASSIGN_OR_RETURN(layer.hasBias, json->booleanOr("bias", true));
  std::string activation;
  LLMIR_ASSIGN_OR_RETURN(activation,
                         json->stringOr("activation_function",
                                        "torch.nn.modules.activation.Tanh"));
  if (activation.substr(activation.rfind('.') + 1) != "Identity")
    return json->failure(StatusCode::Unsupported, "activation_function",
                         "is \"" + printable(activation) + "\"",
                         "supported: torch.nn.modules.linear.Identity");
  for (const char *key : {"module_input_name", "module_output_name"}) {
    std::string rows;
    LLMIR_ASSIGN_OR_RETURN(rows, json->stringOr(key, "sentence_embedding"));
    if (rows != "sentence_embedding")
      return json->failure(StatusCode::Unsupported, key,
                           "is \"" + printable(rows) + "\"",
                           "supported: sentence_embedding");
  }
  config.dense.push_back(std::move(layer));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// What is done to a text before it is tokenized, and its limit.
static Status readTexts(const FolderReader &read, ModelConfig &config) {
  Expected<Json> module = read(textName);
  if (!module)
    return module.status().code() == StatusCode::NotFound ? Status::ok()
                                                          : module.takeStatus();
  Expected<JsonReader> json = JsonReader::of(*module, textName);
  if (!json)
    return json.takeStatus();
  bool isLowered;
  LLMIR_ASSIGN_OR_RETURN(isLowered, json->booleanOr("do_lower_case", false));
  if (isLowered)
    return json->failure(StatusCode::Unsupported, "do_lower_case",
                         "is true; texts are not changed before they are "
                         "tokenized",
                         "set it to false and give texts in lower case");
  std::string task;
  LLMIR_ASSIGN_OR_RETURN(
      task, json->stringOr("transformer_task", "feature-extraction"));
  if (task != "feature-extraction")
    return json->failure(StatusCode::Unsupported, "transformer_task",
                         "is \"" + printable(task) + "\"",
                         "supported: feature-extraction");
  LLMIR_ASSIGN_OR_RETURN(
      config.textLength,
      json->integerOr("max_seq_length", config.contextLength, 1));
  config.textLength = std::min(config.textLength, config.contextLength);
  return Status::ok();
}

Status readPooling(const FolderReader &read, ModelConfig &config) {
  Expected<Json> list = read(listName);
  if (!list && list.status().code() != StatusCode::NotFound)
    return list.takeStatus();
  std::vector<Module> modules{{"Pooling", usualFolder}};
  if (list)
    LLMIR_ASSIGN_OR_RETURN(modules, modulesOf(*list));
  const std::string name = modules.front().folder + "/config.json";
  Expected<Json> module = read(name);
  const bool isAbsent =
      !list && !module && module.status().code() == StatusCode::NotFound;
  if (isAbsent && config.isBidirectional)
    return Status(StatusCode::NotFound,
                  "there is neither " + std::string(listName) + " nor " + name +
                      ", which say how a bidirectional model pools the rows "
                      "of its tokens",
                  "fetch all files of the embedding model");
  if (isAbsent)
    return Status::ok();
  if (!module)
    return module.takeStatus();
  Expected<JsonReader> json = JsonReader::of(*module, name);
  if (!json)
    return json.takeStatus();
  LLMIR_RETURN_IF_ERROR(readPoolingModule(*json, config));
  LLMIR_RETURN_IF_ERROR(readTexts(read, config));
  for (const Module &each : modules)
    if (each.type == "Dense")
      LLMIR_RETURN_IF_ERROR(readDense(read, each.folder, config));
  return Status::ok();
}

} // namespace llmir
