// RUN: llmir-checkpoint-tests --gtest_filter='GGUFTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFImage.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <fstream>

using namespace llmir;
using namespace llmir::test;

namespace {

class GGUFTest : public testing::Test {
protected:
  Expected<GGUFFile> parse(const GGUFImage &image) {
    return GGUFFile::open(folder.write("model.gguf", image.build()));
  }
  Expected<Checkpoint> open(const GGUFImage &image) {
    return Checkpoint::open(folder.write("model.gguf", image.build()));
  }
  TempFolder folder;
};

TEST_F(GGUFTest, ReadsTensorsInPlace) {
  auto file = parse(tinyGGUF());
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->version(), 3u);
  ASSERT_EQ(file->tensors().size(), 5u);
  const CheckpointTensor &table = file->tensors()[0];
  EXPECT_EQ(table.name, "token_embd.weight");
  EXPECT_EQ(table.shape, (std::vector<int64_t>{40, 64}));
  EXPECT_EQ(*table.usableFormat(), TensorFormat::Q8_0);
  EXPECT_EQ(table.bytes.size(), 40u * 64 / 32 * 34);
  EXPECT_EQ(table.shapeText(), "[40, 64]");
  EXPECT_EQ(table.numElements(), 2560);
  Span<const uint8_t> mapped = table.file->bytes();
  for (const CheckpointTensor &tensor : file->tensors()) {
    EXPECT_GE(tensor.bytes.begin(), mapped.begin()); // A view, not a copy.
    EXPECT_LE(tensor.bytes.end(), mapped.end());
    for (size_t i = 0; i < tensor.bytes.size(); ++i)
      ASSERT_EQ(tensor.bytes[i], uint8_t(i * 7 + tensor.name.size()));
  }
  EXPECT_EQ(*file->tensors()[2].format, TensorFormat::Q4_0);
  EXPECT_EQ(*file->tensors()[3].format, TensorFormat::BF16);
  EXPECT_EQ(*file->tensors()[4].format, TensorFormat::F16);
}

TEST_F(GGUFTest, ReadsVersion2AndOtherAlignments) {
  for (uint32_t alignment : {1, 8, 64, 4096}) {
    GGUFImage image = tinyGGUF();
    image.version = 2;
    image.alignment = alignment;
    image.set("general.alignment", alignment);
    auto file = parse(image);
    ASSERT_TRUE(file) << file.status().message();
    EXPECT_EQ(file->version(), 2u);
    const CheckpointTensor &last = file->tensors().back();
    for (size_t i = 0; i < last.bytes.size(); ++i)
      ASSERT_EQ(last.bytes[i], uint8_t(i * 7 + last.name.size()));
  }
}

TEST_F(GGUFTest, GivesTypedValues) {
  GGUFImage image = tinyGGUF();
  image.set("x.u64", uint64_t(1) << 63);
  image.set("x.i32", int32_t(-7));
  image.set("x.text", std::string("grüße"));
  auto file = parse(image);
  ASSERT_TRUE(file);
  const GGUFMetadata &keys = file->metadata();
  EXPECT_EQ(*keys.integer("llama.block_count"), 2);
  EXPECT_EQ(*keys.integer("x.i32", -10, 10), -7);
  EXPECT_EQ(*keys.integerOr("absent", 5), 5);
  EXPECT_EQ(*keys.number("llama.rope.freq_base"), 10000.0);
  EXPECT_EQ(*keys.number("llama.block_count"), 2.0);
  EXPECT_TRUE(*keys.booleanOr("tokenizer.ggml.add_bos_token", false));
  EXPECT_EQ(*keys.string("x.text"), "grüße");
  EXPECT_EQ(*keys.stringOr("absent", "x"), "x");
  EXPECT_EQ(keys.integer("absent").status().code(), StatusCode::NotFound);
  Status tooLarge = keys.integer("x.u64").takeStatus();
  EXPECT_EQ(tooLarge.code(), StatusCode::InvalidFile);
  EXPECT_NE(tooLarge.cause().find("model.gguf: 'x.u64' is 9223372036854775808 "
                                  "(u64); expected an integer (byte "),
            std::string::npos)
      << tooLarge.cause();
  EXPECT_FALSE(keys.integer("x.text"));
  EXPECT_FALSE(keys.booleanOr("x.text", true));
  EXPECT_FALSE(keys.string("x.i32"));
  EXPECT_FALSE(keys.number("x.text"));
  EXPECT_FALSE(keys.integer("x.i32", 0, 10));
}

