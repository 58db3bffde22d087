// RUN: llmir-checkpoint-tests --gtest_filter='FamilyConfigTest*'
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

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

/// Sizes that all model types have.
Json sizes() {
  Expected<Json> value = parseJson(R"({
    "head_dim": 64, "hidden_size": 2048, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "num_attention_heads": 32,
    "num_hidden_layers": 4, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0, "torch_dtype": "bfloat16", "vocab_size": 128256})",
                                   "test");
  EXPECT_TRUE(value);
  return value ? std::move(*value) : Json();
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

Expected<ModelConfig> read(const Json &config) {
  return modelConfigFromHuggingFace(config, nullptr, true);
}

/// The windows of the layers: 0 where there is none.
std::vector<int64_t> windows(const ModelConfig &config) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < config.numLayers; ++i)
    result.push_back(config.attentionOf(i).window);
  return result;
}

/// "gLn…": global, local or no rotation of each layer.
std::string rotations(const ModelConfig &config) {
  std::string result;
  for (int64_t i = 0; i < config.numLayers; ++i)
    result += "gLn"[config.attentionOf(i).rotation];
  return result;
}

TEST(FamilyConfigTest, ReadsWindows) {
  auto of = [&](const Json &patch) {
    auto config = read(patched(sizes(), patch));
    EXPECT_TRUE(config) << config.status().message();
    return config ? *config : ModelConfig();
  };
  using Windows = std::vector<int64_t>;
  EXPECT_EQ(windows(of({{"model_type", "mistral"}, {"sliding_window", 4096}})),
            Windows(4, 4096));
  const Json qwen = {{"model_type", "qwen2"},
                     {"use_sliding_window", true},
                     {"sliding_window", 32},
                     {"max_window_layers", 3}};
  EXPECT_EQ(windows(of(qwen)), (Windows{0, 0, 0, 32}));
  EXPECT_EQ(windows(of(patched(qwen, {{"use_sliding_window", false}}))),
            Windows(4));
  EXPECT_EQ(windows(of({{"model_type", "qwen3"},
                        {"use_sliding_window", true},
                        {"sliding_window", nullptr}})),
            Windows(4));
  const ModelConfig gemma2 = of({{"model_type", "gemma2"},
                                 {"sliding_window", 64},
                                 {"hidden_activation", "gelu_pytorch_tanh"},
                                 {"attn_logit_softcapping", 50.0},
                                 {"final_logit_softcapping", 30.0},
                                 {"query_pre_attn_scalar", 64},
                                 {"dtype", "bfloat16"}});
  EXPECT_EQ(windows(gemma2), (Windows{64, 0, 64, 0}));
  EXPECT_EQ(rotations(gemma2), "gggg");
  EXPECT_EQ(gemma2.attentionSoftCap, 50);
  EXPECT_EQ(gemma2.logitSoftCap, 30);
  EXPECT_EQ(gemma2.attentionScale, 0.125);
  EXPECT_EQ(gemma2.embeddingScale, 45.25); // sqrt(2048), 8 bits.
  EXPECT_TRUE(gemma2.normUnitOffset);
  EXPECT_EQ(gemma2.activation, Activation::GELUTanh);
  const ModelConfig cohere = of({{"model_type", "cohere2"},
                                 {"layer_norm_eps", 1e-5},
                                 {"sliding_window", 64},
                                 {"sliding_window_pattern", 4}});
  EXPECT_EQ(windows(cohere), (Windows{64, 64, 64, 0}));
  EXPECT_EQ(rotations(cohere), "gggn");
  EXPECT_TRUE(cohere.adjacentPairRotation && cohere.parallelResidual);
  EXPECT_EQ(rotations(of({{"model_type", "exaone4"},
                          {"sliding_window", 64},
                          {"sliding_window_pattern", "LLG"}})),
            "ggng");
  EXPECT_EQ(
      rotations(of({{"model_type", "exaone4"}, {"sliding_window", nullptr}})),
      "gggg");
  EXPECT_EQ(rotations(of({{"model_type", "smollm3"}})), "gggn");
  EXPECT_EQ(rotations(of(
                {{"model_type", "smollm3"}, {"no_rope_layers", {1, 0, 1, 1}}})),
            "gngg");
  // A window of the context or more is none, but the layers are rotated alike.
  const ModelConfig wide =
      of({{"model_type", "cohere2"}, {"sliding_window", 1 << 20}});
  EXPECT_EQ(windows(wide), Windows(4));
  EXPECT_EQ(rotations(wide), "gggn");
}

