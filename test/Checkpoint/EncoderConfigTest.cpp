// RUN: llmir-checkpoint-tests --gtest_filter='EncoderConfigTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "llmir/Checkpoint/ModelConfig.h"

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
