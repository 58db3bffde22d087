//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionPlan.h"

#include "llmir/ChatTemplate/ModelTemplates.h"
#include "llmir/Support/Text.h"
#include "llmir/Tokenizer/ToGGUF.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

using namespace llmir;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Status ConversionPlan::addTensors() {
  if (checkpoint.kind() == CheckpointKind::HuggingFace) {
    Expected<std::vector<GGUFTensorSource>> sources = ggufTensorsOf(checkpoint);
    if (!sources)
      return sources.takeStatus();
    for (GGUFTensorSource &source : *sources)
      tensors.push_back({{}, std::move(source), nullptr, {}});
    return Status::ok();
  }
  for (const CheckpointTensor &tensor : checkpoint.tensors()) {
    Expected<TensorFormat> format = tensor.usableFormat();
    if (!format)
      return format.takeStatus();
    GGUFTensorSource source;
    source.name = tensor.name;
    source.shape = tensor.shape;
    StoredParameter part;
    part.source = tensor.name;
    part.shape = tensor.shape;
    source.parts.push_back(std::move(part));
    tensors.push_back({{}, std::move(source), nullptr, {}});
  }
  return Status::ok();
}

/// Columns, the format of the recipe, the format instead.
using Replacement = std::tuple<int64_t, TensorFormat, TensorFormat>;

/// "'blk.0.ffn_down.weight' and 7 others have rows of …".
static std::string describe(const Replacement &replacement,
                            const std::vector<std::string> &names) {
  const auto [columns, wanted, chosen] = replacement;
  const bool isOne = names.size() == 1;
  std::string text = "'" + names.front() + "'";
  if (!isOne)
    text += " and " + std::to_string(names.size() - 1) +
            (names.size() == 2 ? " other have" : " others have");
  return text + (isOne ? " has" : "") + " rows of " + std::to_string(columns) +
         " elements, not a multiple of the blocks of " +
         std::string(tensorFormatInfo(wanted).name) +
         (isOne ? ": it is " : ": they are ") +
         std::string(tensorFormatInfo(chosen).name);
}

Status ConversionPlan::chooseFormats() {
  const bool isGGUF = checkpoint.kind() == CheckpointKind::GGUF;
  const bool isTied =
      std::none_of(tensors.begin(), tensors.end(), [](const PlannedTensor &t) {
        return t.source.name == "output.weight";
      });
  int64_t again = 0;
  std::map<Replacement, std::vector<std::string>> replaced;
  for (PlannedTensor &tensor : tensors) {
    GGUFTensor &out = tensor.out;
    out.name = tensor.source.name;
    out.shape = tensor.source.shape;
    const TensorFormat wanted = formatOf(*recipe, out.name, out.shape,
                                         checkpoint.config().numLayers, isTied);
    out.format = fittingFormat(wanted, out.columns());
    if (out.format != wanted)
      replaced[{out.columns(), wanted, out.format}].push_back(out.name);
    if (!isGGUF)
      continue;
    const CheckpointTensor *stored = checkpoint.find(out.name);
    if (stored->format == out.format)
      tensor.copied = stored;
    else if (isBlockFormat(*stored->format))
      ++again;
  }
  for (const auto &[replacement, names] : replaced)
    notes.push_back(describe(replacement, names));
  if (again > 0)
    notes.push_back(std::to_string(again) +
                    " tensors were quantized before: their errors add up");
  return Status::ok();
}