TEST(FamilyConfigTest, ReadsBothDialectsOfLocalRotation) {
  Json older = patched(
      sizes(), {{"model_type", "gemma3_text"},
                {"num_hidden_layers", 3},
                {"sliding_window", 64},
                {"sliding_window_pattern", 3},
                {"rope_theta", 1e6},
                {"rope_local_base_freq", 2e4},
                {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}});
  Json newer = patched(older, {{"rope_theta", "<absent>"},
                               {"rope_local_base_freq", "<absent>"},
                               {"rope_scaling", "<absent>"},
                               {"sliding_window_pattern", "<absent>"}});
  newer["layer_types"] = {"sliding_attention", "sliding_attention",
                          "full_attention"};
  newer["rope_parameters"] = {
      {"full_attention",
       {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 2e4}}}};
  for (const Json &dialect : {older, newer}) {
    auto config = read(dialect);
    ASSERT_TRUE(config) << config.status().message();
    EXPECT_EQ(config->architecture, "gemma3");
    EXPECT_EQ(config->ropeTheta, 1e6);
    EXPECT_EQ(config->localRopeTheta, 2e4);
    EXPECT_EQ(config->ropeScaling.factor, 8);
    EXPECT_EQ(rotations(*config), "LLg");
    EXPECT_EQ(windows(*config), (std::vector<int64_t>{64, 64, 0}));
  }
}

TEST(FamilyConfigTest, ReadsTheTextPartOfAMultimodalModel) {
  Json whole = {{"model_type", "gemma3"}, {"eos_token_id", {1, 106}}};
  whole["text_config"] =
      patched(sizes(), {{"model_type", "gemma3_text"}, {"sliding_window", 64}});
  auto config = read(whole);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gemma3");
  EXPECT_TRUE(config->isTextPart);
  EXPECT_EQ(config->eosTokens, (std::vector<int64_t>{1, 106}));
  EXPECT_FALSE(read(patched(whole, {{"text_config", 1}})));
  EXPECT_FALSE(read(patched(whole, {{"model_type", "qwen2_vl"}})));
}

