//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configurations of all families, and GGUF files of all architectures: each
// with the sizes that all have, and with the keys of every kind of layer, which
// those that do not know them ignore.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Checkpoint/GGUFImage.h"

#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::fuzz;
using llmir::test::GGUFImage;

static Json configSizes() {
  return {{"vocab_size", 100},
          {"hidden_size", 64},
          {"intermediate_size", 96},
          {"num_hidden_layers", 4},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"max_position_embeddings", 128},
          {"rms_norm_eps", 1e-5},
          {"layer_norm_eps", 1e-5},
          {"torch_dtype", "bfloat16"},
          {"sliding_window", 64}};
}

/// Keys of mixtures, latents, states and attention; families read some.
static const std::vector<Json> &configKeys() {
  static const std::vector<Json> all = {
      {{"num_local_experts", 4},
       {"num_experts", 4},
       {"n_routed_experts", 4},
       {"n_shared_experts", 1},
       {"num_experts_per_tok", 2},
       {"moe_intermediate_size", 32},
       {"shared_expert_intermediate_size", 32},
       {"shared_intermediate_size", 32},
       {"intermediate_size_mlp", 96},
       {"n_group", 2},
       {"topk_group", 1},
       {"topk_method", "noaux_tc"},
       {"scoring_func", "sigmoid"},
       {"norm_topk_prob", true},
       {"routed_scaling_factor", 2.5},
       {"first_k_dense_replace", 1},
       {"num_dense_layers", 1},
       {"use_expert_bias", true},
       {"interleave_moe_layer_step", 2},
       {"attention_chunk_size", 64},
       {"use_qk_norm", true},
       {"head_dim", 16},
       {"kv_lora_rank", 32},
       {"q_lora_rank", 32},
       {"qk_nope_head_dim", 16},
       {"qk_rope_head_dim", 16},
       {"v_head_dim", 16},
       {"swiglu_limit", 7.0},
       {"hidden_act", "silu"}},
      {{"num_experts", 4},
       {"num_local_experts", 4},
       {"n_routed_experts", 4},
       {"num_experts_per_tok", 2},
       {"moe_intermediate_size", 32},
       {"shared_intermediate_size", 32},
       {"shared_expert_intermediate_size", 32},
       {"decoder_sparse_step", 2},
       {"mlp_only_layers", {0}},
       {"mlp_layer_types", {"dense", "sparse", "sparse", "sparse"}},
       {"topk_method", "group_limited_greedy"},
       {"scoring_func", "softmax"},
       {"n_group", 2},
       {"topk_group", 1},
       {"n_shared_experts", 1},
       {"linear_conv_kernel_dim", 4},
       {"linear_key_head_dim", 16},
       {"linear_num_key_heads", 2},
       {"linear_num_value_heads", 4},
       {"linear_value_head_dim", 16},
       {"full_attention_interval", 4},
       {"head_dim", 16},
       {"conv_L_cache", 3},
       {"block_ff_dim", 96},
       {"block_multiple_of", 32},
       {"block_ffn_dim_multiplier", 1.0},
       {"block_auto_adjust_ff_dim", true},
       {"full_attn_idxs", {1, 3}},
       {"mamba_d_conv", 4},
       {"mamba_d_head", 16},
       {"mamba_d_state", 16},
       {"mamba_expand", 2},
       {"mamba_n_groups", 1},
       {"mamba_n_heads", 8},
       {"mamba_conv_bias", true},
       {"position_embedding_type", "nope"}},
      {{"layer_types", {"mamba", "attention", "mamba", "mamba"}},
       {"num_local_experts", 0},
       {"shared_intermediate_size", 32},
       {"mamba_d_head", 16},
       {"mamba_n_heads", 8},
       {"mamba_d_state", 16}},
      {{"layer_types", {"conv", "full_attention", "conv", "full_attention"}},
       {"conv_L_cache", 3},
       {"num_experts", 4},
       {"num_experts_per_tok", 2},
       {"moe_intermediate_size", 32},
       {"num_dense_layers", 1}},
      {{"layer_types",
        {"chunked_attention", "chunked_attention", "chunked_attention",
         "full_attention"}},
       {"num_local_experts", 4},
       {"num_experts_per_tok", 1},
       {"moe_layers", {1, 3}},
       {"intermediate_size_mlp", 96},
       {"attention_chunk_size", 64},
       {"attn_temperature_tuning", true},
       {"attn_scale", 0.1},
       {"floor_scale", 8192},
       {"head_dim", 16}},
      {{"layer_types",
        {"sliding_attention", "full_attention", "sliding_attention",
         "full_attention"}},
       {"head_dim", 16},
       {"global_head_dim", 32},
       {"num_kv_shared_layers", 2},
       {"use_double_wide_mlp", true},
       {"hidden_size_per_layer_input", 16},
       {"vocab_size_per_layer_input", 100},
       {"final_logit_softcapping", 30.0},
       {"attn_logit_softcapping", 50.0},
       {"query_pre_attn_scalar", 16},
       {"hidden_activation", "gelu_pytorch_tanh"},
       {"tie_word_embeddings", true},
       {"num_experts", 4},
       {"num_experts_per_tok", 2},
       {"top_k_experts", 2},
       {"moe_intermediate_size", 32},
       {"enable_moe_block", true},
       {"rope_parameters",
        {{"full_attention",
          {{"rope_type", "proportional"},
           {"rope_theta", 1e6},
           {"partial_rotary_factor", 0.25}}},
         {"sliding_attention",
          {{"rope_type", "default"}, {"rope_theta", 1e4}}}}}},
      {{"kv_lora_rank", 32},
       {"q_lora_rank", nullptr},
       {"qk_nope_head_dim", 16},
       {"qk_rope_head_dim", 16},
       {"v_head_dim", 16},
       {"n_routed_experts", 4},
       {"n_shared_experts", 1},
       {"num_experts_per_tok", 2},
       {"moe_intermediate_size", 32},
       {"topk_method", "greedy"},
       {"n_group", 1},
       {"topk_group", 1},
       {"norm_topk_prob", true},
       {"rope_parameters",
        {{"rope_type", "yarn"},
         {"factor", 4.0},
         {"rope_theta", 1e4},
         {"beta_fast", 32.0},
         {"beta_slow", 1.0},
         {"mscale", 1.0},
         {"mscale_all_dim", 1.0},
         {"original_max_position_embeddings", 32},
         {"llama_4_scaling_beta", 0.1}}}}};
  return all;
}

