//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"
#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Checkpoint/GGUF.h"

#include <algorithm>

namespace llmir {

namespace {

/// Reads the "<architecture>.*" keys of one file into a ModelConfig.
class GGUFConfig {
public:
  GGUFConfig(const GGUFMetadata &metadata,
             const std::vector<CheckpointTensor> &tensors)
      : metadata(metadata), tensors(tensors) {}

  Expected<ModelConfig> read();

private:
  Status readArchitecture();
  Status refuseWhatIsNotSupported() const;
  Status readSizes();
  Status readHeads();
  Status checkGPT2Heads() const;
  Status readVocabulary();
  Status readRope();
  Status readRopeScaling();
  Status readTokens();
  Status check();

  /// "llama." + name.
  std::string key(const char *name) const { return prefix + name; }
  std::string epsKey() const {
    return key(config.learnedPositions ? "attention.layer_norm_epsilon"
                                       : "attention.layer_norm_rms_epsilon");
  }
  const CheckpointTensor *tensor(std::string_view name) const;
  Expected<int64_t> sameInEveryLayer(const std::string &key, int64_t max) const;
  Status unsupported(const std::string &key, const std::string &problem,
                     const std::string &advice = {}) const {
    return metadata.failure(StatusCode::Unsupported, key, problem, advice);
  }