TEST(FamilyConfigTest, ReadsScalesAndScaling) {
  auto granite = read(patched(sizes(), {{"model_type", "granite"},
                                        {"embedding_multiplier", 12.0},
                                        {"attention_multiplier", 0.015625},
                                        {"residual_multiplier", 0.22},
                                        {"logits_scaling", 8.0}}));
  ASSERT_TRUE(granite) << granite.status().message();
  EXPECT_EQ(granite->embeddingScale, 12);
  EXPECT_EQ(granite->attentionScale, 0.015625);
  EXPECT_EQ(granite->residualScale, 0.22F); // As GGUF stores it.
  EXPECT_EQ(granite->logitScale, 0.125);
  const Json yarn = {{"rope_type", "yarn"},
                     {"factor", 16.0},
                     {"original_max_position_embeddings", 16384},
                     {"mscale", 1.0},
                     {"mscale_all_dim", 1.0},
                     {"llama_4_scaling_beta", 0.5},
                     {"rope_theta", 1e6}};
  auto ministral = read(patched(
      sizes(), {{"model_type", "ministral3"}, {"rope_parameters", yarn}}));
  ASSERT_TRUE(ministral) << ministral.status().message();
  EXPECT_EQ(ministral->ropeScaling.kind, RopeScaling::Yarn);
  EXPECT_EQ(ministral->ropeScaling.attentionFactor, 1);
  EXPECT_EQ(ministral->queryGrowth, 0.5);
  EXPECT_EQ(ministral->queryGrowthContext, 16384);
  Json factors = std::vector<double>(24, 2.5);
  auto phi = read(patched(sizes(), {{"model_type", "phi3"},
                                    {"partial_rotary_factor", 0.75},
                                    {"original_max_position_embeddings", 4096},
                                    {"rope_scaling",
                                     {{"type", "longrope"},
                                      {"short_factor", factors},
                                      {"long_factor", factors}}}}));
  ASSERT_TRUE(phi) << phi.status().message();
  EXPECT_EQ(phi->rotaryDim, 48);
  EXPECT_EQ(phi->ropeScaling.kind, RopeScaling::LongRope);
  // sqrt(1 + ln(32) / ln(4096))
  EXPECT_NEAR(phi->ropeScaling.attentionFactor, 1.190238, 1e-6);
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

/// Keys that the model types with experts have.
Json withExperts(const char *type, const Json &patch) {
  return patched(patched(sizes(), {{"model_type", type},
                                   {"num_experts", 8},
                                   {"num_local_experts", 8},
                                   {"n_routed_experts", 8},
                                   {"num_experts_per_tok", 2},
                                   {"moe_intermediate_size", 768}}),
                 patch);
}

TEST(FamilyConfigTest, ReadsExperts) {
  auto of = [&](const char *type, const Json &patch = Json::object()) {
    auto config = read(withExperts(type, patch));
    EXPECT_TRUE(config) << config.status().message();
    return config ? config->experts : ExpertsConfig();
  };
  using Layers = std::vector<bool>;
  const ExpertsConfig mixtral = of("mixtral");
  EXPECT_EQ(mixtral.count, 8);
  EXPECT_EQ(mixtral.perToken, 2);
  EXPECT_EQ(mixtral.innerSize, 8192);
  EXPECT_TRUE(mixtral.normalizes);
  EXPECT_EQ(mixtral.layers, Layers(4, true));

  const ExpertsConfig qwen2 =
      of("qwen2_moe", {{"shared_expert_intermediate_size", 5632},
                       {"mlp_only_layers", {0, 3}}});
  EXPECT_EQ(qwen2.innerSize, 768);
  EXPECT_EQ(qwen2.sharedInnerSize, 5632);
  EXPECT_FALSE(qwen2.normalizes);
  EXPECT_EQ(qwen2.layers, (Layers{false, true, true, false}));

  const ExpertsConfig qwen3 =
      of("qwen3_moe", {{"norm_topk_prob", true}, {"decoder_sparse_step", 2}});
  EXPECT_TRUE(qwen3.normalizes);
  EXPECT_EQ(qwen3.layers, (Layers{false, true, false, true}));

  const ExpertsConfig glm = of("glm4_moe", {{"n_shared_experts", 2},
                                            {"first_k_dense_replace", 1},
                                            {"routed_scaling_factor", 2.5},
                                            {"n_group", 4},
                                            {"topk_group", 2}});
  EXPECT_EQ(glm.scores, ExpertsConfig::Sigmoid);
  EXPECT_TRUE(glm.hasChoiceBias && glm.normalizes);
  EXPECT_EQ(glm.sharedInnerSize, 1536);
  EXPECT_EQ(glm.scale, 2.5);
  EXPECT_EQ(glm.groups, 4);
  EXPECT_EQ(glm.groupsPerToken, 2);
  EXPECT_EQ(glm.layers, (Layers{false, true, true, true}));
}

//===----------------------------------------------------------------------===//
// Latent attention
//===----------------------------------------------------------------------===//

/// The keys of DeepSeek's models.
Json withLatents(const char *type, const Json &patch = Json::object()) {
  return withExperts(type, patched({{"kv_lora_rank", 512},
                                    {"q_lora_rank", nullptr},
                                    {"qk_nope_head_dim", 128},
                                    {"qk_rope_head_dim", 64},
                                    {"v_head_dim", 128},
                                    {"n_shared_experts", 2},
                                    {"first_k_dense_replace", 1},
                                    {"head_dim", 64}},
                                   patch));
}

TEST(FamilyConfigTest, ReadsLatentAttention) {
  const Json yarn = {{"type", "yarn"},
                     {"factor", 40},
                     {"original_max_position_embeddings", 4096},
                     {"mscale", 0.707},
                     {"mscale_all_dim", 0.707}};
  auto lite = read(withLatents("deepseek_v2", {{"rope_scaling", yarn}}));
  ASSERT_TRUE(lite) << lite.status().message();
  EXPECT_EQ(lite->architecture, "deepseek2");
  EXPECT_EQ(lite->latent.rank, 512);
  EXPECT_EQ(lite->latent.queryRank, 0);
  EXPECT_EQ(lite->latent.plainDim, 128);
  EXPECT_EQ(lite->latent.valueDim, 128);
  EXPECT_EQ(lite->numKVHeads, 1);
  EXPECT_EQ(lite->headDim, 576);
  EXPECT_EQ(lite->rotaryDim, 64);
  EXPECT_EQ(lite->valuesInKeys, 512);
  EXPECT_TRUE(lite->adjacentPairRotation);
  EXPECT_EQ(lite->ropeScaling.attentionFactor, 1.0);
  // 192 ^ -0.5 * (0.1 * 0.707 * ln(40) + 1)^2
  EXPECT_NEAR(lite->attentionScale, 0.1147213867929261, 1e-8);
  EXPECT_EQ(lite->experts.scores, ExpertsConfig::Softmax);
  EXPECT_FALSE(lite->experts.hasChoiceBias || lite->experts.normalizes);
  EXPECT_EQ(lite->experts.groups, 1);
  EXPECT_EQ(lite->experts.sharedInnerSize, 1536);

  auto limited =
      read(withLatents("deepseek_v2", {{"q_lora_rank", 1536},
                                       {"topk_method", "group_limited_greedy"},
                                       {"n_group", 4},
                                       {"topk_group", 3},
                                       {"routed_scaling_factor", 16.0}}));
  ASSERT_TRUE(limited) << limited.status().message();
  EXPECT_EQ(limited->latent.queryRank, 1536);
  EXPECT_EQ(limited->experts.groups, 4);
  EXPECT_EQ(limited->experts.groupsPerToken, 3);
  EXPECT_EQ(limited->experts.groupScores, 1);
  EXPECT_EQ(limited->experts.scale, 16.0);
  EXPECT_NEAR(limited->attentionScale, std::pow(192, -0.5), 1e-12);

  for (const char *type : {"deepseek_v3", "kimi_k2"}) {
    auto v3 = read(withLatents(type, {{"n_group", 4}, {"topk_group", 2}}));
    ASSERT_TRUE(v3) << v3.status().message();
    EXPECT_EQ(v3->architecture, "deepseek2");
    EXPECT_EQ(v3->experts.scores, ExpertsConfig::Sigmoid);
    EXPECT_TRUE(v3->experts.hasChoiceBias && v3->experts.normalizes);
    EXPECT_EQ(v3->experts.groupScores, 2);
  }

  using Layers = std::vector<bool>;
  auto flash = read(
      withLatents("glm4_moe_lite", {{"first_k_dense_replace", "<absent>"}}));
  ASSERT_TRUE(flash) << flash.status().message();
  EXPECT_EQ(flash->architecture, "deepseek2");
  EXPECT_EQ(flash->experts.layers, (Layers{false, true, true, true}));
  flash = read(withLatents(
      "glm4_moe_lite",
      {{"mlp_layer_types", {"dense", "sparse", "dense", "sparse"}}}));
  ASSERT_TRUE(flash) << flash.status().message();
  EXPECT_EQ(flash->experts.layers, (Layers{false, true, false, true}));
}

TEST(FamilyConfigTest, RefusesBadLatentAttention) {
  struct Case {
    const char *type;
    Json patch;
    StatusCode code;
    const char *text;
  };
  auto yarn = [](double scaleOfAll) {
    return Json{{"type", "yarn"},
                {"factor", 40},
                {"original_max_position_embeddings", 4096},
                {"mscale", 1.0},
                {"mscale_all_dim", scaleOfAll}};
  };
  for (const Case &bad : {
           Case{"deepseek_v2",
                {{"kv_lora_rank", "<absent>"}},
                StatusCode::NotFound,
                "'kv_lora_rank' is missing"},
           Case{"deepseek_v3",
                {{"kv_lora_rank", 500}},
                StatusCode::Unsupported,
                "'kv_lora_rank' gives latent attention parts of 500 elements"},
           Case{"deepseek_v3",
                {{"v_head_dim", 24}},
                StatusCode::Unsupported,
                "'v_head_dim' gives latent attention parts of 24 elements"},
           Case{"deepseek_v3",
                {{"qk_rope_head_dim", 63}},
                StatusCode::InvalidFile,
                "'qk_rope_head_dim' is 63"},
           Case{"deepseek_v3",
                {{"attention_bias", true}},
                StatusCode::Unsupported,
                "'attention_bias' is true"},
           Case{"deepseek_v3",
                {{"rope_scaling", yarn(1e300)}},
                StatusCode::InvalidFile,
                "'rope_scaling.mscale_all_dim' gives the scores of attention a "
                "factor of"},
           Case{"deepseek_v2",
                {{"rope_scaling", yarn(-1e300)}},
                StatusCode::InvalidFile,
                "'rope_scaling.mscale_all_dim' gives"},
           Case{"deepseek_v3",
                {{"rope_scaling", yarn(1e25)}},
                StatusCode::InvalidFile,
                "'rope_scaling.mscale_all_dim' gives"},
           Case{"deepseek_v3",
                {{"scoring_func", "softmax"}},
                StatusCode::Unsupported,
                "'scoring_func' is \"softmax\""},
           Case{"deepseek_v3",
                {{"topk_method", "greedy"}},
                StatusCode::Unsupported,
                "'topk_method' is \"greedy\""},
           Case{"deepseek_v3",
                {{"moe_layer_freq", 2}},
                StatusCode::Unsupported,
                "'moe_layer_freq' is 2"},
           Case{"deepseek_v2",
                {{"topk_method", "noaux_tc"}},
                StatusCode::Unsupported,
                "'topk_method' is \"noaux_tc\""},
           Case{"deepseek_v2",
                {{"scoring_func", "sigmoid"}},
                StatusCode::Unsupported,
                "'scoring_func' is \"sigmoid\""},
           Case{"glm4_moe_lite",
                {{"mlp_layer_types", {"dense", "sparse"}}},
                StatusCode::InvalidFile,
                "'mlp_layer_types' has 2 elements"},
           Case{"glm4_moe_lite",
                {{"mlp_layer_types", {"dense", "moe", "moe", "moe"}}},
                StatusCode::Unsupported,
                "'mlp_layer_types' contains \"moe\""},
           Case{"deepseek_v2",
                {{"norm_topk_prob", true}},
                StatusCode::Unsupported,
                "'norm_topk_prob' is true"},
       }) {
    auto config = read(withLatents(bad.type, bad.patch));
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.status().code(), bad.code) << bad.text;
    EXPECT_NE(config.status().message().find(bad.text), std::string::npos)
        << config.status().message();
  }
}

