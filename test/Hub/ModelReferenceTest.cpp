// RUN: llmir-hub-tests --gtest_filter='ModelReference*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/ModelReference.h"
#include "llmir/Hub/Cache.h"
#include "llmir/Hub/Settings.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

using namespace llmir;
using namespace llmir::hub;

TEST(ModelReference, Parts) {
  struct Case {
    const char *text, *repository, *revision, *selector;
  };
  for (const Case &each : {
           Case{"org/name", "org/name", "main", ""},
           Case{"gpt2", "gpt2", "main", ""},
           Case{"org/name@v1.0", "org/name", "v1.0", ""},
           Case{"org/name@refs/pr/1", "org/name", "refs/pr/1", ""},
           Case{"org/name:Q4_K_M", "org/name", "main", "Q4_K_M"},
           Case{"org/name:a/b@c:d.gguf", "org/name", "main", "a/b@c:d.gguf"},
           Case{"org/na.me-1_x@dev:f", "org/na.me-1_x", "dev", "f"},
       }) {
    Expected<ModelReference> reference = ModelReference::parse(each.text);
    ASSERT_TRUE(bool(reference)) << each.text;
    EXPECT_EQ(reference->repository, each.repository);
    EXPECT_EQ(reference->revision, each.revision);
    EXPECT_EQ(reference->selector, each.selector);
    EXPECT_EQ(reference->text(), each.text);
  }
  EXPECT_EQ(ModelReference::parse("a/b@main:c")->text(), "a/b:c");
}

