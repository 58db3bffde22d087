// RUN: llmir-tokenizer-tests --gtest_filter='TokenizerJsonTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tokenizer.json: the options of a file are implemented, and an invalid file is
// rejected with a message that names the error.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include <chrono>
#include <functional>

using namespace llmir;

namespace {

Ids encode(const Tokenizer &tokenizer, const std::string &text,
           EncodeOptions options = {}) {
  Expected<Ids> ids = tokenizer.encode(text, options);
  EXPECT_TRUE(ids) << ids.status().message();
  return ids ? *ids : Ids();
}

Ids encode(const Json &json, const std::string &text) {
  Expected<Tokenizer> tokenizer = fromJson(json);
  EXPECT_TRUE(tokenizer) << tokenizer.status().message();
  return tokenizer ? encode(*tokenizer, text) : Ids();
}

TEST(TokenizerJsonTest, ByteLevel) {
  Expected<Tokenizer> tokenizer = fromJson(tinyByteLevel());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encode(*tokenizer, "hello w<|end|>"), (Ids{259, 260, 263}));
  EXPECT_EQ(encode(*tokenizer, "hell"), (Ids{258}));
  EXPECT_EQ(encode(*tokenizer, "aaaaa"), (Ids{262, 'a'}));
  EXPECT_EQ(encode(*tokenizer, ""), Ids());
  EncodeOptions spelled;
  spelled.matchSpecialTokens = false;
  EXPECT_EQ(encode(*tokenizer, "<|end|>", spelled).size(), 7u);
  EXPECT_EQ(tokenizer->vocabSize(), 264);
  EXPECT_EQ(tokenizer->tokenText(260), "\u0120w");
  EXPECT_EQ(tokenizer->tokenId("hello"), 259);
  EXPECT_EQ(tokenizer->tokenId("nothing"), std::nullopt);
  EXPECT_TRUE(tokenizer->isSpecial(263));
  EXPECT_FALSE(tokenizer->isSpecial(0));
  EXPECT_EQ(tokenizer->decode(Ids{259, 260, 263}), "hello w<|end|>");
  EXPECT_EQ(tokenizer->decode(Ids{259, 260, 263}, true), "hello w");
  EXPECT_EQ(tokenizer->decode(Ids{-1, 264, 1 << 30, 259}), "hello");
  EXPECT_FALSE(tokenizer->hasToken(-1));
  EXPECT_FALSE(tokenizer->hasToken(264));
  EXPECT_EQ(tokenizer->tokenText(-5), "");
}

TEST(TokenizerJsonTest, ByteFallback) {
  Expected<Tokenizer> tokenizer = fromJson(tinyByteFallback());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  int32_t hello = *tokenizer->tokenId("\u2581hello");
  int32_t mark = *tokenizer->tokenId("\u2581");
  EXPECT_EQ(encode(*tokenizer, "hello"), (Ids{1, hello}));
  EXPECT_EQ(encode(*tokenizer, "A"), (Ids{1, mark, 3 + 'A'}));
  EXPECT_EQ(encode(*tokenizer, "\u4f60"),
            (Ids{1, mark, 3 + 0xe4, 3 + 0xbd, 3 + 0xa0}));
  EXPECT_EQ(tokenizer->bosId(), 1);
  EXPECT_EQ(tokenizer->unkId(), 0);
  EXPECT_EQ(tokenizer->eosId(), -1);
  EXPECT_EQ(tokenizer->prefixIds().size(), 1u);
  // A row of bytes is decoded as a whole: if it is not UTF-8, byte by byte.
  Ids row = {3 + 0xe4, 3 + 0xbd, 3 + 0xa0};
  EXPECT_EQ(tokenizer->decode(row), "\u4f60");
  row.push_back(3 + 0xff);
  EXPECT_EQ(tokenizer->decode(row), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(tokenizer->decode(Ids{mark, mark, hello}), "  hello");
}

TEST(TokenizerJsonTest, ChecksIdsBeforeDecoding) {
  Json json = tinyByteLevel();
  Expected<Tokenizer> tokenizer = fromJson(json);
  ASSERT_TRUE(tokenizer);
  EXPECT_TRUE(tokenizer->checkIds(Ids{0, 263}));
  EXPECT_TRUE(tokenizer->checkIds(Ids{}));
  for (int32_t id : {-1, 264, INT32_MAX}) {
    Status status = tokenizer->checkIds(Ids{0, id});
    EXPECT_EQ(status.code(), StatusCode::OutOfRange);
    EXPECT_NE(status.cause().find("token id " + std::to_string(id) +
                                  " is not in the vocabulary of 264"),
              std::string::npos)
        << status.message();
  }
  // A token of 60000 bytes, named as often as a line has room for.
  json["model"]["vocab"][std::string(60000, 'x')] = 264;
  tokenizer = fromJson(json);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_TRUE(tokenizer->checkIds(Ids(30000, 0)));
  Status status = tokenizer->checkIds(Ids(30000, 264));
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_NE(status.cause().find("30000 ids may decode to"), std::string::npos)
      << status.message();
}

TEST(TokenizerJsonTest, ConfigNamesSpecialTokens) {
  std::string json = tinyByteFallback().dump();
  Expected<Tokenizer> tokenizer = Tokenizer::fromTokenizerJson(
      json, R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>",
                "unk_token": null, "pad_token": "absent"})");
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(tokenizer->bosId(), 1);
  EXPECT_EQ(tokenizer->eosId(), 2);
  EXPECT_EQ(tokenizer->unkId(), 0);
  EXPECT_EQ(tokenizer->padId(), -1);
  EXPECT_FALSE(Tokenizer::fromTokenizerJson(json, "[]"));
  EXPECT_FALSE(Tokenizer::fromTokenizerJson(json, "{"));
}

