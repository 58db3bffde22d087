// RUN: llmir-tokenizer-tests --gtest_filter='VocabularyTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vocabularies of GGUF files and SentencePiece models.
//
//===----------------------------------------------------------------------===//

#include "Protobuf.h"
#include "TestSupport.h"

#include "Vocabulary.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>

using namespace llmir;
using namespace llmir::test::protobuf;

namespace {

Ids encode(const Tokenizer &tokenizer, const std::string &text) {
  Expected<Ids> ids = tokenizer.encode(text);
  EXPECT_TRUE(ids) << ids.status().message();
  return ids ? *ids : Ids();
}

/// A vocabulary that owns its texts.
struct Vocabulary {
  VocabularyData data;
  std::deque<std::string> texts;

  std::string_view keep(std::string text) {
    texts.push_back(std::move(text));
    return texts.back();
  }
  int32_t add(std::string text, TokenType type = TokenType::Normal,
              float score = 0) {
    data.tokens.push_back(keep(std::move(text)));
    data.types.push_back(static_cast<int32_t>(type));
    data.scores.push_back(score);
    return static_cast<int32_t>(data.tokens.size()) - 1;
  }
};

/// <unk> <s> </s>, 256 bytes, then "_", "a", "b", "ab", "_ab" (with U+2581).
void fillLlama(Vocabulary &v) {
  v.data.model = "llama";
  v.data.unknown = v.add("<unk>", TokenType::Unknown);
  v.data.bos = v.add("<s>", TokenType::Control);
  v.data.eos = v.add("</s>", TokenType::Control);
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    v.add(text, TokenType::Byte);
  }
  v.add("\u2581", TokenType::Normal, -10);
  v.add("a", TokenType::Normal, -11);
  v.add("b", TokenType::Normal, -12);
  v.add("ab", TokenType::Normal, -2);
  v.add("\u2581ab", TokenType::Normal, -3);
}
constexpr int32_t markId = 259, aId = 260, abId = 262, markAbId = 263;

/// Byte-level letters "a", "b", the merge "ab", a special token.
void fillGpt2(Vocabulary &v) {
  v.data.model = "gpt2";
  v.data.pre = "gpt-2";
  v.add("a");
  v.add("b");
  v.add("ab");
  v.data.eos = v.add("<end>", TokenType::Control);
  v.data.merges = {"a b"};
}

TEST(VocabularyTest, MergesByScore) {
  Vocabulary v;
  fillLlama(v);
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "ab"), (Ids{1, markAbId}));
  EXPECT_EQ(encode(*tokenizer, "abab"), (Ids{1, markAbId, abId}));
  EXPECT_EQ(encode(*tokenizer, "a"), (Ids{1, markId, aId}));
  EXPECT_EQ(encode(*tokenizer, "\u00e9"), (Ids{1, markId, 3 + 0xc3, 3 + 0xa9}));
  EXPECT_EQ(encode(*tokenizer, "ab</s>ab"), (Ids{1, markAbId, 2, markAbId}));
  EXPECT_EQ(encode(*tokenizer, ""), (Ids{1}));
  EXPECT_EQ(tokenizer->decode(Ids{1, markAbId, abId, 2}, true), "abab");
  EXPECT_EQ(tokenizer->bosId(), 1);
  EXPECT_EQ(tokenizer->eosId(), 2);

  v.data.addBos = false;
  v.data.addEos = true;
  v.data.addSpacePrefix = false;
  tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "ab"), (Ids{abId, 2}));
}

/// Unused pieces take part in merging and are split again at the end.
TEST(VocabularyTest, UnusedPiecesAreSplitAgain) {
  Vocabulary v;
  fillLlama(v);
  int32_t c = v.add("c", TokenType::Normal, -9);
  int32_t unused = v.add("bc", TokenType::Unused, -0.5f);
  int32_t abc = v.add("abc", TokenType::Normal, -1);
  v.data.addSpacePrefix = false;
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "abc"), (Ids{1, abc}));
  Ids ids = encode(*tokenizer, "bc");
  EXPECT_EQ(ids, (Ids{1, aId + 1, c}));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), unused), 0);
}