Status ConversionPlan::findWeights() {
  if (!importance)
    return Status::ok();
  int64_t missing = 0;
  for (PlannedTensor &tensor : tensors) {
    if (!isBlockFormat(tensor.out.format) || tensor.copied)
      continue;
    const std::vector<int64_t> &shape = tensor.out.shape;
    const int64_t matrices =
        shape.size() < 3 ? 1 : tensor.out.rows() / shape[shape.size() - 2];
    Expected<Span<const float>> weights =
        importance->find(tensor.out.name, matrices, tensor.out.columns());
    if (!weights)
      return weights.takeStatus();
    tensor.weights = *weights;
    missing += weights->empty();
  }
  if (missing > 0)
    notes.push_back(importance->file() + " has no statistics for " +
                    std::to_string(missing) +
                    " tensors: their errors are not weighted");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Status ConversionPlan::addTokenizer(const ConvertOptions &options) {
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(checkpoint.path());
  if (!tokenizer) {
    if (tokenizer.status().code() != StatusCode::NotFound)
      return tokenizer.takeStatus();
    notes.push_back("the directory has no tokenizer: the file has none");
    keys.setString("tokenizer.ggml.model", "none");
    return Status::ok();
  }
  const ModelConfig &config = checkpoint.config();
  GGUFTokenizerOptions details;
  details.rows = config.vocabSize;
  details.preTokenizer = options.preTokenizer;
  details.bosToken = config.bosToken;
  details.endTokens = config.eosTokens;
  if (details.endTokens.size() > 3)
    notes.push_back("the model has " +
                    std::to_string(details.endTokens.size()) +
                    " tokens that end a text; GGUF has keys for three");
  return addTokenizerKeys(*tokenizer, details, keys);
}

Status ConversionPlan::addTemplates() {
  Expected<ModelTemplates> templates =
      ModelTemplates::fromFolder(checkpoint.path());
  if (!templates)
    return templates.takeStatus();
  const std::string key = "tokenizer.chat_template";
  std::vector<std::string> names;
  for (const ModelTemplates::Named &named : templates->templates) {
    const bool isDefault = named.name == "default";
    keys.setString(isDefault ? key : key + "." + named.name, named.source);
    if (!isDefault)
      names.push_back(named.name);
  }
  if (!names.empty())
    keys.setStrings("tokenizer.chat_templates", names);
  return Status::ok();
}

Status ConversionPlan::addFolderKeys(const ConvertOptions &options) {
  LLMIR_RETURN_IF_ERROR(addModelKeys(checkpoint.config(), keys));
  addSamplingKeys(checkpoint.config().generation, keys);
  LLMIR_RETURN_IF_ERROR(addTokenizer(options));
  return addTemplates();
}

Status ConversionPlan::addKeys(const ConvertOptions &options) {
  if (checkpoint.kind() == CheckpointKind::HuggingFace) {
    LLMIR_RETURN_IF_ERROR(addFolderKeys(options));
  } else {
    for (const GGUFEntry &entry : checkpoint.gguf()->entries())
      if (!startsWith(entry.key, "split.") &&
          entry.key != "general.alignment") // Ours is the default.
        keys.copy(entry);
    if (!options.preTokenizer.empty())
      keys.setString("tokenizer.ggml.pre", options.preTokenizer);
  }
  keys.setU32("general.file_type", recipe->fileType);
  keys.setU32("general.quantization_version", 2);
  if (!importance)
    return Status::ok();
  keys.setString("quantize.imatrix.file", importance->file());
  if (!importance->dataset().empty())
    keys.setString("quantize.imatrix.dataset", importance->dataset());
  keys.setU32("quantize.imatrix.entries_count",
              static_cast<uint32_t>(importance->size()));
  if (importance->chunks() > 0)
    keys.setU32("quantize.imatrix.chunks_count",
                static_cast<uint32_t>(importance->chunks()));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static int64_t paddedBytes(const GGUFTensor &tensor) {
  return (tensor.bytes() + ggufAlignment - 1) / ggufAlignment * ggufAlignment;
}

void ConversionPlan::divide(const ConvertOptions &options) {
  int64_t sum = 0;
  files.push_back({options.output, 0, 0, 0});
  for (const PlannedTensor &tensor : tensors) {
    const int64_t size = paddedBytes(tensor.out);
    if (options.splitBytes > 0 && sum > 0 && sum + size > options.splitBytes) {
      files.push_back({"", files.back().end, files.back().end, 0});
      sum = 0;
    }
    sum += size;
    ++files.back().end;
  }
  if (files.size() > 1) {
    keys.setU16("split.no", 0);
    keys.setU16("split.count", static_cast<uint16_t>(files.size()));
    keys.setI32("split.tensors.count", static_cast<int32_t>(tensors.size()));
    const std::string stem =
        options.output.substr(0, options.output.size() - 5); // ".gguf"
    for (size_t i = 0; i < files.size(); ++i) {
      char tail[32];
      std::snprintf(tail, sizeof tail, "-%05d-of-%05d.gguf",
                    static_cast<int>(i + 1), static_cast<int>(files.size()));
      files[i].path = stem + tail;
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].bytes = static_cast<int64_t>(header(i).size());
    for (size_t t = files[i].first; t < files[i].end; ++t)
      files[i].bytes += paddedBytes(tensors[t].out);
  }
}

std::string ConversionPlan::header(size_t file) const {
  std::vector<GGUFTensor> own;
  for (size_t t = files[file].first; t < files[file].end; ++t)
    own.push_back(tensors[t].out);
  if (file == 0)
    return ggufHeader(keys, own);
  GGUFKeys part;
  part.setU16("split.no", static_cast<uint16_t>(file));
  part.setU16("split.count", static_cast<uint16_t>(files.size()));
  part.setI32("split.tensors.count", static_cast<int32_t>(tensors.size()));
  return ggufHeader(part, own);
}

int64_t ConversionPlan::bytes() const {
  int64_t sum = 0;
  for (const PlannedFile &file : files)
    sum += file.bytes;
  return sum;
}

Expected<ConversionPlan> ConversionPlan::make(const ConvertOptions &options) {
  const Recipe *recipe = findRecipe(options.type);
  if (!recipe)
    return Status(StatusCode::InvalidArgument,
                  "unknown type '" + options.type + "'",
                  "choose one of " + allRecipeNames());
  if (!endsWith(options.output, ".gguf"))
    return Status(StatusCode::InvalidArgument,
                  "'" + options.output + "' does not end in .gguf",
                  "choose such a name, for example model.gguf");
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.model);
  if (!checkpoint)
    return checkpoint.takeStatus();
  ConversionPlan plan(std::move(*checkpoint), recipe);
  if (!options.importanceMatrix.empty()) {
    Expected<ImportanceMatrix> importance =
        ImportanceMatrix::open(options.importanceMatrix);
    if (!importance)
      return importance.takeStatus();
    plan.importance = std::move(*importance);
  }
  // The keys come first: they tell which models cannot be written.
  LLMIR_RETURN_IF_ERROR(plan.addKeys(options));
  LLMIR_RETURN_IF_ERROR(plan.addTensors());
  LLMIR_RETURN_IF_ERROR(plan.chooseFormats());
  LLMIR_RETURN_IF_ERROR(plan.findWeights());
  plan.divide(options);
  if (plan.files.size() > 65535)
    return Status(StatusCode::InvalidArgument,
                  "this makes " + std::to_string(plan.files.size()) + " files",
                  "give a larger --split-max-size");
  return plan;
}
