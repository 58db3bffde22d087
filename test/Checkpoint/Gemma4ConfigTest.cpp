// RUN: llmir-checkpoint-tests --gtest_filter='Gemma4*'
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

using namespace llmir;
using namespace llmir::test;

namespace {

/// Layers 2, 5 and 7 have no window; the last three have no keys of their own.
Json text() {
  Expected<Json> value = parseJson(R"({"model_type": "gemma4_text",
    "vocab_size": 262144, "hidden_size": 1536, "intermediate_size": 6144,
    "num_hidden_layers": 8, "num_attention_heads": 8,
    "num_key_value_heads": 2, "head_dim": 256, "global_head_dim": 512,
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": true,
    "sliding_window": 512, "dtype": "bfloat16",
    "layer_types": ["sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention"],
    "num_kv_shared_layers": 3, "use_double_wide_mlp": true,
    "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
    "final_logit_softcapping": 30.0, "enable_moe_block": false,
    "use_bidirectional_attention": null,
    "rope_parameters": {
      "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                         "partial_rotary_factor": 0.25},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})",
                                   "test");
  EXPECT_TRUE(value) << value.status().message();
  return value ? std::move(*value) : Json();
}

Expected<ModelConfig> read(const Json &config) {
  return modelConfigFromHuggingFace(config, nullptr, false);
}

using Sizes = std::vector<int64_t>;

Sizes ofLayers(const ModelConfig &config, int64_t LayerAttention::*member) {
  Sizes sizes;
  for (const LayerAttention &layer : config.layers)
    sizes.push_back(layer.*member);
  return sizes;
}

TEST(Gemma4ConfigTest, ReadsSharedCachesAndLayerEmbeddings) {
  auto config = read(text());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->architecture, "gemma4");
  EXPECT_EQ(config->headDim, 512);
  EXPECT_EQ(config->rotaryDim, 512);
  EXPECT_EQ(config->localRotaryDim, 256);
  EXPECT_EQ(config->ropeTheta, 1e6);
  EXPECT_EQ(config->localRopeTheta, 1e4);
  EXPECT_EQ(config->ropeScaling.kind, RopeScaling::Proportional);
  EXPECT_EQ(config->ropeScaling.turnedPairs, 64);
  // The last layer has no window, whatever the list says.
  EXPECT_EQ(ofLayers(*config, &LayerAttention::window),
            (Sizes{512, 512, 0, 512, 512, 0, 512, 0}));
  EXPECT_EQ(ofLayers(*config, &LayerAttention::headDim),
            (Sizes{256, 256, 512, 256, 256, 512, 256, 512}));
  EXPECT_EQ(ofLayers(*config, &LayerAttention::cacheOf),
            (Sizes{-1, -1, -1, -1, -1, 2, 4, 2}));
  EXPECT_EQ(config->numCacheLayers(), 5);
  EXPECT_EQ(config->indexOfKind(4), 4);
  EXPECT_EQ(config->indexOfKind(5), 2);
  EXPECT_EQ(config->indexOfKind(6), 4);
  EXPECT_EQ(config->innerSizeOf(4), 6144);
  EXPECT_EQ(config->innerSizeOf(5), 12288);
  EXPECT_EQ(config->layerEmbeddingSize, 256);
  EXPECT_EQ(config->layerEmbeddingScale, 16);
  EXPECT_EQ(config->embeddingScale, 39.25); // sqrt(1536), 8 bits.
  EXPECT_EQ(config->attentionScale, 1);
  EXPECT_EQ(config->logitSoftCap, 30);
  EXPECT_TRUE(config->hasLayerScales && config->qkNorm);
  EXPECT_FALSE(config->normUnitOffset || config->isBidirectional);
}

TEST(Gemma4ConfigTest, ReadsValuesThatAreKeys) {
  Json json = text();
  json["attention_k_eq_v"] = true;
  json["num_global_key_value_heads"] = 1;
  json["num_kv_shared_layers"] = 0;
  json["hidden_size_per_layer_input"] = 0;
  const Json whole = {{"model_type", "gemma4"}, {"text_config", json}};
  auto config = read(whole);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_TRUE(config->isTextPart);
  EXPECT_EQ(config->numKVHeads, 2);
  EXPECT_EQ(ofLayers(*config, &LayerAttention::numKVHeads),
            (Sizes{2, 2, 1, 2, 2, 1, 2, 1}));
  EXPECT_FALSE(config->attentionOf(1).valuesAreKeys);
  EXPECT_TRUE(config->attentionOf(2).valuesAreKeys);
  EXPECT_EQ(config->numCacheLayers(), 8);
  EXPECT_EQ(config->layerEmbeddingSize, 0);
  EXPECT_EQ(config->innerSizeOf(7), 6144);

  json["model_type"] = "gemma4_unified_text";
  auto unified =
      read({{"model_type", "gemma4_unified"}, {"text_config", json}});
  ASSERT_TRUE(unified) << unified.status().message();
  EXPECT_EQ(unified->architecture, "gemma4");
}

TEST(Gemma4ConfigTest, ReadsExperts) {
  Json json = text();
  json["enable_moe_block"] = true;
  json["num_experts"] = 128;
  json["top_k_experts"] = 8;
  json["moe_intermediate_size"] = 704;
  auto config = read(json);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->experts.count, 128);
  EXPECT_EQ(config->experts.perToken, 8);
  EXPECT_EQ(config->experts.innerSize, 704);
  EXPECT_TRUE(config->experts.normalizes && config->hasExperts(0));
}

