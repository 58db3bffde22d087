// RUN: llmir-artifact-tests --gtest_filter='ArtifactWriter.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/ArtifactWriter.h"
#include "Artifact/Handmade.h"
#include "llmir/Artifact/Artifact.h"

#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace llmir;
using namespace llmir::test;

namespace {
/// A temporary directory, removed with its single file.
class Folder {
public:
  explicit Folder(const char *name) : path(name) {
    mkdir(path.str().c_str(), 0700);
  }
  ~Folder() { std::remove(file().c_str()); }
  std::string file() const { return path.str() + "/model.llmir"; }
  int entries() const {
    int count = 0;
    DIR *dir = opendir(path.str().c_str());
    while (dir && readdir(dir))
      ++count;
    if (dir)
      closedir(dir);
    return count - 2;
  }

private:
  TemporaryPath path;
};
} // namespace

TEST(ArtifactWriter, NothingRemainsOfAnUnfinishedFile) {
  Folder folder("unfinished");
  {
    Expected<ArtifactWriter> writer = ArtifactWriter::begin(folder.file());
    ASSERT_TRUE(writer) << writer.status().message();
    ASSERT_TRUE(writer->setInfo(sampleInfo()));
    ASSERT_TRUE(writer->beginSection(ArtifactSection::Weights));
    ASSERT_TRUE(writer->append(Bytes(100000, 7)));
    EXPECT_EQ(writer->sectionBytes(), 100000u);
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(ArtifactWriter, AnOlderFileStaysUntilTheNewOneIsWhole) {
  Folder folder("replace");
  writeSample(folder.file());
  const Bytes before = readBytes(folder.file());
  {
    Expected<ArtifactWriter> writer = ArtifactWriter::begin(folder.file());
    ASSERT_TRUE(writer) << writer.status().message();
    ASSERT_TRUE(writer->setInfo(sampleInfo()));
  }
  EXPECT_EQ(readBytes(folder.file()), before);
  // An open artifact keeps its bytes when another takes its place.
  Expected<std::shared_ptr<const Artifact>> old = Artifact::open(folder.file());
  ASSERT_TRUE(old);
  ArtifactInfo info = sampleInfo();
  info.modelName = "another";
  writeSample(folder.file(), info);
  EXPECT_TRUE((*old)->verifyWeights());
  EXPECT_EQ((*old)->info().modelName, "tiny");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(ArtifactWriter, RefusesWhatWouldNotOpen) {
  Folder folder("misuse");
  const std::vector<std::function<Status(ArtifactWriter &)>> misuses = {
      [](ArtifactWriter &w) { return w.finish(); },
      [](ArtifactWriter &w) { return w.append(Bytes{1}); },
      [](ArtifactWriter &w) { return w.endSection(); },
      [](ArtifactWriter &w) { return w.setInfo(ArtifactInfo()); },
      [](ArtifactWriter &w) {
        return w.addSection(ArtifactSection::Info, Bytes{1});
      },
      [](ArtifactWriter &w) {
        return w.addSection(static_cast<ArtifactSection>(9), Bytes{1});
      },
      [](ArtifactWriter &w) {
        return w.beginSection(ArtifactSection::Code, 4096);
      },
      [](ArtifactWriter &w) {
        return w.beginSection(ArtifactSection::Program, 100);
      },
      [](ArtifactWriter &w) {
        (void)w.beginSection(ArtifactSection::Program);
        return w.beginSection(ArtifactSection::Code);
      },
      [](ArtifactWriter &w) {
        (void)w.addSection(ArtifactSection::Program, Bytes{1});
        return w.addSection(ArtifactSection::Program, Bytes{1});
      },
      [](ArtifactWriter &w) { // Two images for one target.
        (void)w.setInfo(sampleInfo());
        for (ArtifactSection section :
             {ArtifactSection::Code, ArtifactSection::Code,
              ArtifactSection::Weights, ArtifactSection::Program})
          EXPECT_TRUE(w.addSection(section, Bytes{1}));
        return w.finish();
      },
  };
  for (size_t i = 0; i < misuses.size(); ++i) {
    Expected<ArtifactWriter> writer = ArtifactWriter::begin(folder.file());
    ASSERT_TRUE(writer) << writer.status().message();
    EXPECT_FALSE(misuses[i](*writer)) << i;
    EXPECT_FALSE(writer->finish()) << i;
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(ArtifactWriter, WhatCannotBeWritten) {
  Expected<ArtifactWriter> folder = ArtifactWriter::begin("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.status().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(ArtifactWriter::begin("/nonexistent/model.llmir"));
}

/// Writes 20 MB with a file size limit of 100 kB, and returns the result.
/// /dev/full would fail as well, but no temporary file can be created in its
/// directory.
[[noreturn]] static void writeTooMuch(const Folder &folder) {
  rlimit limit{100000, 100000};
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_IGN);
  Status status;
  {
    Expected<ArtifactWriter> writer = ArtifactWriter::begin(folder.file());
    status = writer->setInfo(sampleInfo());
    if (status)
      status = writer->beginSection(ArtifactSection::Weights);
    for (int i = 0; i < 200 && status; ++i)
      status = writer->append(Bytes(100000, 1));
  }
  std::fprintf(stderr, "%s, %d files", statusCodeName(status.code()),
               folder.entries());
  std::_Exit(0);
}

TEST(ArtifactWriter, AFullDiskIsAnErrorAndLeavesNothing) {
  Folder folder("full");
  EXPECT_EXIT(writeTooMuch(folder), testing::ExitedWithCode(0),
              "resource_exhausted, 0 files");
}
