// RUN: llmir-checkpoint-tests --gtest_filter='EncoderConfigTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFImage.h"
#include "TestFiles.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::test;

namespace {

Json parsed(const char *text) {
  Expected<Json> value = parseJson(text, "test");
  EXPECT_TRUE(value);
  return value ? std::move(*value) : Json();
}

Json bert() {
  return parsed(R"({"model_type": "bert", "vocab_size": 30522,
    "hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 12,
    "num_attention_heads": 12, "max_position_embeddings": 512,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
    "position_embedding_type": "absolute", "pad_token_id": 0})");
}

Json nomic() {
  return parsed(R"({"model_type": "nomic_bert", "vocab_size": 30528,
    "n_embd": 768, "n_inner": 3072, "n_layer": 12, "n_head": 12,
    "n_positions": 8192, "type_vocab_size": 2, "layer_norm_epsilon": 1e-12,
    "activation_function": "swiglu", "rotary_emb_base": 1000,
    "qkv_proj_bias": false, "rotary_scaling_factor": null})");
}

Json modern() {
  return parsed(R"({"model_type": "modernbert", "vocab_size": 50368,
    "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 7,
    "num_attention_heads": 12, "max_position_embeddings": 8192,
    "norm_eps": 1e-5, "norm_bias": false, "attention_bias": false,
    "mlp_bias": false, "hidden_activation": "gelu", "local_attention": 128,
    "global_attn_every_n_layers": 3, "global_rope_theta": 160000.0,
    "local_rope_theta": 10000.0})");
}

/// EmbeddingGemma if in both directions.
Json gemma3() {
  return parsed(R"({"model_type": "gemma3_text", "vocab_size": 262144,
    "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 7,
    "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 256,
    "max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 512,
    "_sliding_window_pattern": 6, "query_pre_attn_scalar": 256,
    "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
    "use_bidirectional_attention": true})");
}

Json qwen() {
  return parsed(R"({"model_type": "qwen2", "vocab_size": 1000,
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
    "hidden_act": "silu", "use_sliding_window": true, "sliding_window": 128,
    "max_window_layers": 1})");
}

Expected<ModelConfig> read(const Json &config) {
  return modelConfigFromHuggingFace(config, nullptr, false);
}

TEST(EncoderConfigTest, ReadsBERT) {
  auto config = read(bert());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "bert");
  EXPECT_EQ(config->contextLength, 512);
  EXPECT_EQ(config->firstPosition, 0);
  EXPECT_EQ(config->tokenTypes, 2);
  EXPECT_EQ(config->headDim, 32);
  EXPECT_EQ(config->rotaryDim, 0);
  EXPECT_EQ(config->normEps, 1e-12);
  EXPECT_TRUE(config->learnedPositions && config->isBidirectional);
  EXPECT_TRUE(config->qkvBias && config->attentionOutputBias &&
              config->mlpBias);
  EXPECT_EQ(config->activation, Activation::GELU);
}

TEST(EncoderConfigTest, PositionsOfXLMRoBERTaFollowThatOfPadding) {
  Json json = bert();
  json["model_type"] = "xlm-roberta";
  json["max_position_embeddings"] = 8194;
  json["pad_token_id"] = 1;
  json["type_vocab_size"] = 1;
  auto config = read(json);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "bert");
  EXPECT_EQ(config->contextLength, 8192);
  EXPECT_EQ(config->firstPosition, 2);
  EXPECT_EQ(config->tokenTypes, 1);
}

TEST(EncoderConfigTest, ReadsNomicBERT) {
  auto config = read(nomic());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "nomic-bert");
  EXPECT_EQ(config->contextLength, 2048); // Of the training.
  EXPECT_EQ(config->ropeTheta, 1000);
  EXPECT_EQ(config->rotaryDim, 64);
  EXPECT_TRUE(config->isBidirectional);
  EXPECT_FALSE(config->learnedPositions || config->qkvBias || config->mlpBias);
  EXPECT_EQ(config->activation, Activation::SiLU);
}

