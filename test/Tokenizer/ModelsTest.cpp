// RUN: llmir-tokenizer-tests --gtest_filter='ModelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The models besides BPE: Unigram, WordPiece, WordLevel, from every source.
//
//===----------------------------------------------------------------------===//

#include "Charsmap.h"
#include "TestSupport.h"
#include "Vocabulary.h"

#include "llmir/Tokenizer/StreamDecoder.h"

#include <cmath>
#include <ctime>

using namespace llmir;

namespace {

/// decode() and the stream agree.
std::string decode(const Expected<Tokenizer> &tokenizer, const Ids &ids) {
  if (!tokenizer)
    return tokenizer.status().message();
  StreamDecoderOptions options;
  options.skipSpecialTokens = false;
  StreamDecoder stream(*tokenizer, options);
  std::string text;
  for (int32_t id : ids)
    text += stream.feed(id);
  text += stream.flush();
  EXPECT_EQ(text, tokenizer->decode(ids));
  return text;
}

//===----------------------------------------------------------------------===//
// Unigram
//===----------------------------------------------------------------------===//

Json pieces(const std::vector<std::pair<std::string, double>> &list) {
  Json json = Json::array();
  for (const auto &[text, score] : list)
    json.push_back(Json::array({text, score}));
  return json;
}

Json unigram() {
  return {
      {"added_tokens", {{{"id", 1}, {"content", "</s>"}, {"special", true}}}},
      {"pre_tokenizer",
       {{"type", "Metaspace"},
        {"replacement", "\u2581"},
        {"prepend_scheme", "always"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", Json::array({{{"Sequence", {{"id", "A"}}}},
                                {{"SpecialToken", {{"id", "</s>"}}}}})},
        {"special_tokens", {{"</s>", {{"ids", {1}}}}}}}},
      {"decoder",
       {{"type", "Metaspace"},
        {"replacement", "\u2581"},
        {"prepend_scheme", "always"}}},
      {"model",
       {{"type", "Unigram"},
        {"unk_id", 0},
        {"vocab", pieces({{"<unk>", 0},
                          {"</s>", 0},
                          {"\u2581", -2.5},
                          {"a", -3},
                          {"b", -3.5},
                          {"ab", -4},
                          {"\u2581ab", -7},
                          {"abab", -12.5},
                          {"\u00e9", -6}})}}}};
}

TEST(ModelsTest, UnigramFindsTheBestSegmentation) {
  Expected<Tokenizer> tokenizer = fromJson(unigram());
  EXPECT_EQ(encode(tokenizer, "ab"), (Ids{2, 5, 1}));
  EXPECT_EQ(encode(tokenizer, "abab a"), (Ids{2, 5, 5, 2, 3, 1}));
  EXPECT_EQ(encode(tokenizer, "a\u00e9"), (Ids{2, 3, 8, 1}));
  EXPECT_EQ(decode(tokenizer, {2, 5, 5, 2, 3}), "abab a");
  // A run of unknown characters is one token.
  EXPECT_EQ(encode(tokenizer, "axyzb"), (Ids{2, 3, 0, 4, 1}));
  // The score of the long token is too low by half, then high enough.
  Json json = unigram();
  json["model"]["vocab"][7][1] = -7.5;
  EXPECT_EQ(encode(fromJson(json), "abab"), (Ids{2, 7, 1}));
}

TEST(ModelsTest, UnigramFallsBackToBytes) {
  Json json = unigram();
  json["model"]["byte_fallback"] = true;
  EXPECT_EQ(encode(fromJson(json), "ax"), (Ids{2, 3, 0, 1})); // No such token.
  json["model"]["vocab"].push_back(Json::array({"<0x78>", -20}));
  EXPECT_EQ(encode(fromJson(json), "axx"), (Ids{2, 3, 9, 9, 1}));
}

