// RUN: llmir-checkpoint-tests --gtest_filter='ModelConfigTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr StatusCode Invalid = StatusCode::InvalidFile;
constexpr StatusCode Unsupported = StatusCode::Unsupported;
constexpr StatusCode NotFound = StatusCode::NotFound;

Json json(const std::string &text) {
  Expected<Json> value = parseJson(text, "test");
  EXPECT_TRUE(value) << value.status().message() << " in " << text;
  return value ? std::move(*value) : Json();
}

/// Llama-3.2-1B as published, in the older dialect.
Json llama32() {
  return json(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false,
    "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001,
    "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
    "initializer_range": 0.02, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "mlp_bias": false,
    "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
    "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
      "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
      "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": true,
    "torch_dtype": "bfloat16", "transformers_version": "4.45.0.dev0",
    "use_cache": true, "vocab_size": 128256})");
}

Json qwen(const char *type) {
  Json config = json(R"({
    "bos_token_id": 151643, "eos_token_id": 151645, "hidden_act": "silu",
    "hidden_size": 896, "intermediate_size": 4864,
    "max_position_embeddings": 32768, "max_window_layers": 21,
    "num_attention_heads": 14, "num_hidden_layers": 24,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "sliding_window": 32768, "tie_word_embeddings": true,
    "use_sliding_window": false, "vocab_size": 151936})");
  config["model_type"] = type;
  return config;
}

/// `base` with the keys of `patch`; the string "<absent>" erases a key.
Json patched(Json base, const Json &patch) {
  for (auto it = patch.begin(); it != patch.end(); ++it)
    if (it.value() == "<absent>")
      base.erase(it.key());
    else
      base[it.key()] = it.value();
  return base;
}

Expected<ModelConfig> read(const Json &config, const char *generation = nullptr,
                           bool hasHead = true) {
  if (!generation)
    return modelConfigFromHuggingFace(config, nullptr, hasHead);
  Json value = json(generation);
  return modelConfigFromHuggingFace(config, &value, hasHead);
}

TEST(ModelConfigTest, ReadsTheOlderDialect) {
  auto config = read(llama32());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "llama");
  EXPECT_EQ(config->vocabSize, 128256);
  EXPECT_EQ(config->hiddenSize, 2048);
  EXPECT_EQ(config->intermediateSize, 8192);
  EXPECT_EQ(config->numLayers, 16);
  EXPECT_EQ(config->numHeads, 32);
  EXPECT_EQ(config->numKVHeads, 8);
  EXPECT_EQ(config->headDim, 64);
  EXPECT_EQ(config->rotaryDim, 64);
  EXPECT_EQ(config->contextLength, 131072);
  EXPECT_EQ(config->normEps, 1e-5);
  EXPECT_EQ(config->ropeTheta, 500000.0);
  EXPECT_EQ(config->ropeScaling.kind, RopeScaling::Llama3);
  EXPECT_EQ(config->ropeScaling.factor, 32.0);
  EXPECT_EQ(config->ropeScaling.lowFreqFactor, 1.0);
  EXPECT_EQ(config->ropeScaling.highFreqFactor, 4.0);
  EXPECT_EQ(config->ropeScaling.originalContext, 8192);
  EXPECT_TRUE(config->tieWordEmbeddings);
  EXPECT_FALSE(config->qkvBias || config->attentionOutputBias ||
               config->mlpBias || config->qkNorm ||
               config->adjacentPairRotation || config->ropeFrequencyDivisors);
  EXPECT_EQ(config->bosToken, 128000);
  EXPECT_EQ(config->eosTokens, std::vector<int64_t>{128001});
}