void expectWindows(const ModelConfig &config,
                   const std::vector<int64_t> &windows) {
  ASSERT_EQ(config.layers.size(), windows.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    EXPECT_EQ(config.layers[i].window, windows[i]) << i;
    EXPECT_EQ(config.layers[i].rotation,
              windows[i] == 0 ? LayerAttention::Global : LayerAttention::Local)
        << i;
  }
}

TEST(EncoderConfigTest, ReadsModernBERT) {
  auto config = read(modern());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "modern-bert");
  EXPECT_EQ(config->contextLength, 8192);
  EXPECT_TRUE(config->isBidirectional);
  EXPECT_EQ(config->activation, Activation::GELU);
  EXPECT_EQ(config->ropeTheta, 160000);
  EXPECT_EQ(config->localRopeTheta, 10000);
  // At most 64 apart.
  expectWindows(*config, {0, 65, 65, 0, 65, 65, 0});
}

TEST(EncoderConfigTest, ReadsModernBERTOfTransformers5) {
  Json json = modern();
  json.erase("global_rope_theta");
  json.erase("local_rope_theta");
  json["layer_types"] = {"full_attention",    "sliding_attention",
                         "sliding_attention", "sliding_attention",
                         "full_attention",    "sliding_attention",
                         "sliding_attention"};
  json["rope_parameters"] = parsed(R"({
    "full_attention": {"rope_type": "default", "rope_theta": 80000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 20000.0}})");
  auto config = read(json);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->ropeTheta, 80000);
  EXPECT_EQ(config->localRopeTheta, 20000);
  expectWindows(*config, {0, 65, 65, 65, 0, 65, 65});
}

TEST(EncoderConfigTest, HalvesTheWindowOfEmbeddingGemma) {
  auto config = read(gemma3());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gemma-embedding");
  EXPECT_TRUE(config->isBidirectional);
  // At most 256 apart.
  expectWindows(*config, {257, 257, 257, 257, 257, 0, 257});
  Json json = gemma3();
  json["use_bidirectional_attention"] = false;
  config = read(json);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gemma3");
  EXPECT_FALSE(config->isBidirectional);
  expectWindows(*config, {512, 512, 512, 512, 512, 0, 512});
}

/// A file without the tensors of the model, which are not read.
GGUFImage encoderImage(const std::string &architecture, uint32_t window) {
  GGUFImage image = tinyGGUF();
  const std::string prefix = architecture + ".";
  image.set("general.architecture", architecture);
  image.set(prefix + "block_count", uint32_t(7));
  image.set(prefix + "context_length", uint32_t(2048));
  image.set(prefix + "embedding_length", uint32_t(64));
  image.set(prefix + "feed_forward_length", uint32_t(96));
  image.set(prefix + "attention.head_count", uint32_t(4));
  image.set(prefix + "attention.layer_norm_epsilon", 1e-5f);
  image.set(prefix + "attention.layer_norm_rms_epsilon", 1e-6f);
  image.set(prefix + "attention.sliding_window", window);
  image.set(prefix + "pooling_type", uint32_t(1));
  return image;
}

Expected<ModelConfig> read(const GGUFImage &image) {
  TempFolder folder;
  auto file = Checkpoint::open(folder.write("model.gguf", image.build()));
  if (!file)
    return file.takeStatus();
  return ModelConfig(file->config());
}

TEST(EncoderConfigTest, HalvesTheWindowsOfGGUFFiles) {
  auto modern = read(encoderImage("modern-bert", 128));
  ASSERT_TRUE(modern) << modern.status().message();
  EXPECT_TRUE(modern->isBidirectional);
  EXPECT_EQ(modern->pooling, Pooling::Mean);
  expectWindows(*modern, {0, 65, 65, 0, 65, 65, 0});
  auto gemma = read(encoderImage("gemma-embedding", 512));
  ASSERT_TRUE(gemma) << gemma.status().message();
  EXPECT_TRUE(gemma->isBidirectional);
  expectWindows(*gemma, {257, 257, 257, 257, 257, 0, 257});
}

