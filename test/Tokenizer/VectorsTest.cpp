// RUN: llmir-tokenizer-tests --gtest_filter='*VectorsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Real tokenizers against recorded ids of the reference implementation.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "llmir/Tokenizer/FromGGUF.h"
#include "llmir/Tokenizer/StreamDecoder.h"

#include <fstream>
#include <sstream>

using namespace llmir;

namespace {

std::vector<Json> readLines(const std::string &path) {
  std::ifstream in(path);
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) {
    Expected<Json> json = parseJson(line, path);
    EXPECT_TRUE(json) << json.status().message();
    if (json)
      lines.push_back(*json);
  }
  return lines;
}

std::string streamed(const Tokenizer &tokenizer, const Ids &ids) {
  StreamDecoderOptions options;
  options.skipSpecialTokens = false;
  StreamDecoder stream(tokenizer, options);
  std::string text;
  for (int32_t id : ids) {
    std::string piece = stream.feed(id);
    EXPECT_TRUE(isValidUtf8(piece)) << printable(piece);
    text += piece;
  }
  return text + stream.flush();
}

void checkVector(const Tokenizer &tokenizer, const Json &vector) {
  std::string text = vector["text"];
  SCOPED_TRACE(printable(text, 200));
  EncodeOptions plain;
  plain.addSpecialTokens = false;
  Expected<Ids> ids = tokenizer.encode(text);
  Expected<Ids> plainIds = tokenizer.encode(text, plain);
  ASSERT_TRUE(ids) << ids.status().message();
  ASSERT_TRUE(plainIds) << plainIds.status().message();
  EXPECT_EQ(*ids, vector["ids"].get<Ids>());
  EXPECT_EQ(*plainIds, vector["ids_nospecial"].get<Ids>());
  EXPECT_EQ(tokenizer.decode(*plainIds), vector["decoded"]);
  EXPECT_EQ(tokenizer.decode(*ids, true), vector["decoded_skip_special"]);
  EXPECT_EQ(streamed(tokenizer, *plainIds), vector["decoded"]);
}

class VectorsTest : public testing::TestWithParam<const char *> {};

TEST_P(VectorsTest, Folder) {
  std::string folder = testData("tokenizers/" + std::string(GetParam()));
  if (folder.empty())
    GTEST_SKIP() << "no test data: set LLMIR_TEST_DATA";
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(folder);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  std::vector<uint8_t> stored = tokenizer->serialize();
  Expected<Tokenizer> loaded = Tokenizer::load(stored);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->serialize(), stored);
  std::vector<Json> vectors = readLines(folder + "/vectors.dev.jsonl");
  EXPECT_GT(vectors.size(), 100u);
  for (const Json &vector : vectors) {
    checkVector(*tokenizer, vector);
    checkVector(*loaded, vector);
  }
}

class VectorsTestChat : public testing::TestWithParam<const char *> {};

/// Rendered conversations: no special tokens are added, those spelled count.
TEST_P(VectorsTestChat, Rendered) {
  std::string folder = testData("tokenizers/" + std::string(GetParam()));
  if (folder.empty())
    GTEST_SKIP() << "no test data: set LLMIR_TEST_DATA";
  std::vector<Json> chats = readLines(folder + "/chat.jsonl");
  EXPECT_GT(chats.size(), 10u);
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(folder);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EncodeOptions plain;
  plain.addSpecialTokens = false;
  for (const Json &chat : chats) {
    if (!chat.contains("rendered") || !chat["rendered"].is_string() ||
        !chat.contains("ids"))
      continue;
    Expected<Ids> ids =
        tokenizer->encode(chat["rendered"].get<std::string>(), plain);
    ASSERT_TRUE(ids) << ids.status().message();
    EXPECT_EQ(*ids, chat["ids"].get<Ids>()) << chat["name"];
  }
}