  const GGUFMetadata &metadata;
  const std::vector<CheckpointTensor> &tensors;
  std::string prefix;
  std::string factorKey;
  ModelConfig config;
};

const CheckpointTensor *GGUFConfig::tensor(std::string_view name) const {
  auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const CheckpointTensor &tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Status GGUFConfig::readArchitecture() {
  std::string_view architecture;
  LLMIR_ASSIGN_OR_RETURN(architecture, metadata.string("general.architecture"));
  std::optional<std::string> family = familyOf(architecture);
  if (!family || *family != architecture)
    return unsupported("general.architecture",
                       "is \"" + printable(architecture) +
                           "\", an architecture that LLMIR does not support",
                       "supported: " + supportedFamilies());
  config.architecture = *family;
  config.learnedPositions = architecture == "gpt2";
  prefix = std::string(architecture) + ".";
  std::string_view name;
  LLMIR_ASSIGN_OR_RETURN(name, metadata.stringOr("general.name", ""));
  config.modelName = printable(name, 200);
  return Status::ok();
}

/// Rejects keys that change the computation in ways no family supports.
Status GGUFConfig::refuseWhatIsNotSupported() const {
  for (const char *name : {"attn_logit_softcapping", "final_logit_softcapping",
                           "embedding_scale", "residual_scale", "logit_scale",
                           "attention.scale", "rope.scaling.attn_factor"}) {
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
  if (*experts > 0)
    return unsupported(key("expert_count"),
                       "is " + std::to_string(*experts) +
                           "; mixtures of experts are not supported");
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
  LLMIR_ASSIGN_OR_RETURN(
      config.hiddenSize,
      metadata.integer(key("embedding_length"), 1, maxHiddenSize));
  LLMIR_ASSIGN_OR_RETURN(
      config.contextLength,
      metadata.integer(key("context_length"), 1, maxContext));
  LLMIR_ASSIGN_OR_RETURN(
      config.intermediateSize,
      sameInEveryLayer(key("feed_forward_length"), maxIntermediateSize));
  const GGUFEntry *eps = metadata.find(epsKey());
  // NaN and infinity are left to the common check, which names the valid range.
  if (eps && eps->number())
    config.normEps = *eps->number();
  else
    LLMIR_ASSIGN_OR_RETURN(config.normEps, metadata.number(epsKey()));
  int64_t window;
  LLMIR_ASSIGN_OR_RETURN(
      window, metadata.integerOr(key("attention.sliding_window"), 0, 0));
  if (window > 0 && window < config.contextLength)
    return unsupported(key("attention.sliding_window"),
                       "is " + std::to_string(window) +
                           ", shorter than the context of " +
                           std::to_string(config.contextLength) +
                           " tokens; attention within a window is not "
                           "supported");
  return Status::ok();
}

Status GGUFConfig::readHeads() {
  LLMIR_ASSIGN_OR_RETURN(
      config.numHeads, sameInEveryLayer(key("attention.head_count"), maxHeads));
  config.numKVHeads = config.numHeads;
  if (metadata.has(key("attention.head_count_kv")))
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
                       "is " + std::to_string(config.numKVHeads) +
                           "; gpt2 has keys and values for each of its " +
                           std::to_string(config.numHeads) + " heads");
  if (config.headDim != 0 &&
      config.headDim * config.numHeads != config.hiddenSize)
    return unsupported(
        key("attention.key_length"),
        "is " + std::to_string(config.headDim) + "; " +
            std::to_string(config.numHeads) + " heads of gpt2 have " +
            std::to_string(config.hiddenSize) + " values together");
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

Status GGUFConfig::readRope() {
  LLMIR_ASSIGN_OR_RETURN(config.ropeTheta,
                         metadata.numberOr(key("rope.freq_base"), 10000.0));
  int64_t headDim =
      config.headDim ? config.headDim : config.hiddenSize / config.numHeads;
  LLMIR_ASSIGN_OR_RETURN(
      config.rotaryDim,
      metadata.integerOr(key("rope.dimension_count"), headDim, 1, maxHeadDim));
  if (config.rotaryDim > headDim)
    return metadata.failure(
        StatusCode::InvalidFile, key("rope.dimension_count"),
        "is " + std::to_string(config.rotaryDim) + ", more than the " +
            std::to_string(headDim) + " values of a head");
  if (config.rotaryDim != headDim)
    return unsupported(key("rope.dimension_count"),
                       "is " + std::to_string(config.rotaryDim) + " of " +
                           std::to_string(headDim) +
                           " values of a head; only the rotation of whole "
                           "heads is supported");
  return readRopeScaling();
}

Status GGUFConfig::readRopeScaling() {
  // As in llama.cpp: linear by default if a factor is given.
  std::string typeKey = key("rope.scaling.type");
  factorKey = key("rope.scaling.factor");
  if (!metadata.has(factorKey) && metadata.has(key("rope.scale_linear")))
    factorKey = key("rope.scale_linear");
  std::string_view type;
  LLMIR_ASSIGN_OR_RETURN(type, metadata.stringOr(typeKey, "linear"));
  if (type != "none" && type != "linear")
    return unsupported(typeKey, "is \"" + printable(type) + "\"",
                       "supported: none, linear");
  if (type == "none" || (!metadata.has(typeKey) && !metadata.has(factorKey)))
    return Status::ok();
  LLMIR_ASSIGN_OR_RETURN(config.ropeScaling.factor, metadata.number(factorKey));
  if (config.ropeScaling.factor != 1.0)
    config.ropeScaling.kind = RopeScaling::Linear;
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
                         factorKey};
  return completeAndCheck(config, names,
                          [&](StatusCode code, const std::string &field,
                              const std::string &problem) {
                            return metadata.failure(code, field, problem);
                          });
}

Expected<ModelConfig> GGUFConfig::read() {
  LLMIR_RETURN_IF_ERROR(readArchitecture());
  LLMIR_RETURN_IF_ERROR(refuseWhatIsNotSupported());
  LLMIR_RETURN_IF_ERROR(readSizes());
  LLMIR_RETURN_IF_ERROR(readHeads());
  LLMIR_RETURN_IF_ERROR(config.learnedPositions ? checkGPT2Heads()
                                                : readRope());
  LLMIR_RETURN_IF_ERROR(check());
  LLMIR_RETURN_IF_ERROR(readVocabulary());
  LLMIR_RETURN_IF_ERROR(readTokens());
  config.tieWordEmbeddings = !tensor("output.weight");
  config.qkvBias = config.architecture == "qwen2" ||
                   tensor("blk.0.attn_q.bias") || tensor("blk.0.attn_qkv.bias");
  config.attentionOutputBias = tensor("blk.0.attn_output.bias") != nullptr;
  config.mlpBias = tensor("blk.0.ffn_down.bias") != nullptr;
  config.qkNorm = config.architecture == "qwen3";
  config.ropeFrequencyDivisors = tensor("rope_freqs.weight") != nullptr;
  config.adjacentPairRotation = config.architecture == "llama";
  return std::move(config);
}

} // namespace

Expected<ModelConfig>
modelConfigFromGGUF(const GGUFMetadata &metadata,
                    const std::vector<CheckpointTensor> &tensors) {
  return GGUFConfig(metadata, tensors).read();
}

} // namespace llmir