TEST(ModelConfigTest, ReadsTheNewerDialectAlike) {
  Json old = llama32(), renewed = llama32();
  renewed.erase("rope_scaling");
  renewed.erase("rope_theta");
  renewed["rope_parameters"] = old["rope_scaling"];
  renewed["rope_parameters"]["rope_theta"] = 500000.0;
  renewed["layer_types"] = std::vector<std::string>(16, "full_attention");
  Json nested = renewed;
  nested["rope_parameters"] = {{"full_attention", renewed["rope_parameters"]}};
  for (const Json &variant : {renewed, nested}) {
    auto config = read(variant);
    ASSERT_TRUE(config) << config.status().message();
    EXPECT_EQ(config->ropeTheta, 500000.0);
    EXPECT_EQ(config->ropeScaling.kind, RopeScaling::Llama3);
    EXPECT_EQ(config->ropeScaling.factor, 32.0);
    EXPECT_EQ(config->ropeScaling.originalContext, 8192);
  }
  renewed["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 7.0}};
  auto plain = read(renewed);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->ropeScaling.kind, RopeScaling::Default);
  EXPECT_EQ(plain->ropeTheta, 7.0);
}

/// openai-community/gpt2, without unused keys.
static Json gpt2() {
  return Json::parse(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1, "bos_token_id": 50256, "eos_token_id": 50256,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024,
    "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
    "vocab_size": 50257})");
}

TEST(ModelConfigTest, ReadsGPT2) {
  auto config = read(gpt2());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gpt2");
  EXPECT_EQ(config->vocabSize, 50257);
  EXPECT_EQ(config->hiddenSize, 768);
  EXPECT_EQ(config->intermediateSize, 3072);
  EXPECT_EQ(config->numLayers, 12);
  EXPECT_EQ(config->numHeads, 12);
  EXPECT_EQ(config->numKVHeads, 12);
  EXPECT_EQ(config->headDim, 64);
  EXPECT_EQ(config->rotaryDim, 0);
  EXPECT_EQ(config->contextLength, 1024);
  EXPECT_EQ(config->normEps, 1e-5);
  EXPECT_TRUE(config->learnedPositions && config->qkvBias &&
              config->attentionOutputBias && config->mlpBias);
  EXPECT_EQ(config->bosToken, 50256);
  EXPECT_EQ(config->eosTokens, std::vector<int64_t>{50256});
  Json wide = gpt2();
  wide["n_inner"] = 100;
  wide["activation_function"] = "gelu_pytorch_tanh";
  auto other = read(wide);
  ASSERT_TRUE(other) << other.status().message();
  EXPECT_EQ(other->intermediateSize, 100);
}

TEST(ModelConfigTest, RefusesVariantsOfGPT2) {
  const std::tuple<const char *, Json, StatusCode, const char *> cases[] = {
      {"n_embd", 770, StatusCode::InvalidFile,
       "'n_embd' is 770, which does not give each of the 12 heads"},
      {"n_embd", 12 * 63, StatusCode::InvalidFile, "even number of values"},
      {"n_head", 0, StatusCode::InvalidFile, "'n_head' is 0"},
      {"n_positions", 0, StatusCode::InvalidFile, "'n_positions' is 0"},
      {"n_inner", -1, StatusCode::InvalidFile, "'n_inner' is -1"},
      {"layer_norm_epsilon", 0, StatusCode::InvalidFile,
       "'layer_norm_epsilon' is 0"},
      {"activation_function", "relu", StatusCode::Unsupported,
       "'activation_function' is \"relu\""},
      {"scale_attn_weights", false, StatusCode::Unsupported,
       "'scale_attn_weights' is false"},
      {"scale_attn_by_inverse_layer_idx", true, StatusCode::Unsupported,
       "'scale_attn_by_inverse_layer_idx' is true"},
      {"add_cross_attention", true, StatusCode::Unsupported,
       "'add_cross_attention' is true"},
      {"eos_token_id", 50257, StatusCode::InvalidFile, "'eos_token_id'"},
  };
  for (const auto &[key, value, code, words] : cases) {
    Json json = gpt2();
    json[key] = value;
    auto config = read(json);
    ASSERT_FALSE(config) << key;
    EXPECT_EQ(config.status().code(), code) << key;
    EXPECT_NE(config.status().message().find(words), std::string::npos)
        << config.status().message();
  }
  for (const char *key : {"n_embd", "n_head", "n_layer", "n_positions"}) {
    Json json = gpt2();
    json.erase(key);
    auto config = read(json);
    ASSERT_FALSE(config) << key;
    EXPECT_EQ(config.status().code(), StatusCode::NotFound) << key;
  }
}

