//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/Checkpoint.h"

#include "ConfigChecks.h"
#include "ExceptionGuard.h"
#include "FamilyTraits.h"
#include "PoolingConfig.h"
#include "QuantizedTensors.h"
#include "Safetensors.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace llmir {

namespace fs = std::filesystem;

namespace {

constexpr const char *configName = "config.json";
constexpr const char *generationName = "generation_config.json";
constexpr JsonLimits configLimits = {uint64_t(4) << 20, /*maxDepth=*/64};

/// Formats that can execute code when they are loaded.
bool isPickle(std::string_view name) {
  for (std::string_view suffix : {".bin", ".pt", ".pth", ".ckpt", ".pkl"})
    if (endsWith(name, suffix))
      return true;
  return false;
}

Status refusePickle(const std::string &path) {
  return Status(StatusCode::Unsupported,
                "'" + path +
                    "' is a pickle, which can run code when loaded; "
                    "LLMIR never reads them",
                "use the model's .safetensors or .gguf files");
}

/// The last component of a path, with "." and ".." resolved; "NAME" for
/// models--ORG--NAME/snapshots/COMMIT in the cache of the Hub.
std::string folderName(const std::string &path) {
  std::error_code error;
  fs::path whole = fs::canonical(path, error);
  if (error)
    whole = path;
  const fs::path snapshots = whole.parent_path();
  const std::string repository = snapshots.parent_path().filename().string();
  if (snapshots.filename() == "snapshots" &&
      repository.compare(0, 8, "models--") == 0)
    return repository.substr(repository.rfind("--") + 2);
  return whole.filename().string();
}

/// Names what a directory contains instead of the expected weights.
Status withoutWeights(const std::string &path, Status notFound) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (isPickle(name))
      return refusePickle(path + "/" + name);
    if (endsWith(name, ".gguf"))
      return Status(StatusCode::NotFound,
                    "'" + path + "' contains no model.safetensors",
                    "to use '" + printable(name) + "', give its own path");
  }
  return Status(notFound.code(),
                "'" + path +
                    "' contains neither model.safetensors nor "
                    "model.safetensors.index.json",
                "fetch the model's weights in safetensors form");
}

bool exists(const std::string &path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

/// Reads a JSON file of the directory and keeps it mapped in `files`.
Expected<Json> readJson(const std::string &folder, const std::string &name,
                        std::vector<std::shared_ptr<const MappedFile>> &files) {
  Expected<MappedFile> file =
      MappedFile::open(folder + "/" + name, configLimits.maxBytes);
  if (!file)
    return file.takeStatus();
  files.push_back(std::make_shared<const MappedFile>(std::move(*file)));
  return parseJson(files.back()->text(), name, configLimits);
}

} // namespace

Expected<Checkpoint> Checkpoint::open(const std::string &path,
                                      CheckpointUse use) {
  return withoutExceptions(path, [&] { return openAny(path, use); });
}

Expected<Checkpoint> Checkpoint::openAny(const std::string &path,
                                         CheckpointUse use) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return openFolder(path, use);
  if (status.type() == fs::file_type::not_found)
    return Status(StatusCode::NotFound, "there is no '" + path + "'",
                  "give a Hugging Face model directory or a .gguf file");
  if (isPickle(path))
    return refusePickle(path);
  if (endsWith(path, ".safetensors"))
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' contains only weights",
                  "give the directory that contains it and config.json");
  if (endsWith(path, ".gguf"))
    return openGGUF(path);
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  if (file->text().substr(0, 4) == "GGUF")
    return openGGUF(path);
  return Status(StatusCode::InvalidArgument,
                "'" + path + "' is not a checkpoint",
                "give a Hugging Face model directory or a .gguf file");
}

/// Whether the weights include an output projection, under the name that the
/// family gives it.
static bool hasOutputProjection(const Checkpoint &checkpoint) {
  const FamilyTraits *family = findFamily(checkpoint.config().architecture);
  const std::string_view name =
      family ? family->outputProjection : FamilyTraits().outputProjection;
  const std::string tensor = std::string(name) + ".weight";
  return checkpoint.find(tensor) || checkpoint.find("language_model." + tensor);
}

