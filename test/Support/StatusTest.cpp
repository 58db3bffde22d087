// RUN: llmir-support-tests --gtest_filter='Status*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Status.h"

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