TEST(ModelConfigTest, FillsInWhatIsMissing) {
  auto config = read(json(R"({"model_type": "llama", "vocab_size": 100,
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1,
    "num_attention_heads": 4, "max_position_embeddings": 32,
    "head_dim": null, "rope_scaling": null})"),
                     nullptr, /*hasHead=*/false);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->numKVHeads, 4);
  EXPECT_EQ(config->headDim, 16);
  EXPECT_EQ(config->normEps, 1e-6);
  EXPECT_EQ(config->ropeTheta, 10000.0);
  EXPECT_TRUE(config->tieWordEmbeddings); // lm_head is not there.
  EXPECT_EQ(config->bosToken, -1);
  EXPECT_TRUE(config->eosTokens.empty());
  EXPECT_FALSE(config->generation.doSample);
  // An explicit head_dim wins.
  auto explicitDim = read(patched(llama32(), {{"head_dim", 128}}));
  ASSERT_TRUE(explicitDim);
  EXPECT_EQ(explicitDim->headDim, 128);
  auto untied = read(patched(llama32(), {{"tie_word_embeddings", "<absent>"}}));
  ASSERT_TRUE(untied);
  EXPECT_FALSE(untied->tieWordEmbeddings);
}

TEST(ModelConfigTest, KnowsTheFamilies) {
  auto qwen2 = read(qwen("qwen2"));
  ASSERT_TRUE(qwen2) << qwen2.status().message();
  EXPECT_EQ(qwen2->architecture, "qwen2");
  EXPECT_TRUE(qwen2->qkvBias);
  EXPECT_FALSE(qwen2->attentionOutputBias || qwen2->qkNorm);
  EXPECT_EQ(qwen2->headDim, 64);

  auto qwen3 = read(patched(qwen("qwen3"), {{"head_dim", 128}}));
  ASSERT_TRUE(qwen3) << qwen3.status().message();
  EXPECT_EQ(qwen3->architecture, "qwen3");
  EXPECT_TRUE(qwen3->qkNorm);
  EXPECT_FALSE(qwen3->qkvBias);

  auto biased =
      read(patched(llama32(), {{"attention_bias", true}, {"mlp_bias", true}}));
  ASSERT_TRUE(biased);
  EXPECT_TRUE(biased->qkvBias && biased->attentionOutputBias &&
              biased->mlpBias);

  for (Json window : {Json(nullptr), Json(131072), Json(200000)}) {
    auto mistral = read(patched(
        llama32(), {{"model_type", "mistral"}, {"sliding_window", window}}));
    ASSERT_TRUE(mistral) << mistral.status().message();
    EXPECT_EQ(mistral->architecture, "llama");
  }
  // A window that no layer uses.
  EXPECT_TRUE(read(patched(qwen("qwen2"), {{"use_sliding_window", true},
                                           {"sliding_window", 4096},
                                           {"max_window_layers", 24}})));
}

TEST(ModelConfigTest, ReadsGenerationDefaults) {
  auto config = read(qwen("qwen2"), R"({"bos_token_id": 5,
    "eos_token_id": [151645, 151643], "do_sample": true, "temperature": 0.7,
    "top_k": 20, "top_p": 0.8, "min_p": 0.05, "repetition_penalty": 1.1,
    "transformers_version": "4.37.0"})");
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->bosToken, 5);
  EXPECT_EQ(config->eosTokens, (std::vector<int64_t>{151645, 151643}));
  EXPECT_TRUE(config->generation.doSample);
  EXPECT_EQ(config->generation.temperature, 0.7);
  EXPECT_EQ(config->generation.topK, 20);
  EXPECT_EQ(config->generation.topP, 0.8);
  EXPECT_EQ(config->generation.minP, 0.05);
  EXPECT_EQ(config->generation.repetitionPenalty, 1.1);
  // config.json applies to missing keys.
  auto silent = read(qwen("qwen2"), R"({"do_sample": false, "top_k": -1})");
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->eosTokens, std::vector<int64_t>{151645});
  EXPECT_EQ(silent->bosToken, 151643);
  EXPECT_EQ(silent->generation.topK, 0);
}