TEST(TokenizerJsonTest, ModelFlags) {
  Json json = tinyByteLevel();
  json["model"]["vocab"]["xyz"] = 264;
  EXPECT_EQ(encode(json, "xyz"), (Ids{'x', 'y', 'z'}));
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(encode(json, "xyz"), (Ids{264}));

  json = tinyByteFallback();
  json["model"]["byte_fallback"] = false;
  EXPECT_EQ(encode(json, "hAAhA").size(), 1 + 1 + 4u); // BOS, mark, h ? h ?
  json["model"]["fuse_unk"] = false;
  EXPECT_EQ(encode(json, "hAAhA").size(), 1 + 1 + 5u);
  json["model"].erase("unk_token");
  EXPECT_EQ(encode(json, "hAAhA").size(), 1 + 1 + 2u); // Dropped.
  json["model"].erase("type");                         // Old files.
  EXPECT_EQ(encode(json, "hAAhA").size(), 1 + 1 + 2u);
}

TEST(TokenizerJsonTest, PrefixAndSuffixOfWords) {
  Json json = tinyByteLevel();
  json["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  json["decoder"] = nullptr;
  json["model"] = {
      {"type", "BPE"},
      {"vocab", {{"a", 0}, {"b</w>", 1}, {"##b", 2}, {"ab</w>", 3}, {"b", 4}}},
      {"merges", {"a b</w>"}},
      {"end_of_word_suffix", "</w>"}};
  json["added_tokens"] = Json::array();
  EXPECT_EQ(encode(json, "ab bb"), (Ids{3, 4, 1}));
  json["model"] = {{"type", "BPE"},
                   {"vocab", {{"a", 0}, {"##b", 1}, {"ab", 2}, {"b", 3}}},
                   {"merges", {"a ##b"}},
                   {"continuing_subword_prefix", "##"}};
  EXPECT_EQ(encode(json, "ab bb"), (Ids{2, 3, 1}));
  // Without a decoder tokens are joined by spaces.
  Expected<Tokenizer> tokenizer = fromJson(json);
  EXPECT_EQ(tokenizer->decode(Ids{2, 3}), "ab b");
}

TEST(TokenizerJsonTest, Stages) {
  Json json = tinyByteLevel();
  auto withPre = [&](Json stage) {
    Json changed = json;
    changed["pre_tokenizer"] = {{"type", "Sequence"},
                                {"pretokenizers",
                                 {stage,
                                  {{"type", "ByteLevel"},
                                   {"use_regex", false},
                                   {"add_prefix_space", false}}}}};
    return changed;
  };
  auto count = [&](Json stage, const std::string &text) {
    return encode(withPre(stage), text).size();
  };
  // "aaaa" is one token: the number of tokens shows how a text was split.
  EXPECT_EQ(count({{"type", "Digits"}, {"individual_digits", true}}, "aaaa"),
            1u);
  EXPECT_EQ(count({{"type", "FixedLength"}, {"length", 3}}, "aaaa"), 3u);
  EXPECT_EQ(
      count({{"type", "CharDelimiterSplit"}, {"delimiter", "-"}}, "aa-aa"), 2u);
  EXPECT_EQ(count({{"type", "Whitespace"}}, "aaaa  , aa"), 3u);
  EXPECT_EQ(count({{"type", "WhitespaceSplit"}}, "aa aa"), 2u);
  EXPECT_EQ(count({{"type", "Punctuation"}}, "aa.aa"), 3u);
  EXPECT_EQ(count({{"type", "BertPreTokenizer"}}, "aa. aa"), 3u);
  EXPECT_EQ(count({{"type", "Metaspace"},
                   {"replacement", "a"},
                   {"add_prefix_space", false},
                   {"split", false}},
                  "aa a"),
            1u);
  EXPECT_EQ(
      count({{"type", "Split"}, {"pattern", "-"}, {"behavior", "Removed"}},
            "aa-aa"),
      2u);
  json["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Lowercase"}},
        {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}}}};
  EXPECT_EQ(encode(json, " AAAA "), (Ids{262}));
  json["post_processor"] = {
      {"type", "RobertaProcessing"}, {"cls", {"h", 'h'}}, {"sep", {"w", 'w'}}};
  EXPECT_EQ(encode(json, "aaaa"), (Ids{'h', 262, 'w'}));
}