std::vector<std::string> fuzz::familyConfigs() {
  std::vector<std::string> seeds;
  for (const char *family : {"gpt2",        "llama",        "mistral",
                             "mixtral",     "qwen2",        "qwen3",
                             "qwen2_moe",   "qwen3_moe",    "qwen3_next",
                             "smollm3",     "phi3",         "gemma",
                             "gemma2",      "gemma3_text",  "gemma4_text",
                             "olmo2",       "olmo3",        "olmoe",
                             "granite",     "granitemoe",   "granitemoehybrid",
                             "internlm2",   "lfm2",         "lfm2_moe",
                             "stablelm",    "gpt_neox",     "cohere",
                             "cohere2",     "glm4",         "glm4_moe",
                             "deepseek_v2", "deepseek_v3",  "kimi_k2",
                             "exaone4",     "seed_oss",     "ministral3",
                             "mistral4",    "qwen3_5_text", "qwen3_5_moe_text",
                             "gpt_oss",     "llama4_text",  "glm4_moe_lite",
                             "bert",        "nomic_bert",   "modernbert"}) {
    Json config = configSizes();
    config["model_type"] = family;
    seeds.push_back(config.dump());
    for (const Json &keys : configKeys()) {
      Json full = config;
      full.update(keys);
      seeds.push_back(full.dump());
    }
  }
  auto add = [&](const char *family, const Json &keys) {
    Json config = configSizes();
    config["model_type"] = family;
    config.update(keys);
    seeds.push_back(config.dump());
  };
  for (const Json &list : {Json{1, 0, 1, 1}, Json{1, 0}, Json{1, 2, 0, 0}})
    add("smollm3", {{"no_rope_layers", list}, {"no_rope_layer_interval", 2}});
  for (const char *pattern : {"LLLG", "LG", "GL", "L"})
    add("exaone4", {{"sliding_window_pattern", pattern}});
  add("cohere2", {{"sliding_window_pattern", 2}});
  add("deepseek_v3", [] {
    Json keys = configKeys()[0];
    keys["n_group"] = 3;
    return keys;
  }());
  add("phi3", {{"original_max_position_embeddings", 64},
               {"rope_scaling",
                {{"type", "longrope"},
                 {"short_factor", {1, 1, 1, 1, 1, 1, 1, 1}},
                 {"long_factor", {1, 2, 3, 4, 5, 6, 7, 8}}}}});
  add("phi3", {{"original_max_position_embeddings", 64},
               {"rope_scaling",
                {{"type", "longrope"},
                 {"short_factor", {1, 1}},
                 {"long_factor", {1, 2}},
                 {"attention_factor", 1.2}}}});
  add("llama", {{"rope_theta", 0}});
  for (const Json &rope : {Json{{"rope_type", "linear"}, {"factor", -1}},
                           Json{{"rope_type", "yarn"},
                                {"factor", 4},
                                {"beta_fast", 1},
                                {"beta_slow", 32},
                                {"original_max_position_embeddings", 32}},
                           Json{{"rope_type", "yarn"},
                                {"factor", 4},
                                {"attention_factor", -1},
                                {"original_max_position_embeddings", 32}},
                           Json{{"rope_type", "llama3"},
                                {"factor", 8},
                                {"low_freq_factor", 4},
                                {"high_freq_factor", 1},
                                {"original_max_position_embeddings", 64}},
                           Json{{"rope_type", "llama3"},
                                {"factor", 8},
                                {"low_freq_factor", -4},
                                {"high_freq_factor", 1},
                                {"original_max_position_embeddings", 64}}})
    add("llama", {{"rope_scaling", rope}});
  for (const char *whole : {"gemma3", "gemma4", "llama4", "mistral3"}) {
    Json text = configSizes();
    text.update(configKeys()[4]);
    text["model_type"] = std::string(whole) + "_text";
    seeds.push_back(Json{{"model_type", whole},
                         {"text_config", text},
                         {"vision_config", Json::object()}}
                        .dump());
  }
  return seeds;
}