/// The keys of gpt-oss.
Json gptOss(const Json &patch) {
  const Json yarn = {
      {"rope_type", "yarn"}, {"factor", 32.0},
      {"beta_fast", 32.0},   {"beta_slow", 1.0},
      {"truncate", false},   {"original_max_position_embeddings", 4096}};
  return patched(withExperts("gpt_oss", {{"sliding_window", 128},
                                         {"swiglu_limit", 7.0},
                                         {"rope_scaling", yarn}}),
                 patch);
}

TEST(FamilyConfigTest, ReadsGptOss) {
  auto config = read(gptOss({}));
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gpt-oss");
  EXPECT_TRUE(config->hasSinks && config->qkvBias);
  EXPECT_TRUE(config->attentionOutputBias);
  EXPECT_TRUE(config->experts.hasBias && config->experts.normalizes);
  EXPECT_EQ(config->experts.swigluLimit, 7);
  EXPECT_EQ(config->experts.innerSize, 8192);
  EXPECT_FALSE(config->ropeScaling.truncatesBounds);
  EXPECT_NEAR(config->ropeScaling.attentionFactor, 1.346574, 1e-6);
  EXPECT_EQ(windows(*config), (std::vector<int64_t>{128, 0, 128, 0}));
  for (const char *key : {"sliding_window", "rms_norm_eps", "head_dim",
                          "rope_scaling", "num_local_experts"}) {
    auto missing = read(gptOss({{key, "<absent>"}}));
    ASSERT_FALSE(missing) << key;
    EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
    EXPECT_NE(missing.status().message().find(key), std::string::npos);
  }
  auto alpha = read(gptOss({{"swiglu_alpha", 1.5}}));
  ASSERT_FALSE(alpha);
  EXPECT_EQ(alpha.status().code(), StatusCode::Unsupported);
}