TEST(Gemma4ConfigTest, RefusesWhatIsNotSupported) {
  struct Case {
    const char *pointer;
    Json value;
    StatusCode code;
    const char *text;
  };
  const char *full = "/rope_parameters/full_attention";
  const std::string type = std::string(full) + "/rope_type",
                    factor = std::string(full) + "/factor";
  for (const Case &bad : {
           Case{"/per_layer_config", Json::object(), StatusCode::Unsupported,
                "'per_layer_config' is present"},
           Case{"/enable_moe_block", true, StatusCode::NotFound,
                "'num_experts' is missing"},
           Case{"/use_bidirectional_attention", "all", StatusCode::Unsupported,
                "'use_bidirectional_attention' is \"all\""},
           Case{"/vocab_size_per_layer_input", 1000, StatusCode::Unsupported,
                "'vocab_size_per_layer_input' is 1000"},
           Case{type.c_str(), "yarn", StatusCode::Unsupported, "is \"yarn\""},
           Case{type.c_str(), "default", StatusCode::Unsupported,
                "is 0.25 without the rope_type proportional"},
           Case{factor.c_str(), 8.0, StatusCode::Unsupported, "factor' is 8"},
           Case{"/global_head_dim", 128, StatusCode::Unsupported,
                "'global_head_dim' is 128, less than the 256"},
           Case{"/head_dim", 255, StatusCode::InvalidFile, "'head_dim' is 255"},
           Case{"/num_kv_shared_layers", 8, StatusCode::InvalidFile,
                "'num_kv_shared_layers' is 8"},
           Case{"/num_kv_shared_layers", 6, StatusCode::InvalidFile,
                "'num_kv_shared_layers' is 6, but no layer before those has "
                "the keys and values for layer 2"},
           Case{"/rope_parameters", "<absent>", StatusCode::NotFound,
                "'rope_parameters' is missing"},
       }) {
    Json json = text();
    if (bad.value == "<absent>")
      json.erase(std::string(bad.pointer).substr(1));
    else
      json[Json::json_pointer(bad.pointer)] = bad.value;
    auto config = read(json);
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.status().code(), bad.code) << config.status().message();
    EXPECT_NE(config.status().message().find(bad.text), std::string::npos)
        << config.status().message();
  }
  Json json = text();
  json["attention_k_eq_v"] = true;
  json["num_key_value_heads"] = 8;
  json["num_global_key_value_heads"] = 3;
  auto config = read(json);
  ASSERT_FALSE(config);
  EXPECT_NE(config.status().message().find(
                "'num_global_key_value_heads' gives some layers 3 heads and "
                "others 8"),
            std::string::npos)
      << config.status().message();
}

class Gemma4GGUFTest : public testing::Test {
protected:
  Expected<Checkpoint> open(const GGUFImage &image) {
    return Checkpoint::open(folder.write("model.gguf", image.build()));
  }
  /// 4 layers, of which 1 and 3 have no window.
  static GGUFImage image() {
    GGUFImage image = tinyGGUF();
    for (GGUFImage::Key &key : image.keys)
      if (key.name.substr(0, 6) == "llama.")
        key.name = "gemma4." + key.name.substr(6);
    image.set("general.architecture", std::string("gemma4"));
    image.set("gemma4.block_count", uint32_t(4));
    image.set("gemma4.attention.sliding_window", uint32_t(20));
    image.set("gemma4.attention.sliding_window_pattern", uint32_t(2));
    image.set("gemma4.attention.key_length", uint32_t(32));
    image.set("gemma4.attention.value_length", uint32_t(32));
    image.set("gemma4.attention.key_length_swa", uint32_t(16));
    image.set("gemma4.attention.value_length_swa", uint32_t(16));
    image.set("gemma4.rope.dimension_count", uint32_t(32));
    image.set("gemma4.rope.dimension_count_swa", uint32_t(16));
    image.setIntegers("gemma4.attention.head_count_kv", {4, 2, 4, 2});
    image.set("gemma4.attention.shared_kv_layers", uint32_t(2));
    image.setIntegers("gemma4.feed_forward_length", {96, 96, 192, 192});
    image.set("gemma4.embedding_length_per_layer_input", uint32_t(32));
    image.set("gemma4.final_logit_softcapping", 30.0f);
    return image;
  }
  TempFolder folder;
};

