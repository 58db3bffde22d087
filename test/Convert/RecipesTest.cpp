// RUN: llmir-convert-tests --gtest_filter='Recipes*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recipes.h"

#include "llmir/Quantize/EncodeRow.h"

#include <gtest/gtest.h>

using namespace llmir;

static TensorFormat chosen(const char *type, const char *name,
                           bool isTied = false, int64_t layers = 16) {
  return formatOf(*findRecipe(type), name, {256, 256}, layers, isTied);
}

TEST(Recipes, OutputAndSensitiveMatricesGetMoreBits) {
  EXPECT_EQ(chosen("q4_k_m", "output.weight"), TensorFormat::Q6_K);
  EXPECT_EQ(chosen("q4_k_m", "token_embd.weight"), TensorFormat::Q4_K);
  EXPECT_EQ(chosen("q4_k_m", "token_embd.weight", true), TensorFormat::Q6_K);
  EXPECT_EQ(chosen("q4_k_m", "blk.0.attn_v.weight"), TensorFormat::Q6_K);
  EXPECT_EQ(chosen("q4_k_m", "blk.2.ffn_down.weight"), TensorFormat::Q4_K);
  EXPECT_EQ(chosen("q4_k_m", "blk.4.ffn_down.weight"), TensorFormat::Q6_K);
  EXPECT_EQ(chosen("q4_k_m", "blk.15.ffn_down.weight"), TensorFormat::Q6_K);
  EXPECT_EQ(chosen("q4_k_m", "blk.0.attn_q.weight"), TensorFormat::Q4_K);
  EXPECT_EQ(chosen("q3_k_m", "blk.9.attn_output.weight"), TensorFormat::Q4_K);
  EXPECT_EQ(chosen("q8_0", "output.weight"), TensorFormat::Q8_0);
}

TEST(Recipes, SmallTensorsStayWhole) {
  for (const char *name : {"blk.0.ffn_gate_inp.weight", "position_embd.weight",
                           "blk.0.attn_q.bias", "blk.3.attn_norm.weight"})
    EXPECT_EQ(chosen("q4_0", name), TensorFormat::F32) << name;
  EXPECT_EQ(formatOf(*findRecipe("f16"), "output_norm.weight", {64}, 4, false),
            TensorFormat::F32);
}

TEST(Recipes, RowsThatAreNotWholeBlocks) {
  EXPECT_EQ(fittingFormat(TensorFormat::Q4_K, 512), TensorFormat::Q4_K);
  EXPECT_EQ(fittingFormat(TensorFormat::Q4_K, 96), TensorFormat::Q5_0);
  EXPECT_EQ(fittingFormat(TensorFormat::Q6_K, 96), TensorFormat::Q8_0);
  EXPECT_EQ(fittingFormat(TensorFormat::Q2_K, 96), TensorFormat::IQ4_NL);
  EXPECT_EQ(fittingFormat(TensorFormat::Q4_K, 172), TensorFormat::F16);
  EXPECT_EQ(fittingFormat(TensorFormat::F32, 1), TensorFormat::F32);
}

TEST(Recipes, AllFormatsCanBeWritten) {
  const std::string names = allRecipeNames() + ",";
  for (size_t at = 0, end; (end = names.find(',', at)) != std::string::npos;
       at = end + 2) {
    const Recipe *recipe = findRecipe(names.substr(at, end - at));
    ASSERT_TRUE(recipe) << names.substr(at, end - at);
    for (TensorFormat format :
         {recipe->base, recipe->output, recipe->more, recipe->attentionOutput})
      EXPECT_TRUE(canEncode(format)) << recipe->name;
  }
  EXPECT_FALSE(findRecipe("q4_k_x"));
}
