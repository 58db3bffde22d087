// RUN: llmir-tokenizer-tests --gtest_filter='FilesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of other forms: tekken.json, tiktoken, vocab.txt, vocab.json with
// merges.txt.
//
//===----------------------------------------------------------------------===//

#include "Base64.h"
#include "TestSupport.h"

#include <filesystem>
#include <fstream>
#include <functional>

using namespace llmir;

namespace {

std::string base64(const std::string &bytes) {
  constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 |
             (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

TEST(FilesTest, Base64) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 40; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
      bytes += static_cast<char>(random());
    EXPECT_EQ(decodeBase64(base64(bytes)), bytes);
  }
  for (const char *bad : {"a", "ab*d", "ab=d", "abcde", "====", "a b c"})
    EXPECT_FALSE(decodeBase64(bad)) << bad;
  EXPECT_EQ(decodeBase64("aGk"), "hi"); // Without padding.
}

//===----------------------------------------------------------------------===//
// tekken.json
//===----------------------------------------------------------------------===//

/// All bytes, "he", "ll", "hell", "hello", "lo", "unused"; 30 special tokens.
Json tekken() {
  Json vocab = Json::array();
  auto add = [&](const std::string &bytes) {
    vocab.push_back({{"rank", vocab.size()},
                     {"token_bytes", base64(bytes)},
                     {"token_str", nullptr}});
  };
  for (int byte = 0; byte < 256; ++byte)
    add(std::string(1, static_cast<char>(byte)));
  for (const char *text : {"he", "ll", "hell", "hello", "lo", "unused"})
    add(text);
  return {{"config",
           {{"pattern", " ?[a-z]+|[^a-z]"},
            {"num_vocab_tokens", 262},
            {"default_vocab_size", 30 + 261},
            {"default_num_special_tokens", 30},
            {"version", "v3"}}},
          {"vocab", vocab}};
}
constexpr int32_t heId = 30 + 256, llId = heId + 1, helloId = heId + 3,
                  loId = heId + 4;

TEST(FilesTest, TekkenMergesByRank) {
  Expected<Tokenizer> tokenizer = fromJson(tekken());
  EXPECT_EQ(encode(tokenizer, "hello"), (Ids{1, helloId}));
  // " hello" is no token: its merges by rank.
  EXPECT_EQ(encode(tokenizer, " hello"), (Ids{1, 30 + ' ', helloId}));
  EXPECT_EQ(encode(tokenizer, "heello"),
            (Ids{1, heId, 30 + 'e', llId, 30 + 'o'}));
  EXPECT_EQ(encode(tokenizer, "alo"), (Ids{1, 30 + 'a', loId}));
  EXPECT_EQ(encode(tokenizer, "[INST]\xC3\xA9"),
            (Ids{1, 3, 30 + 0xc3, 30 + 0xa9}));
  EXPECT_EQ(tokenizer->decode(encode(tokenizer, " hello\u00e9"), true),
            " hello\u00e9");
  // Ranks beyond the vocabulary's size do not count.
  EXPECT_EQ(tokenizer->vocabSize(), 291);
  EXPECT_FALSE(tokenizer->tokenId("unused"));
  EXPECT_EQ(tokenizer->tokenId("<SPECIAL_29>"), 29);
  EXPECT_EQ(tokenizer->bosId(), 1);
  EXPECT_EQ(tokenizer->eosId(), 2);
}

TEST(FilesTest, TekkenListsSpecialTokens) {
  Json json = tekken();
  json["special_tokens"] = Json::array();
  for (const char *text : {"<unk>", "<s>", "</s>", "[THINK]"})
    json["special_tokens"].push_back({{"rank", json["special_tokens"].size()},
                                      {"token_str", text},
                                      {"is_control", true}});
  json["special_tokens"][3]["is_control"] = false;
  Expected<Tokenizer> tokenizer = fromJson(json);
  EXPECT_EQ(encode(tokenizer, "[THINK]hello"), (Ids{1, 3, helloId}));
  EXPECT_FALSE(tokenizer->isSpecial(3));
  EXPECT_EQ(tokenizer->tokenId("<SPECIAL_4>"), 4);
}

TEST(FilesTest, RefusesBadTekken) {
  const std::tuple<const char *, const char *, std::function<void(Json &)>>
      cases[] = {
          {"no vocabulary", "vocab", [](Json &j) { j["vocab"] = 5; }},
          {"vocabulary of numbers", "vocab",
           [](Json &j) { j["vocab"] = {1, 2}; }},
          {"no rank", "entry 3", [](Json &j) { j["vocab"][3].erase("rank"); }},
          {"rank a text", "entry 3",
           [](Json &j) { j["vocab"][3]["rank"] = "3"; }},
          {"rank negative", "entry 3",
           [](Json &j) { j["vocab"][3]["rank"] = -3; }},
          {"rank twice", "both", [](Json &j) { j["vocab"][3]["rank"] = 4; }},
          {"bytes twice", "both",
           [](Json &j) { j["vocab"][3]["token_bytes"] = "AA=="; }},
          {"no base64", "entry 3",
           [](Json &j) { j["vocab"][3]["token_bytes"] = "*"; }},
          {"bytes empty", "entry 3",
           [](Json &j) { j["vocab"][3]["token_bytes"] = ""; }},
          {"token too long", "bytes long",
           [](Json &j) {
             j["vocab"][260]["token_bytes"] = base64(std::string(3000, 'a'));
           }},
          {"no pattern", "pattern",
           [](Json &j) { j["config"].erase("pattern"); }},
          {"pattern does not compile", "compile",
           [](Json &j) { j["config"]["pattern"] = "(a"; }},
          {"size missing", "default_vocab_size",
           [](Json &j) { j["config"].erase("default_vocab_size"); }},
          {"size too large", "default_vocab_size",
           [](Json &j) { j["config"]["default_vocab_size"] = 1e18; }},
          {"many special tokens", "default_num_special_tokens",
           [](Json &j) {
             j["config"]["default_vocab_size"] = UINT64_MAX;
             j["config"]["default_num_special_tokens"] = UINT64_MAX - 1;
           }},
          {"fewer than special tokens", "default_vocab_size",
           [](Json &j) { j["config"]["default_vocab_size"] = 3; }},
          {"special token without text", "special_tokens",
           [](Json &j) { j["special_tokens"] = {{{"rank", 1}}}; }},
          {"special rank", "has rank 30", [](Json &j) {
             j["special_tokens"] = {{{"rank", 30}, {"token_str", "x"}}};
           }}};
  for (const auto &[what, mentions, spoil] : cases) {
    Json json = tekken();
    spoil(json);
    Expected<Tokenizer> tokenizer = fromJson(json);
    ASSERT_FALSE(tokenizer) << what;
    EXPECT_NE(tokenizer.status().cause().find(mentions), std::string::npos)
        << what << ": " << tokenizer.status().cause();
  }
}

//===----------------------------------------------------------------------===//
// tiktoken
//===----------------------------------------------------------------------===//

/// The bytes, then pairs and triples of letters, as many as GPT-2 has tokens.
std::string tiktoken(size_t count = 50256) {
  std::string lines;
  size_t rank = 0;
  auto add = [&](const std::string &bytes) {
    if (rank < count)
      lines += base64(bytes) + " " + std::to_string(rank++) + "\n";
  };
  for (int byte = 0; byte < 256; ++byte)
    add(std::string(1, static_cast<char>(byte)));
  const std::string letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (char a : letters)
    for (char b : letters)
      add({a, b});
  for (char a : letters)
    for (char b : letters)
      for (char c : letters)
        add({a, b, c});
  return lines;
}

TEST(FilesTest, TiktokenIsKnownByItsSize) {
  Expected<Tokenizer> tokenizer = Tokenizer::fromSentencePiece(tiktoken());
  const int32_t ab = 257, aab = 256 + 52 * 52 + 1;
  EXPECT_EQ(encode(tokenizer, "ab a"), (Ids{ab, ' ', 'a'}));
  EXPECT_EQ(encode(tokenizer, "aab"), (Ids{aab}));
  // The smallest rank merges first, not the longest token.
  EXPECT_EQ(encode(tokenizer, "aabb"), (Ids{256, 256 + 53}));
  EXPECT_EQ(encode(tokenizer, "<|endoftext|>"), (Ids{50256}));
  EXPECT_EQ(tokenizer->eosId(), 50256);
  tokenizer =
      Tokenizer::fromSentencePiece(tiktoken(), R"({"added_tokens_decoder": {
          "50256": {"content": "<end>", "special": true},
          "50260": {"content": "<more>"}}, "eos_token": "<end>"})");
  EXPECT_EQ(encode(tokenizer, "<end><more>"), (Ids{50256, 50260}));
  EXPECT_EQ(tokenizer->eosId(), 50256);
}