TEST_F(Gemma4GGUFTest, Reads) {
  auto model = open(image());
  ASSERT_TRUE(model) << model.status().message();
  const ModelConfig &config = model->config();
  EXPECT_EQ(config.headDim, 32);
  EXPECT_EQ(config.numKVHeads, 4);
  EXPECT_EQ(ofLayers(config, &LayerAttention::headDim),
            (Sizes{16, 32, 16, 32}));
  EXPECT_EQ(ofLayers(config, &LayerAttention::numKVHeads), (Sizes{4, 2, 4, 2}));
  EXPECT_EQ(ofLayers(config, &LayerAttention::cacheOf), (Sizes{-1, -1, 0, 1}));
  EXPECT_EQ(config.innerSizes, (Sizes{96, 96, 192, 192}));
  EXPECT_EQ(config.layerEmbeddingSize, 32);
  EXPECT_EQ(config.logitSoftCap, 30);
  EXPECT_EQ(config.localRopeTheta, 10000);
  EXPECT_TRUE(config.attentionOf(1).valuesAreKeys); // There is no attn_v.
  EXPECT_FALSE(config.hasLayerScales);              // Nor layer_output_scale.

  GGUFImage whole = image();
  whole.add("blk.0.layer_output_scale.weight", {1}, 0);
  whole.add("blk.1.attn_v.weight", {64, 64}, 0);
  auto second = open(whole);
  ASSERT_TRUE(second) << second.status().message();
  EXPECT_FALSE(second->config().attentionOf(1).valuesAreKeys);
  EXPECT_TRUE(second->config().hasLayerScales);
}

TEST_F(Gemma4GGUFTest, RefusesWhatIsNotSupported) {
  struct Case {
    void (*harm)(GGUFImage &);
    StatusCode code;
    const char *text;
  };
  for (const Case &bad : {
           Case{[](GGUFImage &image) {
                  image.set("gemma4.expert_count", uint32_t(8));
                  image.set("gemma4.expert_used_count", uint32_t(2));
                  image.set("gemma4.expert_gating_func", uint32_t(2));
                },
                StatusCode::Unsupported,
                "'gemma4.expert_gating_func' or a tensor specifies a mixture "
                "unlike that of gemma4 models"},
           Case{[](GGUFImage &image) {
                  image.setIntegers("gemma4.attention.head_count_kv",
                                    {4, 2, 4});
                },
                StatusCode::InvalidFile, "has 3 elements for 4 layers"},
           Case{[](GGUFImage &image) {
                  image.setIntegers("gemma4.feed_forward_length",
                                    {96, 0, 96, 96});
                },
                StatusCode::InvalidFile, "contains 0"},
           Case{[](GGUFImage &image) {
                  image.set("gemma4.attention.shared_kv_layers", uint32_t(0));
                  image.setIntegers("gemma4.attention.head_count_kv",
                                    {4, 2, 4, 4});
                },
                StatusCode::Unsupported, "differs between layers of one kind"},
           Case{[](GGUFImage &image) {
                  image.set("gemma4.attention.value_length", uint32_t(16));
                },
                StatusCode::Unsupported,
                "'gemma4.attention.value_length' is 16"},
           Case{[](GGUFImage &image) {
                  image.set("gemma4.rope.dimension_count_swa", uint32_t(8));
                },
                StatusCode::Unsupported,
                "'gemma4.rope.dimension_count_swa' is 8"},
           Case{[](GGUFImage &image) {
                  image.set("gemma4.attention.shared_kv_layers", uint32_t(4));
                },
                StatusCode::InvalidFile,
                "'gemma4.attention.shared_kv_layers' is 4"},
           Case{[](GGUFImage &image) {
                  image.set("gemma4.attention.shared_kv_layers", uint32_t(3));
                },
                StatusCode::InvalidFile, "for layer 1"},
           Case{[](GGUFImage &image) {
                  image.setIntegers("gemma4.attention.head_count_kv",
                                    {4, 3, 4, 3});
                },
                StatusCode::Unsupported, "gives some layers 3 heads"},
       }) {
    GGUFImage harmed = image();
    bad.harm(harmed);
    auto model = open(harmed);
    ASSERT_FALSE(model) << bad.text;
    EXPECT_EQ(model.status().code(), bad.code) << model.status().message();
    EXPECT_NE(model.status().message().find(bad.text), std::string::npos)
        << model.status().message();
  }
}

} // namespace
