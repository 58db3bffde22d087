// RUN: llmir-checkpoint-tests --gtest_filter='CheckpointTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFImage.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <sys/stat.h>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr const char *tinyConfig =
    R"({"model_type":"llama","vocab_size":4,"hidden_size":8,)"
    R"("intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
    R"("max_position_embeddings":16,"rms_norm_eps":1e-5})";

std::string oneTensor(const std::string &name) {
  std::string header = "{\"" + name +
                       R"(":{"dtype":"F32","shape":[4,8],)"
                       R"("data_offsets":[0,128]}})";
  return bytesOf(uint64_t(header.size())) + header + std::string(128, 'x');
}

class CheckpointTest : public testing::Test {
protected:
  Expected<Checkpoint> open() { return Checkpoint::open(folder.path()); }
  void expectRefused(StatusCode code, std::vector<std::string> texts) {
    expectRefusal({code, std::move(texts)}, 4096,
                  [&] { return open().takeStatus(); });
  }
  TempFolder folder;
};

TEST_F(CheckpointTest, OpensAFolder) {
  folder.write("config.json", tinyConfig);
  folder.write("generation_config.json", R"({"eos_token_id":[2,3]})");
  folder.write("model.safetensors", oneTensor("model.embed_tokens.weight"));
  auto model = open();
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->kind(), CheckpointKind::HuggingFace);
  EXPECT_EQ(model->gguf(), nullptr);
  EXPECT_EQ(model->path(), folder.path());
  EXPECT_EQ(model->config().modelName,
            std::filesystem::path(folder.path()).filename());
  EXPECT_EQ(model->config().eosTokens, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(model->config().tieWordEmbeddings);
  EXPECT_EQ(model->files().size(), 3u);
  EXPECT_EQ(model->files()[0]->name(), "model.safetensors");
  EXPECT_GT(model->files()[0]->modifiedNs(), 0);
  const CheckpointTensor *table = model->find("model.embed_tokens.weight");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->bytes[0], 'x');
  EXPECT_EQ(*model->tensor("model.embed_tokens.weight"), table);

  folder.write("model.safetensors", oneTensor("lm_head.weight"));
  auto untied = open();
  ASSERT_TRUE(untied);
  EXPECT_FALSE(untied->config().tieWordEmbeddings);
  EXPECT_NE(untied->tensor("x").status().cause().find(folder.path()),
            std::string::npos);
}

TEST_F(CheckpointTest, RefusesFoldersWithoutAModel) {
  expectRefused(StatusCode::NotFound, {folder.path(), "no config.json"});
  folder.write("config.json", tinyConfig);
  expectRefused(StatusCode::NotFound,
                {folder.path(), "neither model.safetensors nor"});
  folder.write("other.gguf", "GGUF");
  expectRefused(StatusCode::NotFound, {folder.path(), "'other.gguf'"});
}

TEST_F(CheckpointTest, NeverReadsPickles) {
  folder.write("config.json", tinyConfig);
  for (const char *name : {"pytorch_model.bin", "model.pt", "model.pth",
                           "model.ckpt", "pytorch_model-00001-of-00002.bin"}) {
    SCOPED_TRACE(name);
    folder.write(name, "\x80\x02}q");
    expectRefused(StatusCode::Unsupported, {name, "pickle", "never reads"});
    expectRefusal({StatusCode::Unsupported, {name, "pickle"}}, 4096,
                  [&] { return Checkpoint::open(folder / name).takeStatus(); });
    std::filesystem::remove(folder / name);
  }
  // Beside safetensors they do no harm.
  folder.write("pytorch_model.bin", "\x80\x02}q");
  folder.write("model.safetensors", oneTensor("w"));
  EXPECT_TRUE(open());
}

TEST_F(CheckpointTest, RefusesOtherPaths) {
  auto refuse = [&](const std::string &path, StatusCode code,
                    std::vector<std::string> texts) {
    SCOPED_TRACE(path);
    expectRefusal({code, std::move(texts)}, 4096,
                  [&] { return Checkpoint::open(path).takeStatus(); });
  };
  refuse(folder / "absent", StatusCode::NotFound, {"there is no", "absent"});
  refuse("", StatusCode::NotFound, {"there is no"});
  refuse(folder.write("a.safetensors", oneTensor("w")),
         StatusCode::InvalidArgument, {"a.safetensors", "give the directory"});
  refuse(folder.write("a.txt", "hello"), StatusCode::InvalidArgument,
         {"a.txt", "not a checkpoint"});
  refuse(folder.write("a.gguf", ""), StatusCode::InvalidFile, {"a.gguf"});
  ASSERT_EQ(mkfifo((folder / "pipe.gguf").c_str(), 0600), 0);
  refuse(folder / "pipe.gguf", StatusCode::InvalidFile,
         {"pipe.gguf", "not a regular file"});
  refuse("/dev/zero", StatusCode::InvalidFile, {"/dev/zero"});
  // A GGUF file by any name.
  EXPECT_TRUE(Checkpoint::open(folder.write("blob", tinyGGUF().build())));
}

TEST_F(CheckpointTest, RefusesBadJsonFiles) {
  folder.write("model.safetensors", oneTensor("w"));
  std::string deep(100000, '[');
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"", {"config.json", "byte"}},
      {"[1]", {"config.json", "an array"}},
      {"{\"model_type\": NaN}", {"config.json", "byte 16"}},
      {"{\"a\": 1e999}", {"config.json", "1e999"}},
      {"{\"a\": \"\xff\"}", {"config.json", "UTF-8", "byte 8"}},
      {"{\"a\": 1, \"a\": 2}",
       {"config.json", "'a' is given twice", "byte 12"}},
      {"{\"a\": " + deep, {"config.json", "deeper than 64", "byte 70"}},
      {std::string(5 << 20, ' '), {"config.json", "at most 4194304"}},
  };
  for (const auto &[text, texts] : cases) {
    SCOPED_TRACE(text.substr(0, 40));
    folder.write("config.json", text);
    expectRefused(StatusCode::InvalidFile, texts);
  }
  folder.write("config.json", tinyConfig);
  folder.write("generation_config.json", "{");
  expectRefused(StatusCode::InvalidFile, {"generation_config.json", "byte 2"});
  std::filesystem::remove(folder / "generation_config.json");
  folder.write("model.safetensors", "123");
  expectRefused(StatusCode::InvalidFile, {"model.safetensors", "3 bytes"});
  // auto_map names code to run: it is looked past.
  folder.write("model.safetensors", oneTensor("w"));
  std::string mapped = tinyConfig;
  mapped.insert(1, R"("auto_map":{"AutoModel":"evil.Model"},)");
  folder.write("config.json", mapped);
  EXPECT_TRUE(open());
}

} // namespace
