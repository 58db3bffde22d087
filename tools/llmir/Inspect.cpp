//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir inspect: shows the contents of a checkpoint or an artifact.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "Console.h"
#include "ModelResolver.h"
#include "ModelSummary.h"

#include "llmir/Artifact/ArtifactInfoJSON.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct InspectOptions {
  std::string model;
  std::string graph; ///< File for a picture.
  bool json = false;
  bool tensors = false;
  bool verify = false;
};

} // namespace

/// The config as a flat JSON object, which the text output prints line by line.
static Json describeConfig(const ModelConfig &config) {
  static const char *const scalings[] = {"default", "linear", "llama3", "yarn",
                                         "longrope"};
  Json json = {
      {"name", config.modelName},
      {"architecture", config.architecture},
      {"vocab_size", config.vocabSize},
      {"hidden_size", config.hiddenSize},
      {"intermediate_size", config.intermediateSize},
      {"num_layers", config.numLayers},
      {"num_heads", config.numHeads},
      {"num_kv_heads", config.numKVHeads},
      {"head_dim", config.headDim},
      {"context_length", config.contextLength},
      {config.learnedPositions ? "layer_norm_eps" : "rms_norm_eps",
       config.normEps},
      {"tie_word_embeddings", config.tieWordEmbeddings},
      {"qkv_bias", config.qkvBias},
      {"qk_norm", config.qkNorm},
      {"bos_token", config.bosToken},
      {"eos_tokens", config.eosTokens},
  };
  if (config.learnedPositions)
    return json;
  json["rope_theta"] = config.ropeTheta;
  json["rope_scaling"] = scalings[config.ropeScaling.kind];
  if (config.ropeScaling.kind != RopeScaling::Default)
    json["rope_scaling_factor"] = config.ropeScaling.factor;
  return json;
}

static void printFields(const SummaryLines &fields) {
  size_t width = 0;
  for (const auto &[name, value] : fields)
    width = std::max(width, name.size());
  for (const auto &[name, value] : fields)
    print("  " + name + std::string(width - name.size() + 2, ' ') + value +
          "\n");
}

static void printFields(const Json &object) {
  SummaryLines fields;
  for (auto it = object.begin(); it != object.end(); ++it)
    fields.emplace_back(it.key(), it->is_string()
                                      ? printable(it->get<std::string>(), 200)
                                      : it->dump());
  printFields(fields);
}

static Json describeTensor(const CheckpointTensor &tensor) {
  return {{"name", tensor.name},
          {"type", tensor.storageName},
          {"shape", tensor.shape},
          {"bytes", tensor.storedBytes()},
          {"file", std::string(tensor.file->name())}};
}

static void printTensor(const CheckpointTensor &tensor, size_t width) {
  std::string name = printable(tensor.name, 200);
  print("  " + name +
        std::string(width - std::min(width, name.size()) + 2, ' ') +
        tensor.storageName + " " + tensor.shapeText() + "\n");
}

static Status inspectCheckpoint(const InspectOptions &options) {
  Expected<Checkpoint> model = Checkpoint::open(options.model);
  if (!model)
    return model.takeStatus();
  uint64_t values = 0, bytes = 0;
  std::map<std::string, int64_t> types; // Tensors of each storage type.
  size_t width = 0;
  for (const CheckpointTensor &tensor : model->tensors()) {
    values += static_cast<uint64_t>(tensor.numElements());
    bytes += tensor.storedBytes();
    ++types[tensor.storageName];
    width = std::max(width, tensor.name.size());
  }
  Json summary = describeConfig(model->config());
  summary["format"] =
      model->kind() == CheckpointKind::GGUF ? "gguf" : "safetensors";
  summary["parameters"] = values;
  summary["weight_bytes"] = bytes;
  summary["tensor_types"] = types;

  if (options.json) {
    Json list = Json::array();
    for (const CheckpointTensor &tensor : model->tensors())
      list.push_back(describeTensor(tensor));
    Json object = {{"model", summary},
                   {"memory", toJson(memoryOf(*model))},
                   {"unusual", unusualFacts(*model)},
                   {"tensors", std::move(list)}};
    print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return Status::ok();
  }
  printFields(summarize(*model));
  if (!options.tensors)
    return Status::ok();
  for (const CheckpointTensor &tensor : model->tensors())
    printTensor(tensor, std::min<size_t>(width, 60));
  return Status::ok();
}