TEST_F(GGUFTest, IteratesArraysWithoutCopies) {
  auto file = parse(tinyGGUF());
  ASSERT_TRUE(file);
  const GGUFMetadata &keys = file->metadata();
  auto tokens = keys.array("tokenizer.ggml.tokens", GGUFType::String);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->strings().size(), 40u);
  std::vector<std::string> texts;
  for (std::string_view token : tokens->strings())
    texts.emplace_back(token);
  ASSERT_EQ(texts.size(), 40u);
  EXPECT_EQ(texts[0], "<unk>");
  EXPECT_EQ(texts[39], "t39");
  EXPECT_EQ(tokens->integer(0), std::nullopt);
  auto scores = keys.array("tokenizer.ggml.scores", GGUFType::F32);
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->number(3), -1.5);
  EXPECT_EQ(scores->number(40), std::nullopt);
  EXPECT_EQ(scores->strings().size(), 0u);
  auto types = keys.integerArray("tokenizer.ggml.token_type");
  ASSERT_TRUE(types);
  EXPECT_EQ(types->integer(3), 6);
  EXPECT_FALSE(keys.array("tokenizer.ggml.scores", GGUFType::F64));
  EXPECT_FALSE(keys.integerArray("tokenizer.ggml.scores"));
}

TEST_F(GGUFTest, AcceptsAVocabularyAlone) {
  GGUFImage image = tinyGGUF();
  image.tensors.clear();
  auto file = parse(image);
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_TRUE(file->tensors().empty());
  EXPECT_TRUE(checkGGUFTokenizer(file->metadata()).isOk());
}