TEST(VocabularyTest, MergesByRank) {
  Vocabulary v;
  fillGpt2(v);
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "abba<end>"), (Ids{2, 1, 0, 3}));
  EXPECT_EQ(tokenizer->decode(Ids{2, 3}, true), "ab");
  EXPECT_EQ(tokenizer->eosId(), 3);
}

TEST(VocabularyTest, EveryNamedPreTokenizerCompiles) {
  for (const char *name :
       {"default",    "llama-bpe",   "gpt-2",        "smollm",
        "command-r",  "qwen2",       "qwen35",       "tekken",
        "gpt-4o",     "deepseek-v3", "deepseek-llm", "deepseek-coder",
        "falcon",     "bloom",       "viking",       "bailingmoe",
        "seed-coder", "exaone-moe",  "laguna",       "mpt",
        "stablelm2",  "dbrx",        "jais-2",       "minicpm5",
        "spark2_5",   "youtu",       "kimi-k2",      "superbpe",
        "afmoe",      "tiny_aya",    "chameleon",    "ufakzeka",
        "talkie",     "modern-bert", "roberta-bpe",  "f2llmv2"}) {
    Vocabulary v;
    fillGpt2(v);
    v.data.pre = name;
    v.data.addBos = false;
    Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
    ASSERT_TRUE(tokenizer) << name << ": " << tokenizer.status().message();
    EXPECT_EQ(encode(*tokenizer, "ab"), (Ids{2})) << name;
  }
}

/// Without merges, any two tokens whose texts are a token merge.
TEST(VocabularyTest, KimiHasNoMerges) {
  Vocabulary v;
  fillGpt2(v);
  v.data.pre = "kimi-k2";
  v.data.merges.clear();
  v.add("abb");
  v.add("\u00e4"); // The byte E4, with which ideographs begin.
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "abb"), (Ids{4}));
  EXPECT_EQ(encode(*tokenizer, "aabb"), (Ids{0, 4}));
  EXPECT_EQ(encode(*tokenizer, "a\u4e2db"), (Ids{0, 5, 1}));
}

TEST(VocabularyTest, Gemma4MergesCharacters) {
  Vocabulary v;
  v.data.model = "gemma4";
  v.data.unknown = v.add("<unk>", TokenType::Unknown);
  v.data.bos = v.add("<bos>", TokenType::Control);
  v.add("<0xC3>", TokenType::Byte);
  v.add("<0xA9>", TokenType::Byte);
  for (const char *text : {"\u2581", "a", "\n", "\u2581a", "\n\n"})
    v.add(text);
  v.data.merges = {"\u2581 a", "\n \n"};
  v.data.addBos = false; // Files say so; the model needs it.
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "a a\n\n\n\u00e9"), (Ids{1, 5, 7, 8, 6, 2, 3}));
  EXPECT_EQ(tokenizer->decode(Ids{7, 5, 2, 3}), " aa\u00e9");
}

TEST(VocabularyTest, NamesTheNearestPreTokenizers) {
  Vocabulary v;
  fillGpt2(v);
  v.data.pre = "qwen36";
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_FALSE(tokenizer);
  EXPECT_NE(tokenizer.status().message().find("qwen35, qwen2"),
            std::string::npos)
      << tokenizer.status().message();
}