/// A name that GoogleTest accepts.
std::string caseName(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, VectorsTest,
                         testing::Values("gpt2", "llama2", "llama3.1",
                                         "minimind2", "mistral-v1", "qwen2.5",
                                         "smollm2", "tinyllama-chat"),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Tokenizers, VectorsTestChat,
                         testing::Values("llama3.1", "minimind2", "mistral-v1",
                                         "qwen2.5", "smollm2",
                                         "tinyllama-chat"),
                         caseName);

class VectorsTestGGUF : public testing::TestWithParam<const char *> {};

/// The inputs, separated by a marker line, and one line of ids for each.
TEST_P(VectorsTestGGUF, Vocabulary) {
  std::string path =
      testData("gguf-vocab/ggml-vocab-" + std::string(GetParam()) + ".gguf");
  if (path.empty())
    GTEST_SKIP() << "no test data: set LLMIR_TEST_DATA";
  Expected<GGUFFile> file = GGUFFile::open(path);
  ASSERT_TRUE(file) << file.status().message();
  Expected<Tokenizer> tokenizer = tokenizerFromGGUF(file->metadata());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();

  std::ifstream in(path + ".inp");
  std::stringstream all;
  all << in.rdbuf();
  std::string inputs = all.str();
  constexpr std::string_view marker = "\n__ggml_vocab_test__\n";
  std::ifstream out(path + ".out");
  size_t compared = 0;
  for (std::string line; std::getline(out, line); ++compared) {
    size_t end = inputs.find(marker);
    std::string text = inputs.substr(0, end);
    inputs.erase(0, end == std::string::npos ? end : end + marker.size());
    Ids expected;
    std::istringstream numbers(line);
    for (int32_t id; numbers >> id;)
      expected.push_back(id);
    EncodeOptions plain;
    plain.addSpecialTokens = false;
    Expected<Ids> ids = tokenizer->encode(text, plain);
    ASSERT_TRUE(ids) << ids.status().message();
    EXPECT_EQ(*ids, expected) << printable(text, 200);
    EXPECT_EQ(streamed(*tokenizer, *ids), tokenizer->decode(*ids));
  }
  EXPECT_GT(compared, 40u);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, VectorsTestGGUF,
                         testing::Values("gpt-2", "llama-spm", "phi-3",
                                         "qwen2"),
                         caseName);

/// One vocabulary as SentencePiece model and in four GGUF files: all agree, and
/// with the recorded prompts.
TEST(VectorsTest, Stories) {
  std::string folder = testData("models/stories260K");
  if (folder.empty())
    GTEST_SKIP() << "no test data: set LLMIR_TEST_DATA";
  Expected<Tokenizer> fromModel = Tokenizer::fromFolder(folder + "/hf");
  ASSERT_TRUE(fromModel) << fromModel.status().message();
  std::vector<Tokenizer> all = {*fromModel};
  for (const char *name : {"f32", "f16", "q8", "q4"}) {
    Expected<GGUFFile> file =
        GGUFFile::open(folder + "/stories260K-" + name + ".gguf");
    ASSERT_TRUE(file) << file.status().message();
    Expected<Tokenizer> tokenizer = tokenizerFromGGUF(file->metadata());
    ASSERT_TRUE(tokenizer) << tokenizer.status().message();
    all.push_back(*tokenizer);
  }
  for (const Json &line : readLines(folder + "/expected.jsonl")) {
    std::string prompt = line["prompt"];
    for (const Tokenizer &tokenizer : all) {
      Expected<Ids> ids = tokenizer.encode(prompt);
      ASSERT_TRUE(ids) << ids.status().message();
      EXPECT_EQ(*ids, line["prompt_ids"].get<Ids>()) << prompt;
      EXPECT_EQ(tokenizer.decode(*ids, true), prompt);
      EXPECT_EQ(tokenizer.bosId(), 1);
      EXPECT_EQ(tokenizer.eosId(), 2);
    }
  }
}

} // namespace
