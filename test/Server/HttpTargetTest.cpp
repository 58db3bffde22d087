// RUN: llmir-server-tests --gtest_filter='HttpTarget.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/HttpTarget.h"

#include <gtest/gtest.h>

using namespace llmir;

static std::string parts(std::string_view target) {
  const HttpTarget result = splitTarget(target);
  std::string text;
  for (std::string_view part : {result.host, result.path, result.query})
    text.append("[").append(part).append("]");
  return text;
}

TEST(HttpTarget, HasHostPathAndQuery) {
  EXPECT_EQ(parts("/a/b"), "[][/a/b][]");
  EXPECT_EQ(parts("/a?b=1?c"), "[][/a][b=1?c]");
  EXPECT_EQ(parts("/?"), "[][/][]");
  EXPECT_EQ(parts("http://a:1/b?c"), "[a:1][/b][c]");
  EXPECT_EQ(parts("HTTPS://a/"), "[a][/][]");
  EXPECT_EQ(parts("http://a"), "[a][/][]");
  EXPECT_EQ(parts("http://a?b"), "[a][/][b]");
  EXPECT_EQ(parts("http:///b"), "[][/b][]");
  EXPECT_EQ(parts("*"), "[][*][]");
  EXPECT_EQ(parts("ftp://a/b"), "[][ftp://a/b][]");
  EXPECT_EQ(parts(""), "[][][]");
}

TEST(HttpTarget, DecodesNames) {
  EXPECT_EQ(percentDecoded("a%2Fb%2fc%20"), "a/b/c ");
  EXPECT_EQ(percentDecoded("%c3%A9"), "\xc3\xa9");
  for (const char *text : {"", "a", "%", "%2", "%2g", "%g2", "100%"})
    EXPECT_EQ(percentDecoded(text), text);
}

TEST(HttpTarget, AdmitsOrigins) {
  const std::vector<std::string> some = {"https://a", "https://b"}, all = {"*"};
  EXPECT_EQ(allowedOrigin("https://b", some), &some[1]);
  EXPECT_EQ(allowedOrigin("https://x", all), &all[0]);
  EXPECT_FALSE(allowedOrigin("https://c", some));
  EXPECT_FALSE(allowedOrigin("http://a", some));
  EXPECT_FALSE(allowedOrigin("", all));
  EXPECT_FALSE(allowedOrigin("https://a", {}));
}

TEST(HttpTarget, KnowsItsOwnOrigin) {
  EXPECT_TRUE(isOwnOrigin("http://a:1", "a:1"));
  EXPECT_TRUE(isOwnOrigin("https://A", "a"));
  for (const char *origin : {"", "null", "a:1", "http://", "http://a",
                             "http://a:12", "http://a:1.b", "file://a:1"})
    EXPECT_FALSE(isOwnOrigin(origin, "a:1")) << origin;
  EXPECT_FALSE(isOwnOrigin("null", ""));
  EXPECT_FALSE(isOwnOrigin("http://", ""));
}