TEST(ModelConfigTest, RefusesBadValues) {
  struct Case {
    Json patch;
    StatusCode code;
    std::vector<std::string> texts;
  };
  auto rope = [](const Json &changes) {
    return Json{{"rope_scaling", patched(llama32()["rope_scaling"], changes)}};
  };
  const std::vector<Case> cases = {
      {{{"model_type", "<absent>"}}, NotFound, {"'model_type' is missing"}},
      {{{"model_type", "gemma9"}},
       Unsupported,
       {"'model_type' is \"gemma9\"", "gemma, gemma2 and gemma3_text"}},
      {{{"model_type", "qwen3_omni"}},
       Unsupported,
       {"'model_type' is \"qwen3_omni\"", "qwen3"}},
      {{{"model_type", 3}}, Invalid, {"'model_type' is 3"}},
      {{{"text_config", Json::object()}}, Unsupported, {"'text_config'"}},
      {{{"quantization_config", {{"quant_method", "hqq"}, {"bits", 4}}}},
       Unsupported,
       {"'quantization_config.quant_method'", "\"hqq\"", "gptq, awq"}},
      {{{"quantization_config", "awq"}}, Invalid, {"'quantization_config'"}},
      {{{"vocab_size", "<absent>"}}, NotFound, {"'vocab_size' is missing"}},
      {{{"vocab_size", 0}}, Invalid, {"'vocab_size' is 0"}},
      {{{"vocab_size", 1e308}}, Invalid, {"'vocab_size' is 1e+308"}},
      {{{"vocab_size", uint64_t(1) << 63}},
       Invalid,
       {"'vocab_size' is 9223372036854775808"}},
      {{{"hidden_size", -2048}}, Invalid, {"'hidden_size' is -2048"}},
      {{{"hidden_size", 2048.5}}, Invalid, {"'hidden_size' is 2048.5"}},
      {{{"hidden_size", "2048"}}, Invalid, {"'hidden_size' is \"2048\""}},
      {{{"hidden_size", true}}, Invalid, {"'hidden_size' is true"}},
      {{{"hidden_size", {1, 2}}}, Invalid, {"'hidden_size' is an array"}},
      {{{"hidden_size", 1ll << 40}}, Invalid, {"'hidden_size'", "to 1048576"}},
      {{{"intermediate_size", 0}}, Invalid, {"'intermediate_size' is 0"}},
      {{{"num_hidden_layers", 0}}, Invalid, {"'num_hidden_layers' is 0"}},
      {{{"num_hidden_layers", 100000}},
       Invalid,
       {"'num_hidden_layers' is 100000", "from 1 to 512"}},
      {{{"num_attention_heads", 0}}, Invalid, {"'num_attention_heads' is 0"}},
      {{{"num_attention_heads", 30}}, Invalid, {"'num_key_value_heads' is 8"}},
      {{{"num_attention_heads", 24}, {"head_dim", "<absent>"}},
       Invalid,
       {"'hidden_size' is 2048", "24 heads", "'head_dim' is missing"}},
      {{{"num_key_value_heads", 0}}, Invalid, {"'num_key_value_heads' is 0"}},
      {{{"num_key_value_heads", 5}},
       Invalid,
       {"'num_key_value_heads' is 5", "32 heads of 'num_attention_heads'"}},
      {{{"num_key_value_heads", 64}}, Invalid, {"'num_key_value_heads' is 64"}},
      {{{"head_dim", 63}}, Invalid, {"'head_dim' is 63", "even"}},
      {{{"head_dim", 0}}, Invalid, {"'head_dim' is 0"}},
      {{{"head_dim", -64}}, Invalid, {"'head_dim' is -64"}},
      {{{"max_position_embeddings", "<absent>"}},
       NotFound,
       {"'max_position_embeddings' is missing"}},
      {{{"max_position_embeddings", 1ll << 31}},
       Invalid,
       {"'max_position_embeddings' is 2147483648"}},
      {{{"rms_norm_eps", 0}}, Invalid, {"'rms_norm_eps' is 0"}},
      {{{"rms_norm_eps", -1e-5}}, Invalid, {"'rms_norm_eps' is -1e-05"}},
      {{{"rms_norm_eps", 1.0}}, Invalid, {"'rms_norm_eps' is 1.0"}},
      {{{"rms_norm_eps", "1e-5"}}, Invalid, {"'rms_norm_eps' is \"1e-5\""}},
      {{{"rope_theta", 0}}, Invalid, {"'rope_theta' is 0"}},
      {{{"rope_theta", -5.0}}, Invalid, {"'rope_theta' is -5.0"}},
      {{{"rope_scaling", "linear"}}, Invalid, {"'rope_scaling' is \"linear\""}},
      {{{"rope_scaling", {{"factor", 2.0}}}},
       NotFound,
       {"'rope_scaling.rope_type' is missing"}},
      {rope({{"rope_type", "mrope"}}),
       Unsupported,
       {"'rope_scaling.rope_type' is \"mrope\"",
        "default, linear, llama3, yarn, longrope"}},
      {{{"rope_scaling",
         {{"type", "dynamic"}, {"factor", 2.0}, {"alpha", 50.0}}}},
       Unsupported,
       {"'rope_scaling.type' is \"dynamic\""}},
      {rope({{"rope_type", "yarn"}, {"beta_fast", 1.0}}),
       Invalid,
       {"'rope_scaling.beta_fast' is 1.0"}},
      {rope({{"rope_type", "yarn"}, {"factor", -4.0}}),
       Invalid,
       {"'rope_scaling.factor' is -4.0"}},
      {rope({{"rope_type", "yarn"}, {"attention_factor", 0}}),
       Invalid,
       {"'rope_scaling.factor' gives cosines and sines a factor of 0.0"}},
      {rope({{"rope_type", "longrope"}, {"short_factor", {1, 2}}}),
       NotFound,
       {"'rope_scaling.long_factor' is missing"}},
      {rope({{"rope_type", "longrope"},
             {"short_factor", {1, 2}},
             {"long_factor", {1, 2}}}),
       Invalid,
       {"'rope_scaling.long_factor'", "has 2 elements", "64 rotated values"}},
      {rope({{"rope_type", "longrope"}, {"short_factor", {1, 0}}}),
       Invalid,
       {"'rope_scaling.short_factor' contains 0"}},
      {{{"rope_scaling", {{"type", "linear"}}}},
       NotFound,
       {"'rope_scaling.factor' is missing"}},
      {{{"rope_scaling", {{"type", "linear"}, {"factor", 0}}}},
       Invalid,
       {"'rope_scaling.factor' is 0"}},
      {rope({{"factor", -8.0}}), Invalid, {"'rope_scaling.factor' is -8.0"}},
      {rope({{"low_freq_factor", 0}}),
       Invalid,
       {"'rope_scaling.low_freq_factor' is 0"}},
      {rope({{"high_freq_factor", 0.5}}),
       Invalid,
       {"'rope_scaling.high_freq_factor' is 0.5",
        "'rope_scaling.low_freq_factor'"}},
      {rope({{"original_max_position_embeddings", 0}}),
       Invalid,
       {"'rope_scaling.original_max_position_embeddings' is 0"}},
      {rope({{"original_max_position_embeddings", "<absent>"}}),
       NotFound,
       {"'rope_scaling.original_max_position_embeddings' is missing"}},
      {{{"rope_parameters", 1}}, Invalid, {"'rope_parameters' is 1"}},
      {{{"rope_parameters", {{"rope_theta", "x"}}}},
       Invalid,
       {"'rope_parameters.rope_theta' is \"x\""}},
      {{{"rope_parameters", {{"rope_theta", 0}}}},
       Invalid,
       {"'rope_parameters.rope_theta' is 0"}},
      {{{"rope_parameters", {{"full_attention", 1}}}},
       Invalid,
       {"'rope_parameters.full_attention' is 1"}},
      {{{"rope_parameters", {{"rope_type", "longrope"}}}},
       NotFound,
       {"'rope_parameters.short_factor' is missing"}},
      {{{"rope_parameters", {{"partial_rotary_factor", 1.5}}}},
       Invalid,
       {"'rope_parameters.partial_rotary_factor' is 1.5"}},
      {{{"partial_rotary_factor", 0.05}},
       Invalid,
       {"'partial_rotary_factor' is 0.05", "3 of the 64 values"}},
      {{{"hidden_act", "gelu"}}, Unsupported, {"'hidden_act' is \"gelu\""}},
      {{{"attention_bias", "yes"}}, Invalid, {"'attention_bias' is \"yes\""}},
      {{{"tie_word_embeddings", 1}}, Invalid, {"'tie_word_embeddings' is 1"}},
      {{{"sliding_window", "big"}}, Invalid, {"'sliding_window' is \"big\""}},
      {{{"layer_types", {"full_attention"}}},
       Invalid,
       {"'layer_types' has 1 elements for 16 layers"}},
      {{{"layer_types", std::vector<std::string>(16, "sliding_attention")}},
       Invalid,
       {"'layer_types' contains \"sliding_attention\"", "'sliding_window'"}},
      {{{"layer_types", std::vector<std::string>(16, "chunked_attention")}},
       Unsupported,
       {"'layer_types' contains \"chunked_attention\""}},
      {{{"model_type", "smollm3"}, {"no_rope_layers", {1, 1}}},
       Invalid,
       {"'no_rope_layers' has 2 elements for 16 layers"}},
      {{{"model_type", "granite"}, {"logits_scaling", 0}},
       Invalid,
       {"'logits_scaling' is 0"}},
      {{{"model_type", "cohere"}, {"use_qk_norm", true}},
       Unsupported,
       {"'use_qk_norm' is true", "command-r"}},
      {{{"model_type", "exaone4"},
        {"sliding_window", 64},
        {"sliding_window_pattern", "LGLG"}},
       Invalid,
       {"'sliding_window_pattern' is \"LGLG\""}},
      {{{"layer_types", 16}}, Invalid, {"'layer_types' is 16"}},
      {{{"eos_token_id", 128256}}, Invalid, {"'eos_token_id' is 128256"}},
      {{{"eos_token_id", -1}}, Invalid, {"'eos_token_id' is -1"}},
      {{{"eos_token_id", {1, "2"}}},
       Invalid,
       {"'eos_token_id' contains \"2\""}},
      {{{"eos_token_id", {1, 999999}}},
       Invalid,
       {"'eos_token_id' contains 999999"}},
      {{{"bos_token_id", 1.5}}, Invalid, {"'bos_token_id' is 1.5"}},
  };
  for (const Case &bad : cases) {
    SCOPED_TRACE(bad.patch.dump().substr(0, 200));
    Json config = patched(llama32(), bad.patch);
    Refusal refusal{bad.code, bad.texts};
    refusal.texts.push_back("config.json: ");
    expectRefusal(refusal, 1000, [&] { return read(config).takeStatus(); });
  }
  EXPECT_GE(cases.size(), 60u);
  EXPECT_FALSE(read(Json::array()));
}

