// RUN: llmir-server-tests --gtest_filter='ConstraintCache.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests with the same constraint share it, while it is kept.
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ConstraintCache.h"
#include "llmir/Constraint/Sources.h"

#include <gtest/gtest.h>
#include <thread>

using namespace llmir;

namespace {

std::shared_ptr<const TokenVocabulary> bytes() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte)
    texts.emplace_back(1, static_cast<char>(byte));
  return std::make_shared<const TokenVocabulary>(std::move(texts));
}

std::shared_ptr<const Constraint> get(ConstraintCache &cache,
                                      const std::string &pattern) {
  static const auto vocabulary = bytes();
  Grammar grammar;
  auto node = addRegex(grammar, pattern);
  EXPECT_TRUE(node);
  grammar.define(grammar.root(), *node);
  auto constraint = cache.get(grammar, vocabulary);
  EXPECT_TRUE(constraint);
  return *constraint;
}

bool matches(const std::shared_ptr<const Constraint> &constraint,
             const std::string &text) {
  ConstraintMatcher matcher(constraint);
  for (char byte : text)
    if (!matcher.accept(static_cast<uint8_t>(byte)))
      return false;
  return matcher.mayEnd();
}

TEST(ConstraintCache, SharesEqualOnes) {
  ConstraintCache cache;
  const auto first = get(cache, "ab{2}");
  EXPECT_EQ(first, get(cache, "ab{2}"));
  // Of the same parts, but not the same.
  const char *others[] = {"ab{3}",   "ab{2,3}", "a|b{2}", "[ab]{2}",
                          "[ac]{2}", "(ab){2}", "ac{2}",  "abb"};
  std::vector<std::shared_ptr<const Constraint>> known = {first};
  for (const char *pattern : others) {
    const auto made = get(cache, pattern);
    EXPECT_EQ(std::count(known.begin(), known.end(), made), 0) << pattern;
    known.push_back(made);
  }
  EXPECT_TRUE(matches(first, "abb"));
  EXPECT_FALSE(matches(first, "abbb"));
}

TEST(ConstraintCache, ForgetsThoseThatAreLongUnused) {
  ConstraintCache cache;
  const auto first = get(cache, "a{1}b"), second = get(cache, "a{2}b");
  for (int i = 3; i <= 33; ++i) {
    get(cache, "a{" + std::to_string(i) + "}b");
    EXPECT_EQ(get(cache, "a{1}b"), first); // Used.
  }
  EXPECT_NE(get(cache, "a{2}b"), second);
  EXPECT_TRUE(matches(second, "aab")); // Who has it, keeps it.
}

TEST(ConstraintCache, FailuresAreNotKept) {
  ConstraintCache cache;
  Grammar grammar;
  grammar.define(grammar.root(), grammar.choice({}));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(cache.get(grammar, bytes()).status().code(),
              StatusCode::InvalidArgument);
}

TEST(ConstraintCache, ThreadsShareIt) {
  ConstraintCache cache;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 1; i < 200; ++i)
        EXPECT_TRUE(matches(get(cache, "a{" + std::to_string(i % 40 + 1) + "}"),
                            std::string(static_cast<size_t>(i % 40 + 1), 'a')));
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