TEST(VocabularyTest, RefusesBadVocabularies) {
  struct Bad {
    const char *what, *mentions;
    bool isLlama;
    std::function<void(Vocabulary &)> spoil;
  };
  const Bad cases[] = {
      {"model", "'rwkv'", true, [](auto &v) { v.data.model = "rwkv"; }},
      {"pre-tokenizer", "'novel'", false,
       [](auto &v) { v.data.pre = "novel"; }},
      {"no pre-tokenizer", "tokenizer.ggml.pre", false,
       [](auto &v) { v.data.pre = ""; }},
      {"no tokens", "empty", false,
       [](auto &v) {
         v.data.tokens.clear();
         v.data.types.clear();
         v.data.merges.clear();
         v.data.eos.reset();
       }},
      {"scores short", "scores", true,
       [](auto &v) { v.data.scores.pop_back(); }},
      {"types long", "types", true, [](auto &v) { v.data.types.push_back(1); }},
      {"type 0", "type 0", true, [](auto &v) { v.data.types[260] = 0; }},
      {"type 7", "type 7", true, [](auto &v) { v.data.types[260] = 7; }},
      {"score NaN", "finite", true, [](auto &v) { v.data.scores[260] = NAN; }},
      {"score infinite", "finite", true,
       [](auto &v) { v.data.scores[260] = INFINITY; }},
      {"bos -1", "-1", true, [](auto &v) { v.data.bos = -1; }},
      {"eos outside", "264", true, [](auto &v) { v.data.eos = 264; }},
      {"unknown 2^40", "1099511627776", true,
       [](auto &v) { v.data.unknown = int64_t(1) << 40; }},
      {"BOS wanted, none named", "BOS", false,
       [](auto &v) { v.data.addBos = true; }},
      {"duplicate token", "both 'ab'", true, [](auto &v) { v.add("ab"); }},
      {"not UTF-8", "UTF-8", true, [](auto &v) { v.add("a\xff"); }},
      {"byte token -1", "<0x-1>", true,
       [](auto &v) { v.add("<0x-1>", TokenType::Byte); }},
      {"byte token ZZ", "<0xZZ>", true,
       [](auto &v) { v.add("<0xZZ>", TokenType::Byte); }},
      {"byte token without digits", "<0x>", true,
       [](auto &v) { v.add("<0x>", TokenType::Byte); }},
      {"token too long", "bytes long", true,
       [](auto &v) { v.add(std::string(1 << 20, 'x')); }},
      {"no merges", "tokenizer.ggml.merges", false,
       [](auto &v) { v.data.merges.clear(); }},
      {"merge without space", "merge 0", false,
       [](auto &v) { v.data.merges = {"ab"}; }},
      {"merge with an empty side", "merge 0", false,
       [](auto &v) { v.data.merges = {"a "}; }},
      {"merge of nothing", "merge 0", false,
       [](auto &v) { v.data.merges = {""}; }},
      {"merge of unknown pieces", "merge 1", false,
       [](auto &v) { v.data.merges = {"a b", "x y"}; }}};
  for (const Bad &bad : cases) {
    Vocabulary v;
    bad.isLlama ? fillLlama(v) : fillGpt2(v);
    bad.spoil(v);
    Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
    ASSERT_FALSE(tokenizer) << bad.what;
    EXPECT_NE(tokenizer.status().cause().find(bad.mentions), std::string::npos)
        << bad.what << ": " << tokenizer.status().cause();
  }
}

TEST(VocabularyTest, EmptyTokensAreNoTokens) {
  Vocabulary v;
  fillLlama(v);
  v.add("");
  v.add("");
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(v.data);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(tokenizer->vocabSize(), 266);
  EXPECT_FALSE(tokenizer->hasToken(264));
  EXPECT_EQ(tokenizer->decode(Ids{264, 265}), "");
}

//===----------------------------------------------------------------------===//
// SentencePiece models
//===----------------------------------------------------------------------===//

/// A SentencePiece model of the same vocabulary.
std::string spModel(const std::string &trainer = number(3, 2) + number(35, 1),
                    const std::string &normalizer = number(4, 0)) {
  Vocabulary v;
  fillLlama(v);
  std::string model;
  for (size_t i = 0; i < v.data.tokens.size(); ++i)
    model += bytes(1, bytes(1, std::string(v.data.tokens[i])) +
                          floating(2, v.data.scores[i]) +
                          number(3, uint64_t(v.data.types[i])));
  return model + bytes(2, trainer) + bytes(3, normalizer);
}

