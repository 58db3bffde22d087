// RUN: llmir-load-generator-tests --gtest_filter='AnswerReader.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/AnswerReader.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

using namespace llmir;

namespace {
/// Seconds, and the JSON of an event.
using Timed = std::vector<std::pair<double, std::string>>;
} // namespace

static HttpEnd ended(long status = 200) { return {status, Status::ok()}; }

/// The record of a stream of events; the request was sent at 10 s.
static AnswerRecord recordOf(LoadApi api, const Timed &events,
                             const HttpEnd &end = ended()) {
  AnswerReader reader(api, 10);
  for (const auto &[time, data] : events)
    EXPECT_TRUE(reader.take(200, "data: " + data + "\n\n", time));
  return reader.finish(end);
}

static std::string text(const std::string &content,
                        const std::string &reason = "null") {
  return R"({"choices": [{"text": ")" + content + R"(", "finish_reason": )" +
         reason + "}]}";
}

static std::string delta(const std::string &content,
                         const std::string &reason = "null") {
  return R"({"choices": [{"delta": )" + content + R"(, "finish_reason": )" +
         reason + "}]}";
}

static const std::string usage =
    R"({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5,
       "prompt_tokens_details": {"cached_tokens": 4}}})";

static std::string oneLine(std::string json) {
  for (char &c : json)
    if (c == '\n')
      c = ' ';
  return json;
}

TEST(AnswerReader, MeasuresCompletions) {
  // The second chunk is a token without a text of its own; the last one only
  // tells why the text ended.
  const AnswerRecord record =
      recordOf(LoadApi::Completions, {{10.5, text("a")},
                                      {10.75, text("")},
                                      {11, text("bc")},
                                      {11.5, text("", "\"length\"")},
                                      {12, oneLine(usage)},
                                      {13, "[DONE]"}});
  EXPECT_EQ(record.failure, "");
  EXPECT_EQ(record.text, "abc");
  EXPECT_DOUBLE_EQ(record.sent, 10);
  EXPECT_DOUBLE_EQ(record.firstToken, 0.5);
  EXPECT_EQ(record.gaps, (std::vector<double>{0.25, 0.25}));
  EXPECT_DOUBLE_EQ(record.latency, 1.5);
  EXPECT_EQ(record.promptTokens, 7);
  EXPECT_EQ(record.outputTokens, 5);
  EXPECT_EQ(record.cachedTokens, 4);
  EXPECT_DOUBLE_EQ(record.timePerToken().value(), 0.25);
}

TEST(AnswerReader, MeasuresChats) {
  // The role comes before any token; reasoning is output, but not said.
  const AnswerRecord record = recordOf(
      LoadApi::Chat, {{10.1, delta(R"({"role": "assistant", "content": ""})")},
                      {10.5, delta(R"({"reasoning_content": "hm"})")},
                      {11, delta(R"({"content": "a"})")},
                      {12, delta(R"({"content": "b"})", "\"stop\"")},
                      {12, oneLine(usage)},
                      {12, "[DONE]"}});
  EXPECT_EQ(record.failure, "");
  EXPECT_EQ(record.text, "ab");
  EXPECT_DOUBLE_EQ(record.firstToken, 0.5);
  EXPECT_EQ(record.gaps, (std::vector<double>{0.5, 1}));
  EXPECT_DOUBLE_EQ(record.latency, 2);
}

TEST(AnswerReader, MeasuresAnAnswerOfOneToken) {
  const std::string one =
      R"({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})";
  const AnswerRecord record =
      recordOf(LoadApi::Completions,
               {{10.5, text("", "\"stop\"")}, {10.5, one}, {10.5, "[DONE]"}});
  EXPECT_EQ(record.failure, "");
  EXPECT_DOUBLE_EQ(record.firstToken, 0.5);
  EXPECT_FALSE(record.timePerToken().has_value());
  EXPECT_FALSE(record.cachedTokens.has_value());
  EXPECT_TRUE(record.gaps.empty());
}

TEST(AnswerReader, TellsWhyARequestFailed) {
  const auto failure = [](const Timed &events, const HttpEnd &end = ended()) {
    return recordOf(LoadApi::Completions, events, end).failure;
  };
  EXPECT_EQ(failure({{11, text("a")}}), "the stream ended early");
  EXPECT_EQ(failure({{11, "[DONE]"}}), "the stream has no tokens");
  EXPECT_EQ(failure({{11, text("a", "\"stop\"")}, {11, "[DONE]"}}),
            "the stream has no usage: the number of its tokens is unknown");
  EXPECT_EQ(
      failure({{11, text("a")}, {11, R"({"error": {"message": "full"}})"}}),
      "an error in the stream: full");
  EXPECT_NE(failure({{11, "{"}}).find("an event of the stream"),
            std::string::npos);
  EXPECT_EQ(failure({{11, text("a")}},
                    {200, Status(StatusCode::IoError, "reset by peer")}),
            "reset by peer");
  EXPECT_EQ(failure({}, {0, Status(StatusCode::IoError, "refused")}),
            "refused");

  AnswerReader refused(LoadApi::Completions, 0);
  EXPECT_TRUE(refused.take(429, R"({"error": {"message": "queue )", 1));
  EXPECT_TRUE(refused.take(429, R"(is full"}})", 1));
  EXPECT_EQ(refused.finish(ended(429)).failure, "status 429: queue is full");
  AnswerReader page(LoadApi::Completions, 0);
  EXPECT_TRUE(page.take(200, "<html>", 1));
  EXPECT_EQ(page.finish(ended()).failure,
            "the answer is not a stream of events: <html>");
}

TEST(AnswerReader, IgnoresWrongTypes) {
  for (const char *data :
       {"1", "[]", "{}", R"({"choices": 1})", R"({"choices": [1]})",
        R"({"choices": [{"text": 1}]})", R"({"usage": []})",
        R"({"usage": {"prompt_tokens": -1, "completion_tokens": "2"}})"})
    for (LoadApi api : {LoadApi::Completions, LoadApi::Chat})
      EXPECT_NE(recordOf(api, {{11, data}}).failure, "") << data;
}