TEST(TokenizerJsonTest, NormalizedAddedTokens) {
  Json json = tinyByteFallback();
  for (Json &token : json["added_tokens"])
    token["normalized"] = true;
  Expected<Tokenizer> tokenizer = fromJson(json);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  // Only at the start is the token preceded by what normalization prepends.
  EXPECT_EQ(encode(*tokenizer, "</s>"), (Ids{1, 2}));
  EXPECT_EQ(encode(*tokenizer, "h</s>").size(), 1 + 2 + 4u);
  // It is decoded in that form, and then no longer the special token's text.
  EXPECT_EQ(tokenizer->decode(Ids{1}, true), "<s>");
}

//===----------------------------------------------------------------------===//
// Hostile files
//===----------------------------------------------------------------------===//

struct BadFile {
  const char *what;     ///< What is wrong, for the test's output.
  const char *mentions; ///< What the message must name.
  std::function<void(Json &)> spoil;
};

/// Every case starts from a good file.
const std::vector<BadFile> badFiles = {
    {"no model", "'model'", [](Json &j) { j.erase("model"); }},
    {"model is a list", "'model'", [](Json &j) { j["model"] = Json::array(); }},
    {"no vocabulary", "vocab", [](Json &j) { j["model"].erase("vocab"); }},
    {"vocabulary is a list", "vocab",
     [](Json &j) { j["model"]["vocab"] = Json::array({"a"}); }},
    {"empty vocabulary", "vocabulary",
     [](Json &j) {
       j["model"]["vocab"] = Json::object();
       j["model"]["merges"] = Json::array();
       j["added_tokens"] = Json::array();
     }},
    {"no merges", "merges", [](Json &j) { j["model"].erase("merges"); }},
    {"merges are a text", "merges", [](Json &j) { j["model"]["merges"] = "a b"; }},
    {"id is a text", "vocab", [](Json &j) { j["model"]["vocab"]["q!"] = "1"; }},
    {"id is a list", "vocab",
     [](Json &j) { j["model"]["vocab"]["q!"] = Json::array({1}); }},
    {"id is an object", "vocab",
     [](Json &j) { j["model"]["vocab"]["q!"] = Json::object(); }},
    {"id is negative", "vocab", [](Json &j) { j["model"]["vocab"]["q!"] = -1; }},
    {"id is broken", "vocab", [](Json &j) { j["model"]["vocab"]["q!"] = 1.5; }},
    {"id is null", "vocab", [](Json &j) { j["model"]["vocab"]["q!"] = nullptr; }},
    {"id of 2^32", "q!",
     [](Json &j) { j["model"]["vocab"]["q!"] = uint64_t(1) << 32; }},
    {"id of 2^64 - 1", "q!",
     [](Json &j) { j["model"]["vocab"]["q!"] = UINT64_MAX; }},
    {"id far beyond the count", "q!",
     [](Json &j) { j["model"]["vocab"]["q!"] = 10'000'000; }},
    {"id given twice", "both have id 7",
     [](Json &j) { j["model"]["vocab"]["q!"] = 7; }},
    {"merge without a space", "merges", 
     [](Json &j) { j["model"]["merges"].push_back("he"); }},
    {"merge of three", "merges",
     [](Json &j) { j["model"]["merges"].push_back("h e l"); }},
    {"merge list of three", "merges",
     [](Json &j) { j["model"]["merges"].push_back({"h", "e", "l"}); }},
    {"merge list of one", "merges",
     [](Json &j) { j["model"]["merges"].push_back(Json::array({"h"})); }},
    {"merge list in a list", "merges",
     [](Json &j) { j["model"]["merges"].push_back({{"h"}, {"e"}}); }},
    {"merge of numbers", "merges",
     [](Json &j) { j["model"]["merges"].push_back({1, 2}); }},
    {"merge is an object", "merges",
     [](Json &j) { j["model"]["merges"].push_back(Json::object()); }},
    {"merge of an unknown part", "'zz'",
     [](Json &j) { j["model"]["merges"].push_back("zz h"); }},
    {"merge into an unknown token", "'hh'",
     [](Json &j) { j["model"]["merges"].push_back("h h"); }},
    {"Unigram", "not a list", [](Json &j) { j["model"]["type"] = "Unigram"; }},
    {"Unigram with its list", "not a pair",
     [](Json &j) {
       j["model"] = {{"vocab", Json::array({Json::array({"a", 0.5}), 1, Json{{"c", 2}}})},
                     {"type", "Unigram"}};
     }},
    {"vocabulary of BPE is a list", "vocab",
     [](Json &j) { j["model"]["vocab"] = Json::array({Json::array({"a", 0.5})}); }},
    {"too many values", "values",
     [](Json &j) { j["extra"] = std::vector<int>(300000); }},
    {"type is a number", "type", [](Json &j) { j["model"]["type"] = 1; }},
    {"dropout", "dropout", [](Json &j) { j["model"]["dropout"] = 0.1; }},
    {"flag is a text", "byte_fallback",
     [](Json &j) { j["model"]["byte_fallback"] = "yes"; }},
    {"unknown token not in vocabulary", "unk_token",
     [](Json &j) { j["model"]["unk_token"] = "<nope>"; }},
    {"added tokens are an object", "added_tokens",
     [](Json &j) { j["added_tokens"] = Json::object(); }},
    {"added token is a text", "added_tokens[1]",
     [](Json &j) { j["added_tokens"].push_back("x"); }},
    {"added token without id", "'id'",
     [](Json &j) { j["added_tokens"].push_back({{"content", "x!"}}); }},
    {"added token with negative id", "'id'",
     [](Json &j) { j["added_tokens"].push_back({{"id", -3}, {"content", "x!"}}); }},
    {"added token with huge id", "'id'",
     [](Json &j) {
       j["added_tokens"].push_back({{"id", 1e18}, {"content", "x!"}});
     }},
    {"added token on another's id", "id 7",
     [](Json &j) { j["added_tokens"].push_back({{"id", 7}, {"content", "x!"}}); }},
    {"added token twice", "id 263",
     [](Json &j) { j["added_tokens"].push_back(j["added_tokens"][0]); }},
    {"added token without text", "content",
     [](Json &j) { j["added_tokens"].push_back({{"id", 264}, {"content", ""}}); }},
    {"added token too long", "bytes long",
     [](Json &j) {
       j["added_tokens"].push_back(
           {{"id", 264}, {"content", std::string(5000, 'x')}});
     }},
    {"unknown normalizer", "Nonsense",
     [](Json &j) { j["normalizer"] = {{"type", "Nonsense"}}; }},
    {"normalizer is a text", "normalizer",
     [](Json &j) { j["normalizer"] = "NFC"; }},
    {"normalizer without type", "type",
     [](Json &j) { j["normalizer"] = Json::object(); }},
    {"Replace without content", "content",
     [](Json &j) {
       j["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}};
     }},
    {"Replace of nothing", "empty",
     [](Json &j) {
       j["normalizer"] = {{"type", "Replace"},
                          {"pattern", {{"String", ""}}},
                          {"content", "a"}};
     }},
    {"unknown pre-tokenizer", "UnicodeScripts",
     [](Json &j) { j["pre_tokenizer"] = {{"type", "UnicodeScripts"}}; }},
    {"Sequence without list", "pretokenizers",
     [](Json &j) { j["pre_tokenizer"] = {{"type", "Sequence"}}; }},
    {"Split without pattern", "pattern",
     [](Json &j) { j["pre_tokenizer"] = {{"type", "Split"}}; }},
    {"Split with an unknown kind of pattern", "pattern",
     [](Json &j) {
       j["pre_tokenizer"] = {{"type", "Split"},
                             {"pattern", {{"Glob", "*"}}},
                             {"behavior", "Isolated"}};
     }},
    {"pattern that does not compile", "does not compile",
     [](Json &j) {
       j["pre_tokenizer"] = {{"type", "Split"},
                             {"pattern", {{"Regex", "(a"}}},
                             {"behavior", "Isolated"}};
     }},
    {"unknown behavior", "behavior",
     [](Json &j) {
       j["pre_tokenizer"] = {{"type", "Split"},
                             {"pattern", {{"Regex", "a"}}},
                             {"behavior", "Shredded"}};
     }},
    {"unknown scheme", "prepend_scheme",
     [](Json &j) {
       j["pre_tokenizer"] = {{"type", "Metaspace"},
                             {"prepend_scheme", "last"}};
     }},
    {"replacement of two characters", "one character",
     [](Json &j) {
       j["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "ab"}};
     }},
    {"too many stages", "stages",
     [](Json &j) {
       Json list = Json::array();
       for (int i = 0; i < 1000; ++i)
         list.push_back({{"type", "Digits"}});
       j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", list}};
     }},
    {"deep recursion of Sequence", "nesting",
     [](Json &j) {
       Json stage = {{"type", "NFC"}};
       for (int i = 0; i < 200; ++i)
         stage = {{"type", "Sequence"}, {"normalizers", {stage}}};
       j["normalizer"] = stage;
     }},
    {"unknown post-processor", "Magic",
     [](Json &j) { j["post_processor"] = {{"type", "Magic"}}; }},
    {"template without the text", "0 times",
     [](Json &j) {
       j["post_processor"] = {{"type", "TemplateProcessing"},
                              {"single", Json::array()}};
     }},
    {"template with an unknown token", "'<x>'",
     [](Json &j) {
       j["post_processor"] = {
           {"type", "TemplateProcessing"},
           {"single",
            {{{"SpecialToken", {{"id", "<x>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
           {"special_tokens", Json::object()}};
     }},
    {"template with an id outside", "999999",
     [](Json &j) {
       j["post_processor"] = {
           {"type", "TemplateProcessing"},
           {"single",
            {{{"SpecialToken", {{"id", "<x>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
           {"special_tokens", {{"<x>", {{"ids", {999999}}}}}}};
     }},
    {"template items are texts", "single",
     [](Json &j) {
       j["post_processor"] = {{"type", "TemplateProcessing"},
                              {"single", {"$A"}}};
     }},
    {"unknown decoder", "Nonsense", [](Json &j) { j["decoder"] = {{"type", "Nonsense"}}; }},
    {"Strip of two characters", "one character",
     [](Json &j) {
       j["decoder"] = {{"type", "Strip"}, {"content", "ab"}, {"start", 1}};
     }},
    {"Strip of -1", "start",
     [](Json &j) {
       j["decoder"] = {{"type", "Strip"}, {"content", "a"}, {"start", -1}};
     }},
    {"ByteFallback after Fuse", "ByteFallback",
     [](Json &j) {
       j["decoder"] = {
           {"type", "Sequence"},
           {"decoders", {{{"type", "Fuse"}}, {{"type", "ByteFallback"}}}}};
     }}};

/// Long words are encoded in parts between which nothing merges. Unknown
/// characters are dropped, so their neighbors may merge.
TEST(TokenizerJsonTest, LongWordsWithUnknownCharacters) {
  Json json = {{"model",
                {{"type", "BPE"},
                 {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}}},
                 {"merges", {"a b"}}}}};
  Expected<Tokenizer> tokenizer = fromJson(json);
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  std::string text;
  std::vector<int32_t> expected;
  for (int i = 0; i < 200; ++i) {
    text += "axbcx";
    expected.insert(expected.end(), {3, 2});
  }
  Expected<std::vector<int32_t>> ids = tokenizer->encode(text);
  ASSERT_TRUE(ids) << ids.status().message();
  EXPECT_EQ(*ids, expected);
}

/// A word has the same ids the first time, from the cache, and on its own.
TEST(TokenizerJsonTest, RepeatedWordsKeepTheirIds) {
  Expected<Tokenizer> tokenizer = fromJson(tinyByteLevel());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  std::mt19937 random(8);
  std::string text;
  std::vector<int32_t> expected;
  std::vector<std::string> words;
  for (int i = 0; i < 400; ++i) {
    std::string word = " ";
    for (size_t n = 1 + random() % 30; n > 0; --n)
      word += "helowa"[random() % 6];
    words.push_back(word);
  }
  for (int i = 0; i < 4000; ++i) {
    const std::string &word = words[random() % words.size()];
    text += word;
    Expected<std::vector<int32_t>> ids = tokenizer->encode(word);
    ASSERT_TRUE(ids);
    expected.insert(expected.end(), ids->begin(), ids->end());
  }
  EXPECT_EQ(*tokenizer->encode(text), expected);
}

TEST(TokenizerJsonTest, RefusesBadFiles) {
  for (const BadFile &bad : badFiles) {
    Json json = tinyByteLevel();
    bad.spoil(json);
    auto start = std::chrono::steady_clock::now();
    Expected<Tokenizer> tokenizer = fromJson(json);
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 1) << bad.what;
    ASSERT_FALSE(tokenizer) << bad.what;
    const std::string &cause = tokenizer.status().cause();
    EXPECT_NE(cause.find(bad.mentions), std::string::npos)
        << bad.what << ": " << cause;
    EXPECT_NE(cause.find("tokenizer.json"), std::string::npos)
        << bad.what << ": " << cause;
    EXPECT_EQ(cause.find('\n'), std::string::npos) << bad.what;
  }
}

TEST(TokenizerJsonTest, RefusesBrokenText) {
  std::string good = tinyByteLevel().dump();
  for (const std::string &text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string("{\"model\": \"\xff\"}"), std::string(100000, '['),
        std::string("{\"a\":1,\"a\":2}"), good + "x",
        std::string("{\"model\":{\"vocab\":{\"a\":0,\"a\":1},\"merges\":[]}}")})
    EXPECT_FALSE(Tokenizer::fromTokenizerJson(text)) << printable(text, 60);
  for (size_t size = 0; size < good.size(); size += 37)
    EXPECT_FALSE(Tokenizer::fromTokenizerJson(good.substr(0, size)));
}

/// For any bytes of a file: a valid tokenizer or an error status.
TEST(TokenizerJsonTest, SurvivesMutations) {
  std::mt19937 random(11);
  for (const Json &json : {tinyByteLevel(), tinyByteFallback()}) {
    const std::string good = json.dump();
    for (int round = 0; round < 1500; ++round) {
      std::string text = good;
      for (int k = random() % 4; k >= 0; --k) {
        size_t at = random() % text.size();
        switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        case 2:
          text.insert(at, text, random() % text.size(), random() % 30);
          break;
        default:
          text[at] = "0123456789[]{},:\"\\"[random() % 18];
        }
        if (text.empty())
          text = " ";
      }
      Expected<Tokenizer> tokenizer = Tokenizer::fromTokenizerJson(text);
      if (!tokenizer)
        continue;
      Expected<Ids> ids = tokenizer->encode("hello <s> w\u4f60<|end|>");
      if (ids) {
        EXPECT_TRUE(isValidUtf8(tokenizer->decode(*ids)));
      }
    }
  }
}

} // namespace