TEST(EncoderConfigTest, RefusesDirectionsOfGGUFFiles) {
  GGUFImage oneWay = encoderImage("modern-bert", 128);
  oneWay.set("modern-bert.attention.causal", true);
  GGUFImage windows = encoderImage("qwen3", 128);
  windows.set("qwen3.attention.causal", false);
  GGUFImage bare = encoderImage("gemma-embedding", 128);
  bare.set("gemma-embedding.pooling_type", uint32_t(0));
  const std::pair<GGUFImage, const char *> cases[] = {
      {oneWay, "'modern-bert.attention.causal' is true"},
      {windows, "'qwen3.attention.causal' is false, and layers have windows"},
      {bare, "'gemma-embedding.pooling_type' does not name a kind"}};
  for (const auto &[image, text] : cases) {
    auto config = read(image);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.status().code(), StatusCode::Unsupported);
    EXPECT_NE(config.status().message().find(text), std::string::npos)
        << config.status().message();
  }
}

TEST(EncoderConfigTest, RefusesWhatIsNotSupported) {
  struct Case {
    Json base;
    const char *key;
    Json value;
    StatusCode code;
    const char *text;
  };
  Json xlm = bert();
  xlm["model_type"] = "xlm-roberta";
  for (const Case &bad : {
           Case{bert(), "position_embedding_type", "relative_key",
                StatusCode::Unsupported,
                "'position_embedding_type' is \"relative_key\""},
           Case{bert(), "is_decoder", true, StatusCode::Unsupported,
                "'is_decoder' is true"},
           Case{bert(), "hidden_act", "relu", StatusCode::Unsupported,
                "'hidden_act' is \"relu\""},
           Case{bert(), "type_vocab_size", 0, StatusCode::InvalidFile,
                "'type_vocab_size' is 0"},
           Case{bert(), "hidden_size", 385, StatusCode::InvalidFile,
                "'hidden_size' is 385"},
           Case{xlm, "pad_token_id", 511, StatusCode::InvalidFile,
                "leaves no position after the 512"},
           Case{xlm, "pad_token_id", -1, StatusCode::InvalidFile,
                "'pad_token_id' is -1"},
           Case{nomic(), "num_experts", 8, StatusCode::Unsupported,
                "'num_experts' is 8"},
           Case{nomic(), "qkv_proj_bias", true, StatusCode::Unsupported,
                "'qkv_proj_bias' is true"},
           Case{nomic(), "prenorm", true, StatusCode::Unsupported,
                "'prenorm' is true"},
           Case{nomic(), "causal", true, StatusCode::Unsupported,
                "'causal' is true"},
           Case{nomic(), "activation_function", "gelu", StatusCode::Unsupported,
                "'activation_function' is \"gelu\""},
           Case{nomic(), "rotary_emb_fraction", 0.5, StatusCode::Unsupported,
                "'rotary_emb_fraction' is 0.5"},
           Case{nomic(), "n_layer", 0, StatusCode::InvalidFile,
                "'n_layer' is 0"},
           Case{nomic(), "rotary_emb_scale_base", 512, StatusCode::Unsupported,
                "'rotary_emb_scale_base' is given"},
           Case{modern(), "norm_bias", true, StatusCode::Unsupported,
                "'norm_bias' is true"},
           Case{modern(), "mlp_bias", true, StatusCode::Unsupported,
                "'mlp_bias' is true"},
           Case{modern(), "hidden_activation", "silu", StatusCode::Unsupported,
                "'hidden_activation' is \"silu\""},
           Case{modern(), "local_attention", 0, StatusCode::InvalidFile,
                "'local_attention' is 0"},
           Case{modern(), "is_causal", true, StatusCode::Unsupported,
                "'is_causal' is true; modern-bert models attend in both "
                "directions"},
           Case{gemma3(), "is_causal", true, StatusCode::Unsupported,
                "'is_causal' is true"},
           Case{qwen(), "is_causal", false, StatusCode::Unsupported,
                "'is_causal' is false, and layers have windows"},
       }) {
    Json json = bad.base;
    json[bad.key] = bad.value;
    auto config = read(json);
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.status().code(), bad.code) << bad.text;
    EXPECT_NE(config.status().message().find(bad.text), std::string::npos)
        << config.status().message();
  }
}

} // namespace