Expected<Checkpoint> Checkpoint::openFolder(const std::string &path,
                                            CheckpointUse use) {
  Checkpoint result;
  result.rootPath = path;
  result.checkpointKind = CheckpointKind::HuggingFace;
  std::vector<std::shared_ptr<const MappedFile>> jsonFiles;

  Expected<Json> config = readJson(path, configName, jsonFiles);
  if (!config) {
    if (config.status().code() != StatusCode::NotFound)
      return config.takeStatus();
    return Status(StatusCode::NotFound,
                  "the directory '" + path + "' has no config.json",
                  "give a Hugging Face model directory or a .gguf file");
  }
  std::optional<Json> generation;
  if (exists(path + "/" + generationName)) {
    Expected<Json> json = readJson(path, generationName, jsonFiles);
    if (!json)
      return json.takeStatus();
    generation = std::move(*json);
  }
  // Before the weights, which need not be present to report an unknown model.
  const Json *later = generation ? &*generation : nullptr;
  auto model = use == CheckpointUse::Parameters
                   ? tokensFromHuggingFace(*config, later)
                   : modelConfigFromHuggingFace(*config, later,
                                                /*hasOutputProjection=*/false);
  if (!model)
    return model.takeStatus();
  result.modelConfig = std::move(*model);
  result.modelConfig.modelName = folderName(path);
  if (use == CheckpointUse::Model)
    LLMIR_RETURN_IF_ERROR(readPooling(
        [&](const std::string &name) {
          return readJson(path, name, jsonFiles);
        },
        result.modelConfig));

  auto tensors = readSafetensorsFolder(path, result.fileList);
  if (!tensors) {
    if (tensors.status().code() == StatusCode::NotFound &&
        result.fileList.empty())
      return withoutWeights(path, tensors.takeStatus());
    return tensors.takeStatus();
  }
  const JsonReader reader(*config, configName);
  LLMIR_ASSIGN_OR_RETURN(result.tensorList,
                         assembleQuantized(reader, std::move(*tensors)));
  LLMIR_RETURN_IF_ERROR(result.addDenseTensors());
  LLMIR_RETURN_IF_ERROR(result.indexTensors());
  const Expected<JsonReader> text = reader.object("text_config");
  if (!reader.has("tie_word_embeddings") &&
      !(text && text->has("tie_word_embeddings")))
    result.modelConfig.tieWordEmbeddings = !hasOutputProjection(result);
  std::move(jsonFiles.begin(), jsonFiles.end(),
            std::back_inserter(result.fileList));
  return result;
}

/// Each projection after pooling is in a folder of its own.
Status Checkpoint::addDenseTensors() {
  for (const DenseLayer &layer : modelConfig.dense) {
    auto tensors = readSafetensorsFolder(rootPath + "/" + layer.name, fileList);
    if (!tensors)
      return tensors.takeStatus().withContext("'" + layer.name + "'");
    for (CheckpointTensor &tensor : *tensors) {
      tensor.name = layer.name + "." + tensor.name;
      tensorList.push_back(std::move(tensor));
    }
  }
  return Status::ok();
}

Status Checkpoint::indexTensors() {
  byName.resize(tensorList.size());
  for (uint32_t i = 0; i < byName.size(); ++i)
    byName[i] = i;
  std::sort(byName.begin(), byName.end(), [&](uint32_t a, uint32_t b) {
    return tensorList[a].name < tensorList[b].name;
  });
  for (size_t i = 1; i < byName.size(); ++i) {
    const CheckpointTensor &one = tensorList[byName[i - 1]];
    const CheckpointTensor &other = tensorList[byName[i]];
    if (one.name == other.name)
      return Status(StatusCode::InvalidFile,
                    "the tensor '" + printable(one.name) + "' is both in " +
                        std::string(one.file->name()) + " and in " +
                        std::string(other.file->name()));
  }
  return Status::ok();
}

const CheckpointTensor *Checkpoint::find(std::string_view name) const {
  auto found = std::lower_bound(byName.begin(), byName.end(), name,
                                [&](uint32_t i, std::string_view wanted) {
                                  return tensorList[i].name < wanted;
                                });
  if (found == byName.end() || tensorList[*found].name != name)
    return nullptr;
  return &tensorList[*found];
}

Expected<const CheckpointTensor *>
Checkpoint::tensor(std::string_view name) const {
  if (const CheckpointTensor *found = find(name))
    return found;
  return Status(StatusCode::NotFound,
                "'" + rootPath + "' has no tensor '" + printable(name) + "'",
                "the checkpoint is incomplete, or not of the architecture "
                "that its configuration names");
}

bool hasTokenizer(const std::string &folder) {
  for (const char *name : {"/tokenizer.json", "/tokenizer.model"}) {
    std::error_code ignored; // Unreadable files are reported when read.
    if (fs::exists(folder + name, ignored))
      return true;
  }
  return false;
}

bool hasTokenizer(const GGUFMetadata &metadata) {
  if (!metadata.has("tokenizer.ggml.model"))
    return false;
  Expected<std::string_view> model = metadata.string("tokenizer.ggml.model");
  return !model || *model != "none";
}

} // namespace llmir
