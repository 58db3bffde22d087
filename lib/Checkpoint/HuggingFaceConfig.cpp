//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceConfig.h"
#include "QuantizedTensors.h"

#include <algorithm>
#include <iterator>

namespace llmir {

static constexpr const char *configName = "config.json";
static constexpr const char *generationName = "generation_config.json";

Status HuggingFaceConfig::readArchitecture() {
  if (json.has("text_config"))
    return unsupported(json, "text_config",
                       "is present: this is a multimodal model",
                       "use a text-only checkpoint");
  std::string modelType;
  LLMIR_ASSIGN_OR_RETURN(modelType, json.string("model_type"));
  family = findModelType(modelType);
  if (!family)
    return unsupported(json, "model_type",
                       "is \"" + printable(modelType) +
                           "\", an architecture that LLMIR does not support",
                       "the supported ones with the most similar names are " +
                           nearestModelTypes(modelType));
  if (modelType == "gemma3_text") {
    bool looksAhead;
    LLMIR_ASSIGN_OR_RETURN(
        looksAhead, json.booleanOr("use_bidirectional_attention", false));
    if (looksAhead)
      family = findFamily("gemma-embedding");
  }
  config.architecture = std::string(family->family);
  config.isTextPart = whole != nullptr;
  return checkQuantizationConfig(whole ? *whole : json);
}

Status HuggingFaceConfig::readSizes() {
  LLMIR_ASSIGN_OR_RETURN(config.vocabSize,
                         json.integer("vocab_size", 1, maxVocabSize));
  LLMIR_ASSIGN_OR_RETURN(config.hiddenSize,
                         json.integer("hidden_size", 1, maxHiddenSize));
  if (config.architecture == "lfm2")
    LLMIR_RETURN_IF_ERROR(readAdjustedInnerSize());
  else // Without it, all layers have experts.
    LLMIR_ASSIGN_OR_RETURN(config.intermediateSize,
                           json.integer(config.architecture == "qwen35moe" &&
                                                !json.has("intermediate_size")
                                            ? "moe_intermediate_size"
                                            : "intermediate_size",
                                        1, maxIntermediateSize));
  LLMIR_ASSIGN_OR_RETURN(config.numLayers,
                         json.integer("num_hidden_layers", 1, maxLayers));
  LLMIR_ASSIGN_OR_RETURN(
      config.numPredictionLayers,
      json.integerOr("num_nextn_predict_layers", 0, 0, maxLayers));
  LLMIR_ASSIGN_OR_RETURN(config.numHeads,
                         json.integer("num_attention_heads", 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(
      config.numKVHeads,
      json.integerOr("num_key_value_heads", config.numHeads, 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(config.headDim,
                         json.integerOr("head_dim", 0, 2, maxHeadDim));
  LLMIR_ASSIGN_OR_RETURN(
      config.contextLength,
      json.integer("max_position_embeddings", 1, maxContext));
  const bool isGreater = has(Trait::UsesLayerNorm) || isLFM2();
  LLMIR_ASSIGN_OR_RETURN(config.normEps,
                         json.numberOr(epsKey(), isGreater ? 1e-5 : 1e-6));
  return Status::ok();
}

/// GPT-2's names. A null inner size means four times the hidden size. The
/// hidden size is divided evenly among the heads.
Status HuggingFaceConfig::readSizesOfGPT2Names(double usualEps) {
  LLMIR_ASSIGN_OR_RETURN(config.vocabSize,
                         json.integer("vocab_size", 1, maxVocabSize));
  LLMIR_ASSIGN_OR_RETURN(config.hiddenSize,
                         json.integer("n_embd", 1, maxHiddenSize));
  LLMIR_ASSIGN_OR_RETURN(
      config.intermediateSize,
      json.integerOr("n_inner", 4 * config.hiddenSize, 1, maxIntermediateSize));
  LLMIR_ASSIGN_OR_RETURN(config.numLayers,
                         json.integer("n_layer", 1, maxLayers));
  LLMIR_ASSIGN_OR_RETURN(config.numHeads, json.integer("n_head", 1, maxHeads));
  LLMIR_ASSIGN_OR_RETURN(config.contextLength,
                         json.integer("n_positions", 1, maxContext));
  LLMIR_ASSIGN_OR_RETURN(config.normEps,
                         json.numberOr("layer_norm_epsilon", usualEps));
  config.numKVHeads = config.numHeads;
  return Status::ok();
}

Status HuggingFaceConfig::readGPT2Sizes() {
  LLMIR_RETURN_IF_ERROR(readSizesOfGPT2Names(/*usualEps=*/1e-5));
  config.learnedPositions = true;
  if (config.hiddenSize % (2 * config.numHeads) != 0)
    return json.failure(StatusCode::InvalidFile, "n_embd",
                        "is " + std::to_string(config.hiddenSize) +
                            ", which does not give each of the " +
                            std::to_string(config.numHeads) +
                            " heads of 'n_head' an even number of values");
  return Status::ok();
}

Status HuggingFaceConfig::readGPT2Switches() {
  std::string activation;
  LLMIR_ASSIGN_OR_RETURN(activation,
                         json.stringOr("activation_function", "gelu_new"));
  if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
    return unsupported(json, "activation_function",
                       "is \"" + printable(activation) +
                           "\"; LLMIR's gpt2 uses gelu_new");
  // Options of variants that change the computation, with GPT-2's values.
  struct {
    const char *key;
    bool usual;
  } switches[] = {{"scale_attn_weights", true},
                  {"scale_attn_by_inverse_layer_idx", false},
                  {"add_cross_attention", false}};
  for (auto [key, usual] : switches) {
    bool value;
    LLMIR_ASSIGN_OR_RETURN(value, json.booleanOr(key, usual));
    if (value != usual)
      return unsupported(json, key,
                         std::string("is ") + (value ? "true" : "false") +
                             "; this is not supported");
  }
  LLMIR_ASSIGN_OR_RETURN(
      config.tieWordEmbeddings,
      json.booleanOr("tie_word_embeddings", !hasOutputProjection));
  config.qkvBias = config.attentionOutputBias = config.mlpBias = true;
  return Status::ok();
}

/// A token id, a list of token ids, or nullopt.
static Expected<std::optional<std::vector<int64_t>>>
readTokenIds(const JsonReader &json, std::string_view key, int64_t vocabSize) {
  const Json *value = json.find(key);
  if (!value)
    return std::optional<std::vector<int64_t>>();
  std::string expectation =
      "token ids from 0 to " + std::to_string(vocabSize - 1);
  std::vector<int64_t> ids;
  if (!value->is_array()) {
    Expected<int64_t> id = json.integer(key, 0, vocabSize - 1);
    if (!id)
      return id.takeStatus();
    ids.push_back(*id);
    return std::optional(std::move(ids));
  }
  for (const Json &element : *value) {
    // Unsigned values above 2^63 - 1 would become negative.
    int64_t id = element.is_number_integer() ? element.get<int64_t>() : -1;
    if (id < 0 || id >= vocabSize)
      return json.failure(StatusCode::InvalidFile, key,
                          "contains " + describeJson(element) + "; expected " +
                              expectation);
    ids.push_back(id);
  }
  return std::optional(std::move(ids));
}

Status HuggingFaceConfig::readTokens(const Json *generation) {
  std::optional<JsonReader> later;
  if (generation) {
    LLMIR_ASSIGN_OR_RETURN(later, JsonReader::of(*generation, generationName));
    LLMIR_RETURN_IF_ERROR(readGeneration(*later));
  }
  // generation_config.json takes precedence.
  const JsonReader *readers[] = {whole, &json, later ? &*later : nullptr};
  for (const JsonReader *reader : readers) {
    if (!reader)
      continue;
    std::optional<std::vector<int64_t>> ends;
    LLMIR_ASSIGN_OR_RETURN(
        ends, readTokenIds(*reader, "eos_token_id", config.vocabSize));
    if (ends)
      config.eosTokens = std::move(*ends);
    LLMIR_ASSIGN_OR_RETURN(config.bosToken,
                           reader->integerOr("bos_token_id", config.bosToken, 0,
                                             config.vocabSize - 1));
  }
  return Status::ok();
}

Status HuggingFaceConfig::readGeneration(const JsonReader &generation) {
  GenerationDefaults &defaults = config.generation;
  LLMIR_ASSIGN_OR_RETURN(defaults.doSample,
                         generation.booleanOr("do_sample", false));
  LLMIR_ASSIGN_OR_RETURN(defaults.temperature,
                         generation.numberOr("temperature", 1.0));
  LLMIR_ASSIGN_OR_RETURN(defaults.topK,
                         generation.integerOr("top_k", 0, -1, maxVocabSize));
  LLMIR_ASSIGN_OR_RETURN(defaults.topP, generation.numberOr("top_p", 1.0));
  LLMIR_ASSIGN_OR_RETURN(defaults.minP, generation.numberOr("min_p", 0.0));
  LLMIR_ASSIGN_OR_RETURN(defaults.repetitionPenalty,
                         generation.numberOr("repetition_penalty", 1.0));
  return completeGenerationDefaults(
      defaults, [&](const char *name, const char *expected) {
        return generation.unexpected(name, expected);
      });
}

Status HuggingFaceConfig::check() {
  ConfigFieldNames names{"num_attention_heads",
                         "num_key_value_heads",
                         "head_dim",
                         "hidden_size",
                         epsKey(),
                         thetaName,
                         ropePath + "factor",
                         ropePath + "low_freq_factor",
                         ropePath + "high_freq_factor",
                         ropePath + "beta_fast",
                         ropePath + "long_factor"};
  return completeAndCheck(config, names,
                          [&](StatusCode code, const std::string &field,
                              const std::string &problem) {
                            return json.failure(code, field, problem);
                          });
}

/// Whether tokens attend to later ones. Models of other families do not agree
/// on what a window then means.
Status HuggingFaceConfig::readDirections() {
  const bool isEncoder = has(Trait::LooksAhead);
  bool isCausal;
  LLMIR_ASSIGN_OR_RETURN(isCausal, json.booleanOr("is_causal", !isEncoder));
  config.isBidirectional = !isCausal;
  if (isEncoder && isCausal)
    return unsupported(json, "is_causal",
                       "is true; " + config.architecture +
                           " models attend in both directions");
  if (!isEncoder && !isCausal && hasWindows(config))
    return unsupported(json, "is_causal",
                       "is false, and layers have windows; windows of "
                       "attention in both directions are not supported for " +
                           config.architecture + " models");
  return Status::ok();
}

Expected<ModelConfig> HuggingFaceConfig::read(const Json *generation) {
  LLMIR_RETURN_IF_ERROR(readArchitecture());
  if (config.architecture == "gpt2") {
    LLMIR_RETURN_IF_ERROR(readGPT2Sizes());
    LLMIR_RETURN_IF_ERROR(readGPT2Switches());
  } else if (config.architecture == "bert") {
    LLMIR_RETURN_IF_ERROR(readBERT());
  } else if (config.architecture == "nomic-bert") {
    LLMIR_RETURN_IF_ERROR(readNomicBERT());
  } else if (config.architecture == "modern-bert") {
    LLMIR_RETURN_IF_ERROR(readModernBERT());
  } else {
    LLMIR_RETURN_IF_ERROR(readSizes());
    LLMIR_RETURN_IF_ERROR(readSwitches());
    if (config.architecture == "gemma4")
      LLMIR_RETURN_IF_ERROR(readGemma4());
    LLMIR_RETURN_IF_ERROR(readLatentAttention());
    if (has(Trait::HasExperts))
      LLMIR_RETURN_IF_ERROR(readExperts());
    LLMIR_RETURN_IF_ERROR(readRope());
    LLMIR_RETURN_IF_ERROR(has(Trait::KeepsStates) ? readRecurrentLayers()
                                                  : readLayers());
  }
  LLMIR_RETURN_IF_ERROR(readDirections());
  LLMIR_RETURN_IF_ERROR(check());
  LLMIR_RETURN_IF_ERROR(readTokens(generation));
  return std::move(config);
}

Expected<ModelConfig> HuggingFaceConfig::readOfAny(const Json *generation) {
  LLMIR_ASSIGN_OR_RETURN(config.architecture, json.string("model_type"));
  LLMIR_ASSIGN_OR_RETURN(config.vocabSize,
                         json.integer("vocab_size", 1, maxVocabSize));
  const char *contextKey =
      config.architecture == "gpt2" || config.architecture == "nomic_bert"
          ? "n_positions"
          : "max_position_embeddings";
  LLMIR_ASSIGN_OR_RETURN(config.contextLength,
                         json.integer(contextKey, 1, maxContext));
  LLMIR_RETURN_IF_ERROR(readTokens(generation));
  return std::move(config);
}

Expected<ModelConfig> tokensFromHuggingFace(const Json &config,
                                            const Json *generation) {
  Expected<JsonReader> reader = JsonReader::of(config, configName);
  if (!reader)
    return reader.takeStatus();
  return HuggingFaceConfig(*reader, /*hasOutputProjection=*/false)
      .readOfAny(generation);
}

Expected<ModelConfig> modelConfigFromHuggingFace(const Json &config,
                                                 const Json *generation,
                                                 bool hasOutputProjection) {
  Expected<JsonReader> reader = JsonReader::of(config, configName);
  if (!reader)
    return reader.takeStatus();
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, reader->stringOr("model_type", ""));
  static constexpr std::string_view multimodal[] = {
      "gemma3", "gemma4",  "gemma4_unified", "mistral3",
      "llama4", "qwen3_5", "qwen3_5_moe"};
  const bool isKnown = std::find(std::begin(multimodal), std::end(multimodal),
                                 type) != std::end(multimodal);
  if (!reader->has("text_config") || !isKnown)
    return HuggingFaceConfig(*reader, hasOutputProjection).read(generation);
  Expected<JsonReader> text = reader->object("text_config");
  if (!text)
    return text.takeStatus();
  return HuggingFaceConfig(*text, hasOutputProjection, &*reader)
      .read(generation);
}

} // namespace llmir
