// RUN: llmir-load-generator-tests --gtest_filter='Workload.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Workload.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <sstream>

using namespace llmir;

namespace {
/// A file with this text, removed at the end.
class TextFile {
public:
  explicit TextFile(const std::string &text)
      : path(testing::TempDir() + "llmir-workload-" +
             testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path) << text;
  }
  ~TextFile() { std::remove(path.c_str()); }
  const std::string path;
};
} // namespace

static RandomWorkload someWorkload() {
  RandomWorkload workload;
  workload.count = 60;
  workload.inputLength = 20;
  workload.outputLength = 10;
  return workload;
}

TEST(Workload, DrawsFromTheIds) {
  const std::vector<int32_t> ids = {3, 5, 8};
  std::set<int32_t> used;
  const auto all = randomConversations(someWorkload(), ids);
  ASSERT_EQ(all.size(), 60u);
  for (const Conversation &conversation : all) {
    ASSERT_EQ(conversation.size(), 1u);
    EXPECT_EQ(conversation[0].content.size(), 20u);
    EXPECT_EQ(conversation[0].maxTokens, 10);
    for (const Json &id : conversation[0].content)
      used.insert(id.get<int32_t>());
  }
  EXPECT_EQ(used, (std::set<int32_t>{3, 5, 8}));
}

TEST(Workload, RepeatsForASeed) {
  const auto contents = [](uint64_t seed) {
    RandomWorkload workload = someWorkload();
    workload.seed = seed;
    Json list;
    for (const Conversation &conversation : randomConversations(workload, {}))
      list.push_back(conversation[0].content);
    return list;
  };
  EXPECT_EQ(contents(1), contents(1));
  EXPECT_NE(contents(1), contents(2));
}

TEST(Workload, KeepsLengthsInTheirRange) {
  RandomWorkload workload = someWorkload();
  workload.count = 500;
  workload.rangeRatio = 0.5;
  workload.prefixLength = 4;
  size_t least = 100, most = 0;
  int64_t leastOutput = 100, mostOutput = 0;
  for (const Conversation &each : randomConversations(workload, {1, 2})) {
    least = std::min(least, each[0].content.size());
    most = std::max(most, each[0].content.size());
    leastOutput = std::min(leastOutput, each[0].maxTokens);
    mostOutput = std::max(mostOutput, each[0].maxTokens);
  }
  EXPECT_EQ(least, 14u);
  EXPECT_EQ(most, 34u);
  EXPECT_EQ(leastOutput, 5);
  EXPECT_EQ(mostOutput, 15);
}

TEST(Workload, SharesPrefixes) {
  RandomWorkload workload = someWorkload();
  workload.prefixLength = 16;
  workload.numPrefixes = 3;
  std::vector<int32_t> ids(1000);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(i);
  std::set<Json> prefixes, suffixes;
  const auto all = randomConversations(workload, ids);
  for (size_t i = 0; i < all.size(); ++i) {
    const Json &content = all[i][0].content;
    ASSERT_EQ(content.size(), 36u);
    EXPECT_TRUE(std::equal(content.begin(), content.begin() + 16,
                           all[i % 3][0].content.begin()));
    prefixes.insert(
        Json(std::vector<Json>(content.begin(), content.begin() + 16)));
    suffixes.insert(
        Json(std::vector<Json>(content.begin() + 16, content.end())));
  }
  EXPECT_EQ(prefixes.size(), 3u);
  EXPECT_EQ(suffixes.size(), all.size());
}

TEST(Workload, MakesConversationsOfWords) {
  RandomWorkload workload = someWorkload();
  workload.turns = 3;
  for (const Conversation &conversation : randomConversations(workload, {})) {
    ASSERT_EQ(conversation.size(), 3u);
    for (const Turn &turn : conversation) {
      std::istringstream text(turn.content.get<std::string>());
      int count = 0;
      for (std::string word; text >> word; ++count)
        EXPECT_NE(wordsText().find(word), std::string::npos);
      EXPECT_EQ(count, 20);
    }
  }
}

TEST(Workload, ReadsFiles) {
  const TextFile file("{\"prompt\": \"a\"}\n\n"
                      "{\"prompt\": [1, 2], \"output_tokens\": 5}\n");
  auto all = readConversations(file.path, 5, 9, LoadApi::Completions);
  ASSERT_TRUE(all) << all.status().message();
  ASSERT_EQ(all->size(), 5u); // Repeated.
  EXPECT_EQ((*all)[0][0].content, "a");
  EXPECT_EQ((*all)[0][0].maxTokens, 9);
  EXPECT_EQ((*all)[3][0].content, Json({1, 2}));
  EXPECT_EQ((*all)[3][0].maxTokens, 5);
  EXPECT_EQ((*all)[4][0].content, "a");
}

TEST(Workload, RefusesWrongFiles) {
  const auto problem = [](const std::string &text, LoadApi api) {
    const TextFile file(text);
    auto all = readConversations(file.path, 5, 9, api);
    const std::string message = all ? "" : all.status().message();
    return message.substr(std::min(message.size(), file.path.size() + 2));
  };
  const auto completions = LoadApi::Completions, chat = LoadApi::Chat;
  EXPECT_EQ(problem("\n\n", completions),
            " has no prompts; give a file of JSON lines");
  EXPECT_NE(problem("{\"prompt\": \"a\"}\n{", completions).find(", line 2"),
            std::string::npos);
  EXPECT_NE(problem("[]", completions), "");
  EXPECT_NE(problem("{}", completions).find("'prompt'"), std::string::npos);
  for (const char *prompt : {"1", "[]", "[-1]", "[1.5]", "[\"a\"]", "{}"})
    EXPECT_NE(problem("{\"prompt\": " + std::string(prompt) + "}", completions),
              "");
  EXPECT_NE(problem("{\"prompt\": \"a\", \"output_tokens\": 0}", completions),
            "");
  EXPECT_NE(problem("{\"messages\": []}", completions)
                .find("give --endpoint /v1/chat/completions"),
            std::string::npos);
  EXPECT_NE(problem("{\"prompt\": [1]}", chat).find("a text"),
            std::string::npos);
  EXPECT_FALSE(readConversations("/nowhere/file", 1, 1, chat));
}

TEST(Workload, ArrivesAtOnceOrByRate) {
  EXPECT_EQ(arrivalTimes(3, std::numeric_limits<double>::infinity(), 1, 0),
            (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(arrivalTimes(0, 1, 1, 0).empty());
  const auto deviation = [](double burstiness) {
    const auto times = arrivalTimes(2000, 10, burstiness, 7);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_NEAR(times.back(), 200, 1e-9);
    double before = 0, squares = 0;
    for (double time : times) {
      squares += std::pow((time - before) * 10 - 1, 2);
      before = time;
    }
    return std::sqrt(squares / static_cast<double>(times.size()));
  };
  // The coefficient of variation of a gamma distribution is 1 / sqrt(shape).
  EXPECT_NEAR(deviation(1), 1, 0.1);
  EXPECT_NEAR(deviation(4), 0.5, 0.05);
  EXPECT_NEAR(deviation(0.25), 2, 0.4);
}
