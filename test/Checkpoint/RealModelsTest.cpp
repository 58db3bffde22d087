// RUN: llmir-checkpoint-tests --gtest_filter='RealModelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published checkpoints and tokenizers, which are not in the repository:
// LLMIR_TEST_DATA names the directory.
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"

#include <cmath>
#include <cstdlib>

using namespace llmir;
using namespace llmir::test;

namespace {

class RealModelsTest : public testing::Test {
protected:
  void SetUp() override {
    const char *variable = std::getenv("LLMIR_TEST_DATA");
    data = variable ? variable : LLMIR_SOURCE_DIR "/../shared/data";
    if (!std::filesystem::is_directory(data))
      GTEST_SKIP() << "no test data in '" << data
                   << "': set LLMIR_TEST_DATA to its directory";
  }
  std::string data;
};

void expectStories(const ModelConfig &config) {
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.vocabSize, 512);
  EXPECT_EQ(config.hiddenSize, 64);
  EXPECT_EQ(config.intermediateSize, 172);
  EXPECT_EQ(config.numLayers, 5);
  EXPECT_EQ(config.numHeads, 8);
  EXPECT_EQ(config.numKVHeads, 4);
  EXPECT_EQ(config.headDim, 8);
  EXPECT_EQ(config.contextLength, 512);
  EXPECT_NEAR(config.normEps, 1e-5, 1e-11);
  EXPECT_EQ(config.ropeTheta, 10000.0);
  EXPECT_TRUE(config.tieWordEmbeddings);
  EXPECT_EQ(config.bosToken, 1);
  EXPECT_EQ(config.eosTokens, std::vector<int64_t>{2});
}

std::vector<float> decode(const CheckpointTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numElements()));
  decodeTensorRow(*tensor.usableFormat(), tensor.bytes.data(),
                  tensor.numElements(), values.data());
  return values;
}

TEST_F(RealModelsTest, StoriesInEveryForm) {
  std::string folder = data + "/models/stories260K";
  auto hf = Checkpoint::open(folder + "/hf");
  ASSERT_TRUE(hf) << hf.status().message();
  expectStories(hf->config());
  EXPECT_FALSE(hf->config().adjacentPairRotation);
  std::vector<float> truth = decode(**hf->tensor("model.embed_tokens.weight"));

  struct Form {
    const char *name;
    TensorFormat embedding, projection;
    double tolerance; ///< Of a value, relative to the largest.
  };
  const Form forms[] = {
      {"f32", TensorFormat::F32, TensorFormat::F32, 0},
      {"f16", TensorFormat::F16, TensorFormat::F16, 1e-3},
      {"q8", TensorFormat::Q8_0, TensorFormat::Q8_0, 1.0 / 127},
      {"q4", TensorFormat::Q8_0, TensorFormat::Q4_0, 1.0 / 127},
  };
  for (const Form &form : forms) {
    SCOPED_TRACE(form.name);
    auto gguf =
        Checkpoint::open(folder + "/stories260K-" + form.name + ".gguf");
    ASSERT_TRUE(gguf) << gguf.status().message();
    expectStories(gguf->config());
    EXPECT_TRUE(gguf->config().adjacentPairRotation);
    EXPECT_EQ(gguf->tensors().size(), 47u);
    EXPECT_EQ(*(*gguf->tensor("blk.0.attn_q.weight"))->usableFormat(),
              form.projection);
    const CheckpointTensor *table = *gguf->tensor("token_embd.weight");
    EXPECT_EQ(*table->usableFormat(), form.embedding);
    std::vector<float> values = decode(*table);
    ASSERT_EQ(values.size(), truth.size());
    float largest = 0;
    for (float value : truth)
      largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::fabs(values[i] - truth[i]), form.tolerance * largest) << i;
  }
}

TEST_F(RealModelsTest, MiniMindConfiguration) {
  std::string folder = data + "/models/minimind2-small";
  auto config = parseJsonFile(folder + "/config.json");
  auto generation = parseJsonFile(folder + "/generation_config.json");
  ASSERT_TRUE(config && generation);
  auto model = modelConfigFromHuggingFace(*config, &*generation, true);
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->headDim, 64);
  EXPECT_EQ(model->numKVHeads, 2);
  EXPECT_EQ(model->ropeTheta, 1e6);
  EXPECT_EQ(model->contextLength, 32768);
  EXPECT_FALSE(model->tieWordEmbeddings);
  EXPECT_EQ(model->eosTokens, std::vector<int64_t>{2});
}

TEST_F(RealModelsTest, GPTNanoSort) {
  auto gpt = Checkpoint::open(data + "/models/gpt-nano-sort/hf");
  ASSERT_TRUE(gpt) << gpt.status().message();
  const ModelConfig &config = gpt->config();
  EXPECT_EQ(config.architecture, "gpt2");
  EXPECT_EQ(config.vocabSize, 3);
  EXPECT_EQ(config.hiddenSize, 48);
  EXPECT_EQ(config.intermediateSize, 192);
  EXPECT_EQ(config.numLayers, 3);
  EXPECT_EQ(config.numHeads, 3);
  EXPECT_EQ(config.numKVHeads, 3);
  EXPECT_EQ(config.headDim, 16);
  EXPECT_EQ(config.rotaryDim, 0);
  EXPECT_EQ(config.contextLength, 11);
  EXPECT_EQ(config.normEps, 1e-5);
  EXPECT_TRUE(config.learnedPositions);
  EXPECT_FALSE(config.tieWordEmbeddings);
  EXPECT_TRUE(config.eosTokens.empty());
}

TEST_F(RealModelsTest, Vocabularies) {
  const std::pair<const char *, size_t> files[] = {{"gpt-2", 50257},
                                                   {"llama-spm", 32000},
                                                   {"phi-3", 32064},
                                                   {"qwen2", 151936}};
  for (const auto &[name, size] : files) {
    SCOPED_TRACE(name);
    auto file =
        GGUFFile::open(data + "/gguf-vocab/ggml-vocab-" + name + ".gguf");
    ASSERT_TRUE(file) << file.status().message();
    EXPECT_TRUE(file->tensors().empty());
    Status status = checkGGUFTokenizer(file->metadata());
    EXPECT_TRUE(status.isOk()) << status.message();
    auto tokens =
        file->metadata().array("tokenizer.ggml.tokens", GGUFType::String);
    ASSERT_TRUE(tokens);
    EXPECT_EQ(tokens->size, size);
    size_t count = 0;
    for (std::string_view token : tokens->strings())
      count += token.size() < 1000;
    EXPECT_EQ(count, size);
  }
}

TEST_F(RealModelsTest, TokenizerFilesParse) {
  for (const char *name : {"gpt2", "llama2", "llama3.1", "mistral-v1",
                           "qwen2.5", "smollm2", "tinyllama-chat"}) {
    SCOPED_TRACE(name);
    auto json = parseJsonFile(data + "/tokenizers/" + name + "/tokenizer.json");
    ASSERT_TRUE(json) << json.status().message();
    EXPECT_TRUE(json->contains("model"));
  }
}

} // namespace
