// RUN: llmir-command-tests --gtest_filter='ArtifactCache*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactCache.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/MappedFile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llmir;
using namespace llmir::cli;

namespace {

class ArtifactCacheTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/llmir-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    options.folder = root + "/below/cache";
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  ArtifactCache openCache() {
    Expected<ArtifactCache> cache = ArtifactCache::open(options);
    EXPECT_TRUE(cache) << cache.status().message();
    return *cache;
  }
  /// Asks for an artifact of `size` bytes; counts how often it is made.
  Expected<std::string> get(ArtifactCache &cache, const std::string &key,
                            size_t size = 100) {
    return cache.findOrMake("model", key, 0, [&](const std::string &path) {
      ++made;
      return writeFileAtomically(path, std::string(size, 'x'));
    });
  }

  std::string root;
  CacheOptions options;
  std::atomic<int> made{0};
};

} // namespace

TEST_F(ArtifactCacheTest, MakesEachKeyOnce) {
  ArtifactCache cache = openCache();
  Expected<std::string> first = get(cache, "a"), again = get(cache, "a");
  Expected<std::string> other = get(cache, "b");
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(made, 2);
  struct stat info;
  ASSERT_EQ(stat(options.folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
}

TEST_F(ArtifactCacheTest, ManyAtOnceMakeItOnce) {
  ArtifactCache cache = openCache();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(get(cache, "same")); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(ArtifactCacheTest, AFailureLeavesNoEntry) {
  ArtifactCache cache = openCache();
  Expected<std::string> failed =
      cache.findOrMake("model", "a", 0, [](const std::string &) {
        return Status(StatusCode::Unsupported, "no");
      });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.status().cause(), "no");
  EXPECT_TRUE(cache.entries()->empty());
  EXPECT_TRUE(get(cache, "a"));
}

TEST_F(ArtifactCacheTest, AnotherKeyOfTheSameNameIsNotUsed) {
  ArtifactCache cache = openCache();
  std::string path = *get(cache, "a");
  std::string key = path.substr(0, path.size() - 6) + ".key";
  ASSERT_TRUE(writeFileAtomically(key, "model model\nsomething else"));
  EXPECT_TRUE(get(cache, "a"));
  EXPECT_EQ(made, 2);
}

TEST_F(ArtifactCacheTest, RemovesTheLeastRecentlyUsed) {
  options.limitGB = 250e-9; // 250 bytes: two entries of 100.
  ArtifactCache cache = openCache();
  auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ASSERT_TRUE(get(cache, "a"));
  pause();
  ASSERT_TRUE(get(cache, "b"));
  pause();
  ASSERT_TRUE(get(cache, "a")); // Now b is the older one.
  pause();
  ASSERT_TRUE(get(cache, "c"));
  EXPECT_EQ(cache.entries()->size(), 2u);
  made = 0;
  EXPECT_TRUE(get(cache, "a"));
  EXPECT_TRUE(get(cache, "c"));
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(get(cache, "b"));
  EXPECT_EQ(made, 1);
}

TEST_F(ArtifactCacheTest, KeepsWhatWasJustMadeEvenAboveTheLimit) {
  options.limitGB = 0;
  ArtifactCache cache = openCache();
  Expected<std::string> path = get(cache, "a");
  ASSERT_TRUE(path);
  EXPECT_EQ(access(path->c_str(), R_OK), 0);
}

TEST_F(ArtifactCacheTest, RefusesAFolderThatOthersMayWriteTo) {
  openCache();
  ASSERT_EQ(chmod(options.folder.c_str(), 0770), 0);
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.status().message().find("chmod 700"), std::string::npos);
}

TEST_F(ArtifactCacheTest, RefusesTheFolderOfAnotherUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  openCache();
  ASSERT_EQ(chown(options.folder.c_str(), 12345, 12345), 0);
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.status().cause().find("12345"), std::string::npos);
}

