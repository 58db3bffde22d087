// RUN: llmir-runtime-tests --gtest_filter='ControlGroup*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits of control groups, from files as systems have them.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/ControlGroup.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace llmir;

namespace {
/// A directory of files, removed with the object.
class Files {
public:
  Files() {
    std::string pattern = testing::TempDir() + "llmir-groupsXXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Files() { std::filesystem::remove_all(folder); }
  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  void write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories(
        std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  ControlGroupLimits limits() const {
    return controlGroupLimits(path("self"), path("mount"));
  }

private:
  std::string folder;
};
} // namespace

TEST(ControlGroup, VersionTwoTakesTheLeastOnTheWayUp) {
  Files files;
  files.write("self", "0::/a/b\n");
  files.write("mount/cgroup.controllers", "cpu memory\n");
  files.write("mount/a/b/memory.max", "max\n");
  files.write("mount/a/b/cpu.max", "150000 100000\n");
  files.write("mount/a/memory.max", "3000000000\n");
  files.write("mount/memory.max", "4000000000\n");
  files.write("mount/a/cpu.max", "max 100000\n");
  EXPECT_EQ(files.limits().memoryBytes, 3000000000);
  EXPECT_EQ(files.limits().processors, 2); // One and a half, rounded up.
}

TEST(ControlGroup, VersionOneHasAFolderForEachController) {
  Files files;
  files.write("self", "5:memory:/m\n3:cpu,cpuacct:/c\n2:pids:/p\n0::/\n");
  files.write("mount/memory/m/memory.limit_in_bytes", "123456789\n");
  files.write("mount/cpu/c/cpu.cfs_quota_us", "400000\n");
  files.write("mount/cpu/c/cpu.cfs_period_us", "100000\n");
  files.write("mount/cpu/cpu.cfs_quota_us", "-1\n");
  files.write("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(files.limits().memoryBytes, 123456789);
  EXPECT_EQ(files.limits().processors, 4);
}

// What cannot be read, or makes no sense, limits nothing.
TEST(ControlGroup, NothingIsNoLimit) {
  Files files;
  EXPECT_FALSE(files.limits().memoryBytes);
  files.write("self", "0::/../../x\nnonsense\n1:\n:::\n");
  files.write("mount/cgroup.controllers", "");
  files.write("mount/memory.max", "-5\n");
  files.write("mount/cpu.max", "0 0\n");
  EXPECT_FALSE(files.limits().memoryBytes);
  EXPECT_FALSE(files.limits().processors);
}