TEST_F(GGUFTest, ListsTypesThatItCannotUse) {
  GGUFImage image = tinyGGUF();
  image.add("blk.1.attn_q.weight", {2, 256}, 15);
  image.tensors.back().bytes = 2 * 292;
  image.add("blk.1.attn_k.weight", {2, 64}, 0);
  auto file = parse(image);
  ASSERT_TRUE(file) << file.status().message();
  const CheckpointTensor &q8k = file->tensors()[5];
  EXPECT_EQ(q8k.bytes.size(), 584u);
  EXPECT_EQ(q8k.storageName, "q8_k");
  auto format = q8k.usableFormat();
  ASSERT_FALSE(format);
  EXPECT_EQ(format.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(format.status().cause(),
            "model.gguf: tensor 'blk.1.attn_q.weight' is stored as q8_k, which "
            "LLMIR does not support");
}

// Two tables have the sizes of blocks: that of the container's types and that
// of the formats LLMIR computes with.
TEST_F(GGUFTest, AllFormatsHaveTheBytesOfTheirBlocks) {
  for (TensorFormat format : {
#define LLMIR_TENSOR_FORMAT(Enum, ...) TensorFormat::Enum,
#include "llmir/Support/TensorFormats.def"
       }) {
    const TensorFormatInfo &info = tensorFormatInfo(format);
    if (info.ggufType < 0)
      continue;
    GGUFImage image = tinyGGUF();
    image.add("blk.1.attn_q.weight", {2, 512},
              static_cast<uint32_t>(info.ggufType));
    auto file = parse(image);
    ASSERT_TRUE(file) << file.status().message();
    const CheckpointTensor &tensor = file->tensors()[5];
    EXPECT_EQ(tensor.format, format);
    EXPECT_EQ(tensor.storageName, info.name);
    EXPECT_EQ(tensor.bytes.size(),
              static_cast<size_t>(2 * *tensorRowBytes(format, 512)));
  }
}

TEST_F(GGUFTest, OpensAsACheckpoint) {
  auto model = open(tinyGGUF());
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->kind(), CheckpointKind::GGUF);
  ASSERT_NE(model->gguf(), nullptr);
  EXPECT_EQ(*model->gguf()->string("tokenizer.ggml.model"), "llama");
  const ModelConfig &config = model->config();
  EXPECT_EQ(config.modelName, "tiny");
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.vocabSize, 40);
  EXPECT_EQ(config.hiddenSize, 64);
  EXPECT_EQ(config.intermediateSize, 96);
  EXPECT_EQ(config.numLayers, 2);
  EXPECT_EQ(config.numHeads, 4);
  EXPECT_EQ(config.numKVHeads, 2);
  EXPECT_EQ(config.headDim, 16);
  EXPECT_EQ(config.rotaryDim, 16);
  EXPECT_EQ(config.contextLength, 128);
  EXPECT_EQ(config.normEps, double(1e-5f));
  EXPECT_TRUE(config.tieWordEmbeddings);
  EXPECT_TRUE(config.adjacentPairRotation);
  EXPECT_FALSE(config.ropeFrequencyDivisors);
  EXPECT_FALSE(config.qkvBias || config.mlpBias || config.qkNorm);
  EXPECT_EQ(config.bosToken, 1);
  EXPECT_EQ(config.eosTokens, std::vector<int64_t>{2});
  EXPECT_NE(model->find("blk.0.ffn_down.weight"), nullptr);
  EXPECT_EQ(model->find("blk.0.ffn_down.bias"), nullptr);
  EXPECT_EQ(model->tensor("nope").status().code(), StatusCode::NotFound);
  // Moving leaves every view valid.
  Checkpoint moved = std::move(*model);
  EXPECT_EQ(*moved.gguf()->string("general.name"), "tiny");
  EXPECT_EQ(moved.find("output_norm.weight")->bytes.size(), 256u);
}

TEST_F(GGUFTest, ReadsSamplingParameters) {
  GGUFImage image = tinyGGUF();
  auto model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_FALSE(model->config().generation.doSample);
  image.set("general.sampling.penalty_repeat", 1.25f);
  model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_FALSE(model->config().generation.doSample);
  EXPECT_EQ(model->config().generation.repetitionPenalty, 1.25);
  image.set("general.sampling.temp", 0.5f);
  image.set("general.sampling.top_k", int32_t(20));
  image.set("general.sampling.top_p", 0.75f);
  image.set("general.sampling.min_p", 0.125f);
  image.set("general.sampling.mirostat", int32_t(0)); // Is ignored.
  model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  const GenerationDefaults &defaults = model->config().generation;
  EXPECT_TRUE(defaults.doSample);
  EXPECT_EQ(defaults.temperature, 0.5);
  EXPECT_EQ(defaults.topK, 20);
  EXPECT_EQ(defaults.topP, 0.75);
  EXPECT_EQ(defaults.minP, 0.125);
}

