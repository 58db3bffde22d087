// RUN: llmir-tokenizer-tests --gtest_filter='SerializationTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stored form: the same tokenizer comes back, damaged bytes do not.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "Vocabulary.h"

using namespace llmir;

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Tokenizer> tinyTokenizers() {
  std::vector<Tokenizer> list;
  Json stages = tinyByteLevel();
  stages["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"Regex", "x+"}}}, {"content", "x"}};
  stages["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers",
                              {{{"type", "Split"},
                                {"pattern", {{"String", " "}}},
                                {"behavior", "MergedWithNext"}},
                               {{"type", "Metaspace"}, {"split", true}}}}};
  for (const Json &json : {tinyByteLevel(), tinyByteFallback(), stages}) {
    Expected<Tokenizer> tokenizer = fromJson(json);
    EXPECT_TRUE(tokenizer) << tokenizer.status().message();
    list.push_back(*tokenizer);
  }
  VocabularyData scored;
  scored.model = "llama";
  scored.tokens = {"<unk>", "<s>", "</s>", "a", "b", "ab", "bab"};
  scored.scores = {0, 0, 0, -3, -3, -2, -1};
  scored.types = {2, 3, 3, 1, 1, 1, 5};
  scored.unknown = 0, scored.bos = 1, scored.eos = 2;
  Expected<Tokenizer> tokenizer = Tokenizer::fromVocabulary(scored);
  EXPECT_TRUE(tokenizer) << tokenizer.status().message();
  list.push_back(*tokenizer);
  return list;
}

TEST(SerializationTest, ComesBackEqual) {
  std::mt19937 random(3);
  for (const Tokenizer &tokenizer : tinyTokenizers()) {
    Bytes stored = tokenizer.serialize();
    Expected<Tokenizer> loaded = Tokenizer::load(stored);
    ASSERT_TRUE(loaded) << loaded.status().message();
    EXPECT_EQ(loaded->serialize(), stored);
    EXPECT_EQ(loaded->bosId(), tokenizer.bosId());
    EXPECT_EQ(loaded->vocabSize(), tokenizer.vocabSize());
    for (int i = 0; i < 200; ++i) {
      std::string text = randomText(random, random() % 40);
      Expected<Ids> before = tokenizer.encode(text),
                    after = loaded->encode(text);
      ASSERT_TRUE(before && after);
      EXPECT_EQ(*before, *after);
      EXPECT_EQ(tokenizer.decode(*before), loaded->decode(*after));
    }
  }
}

TEST(SerializationTest, RefusesEveryTruncation) {
  for (const Tokenizer &tokenizer : tinyTokenizers()) {
    Bytes stored = tokenizer.serialize();
    for (size_t size = 0; size < stored.size(); ++size) {
      // A copy, so that reads past the end are detected.
      Bytes part(stored.begin(), stored.begin() + ptrdiff_t(size));
      EXPECT_FALSE(Tokenizer::load(part)) << size;
    }
    stored.push_back(0);
    EXPECT_FALSE(Tokenizer::load(stored));
  }
}

TEST(SerializationTest, NamesTheVersion) {
  Bytes stored = tinyTokenizers()[0].serialize();
  stored[8] = 99;
  Expected<Tokenizer> loaded = Tokenizer::load(stored);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.status().code(), StatusCode::IncompatibleTarget);
  EXPECT_NE(loaded.status().cause().find("version 99"), std::string::npos);
}

/// For any bytes: a valid tokenizer or an error status.
TEST(SerializationTest, SurvivesMutations) {
  std::mt19937 random(17);
  for (const Tokenizer &tokenizer : tinyTokenizers()) {
    const Bytes good = tokenizer.serialize();
    for (int round = 0; round < 3000; ++round) {
      Bytes stored = good;
      for (int k = random() % 4; k >= 0; --k) {
        size_t at = random() % stored.size();
        if (random() % 3 == 0) // A length or id becomes huge.
          for (size_t i = at; i < std::min(at + 8, stored.size()); ++i)
            stored[i] = 0xff;
        else
          stored[at] = static_cast<uint8_t>(random());
      }
      Expected<Tokenizer> loaded = Tokenizer::load(stored);
      if (!loaded)
        continue;
      Expected<Ids> ids = loaded->encode("hello a bab\u4f60 <s> xx<|end|>");
      if (ids) {
        EXPECT_TRUE(isValidUtf8(loaded->decode(*ids)));
      }
    }
  }
}

} // namespace