/// The directory is this user's, and a file in it is not: it came there in
/// another way, and artifacts are programs.
TEST_F(ArtifactCacheTest, MakesAgainWhatOthersMayWrite) {
  ArtifactCache cache = openCache();
  const std::string path = *get(cache, "a");
  const std::string key = path.substr(0, path.size() - 6) + ".key";
  for (const std::string &file : {path, key})
    for (mode_t mode : {0620, 0602}) {
      made = 0;
      ASSERT_EQ(chmod(file.c_str(), mode), 0);
      EXPECT_TRUE(get(cache, "a"));
      EXPECT_EQ(made, 1) << file;
      struct stat info;
      ASSERT_EQ(stat(file.c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 0077u, 0u) << file;
      EXPECT_TRUE(get(cache, "a"));
      EXPECT_EQ(made, 1) << file;
    }
}

TEST_F(ArtifactCacheTest, MakesAgainWhatBelongsToAnotherUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ArtifactCache cache = openCache();
  const std::string path = *get(cache, "a");
  const std::string base = path.substr(0, path.size() - 6);
  for (const char *end : {".llmir", ".key"}) {
    made = 0;
    ASSERT_EQ(chown((base + end).c_str(), 12345, 12345), 0);
    EXPECT_TRUE(get(cache, "a"));
    EXPECT_EQ(made, 1) << end;
    struct stat info;
    ASSERT_EQ(stat((base + end).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, geteuid());
  }
}

TEST_F(ArtifactCacheTest, MakesAgainWhatIsALink) {
  ArtifactCache cache = openCache();
  const std::string path = *get(cache, "a");
  const std::string outside = root + "/outside";
  ASSERT_EQ(rename(path.c_str(), outside.c_str()), 0);
  ASSERT_EQ(symlink(outside.c_str(), path.c_str()), 0);
  made = 0;
  EXPECT_TRUE(get(cache, "a"));
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(std::filesystem::exists(outside)); // It is not ours.
}

TEST_F(ArtifactCacheTest, AFolderInAFilesPlaceIsRemovedOrNamed) {
  ArtifactCache cache = openCache();
  const std::string path = *get(cache, "a");
  const std::string base = path.substr(0, path.size() - 6);
  for (const char *end : {".llmir", ".key", ".lock"}) {
    SCOPED_TRACE(end);
    const std::string place = base + end;
    for (const char *other : {".llmir", ".key", ".lock"})
      std::filesystem::remove_all(base + other);
    ASSERT_TRUE(std::filesystem::create_directory(place));
    EXPECT_TRUE(get(cache, "a")); // An empty one is removed.
    EXPECT_TRUE(std::filesystem::is_regular_file(place));
    for (const char *other : {".llmir", ".key", ".lock"})
      std::filesystem::remove_all(base + other);
    ASSERT_TRUE(std::filesystem::create_directory(place));
    ASSERT_TRUE(writeFileAtomically(place + "/letter.txt", "x"));
    Expected<std::string> refused = get(cache, "a");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.status().cause().find("'" + place + "' is a directory"),
              std::string::npos)
        << refused.status().message();
    EXPECT_EQ(refused.status().advice(), "remove it: rm -r '" + place + "'");
    EXPECT_TRUE(std::filesystem::exists(place + "/letter.txt"));
    Expected<int64_t> cleared = cache.clear();
    ASSERT_FALSE(cleared);
    EXPECT_EQ(cleared.status().advice(), "remove it: rm -r '" + place + "'");
  }
}

TEST_F(ArtifactCacheTest, SaysWhenThereIsNoSpace) {
  ArtifactCache cache = openCache();
  Expected<std::string> path =
      cache.findOrMake("model", "a", int64_t(1) << 60,
                       [](const std::string &) { return Status::ok(); });
  ASSERT_FALSE(path);
  EXPECT_EQ(path.status().code(), StatusCode::ResourceExhausted);
  EXPECT_NE(path.status().advice().find("--cache-dir"), std::string::npos);
}

TEST_F(ArtifactCacheTest, SaysWhenTheFolderCannotBeMade) {
  ASSERT_TRUE(writeFileAtomically(root + "/file", "x"));
  options.folder = root + "/file/cache";
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.status().cause().find(root + "/file"), std::string::npos);
}

TEST_F(ArtifactCacheTest, ClearRemovesEverythingOfItsOwn) {
  ArtifactCache cache = openCache();
  ASSERT_TRUE(get(cache, "a"));
  ASSERT_TRUE(get(cache, "b"));
  ASSERT_TRUE(writeFileAtomically(options.folder + "/letter.txt", "x"));
  Expected<int64_t> removed = cache.clear();
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 2);
  int left = 0;
  for (const auto &entry : std::filesystem::directory_iterator(options.folder))
    left += entry.path().filename() == "letter.txt" ? 0 : 1;
  EXPECT_EQ(left, 0);
}
