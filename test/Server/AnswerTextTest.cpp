// RUN: llmir-server-tests --gtest_filter='AnswerText.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/AnswerText.h"

#include "Tokenizer/TestSupport.h"

#include <gtest/gtest.h>

using namespace llmir;

namespace {

/// What was returned for each token, and at the end.
struct Pieces {
  std::vector<std::string> list;
  bool hasStopped = false;

  std::string joined() const {
    std::string text;
    for (const std::string &piece : list)
      text += piece;
    return text;
  }
};

} // namespace

static const Tokenizer &tokenizer() {
  static const Tokenizer made =
      *Tokenizer::fromTokenizerJson(tinyByteLevel().dump());
  return made;
}

/// Feeds the bytes of a text as tokens, one by one.
static Pieces feed(const std::string &text, AnswerTextOptions options) {
  options.continuesText = true;
  AnswerText answer(&tokenizer(),
                    std::make_shared<const AnswerTextOptions>(options));
  Pieces pieces;
  for (char c : text) { // The tokenizer has a token for each byte.
    pieces.list.push_back(answer.add(static_cast<unsigned char>(c)));
    if (answer.hasStopped())
      break;
  }
  pieces.list.push_back(answer.finish());
  pieces.hasStopped = answer.hasStopped();
  return pieces;
}

static AnswerTextOptions withStops(std::vector<std::string> stops) {
  AnswerTextOptions options;
  options.stops = std::move(stops);
  return options;
}

TEST(AnswerText, ReturnsTextAtOnceWithoutStops) {
  const Pieces pieces = feed("hello", {});
  EXPECT_EQ(pieces.list,
            (std::vector<std::string>{"h", "e", "l", "l", "o", ""}));
  EXPECT_FALSE(pieces.hasStopped);
}

TEST(AnswerText, HoldsBackWhatMayBeginAStop) {
  const Pieces pieces = feed("abXYcXYZd", withStops({"XYZ"}));
  EXPECT_EQ(pieces.list, (std::vector<std::string>{"a", "b", "", "", "XYc", "",
                                                   "", "", ""}));
  EXPECT_TRUE(pieces.hasStopped);
  EXPECT_EQ(pieces.joined(), "abXYc");
}

TEST(AnswerText, ReturnsTheRestAtTheEnd) {
  const Pieces pieces = feed("abXY", withStops({"XYZ"}));
  EXPECT_EQ(pieces.joined(), "abXY");
  EXPECT_FALSE(pieces.hasStopped);
}

TEST(AnswerText, FindsStopsThatOverlap) {
  // The beginning of a stop that failed contains that of another attempt.
  EXPECT_EQ(feed("aabaabaac", withStops({"aabaac"})).joined(), "aab");
  EXPECT_EQ(feed("xabc", withStops({"bc", "abcd"})).joined(), "xa");
  EXPECT_EQ(feed("xabcd", withStops({"cd", "abc"})).joined(), "x");
}

TEST(AnswerText, IncludesTheStopIfAsked) {
  AnswerTextOptions options = withStops({"XYZ"});
  options.includesStop = true;
  EXPECT_EQ(feed("abXYZd", options).joined(), "abXYZ");
}

TEST(AnswerText, NeverDependsOnWhereTokensEnd) {
  const std::string text = "the end, the ending, th\xc3\xa9 END";
  for (const char *stop : {"ending", "th\xc3\xa9", "e e", "the e", "D", "zz"}) {
    const std::string whole = text.substr(0, text.find(stop));
    EXPECT_EQ(feed(text, withStops({stop})).joined(), whole) << stop;
    for (const std::string &piece : feed(text, withStops({stop})).list)
      EXPECT_TRUE(isValidUtf8(piece)) << stop;
  }
}

TEST(AnswerText, HasNoTextWithoutATokenizer) {
  AnswerText answer(nullptr, nullptr);
  EXPECT_EQ(answer.add(3), "");
  EXPECT_EQ(answer.finish(), "");
}

TEST(AnswerText, OmitsSpecialTokensUnlessTheyAreKept) {
  const int32_t end = *tokenizer().tokenId("<|end|>");
  AnswerText without(&tokenizer(), std::make_shared<const AnswerTextOptions>());
  EXPECT_EQ(without.add(end), "");
  AnswerTextOptions options;
  options.keepsSpecialToken = [](std::string_view text) {
    return text == "<|end|>";
  };
  AnswerText with(&tokenizer(),
                  std::make_shared<const AnswerTextOptions>(options));
  EXPECT_EQ(with.add(end), "<|end|>");
  EXPECT_EQ(with.add(end, /*isEnd=*/true), "");
}
