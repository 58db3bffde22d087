// RUN: llmir-checkpoint-tests --gtest_filter='GGUFHostileConfigTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One case for each key of a model's configuration in GGUF that can be wrong:
// see GGUFHostileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "GGUFHostile.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

/// The keys of a model with latent attention, of which one is then harmed.
void setLatents(Image &image) {
  image.set("general.architecture", std::string("deepseek2"));
  const std::pair<const char *, uint32_t> sizes[] = {
      {"block_count", 2},
      {"context_length", 128},
      {"embedding_length", 64},
      {"feed_forward_length", 96},
      {"attention.head_count", 4},
      {"attention.head_count_kv", 1},
      {"attention.kv_lora_rank", 32},
      {"attention.key_length", 40},
      {"attention.value_length", 32},
      {"attention.key_length_mla", 24},
      {"attention.value_length_mla", 16},
      {"rope.dimension_count", 8}};
  for (auto [name, size] : sizes)
    image.set(std::string("deepseek2.") + name, size);
  image.set("deepseek2.attention.layer_norm_rms_epsilon", 1e-6f);
}

TEST(GGUFHostileConfigTest, Configuration) { // G12
  expectAllRefused({
      {"no architecture",
       [](Image &i) { i.erase("general.architecture"); },
       {"'general.architecture' is missing"},
       NotFound},
      {"unknown architecture",
       [](Image &i) { i.set("general.architecture", std::string("gpt9")); },
       {"'general.architecture' is \"gpt9\"", "gpt2"},
       Unsupported},
      {"no block_count",
       [](Image &i) { i.erase("llama.block_count"); },
       {"'llama.block_count' is missing"},
       NotFound},
      {"513 blocks",
       [](Image &i) { i.set("llama.block_count", 513u); },
       {"'llama.block_count' is 513", "from 1 to 512"}},
      {"-1 blocks",
       [](Image &i) { i.set("llama.block_count", -1); },
       {"'llama.block_count' is -1"}},
      {"0 heads",
       [](Image &i) { i.set("llama.attention.head_count", 0u); },
       {"'llama.attention.head_count' is 0"}},
      {"0 KV heads",
       [](Image &i) { i.set("llama.attention.head_count_kv", 0u); },
       {"'llama.attention.head_count_kv' is 0"}},
      {"KV heads that do not divide",
       [](Image &i) { i.set("llama.attention.head_count_kv", 3u); },
       {"'llama.attention.head_count_kv' is 3", "4 heads"}},
      {"KV heads by layer, wrong length",
       [](Image &i) {
         i.setIntegers("llama.attention.head_count_kv", {2, 2, 2});
       },
       {"'llama.attention.head_count_kv' has 3 elements for 2 layers"}},
      {"KV heads by layer, different",
       [](Image &i) { i.setIntegers("llama.attention.head_count_kv", {2, 4}); },
       {"'llama.attention.head_count_kv' differs between layers"},
       Unsupported},
      {"KV heads by layer, negative",
       [](Image &i) {
         i.setIntegers("llama.attention.head_count_kv", {-2, -2});
       },
       {"'llama.attention.head_count_kv' contains -2"}},
      {"odd head_dim",
       [](Image &i) {
         i.set("llama.attention.key_length", 15u);
         i.set("llama.attention.value_length", 15u);
         i.set("llama.rope.dimension_count", 15u);
       },
       {"'llama.attention.key_length' is 15", "even"}},
      {"heads that do not divide the width",
       [](Image &i) {
         i.set("llama.attention.head_count", 6u);
         i.set("llama.rope.dimension_count", 10u);
       },
       {"'llama.embedding_length' is 64", "6 heads"}},
      {"values of another length",
       [](Image &i) {
         i.set("llama.attention.key_length", 16u);
         i.set("llama.attention.value_length", 8u);
       },
       {"'llama.attention.value_length' is 8"},
       Unsupported},
      {"rotary dimension above head_dim",
       [](Image &i) { i.set("llama.rope.dimension_count", 18u); },
       {"'llama.rope.dimension_count' is 18", "16 values"}},
      {"rotation of an odd part of the head",
       [](Image &i) { i.set("llama.rope.dimension_count", 7u); },
       {"'llama.rope.dimension_count' is 7", "even"}},
      {"eps NaN",
       [](Image &i) {
         i.set("llama.attention.layer_norm_rms_epsilon", std::nanf(""));
       },
       {"'llama.attention.layer_norm_rms_epsilon' is NaN",
        "expected a number"}},
      {"eps infinite",
       [](Image &i) {
         i.set("llama.attention.layer_norm_rms_epsilon", INFINITY);
       },
       {"'llama.attention.layer_norm_rms_epsilon' is infinity",
        "expected a number"}},
      {"eps 0",
       [](Image &i) { i.set("llama.attention.layer_norm_rms_epsilon", 0.0f); },
       {"'llama.attention.layer_norm_rms_epsilon' is 0.0"}},
      {"eps missing",
       [](Image &i) { i.erase("llama.attention.layer_norm_rms_epsilon"); },
       {"'llama.attention.layer_norm_rms_epsilon' is missing"},
       NotFound},
      {"theta infinite",
       [](Image &i) { i.set("llama.rope.freq_base", INFINITY); },
       {"'llama.rope.freq_base'"}},
      {"theta negative",
       [](Image &i) { i.set("llama.rope.freq_base", -1.0f); },
       {"'llama.rope.freq_base' is -1.0"}},
      {"unknown rope type",
       [](Image &i) { i.set("llama.rope.scaling.type", std::string("ntk")); },
       {"'llama.rope.scaling.type' is \"ntk\""},
       Unsupported},
      {"linear without factor",
       [](Image &i) {
         i.set("llama.rope.scaling.type", std::string("linear"));
       },
       {"'llama.rope.scaling.factor' is missing"},
       NotFound},
      {"factor 0",
       [](Image &i) { i.set("llama.rope.scaling.factor", 0.0f); },
       {"'llama.rope.scaling.factor' is 0.0"}},
      {"experts",
       [](Image &i) { i.set("llama.expert_count", 8u); },
       {"'llama.expert_used_count' is missing"},
       NotFound},
      {"more experts per token than there are",
       [](Image &i) {
         i.set("llama.expert_count", 8u);
         i.set("llama.expert_used_count", 9u);
       },
       {"'llama.expert_used_count' is 9"}},
      {"experts by an unknown function",
       [](Image &i) {
         i.set("llama.expert_count", 8u);
         i.set("llama.expert_used_count", 2u);
         i.set("llama.expert_gating_func", 4u);
       },
       {"'llama.expert_gating_func' is 4"},
       Unsupported},
      {"groups of experts of different sizes",
       [](Image &i) {
         i.set("llama.expert_count", 8u);
         i.set("llama.expert_used_count", 2u);
         i.set("llama.expert_group_count", 3u);
       },
       {"'llama.expert_group_count' is 3"}},
      {"latent attention of an old file",
       [](Image &i) {
         setLatents(i);
         i.erase("deepseek2.attention.key_length_mla");
       },
       {"'deepseek2.attention.key_length_mla' is missing", "attn_kv_b"},
       Unsupported},
      {"latent attention with keys that are all rotated",
       [](Image &i) {
         setLatents(i);
         i.set("deepseek2.rope.dimension_count", 24u);
       },
       {"'deepseek2.rope.dimension_count' is 24", "less than the 24"}},
      {"a latent that is not whole tiles",
       [](Image &i) {
         setLatents(i);
         i.set("deepseek2.attention.kv_lora_rank", 24u);
       },
       {"'deepseek2.attention.kv_lora_rank'", "24 elements"},
       Unsupported},
      {"latent attention with several KV heads",
       [](Image &i) {
         setLatents(i);
         i.set("deepseek2.attention.head_count_kv", 4u);
       },
       {"'deepseek2.attention.head_count_kv' is 4; expected 1"}},
      {"latent attention with another cache",
       [](Image &i) {
         setLatents(i);
         i.set("deepseek2.attention.value_length", 16u);
       },
       {"'deepseek2.attention.value_length' is 16; expected 32"}},
      {"latent attention with scores that are no numbers",
       [](Image &i) {
         setLatents(i);
         i.set("deepseek2.rope.scaling.type", std::string("yarn"));
         i.set("deepseek2.rope.scaling.factor", 40.0f);
         i.set("deepseek2.rope.scaling.original_context_length", 64u);
         i.set("deepseek2.rope.scaling.yarn_log_multiplier", 3e38f);
       },
       {"'deepseek2.rope.scaling.yarn_log_multiplier' gives the scores of "
        "attention a factor of"}},
      {"soft cap",
       [](Image &i) { i.set("llama.attn_logit_softcapping", 50.0f); },
       {"'llama.attn_logit_softcapping' is 50.0"},
       Unsupported},
      {"yarn without a context",
       [](Image &i) {
         i.set("llama.rope.scaling.type", std::string("yarn"));
         i.set("llama.rope.scaling.factor", 4.0f);
       },
       {"'llama.rope.scaling.original_context_length' is missing"},
       NotFound},
      {"window beyond the limit",
       [](Image &i) { i.set("llama.attention.sliding_window", 1u << 31); },
       {"'llama.attention.sliding_window' is 2147483648"}},
      {"context 2^31",
       [](Image &i) { i.set("llama.context_length", 1u << 31); },
       {"'llama.context_length' is 2147483648"}},
      {"context 0",
       [](Image &i) { i.set("llama.context_length", 0u); },
       {"'llama.context_length' is 0"}},
      {"width 0",
       [](Image &i) { i.set("llama.embedding_length", 0u); },
       {"'llama.embedding_length' is 0"}},
      {"width not the embedding's",
       [](Image &i) {
         i.set("llama.embedding_length", 128u);
         i.set("llama.rope.dimension_count", 32u);
       },
       {"'token_embd.weight' has the shape [40, 64]", "[vocabulary, 128]"}},
      {"no embedding",
       [](Image &i) { i.tensors[0].name = "other"; },
       {"'token_embd.weight' is missing"},
       NotFound},
      {"vocabulary not the embedding's rows",
       [](Image &i) { i.set("llama.vocab_size", 41u); },
       {"'llama.vocab_size' is 41", "has 40 rows"}},
      {"more tokens than embedding rows",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens",
                      std::vector<std::string>(41, "t"));
       },
       {"'tokenizer.ggml.tokens' has 41", "has 40 rows"}},
  });
}

} // namespace
