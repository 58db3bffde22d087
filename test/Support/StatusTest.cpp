// RUN: llmir-support-tests --gtest_filter='Status*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Status.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/MessageLine.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

using namespace llmir;

namespace {

Expected<int> half(int value) {
  if (value % 2)
    return Status(StatusCode::InvalidArgument, "3 is odd", "pass an even one");
  return value / 2;
}

Status halve(int value, int &out) {
  Expected<int> result = half(value);
  if (!result)
    return result.takeStatus();
  out = *result;
  return Status::ok();
}

Status quarter(int value, int &out) {
  LLMIR_RETURN_IF_ERROR(halve(value, out));
  return halve(out, out);
}

} // namespace

TEST(Status, SaysCauseThenAdvice) {
  Status status(StatusCode::NotFound, "no such file", "check the path");
  EXPECT_FALSE(status);
  EXPECT_EQ(status.message(), "no such file; check the path");
  EXPECT_EQ(Status(StatusCode::NotFound, "no such file").message(),
            "no such file");
}

TEST(Status, MessagesAreOneLineThatATerminalMayShow) {
  Status status(StatusCode::InvalidFile, "'a\n\x1b[31m\r\x7f\x9b'",
                "fetch\tit again\n");
  EXPECT_EQ(status.message(), "'a\\x0a\\x1b[31m\\x0d\\x7f\\x9b'; "
                              "fetch\\x09it again");
  // C1 controls, line ends and directional marks in UTF-8; letters are
  // preserved.
  EXPECT_EQ(messageLine("\xc2\x9b"
                        "2J \u2028 \u202e \u2066 \u200f \u061c grüße €"),
            "\\xc2\\x9b2J \\xe2\\x80\\xa8 \\xe2\\x80\\xae \\xe2\\x81\\xa6 "
            "\\xe2\\x80\\x8f \\xd8\\x9c grüße €");
}

TEST(Status, OfALongMessageTheMiddleIsLeftOut) {
  for (const char *letter : {"x", "\x1b", "€", "\xff"}) {
    std::string name;
    for (int i = 0; i < 100000; ++i)
      name += letter;
    Status status(StatusCode::NotFound, "a.json: there is no '" + name + "'",
                  "check the path");
    const std::string line = status.message();
    EXPECT_LE(line.size(), kMaxMessageBytes);
    EXPECT_GT(line.size(), kMaxMessageBytes - 50);
    EXPECT_EQ(line.find("a.json: there is no '"), 0u);
    EXPECT_NE(line.find("…"), std::string::npos);
    EXPECT_EQ(line.substr(line.size() - 17), "'; check the path");
    EXPECT_TRUE(isValidUtf8(line));
    EXPECT_EQ(messageLine(line), line);
  }
}

TEST(Status, ContextComesFirstAndOnlyOnFailure) {
  Status status(StatusCode::InvalidFile, "too short", "download it again");
  EXPECT_EQ(std::move(status).withContext("a.gguf").message(),
            "a.gguf: too short; download it again");
  EXPECT_TRUE(Status::ok().withContext("a.gguf").isOk());
}

TEST(Status, FailuresTravelThroughExpected) {
  int out = 0;
  EXPECT_TRUE(quarter(8, out));
  EXPECT_EQ(out, 2);
  Status failed = quarter(6, out);
  EXPECT_EQ(failed.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(failed.message(), "3 is odd; pass an even one");
}

TEST(Status, ExpectedHoldsWhatCannotBeCopied) {
  Expected<std::unique_ptr<int>> value(std::make_unique<int>(7));
  ASSERT_TRUE(value);
  EXPECT_EQ(**value, 7);
}

TEST(Status, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::Internal); ++code)
    names.insert(statusCodeName(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), static_cast<size_t>(StatusCode::Internal) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
}