/// The keys of Llama 4's text part.
Json llama4(const Json &patch) {
  return patched(withExperts("llama4_text", {{"num_experts_per_tok", 1},
                                             {"intermediate_size_mlp", 16384},
                                             {"interleave_moe_layer_step", 2},
                                             {"attention_chunk_size", 8192},
                                             {"attn_temperature_tuning", 4},
                                             {"use_qk_norm", true}}),
                 patch);
}

TEST(FamilyConfigTest, ReadsLlama4) {
  Json whole = {{"model_type", "llama4"}, {"vision_config", Json::object()}};
  whole["text_config"] = llama4({});
  auto config = read(whole);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "llama4");
  EXPECT_TRUE(config->isTextPart && config->adjacentPairRotation);
  EXPECT_TRUE(config->normalizesRotated && config->growsUnrotated);
  EXPECT_EQ(rotations(*config), "gggn");
  EXPECT_EQ(windows(*config), (std::vector<int64_t>{8192, 8192, 8192, 0}));
  EXPECT_TRUE(config->attentionOf(0).isChunked);
  EXPECT_EQ(config->queryGrowth, 0.1F);
  EXPECT_EQ(config->queryGrowthContext, 8192);
  EXPECT_EQ(config->intermediateSize, 16384);
  const ExpertsConfig &experts = config->experts;
  EXPECT_EQ(experts.innerSize, 8192);
  EXPECT_EQ(experts.sharedInnerSize, 8192);
  EXPECT_TRUE(experts.weighsInputs);
  EXPECT_EQ(experts.layers, (std::vector<bool>{false, true, false, true}));
  // Lists win; no chunk is as large as the context.
  auto listed = read(llama4({{"moe_layers", {0, 3}},
                             {"no_rope_layers", {1, 0, 1, 1}},
                             {"layer_types",
                              {"chunked_attention", "full_attention",
                               "full_attention", "chunked_attention"}},
                             {"attn_temperature_tuning", false},
                             {"use_qk_norm", false}}));
  ASSERT_TRUE(listed) << listed.status().message();
  EXPECT_EQ(rotations(*listed), "gngg");
  EXPECT_EQ(windows(*listed), (std::vector<int64_t>{8192, 0, 0, 8192}));
  EXPECT_EQ(listed->experts.layers,
            (std::vector<bool>{true, false, false, true}));
  EXPECT_FALSE(listed->normalizesRotated || listed->growsUnrotated);
  EXPECT_EQ(listed->queryGrowth, 0);
  auto wide = read(llama4(
      {{"attention_chunk_size", 1 << 20}, {"no_rope_layers", Json::array()}}));
  ASSERT_TRUE(wide) << wide.status().message();
  EXPECT_EQ(rotations(*wide), "gggn");
  EXPECT_EQ(windows(*wide), std::vector<int64_t>(4));
}

