//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelSummary.h"
#include "Console.h"
#include "ModelTokenizer.h"
#include "StepCost.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/ABI/StateRecord.h"
#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Text.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <cctype>
#include <map>

using namespace llmir;
using namespace llmir::cli;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes of one token in all layers; blocks are allocated whole.
static int64_t kvBytes(int64_t layers, const KVBlockLayout &layout) {
  return layers * layout.blockBytes() / layout.blockSize;
}

static int64_t bytesOf(const Checkpoint &checkpoint, const char *name) {
  const CheckpointTensor *tensor = checkpoint.find(name);
  return tensor ? static_cast<int64_t>(tensor->storedBytes()) : 0;
}

/// Bytes of the tables of embeddings of which a token reads one row: not that
/// which is the output projection as well.
static int64_t unreadBytes(const Checkpoint &checkpoint) {
  int64_t bytes = 0;
  for (const char *name : {"model.embed_tokens_per_layer.weight",
                           "model.language_model.embed_tokens_per_layer.weight",
                           "per_layer_token_embd.weight"})
    bytes += bytesOf(checkpoint, name);
  if (checkpoint.config().tieWordEmbeddings)
    return bytes;
  for (const char *name : {"model.embed_tokens.weight", "token_embd.weight",
                           "transformer.wte.weight", "wte.weight"})
    bytes += bytesOf(checkpoint, name);
  return bytes;
}

/// Whether a tensor has matrices of the experts among which a router chooses:
/// a stack of those of all, or a numbered one ("experts.3.up_proj.weight").
static bool isOfExperts(const CheckpointTensor &tensor,
                        const ExpertsConfig &experts) {
  if (tensor.shape.size() == 3)
    return tensor.shape[0] == experts.count;
  constexpr std::string_view word = "experts.";
  const size_t at = tensor.name.find(word);
  return at != std::string::npos && at + word.size() < tensor.name.size() &&
         std::isdigit(
             static_cast<unsigned char>(tensor.name[at + word.size()]));
}

/// Bytes of the experts that a router does not choose for a token.
static int64_t unchosenBytes(const Checkpoint &checkpoint) {
  const ExpertsConfig &experts = checkpoint.config().experts;
  if (experts.count <= 0)
    return 0;
  int64_t bytes = 0;
  for (const CheckpointTensor &tensor : checkpoint.tensors())
    if (isOfExperts(tensor, experts))
      bytes += static_cast<int64_t>(tensor.storedBytes());
  return bytes / experts.count * (experts.count - experts.perToken);
}

/// Bytes of what a layer keeps of a sequence: the inputs of its convolution,
/// and the matrices of its recurrence.
static int64_t stateRecordBytes(const ModelConfig &config) {
  const RecurrentConfig &layer = config.recurrent;
  if (layer.kind == RecurrentConfig::ShortConv)
    return 4 * std::max(tailFloats(layer.taps, config.hiddenSize), kStateLanes);
  const int64_t channels =
      layer.valueHeads * layer.valueDim + 2 * layer.keyHeads * layer.keyDim;
  return 4 * (tailFloats(layer.taps, channels) +
              matrixFloats(layer.valueHeads, layer.keyDim, layer.valueDim));
}

int64_t ModelMemory::kvOf(int64_t tokens) const {
  int64_t bytes = kvPerToken * tokens;
  for (const KVWindow &window : windows)
    bytes -=
        window.bytesPerToken * std::max<int64_t>(tokens - window.mostTokens, 0);
  return bytes;
}

int64_t ModelMemory::longestWithin(int64_t bytes) const {
  int64_t fits = 0, tooMany = contextLength + 1;
  while (tooMany - fits > 1) {
    const int64_t middle = fits + (tooMany - fits) / 2;
    (kvOf(middle) <= bytes ? fits : tooMany) = middle;
  }
  return fits;
}

/// `windows` are those of layers, `layerBytes` the bytes of a token in one.
static std::vector<KVWindow> windowsOf(const std::vector<int64_t> &windows,
                                       int64_t layerBytes, int64_t blockSize,
                                       int64_t tokenBudget) {
  std::vector<KVWindow> result;
  for (int64_t window : mlir::llm::runtime::distinctWindows(windows))
    result.push_back(
        {layerBytes * std::count(windows.begin(), windows.end(), window),
         blockSize * mlir::llm::runtime::WindowBlocks::mostHeld(
                         window, blockSize, tokenBudget)});
  return result;
}