TEST(VocabularyTest, SentencePieceModel) {
  Expected<Tokenizer> tokenizer = Tokenizer::fromSentencePiece(spModel());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "abab"), (Ids{1, markAbId, abId}));
  EXPECT_EQ(encode(*tokenizer, "ab</s>ab"), (Ids{1, markAbId, 2, markAbId}));
  EXPECT_EQ(encode(*tokenizer, "  ab"), (Ids{1, markId, markId, markAbId}));

  tokenizer = Tokenizer::fromSentencePiece(
      spModel(), R"({"legacy": false, "add_bos_token": false,
                     "add_eos_token": true, "eos_token": "</s>"})");
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "ab</s>ab"), (Ids{markAbId, 2, abId, 2}));
}

TEST(VocabularyTest, SentencePieceOptions) {
  std::string bpe = number(3, 2);
  // Without byte fallback unknown characters in a row are one token.
  Expected<Tokenizer> tokenizer = Tokenizer::fromSentencePiece(spModel(bpe));
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "axyza"), (Ids{1, markId, aId, 0, aId}));
  // No prefix, spaces collapsed (the default).
  tokenizer = Tokenizer::fromSentencePiece(spModel(bpe, number(3, 0)));
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "  a   a "), (Ids{1, aId, markId, aId}));
}

TEST(VocabularyTest, SentencePieceAddedTokens) {
  const char *config = R"({"added_tokens_decoder": {
      "264": {"content": "<new>", "special": true, "rstrip": true},
      "1": {"content": "<s>", "special": true}}})";
  Expected<Tokenizer> tokenizer =
      Tokenizer::fromSentencePiece(spModel(), config);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "<new>  ab"), (Ids{1, 264, markAbId}));
  for (const char *bad :
       {R"({"added_tokens_decoder": {"300": {"content": "x"}}})",
        R"({"added_tokens_decoder": {"-1": {"content": "x"}}})",
        R"({"added_tokens_decoder": {"1": {"content": "x"}}})",
        R"({"added_tokens_decoder": {"264": {"content": ""}}})",
        R"({"added_tokens_decoder": {"264": 5}})",
        R"({"added_tokens_decoder": {"99999999999": {"content": "x"}}})",
        R"({"add_bos_token": 1})", R"({"legacy": "no"})"})
    EXPECT_FALSE(Tokenizer::fromSentencePiece(spModel(), bad)) << bad;
}

TEST(VocabularyTest, RefusesOtherSentencePieceModels) {
  std::string bpe = number(3, 2);
  for (const std::string &model :
       {std::string(), std::string("hello"), spModel(number(3, 3)),
        spModel(number(3, 4)), spModel(bpe + number(24, 1)),
        spModel(bpe, bytes(2, "map")), spModel(bpe, number(5, 0)),
        spModel(bpe + number(41, 100000)), bytes(1, "") + bytes(2, bpe),
        bytes(1, bytes(1, "a") + number(3, 99)) + bytes(2, bpe)}) {
    Expected<Tokenizer> tokenizer = Tokenizer::fromSentencePiece(model);
    ASSERT_FALSE(tokenizer);
    EXPECT_NE(tokenizer.status().cause().find("tokenizer.model"),
              std::string::npos)
        << tokenizer.status().cause();
  }
}

TEST(VocabularyTest, SentencePieceSurvivesMutations) {
  std::mt19937 random(5);
  const std::string good = spModel();
  for (size_t size = 0; size < good.size(); size += 13)
    (void)Tokenizer::fromSentencePiece(good.substr(0, size));
  for (int round = 0; round < 3000; ++round) {
    std::string model = good;
    for (int k = random() % 5; k >= 0; --k)
      model[random() % model.size()] = static_cast<char>(random());
    Expected<Tokenizer> tokenizer = Tokenizer::fromSentencePiece(model);
    if (!tokenizer)
      continue;
    Expected<Ids> ids = tokenizer->encode("abab\u00e9 <s>");
    ASSERT_TRUE(ids);
    EXPECT_TRUE(isValidUtf8(tokenizer->decode(*ids)));
  }
}

} // namespace