TEST(FilesTest, RefusesBadTiktoken) {
  const std::string lines = tiktoken(300);
  const std::pair<std::string, const char *> cases[] = {
      {lines, "300 tokens"},
      {lines + "YWJj\n", "line 301"},
      {lines + "YWJj x\n", "line 301"},
      {lines + "YWJj -1\n", "line 301"},
      {lines + "* 300\n", "line 301"},
      {lines + "YWJj 99999999999\n", "line 301"},
      {lines + "YWJj 5 6\n", "line 301"}};
  for (const auto &[text, mentions] : cases) {
    Expected<Tokenizer> tokenizer =
        Tokenizer::fromSentencePiece(text, {}, "x.tiktoken");
    ASSERT_FALSE(tokenizer) << mentions;
    EXPECT_NE(tokenizer.status().cause().find(mentions), std::string::npos)
        << tokenizer.status().cause();
    EXPECT_EQ(tokenizer.status().cause().find("x.tiktoken"), 0u);
  }
  std::string twice = tiktoken();
  twice.replace(twice.rfind(' '), std::string::npos, " 7\n");
  EXPECT_FALSE(Tokenizer::fromSentencePiece(twice));
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// A folder with these files, removed afterwards.
class Folder {
public:
  explicit Folder(
      std::initializer_list<std::pair<const char *, std::string>> files)
      : path(testing::TempDir() + "llmir-tokenizer-files-" +
             std::to_string(reinterpret_cast<uintptr_t>(this))) {
    std::filesystem::create_directory(path);
    for (auto &[name, text] : files)
      std::ofstream(path + "/" + name, std::ios::binary) << text;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string path;
};

TEST(FilesTest, WordsInLines) {
  const std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\r\n\nun\n!";
  Folder lower({{"vocab.txt", lines}});
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(lower.path);
  // Of the two "un", the last one counts.
  EXPECT_EQ(encode(tokenizer, "Unable!"), (Ids{2, 7, 5, 8, 3}));
  EXPECT_EQ(encode(tokenizer, "[SEP]x"), (Ids{2, 3, 1, 3}));
  EXPECT_EQ(tokenizer->decode(Ids{7, 5, 8}), "unable!");
  EXPECT_FALSE(tokenizer->hasToken(4));
  EXPECT_EQ(encode(Tokenizer::fromFile(lower.path + "/vocab.txt"), "unable"),
            (Ids{2, 7, 5, 3}));
  Folder cased({{"vocab.txt", lines},
                {"tokenizer_config.json", R"({"do_lower_case": false})"}});
  EXPECT_EQ(encode(Tokenizer::fromFolder(cased.path), "Unable"),
            (Ids{2, 1, 3}));
  Folder none({{"vocab.txt", "a\nb\n"}});
  tokenizer = Tokenizer::fromFolder(none.path);
  ASSERT_FALSE(tokenizer);
  EXPECT_NE(tokenizer.status().cause().find("unknown words"),
            std::string::npos);
}

TEST(FilesTest, PairsInLines) {
  const Json bytes = tinyByteLevel();
  const std::string vocabulary = bytes["model"]["vocab"].dump();
  std::string merges = "#version: 0.2\n";
  for (const Json &merge : bytes["model"]["merges"])
    merges += merge.get<std::string>() + "\n";
  Folder folder({{"vocab.json", vocabulary}, {"merges.txt", merges}});
  Expected<Tokenizer> expected = fromJson(bytes);
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(folder.path);
  EXPECT_EQ(encode(tokenizer, "hello world, aaaa"),
            encode(expected, "hello world, aaaa"));
  Folder declared({{"vocab.json", vocabulary},
                   {"merges.txt", merges},
                   {"tokenizer_config.json",
                    R"({"tokenizer_class": "Qwen2Tokenizer",
                        "added_tokens_decoder": {
                          "300": {"content": "<x>", "special": true}}})"}});
  EXPECT_EQ(encode(Tokenizer::fromFolder(declared.path), "<x>a12"),
            (Ids{300, 'a', '1', '2'}));
  for (const char *config :
       {R"({"tokenizer_class": "CLIPTokenizer"})",
        R"({"added_tokens_decoder": {"x": {"content": "y"}}})",
        R"({"added_tokens_decoder": {"300": 5}})"}) {
    Folder bad({{"vocab.json", vocabulary},
                {"merges.txt", merges},
                {"tokenizer_config.json", config}});
    EXPECT_FALSE(Tokenizer::fromFolder(bad.path)) << config;
  }
  Folder half({{"vocab.json", vocabulary}});
  EXPECT_EQ(Tokenizer::fromFolder(half.path).status().code(),
            StatusCode::NotFound);
}

} // namespace