TEST(FamilyConfigTest, RefusesBadLlama4) {
  struct Case {
    Json patch;
    StatusCode code;
    const char *text;
  };
  for (const Case &bad : {Case{{{"num_experts_per_tok", 2}},
                               StatusCode::Unsupported,
                               "'num_experts_per_tok' is 2"},
                          Case{{{"moe_layers", {4}}},
                               StatusCode::InvalidFile,
                               "'moe_layers' contains 4"},
                          Case{{{"no_rope_layers", {1, 1}}},
                               StatusCode::InvalidFile,
                               "'no_rope_layers' has 2 elements for 4 layers"},
                          Case{{{"layer_types", {"a", "b", "c", "d"}}},
                               StatusCode::Unsupported,
                               "'layer_types' contains \"a\""},
                          Case{{{"attention_chunk_size", 0}},
                               StatusCode::InvalidFile,
                               "'attention_chunk_size' is 0"},
                          Case{{{"intermediate_size_mlp", "<absent>"}},
                               StatusCode::NotFound,
                               "'intermediate_size_mlp' is missing"}}) {
    auto config = read(llama4(bad.patch));
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.status().code(), bad.code);
    EXPECT_NE(config.status().message().find(bad.text), std::string::npos)
        << config.status().message();
  }
}

TEST(FamilyConfigTest, RefusesBadExperts) {
  struct Case {
    const char *type;
    Json patch;
    StatusCode code;
    const char *text;
  };
  for (const Case &bad : {
           Case{"mixtral",
                {{"num_local_experts", "<absent>"}},
                StatusCode::NotFound,
                "'num_local_experts' is missing"},
           Case{"olmoe",
                {{"num_experts_per_tok", 9}},
                StatusCode::InvalidFile,
                "'num_experts_per_tok' is 9"},
           Case{"olmoe",
                {{"clip_qkv", 8.0}},
                StatusCode::Unsupported,
                "'clip_qkv' is 8.0"},
           Case{"qwen2_moe",
                {},
                StatusCode::NotFound,
                "'shared_expert_intermediate_size' is missing"},
           Case{"qwen3_moe",
                {{"mlp_only_layers", {4}}},
                StatusCode::InvalidFile,
                "'mlp_only_layers' contains 4"},
           Case{"glm4_moe",
                {{"n_group", 3}},
                StatusCode::InvalidFile,
                "'n_group' is 3"},
       }) {
    auto config = read(withExperts(bad.type, bad.patch));
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.status().code(), bad.code);
    EXPECT_NE(config.status().message().find(bad.text), std::string::npos)
        << config.status().message();
  }
}

} // namespace