static Status inspectArtifact(const InspectOptions &options) {
  auto artifact = Artifact::open(options.model);
  if (!artifact)
    return artifact.takeStatus();
  if (options.verify)
    LLMIR_RETURN_IF_ERROR((*artifact)->verifyWeights());
  Expected<Json> info =
      parseJson(artifactInfoToJSON((*artifact)->info()), options.model);
  if (!info)
    return info.takeStatus();
  const std::vector<CodeTarget> &targets = (*artifact)->info().code;
  Json sections = Json::object();
  for (const ArtifactSectionEntry &entry : (*artifact)->sections()) {
    const auto id = static_cast<ArtifactSection>(entry.id);
    std::string name = artifactSectionName(id);
    if (id == ArtifactSection::Code)
      name += " " + targets[entry.number].level;
    sections[name] = entry.size;
  }
  if (options.json) {
    Json object = {{"artifact", *info},
                   {"memory", toJson(memoryOf(**artifact))},
                   {"section_bytes", sections}};
    if (options.verify)
      object["weights_intact"] = true;
    print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return Status::ok();
  }
  std::string levels;
  for (const CodeTarget &target : targets)
    levels += (levels.empty() ? "" : ", ") + target.level;
  (*info)["code"] = levels;
  (*info)["sites"] = (*artifact)->info().sites.size(); // --json lists them.
  if (const int64_t bytes = memoryOf(**artifact).statePerSequence; bytes > 0)
    (*info)["stateBytesPerSequence"] = bytes;
  printFields(*info);
  for (auto it = sections.begin(); it != sections.end(); ++it)
    print("  section " + it.key() + ": " + it->dump() + " bytes\n");
  if (options.verify)
    print("  the checksum of the weights is correct\n");
  return Status::ok();
}

/// The picture's format, from the file's extension; empty if unknown.
static std::string pictureFormat(const std::string &path) {
  for (const char *format : {"svg", "dot"}) {
    const std::string end = std::string(".") + format;
    if (path.size() > end.size() &&
        path.compare(path.size() - end.size(), end.size(), end) == 0)
      return format;
  }
  return {};
}

static Outcome inspect(const InspectOptions &options) {
  const std::string format = pictureFormat(options.graph);
  if (!options.graph.empty() && format.empty())
    return Outcome::usage("'" + options.graph +
                              "' ends in neither .svg nor .dot",
                          "choose such a name, for example model.svg");
  Expected<ModelKind> kind = modelKind(options.model);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::Artifact && !options.graph.empty())
    return Status(StatusCode::Unsupported,
                  "'" + options.model + "' is compiled: its graph is a program",
                  "give --graph the checkpoint that it was made from");
  if (*kind == ModelKind::Artifact)
    return inspectArtifact(options);
  if (options.verify)
    return Outcome::usage("--verify is for artifacts", "omit it");
  if (*kind == ModelKind::Other)
    return notAModel(options.model);
  if (!options.graph.empty()) {
    LLMIRExportOptions picture = {};
    picture.model = options.model.c_str();
    picture.format = format.c_str();
    picture.output = options.graph.c_str();
    return exportModel(picture);
  }
  return inspectCheckpoint(options);
}

void cli::addInspectCommand(CommandLine &line) {
  auto options = std::make_shared<InspectOptions>();
  Command command =
      line.add("inspect", "Show the contents of a checkpoint or an artifact",
               "llmir inspect models/demo --tensors\n"
               "  llmir inspect models/demo --graph demo.svg");
  command.addArgument("MODEL", options->model, modelHelp).required();
  Flag tensors =
      addFlag(command, "--tensors", options->tensors, "also list every tensor");
  Flag graph =
      addOption(command, "--graph", options->graph,
                "draw the traced model into this file: .svg, or .dot for "
                "Graphviz",
                "FILE");
  addFlag(command, "--verify", options->verify,
          "read an artifact's weights and verify their checksum")
      .excludes(graph);
  addJsonFlag(command, options->json).excludes(graph);
  tensors.excludes(graph);
  line.onRun(command, [options]() -> Outcome {
    std::optional<hub::RemoteHeaders> headers;
    if (Status located = locateOrDescribe(options->model, headers); !located)
      return located;
    return inspect(*options);
  });
}
