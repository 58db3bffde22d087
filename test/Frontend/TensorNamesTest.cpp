// RUN: llmir-frontend-tests --gtest_filter='TensorNamesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Frontend/TensorNames.h"

#include <gtest/gtest.h>

using namespace llmir;

TEST(TensorNamesTest, NamesOfGGUF) {
  EXPECT_EQ(ggufTensorName("model.embed_tokens.weight"), "token_embd.weight");
  EXPECT_EQ(ggufTensorName("model.norm.weight"), "output_norm.weight");
  EXPECT_EQ(ggufTensorName("lm_head.weight"), "output.weight");
  EXPECT_EQ(ggufTensorName("model.layers.0.input_layernorm.weight"),
            "blk.0.attn_norm.weight");
  EXPECT_EQ(ggufTensorName("model.layers.31.self_attn.q_proj.bias"),
            "blk.31.attn_q.bias");
  EXPECT_EQ(ggufTensorName("model.layers.7.self_attn.k_norm.weight"),
            "blk.7.attn_k_norm.weight");
  EXPECT_EQ(ggufTensorName("model.layers.7.post_attention_layernorm.weight"),
            "blk.7.ffn_norm.weight");
  EXPECT_EQ(ggufTensorName("model.layers.7.mlp.down_proj.weight"),
            "blk.7.ffn_down.weight");
}

TEST(TensorNamesTest, NamesOfGPT2) {
  EXPECT_EQ(ggufTensorName("transformer.wte.weight"), "token_embd.weight");
  EXPECT_EQ(ggufTensorName("transformer.wpe.weight"), "position_embd.weight");
  EXPECT_EQ(ggufTensorName("transformer.ln_f.bias"), "output_norm.bias");
  EXPECT_EQ(ggufTensorName("transformer.h.0.ln_1.weight"),
            "blk.0.attn_norm.weight");
  EXPECT_EQ(ggufTensorName("transformer.h.11.attn.c_attn.bias"),
            "blk.11.attn_qkv.bias");
  EXPECT_EQ(ggufTensorName("transformer.h.11.attn.c_proj.weight"),
            "blk.11.attn_output.weight");
  EXPECT_EQ(ggufTensorName("transformer.h.2.ln_2.weight"),
            "blk.2.ffn_norm.weight");
  EXPECT_EQ(ggufTensorName("transformer.h.2.mlp.c_fc.weight"),
            "blk.2.ffn_up.weight");
  EXPECT_EQ(ggufTensorName("transformer.h.2.mlp.c_proj.weight"),
            "blk.2.ffn_down.weight");
  EXPECT_EQ(ggufTensorName("transformer.h.2.attn.c_attn.q.weight"),
            std::nullopt);
}

TEST(TensorNamesTest, NamesOfAFamily) {
  const std::vector<TensorName> own = {
      {"post_attention_layernorm", "post_attention_norm"},
      {"gpt_neox.embed_in", "token_embd"},
      {"layer_scalar", "layer_output_scale.weight"}};
  EXPECT_EQ(ggufTensorName("model.layers.3.layer_scalar", own),
            "blk.3.layer_output_scale.weight");
  EXPECT_EQ(ggufTensorName("model.layers.3.other", own), std::nullopt);
  EXPECT_EQ(
      ggufTensorName("model.layers.3.post_attention_layernorm.weight", own),
      "blk.3.post_attention_norm.weight");
  EXPECT_EQ(ggufTensorName("gpt_neox.embed_in.weight", own),
            "token_embd.weight");
  EXPECT_EQ(ggufTensorName("gpt_neox.layers.2.input_layernorm.bias", own),
            "blk.2.attn_norm.bias");
  EXPECT_EQ(ggufTensorName("gpt_neox.embed_in.weight"), std::nullopt);
}

TEST(TensorNamesTest, NamesThatGGUFDoesNotHave) {
  for (const char *name :
       {"", "weight", "model.layers.0", "model.layers.0.weight",
        "layers.0.mlp.up_proj.weight", "model.embed_tokens",
        "model.layers..weight"})
    EXPECT_EQ(ggufTensorName(name), std::nullopt) << name;
}

TEST(TensorNamesTest, Buffers) {
  EXPECT_TRUE(isIgnoredTensor("model.layers.0.self_attn.rotary_emb.inv_freq"));
  EXPECT_TRUE(isIgnoredTensor("h.0.attn.bias"));
  EXPECT_TRUE(isIgnoredTensor("h.0.attn.masked_bias"));
  EXPECT_FALSE(isIgnoredTensor("model.layers.0.self_attn.q_proj.bias"));
  EXPECT_FALSE(isIgnoredTensor("rope_freqs.weight"));
  EXPECT_FALSE(isIgnoredTensor(""));
}
