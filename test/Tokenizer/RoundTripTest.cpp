// RUN: llmir-tokenizer-tests --gtest_filter='RoundTripTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random Unicode there and back; streaming; long texts of one class.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "llmir/Tokenizer/StreamDecoder.h"

#include <chrono>

using namespace llmir;

namespace {

/// The tokenizers of the test data, or the tiny ones alone.
std::vector<std::pair<std::string, Tokenizer>> allTokenizers() {
  std::vector<std::pair<std::string, Tokenizer>> list;
  list.emplace_back("tiny byte-level", *fromJson(tinyByteLevel()));
  list.emplace_back("tiny byte fallback", *fromJson(tinyByteFallback()));
  for (const char *name :
       {"gpt2", "llama2", "llama3.1", "minimind2", "mistral-v1", "smollm2"}) {
    std::string folder = testData(std::string("tokenizers/") + name);
    if (folder.empty())
      continue;
    Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(folder);
    EXPECT_TRUE(tokenizer) << tokenizer.status().message();
    if (tokenizer)
      list.emplace_back(name, *tokenizer);
  }
  return list;
}

std::string streamed(const Tokenizer &tokenizer, const Ids &ids, bool skip) {
  StreamDecoderOptions options;
  options.skipSpecialTokens = skip;
  StreamDecoder stream(tokenizer, options);
  std::string text;
  for (int32_t id : ids) {
    std::string piece = stream.feed(id);
    EXPECT_TRUE(isValidUtf8(piece)) << printable(piece);
    text += piece;
  }
  return text + stream.flush();
}

/// None of these tokenizers normalizes anything away.
TEST(RoundTripTest, RandomUnicode) {
  EncodeOptions plain;
  plain.addSpecialTokens = false;
  for (auto &[name, tokenizer] : allTokenizers()) {
    if (name == "smollm2")
      continue; // Its vocabulary has no token for some bytes.
    std::mt19937 random(23);
    for (int i = 0; i < 500; ++i) {
      std::string text = randomText(random, random() % 60);
      // Kinds that write spaces as U+2581 cannot tell the two apart.
      std::string expected = text;
      bool marksSpaces = tokenizer.tokenId("\u2581").has_value();
      for (size_t at;
           marksSpaces && (at = expected.find("\u2581")) != std::string::npos;)
        expected.replace(at, 3, " ");
      Expected<Ids> ids = tokenizer.encode(text, plain);
      ASSERT_TRUE(ids) << ids.status().message();
      EXPECT_EQ(tokenizer.decode(*ids), expected) << name;
      EXPECT_EQ(streamed(tokenizer, *ids, false), expected) << name;
    }
  }
}

/// Arbitrary ids: every piece is valid UTF-8, and for byte-level vocabularies
/// all pieces together equal the whole.
TEST(RoundTripTest, StreamingRandomIds) {
  for (auto &[name, tokenizer] : allTokenizers()) {
    std::mt19937 random(29);
    bool isByteLevel = !tokenizer.tokenId("<0x00>").has_value();
    for (int i = 0; i < 300; ++i) {
      Ids ids(random() % 30);
      for (int32_t &id : ids)
        id = static_cast<int32_t>(random() % (tokenizer.vocabSize() + 5)) - 2;
      for (bool skip : {false, true}) {
        std::string whole = tokenizer.decode(ids, skip);
        EXPECT_TRUE(isValidUtf8(whole));
        std::string pieces = streamed(tokenizer, ids, skip);
        if (isByteLevel) {
          EXPECT_EQ(pieces, whole) << name;
        }
      }
    }
  }
}

TEST(RoundTripTest, StreamingHoldsHalfCharacters) {
  Expected<Tokenizer> byteLevel = fromJson(tinyByteLevel());
  Expected<Tokenizer> fallback = fromJson(tinyByteFallback());
  ASSERT_TRUE(byteLevel && fallback);
  for (auto [tokenizer, offset] :
       {std::pair(*byteLevel, 0), std::pair(*fallback, 3)}) {
    StreamDecoder stream(tokenizer);
    EXPECT_EQ(stream.feed(offset + 0xf0), "");
    EXPECT_EQ(stream.feed(offset + 0x9f), "");
    EXPECT_EQ(stream.feed(offset + 0x98), "");
    EXPECT_EQ(stream.feed(offset + 0x80), "\U0001f600");
    EXPECT_EQ(stream.feed(offset + 0xe4), "");
    // Not continued: one replacement, and what follows is not lost.
    EXPECT_EQ(stream.feed(*tokenizer.tokenId("h")), "\ufffdh");
    EXPECT_EQ(stream.feed(offset + 0xe4), "");
    EXPECT_EQ(stream.feed(offset + 0xbd), "");
    EXPECT_EQ(stream.flush(), "\ufffd");
    EXPECT_EQ(stream.flush(), "");
    EXPECT_EQ(stream.feed(*tokenizer.tokenId("h")), "h");
  }
}

TEST(RoundTripTest, StreamingBeginsOrContinues) {
  Expected<Tokenizer> tokenizer = fromJson(tinyByteFallback());
  ASSERT_TRUE(tokenizer);
  int32_t hello = *tokenizer->tokenId("\u2581hello");
  StreamDecoder begins(*tokenizer);
  EXPECT_EQ(begins.feed(1), ""); // Skipped; the text has not begun.
  EXPECT_EQ(begins.feed(hello), "hello");
  EXPECT_EQ(begins.feed(hello), " hello");
  StreamDecoderOptions options;
  options.continuesText = true;
  StreamDecoder continues(*tokenizer, options);
  EXPECT_EQ(continues.feed(hello), " hello");
  StreamDecoder moved = std::move(continues);
  EXPECT_EQ(moved.feed(hello), " hello");
}

TEST(RoundTripTest, RefusesTextThatIsNotUtf8) {
  Expected<Tokenizer> tokenizer = fromJson(tinyByteLevel());
  ASSERT_TRUE(tokenizer);
  for (auto [text, offset] :
       {std::pair("ab\xff", "byte 2"), std::pair("\xed\xa0\x80", "byte 0"),
        std::pair("a\xc0\xaf", "byte 1"), std::pair("abc\xe4\xbd", "byte 3")}) {
    Expected<Ids> ids = tokenizer->encode(text);
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(ids.status().cause().find(offset), std::string::npos);
  }
}

/// A megabyte of one class of characters takes no stack and no quadratic time.
/// Real time is bounded loosely, for machines under load and sanitizers.
TEST(RoundTripTest, MegabyteOfOneClass) {
  EncodeOptions plain;
  plain.addSpecialTokens = false;
  constexpr size_t megabyte = size_t(1) << 20;
  for (auto &[name, tokenizer] : allTokenizers()) {
    if (name == "gpt2" || name == "minimind2" || name == "mistral-v1")
      continue; // Nothing that the others do not show.
    for (std::string unit : {"A", " ", ".", "\u4e2d", "\u0301", "1", "a "}) {
      std::string text;
      while (text.size() < megabyte)
        text += unit;
      auto start = std::chrono::steady_clock::now();
      Expected<Ids> ids = tokenizer.encode(text, plain);
      std::chrono::duration<double> taken =
          std::chrono::steady_clock::now() - start;
      ASSERT_TRUE(ids) << ids.status().message();
      EXPECT_LT(taken.count(), 5) << name << ": " << unit;
      EXPECT_TRUE(tokenizer.decode(*ids) == text) << name << ": " << unit;
    }
  }
}

} // namespace