/// The keys of the file, for another architecture.
static GGUFImage asArchitecture(GGUFImage image, const std::string &name) {
  for (GGUFImage::Key &key : image.keys)
    if (key.name.compare(0, 6, "llama.") == 0)
      key.name = name + key.name.substr(5);
  image.set("general.architecture", name);
  return image;
}

/// Sets keys of the architecture `name`.
static void
setNumbers(GGUFImage &image, const std::string &name,
           std::initializer_list<std::pair<const char *, uint32_t>> numbers) {
  for (const auto &[key, value] : numbers)
    image.set(name + "." + key, value);
}

static void addExpertKeys(GGUFImage &image, const std::string &name) {
  setNumbers(image, name,
             {{"expert_count", 4},
              {"expert_used_count", 2},
              {"expert_feed_forward_length", 32},
              {"expert_shared_feed_forward_length", 32},
              {"expert_gating_func", 2},
              {"expert_group_count", 2},
              {"expert_group_used_count", 1},
              {"leading_dense_block_count", 1}});
  image.set(name + ".expert_weights_norm", true);
  image.set(name + ".expert_weights_scale", 2.5f);
  for (const char *layer : {"blk.0.", "blk.1."})
    for (const char *tensor :
         {"ffn_gate_inp.weight", "exp_probs_b.bias", "ffn_up_shexp.weight"})
      image.add(std::string(layer) + tensor, {4}, 0);
}

static void addLayerKeys(GGUFImage &image, const std::string &name) {
  setNumbers(image, name,
             {{"attention.kv_lora_rank", 32},
              {"attention.q_lora_rank", 32},
              {"attention.key_length_mla", 32},
              {"attention.value_length_mla", 16},
              {"attention.sliding_window", 32},
              {"attention.key_length_swa", 16},
              {"attention.value_length_swa", 16},
              {"attention.shared_kv_layers", 1},
              {"embedding_length_per_layer_input", 16},
              {"rope.dimension_count_swa", 16},
              {"full_attention_interval", 2},
              {"shortconv.l_cache", 3},
              {"ssm.conv_kernel", 4},
              {"ssm.group_count", 2},
              {"ssm.inner_size", 64},
              {"ssm.state_size", 16},
              {"ssm.time_step_rank", 4},
              {"pooling_type", 1}});
  image.set(name + ".attention.causal", false);
  image.set(name + ".rope.freq_base_swa", 10000.0f);
  image.set("general.sampling.temp", 0.7f);
  image.set("general.sampling.top_p", 0.8f);
  image.set("general.sampling.min_p", 0.05f);
  image.set("general.sampling.top_k", int32_t(20));
  image.set("general.sampling.penalty_repeat", 1.1f);
  for (const char *layer : {"blk.0.", "blk.1."})
    for (const char *tensor :
         {"ssm_conv1d.bias", "attn_q.bias", "attn_q_norm.weight"})
      image.add(std::string(layer) + tensor, {4}, 0);
}