TEST(ModelConfigTest, RefusesBadGenerationDefaults) {
  const std::pair<const char *, std::vector<std::string>> cases[] = {
      {"[]", {"an array"}},
      {R"({"do_sample": 1})", {"'do_sample' is 1"}},
      {R"({"temperature": -0.5})", {"'temperature' is -0.5"}},
      {R"({"temperature": 1e308})", {"'temperature' is 1e+308"}},
      {R"({"top_k": -2})", {"'top_k' is -2"}},
      {R"({"top_k": 1.5})", {"'top_k' is 1.5"}},
      {R"({"top_p": 0})", {"'top_p' is 0"}},
      {R"({"top_p": 1.5})", {"'top_p' is 1.5"}},
      {R"({"repetition_penalty": 0})", {"'repetition_penalty' is 0"}},
      {R"({"min_p": 2})", {"'min_p' is 2"}},
      {R"({"min_p": "0"})", {"'min_p' is \"0\""}},
      {R"({"eos_token_id": [[1]]})", {"'eos_token_id' contains an array"}},
      {R"({"bos_token_id": -5})", {"'bos_token_id' is -5"}},
  };
  for (const auto &[text, texts] : cases) {
    SCOPED_TRACE(text);
    Refusal refusal{Invalid, texts};
    refusal.texts.push_back("generation_config.json: ");
    expectRefusal(refusal, 1000,
                  [&, t = text] { return read(llama32(), t).takeStatus(); });
  }
}

} // namespace
