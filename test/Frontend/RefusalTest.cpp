// RUN: llmir-frontend-tests --gtest_filter='RefusalTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyModel.h"

#include "llmir/Frontend/Frontend.h"

using namespace llmir;
using namespace llmir::test;

namespace {

/// Checkpoints that open, but are not the model that their config describes.
class RefusalTest : public testing::Test {
protected:
  void expectRefused(Expected<Checkpoint> checkpoint, StatusCode code,
                     const std::vector<std::string> &texts,
                     const FrontendOptions &options = {}) {
    ASSERT_TRUE(checkpoint) << checkpoint.status().message();
    mlir::MLIRContext context;
    auto traced = traceCheckpoint(context, *checkpoint, options);
    ASSERT_FALSE(traced) << "was accepted";
    const Status &status = traced.status();
    EXPECT_STREQ(statusCodeName(status.code()), statusCodeName(code));
    for (const std::string &text : texts)
      EXPECT_NE(status.cause().find(text), std::string::npos)
          << "'" << text << "' is not in: " << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_FALSE(status.advice().empty()) << status.message();
  }

  TinyModel model;
  TempFolder folder;
};

TEST_F(RefusalTest, MissingTensor) {
  model.complete().tensors.erase("model.layers.1.mlp.up_proj.weight");
  expectRefused(model.open(folder), StatusCode::NotFound,
                {folder.path(), "tensor 'model.layers.1.mlp.up_proj.weight' is "
                                "missing, the model needs shape [160, 64]"});
}

TEST_F(RefusalTest, MissingBias) {
  model.family = "qwen2";
  model.complete().tensors.erase("model.layers.0.self_attn.v_proj.bias");
  expectRefused(
      model.open(folder), StatusCode::NotFound,
      {"'model.layers.0.self_attn.v_proj.bias' is missing", "shape [32]"});
}

TEST_F(RefusalTest, MissingOutputProjection) {
  model.complete().tensors.erase("lm_head.weight");
  expectRefused(model.open(folder), StatusCode::NotFound,
                {"'lm_head.weight' is missing", "[40, 64]"});
}

TEST_F(RefusalTest, MissingTensorOfGGUF) {
  GGUFImage image = model.complete().gguf(1);
  image.erase("blk.1.ffn_norm.weight");
  expectRefused(openGGUF(folder, image), StatusCode::NotFound,
                {"tensor 'blk.1.ffn_norm.weight' is missing, the model needs "
                 "shape [64]"});
}

TEST_F(RefusalTest, ExtraTensor) {
  model.complete().tensors["model.layers.0.mlp.gate.weight"] = {8, 64};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"tensor 'model.layers.0.mlp.gate.weight' of shape [8, 64] is "
                 "not part of a llama model of 2 layers"});
}

TEST_F(RefusalTest, ExtraLayer) {
  model.layers = 3;
  model.complete().layers = 2;
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"'model.layers.2.", "(and 8 more)",
                 "not part of a llama model of 2 layers"});
}

TEST_F(RefusalTest, ExtraBias) {
  model.complete().tensors["model.layers.0.self_attn.q_proj.bias"] = {64};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"'model.layers.0.self_attn.q_proj.bias' of shape [64]"});
}

TEST_F(RefusalTest, ExtraTensorOfGGUF) {
  GGUFImage image = model.complete().gguf(1);
  image.add("blk.0.attn_sinks.weight", {4}, 0);
  expectRefused(openGGUF(folder, image), StatusCode::InvalidFile,
                {"'blk.0.attn_sinks.weight' of shape [4]"});
}

TEST_F(RefusalTest, WrongShape) {
  model.complete().tensors["model.layers.0.self_attn.k_proj.weight"] = {64, 64};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"tensor 'model.layers.0.self_attn.k_proj.weight' has shape "
                 "[64, 64], the model needs [32, 64]"});
}

TEST_F(RefusalTest, TransposedShape) {
  model.complete().tensors["model.layers.0.mlp.down_proj.weight"] = {160, 64};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"has shape [160, 64], the model needs [64, 160]"});
}

TEST_F(RefusalTest, WrongRank) {
  model.complete().tensors["model.norm.weight"] = {2, 32};
  expectRefused(
      model.open(folder), StatusCode::InvalidFile,
      {"'model.norm.weight' has shape [2, 32], the model needs [64]"});
}

TEST_F(RefusalTest, ScalarInPlaceOfAVector) {
  model.complete().tensors["model.norm.weight"] = {};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"'model.norm.weight' has shape [], the model needs [64]"});
}

TEST_F(RefusalTest, ShorterVocabulary) {
  model.complete().tensors["model.embed_tokens.weight"] = {39, 64};
  expectRefused(model.open(folder), StatusCode::InvalidFile,
                {"'model.embed_tokens.weight'", "[39, 64]", "[40, 64]"});
}

TEST_F(RefusalTest, StorageTypeThatCannotBeComputedWith) {
  model.dtype = "I64";
  expectRefused(model.complete().open(folder), StatusCode::Unsupported,
                {"I64", "model.embed_tokens.weight"});
}

TEST_F(RefusalTest, VectorInABlockFormat) {
  GGUFImage image = model.complete().gguf(8);
  image.erase("output_norm.weight");
  image.add("output_norm.weight", {64}, 8);
  expectRefused(openGGUF(folder, image), StatusCode::Unsupported,
                {"'output_norm.weight' of shape [64]", "q8_0"});
}

TEST_F(RefusalTest, ContextBeyondTheTraining) {
  model.complete();
  for (int64_t tokens : {int64_t(513), int64_t(-1)}) {
    FrontendOptions options;
    options.contextLength = tokens;
    expectRefused(model.open(folder), StatusCode::OutOfRange,
                  {std::to_string(tokens), "512"}, options);
  }
}

TEST_F(RefusalTest, RotaryDivisorsOfAnotherShape) {
  GGUFImage image = model.complete().gguf(1);
  image.add("rope_freqs.weight", {16}, 0);
  expectRefused(openGGUF(folder, image), StatusCode::InvalidFile,
                {"'rope_freqs.weight' has shape [16], the model needs [8]"});
}

TEST_F(RefusalTest, RotaryDivisorsThatAreNotPositive) {
  GGUFImage image = model.complete().gguf(1);
  image.add("rope_freqs.weight", {8}, 0);
  std::string file = image.build();
  for (float divisor : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()}) {
    // The last tensor's data are the last bytes of the file.
    for (size_t i = 0; i < 8; ++i) {
      float value = i == 5 ? divisor : 1.0f;
      std::memcpy(&file[file.size() - 32 + 4 * i], &value, 4);
    }
    expectRefused(Checkpoint::open(folder.write("model.gguf", file)),
                  StatusCode::InvalidFile, {"'rope_freqs.weight'", "index 5"});
  }
}

/// Buffers that old exports carry are not parameters.
TEST_F(RefusalTest, BuffersAreTolerated) {
  model.complete().tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {
      8};
  auto checkpoint = model.open(folder);
  ASSERT_TRUE(checkpoint);
  mlir::MLIRContext context;
  auto traced = traceCheckpoint(context, *checkpoint, FrontendOptions());
  EXPECT_TRUE(traced) << traced.status().message();
}

} // namespace
