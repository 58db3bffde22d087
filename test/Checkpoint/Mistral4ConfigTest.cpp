// RUN: llmir-checkpoint-tests --gtest_filter='Mistral4*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFImage.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Support/Json.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

/// Mistral Small 4.
Json text() {
  Expected<Json> value = parseJson(R"({"model_type": "mistral4",
    "vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 12288,
    "num_hidden_layers": 36, "num_attention_heads": 32,
    "num_key_value_heads": 32, "max_position_embeddings": 1048576,
    "rms_norm_eps": 1e-6, "hidden_act": "silu", "tie_word_embeddings": false,
    "kv_lora_rank": 256, "q_lora_rank": 1024, "qk_nope_head_dim": 64,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 128,
    "num_experts_per_tok": 4, "moe_intermediate_size": 2048,
    "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
    "norm_topk_prob": true, "routed_scaling_factor": 1.0,
    "first_k_dense_replace": 0,
    "rope_parameters": {"rope_type": "yarn", "type": "yarn", "factor": 128.0,
      "rope_theta": 10000.0, "beta_fast": 32.0, "beta_slow": 1.0,
      "mscale": 1.0, "mscale_all_dim": 1.0,
      "original_max_position_embeddings": 8192,
      "llama_4_scaling_beta": 0.1}})",
                                   "test");
  EXPECT_TRUE(value) << value.status().message();
  return value ? std::move(*value) : Json();
}

Expected<ModelConfig> read(const Json &config) {
  return modelConfigFromHuggingFace(config, nullptr, true);
}

TEST(Mistral4ConfigTest, Reads) {
  auto config = read({{"model_type", "mistral3"}, {"text_config", text()}});
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "mistral4");
  EXPECT_TRUE(config->isTextPart && config->adjacentPairRotation);
  EXPECT_EQ(config->headDim, 256 + 64);
  EXPECT_EQ(config->valuesInKeys, 256);
  EXPECT_EQ(config->latent.queryRank, 1024);
  // 128 ^ -0.5 * (0.1 * ln(128) + 1)^2
  EXPECT_NEAR(config->attentionScale, 0.194969494733, 1e-7);
  EXPECT_EQ(config->ropeScaling.attentionFactor, 1);
  EXPECT_EQ(config->queryGrowth, double(0.1f));
  EXPECT_EQ(config->queryGrowthContext, 8192);
  EXPECT_FALSE(config->growsUnrotated);
  const ExpertsConfig &experts = config->experts;
  EXPECT_EQ(experts.count, 128);
  EXPECT_EQ(experts.perToken, 4);
  EXPECT_EQ(experts.sharedInnerSize, 2048);
  EXPECT_EQ(experts.scores, ExpertsConfig::Softmax);
  EXPECT_TRUE(experts.normalizes);
  EXPECT_FALSE(experts.hasChoiceBias);

  Json json = text();
  json["rope_parameters"].erase("mscale_all_dim");
  auto plain = read(json);
  ASSERT_TRUE(plain) << plain.status().message();
  EXPECT_NEAR(plain->attentionScale, std::pow(128, -0.5), 1e-12);
}

TEST(Mistral4ConfigTest, RefusesOtherRotations) {
  Json json = text();
  json["rope_parameters"].erase("llama_4_scaling_beta");
  auto config = read(json);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.status().code(), StatusCode::NotFound);
  EXPECT_NE(config.status().message().find("llama_4_scaling_beta"),
            std::string::npos);
  json = text();
  json["rope_parameters"] = {{"rope_type", "default"}};
  config = read(json);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.status().code(), StatusCode::Unsupported);
  EXPECT_NE(config.status().message().find("does not have the rope_type yarn"),
            std::string::npos);
}

} // namespace