TEST(ModelsTest, UnigramWithoutAnUnknownToken) {
  Json json = unigram();
  json["model"].erase("unk_id");
  Expected<Tokenizer> tokenizer = fromJson(json);
  EXPECT_EQ(encode(tokenizer, "a"), (Ids{2, 3, 1}));
  Expected<Ids> ids = tokenizer->encode("ax");
  ASSERT_FALSE(ids);
  EXPECT_NE(ids.status().cause().find("'x'"), std::string::npos);
}

/// The sum of the scores decides between all segmentations; a slow search finds
/// none better.
TEST(ModelsTest, UnigramAgreesWithASearch) {
  std::mt19937 random(5);
  const std::string letters = "abc";
  for (int round = 0; round < 40; ++round) {
    Json vocab = pieces({{"<unk>", 0}});
    std::vector<std::pair<std::string, double>> known;
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (size_t n = 1 + random() % 4; n > 0; --n)
        text += letters[random() % 3];
      bool isNew = true;
      for (auto &piece : known)
        isNew &= piece.first != text;
      if (!isNew)
        continue;
      known.push_back({text, -double(random() % 1000) / 64 - 1});
      vocab.push_back(Json::array({text, known.back().second}));
    }
    for (char c : letters) { // Every character is known.
      std::string text(1, c);
      bool isNew = true;
      for (auto &piece : known)
        isNew &= piece.first != text;
      if (isNew) {
        known.push_back({text, -40});
        vocab.push_back(Json::array({text, -40}));
      }
    }
    Expected<Tokenizer> tokenizer = fromJson(
        {{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}}}});
    std::string text;
    for (int i = 0; i < 30; ++i)
      text += letters[random() % 3];
    std::vector<double> best(text.size() + 1, -INFINITY);
    best[0] = 0;
    for (size_t at = 0; at < text.size(); ++at)
      for (auto &[piece, score] : known)
        if (text.compare(at, piece.size(), piece) == 0)
          best[at + piece.size()] =
              std::max(best[at + piece.size()], best[at] + score);
    double sum = 0;
    std::string joined;
    for (int32_t id : encode(tokenizer, text)) {
      joined += known[static_cast<size_t>(id) - 1].first;
      sum += known[static_cast<size_t>(id) - 1].second;
    }
    EXPECT_EQ(joined, text);
    EXPECT_NEAR(sum, best[text.size()], 1e-9);
  }
}

TEST(ModelsTest, UnigramFromGGUF) {
  VocabularyData data;
  data.model = "t5";
  data.tokens = {"<pad>", "</s>", "<unk>", "\u2581", "a", "b", "ab"};
  data.scores = {0, 0, 0, -2, -3, -3, -4};
  data.types = {3, 3, 2, 1, 1, 1, 1};
  data.padding = 0, data.eos = 1, data.unknown = 2;
  data.addSpacePrefix = true;
  data.removeExtraWhitespaces = true;
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(data);
  EXPECT_EQ(encode(tokenizer, "  ab  a "), (Ids{3, 6, 3, 4, 1}));
  EXPECT_EQ(encode(tokenizer, " "), (Ids{1}));
  EXPECT_EQ(encode(tokenizer, "xy</s>b"), (Ids{3, 2, 1, 3, 5, 1}));
  EXPECT_EQ(decode(tokenizer, {3, 6, 3, 4}), "ab a");
  data.addSpacePrefix.reset(); // No prefix unless the file says so.
  data.addEos = false;
  EXPECT_EQ(encode(Tokenizer::fromVocabulary(data), "ab"), (Ids{6}));
}

//===----------------------------------------------------------------------===//
// Character maps
//===----------------------------------------------------------------------===//

std::string littleEndian(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i)
    out += static_cast<char>(value >> (8 * i));
  return out;
}

