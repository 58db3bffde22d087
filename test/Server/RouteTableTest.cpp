// RUN: llmir-server-tests --gtest_filter='RouteTable.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/RouteTable.h"

#include <gtest/gtest.h>

using namespace llmir;

static RouteTable table() {
  return RouteTable(
      {{"GET", "/a", {}}, {"POST", "/a", {}}, {"POST", "/b", {}}});
}

TEST(RouteTable, FindsByMethodAndPath) {
  const RouteTable routes = table();
  ASSERT_TRUE(routes.find("GET", "/a"));
  EXPECT_EQ(routes.find("HEAD", "/a"), routes.find("GET", "/a"));
  EXPECT_EQ(routes.find("POST", "/b")->path, "/b");
  EXPECT_TRUE(routes.find("POST", "/b")->needsKey)
      << "unless it says otherwise";
  for (const char *path : {"", "/", "/A", "/a/", "//a", "/a?", "/../a", "a"})
    EXPECT_FALSE(routes.find("GET", path)) << path;
  EXPECT_FALSE(routes.find("get", "/a"));
  EXPECT_FALSE(routes.find("GET", "/b"));
}

TEST(RouteTable, FindsByTheBeginningOfAPath) {
  const RouteTable routes({{"GET", "/a", {}}, {"GET", "/a/*", {}}});
  EXPECT_EQ(routes.find("GET", "/a")->path, "/a");
  for (const char *path : {"/a/b", "/a/b/c", "/a/*", "/a//"})
    EXPECT_EQ(routes.find("GET", path)->path, "/a/*") << path;
  for (const char *path : {"/a/", "/ab", "/b/a/b"})
    EXPECT_FALSE(routes.find("GET", path)) << path;
  EXPECT_EQ(routes.methods("/a/b"), "GET, HEAD");
}

TEST(RouteTable, KnowsTheMethodsOfAPath) {
  EXPECT_EQ(table().methods("/a"), "GET, HEAD, POST");
  EXPECT_EQ(table().methods("/b"), "POST");
  EXPECT_EQ(table().methods("/c"), "");
}

TEST(RouteTable, AcceptsOnlyWholeKeys) {
  const std::vector<std::string> keys = {"abc", "defg"};
  EXPECT_TRUE(hasValidKey("Bearer abc", keys));
  EXPECT_TRUE(hasValidKey("bearer defg", keys));
  for (const char *given :
       {"", "Bearer", "Bearer ", "Bearer ab", "Bearer abcabc", "Bearer abcd",
        "Bearer  abc", "Bearer abc ", "Basic abc", "abc", "Bearer ABC",
        "Bearer a", "Bearer aaa", "Bearer abc, defg"})
    EXPECT_FALSE(hasValidKey(given, keys)) << given;
  EXPECT_FALSE(hasValidKey("Bearer abc", {}));
}
