// RUN: llmir-server-tests --gtest_filter='LogLine.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/LogLine.h"

#include "llmir/Server/ApiError.h"

#include <gtest/gtest.h>

using namespace llmir;

static HttpLogEntry entry() {
  HttpLogEntry entry;
  entry.peer = "127.0.0.1:5";
  entry.method = "GET";
  entry.path = "/a\n\x1b[31m\xff";
  entry.status = 200;
  entry.milliseconds = 1.25;
  entry.details = {{"finish", "stop"}};
  return entry;
}

TEST(LogLine, EscapesWhatTheClientSent) {
  const std::string line = logLine(entry(), LogFormat::Text, 0);
  EXPECT_EQ(line, "1970-01-01T00:00:00Z 127.0.0.1:5 GET "
                  "/a\\x0a\\x1b[31m\\xff 200 1.2 ms finish=stop\n");
}

TEST(LogLine, IsOneObjectOfJson) {
  const std::string line = logLine(entry(), LogFormat::Json, 0);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  Expected<Json> json = parseJson(line, "line");
  ASSERT_TRUE(json) << json.status().message();
  EXPECT_EQ((*json)["finish"], "stop");
  EXPECT_EQ((*json)["status"], 200);
}

TEST(LogLine, ErrorsHaveOpenAIsForm) {
  const ApiError error = ApiError::of(
      Status(StatusCode::InvalidFile, "request: 'n' is 0; expected 1", ""));
  EXPECT_EQ(error.status, 400);
  const Json json = error.toJson()["error"];
  EXPECT_EQ(json["param"], "n");
  EXPECT_EQ(json["type"], "invalid_request_error");
  const auto paramOf = [](const char *message) {
    return ApiError::of(Status(StatusCode::InvalidArgument, message)).param;
  };
  EXPECT_EQ(paramOf("request: sampling_params: 'n' is 0"), "n");
  // The first word in quotation marks need not be a field.
  EXPECT_EQ(paramOf("token id 7 is not 'right'"), "");
  EXPECT_EQ(paramOf("request: there is no 'name' in 'n'"), "");
  EXPECT_EQ(ApiError::of(Status(StatusCode::ResourceExhausted, "full")).status,
            503);
  EXPECT_EQ(ApiError::of(Status(StatusCode::Internal, "a bug")).status, 500);
  // The code, not the words of the message.
  EXPECT_EQ(ApiError::of(Status(StatusCode::ContextLengthExceeded, "")).code,
            "context_length_exceeded");
  EXPECT_EQ(ApiError::of(Status(StatusCode::OutOfRange, "the context")).code,
            "out_of_range");
}