/// A map with rules for single bytes of ASCII: a node per byte at 256 ^ byte,
/// its value at an own place.
std::string charsmap(const std::vector<std::pair<char, std::string>> &rules) {
  std::vector<uint32_t> units(768);
  units[0] = 256u << 10;
  std::string texts;
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto byte = static_cast<uint8_t>(rules[i].first);
    const uint32_t node = 256u ^ byte, value = 512 + uint32_t(i);
    units[node] = byte | 1u << 8 | (node ^ value) << 10;
    units[value] = static_cast<uint32_t>(texts.size()) | 1u << 31;
    texts += rules[i].second + '\0';
  }
  std::string bytes = littleEndian(uint32_t(units.size()) * 4);
  for (uint32_t unit : units)
    bytes += littleEndian(unit);
  return bytes + texts;
}

TEST(ModelsTest, CharacterMapsReplace) {
  const std::string bytes = charsmap({{'A', "a"}, {'B', ""}, {'C', "\u00e9"}});
  Expected<Charsmap> map = Charsmap::parse(bytes);
  ASSERT_TRUE(map) << map.status().message();
  const GrowthLimit limit(100);
  std::string text = "xABCx\u00e9";
  ASSERT_TRUE(map->replacePrefixes(text, limit));
  EXPECT_EQ(text, "xa\u00e9x\u00e9");
  // A cluster of two characters takes the rule of its first.
  text = "AA\u0301";
  ASSERT_TRUE(map->replaceClusters(text, limit));
  EXPECT_EQ(text, "aa");
  text = "AA\u0301";
  ASSERT_TRUE(map->replacePrefixes(text, limit));
  EXPECT_EQ(text, "aa\u0301");
}

TEST(ModelsTest, RefusesBadCharacterMaps) {
  const std::string good = charsmap({{'A', "a"}});
  auto with = [&](size_t unit, uint32_t value) {
    std::string bytes = good;
    return bytes.replace(4 + 4 * unit, 4, littleEndian(value));
  };
  const std::pair<std::string, const char *> cases[] = {
      {"", "0 bytes"},
      {"abc", "3 bytes"},
      {littleEndian(0), "trie of 0 bytes"},
      {littleEndian(7) + "1234567", "trie of 7 bytes"},
      {littleEndian(UINT32_MAX - 3) + "1234", "trie of 4294967292 bytes"},
      {with(0, 0x1fffffu << 10), "unit 2097151 of 768"},
      {with(0, 1u << 31), "no root"},
      {with(256 ^ 'A', 'A' | 1u << 8 | 1u << 9 | 8u << 10), "unit"},
      {with(512, 1u << 31 | 2), "text is at byte 2 of 2"},
      {with(512, UINT32_MAX), "text is at byte 2147483647"},
      {charsmap({{'A', std::string(300, 'x')}}), "300 bytes"},
      {charsmap({{'A', "\xff"}}), "not UTF-8"}};
  for (const auto &[bytes, mentions] : cases) {
    Expected<Charsmap> map = Charsmap::parse(bytes);
    if (map) {
      ADD_FAILURE() << mentions;
      continue;
    }
    EXPECT_NE(map.status().cause().find(mentions), std::string::npos)
        << map.status().cause();
  }
}

/// Rules that are long make a text long, which is limited.
TEST(ModelsTest, CharacterMapsGrowNoText) {
  Expected<Charsmap> map =
      Charsmap::parse(charsmap({{'A', std::string(256, 'x')}}));
  ASSERT_TRUE(map) << map.status().message();
  const GrowthLimit limit(1000);
  std::string text(1000, 'A');
  EXPECT_EQ(map->replaceClusters(text, limit).code(), StatusCode::OutOfRange);
  EXPECT_EQ(map->replacePrefixes(text, limit).code(), StatusCode::OutOfRange);
}