/// The window of each layer that has a cache, which layers that read it must
/// have as well; 0 if one of them reads all.
static std::vector<int64_t> windowsOfCaches(const ModelConfig &config) {
  std::map<int64_t, int64_t> windows;
  for (int64_t i = 0; !config.isBidirectional && i < config.numLayers; ++i) {
    if (config.isRecurrent(i))
      continue;
    const LayerAttention layer = config.attentionOf(i);
    const int64_t owner = layer.cacheOf >= 0 ? layer.cacheOf : i;
    auto [known, isNew] = windows.insert({owner, layer.window});
    known->second = known->second == 0 || layer.window == 0
                        ? 0
                        : std::max(known->second, layer.window);
  }
  std::vector<int64_t> result;
  for (const auto &[owner, window] : windows)
    result.push_back(window);
  return result;
}

ModelMemory cli::memoryOf(const Checkpoint &checkpoint) {
  constexpr int64_t tokensPerBlock = 16;
  // Of windows: what the compiler chooses for most models.
  constexpr int64_t windowBlockSize = 64, tokenBudget = 512;
  const ModelConfig &config = checkpoint.config();
  ModelMemory memory;
  for (const CheckpointTensor &tensor : checkpoint.tensors())
    memory.weights += static_cast<int64_t>(tensor.storedBytes());
  memory.readPerToken =
      memory.weights - unreadBytes(checkpoint) - unchosenBytes(checkpoint);
  memory.kvFormat = kvFormatName(KVFormat::BF16);
  // Keys and values of encoders are needed within their layer only.
  memory.kvPerToken =
      kvBytes(config.isBidirectional ? 1 : config.numCacheLayers(),
              {config.numKVHeads, config.headDim, tokensPerBlock,
               kvStoredBytes(KVFormat::BF16), config.valuesInKeys,
               config.valuesInKeys > 0});
  memory.windows = windowsOf(windowsOfCaches(config),
                             memory.kvPerToken /
                                 std::max<int64_t>(config.numCacheLayers(), 1),
                             windowBlockSize, tokenBudget);
  memory.contextLength = config.contextLength;
  memory.stateLayers = config.numLayers - config.numCacheLayers();
  if (memory.stateLayers > 0)
    memory.statePerSequence = memory.stateLayers * stateRecordBytes(config);
  return memory;
}

ModelMemory cli::memoryOf(const Artifact &artifact) {
  const ArtifactInfo &info = artifact.info();
  ModelMemory memory;
  memory.weights = static_cast<int64_t>(artifact.weights().size());
  memory.readPerToken = stepWeightBytes(info);
  memory.kvFormat = kvFormatName(info.kvFormat);
  memory.kvPerToken = kvBytes(info.numLayers, info.kvLayout());
  memory.windows = windowsOf(info.windows, memory.kvPerToken / info.numLayers,
                             info.kvBlockSize, info.tokenBudget);
  memory.contextLength = info.contextLength;
  memory.stateLayers = info.stateLayers;
  memory.statePerSequence = info.stateLayers * info.stateRecordBytes;
  return memory;
}