TEST_F(GGUFTest, ReadsVariants) {
  GGUFImage image = tinyGGUF();
  image.set("llama.rope.scaling.type", std::string("linear"));
  image.set("llama.rope.scaling.factor", 4.0f);
  image.set("tokenizer.ggml.eot_token_id", uint32_t(7));
  image.setIntegers("llama.attention.head_count_kv", {2, 2});
  image.erase("general.name");
  image.add("output.weight", {40, 64}, 0);
  image.add("rope_freqs.weight", {8}, 0);
  image.add("blk.0.attn_q.bias", {64}, 0);
  image.add("blk.0.attn_output.bias", {64}, 0);
  auto model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  const ModelConfig &config = model->config();
  EXPECT_EQ(config.modelName, "model");
  EXPECT_EQ(config.ropeScaling.kind, RopeScaling::Linear);
  EXPECT_EQ(config.ropeScaling.factor, 4.0);
  EXPECT_EQ(config.eosTokens, (std::vector<int64_t>{2, 7}));
  EXPECT_FALSE(config.tieWordEmbeddings);
  EXPECT_TRUE(config.ropeFrequencyDivisors);
  EXPECT_TRUE(config.qkvBias);
  EXPECT_TRUE(config.attentionOutputBias);

  GGUFImage qwen = tinyGGUF();
  for (GGUFImage::Key &key : qwen.keys)
    if (key.name.substr(0, 6) == "llama.")
      key.name = "qwen3." + key.name.substr(6);
  qwen.set("general.architecture", std::string("qwen3"));
  qwen.set("qwen3.attention.key_length", uint32_t(32));
  qwen.set("qwen3.attention.value_length", uint32_t(32));
  qwen.erase("qwen3.rope.dimension_count");
  auto three = open(qwen);
  ASSERT_TRUE(three) << three.status().message();
  EXPECT_EQ(three->config().architecture, "qwen3");
  EXPECT_EQ(three->config().headDim, 32);
  EXPECT_EQ(three->config().rotaryDim, 32);
  EXPECT_TRUE(three->config().qkNorm);
  EXPECT_FALSE(three->config().adjacentPairRotation);
}

TEST_F(GGUFTest, IgnoresSharedExpertsWithoutSizes) {
  GGUFImage image = tinyGGUF();
  image.set("llama.expert_count", uint32_t(8));
  image.set("llama.expert_used_count", uint32_t(2));
  image.add("blk.0.ffn_up_shexp.weight", {}, 0); // A single number.
  auto model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->config().experts.sharedInnerSize, 0);
}

TEST_F(GGUFTest, ReadsGPT2) {
  GGUFImage image = tinyGGUF();
  for (GGUFImage::Key &key : image.keys)
    if (key.name.substr(0, 6) == "llama.")
      key.name = "gpt2." + key.name.substr(6);
  image.set("general.architecture", std::string("gpt2"));
  image.erase("gpt2.attention.layer_norm_rms_epsilon");
  image.erase("gpt2.rope.dimension_count");
  image.set("gpt2.attention.layer_norm_epsilon", 1e-4f);
  image.set("gpt2.attention.head_count_kv", uint32_t(4));
  image.add("blk.0.attn_qkv.bias", {192}, 0);
  auto model = open(image);
  ASSERT_TRUE(model) << model.status().message();
  const ModelConfig &config = model->config();
  EXPECT_EQ(config.architecture, "gpt2");
  EXPECT_EQ(config.normEps, double(1e-4f));
  EXPECT_EQ(config.rotaryDim, 0);
  EXPECT_TRUE(config.learnedPositions && config.qkvBias);
  EXPECT_FALSE(config.adjacentPairRotation);

  GGUFImage grouped = image;
  grouped.set("gpt2.attention.head_count_kv", uint32_t(2));
  auto refused = open(grouped);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::Unsupported);
  EXPECT_NE(refused.status().message().find("'gpt2.attention.head_count_kv'"),
            std::string::npos);
  GGUFImage wide = image;
  wide.set("gpt2.attention.key_length", uint32_t(32));
  wide.set("gpt2.attention.value_length", uint32_t(32));
  auto odd = open(wide);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.status().code(), StatusCode::Unsupported);
  EXPECT_NE(odd.status().message().find("'gpt2.attention.key_length' is 32"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Models in several parts
//===----------------------------------------------------------------------===//

/// tinyGGUF in `count` parts: the keys and two tensors in the first, one tensor
/// in each other.
std::vector<GGUFImage> splitModel(uint16_t count) {
  GGUFImage whole = tinyGGUF();
  std::vector<GGUFImage> parts(count);
  parts[0] = whole;
  parts[0].tensors.resize(2);
  for (uint16_t i = 0; i < count; ++i) {
    if (i > 0)
      parts[i].tensors.push_back(whole.tensors[1 + i]);
    parts[i].keys.push_back({"split.no", 2, bytesOf(i), {}});
    parts[i].keys.push_back({"split.count", 2, bytesOf(count), {}});
    parts[i].set("split.tensors.count", int32_t(1 + count));
  }
  return parts;
}

std::string writeParts(const TempFolder &folder,
                       const std::vector<GGUFImage> &parts) {
  std::string tail = "-of-0000" + std::to_string(parts.size()) + ".gguf";
  for (size_t i = parts.size(); i-- > 0;)
    folder.write("m-0000" + std::to_string(i + 1) + tail, parts[i].build());
  return folder / ("m-00001" + tail);
}

TEST_F(GGUFTest, ReadsModelsInParts) {
  auto model = Checkpoint::open(writeParts(folder, splitModel(3)));
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->tensors().size(), 4u);
  EXPECT_EQ(model->files().size(), 3u);
  const CheckpointTensor *k = model->find("blk.0.attn_k.weight");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->file->name(), "m-00003-of-00003.gguf");
}