/// Whatever the units are, a search stays inside them.
TEST(ModelsTest, DamagedCharacterMapsAreHarmless) {
  std::mt19937 random(9);
  std::string good = charsmap({{'A', "a"}, {'B', "bb"}, {'C', ""}});
  size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (size_t n = 1 + random() % 4; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    Expected<Charsmap> map = Charsmap::parse(bytes);
    if (!map)
      continue;
    ++accepted;
    std::string text = "ABCabc" + randomText(random, 20);
    const GrowthLimit limit(text.size());
    std::string other = text;
    if (map->replacePrefixes(text, limit))
      EXPECT_TRUE(isValidUtf8(text));
    if (map->replaceClusters(other, limit))
      EXPECT_TRUE(isValidUtf8(other));
  }
  EXPECT_GT(accepted, 100u);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

Json wordPiece() {
  Json vocab = Json::object();
  for (const char *text :
       {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "runn",
        "##ing", "##a", "!", "caf", "##e", "\u4e2d", "##", "5", "'", "s"})
    vocab[text] = vocab.size();
  Json added = Json::array();
  for (int id = 0; id < 4; ++id)
    for (auto &[text, number] : vocab.items())
      if (number == id)
        added.push_back({{"id", id}, {"content", text}, {"special", true}});
  return {{"added_tokens", added},
          {"normalizer", {{"type", "BertNormalizer"}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "BertProcessing"},
            {"sep", Json::array({"[SEP]", 3})},
            {"cls", Json::array({"[CLS]", 2})}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}},
          {"model",
           {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocab}}}};
}

TEST(ModelsTest, WordPieceTakesTheLongestTokens) {
  Expected<Tokenizer> tokenizer = fromJson(wordPiece());
  EXPECT_EQ(encode(tokenizer, "unaffable Running!"),
            (Ids{2, 4, 5, 6, 7, 8, 10, 3}));
  // A word that is not made of tokens is one unknown token.
  EXPECT_EQ(encode(tokenizer, "unaffx un"), (Ids{2, 1, 4, 3}));
  EXPECT_EQ(encode(tokenizer, ""), (Ids{2, 3}));
  // Accents, controls, ideographs.
  EXPECT_EQ(encode(tokenizer, "Caf\u00c9\u200d"), (Ids{2, 11, 12, 3}));
  EXPECT_EQ(encode(tokenizer, "un\u4e2dun"), (Ids{2, 4, 13, 4, 3}));
  EXPECT_EQ(decode(tokenizer, {4, 5, 6, 10, 7, 8, 16, 17}),
            "unaffable! running ' s");
  // Words that are too long.
  Json json = wordPiece();
  json["model"]["max_input_chars_per_word"] = 8;
  EXPECT_EQ(encode(fromJson(json), "unaffable running"), (Ids{2, 1, 7, 8, 3}));
}

TEST(ModelsTest, WordPieceNormalizesAsTold) {
  Json json = wordPiece();
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", false},
                        {"handle_chinese_chars", false},
                        {"strip_accents", nullptr},
                        {"lowercase", false}};
  Expected<Tokenizer> tokenizer = fromJson(json);
  EXPECT_EQ(encode(tokenizer, "Un un\u4e2dun caf\u00e9"), (Ids{2, 1, 1, 1, 3}));
}

TEST(ModelsTest, WordPieceFromGGUF) {
  const std::string mark = "\u2581";
  VocabularyData data;
  data.model = "bert";
  const std::string texts[] = {"[PAD]",     "[UNK]", "[CLS]", "[SEP]",
                               mark + "un", "aff",   "able",  mark + "!",
                               mark + "a",  mark};
  for (const std::string &text : texts)
    data.tokens.push_back(text);
  data.types = {3, 2, 3, 3, 1, 1, 1, 1, 1, 1};
  data.padding = 0, data.unknown = 1, data.bos = 2, data.separator = 3;
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(data);
  EXPECT_EQ(encode(tokenizer, "Unaffable! aff A"),
            (Ids{2, 4, 5, 6, 7, 1, 8, 3}));
  EXPECT_EQ(decode(tokenizer, {4, 5, 6, 7, 8}), "unaffable! a");
  data.addBos = false;
  data.addSeparator = false;
  data.lowercase = false;
  EXPECT_EQ(encode(Tokenizer::fromVocabulary(data), "Un un"), (Ids{1, 4}));
}