TEST(ModelReference, WrongOnes) {
  const std::string longName(97, 'x');
  for (const std::string &text : {std::string(),
                                  std::string("a/b/c"),
                                  std::string("/a"),
                                  std::string("a/"),
                                  std::string("a/.b"),
                                  std::string("a/b."),
                                  std::string("a--b/c"),
                                  std::string("a/b..c"),
                                  std::string("a b/c"),
                                  std::string("a/b\n"),
                                  std::string("a/\xff"),
                                  std::string("../b"),
                                  std::string("~/b"),
                                  std::string("a/b@"),
                                  std::string("a/b:"),
                                  std::string("a/b@..:f"),
                                  std::string("a/b@x/../y"),
                                  std::string("a/b@/x"),
                                  std::string("a/b@x y"),
                                  std::string("a/b@x^"),
                                  std::string("a/b:/etc/passwd"),
                                  std::string("a/b:../c"),
                                  std::string("a/b@x\0y", 7),
                                  "a/" + longName}) {
    Expected<ModelReference> reference = ModelReference::parse(text);
    ASSERT_FALSE(bool(reference)) << text;
    EXPECT_EQ(reference.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(reference.status().advice(), "");
  }
}

TEST(ModelReference, RandomTextsStayInTheCache) {
  std::mt19937 random(1);
  const std::string alphabet = "ab/.:@-\\ ~%\n_0";
  const Cache cache("/cache");
  for (int i = 0; i < 100000; ++i) {
    std::string text = "a/b";
    for (size_t size = random() % 12; size > 0; --size)
      text += alphabet[random() % alphabet.size()];
    Expected<ModelReference> reference = ModelReference::parse(text);
    if (!reference)
      continue;
    for (const std::string &path :
         {cache.refPath(reference->repository, reference->revision),
          cache.repositoryFolder(reference->repository)}) {
      EXPECT_EQ(path.compare(0, 16, "/cache/models--a"), 0) << text;
      EXPECT_EQ(("/" + path + "/").find("/../"), std::string::npos) << text;
    }
    // The text of a reference means the same.
    Expected<ModelReference> again = ModelReference::parse(reference->text());
    ASSERT_TRUE(bool(again)) << text;
    EXPECT_EQ(again->text(), reference->text());
  }
}

TEST(ModelReference, FileNames) {
  for (const char *name :
       {"a", "a/b", "model-00001-of-00002.safetensors", "..a", "a..", "a/...",
        "\xc3\xbc.json", "a b", "ab:c", "-x", ".hidden"})
    EXPECT_TRUE(bool(checkFileName(name))) << name;
  for (const std::string &name :
       {std::string(), std::string("/a"), std::string("a/"),
        std::string("a//b"), std::string("."), std::string(".."),
        std::string("a/../b"), std::string("a/.."), std::string("./a"),
        std::string("a\\b"), std::string("C:a"), std::string("c:/a"),
        std::string("a\nb"), std::string("a\x7f"), std::string("a\0b", 3),
        std::string("a\xff"), std::string(256, 'x'),
        "a/" + std::string(256, 'x'), std::string(1025, '/')})
    EXPECT_FALSE(bool(checkFileName(name))) << name;
}

namespace {

/// Sets variables of the environment, and clears the others that matter.
class Environment {
public:
  explicit Environment(
      std::initializer_list<std::pair<const char *, const char *>> values) {
    for (const char *name :
         {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME",
          "HOME", "HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
          "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
      unsetenv(name);
    for (const auto &[name, value] : values)
      setenv(name, value, 1);
  }
};

} // namespace

TEST(ModelReferenceSettings, TheCache) {
  auto folder = [](auto... values) {
    Environment environment({values...});
    Expected<std::string> result = cacheFolder();
    return result ? *result : result.status().message();
  };
  using Pair = std::pair<const char *, const char *>;
  EXPECT_EQ(folder(Pair("HOME", "/h")), "/h/.cache/huggingface/hub");
  EXPECT_EQ(folder(Pair("HOME", "/h"), Pair("XDG_CACHE_HOME", "/x")),
            "/x/huggingface/hub");
  EXPECT_EQ(folder(Pair("HF_HOME", "/y"), Pair("XDG_CACHE_HOME", "/x")),
            "/y/hub");
  EXPECT_EQ(folder(Pair("HF_HOME", "~/y"), Pair("HOME", "/h")), "/h/y/hub");
  EXPECT_EQ(folder(Pair("HF_HOME", "/y"), Pair("HUGGINGFACE_HUB_CACHE", "/z")),
            "/z");
  EXPECT_EQ(
      folder(Pair("HUGGINGFACE_HUB_CACHE", "/z"), Pair("HF_HUB_CACHE", " /a ")),
      "/a");
  EXPECT_NE(folder(Pair("HF_ENDPOINT", "x")).find("HF_HUB_CACHE"),
            std::string::npos);
}

TEST(ModelReferenceSettings, Variables) {
  {
    Environment environment({{"HOME", "/nowhere"}});
    Expected<Settings> settings = Settings::fromEnvironment();
    ASSERT_TRUE(bool(settings));
    EXPECT_EQ(settings->endpoint, "https://huggingface.co");
    EXPECT_EQ(settings->token, "");
    EXPECT_FALSE(settings->isOffline);
  }
  {
    Environment environment({{"HOME", "/nowhere"},
                             {"HF_ENDPOINT", "https://mirror.example//"},
                             {"HF_TOKEN", " hf_x\n"},
                             {"TRANSFORMERS_OFFLINE", "yes"}});
    Expected<Settings> settings = Settings::fromEnvironment();
    ASSERT_TRUE(bool(settings));
    EXPECT_EQ(settings->endpoint, "https://mirror.example");
    EXPECT_EQ(settings->token, "hf_x");
    EXPECT_TRUE(settings->isOffline);
  }
  for (const auto &[name, value] : {std::pair("HF_ENDPOINT", "mirror.example"),
                                    std::pair("HF_TOKEN", "two words"),
                                    std::pair("HF_HUB_ETAG_TIMEOUT", "0")}) {
    Environment environment({{"HOME", "/nowhere"}, {name, value}});
    Expected<Settings> settings = Settings::fromEnvironment();
    ASSERT_FALSE(bool(settings)) << name;
    EXPECT_EQ(settings.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(settings.status().cause().find(name), std::string::npos);
    unsetenv(name);
  }
}

TEST(ModelReferenceSettings, TheTokenWithoutAHomeDirectory) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/token") << "hf_file\n";
  {
    Environment environment({{"HF_HOME", folder.c_str()}});
    Expected<Settings> settings = Settings::fromEnvironment();
    ASSERT_TRUE(bool(settings)) << settings.status().message();
    EXPECT_EQ(settings->token, "hf_file");
  }
  std::remove((folder + "/token").c_str());
  {
    // Nothing says where the client keeps its token: not in the root directory.
    Environment environment({{"HF_HUB_CACHE", "/nowhere"}});
    Expected<Settings> settings = Settings::fromEnvironment();
    ASSERT_TRUE(bool(settings)) << settings.status().message();
    EXPECT_EQ(settings->token, "");
  }
}
