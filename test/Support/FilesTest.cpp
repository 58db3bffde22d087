// RUN: llmir-support-tests --gtest_filter='Files*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/MappedFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llmir;
namespace fs = std::filesystem;

namespace {

class Files : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/llmir-files-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }
  std::string read(const std::string &path) {
    Expected<MappedFile> file = MappedFile::open(path);
    EXPECT_TRUE(file) << file.status().message();
    return file ? std::string(file->text()) : "";
  }
  size_t filesInFolder() {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder),
                                             fs::directory_iterator()));
  }
  std::string folder;
};

TEST_F(Files, MapsAFile) {
  std::ofstream(folder + "/a") << "hello";
  Expected<MappedFile> file = MappedFile::open(folder + "/a");
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->text(), "hello");
  EXPECT_EQ(file->name(), "a");
  EXPECT_EQ(file->path(), folder + "/a");
  EXPECT_GT(file->modifiedNs(), int64_t(1600000000) * 1000000000);
  const uint8_t *address = file->bytes().data();
  MappedFile moved = std::move(*file);
  EXPECT_EQ(moved.bytes().data(), address);
  EXPECT_TRUE(file->bytes().empty());
  fs::remove(folder + "/a"); // The mapping outlives the name.
  EXPECT_EQ(moved.text(), "hello");
  std::ofstream(folder + "/empty");
  EXPECT_TRUE(MappedFile::open(folder + "/empty")->bytes().empty());
}

TEST_F(Files, WhatIsReleasedIsReadAgain) {
  std::string text(1 << 20, 'x');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 7 + i / 4096);
  std::ofstream(folder + "/big") << text;
  Expected<MappedFile> file = MappedFile::open(folder + "/big");
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->text(), text);
  file->release(file->bytes());
  EXPECT_EQ(file->text(), text);
  // Parts of pages, empty ranges, and ranges outside of the file.
  file->release({file->bytes().data() + 100, 10000});
  file->release({file->bytes().data() + 5, 0});
  std::vector<uint8_t> other(1 << 16, 7);
  file->release(other);
  EXPECT_EQ(file->text(), text);
  EXPECT_EQ(other, std::vector<uint8_t>(1 << 16, 7));
}

TEST_F(Files, RefusesWhatIsNoFile) {
  auto code = [](const std::string &path, uint64_t maxBytes = UINT64_MAX) {
    Expected<MappedFile> file = MappedFile::open(path, maxBytes);
    EXPECT_FALSE(file);
    EXPECT_NE(file.status().cause().find(path.c_str()), std::string::npos);
    return file.status().code();
  };
  EXPECT_EQ(code(folder + "/absent"), StatusCode::NotFound);
  EXPECT_EQ(code(folder), StatusCode::InvalidFile);
  EXPECT_EQ(code("/dev/null"), StatusCode::InvalidFile);
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(code(folder + "/pipe"), StatusCode::InvalidFile);
  std::ofstream(folder + "/a") << "hello";
  EXPECT_EQ(code(folder + "/a", 4), StatusCode::InvalidFile);
  EXPECT_EQ(code(folder + "/a/b"), StatusCode::NotFound);
  fs::create_symlink("loop", folder + "/loop");
  EXPECT_EQ(code(folder + "/loop"), StatusCode::InvalidArgument);
  EXPECT_FALSE(MappedFile::open(std::string("a\0b", 3)));
}

TEST_F(Files, WritesAtOnce) {
  std::string path = folder + "/out";
  std::ofstream(path) << "old";
  {
    Expected<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file) << file.status().message();
    std::string big(3 << 20, 'b');
    ASSERT_TRUE(file->write("head"));
    ASSERT_TRUE(file->padTo(4096));
    EXPECT_EQ(file->position(), 4096u);
    ASSERT_TRUE(file->write(big));
    ASSERT_TRUE(file->write("tail"));
    ASSERT_TRUE(file->writeAt(1, "EA", 2));
    EXPECT_FALSE(file->writeAt(file->position() - 1, "xx", 2));
    EXPECT_EQ(read(path), "old");
    ASSERT_TRUE(file->commit(/*durable=*/true));
    EXPECT_FALSE(file->commit());
    EXPECT_FALSE(file->write("x"));
    EXPECT_EQ(read(path), "hEAd" + std::string(4092, '\0') + big + "tail");
  }
  EXPECT_EQ(filesInFolder(), 1u);
  EXPECT_TRUE(writeFileAtomically(path, "new"));
  EXPECT_EQ(read(path), "new");
  mode_t mask = umask(0);
  umask(mask);
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0666 & ~mask);
}

// Chunks of 2 MB are written, independent of the sizes of the appends.
TEST_F(Files, WritesInPieces) {
  const size_t sizes[] = {
      1, (2 << 20) - 1, 2 << 20, (6 << 20) + 3, 2 << 20, (2 << 20) - 3, 4 << 20,
      5, (1 << 20) + 7, 3 << 20};
  std::string path = folder + "/out", expected;
  Expected<AtomicFile> file = AtomicFile::create(path);
  ASSERT_TRUE(file) << file.status().message();
  char next = 'a';
  for (size_t size : sizes) {
    std::string part(size, next++);
    part.front() = '<';
    part.back() = '>';
    ASSERT_TRUE(file->write(part));
    expected += part;
    EXPECT_EQ(file->position(), expected.size());
    file->startSync(); // Changes when bytes go to the disk, not which.
    // A flush in between moves no boundary.
    ASSERT_TRUE(file->writeAt(0, "!", 1));
    expected[0] = '!';
  }
  ASSERT_TRUE(file->commit(/*durable=*/true));
  file->startSync(); // Of no file any more: nothing.
  EXPECT_TRUE(read(path) == expected);
}

TEST_F(Files, LeavesNothingWithoutCommit) {
  {
    Expected<AtomicFile> file = AtomicFile::create(folder + "/out");
    ASSERT_TRUE(file && file->write("half"));
    EXPECT_FALSE(fs::exists(folder + "/out"));
    AtomicFile moved = std::move(*file);
    EXPECT_TRUE(moved.write("more"));
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(Files, LeavesNothingWhenKilled) {
  int probe = open(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (probe < 0)
    GTEST_SKIP() << "the file system has no files without a name";
  close(probe);
  pid_t child = fork();
  if (child == 0) {
    Expected<AtomicFile> file = AtomicFile::create(folder + "/a");
    if (file && file->write(std::string(1 << 21, 'x')))
      raise(SIGKILL);
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFSIGNALED(state));
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(Files, RefusesBadTargets) {
  auto code = [](const std::string &path) {
    Expected<AtomicFile> file = AtomicFile::create(path);
    EXPECT_FALSE(file);
    EXPECT_NE(file.status().cause().find(path), std::string::npos);
    return file.status().code();
  };
  EXPECT_EQ(code(folder + "/no/such/folder"), StatusCode::NotFound);
  EXPECT_EQ(code(folder), StatusCode::InvalidArgument);
  EXPECT_EQ(code("/dev/null"), StatusCode::InvalidArgument);
  EXPECT_EQ(code(""), StatusCode::InvalidArgument);
  if (geteuid() != 0) { // Nothing is closed to the superuser.
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(code(folder + "/out"), StatusCode::IoError);
  }
}

TEST_F(Files, ReportsAFullDisk) {
  // A limit on the size of files fails as a full disk does.
  struct rlimit before, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 1 << 16;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status =
      writeFileAtomically(folder + "/out", std::string(1 << 20, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
  EXPECT_NE(status.cause().find(folder + "/out"), std::string::npos);
  EXPECT_EQ(filesInFolder(), 0u);
}

} // namespace