TEST_F(GGUFTest, RefusesIncompleteParts) { // G17
  struct Case {
    const char *what;
    void (*harm)(const TempFolder &, std::vector<GGUFImage> &);
    StatusCode code;
    std::vector<std::string> texts;
  };
  const Case cases[] = {
      {"wrong split.no",
       [](const TempFolder &, std::vector<GGUFImage> &parts) {
         parts[2].key("split.no").payload = bytesOf(uint16_t(1));
       },
       StatusCode::InvalidFile,
       {"m-00003-of-00003.gguf", "'split.no' is 1", "expected 2"}},
      {"wrong split.count",
       [](const TempFolder &, std::vector<GGUFImage> &parts) {
         parts[1].key("split.count").payload = bytesOf(uint16_t(4));
       },
       StatusCode::InvalidFile,
       {"m-00002-of-00003.gguf", "'split.count' is 4"}},
      {"wrong split.tensors.count",
       [](const TempFolder &, std::vector<GGUFImage> &parts) {
         parts[0].set("split.tensors.count", int32_t(9));
       },
       StatusCode::InvalidFile,
       {"'split.tensors.count' is 9", "hold 4 tensors"}},
      {"a tensor twice",
       [](const TempFolder &, std::vector<GGUFImage> &parts) {
         parts[2].tensors = parts[1].tensors;
       },
       StatusCode::InvalidFile,
       {"blk.0.attn_q.weight", "m-00002-of-00003.gguf",
        "m-00003-of-00003.gguf"}},
      {"a part without its keys",
       [](const TempFolder &, std::vector<GGUFImage> &parts) {
         parts[1].keys.clear();
       },
       StatusCode::NotFound,
       {"m-00002-of-00003.gguf", "'split.no' is missing"}},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.what);
    std::vector<GGUFImage> parts = splitModel(3);
    one.harm(folder, parts);
    std::string path = writeParts(folder, parts);
    expectRefusal({one.code, one.texts}, std::filesystem::file_size(path),
                  [&] { return Checkpoint::open(path).takeStatus(); });
  }

  std::string path = writeParts(folder, splitModel(3));
  std::filesystem::remove(folder / "m-00002-of-00003.gguf");
  expectRefusal({StatusCode::NotFound, {"m-00002-of-00003.gguf"}}, 4096,
                [&] { return Checkpoint::open(path).takeStatus(); });
  expectRefusal(
      {StatusCode::InvalidArgument, {"part 3 of 3", "m-00001-of"}}, 4096, [&] {
        return Checkpoint::open(folder / "m-00003-of-00003.gguf").takeStatus();
      });
  std::filesystem::rename(path, folder / "renamed.gguf");
  expectRefusal(
      {StatusCode::InvalidArgument, {"renamed.gguf", "'split.count' is 3"}},
      4096,
      [&] { return Checkpoint::open(folder / "renamed.gguf").takeStatus(); });
}

} // namespace
