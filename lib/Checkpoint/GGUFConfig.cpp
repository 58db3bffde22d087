//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>

namespace llmir {

const CheckpointTensor *GGUFConfig::tensor(std::string_view name) const {
  auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const CheckpointTensor &tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Status GGUFConfig::readArchitecture() {
  std::string_view architecture;
  LLMIR_ASSIGN_OR_RETURN(architecture, metadata.string("general.architecture"));
  family = findFamily(architecture);
  if (!family)
    return unsupported("general.architecture",
                       "is \"" + printable(architecture) +
                           "\", an architecture that LLMIR does not support",
                       "the supported ones with the most similar names are " +
                           nearestFamilies(architecture));
  config.architecture = std::string(architecture);
  config.learnedPositions = architecture == "gpt2" || architecture == "bert";
  prefix = std::string(architecture) + ".";
  std::string_view name;
  LLMIR_ASSIGN_OR_RETURN(name, metadata.stringOr("general.name", ""));
  config.modelName = printable(name, 200);
  return Status::ok();
}

/// Rejects keys that change the computation in ways that the family does not
/// support.
Status GGUFConfig::refuseWhatIsNotSupported() const {
  const bool isGranite = has(Trait::DividesLogits);
  const std::pair<const char *, bool> keys[] = {
      {"attn_logit_softcapping", has(Trait::HasSoftCaps)},
      {"final_logit_softcapping",
       has(Trait::HasSoftCaps) || config.architecture == "gemma4"},
      {"embedding_scale", isGranite},
      {"residual_scale", isGranite},
      {"logit_scale", isGranite || config.architecture == "command-r" ||
                          config.architecture == "cohere2"},
      {"attention.scale", isGranite || has(Trait::HasSoftCaps)},
      {"attention.temperature_scale", config.architecture == "mistral3" ||
                                          config.architecture == "mistral4" ||
                                          config.architecture == "llama4"}};
  for (auto [name, isSupported] : keys) {
    if (isSupported)
      continue;
    Expected<double> value = metadata.numberOr(key(name), 1.0);
    if (!value)
      return value.takeStatus();
    // A factor of 1 and a cap of 0 have no effect.
    if (*value != 1.0 && *value != 0.0)
      return unsupported(key(name), "is " + describeJson(*value) +
                                        "; this is not supported");
  }
  Expected<int64_t> experts = metadata.integerOr(key("expert_count"), 0, 0);
  if (!experts)
    return experts.takeStatus();
  if (*experts > 0 && !has(Trait::HasExperts))
    return unsupported(key("expert_count"),
                       "is " + std::to_string(*experts) +
                           "; mixtures of experts are not supported for " +
                           config.architecture + " models");
  return Status::ok();
}

/// The value of a number, or of an array with equal elements for all layers.
Expected<int64_t> GGUFConfig::sameInEveryLayer(const std::string &key,
                                               int64_t max) const {
  const GGUFEntry *entry = metadata.find(key);
  if (!entry || entry->type != GGUFType::Array)
    return metadata.integer(key, 1, max);
  Expected<GGUFArray> array = metadata.integerArray(key);
  if (!array)
    return array.takeStatus();
  if (array->size != static_cast<size_t>(config.numLayers))
    return metadata.failure(StatusCode::InvalidFile, key,
                            "has " + std::to_string(array->size) +
                                " elements for " +
                                std::to_string(config.numLayers) + " layers");
  int64_t first = array->integer(0).value_or(0);
  if (first < 1 || first > max)
    return metadata.failure(StatusCode::InvalidFile, key,
                            "contains " + std::to_string(first) +
                                "; expected 1 to " + std::to_string(max));
  for (size_t i = 1; i < array->size; ++i)
    if (array->integer(i).value_or(0) != first)
      return unsupported(key, "differs between layers");
  return first;
}

Status GGUFConfig::readSizes() {
  LLMIR_ASSIGN_OR_RETURN(config.numLayers,
                         metadata.integer(key("block_count"), 1, maxLayers));
  LLMIR_ASSIGN_OR_RETURN(config.numPredictionLayers,
                         metadata.integerOr(key("nextn_predict_layers"), 0, 0,
                                            config.numLayers - 1));
  config.numLayers -= config.numPredictionLayers;
  LLMIR_ASSIGN_OR_RETURN(
      config.hiddenSize,
      metadata.integer(key("embedding_length"), 1, maxHiddenSize));
  LLMIR_ASSIGN_OR_RETURN(
      config.contextLength,
      metadata.integer(key("context_length"), 1, maxContext));
  if (config.architecture == "gemma4")
    LLMIR_RETURN_IF_ERROR(readInnerSizes());
  // Files of models without dense layers may give only the size of experts.
  const bool hasDenseSize =
      metadata.find(key("feed_forward_length")) || !has(Trait::HasExperts);
  if (config.intermediateSize == 0)
    LLMIR_ASSIGN_OR_RETURN(
        config.intermediateSize,
        sameInEveryLayer(key(hasDenseSize ? "feed_forward_length"
                                          : "expert_feed_forward_length"),
                         maxIntermediateSize));
  const GGUFEntry *eps = metadata.find(epsKey());
  // NaN and infinity are left to the common check, which names the valid range.
  if (eps && eps->number())
    config.normEps = *eps->number();
  else
    LLMIR_ASSIGN_OR_RETURN(config.normEps, metadata.number(epsKey()));
  return Status::ok();
}

/// The type of the weights with which the model was trained, as far as that of
/// a table of embeddings tells.
std::string_view GGUFConfig::typeOfTable(std::string_view name) const {
  const CheckpointTensor *table = tensor(name);
  const std::string type = table ? table->storageName : "";
  return type == "bf16" ? "bfloat16" : type == "f16" ? "float16" : "float32";
}

/// A positive number; 0, the value of converters for none, and an absent key
/// leave the target.
Status GGUFConfig::readScale(double &target, const char *name) const {
  double value;
  LLMIR_ASSIGN_OR_RETURN(value, metadata.numberOr(key(name), 0.0));
  if (value < 0)
    return metadata.failure(StatusCode::InvalidFile, key(name),
                            "is " + describeJson(value) +
                                "; expected a positive number");
  if (value > 0)
    target = value;
  return Status::ok();
}

Status GGUFConfig::readScales() {
  LLMIR_RETURN_IF_ERROR(readScale(config.embeddingScale, "embedding_scale"));
  LLMIR_RETURN_IF_ERROR(readScale(config.residualScale, "residual_scale"));
  LLMIR_RETURN_IF_ERROR(readScale(config.attentionScale, "attention.scale"));
  LLMIR_RETURN_IF_ERROR(readScale(config.logitScale, "logit_scale"));
  if (has(Trait::DividesLogits))
    config.logitScale = 1 / config.logitScale;
  if (has(Trait::HasSoftCaps)) {
    LLMIR_RETURN_IF_ERROR(
        readScale(config.attentionSoftCap, "attn_logit_softcapping"));
    LLMIR_RETURN_IF_ERROR(
        readScale(config.logitSoftCap, "final_logit_softcapping"));
    // Not in the files: the models with 27 billion parameters divide by the
    // root of hidden size / heads.
    const bool isLargest =
        config.numLayers == (config.architecture == "gemma2" ? 46 : 62);
    const int64_t headDim =
        config.headDim ? config.headDim : config.hiddenSize / config.numHeads;
    const auto square = static_cast<double>(
        isLargest ? config.hiddenSize / config.numHeads : headDim);
    if (config.attentionScale == 0)
      config.attentionScale = static_cast<float>(1 / std::sqrt(square));
  }
  if (config.architecture == "gemma4")
    LLMIR_RETURN_IF_ERROR(
        readScale(config.logitSoftCap, "final_logit_softcapping"));
  if (has(Trait::ScalesEmbedding))
    config.embeddingScale =
        embeddingScale(config.hiddenSize, typeOfTable("token_embd.weight"));
  LLMIR_ASSIGN_OR_RETURN(
      config.parallelResidual,
      metadata.booleanOr(key("use_parallel_residual"), has(Trait::IsParallel)));
  return readQueryGrowth();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Llama 4: chunks, whose size has a key in some converters' files only, in
/// layers with rotation. The other layers, every fourth one, scale their
/// queries.
Status GGUFConfig::readChunkedLayers() {
  int64_t chunk, window;
  LLMIR_ASSIGN_OR_RETURN(chunk, metadata.integerOr(key("attention.chunk_size"),
                                                   8192, 1, maxContext));
  LLMIR_ASSIGN_OR_RETURN(window,
                         metadata.integerOr(key("attention.sliding_window"),
                                            chunk, 0, maxContext));
  // 0: models of other rotations and scales.
  if (window != chunk)
    return unsupported(key("attention.sliding_window"),
                       "is " + std::to_string(window) +
                           ", but llama4 models attend in chunks of " +
                           std::to_string(chunk));
  config.layers.resize(static_cast<size_t>(config.numLayers));
  for (size_t i = 0; i < config.layers.size(); ++i) {
    LayerAttention &layer = config.layers[i];
    if (i % 4 == 3) {
      layer.rotation = LayerAttention::None;
    } else if (chunk < config.contextLength) {
      layer.window = chunk;
      layer.isChunked = true;
    }
  }
  config.queryGrowth = static_cast<float>(0.1);
  LLMIR_RETURN_IF_ERROR(
      readScale(config.queryGrowth, "attention.temperature_scale"));
  LLMIR_ASSIGN_OR_RETURN(config.queryGrowthContext,
                         metadata.integerOr(key("attention.temperature_length"),
                                            8192, 1, maxContext));
  config.growsUnrotated = true;
  // Not a key: the models with 128 experts have no such norms.
  int64_t experts;
  LLMIR_ASSIGN_OR_RETURN(experts,
                         metadata.integerOr(key("expert_count"), 0, 0));
  config.normalizesRotated = experts != 128;
  return Status::ok();
}

Status GGUFConfig::readLayers() {
  if (config.architecture == "llama4")
    return readChunkedLayers();
  int64_t window;
  LLMIR_ASSIGN_OR_RETURN(
      window,
      metadata.integerOr(key("attention.sliding_window"), 0, 0, maxContext));
  if (has(Trait::LooksAhead) && window > 0)
    window = window / 2 + 1; // Half of it on either side.
  std::vector<bool> windowed(static_cast<size_t>(config.numLayers));
  if (window > 0)
    LLMIR_RETURN_IF_ERROR(readWindowedLayers(windowed));
  config.layers = layersOf(config, *family, window, windowed);
  if (config.architecture == "gemma4")
    return readGemma4Layers();
  if (!has(Trait::EveryFourthIsUnrotated))
    return Status::ok();
  config.layers.resize(static_cast<size_t>(config.numLayers));
  for (size_t i = 3; i < config.layers.size(); i += 4)
    config.layers[i].rotation = LayerAttention::None;
  return Status::ok();
}

/// The pattern is a bool per layer, or the number of layers of which the last
/// has no window.
Status GGUFConfig::readWindowedLayers(std::vector<bool> &windowed) const {
  const std::string name = key("attention.sliding_window_pattern");
  const GGUFEntry *entry = metadata.find(name);
  if (entry && entry->type == GGUFType::Array) {
    Expected<GGUFArray> flags = metadata.array(name, GGUFType::Bool);
    if (!flags)
      return flags.takeStatus();
    if (flags->size != windowed.size())
      return metadata.failure(StatusCode::InvalidFile, name,
                              "has " + std::to_string(flags->size) +
                                  " elements for " +
                                  std::to_string(config.numLayers) + " layers");
    for (size_t i = 0; i < windowed.size(); ++i)
      windowed[i] = flags->bytes[i] != 0;
    return Status::ok();
  }
  int64_t period;
  LLMIR_ASSIGN_OR_RETURN(
      period, metadata.integerOr(name, family->windowPeriod, 0, maxLayers));
  const int64_t first = config.architecture == "modern-bert" ? 0 : 1;
  for (size_t i = 0; i < windowed.size(); ++i)
    windowed[i] =
        period == 0 || (static_cast<int64_t>(i) + first) % period != 0;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Heads and vocabulary
//===----------------------------------------------------------------------===//

Status GGUFConfig::readHeads() {
  if (has(Trait::HasLatents))
    return readLatentAttention();
  if (config.architecture == "gemma4")
    return readGemma4Heads();
  LLMIR_ASSIGN_OR_RETURN(
      config.numHeads, sameInEveryLayer(key("attention.head_count"), maxHeads));
  config.numKVHeads = config.numHeads;
  if (has(Trait::KeepsStates))
    LLMIR_RETURN_IF_ERROR(readRecurrentHeads());
  else if (metadata.has(key("attention.head_count_kv")))
    LLMIR_ASSIGN_OR_RETURN(
        config.numKVHeads,
        sameInEveryLayer(key("attention.head_count_kv"), maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      config.headDim,
      metadata.integerOr(key("attention.key_length"), 0, 2, maxHeadDim));
  int64_t valueDim;
  LLMIR_ASSIGN_OR_RETURN(valueDim,
                         metadata.integerOr(key("attention.value_length"),
                                            config.headDim, 1, maxHeadDim));
  int64_t keyDim =
      config.headDim ? config.headDim : config.hiddenSize / config.numHeads;
  if (valueDim != config.headDim && valueDim != keyDim)
    return unsupported(key("attention.value_length"),
                       "is " + std::to_string(valueDim) + ", but keys have " +
                           std::to_string(keyDim) +
                           " values in a head; different lengths are not "
                           "supported");
  return Status::ok();
}

/// The heads together must have as many elements as the residual stream, and
/// each must have its own keys and values: queries, keys and values are one
/// tensor of three equal parts.
Status GGUFConfig::checkGPT2Heads() const {
  if (config.numKVHeads != config.numHeads)
    return unsupported(key("attention.head_count_kv"),
                       "is " + std::to_string(config.numKVHeads) + "; " +
                           config.architecture +
                           " has keys and values for each of its " +
                           std::to_string(config.numHeads) + " heads");
  if (config.headDim != 0 &&
      config.headDim * config.numHeads != config.hiddenSize)
    return unsupported(key("attention.key_length"),
                       "is " + std::to_string(config.headDim) + "; " +
                           std::to_string(config.numHeads) + " heads of " +
                           config.architecture + " have " +
                           std::to_string(config.hiddenSize) +
                           " values together");
  return Status::ok();
}

/// The embedding's rows are the vocabulary; every token must have a row.
Status GGUFConfig::readVocabulary() {
  const CheckpointTensor *table = tensor("token_embd.weight");
  std::string file = metadata.fileName();
  if (!table)
    return Status(StatusCode::NotFound,
                  file + ": the tensor 'token_embd.weight' is missing",
                  "the file contains no model, or only a part of one");
  if (table->shape.size() != 2 || table->shape[1] != config.hiddenSize)
    return Status(StatusCode::InvalidFile,
                  file + ": the tensor 'token_embd.weight' has the shape " +
                      table->shapeText() + "; expected [vocabulary, " +
                      std::to_string(config.hiddenSize) + "], as '" +
                      key("embedding_length") + "' says");
  config.vocabSize = table->shape[0];
  if (config.vocabSize > maxVocabSize)
    return Status(StatusCode::InvalidFile,
                  file + ": the tensor 'token_embd.weight' has " +
                      std::to_string(config.vocabSize) + " rows; at most " +
                      std::to_string(maxVocabSize));
  int64_t declared;
  LLMIR_ASSIGN_OR_RETURN(
      declared, metadata.integerOr(key("vocab_size"), config.vocabSize, 1));
  if (declared != config.vocabSize)
    return metadata.failure(StatusCode::InvalidFile, key("vocab_size"),
                            "is " + std::to_string(declared) +
                                ", but 'token_embd.weight' has " +
                                std::to_string(config.vocabSize) + " rows");
  const GGUFEntry *tokens = metadata.find("tokenizer.ggml.tokens");
  if (tokens && tokens->array.size > static_cast<size_t>(config.vocabSize))
    return metadata.failure(StatusCode::InvalidFile, tokens->key,
                            "has " + std::to_string(tokens->array.size) +
                                " elements, but 'token_embd.weight' has " +
                                std::to_string(config.vocabSize) + " rows");
  return Status::ok();
}

Status GGUFConfig::readTokens() {
  LLMIR_ASSIGN_OR_RETURN(config.bosToken,
                         metadata.integerOr("tokenizer.ggml.bos_token_id", -1,
                                            0, config.vocabSize - 1));
  for (const char *name :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    int64_t id;
    LLMIR_ASSIGN_OR_RETURN(
        id, metadata.integerOr(name, -1, 0, config.vocabSize - 1));
    bool known = std::find(config.eosTokens.begin(), config.eosTokens.end(),
                           id) != config.eosTokens.end();
    if (id >= 0 && !known)
      config.eosTokens.push_back(id);
  }
  return Status::ok();
}

Status GGUFConfig::check() {
  ConfigFieldNames names{key("attention.head_count"),
                         key("attention.head_count_kv"),
                         key("attention.key_length"),
                         key("embedding_length"),
                         epsKey(),
                         key("rope.freq_base"),
                         factorKey,
                         factorKey,
                         factorKey,
                         key("rope.scaling.yarn_beta_fast"),
                         factorKey};
  return completeAndCheck(config, names,
                          [&](StatusCode code, const std::string &field,
                              const std::string &problem) {
                            return metadata.failure(code, field, problem);
                          });
}

/// The options that the presence of tensors decides, and those of the family.
void GGUFConfig::readTensorTraits() {
  config.tieWordEmbeddings = !tensor("output.weight");
  config.qkvBias = has(Trait::HasQKVBias) || tensor("blk.0.attn_q.bias") ||
                   tensor("blk.0.attn_qkv.bias");
  config.attentionOutputBias = tensor("blk.0.attn_output.bias") != nullptr;
  config.mlpBias = tensor("blk.0.ffn_down.bias") != nullptr;
  const CheckpointTensor *types = tensor("token_types.weight");
  for (const char *name : {"dense_2", "dense_3"}) {
    const std::string stored = name;
    const CheckpointTensor *dense = tensor(stored + ".weight");
    if (dense && dense->shape.size() == 2 && config.pooling != Pooling::None &&
        dense->shape[0] <= maxHiddenSize)
      config.dense.push_back({stored.substr(6) + "_Dense", dense->shape[0],
                              tensor(stored + ".bias") != nullptr});
  }
  // Quantized files store a table of one row as a vector. The whole shape is
  // checked later.
  if (types && types->shape.size() == 1)
    config.tokenTypes = 1;
  else if (types && types->shape.size() == 2 && types->shape[0] <= maxVocabSize)
    config.tokenTypes = types->shape[0];
  config.qkNorm = has(Trait::HasQKNorm) && (config.architecture != "glm4moe" ||
                                            tensor("blk.0.attn_q_norm.weight"));
  config.hasSinks = config.architecture == "gpt-oss";
  config.ropeFrequencyDivisors = tensor("rope_freqs.weight") != nullptr;
  config.adjacentPairRotation = has(Trait::PairsInGGUF);
  config.activation = has(Trait::UsesGELU)        ? Activation::GELUTanh
                      : has(Trait::UsesExactGELU) ? Activation::GELU
                                                  : Activation::SiLU;
}

Expected<ModelConfig> GGUFConfig::read() {
  LLMIR_RETURN_IF_ERROR(readArchitecture());
  LLMIR_RETURN_IF_ERROR(refuseWhatIsNotSupported());
  LLMIR_RETURN_IF_ERROR(readSizes());
  LLMIR_RETURN_IF_ERROR(readHeads());
  LLMIR_RETURN_IF_ERROR(config.learnedPositions ? checkGPT2Heads()
                                                : readRope());
  LLMIR_RETURN_IF_ERROR(readScales());
  LLMIR_RETURN_IF_ERROR(readLayers());
  if (has(Trait::KeepsStates))
    LLMIR_RETURN_IF_ERROR(readRecurrent());
  if (has(Trait::HasExperts))
    LLMIR_RETURN_IF_ERROR(readExperts());
  LLMIR_RETURN_IF_ERROR(check());
  LLMIR_RETURN_IF_ERROR(readVocabulary());
  LLMIR_RETURN_IF_ERROR(readTokens());
  LLMIR_RETURN_IF_ERROR(readSampling());
  LLMIR_RETURN_IF_ERROR(readPooling());
  readTensorTraits();
  return std::move(config);
}

Expected<ModelConfig>
modelConfigFromGGUF(const GGUFMetadata &metadata,
                    const std::vector<CheckpointTensor> &tensors) {
  return GGUFConfig(metadata, tensors).read();
}

} // namespace llmir
