// RUN: llmir-load-generator-tests --gtest_filter='Target.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Target.h"

#include <gtest/gtest.h>

using namespace llmir;

TEST(Target, UnderstandsAddresses) {
  EXPECT_EQ(*serverAddress("http://a:1"), "http://a:1");
  EXPECT_EQ(*serverAddress("https://a/"), "https://a");
  EXPECT_EQ(*serverAddress("http://a:1/v1"), "http://a:1");
  EXPECT_EQ(*serverAddress("http://a/proxy/v1//"), "http://a/proxy");
  EXPECT_EQ(serverAddress("a:1").status().message(),
            "'a:1' is not the address of a server; give one such as "
            "http://127.0.0.1:8080");
}

TEST(Target, KnowsTheApiOfAnEndpoint) {
  LoadTarget target;
  target.endpoint = "/v1/completions";
  EXPECT_EQ(*target.api(), LoadApi::Completions);
  target.endpoint = "/v1/chat/completions";
  EXPECT_EQ(*target.api(), LoadApi::Chat);
  target.endpoint = "/generate";
  EXPECT_EQ(target.api().status().code(), StatusCode::InvalidArgument);
}

TEST(Target, MakesRequests) {
  LoadTarget target;
  target.model = "m";
  target.ignoresEos = true;
  target.extra = {{"top_p", 0.5}};
  EXPECT_EQ(Json::parse(requestBody(target, LoadApi::Completions, {1, 2}, 3)),
            Json({{"model", "m"},
                  {"prompt", {1, 2}},
                  {"max_tokens", 3},
                  {"stream", true},
                  {"stream_options", {{"include_usage", true}}},
                  {"ignore_eos", true},
                  {"top_p", 0.5}}));
  target.ignoresEos = false;
  target.extra = Json::object();
  target.temperature = 0;
  const Json chat =
      Json::parse(requestBody(target, LoadApi::Chat, Json::array(), 3));
  EXPECT_EQ(chat["messages"], Json::array());
  EXPECT_EQ(chat["temperature"], 0);
  EXPECT_FALSE(chat.contains("ignore_eos"));
  EXPECT_FALSE(chat.contains("prompt"));
}

TEST(Target, FindsTheMessageOfARefusal) {
  EXPECT_EQ(describeRefusal(400, R"({"error": {"message": "a", "code": 1}})"),
            "status 400: a");
  EXPECT_EQ(describeRefusal(422, R"({"detail": "b"})"), "status 422: b");
  EXPECT_EQ(describeRefusal(500, R"({"error": "c"})"), "status 500: c");
  EXPECT_EQ(describeRefusal(502, "Bad\ngateway"),
            "status 502: Bad\\x0agateway");
  EXPECT_EQ(describeRefusal(503, ""), "status 503");
}