/// The files of an architecture: plain, with further kinds of layers, and as
/// those need them.
static void addVariants(GGUFImage plain, const std::string &name,
                        std::vector<std::string> &seeds) {
  auto add = [&](GGUFImage image, const auto &change) {
    change(image);
    seeds.push_back(image.build());
  };
  plain.set(name + ".attention.layer_norm_epsilon", 1e-5f);
  GGUFImage layers = plain;
  addLayerKeys(layers, name);
  GGUFImage experts = layers;
  addExpertKeys(experts, name);
  add(plain, [](GGUFImage &) {});
  add(layers, [](GGUFImage &) {});
  add(experts, [](GGUFImage &) {});
  add(plain, [&](GGUFImage &image) {
    image.set(name + ".attn_logit_softcapping", 50.0f);
    image.set(name + ".final_logit_softcapping", 30.0f);
    image.set(name + ".attention.temperature_scale", 0.1f);
    image.set(name + ".attention.temperature_length", uint32_t(64));
  });
  for (const GGUFImage *image : {&layers, &experts})
    add(*image, [&](GGUFImage &hybrid) { // States in the first layer.
      hybrid.setIntegers(name + ".attention.head_count_kv", {0, 2});
      hybrid.setIntegers(name + ".feed_forward_length", {96, 64});
      hybrid.set(name + ".ssm.group_count", uint32_t(1));
      hybrid.set(name + ".expert_group_count", uint32_t(1));
    });
  add(layers, [&](GGUFImage &scaled) {
    scaled.add("rope_factors_long.weight", {8}, 0);
    scaled.add("rope_factors_short.weight", {8}, 0);
    scaled.set(name + ".rope.scaling.attn_factor", 1.2f);
    scaled.set(name + ".rope.scaling.original_context_length", uint32_t(64));
  });
  add(layers, [&](GGUFImage &scaled) {
    scaled.set(name + ".rope.scaling.type", std::string("linear"));
    scaled.set(name + ".rope.scaling.factor", 4.0f);
    scaled.set("general.sampling.temp", -1.0f);
  });
  add(plain, [&](GGUFImage &mamba) {
    for (auto [key, value] :
         {std::pair("conv_kernel", 4), std::pair("group_count", 1),
          std::pair("inner_size", 64), std::pair("state_size", 16),
          std::pair("time_step_rank", 4)})
      mamba.set(name + ".ssm." + key, static_cast<uint32_t>(value));
    mamba.setIntegers(name + ".attention.head_count_kv", {0, 2});
    mamba.set(name + ".rope.scaling.finetuned", false);
  });
  auto setHeads = [&](GGUFImage &image, uint32_t key, uint32_t value,
                      uint32_t rotated) {
    image.set(name + ".attention.key_length", key);
    image.set(name + ".attention.value_length", value);
    image.set(name + ".rope.dimension_count", rotated);
    image.set(name + ".rope.scaling.type", std::string("yarn"));
    image.set(name + ".rope.scaling.factor", 4.0f);
    image.set(name + ".rope.scaling.original_context_length", uint32_t(64));
    image.set(name + ".rope.scaling.yarn_log_multiplier", 0.1f);
  };
  for (const GGUFImage *image : {&layers, &experts}) {
    add(*image, [&](GGUFImage &latent) {
      setHeads(latent, 32 + 16, 32, 16);
      latent.set(name + ".attention.head_count_kv", uint32_t(1));
      latent.set(name + ".expert_group_count", uint32_t(1));
    });
    add(*image, [&](GGUFImage &local) {
      setHeads(local, 32, 32, 32);
      local.setIntegers(name + ".attention.head_count_kv", {2, 1});
      // An array (type 9) of booleans (type 7).
      local.set(name + ".attention.sliding_window_pattern", uint32_t(2));
      GGUFImage::Key &pattern =
          local.key(name + ".attention.sliding_window_pattern");
      pattern.type = 9;
      pattern.payload = test::bytesOf(uint32_t(7)) +
                        test::bytesOf(uint64_t(2)) + std::string("\1\0", 2);
      for (const char *key : {"expert_group_count", "expert_group_used_count",
                              "expert_gating_func", "expert_weights_scale",
                              "expert_shared_feed_forward_length"})
        local.erase(name + "." + key);
      local.tensors.pop_back();
      local.add("blk.0.layer_output_scale.weight", {1}, 0);
      local.add("blk.0.attn_v.weight", {4}, 0);
    });
  }
}

std::vector<std::string> fuzz::architectureFiles(const GGUFImage &llama) {
  std::vector<std::string> seeds;
  for (const char *name : {"gpt2",
                           "qwen2",
                           "qwen3",
                           "qwen2moe",
                           "qwen3moe",
                           "qwen3next",
                           "qwen35",
                           "qwen35moe",
                           "smollm3",
                           "phi3",
                           "gemma",
                           "gemma2",
                           "gemma3",
                           "gemma4",
                           "olmo2",
                           "olmoe",
                           "granite",
                           "granitemoe",
                           "granitehybrid",
                           "internlm2",
                           "lfm2",
                           "lfm2moe",
                           "stablelm",
                           "gptneox",
                           "command-r",
                           "cohere2",
                           "glm4",
                           "glm4moe",
                           "deepseek2",
                           "exaone4",
                           "seed_oss",
                           "mistral3",
                           "mistral4",
                           "bert",
                           "nomic-bert",
                           "modern-bert",
                           "gemma-embedding",
                           "gpt-oss",
                           "llama4",
                           "llama"}) {
    addVariants(asArchitecture(llama, name), name, seeds);
  }
  return seeds;
}