Json cli::toJson(const ModelMemory &memory) {
  return {{"weight_bytes", memory.weights},
          {"kv_bytes_per_1000_tokens", memory.kvPerToken * 1000},
          {"kv_bytes_of_context", memory.kvOfContext()},
          {"kv_format", memory.kvFormat},
          {"state_bytes_per_sequence", memory.statePerSequence}};
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// "5.8 million", "1.24 billion"
static std::string countText(double count) {
  if (count >= 1e9)
    return formatNumber(count / 1e9, 2) + " billion";
  if (count >= 1e6)
    return formatNumber(count / 1e6, 1) + " million";
  return formatNumber(count, 0);
}

static std::string plural(int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

static std::string attentionText(const ModelConfig &config) {
  std::string text =
      plural(config.numHeads, "head") + " of " + std::to_string(config.headDim);
  if (config.numKVHeads != config.numHeads)
    text += ", " + plural(config.numKVHeads, "KV head");
  if (config.qkNorm)
    text += ", normalized q and k";
  if (config.qkvBias)
    text += ", with biases";
  return text;
}

static std::string positionsText(const ModelConfig &config) {
  if (config.learnedPositions)
    return "a learned table";
  std::string text = "RoPE, theta " + formatNumber(config.ropeTheta, 0);
  if (config.rotaryDim != config.headDim)
    text += ", " + std::to_string(config.rotaryDim) + " elements of each head";
  return text;
}

static std::string weightsText(const Checkpoint &checkpoint,
                               const ModelMemory &memory) {
  std::map<std::string, int64_t> bytes;
  for (const CheckpointTensor &tensor : checkpoint.tensors())
    bytes[tensor.storageName] += static_cast<int64_t>(tensor.storedBytes());
  std::string types;
  for (const auto &[name, size] : bytes)
    types += (types.empty() ? "" : ", ") + name +
             (bytes.size() == 1
                  ? ""
                  : " " +
                        formatNumber(100.0 * static_cast<double>(size) /
                                         static_cast<double>(memory.weights),
                                     1) +
                        " %");
  return formatBytes(static_cast<double>(memory.weights)) + " in " +
         plural(static_cast<int64_t>(checkpoint.tensors().size()), "tensor") +
         ": " + types;
}

static std::string cacheText(const ModelMemory &memory) {
  return formatBytes(static_cast<double>(memory.kvPerToken) * 1000) +
         " per 1,000 tokens in " + memory.kvFormat + ", " +
         formatBytes(static_cast<double>(memory.kvOfContext())) +
         " for the whole context";
}

static std::string statesText(const ModelMemory &memory) {
  return formatBytes(static_cast<double>(memory.statePerSequence)) +
         " per sequence in f32, " + plural(memory.stateLayers, "layer");
}

static std::string tokenText(const Tokenizer &tokenizer, int64_t id) {
  std::string text = std::to_string(id);
  if (id < tokenizer.vocabSize() &&
      tokenizer.hasToken(static_cast<int32_t>(id)))
    text = printable(tokenizer.tokenText(static_cast<int32_t>(id)), 40) + " (" +
           text + ")";
  return text;
}

static std::string tokenizerText(const Checkpoint &checkpoint) {
  Expected<Tokenizer> tokenizer = openTokenizer(checkpoint.path());
  if (!tokenizer)
    return "cannot be used: " + tokenizer.status().cause();
  std::string text = plural(tokenizer->vocabSize(), "token");
  const ModelConfig &config = checkpoint.config();
  if (config.bosToken >= 0)
    text += ", begins with " + tokenText(*tokenizer, config.bosToken);
  std::string ends;
  for (int64_t id : config.eosTokens)
    ends += (ends.empty() ? "" : ", ") + tokenText(*tokenizer, id);
  return text + (ends.empty() ? "" : ", ends at " + ends);
}

/// "8 of width 768, 2 for each token and an MLP of width 1024 for all, in 23
/// layers".
static std::string expertsText(const ModelConfig &config) {
  const ExpertsConfig &experts = config.experts;
  int64_t layers = 0;
  for (int64_t i = 0; i < config.numLayers; ++i)
    layers += config.hasExperts(i);
  std::string shared;
  if (experts.sharedInnerSize > 0)
    shared = " and an MLP of width " + std::to_string(experts.sharedInnerSize) +
             " for all";
  return std::to_string(experts.count) + " of width " +
         std::to_string(experts.innerSize) + ", " +
         std::to_string(experts.perToken) + " for each token" + shared +
         ", in " + plural(layers, "layer");
}

/// The limit of texts, if it is less than the context.
static std::string textLimit(const ModelConfig &config) {
  return config.textLength == 0 || config.textLength == config.contextLength
             ? std::string()
             : ", texts of up to " + plural(config.textLength, "token");
}

SummaryLines cli::summarize(const Checkpoint &checkpoint) {
  const ModelConfig &config = checkpoint.config();
  const ModelMemory memory = memoryOf(checkpoint);
  double parameters = 0;
  for (const CheckpointTensor &tensor : checkpoint.tensors())
    parameters += static_cast<double>(tensor.numElements());
  SummaryLines lines = {
      {"model", printable(config.modelName, 100) + ", " + config.architecture +
                    ", " + countText(parameters) + " parameters"},
      {"layers", std::to_string(config.numLayers) + " of width " +
                     std::to_string(config.hiddenSize) + ", MLP of width " +
                     std::to_string(config.intermediateSize)},
      {"attention", attentionText(config)},
      {"positions", positionsText(config)},
      {"context", plural(config.contextLength, "token")},
      {"vocabulary", std::to_string(config.vocabSize) +
                         (config.tieWordEmbeddings
                              ? ", the output projection is the embedding"
                              : "")},
      {"weights", weightsText(checkpoint, memory)},
      {"KV cache", cacheText(memory)},
      {"tokenizer", tokenizerText(checkpoint)},
  };
  if (memory.stateLayers > 0)
    lines.insert(lines.end() - 1, {"states", statesText(memory)});
  if (config.experts.count > 0)
    lines.insert(lines.begin() + 2, {"experts", expertsText(config)});
  if (config.pooling != Pooling::None)
    lines.insert(lines.begin() + 1,
                 {"embeddings",
                  std::to_string(config.embeddingSize()) + " values, pooling " +
                      poolingName(config.pooling) + textLimit(config)});
  for (const std::string &fact : unusualFacts(checkpoint))
    lines.push_back({"note", fact});
  return lines;
}

//===----------------------------------------------------------------------===//
// What is unusual
//===----------------------------------------------------------------------===//

static void addStorageFacts(const Checkpoint &checkpoint,
                            std::vector<std::string> &facts) {
  std::map<std::string, int64_t> unusable;
  for (const CheckpointTensor &tensor : checkpoint.tensors())
    if (!tensor.format)
      ++unusable[tensor.storageName];
  for (const auto &[name, count] : unusable)
    facts.push_back(plural(count, "tensor") + " of type " + name +
                    ", which cannot be used as a weight");
}

static void addTokenFacts(const Checkpoint &checkpoint,
                          std::vector<std::string> &facts) {
  const ModelConfig &config = checkpoint.config();
  if (config.eosTokens.empty() && config.pooling == Pooling::None)
    facts.push_back("no end token is known: texts end at their maximum length "
                    "only");
  Expected<Tokenizer> tokenizer = openTokenizer(checkpoint.path());
  if (!tokenizer)
    return;
  const int64_t tokens = tokenizer->vocabSize();
  if (tokens < config.vocabSize)
    facts.push_back("the vocabulary has " +
                    plural(config.vocabSize - tokens, "row") +
                    " without a token (padding)");
  if (tokens > config.vocabSize)
    facts.push_back("the tokenizer has " + plural(tokens, "token") +
                    ", more than the embedding has rows");
}

static void addAttentionFacts(const ModelConfig &config,
                              std::vector<std::string> &facts) {
  int64_t windowed = 0, unrotated = 0, window = 0, sharing = 0;
  bool isChunked = false;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    if (config.isRecurrent(static_cast<int64_t>(i)))
      continue;
    const LayerAttention &layer = config.layers[i];
    windowed += layer.window > 0 ? 1 : 0;
    unrotated += layer.rotation == LayerAttention::None ? 1 : 0;
    window = std::max(window, layer.window);
    sharing += layer.cacheOf >= 0 ? 1 : 0;
    isChunked = isChunked || layer.isChunked;
  }
  if (windowed > 0)
    facts.push_back(
        "in " + plural(windowed, "layer") + " of " +
        std::to_string(config.numLayers) + ", a token attends to " +
        (isChunked ? "its chunk of " : "the last ") + std::to_string(window) +
        " tokens only" +
        (config.isBidirectional ? ", and to as many later ones" : ""));
  if (sharing > 0)
    facts.push_back("in " + plural(sharing, "layer") + " of " +
                    std::to_string(config.numLayers) +
                    ", a token attends to the keys of an earlier layer");
  if (unrotated > 0)
    facts.push_back(plural(unrotated, "layer") + " of " +
                    std::to_string(config.numLayers) +
                    " without rotary positions");
  if (config.rotaryDim > 0 && config.rotaryDim < config.headDim)
    facts.push_back("only " + std::to_string(config.rotaryDim) + " of the " +
                    std::to_string(config.headDim) +
                    " elements of a head are rotated");
}

std::vector<std::string> cli::unusualFacts(const Checkpoint &checkpoint) {
  const ModelConfig &config = checkpoint.config();
  std::vector<std::string> facts;
  addStorageFacts(checkpoint, facts);
  addTokenFacts(checkpoint, facts);
  const RopeScaling::Kind scaling = config.ropeScaling.kind;
  if (scaling == RopeScaling::LongRope)
    facts.push_back("positions are scaled pair by pair (longrope)");
  else if (scaling == RopeScaling::Proportional)
    facts.push_back("in layers without a window, only " +
                    std::to_string(config.ropeScaling.turnedPairs) +
                    " of the " + std::to_string(config.rotaryDim / 2) +
                    " pairs of a head are rotated");
  else if (!config.learnedPositions && scaling != RopeScaling::Default)
    facts.push_back("positions are scaled by a factor of " +
                    formatNumber(config.ropeScaling.factor, 2));
  addAttentionFacts(config, facts);
  if (config.numHeads * config.headDim != config.hiddenSize)
    facts.push_back(
        "the heads have " + std::to_string(config.numHeads * config.headDim) +
        " elements, the hidden state " + std::to_string(config.hiddenSize));
  return facts;
}