TEST(ModelsTest, WordLevelTakesWholeWords) {
  Json json = {{"pre_tokenizer", {{"type", "Whitespace"}}},
               {"model",
                {{"type", "WordLevel"},
                 {"unk_token", "<unk>"},
                 {"vocab", {{"<unk>", 0}, {"one", 1}, {"two", 2}}}}}};
  EXPECT_EQ(encode(fromJson(json), "one two three"), (Ids{1, 2, 0}));
  json["model"]["unk_token"] = "none";
  EXPECT_FALSE(fromJson(json));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

TEST(ModelsTest, ComeBackEqual) {
  std::mt19937 random(4);
  Json mapped = unigram();
  mapped["normalizer"] = {
      {"type", "Precompiled"},
      {"precompiled_charsmap", "BAAAAAAAAAAA"}}; // One unit, no rules.
  for (const Json &json : {unigram(), mapped, wordPiece()}) {
    Expected<Tokenizer> tokenizer = fromJson(json);
    ASSERT_TRUE(tokenizer) << tokenizer.status().message();
    const std::vector<uint8_t> stored = tokenizer->serialize();
    Expected<Tokenizer> loaded = Tokenizer::load(stored);
    ASSERT_TRUE(loaded) << loaded.status().message();
    EXPECT_EQ(loaded->serialize(), stored);
    for (int i = 0; i < 100; ++i) {
      const std::string text = "ab unaff " + randomText(random, random() % 40);
      EXPECT_EQ(encode(tokenizer, text), encode(loaded, text));
    }
  }
}

/// Old files do not name the type of their model.
TEST(ModelsTest, TypesMayBeMissing) {
  Json json = unigram();
  json["model"].erase("type");
  EXPECT_EQ(encode(fromJson(json), "ab"), (Ids{2, 5, 1}));
  json = wordPiece();
  json["model"].erase("type");
  json["model"]["max_input_chars_per_word"] = 100;
  EXPECT_EQ(encode(fromJson(json), "unaffable"), (Ids{2, 4, 5, 6, 3}));
}

TEST(ModelsTest, Decoders) {
  auto decoded = [](Json decoder, const Ids &ids) {
    Json json = {
        {"decoder", decoder},
        {"model",
         {{"type", "WordLevel"},
          {"unk_token", "<pad>"},
          {"vocab",
           {{"<pad>", 0}, {"a</w>", 1}, {"b", 2}, {"|", 3}, {"c</w>", 4}}}}}};
    return decode(fromJson(json), ids);
  };
  EXPECT_EQ(decoded({{"type", "BPEDecoder"}}, {2, 1, 2, 4}), "ba bc");
  EXPECT_EQ(decoded({{"type", "BPEDecoder"}}, {}), "");
  EXPECT_EQ(decoded({{"type", "CTC"}}, {0, 2, 2, 0, 2, 3, 1, 1}), "bb a</w>");
}

/// A quadratic algorithm would take minutes. The limit is generous for builds
/// with sanitizers; benchmarks/tokenizers.py measures the time.
TEST(ModelsTest, RunsOfOneClassTakeLinearTime) {
  Json bytes = tinyByteLevel();
  Json scored = unigram();
  for (const Json &json : {bytes, tinyByteFallback(), scored, wordPiece()}) {
    Expected<Tokenizer> tokenizer = fromJson(json);
    ASSERT_TRUE(tokenizer) << tokenizer.status().message();
    for (const char *unit : {"a", " ", ".", "\n", "7", "\u4e2d", "\u0301",
                             "hello", "aab", "\U0001f600"}) {
      std::string text;
      while (text.size() < (1u << 18))
        text += unit;
      const std::clock_t start = std::clock();
      Expected<Ids> ids = tokenizer->encode(text);
      const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
      EXPECT_TRUE(ids) << ids.status().message();
      EXPECT_LT(seconds, 1) << unit;
    }
  }
}

TEST(ModelsTest, RefusesBadModels) {
  struct Bad {
    const char *what, *mentions;
    Json json;
  };
  std::vector<Bad> cases;
  auto add = [&](const char *what, const char *mentions, Json json,
                 auto spoil) {
    spoil(json);
    cases.push_back({what, mentions, std::move(json)});
  };
  add("vocab of numbers", "entry 9", unigram(),
      [](Json &j) { j["model"]["vocab"].push_back(5); });
  add("score missing", "entry 9", unigram(),
      [](Json &j) { j["model"]["vocab"].push_back(Json::array({"x"})); });
  add("score a string", "entry 9", unigram(),
      [](Json &j) { j["model"]["vocab"].push_back(Json::array({"x", "y"})); });
  add("three parts", "entry", unigram(), [](Json &j) {
    j["model"]["vocab"].push_back(Json::array({"x", -1, -1}));
  });
  add("two texts", "entry 9", unigram(), [](Json &j) {
    j["model"]["vocab"].push_back(Json::array({"x", "y", -1}));
  });
  add("twice", "both 'a'", unigram(),
      [](Json &j) { j["model"]["vocab"].push_back(Json::array({"a", -1})); });
  add("unk_id", "unk_id", unigram(), [](Json &j) { j["model"]["unk_id"] = 9; });
  add("unk_id negative", "unk_id", unigram(),
      [](Json &j) { j["model"]["unk_id"] = -1; });
  add("empty", "vocab", unigram(),
      [](Json &j) { j["model"]["vocab"] = Json::array(); });
  add("long token", "600 bytes", unigram(), [](Json &j) {
    j["model"]["vocab"].push_back(Json::array({std::string(600, 'x'), -1}));
  });
  add("map is no base64", "base64", unigram(), [](Json &j) {
    j["normalizer"] = {{"type", "Precompiled"},
                       {"precompiled_charsmap", "a*b"}};
  });
  add("map cut off", "character map", unigram(), [](Json &j) {
    j["normalizer"] = {{"type", "Precompiled"},
                       {"precompiled_charsmap", "//8="}};
  });
  add("no unknown word", "'nope'", wordPiece(),
      [](Json &j) { j["model"]["unk_token"] = "nope"; });
  add("unknown word empty", "unk_token", wordPiece(),
      [](Json &j) { j["model"]["unk_token"] = ""; });
  add("word length", "max_input_chars_per_word", wordPiece(),
      [](Json &j) { j["model"]["max_input_chars_per_word"] = -1; });
  add("words as a list", "vocab", wordPiece(),
      [](Json &j) { j["model"]["vocab"] = pieces({{"a", 1}}); });
  add("normalizer's switch", "lowercase", wordPiece(),
      [](Json &j) { j["normalizer"]["lowercase"] = "yes"; });
  add("decoder's prefix", "prefix", wordPiece(),
      [](Json &j) { j["decoder"]["prefix"] = 5; });
  add("suffix empty", "suffix", wordPiece(),
      [](Json &j) { j["decoder"] = {{"type", "BPEDecoder"}, {"suffix", ""}}; });
  for (const Bad &bad : cases) {
    Expected<Tokenizer> tokenizer = fromJson(bad.json);
    ASSERT_FALSE(tokenizer) << bad.what;
    EXPECT_NE(tokenizer.status().cause().find(bad.mentions), std::string::npos)
        << bad.what << ": " << tokenizer.status().cause();
    EXPECT_NE(tokenizer.status().cause().find("tokenizer.json"),
              std::string::npos)
        << bad.what << ": " << tokenizer.status().cause();
  }
}

} // namespace
